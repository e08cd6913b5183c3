from __future__ import annotations

import copy
import json
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil_core.base import canonical
from counterfoil_core.base.errors import GivenFileError, SignatureError
from counterfoil_core.signing.envelope import sign_statement
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.statement.judgement import Adjudication
from counterfoil_core.statement.verdict import (
    check_bundle_file,
    sign_adjudication,
    sign_verdict,
    verify_signed,
    verify_verdict,
)
from counterfoil_core.values.adjudication import AdjudicationOutcome, AdjudicationReport
from support.capsules import DISPUTED, adjudicated, crafted, evidence_of, record_cheat, save
from support.jobs import Job, digits_order
from support.reports import verified_report

PAGE = Path(__file__).parents[3] / "docs" / "verdict.md"


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    path = tmp_path_factory.mktemp("keys") / "judge.pem"
    generate_key(path, None)
    return load_private_key(path, None)


@pytest.fixture(scope="module")
def capsule(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Path:
    folder = tmp_path_factory.mktemp("cheat")
    return save(evidence_of(record_cheat(folder, digits_order(), trainer_key).run), folder / "dispute.cfoil")


@pytest.fixture(scope="module")
def confirmed(capsule: Path) -> AdjudicationReport:
    return adjudicated(capsule)


@pytest.fixture(scope="module")
def rejected(digits_job: Job, tmp_path_factory: pytest.TempPathFactory) -> AdjudicationReport:
    return adjudicated(save(crafted(digits_job.run, 2), tmp_path_factory.mktemp("crafted") / "crafted.cfoil"))


def statement(report: AdjudicationReport, key: SigningKey) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(b64decode(json.loads(sign_adjudication(report, key))["payload"]))
    return value


def test_it_says_what_the_report_said(
    confirmed: AdjudicationReport, rejected: AdjudicationReport, key: SigningKey, capsule: Path
) -> None:
    signed = verify_signed(sign_adjudication(confirmed, key), key.public)
    assert isinstance(signed, Adjudication)
    assert signed.outcome is AdjudicationOutcome.CONFIRMED
    assert (signed.agreed_step, signed.step, signed.disputed_step) == (DISPUTED - 1, DISPUTED, DISPUTED)
    for name in ("reason", "run_root", "order_digest", "order_source", "checks", "steps_ordered", "steps_replayed"):
        assert getattr(signed, name) == getattr(confirmed, name), name
    assert signed.key_id == key.public.key_id
    check_bundle_file(signed, capsule)
    other = verify_signed(sign_adjudication(rejected, key), key.public)
    assert (other.outcome, other.disputed_step) == (AdjudicationOutcome.REJECTED, None)
    with pytest.raises(SignatureError, match="another file"):
        check_bundle_file(other, capsule)


def test_refused_and_unreadable(tmp_path: Path, key: SigningKey) -> None:
    junk = tmp_path / "junk.cfoil"
    junk.write_bytes(b"all work and no play")
    refused = adjudicated(junk)
    signed = verify_signed(sign_adjudication(refused, key), key.public)
    assert (signed.outcome, signed.run_root, signed.order_digest) == (AdjudicationOutcome.REFUSED, None, None)
    with pytest.raises(SignatureError, match="nothing to sign"):
        sign_adjudication(replace(refused, capsule_digest=None), key)
    with pytest.raises(GivenFileError, match="There is no file"):
        adjudicated(tmp_path / "none.cfoil")


def test_the_two_kinds_are_told_apart(confirmed: AdjudicationReport, key: SigningKey) -> None:
    with pytest.raises(SignatureError, match="not the verdict"):
        verify_verdict(sign_adjudication(confirmed, key), key.public)
    assert not isinstance(verify_signed(sign_verdict(verified_report(), key), key.public), Adjudication)


def test_another_key_does_not_verify(confirmed: AdjudicationReport, key: SigningKey, trainer_key: SigningKey) -> None:
    with pytest.raises(SignatureError, match="does not hold"):
        verify_signed(sign_adjudication(confirmed, key), trainer_key.public)


Change = Callable[[dict[str, Any]], Any]
CONTRADICTIONS: list[tuple[str, Change]] = [
    ("rejected, but its dispute stays", lambda p: p.update(result="REJECTED")),
    ("no dispute", lambda p: p.update(dispute=None)),
    ("not confirmed", lambda p: p["dispute"].update(confirmed=False)),
    ("no order", lambda p: p["policy"].update(orderDigest=None)),
    ("another step", lambda p: p["steps"].update(disputed=4)),
    ("fewer steps replayed", lambda p: p["steps"].update(replayed=0)),
    ("more steps replayed", lambda p: p["steps"].update(replayed=3)),
    ("agreed after the dispute", lambda p: p["steps"].update(agreed=5)),
    ("a leaf that is not in the run", lambda p: p["dispute"].update(trainerLeaf="00" * 32)),
    ("a check too few", lambda p: p["checks"].pop()),
    ("an unknown result", lambda p: p.update(result="VERIFIED")),
    ("an unknown field", lambda p: p.update(more=1)),
    ("a count that is none", lambda p: p["counts"].update(omissions="-1")),
    ("another verifier", lambda p: p["verifier"].update(id="urn:other")),
]


@pytest.mark.parametrize(("what", "change"), CONTRADICTIONS, ids=[what for what, _ in CONTRADICTIONS])
def test_contradictions_are_refused(confirmed: AdjudicationReport, key: SigningKey, what: str, change: Change) -> None:
    value = statement(confirmed, key)
    assert verify_signed(sign_statement(copy.deepcopy(value), key), key.public)
    change(value["predicate"])
    if what == "another step":
        # The capsule may dispute a later step than the first that is wrong, but not one that was reached in fewer.
        value["predicate"]["steps"]["agreed"] = 3
    with pytest.raises(SignatureError):
        verify_signed(sign_statement(value, key), key.public)


@pytest.mark.parametrize("field", ["checks", "steps", "dispute", "counts", "environment", "reason", "policy"])
def test_a_missing_field_is_refused(confirmed: AdjudicationReport, key: SigningKey, field: str) -> None:
    value = statement(confirmed, key)
    del value["predicate"][field]
    with pytest.raises(SignatureError, match=field):
        verify_signed(sign_statement(value, key), key.public)


@pytest.mark.parametrize("state", ["failed", "skipped"])
def test_rejected_needs_every_check(rejected: AdjudicationReport, key: SigningKey, state: str) -> None:
    value = statement(rejected, key)
    value["predicate"]["checks"][5]["state"] = state
    with pytest.raises(SignatureError, match="contradicts itself"):
        verify_signed(sign_statement(value, key), key.public)


def test_every_field_stands_in_the_page(confirmed: AdjudicationReport, key: SigningKey) -> None:
    value = statement(confirmed, key)
    assert canonical.encode(value)
    section = PAGE.read_text().split("## Adjudications")[1]
    assert value["predicateType"] in section
    for field in ("steps", "counts"):
        for inner in value["predicate"][field]:
            assert f"`{field}.{inner}`" in section or f"`{inner}`" in section
