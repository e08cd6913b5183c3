"""Stored states from which no step comes to a result: a sample, which begins there, must not end without a word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from counterfoil.audit.values.accountprose import account_of, meaning_of
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic import machine
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.judge import arbiter
from counterfoil_core.statement.verdict import sign_verdict, verify_signed
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.dispute import Right
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.sampling import SegmentRequest
from support.capsules import adjudicated, save
from support.exact_jobs import plain_order
from support.expectations import verified
from support.forgery import checkpoint, forge_checkpoint
from support.jobs import Audited, Job, audited, digits_order, record_job, record_run, sign_again
from support.precisions import PROVEN

STEPS, EVERY = 8, 2
PROFILED = ("proven", "coarse", "exact")
Edit = Callable[[np.ndarray], np.ndarray]


def huge(matrix: np.ndarray) -> np.ndarray:
    return np.full_like(matrix, 3e38)


def cancelling(matrix: np.ndarray) -> np.ndarray:
    """Signs that alternate, so that sums of products with a constant cancel."""
    signs = np.where(np.arange(matrix.size) % 2 == 0, 3e38, -3e38).astype(matrix.dtype)
    return signs.reshape(matrix.shape)


def infinite(matrix: np.ndarray) -> np.ndarray:
    return np.full_like(matrix, np.inf)


def not_a_number(matrix: np.ndarray) -> np.ndarray:
    return np.full_like(matrix, np.nan)


@pytest.fixture(scope="module")
def jobs(tmp_path_factory, trainer_key) -> dict[str, Job]:
    """An honest run under each family of profiles."""
    folder = tmp_path_factory.mktemp("jobs")
    made = {}
    for name, precision in {"proven": PROVEN, "coarse": PROFILES["float32-bfloat16"]}.items():
        (folder / name).mkdir()
        draft = digits_order(steps=STEPS, checkpoint_every=EVERY, precision=precision)
        made[name] = record_job(folder / name, draft, trainer_key)
    (folder / "exact").mkdir()
    made["exact"] = record_job(folder / "exact", plain_order(steps=STEPS), trainer_key)
    return made


def hostile(job: Job, path: Path, key, edit: Edit, *, tamper=None) -> Path:
    """A run in which every stored state but the last holds other matrices, with their roots, signed."""
    run = record_run(job.order, path, key, **({} if tamper is None else {"tamper": tamper}))
    for step in range(EVERY, STEPS, EVERY):
        state = {
            name: edit(values) if values.ndim > 1 and ":" not in name else values
            for name, values in checkpoint(run, step).items()
        }
        forge_checkpoint(run, step, state)
    sign_again(run, key)
    return run


def sampled(run: Path, job: Job, *segments: int) -> Audited:
    return audited(run, job.order, segments=SegmentRequest(numbers=segments))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("edit", [huge, cancelling, infinite, not_a_number])
@pytest.mark.parametrize("profile", PROFILED)
def test_a_sample_disputes_it(jobs, profile, edit, tmp_path, trainer_key):
    job = jobs[profile]
    run = hostile(job, tmp_path / "run.cfoil", trainer_key, edit)
    result = sampled(run, job, 3)
    report = result.report
    assert report.outcome is Outcome.DISPUTED, report.reason
    dispute = report.dispute
    assert (dispute.step, dispute.parts, dispute.replay_leaf) == (5, ("result",), None)
    assert dispute.finding.right is Right.NO_RESULT
    verify_signed(sign_verdict(report, trainer_key), trainer_key.public)
    evidence = result.events[-1].evidence
    ruling = adjudicated(save(evidence, tmp_path / "dispute.cfoil"), order=job.order)
    assert (ruling.outcome, ruling.dispute.step) == (AdjudicationOutcome.CONFIRMED, 5), ruling.reason
    # A state that no step leaves is seen without a row.
    floats = [array for array in evidence.state.values() if array.dtype.kind == "f"]
    assert bool(evidence.part.data) == all(np.isfinite(array).all() for array in floats)
    for said in (report.reason, ruling.reason, account_of(dispute, earlier=0), meaning_of(dispute)):
        assert "not what was ordered" not in said


@pytest.mark.sampled(1)
@pytest.mark.parametrize("profile", ["proven", "exact"])
def test_the_same_where_rounders_run_ahead_of_their_device(jobs, profile, tmp_path, trainer_key, monkeypatch):
    job = jobs[profile]
    run = hostile(job, tmp_path / "run.cfoil", trainer_key, huge)
    monkeypatch.setattr(machine, "Kernels", partial(Kernels, run_ahead=True))
    report = sampled(run, job, 3).report
    assert (report.outcome, report.dispute.finding.right) == (Outcome.DISPUTED, Right.NO_RESULT), report.reason


def test_a_verdict_on_a_step_without_a_result_that_has_one_is_refused(jobs, tmp_path, trainer_key):
    report = sampled(hostile(jobs["exact"], tmp_path / "run.cfoil", trainer_key, huge), jobs["exact"], 3).report
    verify_signed(sign_verdict(report, trainer_key), trainer_key.public)
    for lie in (
        {"replay_leaf": Digest.of(b"another")},
        {"parts": ("state",)},
        {"parts": ("log",)},
        {"parts": ("result", "state")},
        {"finding": replace(report.dispute.finding, right=Right.UNREADABLE)},
    ):
        said = replace(report, dispute=replace(report.dispute, **lie))
        with pytest.raises(SignatureError, match="verdict"):
            verify_signed(sign_verdict(said, trainer_key), trainer_key.public)


def test_where_it_is_not_proven_that_every_machine_ends_the_others_are_judged(jobs, tmp_path, trainer_key, monkeypatch):
    job = jobs["proven"]
    run = hostile(job, tmp_path / "run.cfoil", trainer_key, huge)
    monkeypatch.setattr(arbiter, "SCALE_TOLERANCE", 1.0)  # scales would say nothing
    result = sampled(run, job, 3, 4)
    assert (result.report.outcome, result.report.dispute) == (Outcome.INCONCLUSIVE, None)
    assert "Step 5 cannot be replayed, although the trainer recorded it." in result.report.reason
    assert "That every conforming machine ends there is not proven, so nobody is accused." in result.report.reason
    fraud = hostile(job, tmp_path / "fraud.cfoil", trainer_key, huge, tamper=LabelFlip(2))
    report = sampled(fraud, job, 1, 3).report
    assert (report.outcome, report.dispute.step) == (Outcome.DISPUTED, 2)
    assert "Step 5 cannot be replayed, although the trainer recorded it." in report.reason


@pytest.mark.parametrize("profile", PROFILED)
def test_control_the_honest_run(jobs, profile):
    verified(jobs[profile].run, jobs[profile].order, segments=SegmentRequest(numbers=(3,)))
