"""Exact arithmetic says who is right about a disputed operator: the trainer, the replay, or both within the margin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterfoil.audit import arbiter, steps
from counterfoil.audit.arbiter import exact_rounding, midpoint_distance
from counterfoil.audit.events import Right
from counterfoil.audit.outcome import Outcome
from counterfoil.audit.verdict import sign_verdict, verify_verdict
from counterfoil.exact.numbers import MP
from counterfoil.execution.interpreter import native
from counterfoil.rounding.grid import Grid
from counterfoil.rounding.neighbours import neighbours
from counterfoil.training import recorder
from counterfoil.training.tamper import LabelFlip
from support.bent_recorder import Bent, bent, rounding_site, within_margin
from support.jobs import audited, digits_order, record_job, record_run, replaced
from support.pretender import record_pretender


@pytest.fixture
def bend(tmp_path, digits_job, trainer_key):
    """Records a run of the job with a bent recorder, and audits it."""

    def run(kind: type[Bent], **settings: Any):
        with replaced(recorder, "RecordingRounder", kind):
            path = record_run(digits_job.order, tmp_path / "bent.cfoil", trainer_key)
        return audited(path, digits_job.order, **settings)

    return run


@pytest.fixture(scope="module")
def program():
    return digits_order().program


def closest(count: int) -> Callable[[np.ndarray, np.ndarray, Grid], dict[int, float]]:
    """Round the elements closest to a midpoint, exact ties apart, to the other side."""

    def choose(before: np.ndarray, after: np.ndarray, grid: Grid) -> dict[int, float]:
        beside = neighbours(before, after, grid)
        distance = np.where(beside.distance == 0, np.inf, np.abs(beside.distance))
        chosen = np.argsort(distance)[:count]
        return {int(index): float(beside.other[index]) for index in chosen}

    return choose


# The trainer is wrong.


@pytest.fixture
def poisoned(tmp_path, digits_job, trainer_key):
    return record_pretender(digits_job.order, tmp_path / "run.cfoil", trainer_key, step=3)


def test_a_poisoned_label_behind_a_forged_fingerprint_is_wrong_by_exact_arithmetic(poisoned, digits_job):
    report = audited(poisoned, digits_job.order).report
    assert report.outcome is Outcome.DISPUTED
    finding = report.dispute.finding
    assert finding.right is Right.REPLAY
    assert "exact arithmetic confirm" in report.reason
    # The loss is one element: the trainer's is recovered from its fingerprint, and is the loss that it recorded.
    (element,) = finding.elements
    assert element.trainer == pytest.approx(report.dispute.trainer_loss, rel=1e-6)
    assert element.exact_nearest == pytest.approx(report.dispute.replay_loss, rel=1e-6)
    assert element.error < 1 < element.midpoint


@pytest.mark.parametrize(
    "kind", ["convolution", "_native_batch_norm_legit_functional", "addmm", "convolution_backward"]
)
def test_one_value_changed_at_will_is_recovered_exactly(bend, program, kind):
    def choose(before: np.ndarray, after: np.ndarray, grid: Grid) -> dict[int, float]:
        index = len(after) // 2
        return {index: float(after[index] + 2.0 ** (grid.exponent - 9))}

    recorder_class = bent("OneValue", site=rounding_site(program, kind), choose=choose)
    report = bend(recorder_class).report
    assert report.outcome is Outcome.DISPUTED
    assert report.dispute.step == 3
    finding = report.dispute.finding
    assert finding.right is Right.REPLAY
    assert (finding.recomputed, len(finding.elements)) == (1, 1)
    (element,) = finding.elements
    ((index, value),) = recorder_class.changed.items()
    assert int(np.ravel_multi_index(element.index, report.dispute.operator.shape)) == index
    assert element.trainer == value
    assert element.replay != value
    assert kind in report.dispute.operator.name


def test_many_values_changed_at_will_leave_this_machine_to_be_proven_right(bend, program):
    def choose(before: np.ndarray, after: np.ndarray, grid: Grid) -> dict[int, float]:
        return {index: 0.0 for index in range(0, len(after), 7) if after[index]}

    report = bend(bent("Many", site=rounding_site(program, "convolution"), choose=choose)).report
    finding = report.dispute.finding
    assert (report.outcome, finding.right) == (Outcome.DISPUTED, Right.REPLAY)
    assert finding.recomputed > 100
    assert all(element.trainer is None and element.error < 0.1 for element in finding.elements)
    assert "were recomputed exactly" in finding.sentence


def test_rounding_far_from_a_midpoint_is_no_matter_of_the_margin(bend, program):
    def choose(before: np.ndarray, after: np.ndarray, grid: Grid) -> dict[int, float]:
        beside = neighbours(before, after, grid)
        index = int(np.flatnonzero(np.abs(beside.distance) > 1000 * grid.tau)[0])
        return {index: float(beside.other[index])}

    finding = bend(bent("Far", site=rounding_site(program, "convolution"), choose=choose)).report.dispute.finding
    assert finding.right is Right.REPLAY
    assert finding.elements[0].midpoint > 1


def test_state_that_does_not_follow_from_its_own_fingerprints(tmp_path, digits_job, trainer_key):
    def tamper(inputs):
        if inputs.draws.step == 2:
            inputs.state["momentum:head.bias"] += 1.0
        return inputs

    run = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=tamper)
    report = audited(run, digits_job.order).report
    assert (report.outcome, report.dispute.operator) == (Outcome.DISPUTED, None)
    assert report.dispute.finding.right is Right.REPLAY
    assert "does not follow from what it signed on the way" in report.dispute.finding.sentence


# The margin was too small.


def test_rounding_within_the_margin_accuses_nobody(bend, program):
    result = bend(bent("Within", site=rounding_site(program, "convolution"), choose=within_margin))
    report = result.report
    assert report.outcome is Outcome.INCONCLUSIVE
    finding = report.dispute.finding
    assert finding.right is Right.MARGIN
    assert "The margin was too small" in report.reason
    assert finding.elements[0].midpoint <= 1
    # With these values the replay goes on, and the later steps are judged.
    assert report.mismatched_steps == (3,)
    assert report.steps_replayed == 6


def test_control_without_the_arbiter_it_would_be_an_accusation(monkeypatch, bend, program):
    monkeypatch.setattr(arbiter, "MOST_ROUNDS", 0)
    report = bend(bent("Within", site=rounding_site(program, "convolution"), choose=within_margin)).report
    assert report.outcome is Outcome.DISPUTED


def test_several_operators_may_be_rounded_to_the_other_side(bend):
    done = []

    def first_two(before: np.ndarray, after: np.ndarray, grid: Grid) -> dict[int, float]:
        beside = neighbours(before, after, grid)
        close = np.flatnonzero(np.abs(beside.distance) <= grid.tau / 2)
        if len(done) == 2 or not len(close):
            return {}
        done.append(int(close[0]))
        return {int(close[0]): float(beside.other[close[0]])}

    class Twice(Bent):
        choose = staticmethod(first_two)

        @property
        def site(self) -> int:  # type: ignore[override]
            return self._site

    report = bend(Twice).report
    assert len(done) == 2
    assert (report.outcome, report.dispute.finding.right) == (Outcome.INCONCLUSIVE, Right.MARGIN)
    assert "2 elements" in report.dispute.finding.sentence


# The auditor's machine is off.


def off(kinds: tuple[str, ...], relative: float) -> Any:
    """An executor that gets some operators wrong in the same way every time, whatever the order of sums."""

    def compute(operation: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = native(operation, args, kwargs)
        if operation.node.entry.kind not in kinds:
            return result
        if isinstance(result, tuple):
            return (result[0] * (1 + relative), *result[1:])
        return result * (1 + relative)

    return compute


@pytest.mark.parametrize("kind", ["_log_softmax", "mean", "convolution", "addmm"])
def test_a_machine_that_is_always_wrong_alike_accuses_nobody(monkeypatch, digits_job, kind):
    """The second replay cannot tell: a function that is wrong is wrong in any order of summation."""
    broken = off((kind,), 1e-7)
    monkeypatch.setattr(steps, "native", broken)
    monkeypatch.setattr(steps, "perturbed", lambda name: broken)
    report = audited(digits_job.run, digits_job.order).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert report.dispute.confirmed
    finding = report.dispute.finding
    assert finding.right in (Right.TRAINER, Right.NOBODY_KNOWN)
    assert "another machine" in report.reason
    assert max(element.error for element in finding.elements) > 1


def test_where_one_value_differs_the_trainer_is_shown_to_be_right(monkeypatch, digits_job):
    def one_wrong(operation: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = native(operation, args, kwargs)
        if operation.node.entry.kind == "addmm":
            result[1, 2] += 1e-4
        return result

    monkeypatch.setattr(steps, "native", one_wrong)
    monkeypatch.setattr(steps, "perturbed", lambda name: one_wrong)
    report = audited(digits_job.run, digits_job.order).report
    assert report.outcome is Outcome.INCONCLUSIVE
    finding = report.dispute.finding
    assert finding.right is Right.TRAINER
    assert "The trainer's values" in report.reason
    (element,) = finding.elements
    assert element.index == (1, 2)
    assert element.trainer == pytest.approx(element.exact_nearest, abs=1e-6)


def test_control_the_same_run_on_sound_arithmetic(digits_job):
    assert audited(digits_job.run, digits_job.order).report.outcome is Outcome.VERIFIED


def test_an_operator_without_an_exact_form_leaves_it_to_the_second_replay(monkeypatch, poisoned, digits_job):
    from counterfoil.exact import NotExactError

    def none(*_: Any) -> Any:
        raise NotExactError("nobody has written down its exact form")

    monkeypatch.setattr(arbiter, "exact_output", none)
    report = audited(poisoned, digits_job.order).report
    assert (report.outcome, report.dispute.finding.right) == (Outcome.DISPUTED, Right.UNKNOWN)
    assert "because nobody has written down its exact form" in report.dispute.finding.sentence
    assert "exact arithmetic" not in report.reason


# In other programs, and in the verdict.


def test_a_language_model(tmp_path: Path, gpt2_job, trainer_key):
    def tamper(inputs):
        if inputs.draws.step != 2:
            return inputs
        name = next(name for name in inputs.state if name.endswith("c_fc.weight") or name.endswith("weight"))
        inputs.state[name] *= 1.5
        return inputs

    run = record_run(gpt2_job.order, tmp_path / "run.cfoil", trainer_key, tamper=tamper)
    report = audited(run, gpt2_job.order).report
    assert report.outcome is Outcome.DISPUTED
    assert report.dispute.finding.right is Right.REPLAY


def test_the_verdict_signs_the_finding(bend, program, trainer_key):
    report = bend(bent("Within", site=rounding_site(program, "convolution"), choose=within_margin)).report
    verdict = verify_verdict(sign_verdict(report, trainer_key), trainer_key.public)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    finding = verdict.predicate["dispute"]["finding"]
    assert finding["right"] == "margin"
    element = report.dispute.finding.elements[0]
    assert float.fromhex(finding["elements"][0]["trainer"]["hex"]) == element.trainer
    assert finding["elements"][0]["exact"] == element.exact


# The arithmetic.

GRID = Grid(exponent=0, significand_bits=24, guard_bits=8, margin_bits=44)


@pytest.mark.parametrize(
    ("value", "rounded", "distance"),
    [
        (0.75, 0.75, 2.0**-25 / GRID.tau),
        (0.75 + 2.0**-25, 0.75, 0.0),
        (0.75 + 3 * 2.0**-25, 0.75 + 2.0**-23, 0.0),
        (0.75 + 2.0**-25 + 2.0**-44, 0.75 + 2.0**-24, 1.0),
        (-(0.75 + 2.0**-25 - 2.0**-45), -0.75, 0.5),
        (0.0, 0.0, 2.0**-32 / GRID.tau),
        (2.0**-40, 0.0, (2.0**-32 - 2.0**-40) / GRID.tau),
    ],
)
def test_exact_rounding_and_distance_to_the_midpoint(value, rounded, distance):
    assert exact_rounding(MP.mpf(value), GRID) == rounded
    assert midpoint_distance(MP.mpf(value), GRID) == pytest.approx(distance)


def test_the_elements_that_are_recomputed_cover_first_close_and_spread():
    distance = np.abs(np.random.default_rng(0).normal(size=10_000))
    chosen = arbiter._sample(distance, 400)
    assert len(chosen) <= 400
    assert set(range(100)) <= set(chosen.tolist())
    assert set(np.argsort(distance)[:100].tolist()) <= set(chosen.tolist())
    assert {0, 9_999} <= set(chosen.tolist())
    assert np.diff(chosen).min() >= 1
    assert arbiter._sample(distance[:7], 400).tolist() == list(range(7))


def test_guaranteed_margins_are_arbitrated_as_well(tmp_path, trainer_key):
    from counterfoil.bundle.schema import Precision

    draft = digits_order(precision=Precision(guaranteed=True))
    job = record_job(tmp_path, draft, trainer_key, tamper=LabelFlip(2))
    report = audited(job.run, job.order).report
    assert (report.outcome, report.dispute.finding.right) == (Outcome.DISPUTED, Right.REPLAY)
