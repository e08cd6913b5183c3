"""A few of the lies of ``python -m tests.lies``. As controls the truth is concluded, and a lie believed is seen."""

from __future__ import annotations

import importlib.util
import random
from dataclasses import replace

import pytest

from counterfoil_core.signing.kinds import ANSWER, KINDS, Kind
from lies.campaign import Told, all_lies, tell
from lies.statements import BELIEVED, NOBODY, STOLEN
from lies.subject import CRASHED, Subject
from lies.subjects import Liar
from lies.table import table

LIES = 50
TRUTHS = {
    "run of an honest trainer, signed again": "VERIFIED",
    "run of a cheat, signed again": "DISPUTED",
    "run of an honest trainer under exact-20, signed again": "VERIFIED",
    "run of a cheat under exact-20, signed again": "DISPUTED",
    "order within the run of an honest trainer, nothing of the client's at hand": "VERIFIED",
    "order within the run of a cheat, nothing of the client's at hand": "DISPUTED",
    "order within the run of an honest trainer, the client's key at hand": "VERIFIED",
    "order within the run of a cheat, the client's key at hand": "DISPUTED",
    "order's file beside an honest run": "VERIFIED",
    "capsule of a cheat": "CONFIRMED",
    "capsule of an honest trainer": "REJECTED",
    "part of the audit of an honest trainer, beside an honest part": "VERIFIED",
    "part of the audit of a cheat, beside an honest part": "DISPUTED",
    "delivered weights": "DELIVERED",
    "shares of honest parties, signed again by its party": "VERIFIED",
    "shares of a party that cheats, signed again by its party": "DISPUTED",
    "record of a share, signed by its party": "VERIFIED",
    "record of what was added of a share, signed by nobody": "VERIFIED",
    "witness's log of another training, signed by nobody": "NONE",
    "verdict that its auditor withdrew, handed on by nobody": "REFUSED",
    "what ranks send while they record a run": "mended",
}
STATEMENTS = {
    "verdict on an honest trainer": "VERIFIED",
    "verdict on a cheat": "DISPUTED",
    "adjudication of a cheat's capsule": "CONFIRMED",
    "facts of a run": "accepted",
    "what a run showed of rules": "accepted",
    "what a run did with a row": "accepted",
    "note about data": "accepted",
    "client's signature on the order, beside the run": "accepted",
    "trainer's acceptance of the order, beside the run": "accepted",
    "run's claim, beside the run": "accepted",
    "tree heads": "accepted",
    "reply to a verdict": "accepted",
    "comparison with the script": "accepted",
    "list of a release": "accepted",
    **({} if importlib.util.find_spec("transformers") is None else {"answer of a model": "accepted"}),
    "witness's log of this training": "accepted",
}
"""What is concluded of each where nobody changed it, and by the key of who is believed."""
TRUTHS |= {f"{name}, signed by {who}": told for name, told in STATEMENTS.items() for who in (NOBODY, BELIEVED)}
TRUTHS |= {f"{name}, signed by {STOLEN}": "REFUSED" for name in STATEMENTS}


@pytest.fixture(scope="module")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Subject]:
    return {subject.name: subject for subject in Liar(tmp_path_factory.mktemp("lies")).subjects()}


@pytest.mark.parametrize("each", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["some", "each"])
def test_without_a_lie_the_truth_is_concluded(each: bool, subjects: dict[str, Subject]) -> None:
    names = [name for place, name in enumerate(TRUTHS) if each or place % 8 == 0]
    assert {name: subjects[name].told((), random.Random(0)) for name in names} == {name: TRUTHS[name] for name in names}


def test_every_kind_of_statement_is_lied_about(subjects: dict[str, Subject]) -> None:
    lied = {predicate for subject in subjects.values() for predicate in subject.kinds}
    without = {ANSWER} if importlib.util.find_spec("transformers") is None else set[Kind]()
    assert lied == {predicate for kind in KINDS if kind not in without for predicate in kind.predicates}


def test_some_lies(subjects: dict[str, Subject]) -> None:
    lies = all_lies(tuple(subjects.values()), 10_000, seed=2)
    told = [tell(subjects[name], fields, number) for name, fields, number in random.Random(2).sample(lies, LIES)]
    assert [lie for lie in told if lie.wrong] == []
    # Most lies are found out, or what is told would prove nothing.
    assert sum(lie.outcome in ("REFUSED", "ERROR", "DISPUTED", "DIFFERENT") for lie in told) > LIES / 2


def test_every_field_is_lied_about_before_pairs(subjects: dict[str, Subject]) -> None:
    lies = all_lies(tuple(subjects.values()), 10_000, seed=1)
    assert len(lies) == 10_000
    assert {(name, *fields) for name, fields, _ in lies if len(fields) == 1} == {
        (subject.name, field) for subject in subjects.values() for field in subject.fields
    }
    assert sum(len(fields) == 2 for _, fields, _ in lies) > 1_000


def test_a_lie_that_is_believed_is_seen(subjects: dict[str, Subject]) -> None:
    run = subjects["run of a cheat, signed again"]
    believing = replace(run, outcome=lambda copy: "VERIFIED")
    assert tell(believing, ("run/losses",), 0).wrong
    stolen = subjects[f"facts of a run, signed by {STOLEN}"]
    assert tell(replace(stolen, outcome=lambda copy: "accepted"), ("predicate.signed_at",), 0).wrong

    def crash(copy: object) -> str:
        raise KeyError("lie")

    crashed = tell(replace(run, outcome=crash), ("run/losses",), 0)
    assert (crashed.wrong, crashed.outcome) == (True, f"{CRASHED} KeyError")


def test_the_table_joins_fields_of_one_outcome() -> None:
    lies = [
        Told("run", ("run/losses",), 0, "DISPUTED", False),
        Told("run", ("claim: predicate.order",), 0, "DISPUTED", False),
        Told("run", ("claim: predicate.order", "run/losses"), 0, "REFUSED", False),
    ]
    assert table(lies, 1).splitlines()[-2:] == [
        "| run | `run/losses`, `claim: predicate.order` | DISPUTED 2 |",
        "| run | two fields at once | REFUSED 1 |",
    ]
