"""What stands first in window, report and command line: what differs, what that likely means, what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from counterfoil.audit.values.accountprose import account_of, bound_by, meaning_of
from counterfoil.cli import main
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.base.sentence import say
from counterfoil_core.hearing.conclusion import Coverage, StepTally, conclude, conclude_adjudication
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.account import accusation, difference_of
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.dispute import Dispute, Finding, Right
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.steptable import Tally
from support.fake_engine import FakeEngine
from support.jobs import audited, digits_order, record_job


@pytest.fixture(scope="module")
def cheat(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Path:
    folder = tmp_path_factory.mktemp("cheat")
    return record_job(folder, digits_order(steps=6, checkpoint_every=3), trainer_key, tamper=LabelFlip(5)).run


def test_changed_labels_are_named_as_such(cheat: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = audited(cheat).report
    assert report.outcome is Outcome.DISPUTED
    assert report.dispute is not None
    account = (
        "By the fingerprints that the trainer signed, the labels of step 5 are not the ordered ones. Most likely the "
        "training data were changed, or other rows were trained on. The steps before it that were replayed are right. "
        "Everything after follows from it: the model of this run is not the one that was ordered."
    )
    assert account_of(report.dispute, earlier=0) == account
    assert main(["audit", str(cheat)]) == 1
    said, found = " ".join(capsys.readouterr().out.split()), difference_of(report.dispute)
    assert report.reason.startswith(found), "what is signed begins with it"
    assert f"DISPUTED {found}" in said
    assert said.endswith(account.removeprefix(found).strip()), "and the last line says what follows"


def dispute(**changes: object) -> Dispute:
    return replace(FakeEngine().dispute(37), **changes)  # type: ignore[arg-type]


def found(right: Right) -> Finding:
    return Finding(right, say("It is so."))


def in_phase(phase: str) -> Dispute:
    operator = FakeEngine().operator()
    return dispute(operator=replace(operator, phase=phase))


@pytest.mark.parametrize(
    ("found_dispute", "says"),
    [
        (in_phase("update"), "its update of the weights at step 37"),
        (in_phase("backward"), "its gradients at step 37"),
        (in_phase("forward"), "its model computed something else at step 37"),
        (dispute(operator=None), "What the trainer signed after step 37"),
        (dispute(inputs=("x", "labels")), "the rows of x and labels of step 37 are not the ordered ones"),
        (dispute(replay_leaf=None, finding=found(Right.UNREADABLE)), "a rounding log for step 37 that nobody can read"),
        (dispute(finding=found(Right.OMISSIONS)), "the last of them step 37"),
    ],
)
def test_what_differs_is_said_in_the_words_of_a_client(found_dispute: Dispute, says: str) -> None:
    account = account_of(found_dispute, earlier=0)
    assert says in account
    assert "Steps before it differ too." in account_of(found_dispute, earlier=1)
    assert "efore it" not in account_of(found_dispute, earlier=None)


@pytest.mark.parametrize("harmless", [dispute(confirmed=False, finding=None), dispute(finding=found(Right.TRAINER))])
def test_a_dispute_that_accuses_nobody_condemns_no_model(harmless: Dispute) -> None:
    account = account_of(harmless, earlier=0)
    assert "Nothing follows for the model" in account
    assert "not the one that was ordered" not in account
    assert "By what the trainer signed" not in account


# Every sentence, and what must be true of a dispute for it to be said: the table of docs/threat-model.md.


def replayed_and_proven(it: Dispute) -> bool:
    return it.stands_alone and it.replay_leaf is not None


FOUND = Finding(Right.REPLAY, say("It is so."))
SAID: tuple[tuple[str, Callable[[Dispute], bool]], ...] = (
    ("is not what was ordered: replayed", lambda it: replayed_and_proven(it) and "state" in it.parts),
    ("'s record of step", lambda it: replayed_and_proven(it) and "state" not in it.parts),
    ("exact arithmetic confirm", lambda it: False),
    ("gave this machine's result again", replayed_and_proven),
    ("that the trainer used", lambda it: False),
    (
        "are not the ordered ones",
        lambda it: it.accuses and bool(it.inputs) and replayed_and_proven(it) and it.parts != ("fingerprints",),
    ),
    (
        "the training data were changed",
        lambda it: it.accuses and bool(it.inputs) and replayed_and_proven(it) and it.parts != ("fingerprints",),
    ),
    ("that was delivered", lambda it: False),
    (
        "the model of this run is not the one that was ordered",
        lambda it: it.accuses and bool(it.tensors) and replayed_and_proven(it),
    ),
    (
        "The state that was signed after it is not the ordered one",
        lambda it: replayed_and_proven(it) and "state" in it.parts and it.compared_at is None,
    ),
    ("as the result of this step is not what was ordered", lambda it: replayed_and_proven(it) and "state" in it.parts),
    (
        "where one is signed, are those of the ordered step",
        lambda it: replayed_and_proven(it) and it.parts == ("fingerprints",),
    ),
    ("that nobody can read", lambda it: it.right is Right.UNREADABLE),
    ("which comes to none when it is computed as ordered", lambda it: it.right is Right.NO_RESULT),
    (
        "is the one that was ordered cannot be checked",
        lambda it: it.accuses and it.replay_leaf is None,
    ),
    ("the trainer's rounding log is not complete", lambda it: it.accuses and it.right is Right.OMISSIONS),
    ("so nobody is accused", lambda it: it.confirmed and not it.accuses),
    ("did not give its own result a second time", lambda it: not it.confirmed),
    ("can be settled by anybody who repeats this one step", lambda it: it.stands_alone),
)


def disputes() -> Iterator[Dispute]:
    """A dispute of each kind: parts, findings, operators, rows, and tensors that were compared or not."""
    operator = FakeEngine().operator()
    compared = {"no state compared": (None, ()), "equal": (40, ()), "different": (40, dispute().tensors)}
    for right, parts, at, rows in product(Right, PARTS, compared.values(), (True, False)):
        where = {"inputs": ("labels",), "operator": None} if rows else {"operator": operator}
        unread = {Right.UNREADABLE: ("log",), Right.NO_RESULT: ("result",)}.get(right)
        leaf = {"parts": parts} if unread is None else {"replay_leaf": None, "parts": unread}
        where = where if "fingerprints" in parts and right is not Right.UNREADABLE else {"operator": None}
        yield dispute(finding=replace(FOUND, right=right), compared_at=at[0], tensors=at[1], **where, **leaf)
    yield dispute(confirmed=False, finding=None)


PARTS = (
    ("state", "loss", "fingerprints"), ("state",), ("loss",), ("fingerprints",), ("loss", "fingerprints"),
    ("state", "loss"), ("state", "fingerprints"),
)  # fmt: skip


def everything_said(it: Dispute) -> str:
    """All that stands in a verdict, the window, the report and the command line about one dispute as a whole."""
    sentences = [account_of(it, earlier=0), meaning_of(it)]
    if it.accuses:
        sentences += [accusation(it), accusation(it, capsule=True), bound_by(it)]
    return " ".join(sentences)


def test_every_sentence_is_said_exactly_where_its_parts_and_its_finding_say_it() -> None:
    seen = set()
    for it in disputes():
        said = everything_said(it)
        for words, holds in SAID:
            if it.right is Right.UNREADABLE and not it.accuses:
                continue
            assert (words in said) is holds(it), (words, it.right, it.parts, it.compared_at, it.inputs, said)
            seen.add((words, holds(it)))
        assert " ".join(said.split()) == said
    never = {"exact arithmetic confirm", "that the trainer used", "that was delivered"}
    assert {words for words, holds in seen if holds} == {words for words, _ in SAID} - never


def test_the_page_says_when_each_is_said() -> None:
    page = (Path(__file__).parents[3] / "docs" / "threat-model.md").read_text("utf-8")
    table = page.partition("## What a dispute says")[2].partition("\n## ")[0]
    for words in ("is not what was ordered", "record of step", "are not the ordered ones", "the model of this run"):
        assert words in table, words


def test_a_conclusion_and_a_ruling_give_the_same_reason_but_for_the_state_that_they_start_from() -> None:
    it = dispute()
    tally = StepTally(replayed=1, dispute=it)
    outcome, reason = conclude_adjudication(tally, it.step, None)
    assert outcome is AdjudicationOutcome.CONFIRMED
    assert reason == accusation(it, capsule=True)
    _, concluded, _ = conclude(
        Tally(judged=40, mismatched=(37,)), dispute=it, coverage=Coverage(40, 40, 40), error=None, cancelled=False
    )
    assert concluded == accusation(it)
    assert reason == concluded.replace("the agreed state before it", "the state that the run itself commits to")


@pytest.mark.parametrize(
    ("part", "parts", "words"),
    [
        ("share 2", ("shares", "state"), "What differs is share 2"),
        ("combine", ("shares",), "What differs is the combination of the shares"),
        ("update", ("state", "fingerprints"), "What differs is the update"),
    ],
)
def test_the_part_of_a_step_is_named_in_every_sentence(part: str, parts: tuple[str, ...], words: str) -> None:
    made = dispute(part=part, parts=parts, operator=None)
    assert words in account_of(made, earlier=0)
    assert words in accusation(made)
    assert ("in another way" in accusation(made)) == (part == "combine")
    assert words not in accusation(dispute(operator=None))
