"""What exact arithmetic says, in the signed verdict: read strictly, and at one with the result."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.signing.envelope import sign_statement
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.statement.verdict import verdict_statement, verify_verdict
from counterfoil_core.values.dispute import ACCUSING, DisputedElement, Finding, Right
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.report import AuditReport
from support.bundles import test_key
from support.reports import disputed_report

BOUND = 2.0**-46
ELEMENT = DisputedElement((1, 2), "-0.75", -0.75, -0.75 + BOUND / 4, -0.75, -0.5, 2.0**-24, 0.25, math.inf)
FINDING = Finding(
    Right.REPLAY,
    "The trainer is wrong.",
    (ELEMENT, replace(ELEMENT, index=(1, 3))),
    2,
    80,
    2.0**-44,
    BOUND,
)
OFF = replace(ELEMENT, computed=-0.75 + 3 * BOUND, error=3.0)
ELEMENTS = {Right.TRAINER: (OFF,), Right.OMISSION: (ELEMENT,), Right.OMISSIONS: (ELEMENT,), Right.MARGIN: (ELEMENT,)}
"""Elements that bear out what is found, where it needs others."""


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    return test_key(Path(tmp_path_factory.mktemp("keys")))


def report(right: Right = Right.REPLAY, **fields: Any) -> AuditReport:
    made = disputed_report()
    operator = replace(made.dispute.operator, shape=(4, 20))
    finding = replace(FINDING, right=right, elements=ELEMENTS.get(right, FINDING.elements))
    return replace(made, dispute=replace(made.dispute, operator=operator, finding=finding), **fields)


def statement(made: AuditReport) -> dict[str, Any]:
    return copy.deepcopy(statement_of(verdict_statement(made, datetime(2026, 1, 31, 12, tzinfo=UTC))))


def finding_of(value: dict[str, Any]) -> dict[str, Any]:
    return value["predicate"]["dispute"]["finding"]


def test_every_number_is_there_exactly(key: SigningKey) -> None:
    verdict = verify_verdict(sign_statement(statement(report()), key), key.public)
    found = verdict.predicate["dispute"]["finding"]
    assert (found["right"], found["recomputed"], found["total"]) == ("replay", "2", "80")
    first, second = found["elements"]
    assert float.fromhex(first["trainer"]["hex"]) == ELEMENT.trainer
    assert first["midpoint"] == {"hex": "inf", "decimal": "inf"}
    assert first["exact"] == ELEMENT.exact
    assert second["index"] == [1, 3]
    unknown = statement(report())
    for element in finding_of(unknown)["elements"]:
        element["trainer"] = None
    found = verify_verdict(sign_statement(unknown, key), key.public).predicate["dispute"]["finding"]
    assert [element["trainer"] for element in found["elements"]] == [None, None]


@pytest.mark.parametrize("right", sorted(set(Right) - ACCUSING, key=str))
def test_a_finding_that_proves_nothing_does_not_go_with_disputed(key: SigningKey, right: Right) -> None:
    with pytest.raises(SignatureError, match="contradicts itself"):
        verify_verdict(sign_statement(statement(report(right)), key), key.public)
    inconclusive = statement(report(right, outcome=Outcome.INCONCLUSIVE))
    assert verify_verdict(sign_statement(inconclusive, key), key.public).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("right", [Right.REPLAY, Right.OMISSIONS])
def test_a_finding_against_the_trainer_does(key: SigningKey, right: Right) -> None:
    assert verify_verdict(sign_statement(statement(report(right)), key), key.public).outcome is Outcome.DISPUTED


def test_a_dispute_without_a_finding_accuses_nobody(key: SigningKey) -> None:
    made = report()
    made = replace(made, dispute=replace(made.dispute, finding=None))
    with pytest.raises(SignatureError, match="confirmed without a finding"):
        verify_verdict(sign_statement(statement(made), key), key.public)


def unreadable(**fields: Any) -> AuditReport:
    """A report of a step whose log cannot be read."""
    made = report(Right.UNREADABLE)
    nothing = {"operator": None, "path": (), "tensors": (), "compared_at": None}
    chosen = {"replay_leaf": None, "parts": ("log",), "finding": Finding(Right.UNREADABLE, "It cannot be read.")}
    return replace(made, dispute=replace(made.dispute, **(nothing | chosen | fields)))


def test_a_log_that_cannot_be_read_goes_with_disputed(key: SigningKey) -> None:
    verdict = verify_verdict(sign_statement(statement(unreadable()), key), key.public)
    assert verdict.outcome is Outcome.DISPUTED
    assert verdict.predicate["dispute"]["replayLeaf"] is None


@pytest.mark.parametrize(
    "fields",
    [
        {"replay_leaf": Digest.of(b"leaf"), "path": disputed_report().dispute.path},
        {"parts": ("state", "loss")},
        {"finding": replace(FINDING, right=Right.REPLAY, elements=(), recomputed=0, total=0, margin=0.0, bound=0.0)},
        {"replay_leaf": disputed_report().dispute.replay_leaf, "path": disputed_report().dispute.path,
         "parts": ("state", "loss")},
    ],
    ids=["a replay", "another part", "another finding", "only the finding"],
)  # fmt: skip
def test_but_only_where_nothing_was_replayed(key: SigningKey, fields: dict[str, Any]) -> None:
    with pytest.raises(SignatureError, match=r"without a replay|about the log|the dispute names none"):
        verify_verdict(sign_statement(statement(unreadable(**fields)), key), key.public)


LIES: dict[str, tuple[Any, Any]] = {
    "no such party": (lambda f: f.update(right="client"), "finding"),
    "a field too many": (lambda f: f.update(more=1), "unknown field"),
    "a field too few": (lambda f: f.pop("margin"), "margin"),
    "more elements than were recomputed": (lambda f: f.update(recomputed="1"), "more elements"),
    "more recomputed than there are": (lambda f: f.update(recomputed="81"), "more elements"),
    "a count that is none": (lambda f: f.update(total="many"), "count"),
    "an exact value that is no number": (lambda f: f["elements"][0].update(exact="a lot"), "decimal number"),
    "two different numbers": (lambda f: f["elements"][0]["computed"].update(decimal="0.1"), "another number"),
    "an index that is none": (lambda f: f["elements"][0].update(index=[-1]), "index"),
    "a trainer's value that is no number": (lambda f: f["elements"][0].update(trainer={"hex": "0x1"}), "decimal"),
    "an element with a field too many": (lambda f: f["elements"][1].update(more=1), "unknown field"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_malformed_finding_is_refused(key: SigningKey, lie: str) -> None:
    change, match = LIES[lie]
    value = statement(report())
    change(finding_of(value))
    with pytest.raises(SignatureError, match=match):
        verify_verdict(sign_statement(value, key), key.public)


def test_the_documentation_names_every_field() -> None:
    page = Path("docs/verdict.md").read_text()
    section = page[page.index("### Finding") : page.index("## What a reader checks")]
    found = finding_of(statement(report()))
    for field in (*found, *found["elements"][0], *(right.value for right in Right)):
        assert f"`{field}`" in section, field
