"""An auditor signs a verdict that says one thing in English, and another to whoever reads it in another language."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from counterfoil.cli import main
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.signing.envelope import sign_statement
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.statement.verdict import sign_verdict, verify_verdict
from counterfoil_core.values.outcome import Outcome
from support.jobs import audited


@pytest.fixture(scope="module")
def signed(cheat_job, trainer_key):
    report = audited(cheat_job.run, cheat_job.order).report
    assert report.outcome is Outcome.DISPUTED
    return sign_verdict(report, trainer_key)


def statement_of(envelope: bytes) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(base64.b64decode(json.loads(envelope)["payload"]))
    return value


def bomb() -> list[Any]:
    """A sentence of a few hundred bytes that would be endless: it holds itself twice, forty times over."""
    parts: list[Any] = ["{0}", "x"]
    for _ in range(12):
        parts = ["{0}{0}{0}{0}{0}{0}{0}{0}", parts]
    return parts


SAID_OTHERWISE = {
    "the reason": lambda p: p.update(reasonParts=["All {0} steps were replayed, and every one came out exactly.", 6]),
    "another number": lambda p: p["reasonParts"].__setitem__(-1, 2),
    "a check": lambda p: p["checks"][7].update(detailParts=["All {0} judged steps match.", 6]),
    "what is proven": lambda p: p["dispute"]["finding"].update(sentenceParts=["The trainer's values are right."]),
    "a hidden value": lambda p: p["reasonParts"].append("and the trainer is right"),
    "a bomb": lambda p: p.update(reasonParts=bomb()),
}


@pytest.mark.parametrize("change", SAID_OTHERWISE.values(), ids=SAID_OTHERWISE)
def test_what_says_something_else_in_another_language_is_refused(
    signed: bytes, trainer_key: SigningKey, change: Any, tmp_path: Path
) -> None:
    assert verify_verdict(signed, trainer_key.public).outcome is Outcome.DISPUTED, "the control"
    statement = statement_of(signed)
    assert statement["predicate"]["reasonParts"], "a real verdict has them"
    change(statement["predicate"])
    envelope = sign_statement(statement, trainer_key)
    with pytest.raises(SignatureError, match="another sentence in its template and values") as caught:
        verify_verdict(envelope, trainer_key.public)
    assert caught.value.detail.startswith("rule 19")
    verdict, key = tmp_path / "verdict.json", tmp_path / "auditor.pub.pem"
    verdict.write_bytes(envelope)
    key.write_text(trainer_key.public.pem)
    assert main(["verify", str(verdict), "--key", str(key)]) == Outcome.REFUSED.exit_code
