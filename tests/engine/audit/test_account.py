"""What stands first in window, report and command line: what differs, what that likely means, what follows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from counterfoil.audit.values.account import account_of
from counterfoil.audit.values.dispute import Dispute, Finding, Right
from counterfoil.audit.values.outcome import Outcome
from counterfoil.cli import main
from counterfoil.sentence import say
from counterfoil.signing import SigningKey
from counterfoil.training.tamper import LabelFlip
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
        "The labels that the trainer used at step 5 are not the ordered ones. Most likely the training data were "
        "changed, or other rows were trained on. Everything before is right. Everything after follows from it: the "
        "model that was delivered is not the one that was ordered."
    )
    assert account_of(report.dispute, whole=True, first=True) == account
    assert main(["audit", str(cheat)]) == 1
    assert account in " ".join(capsys.readouterr().out.split())
    # Of a sample, what was not replayed is not said to be right.
    assert main(["audit", str(cheat), "--segments", "2-2"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "Everything before is right" not in shown
    assert "The steps before it that were replayed are right." in shown


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
        (in_phase("update"), "The trainer's update of the weights at step 37"),
        (in_phase("backward"), "The gradients that the trainer computed at step 37"),
        (in_phase("forward"), "What the trainer's model computed at step 37"),
        (dispute(operator=None), "What the trainer signed after step 37"),
        (dispute(inputs=("x", "labels")), "The rows of x and labels that the trainer used at step 37"),
        (dispute(replay_leaf=None, finding=found(Right.UNREADABLE)), "a rounding log for step 37 that nobody can read"),
        (dispute(finding=found(Right.OMISSIONS)), "the last of them step 37"),
    ],
)
def test_what_differs_is_said_in_the_words_of_a_client(found_dispute: Dispute, says: str) -> None:
    account = account_of(found_dispute, whole=True, first=True)
    assert says in account
    assert account.endswith("the model that was delivered is not the one that was ordered.")
    assert "Steps before it differ too." in account_of(found_dispute, whole=True, first=False)


@pytest.mark.parametrize("harmless", [dispute(confirmed=False, finding=None), dispute(finding=found(Right.TRAINER))])
def test_a_dispute_that_accuses_nobody_condemns_no_model(harmless: Dispute) -> None:
    account = account_of(harmless, whole=True, first=True)
    assert "Nothing follows for the model" in account
    assert "not the one that was ordered" not in account
