"""A stored state, or any other part of a run, that was damaged: an inspection does not call the run complete."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from counterfoil.audit import progressfile
from counterfoil.audit.overview import inspect, inspect_stages
from counterfoil.cli import main
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.bundle import layout
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.statement.verdict import sign_verdict, verify_signed
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from counterfoil_core.values.sampling import SegmentRequest
from support.capsules import adjudicated, save
from support.jobs import Audited, Job, audited, digits_order, opened_for_change, record_job, record_run
from support.resuming import ended, request_of, same_end, stopped_after, whole

PARTS = ("checkpoints", "log", "fingerprints", "losses", "state_roots")


def flip(path: Path, dataset: str) -> None:
    """Change one bit of a dataset; what the file's structure says stays right."""
    with opened_for_change(path) as file:
        values = file[dataset][...]
        values.reshape(-1).view(np.uint8)[-1] ^= 1
        file[dataset][...] = values


def datasets(path: Path, part: str) -> list[str]:
    with h5py.File(path) as file:
        if part != "checkpoints":
            return [f"/run/{part}"]
        found: list[str] = []
        file["/run/checkpoints"].visititems(
            lambda name, item: found.append(f"/run/checkpoints/{name}") if hasattr(item, "shape") else None
        )
        return found


@pytest.fixture
def run(digits_job: Job, tmp_path: Path) -> Path:
    return Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))


def test_control_a_whole_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = inspect(run)
    assert summary.states_checked
    assert "signed and complete" in summary.sentence
    assert main(["inspect", str(run)]) == 0
    assert "stored states have the state roots of their steps" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_a_run(run: Path, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    names = datasets(run, part)
    for name in {names[0], names[len(names) // 2], names[-1]}:
        flip(run, name)
        assert main(["inspect", str(run)]) == Outcome.REFUSED.exit_code, name
        shown = " ".join(capsys.readouterr().out.split())
        assert "complete" not in shown
        assert "damaged or altered after it was signed" in shown
        flip(run, name)
    assert main(["inspect", str(run)]) == 0, "the control: put back, it is whole"


def test_quick_says_what_it_did_not_look_at(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flip(run, datasets(run, "checkpoints")[0])
    assert main(["inspect", str(run), "--quick"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Its stored states were not looked at." in shown
    assert "complete" not in shown
    assert main(["inspect", str(run), "--quick", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["states_checked"] is False


def test_the_windows_overview_says_the_same(run: Path) -> None:
    flip(run, datasets(run, "checkpoints")[-1])
    *before, last = inspect_stages(run)
    for summary in before:
        assert "complete" not in summary.sentence
        assert not summary.states_checked
    check = last.checks[CheckNumber.COMMITMENTS - 1]
    assert (check.number, check.state) == (CheckNumber.COMMITMENTS, CheckState.FAILED)
    assert "Nothing can be concluded" in last.sentence
    assert last == inspect(run)


FRAUD, STORED = 9, 8
"""The poisoned step, and the stored state before it; segments have two steps."""


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    return record_job(tmp_path_factory.mktemp("honest"), digits_order(steps=12), trainer_key)


@pytest.fixture(scope="module")
def fraud(honest: Job, tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    run = tmp_path_factory.mktemp("fraud") / "run.cfoil"
    return Job(honest.order, record_run(honest.order, run, trainer_key, tamper=LabelFlip(FRAUD)))


def damaged(job: Job, folder: Path, *steps: int) -> Path:
    run = Path(shutil.copy(job.run, folder / "damaged.cfoil"))
    for step in steps:
        flip(
            run,
            next(name for name in datasets(run, "checkpoints") if name.startswith(f"{layout.checkpoint_path(step)}/")),
        )
    return run


def judged(run: Path, job: Job, key: SigningKey, *segments: int) -> Audited:
    """Audit, and see that what is said could be signed, and names the check that failed."""
    settings = {"segments": SegmentRequest(numbers=segments)} if segments else {}
    result = audited(run, job.order, **settings)
    check = result.check(CheckNumber.COMMITMENTS)
    assert check.state is CheckState.FAILED
    assert check.detail in result.report.reason
    verify_signed(sign_verdict(result.report, key), key.public)
    return result


def test_a_damaged_state_that_the_replay_has_itself_shields_no_fraud(fraud, tmp_path, trainer_key):
    for segments in ((), (1, 2, 3, 4, 5)):
        result = judged(damaged(fraud, tmp_path, STORED), fraud, trainer_key, *segments)
        report, evidence = result.report, result.events[-1].evidence
        assert (report.outcome, report.dispute.step) == (Outcome.DISPUTED, FRAUD), report.reason
        assert "The stored state of step 8 differs from the state root of that step." in report.reason
        assert "could not be judged" not in report.reason
        ruling = adjudicated(save(evidence, tmp_path / "dispute.cfoil"), order=fraud.order)
        assert (ruling.outcome, ruling.dispute.step) == (AdjudicationOutcome.CONFIRMED, FRAUD)


def test_states_that_nobody_has_leave_the_other_segments_to_be_judged(fraud, tmp_path, trainer_key):
    result = judged(damaged(fraud, tmp_path, 2, 12), fraud, trainer_key, 2, 4, 5, 6)
    assert (result.report.outcome, result.report.dispute.step) == (Outcome.DISPUTED, FRAUD), result.report.reason
    assert "2 stored states differ from the state roots of their steps (2 and 12)." in result.report.reason
    assert "Steps that could not be judged for it: 3-4." in result.report.reason


def test_a_damaged_state_without_a_fraud_is_refused_and_says_what_was_judged(honest, tmp_path, trainer_key):
    for segments, left, said in (
        ((), "", "12 of 12"),
        ((2, 5), "Steps that could not be judged for it: 9-10.", "2 of 4"),
    ):
        report = judged(damaged(honest, tmp_path, STORED), honest, trainer_key, *segments).report
        assert (report.outcome, report.mismatched_steps) == (Outcome.REFUSED, ())
        assert left in report.reason
        assert (
            f"{said} chosen steps were judged, and none of them differs from what the trainer signed." in report.reason
        )


def test_an_audit_that_goes_on_finds_the_damage_again(honest, tmp_path, monkeypatch):
    monkeypatch.setattr(progressfile, "LEAST_SECONDS", -1e9)
    job, place = Job(honest.order, damaged(honest, tmp_path, STORED)), tmp_path / "progress"
    stopped = ended(stopped_after(request_of(job, place), STORED + 3))
    assert stopped.kept is not None
    assert stopped.kept.step == STORED - 2, "what is kept ends before the damage"
    resumed = whole(request_of(job, place, resume=True))
    assert ended(resumed).report.outcome is Outcome.REFUSED
    same_end(resumed, whole(request_of(job)), tmp_path)


def test_control_without_damage(honest, fraud):
    assert audited(honest.run, honest.order).report.outcome is Outcome.VERIFIED
    assert audited(fraud.run, fraud.order).check(CheckNumber.COMMITMENTS).state is CheckState.PASSED
