"""Audits of honest runs: every order of arithmetic gives VERIFIED, and the trainer's log is why."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterfoil.audit.hearings import run_audit
from counterfoil.training.orderfile import load_order
from counterfoil.training.recipes.gpt2 import Gpt2Size
from counterfoil_core.arithmetic import machine, selftest
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, step_key
from counterfoil_core.arithmetic.grid.log import SiteLog, decode
from counterfoil_core.arithmetic.grid.replayrounder import ReplayingRounder
from counterfoil_core.arithmetic.otherwise.perturbation import PERTURBATIONS, perturb
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.state import state_root
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.statement.verdict import sign_verdict
from counterfoil_core.values.events import AuditStarted, CheckChanged, DisputeLocated, DivergenceMeasured, StepReplayed
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.steptable import StepMatch
from support.jobs import Job, audited, digits_order, gpt2_order, record_job

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def larger_job(tmp_path_factory, trainer_key) -> Job:
    """A GPT-2 large enough that reversed sums flip some roundings."""
    size = Gpt2Size(layers=1, heads=2, width=32, context=24)
    draft = gpt2_order(size=size, batch_size=8, steps=6, checkpoint_every=6)
    return record_job(tmp_path_factory.mktemp("larger"), draft, trainer_key)


@pytest.mark.sampled
@pytest.mark.parametrize("perturbation", [None, *PERTURBATIONS])
@pytest.mark.parametrize("job", ["digits_job", "gpt2_job"])
def test_an_honest_run_is_verified(request, job, perturbation):
    made: Job = request.getfixturevalue(job)
    result = audited(made.run, made.order, perturbation=perturbation)
    report = result.report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert [check.state for check in report.checks] == [CheckState.PASSED] * 10
    assert (report.contradictions, report.omissions, report.mismatched_steps) == (0, 0, ())
    assert report.steps_replayed == report.steps_ordered == 6
    assert report.order_source == "client"
    rows = [event.row for event in result.of(StepReplayed)]
    assert [row.step for row in rows] == [1, 2, 3, 4, 5, 6]
    assert all(row.match is StepMatch.MATCH and row.trainer_leaf == row.replay_leaf for row in rows)
    assert all(row.trainer_loss == row.replay_loss for row in rows)
    assert not result.of(DisputeLocated)


def test_what_an_audit_reports(digits_job):
    result = audited(digits_job.run, digits_job.order)
    report = result.report
    assert isinstance(result.events[0], AuditStarted)
    assert result.events[0].steps == 6
    assert "stem.weight" in result.events[0].tensor_names
    assert [event.step for event in result.of(DivergenceMeasured)] == [2, 4, 6]
    assert all(tensor.differing == 0 for event in result.of(DivergenceMeasured) for tensor in event.tensors)
    assert report.bundle_digest == Digest.of(digits_job.run.read_bytes())
    assert report.log_entries == sum(event.row.log_entries for event in result.of(StepReplayed)) > 0
    assert report.log_bytes == sum(event.row.log_bytes for event in result.of(StepReplayed)) > 0
    assert report.environment
    assert report.trainer_environment
    # Every check that an event reports last is what the report says.
    last = {
        event.check.number: event.check
        for event in result.of(CheckChanged)
        if event.check.state is not CheckState.RUNNING
    }
    assert all(report.checks[number - 1] == check for number, check in last.items())


def test_the_bundle_is_not_changed_by_an_audit(digits_job):
    before = digits_job.run.read_bytes()
    audited(digits_job.run, digits_job.order)
    assert digits_job.run.read_bytes() == before


def test_without_the_clients_order_the_verdict_says_so(digits_job):
    result = audited(digits_job.run)
    assert result.report.outcome is Outcome.VERIFIED
    assert result.report.order_source == "bundle"
    assert result.check(CheckNumber.ORDER).state is CheckState.WARNING


@pytest.mark.sampled(2)
@pytest.mark.parametrize("recorded", PERTURBATIONS)
def test_a_run_recorded_on_other_hardware_is_verified_here(tmp_path, trainer_key, recorded):
    job = record_job(tmp_path, digits_order(steps=3), trainer_key, perturbation=recorded)
    assert audited(job.run, job.order).report.outcome is Outcome.VERIFIED


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_make_no_difference(digits_job, threads):
    before = torch.get_num_threads()
    try:
        assert audited(digits_job.run, digits_job.order, threads=threads).report.outcome is Outcome.VERIFIED
    finally:
        torch.set_num_threads(before)


# Control: the log is what makes it match.


def differing_steps(job: Job, compute: Any, change: Callable[[SiteLog], SiteLog]) -> list[int]:
    """Replay the steps one by one, each log changed, and return those whose state or fingerprints differ."""
    different = []
    with BundleReader.open(job.run) as reader:
        order, records = load_order(reader), reader.step_records()
        kernels = Kernels(CPU, 1)
        try:
            rounder = ReplayingRounder(order.program, order.manifest.precision, kernels)
            interpreter = Interpreter(order.program, CPU)
            state = order.initial
            for step in range(1, order.manifest.steps + 1):
                logs = decode(reader.log(step), [site.elements for site in order.program.sites])
                rounder.follow(step_key(order.manifest.digest, step), [change(log) for log in logs])
                state = interpreter.run(order.inputs(step, state), rounder=rounder, compute=compute).state
                root = state_root({name: tensor.numpy() for name, tensor in state.items()})
                fingerprints = Digest.of(rounder.fingerprints.astype("<u8").tobytes())
                if (root, fingerprints) != (records[step].state_root, records[step].fingerprints):
                    different.append(step)
        finally:
            kernels.close()
    return different


def without_entries(log: SiteLog) -> SiteLog:
    """Keep the scale and forget the directions."""
    return SiteLog(log.exponent, np.zeros(0, np.int64), np.zeros(0, np.bool_))


def test_control_without_the_log_other_hardware_gives_another_run(larger_job):
    report = audited(larger_job.run, larger_job.order, perturbation="reversed").report
    assert report.outcome is Outcome.VERIFIED
    assert report.corrections > 0
    assert differing_steps(larger_job, perturb("reversed"), lambda log: log) == []
    assert differing_steps(larger_job, perturb("reversed"), without_entries)
    # The same hardware needs no log.
    assert differing_steps(larger_job, native, without_entries) == []


# Commitments and checkpoints at some steps only.


@pytest.mark.parametrize(("steps", "checkpoints"), [(7, [6, 7]), (6, [6])])
def test_sparse_commitments_and_checkpoints(tmp_path, trainer_key, steps, checkpoints):
    draft = digits_order(steps=steps, commit_every=3, checkpoint_every=6)
    job = record_job(tmp_path, draft, trainer_key)
    result = audited(job.run, job.order, perturbation="split")
    assert result.report.outcome is Outcome.VERIFIED
    assert result.report.steps_replayed == steps
    assert [event.step for event in result.of(DivergenceMeasured)] == checkpoints


# Stopping.


def stop_after(path: Path, order: Path, steps: int) -> Any:
    token = CancelToken()
    events = []
    for event in run_audit(AuditRequest(path, order), token):
        events.append(event)
        if isinstance(event, StepReplayed) and event.row.step == steps:
            token.cancel()
    return events[-1].report


@pytest.mark.parametrize("steps", [1, 4])
def test_a_cancelled_audit_is_inconclusive(digits_job, steps):
    report = stop_after(digits_job.run, digits_job.order, steps)
    assert report.outcome is Outcome.INCONCLUSIVE
    assert report.steps_replayed == steps
    assert f"after {steps} of 6 steps" in report.reason
    assert report.checks[CheckNumber.COVERAGE - 1].state is CheckState.WARNING
    assert report.checks[CheckNumber.REPLAY - 1].state is CheckState.PASSED


def test_cancelled_before_it_begins(digits_job):
    token = CancelToken()
    token.cancel()
    report = audited(digits_job.run, digits_job.order, cancel=token).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert report.steps_replayed == 0


class Watching(CancelToken):
    """Tells when the work waits, and whether it ever went on while paused."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = threading.Event()
        self.ran_while_paused = False

    def check(self) -> None:
        if self.paused:
            self.waiting.set()
        super().check()
        self.ran_while_paused |= self.paused


