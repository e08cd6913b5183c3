"""Runs of programs that take turns: recorded as torch trains, and replayed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterfoil.audit import progressfile
from counterfoil.audit.overview import inspect
from counterfoil.audit.timing import plan_audit
from counterfoil.audit.values.plan import Plan
from counterfoil.training.calibration import Calibration, calibrate
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import RecordingResumed, StepRecorded
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.panel.panel import run_panel
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.events import ResumedFromCheckpoint
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.panel import PanelFinished, PanelOutcome
from counterfoil_core.values.sampling import SegmentRequest
from support.expectations import verified
from support.jobs import Job, audited, record_job, record_run
from support.resuming import ended, request_of, stopped_after, whole
from support.turns import bent_weight, gan_job, gan_order, ordinary

PRECISIONS: dict[str, AnyPrecision | None] = {"float64-24": None, "exact-20": ExactPrecision(20)}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> dict[str, Job]:
    return {
        name: record_job(tmp_path_factory.mktemp(name), gan_order(precision), trainer_key)
        for name, precision in PRECISIONS.items()
    }


@pytest.mark.parametrize("name", PRECISIONS)
def test_a_run_is_verified_on_other_hardware_too(runs: dict[str, Job], name: str) -> None:
    report = verified(runs[name].run, runs[name].order)
    assert report.steps_replayed == 7
    other = audited(runs[name].run, runs[name].order, perturbation="reversed+rewritten").report
    assert other.outcome is Outcome.VERIFIED, other.reason
    if name == "float64-24":
        assert report.rounded_values == sum(
            sum(site.elements for site in gan_order().programs.of(step).sites) for step in range(1, 8)
        )
        assert report.steering is not None
        assert sum(row.values for row in report.steering.rows) == report.rounded_values


@pytest.mark.parametrize("name", PRECISIONS)
def test_it_is_what_torch_trains(runs: dict[str, Job], name: str) -> None:
    job = gan_job()
    losses, state = ordinary(job, gan_order().schedule, "ddgddgd")
    with BundleReader.open(runs[name].run) as reader:
        found, own = reader.checkpoint(7), reader.losses()
    # An exact profile rounds operands to 20 bits: 2^-20 of each.
    tolerance = 1e-6 if name == "float64-24" else 1e-5
    np.testing.assert_allclose(own, losses, atol=tolerance)
    for tensor, value in state.items():
        np.testing.assert_allclose(found[tensor], value.numpy(), atol=tolerance, err_msg=tensor)


def test_control_one_turn_the_other_way_is_another_training() -> None:
    losses, _ = ordinary(gan_job(), gan_order().schedule, "ddgddgd")
    others, _ = ordinary(gan_job(), gan_order().schedule, "dggddgd")
    assert abs(losses[2] - others[2]) > 1e-3


@pytest.mark.parametrize("numbers", [(2,), (1, 3)])
def test_a_segment_may_begin_in_the_middle_of_a_round(runs: dict[str, Job], numbers: tuple[int, ...]) -> None:
    """Segments are of two steps, rounds of three: the second segment begins with the generator's turn."""
    job = runs["float64-24"]
    result = audited(job.run, job.order, segments=SegmentRequest(numbers=numbers))
    assert result.report.outcome is Outcome.VERIFIED, result.report.reason
    assert result.report.steps_replayed == sum(1 if number == 4 else 2 for number in numbers)
    resumed = [event.step for event in result.of(ResumedFromCheckpoint)]
    assert resumed == [2 * number - 2 for number in numbers if number > 1]


@pytest.mark.parametrize("stop", [1, 3, 4])
def test_a_recording_goes_on_in_the_middle_of_a_round(
    runs: dict[str, Job], tmp_path: Path, trainer_key: SigningKey, stop: int
) -> None:
    job, path = runs["float64-24"], tmp_path / "run.cfoil"
    token = CancelToken()
    begun = record(job.order, path, trainer_key, threads=1, cancel=token)
    next(event for event in begun if isinstance(event, StepRecorded) and event.step == stop)
    token.cancel()
    with pytest.raises(CancelledError):
        next(begun)
    events = list(record(job.order, path, trainer_key, threads=1, resume=True))
    (resumed,) = (event for event in events if isinstance(event, RecordingResumed))
    assert resumed.steps == stop
    with BundleReader.open(path) as one, BundleReader.open(job.run) as other:
        assert one.step_records() == other.step_records()


def test_an_interrupted_audit_goes_on_as_one_that_was_not(
    runs: dict[str, Job], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progressfile, "LEAST_SECONDS", -1e9)
    job, place = runs["float64-24"], tmp_path / "kept"
    place.mkdir()
    expected = ended(whole(request_of(job))).report
    stopped = ended(stopped_after(request_of(job, place), 3))
    assert stopped.report.outcome is Outcome.INCONCLUSIVE
    assert stopped.kept is not None
    assert stopped.kept.step == 2
    resumed = ended(whole(request_of(job, place, resume=True))).report
    assert replace(resumed, seconds=0.0) == replace(expected, seconds=0.0)
    assert resumed.outcome is Outcome.VERIFIED


def test_what_an_inspection_says(runs: dict[str, Job]) -> None:
    summary = inspect(runs["float64-24"].run, runs["float64-24"].order)
    programs = gan_order().programs
    assert dict(summary.order.programs) == {name: program.digest for name, program in programs.parts.items()}
    assert summary.order.pattern == ("d", "d", "g")
    assert summary.order.operators == sum(len(program.nodes) for program in programs.all)
    model = gan_job().model
    assert summary.order.parameters == sum(parameter.numel() for parameter in model.parameters())
    assert summary.order.estimate is not None
    assert summary.order.estimate.operators == max(len(program.nodes) for program in programs.all)


def test_a_plan_measures_each_program(runs: dict[str, Job]) -> None:
    *_, plan = plan_audit(runs["float64-24"].run, threads=1)
    assert isinstance(plan, Plan)
    assert plan.measured_steps >= 3


def test_calibration_measures_each_program(runs: dict[str, Job], tmp_path: Path, trainer_key: SigningKey) -> None:
    out = tmp_path / "job.cfoil"
    *_, found = calibrate(runs["float64-24"].order, out, steps=1, threads=1)
    assert isinstance(found, Calibration)
    assert found.steps == 3
    kinds = {kind.kind: kind for kind in found.kinds}
    sites = [site for program in gan_order().programs.all for site in program.sites]
    assert {kind: found.sites for kind, found in kinds.items()} == {
        kind: sum(site.kind == kind for site in sites) for kind in {site.kind for site in sites}
    }
    run = record_run(out, tmp_path / "run.cfoil", trainer_key)
    verified(run, out)


def test_a_panel_finds_who_departed_in_the_generators_turn(
    runs: dict[str, Job], tmp_path: Path, trainer_key: SigningKey
) -> None:
    job = runs["float64-24"]
    bad = record_run(job.order, tmp_path / "bad.cfoil", trainer_key, tamper=bent_weight(3, "generator.0.weight"))
    *_, last = run_panel([job.run, bad], order=job.order, threads=1)
    assert isinstance(last, PanelFinished)
    assert last.report.outcome is PanelOutcome.EXPOSED
    (parting,) = last.report.partings
    assert (parting.step, parting.ruled_step) == (3, 3)