def test_pause_and_resume(digits_job):
    token = Watching()

    def resume_when_it_waits() -> None:
        token.waiting.wait()
        token.resume()

    helper = threading.Thread(target=resume_when_it_waits)
    helper.start()
    report = None
    for event in run_audit(AuditRequest(digits_job.run, digits_job.order), token):
        if isinstance(event, StepReplayed) and event.row.step == 2:
            token.pause()
        report = getattr(event, "report", None)
    helper.join()
    assert not token.ran_while_paused
    assert report.outcome is Outcome.VERIFIED


def test_cancel_while_paused(digits_job):
    token = Watching()

    def cancel_when_it_waits() -> None:
        token.waiting.wait()
        token.cancel()

    helper = threading.Thread(target=cancel_when_it_waits)
    helper.start()
    token.pause()
    assert audited(digits_job.run, digits_job.order, cancel=token).report.outcome is Outcome.INCONCLUSIVE
    helper.join()


# This machine is not sound.


def noisy(relative: float, seed: int | None) -> Any:
    """An executor whose matrix products and convolutions are off; with a seed always in the same way."""
    generator = torch.Generator()
    generator.manual_seed(0)

    def compute(operation: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = native(operation, args, kwargs)
        if operation.node.entry.kind not in ("mm", "addmm", "convolution"):
            return result
        if seed is not None:
            generator.manual_seed(seed)
        return result * (1 + relative * torch.randn(result.shape, dtype=torch.float64, generator=generator))

    return compute


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", [None, 1], ids=["another error each time", "the same error each time"])
def test_unsound_hardware_accuses_nobody(monkeypatch, digits_job, seed):
    monkeypatch.setattr(machine, "native", noisy(2.0**-30, seed))
    # The self-test finds so much noise at once.
    assert audited(digits_job.run, digits_job.order).report.outcome is Outcome.ERROR
    monkeypatch.setattr("counterfoil_core.hearing.session.run_selftest", lambda *_: "not asked")
    result = audited(digits_job.run, digits_job.order)
    report = result.report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert report.dispute is not None
    assert not report.dispute.confirmed
    assert "outside the margin" in report.reason


def test_noise_far_below_the_margin_is_no_matter(monkeypatch, gpt2_job):
    monkeypatch.setattr(machine, "native", noisy(2.0**-51, 1))
    assert audited(gpt2_job.run, gpt2_job.order).report.outcome is Outcome.VERIFIED


def test_a_device_that_is_not_there_is_an_error_and_no_verdict(digits_job):
    report = audited(digits_job.run, digits_job.order, device="cuda:77").report
    assert report.outcome is Outcome.ERROR
    assert report.steps_replayed == 0


def test_a_machine_that_fails_the_self_test_is_an_error(monkeypatch, digits_job):
    monkeypatch.setattr(selftest, "FINGERPRINT", 0)
    result = audited(digits_job.run, digits_job.order)
    assert result.report.outcome is Outcome.ERROR
    assert result.check(CheckNumber.SELF_TEST).state is CheckState.FAILED
    assert result.check(CheckNumber.REPLAY).state is CheckState.SKIPPED


def test_an_order_that_nobody_ran_is_refused(digits_job, tmp_path):
    report = audited(digits_job.order, shutil.copy(digits_job.order, tmp_path / "kept.cfoil")).report
    assert report.outcome is Outcome.REFUSED
    assert "nobody has run" in report.reason


def test_no_verdict_is_made_on_imitated_hardware(digits_job: Job, trainer_key: SigningKey, tmp_path: Path) -> None:
    """It alters the arithmetic, so nobody can ask for it in a request, and the report says so."""
    assert "perturbation" not in {item.name for item in fields(AuditRequest)}
    now = datetime(2026, 1, 31, tzinfo=UTC)
    honest = audited(digits_job.run, digits_job.order).report
    assert "imitation" not in dict(honest.environment)
    sign_verdict(honest, trainer_key, now)
    imitated = audited(digits_job.run, digits_job.order, perturbation="reversed+jitter").report
    assert dict(imitated.environment)["imitation"] == "reversed+jitter"
    with pytest.raises(SignatureError, match="imitated hardware"):
        sign_verdict(imitated, trainer_key, now)
    with pytest.raises(ValueError, match="There is no perturbation"):
        audited(digits_job.run, perturbation="sideways")
    with pytest.raises(ValueError, match="no progress is kept"):
        audited(digits_job.run, perturbation="reversed", progress=tmp_path)
