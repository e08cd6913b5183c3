"""Exact arithmetic says who is right about a disputed operator: the trainer, the replay, or both within the margin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterfoil_core.arithmetic import machine, profiles
from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.grid.margin import Margin, is_proven, node_bounds, own_log_margins, site_margins
from counterfoil_core.arithmetic.grid.neighbours import neighbours
from counterfoil_core.judge import arbiter, elements, explain
from counterfoil_core.judge.elements import is_defined, midpoint_distance, rounded_between, tolerance
from counterfoil_core.kernels.grid import Grid
from counterfoil_core.operators.judging.numbers import MP
from counterfoil_core.statement.verdict import sign_verdict, verify_verdict
from counterfoil_core.values.dispute import Right
from counterfoil_core.values.outcome import Outcome
from support.bent_recorder import Bent, bent, nearest_midpoint, rounding_site
from support.jobs import Job, audited, digits_order, record_job, record_run, recorded_by
from support.precisions import CALIBRATED, PROVEN
from support.pretender import record_pretender


@pytest.fixture
def bend(tmp_path, digits_job, trainer_key):
    """Records a run of a job with a bent recorder, and audits it."""

    def run(kind: type[Bent], job: Job = digits_job, **settings: Any):
        with recorded_by(kind):
            path = record_run(job.order, tmp_path / "bent.cfoil", trainer_key)
        return audited(path, job.order, **settings)

    return run


@pytest.fixture(scope="module")
def program():
    return digits_order().program


# The trainer is wrong.


@pytest.fixture
def poisoned(tmp_path, digits_job, trainer_key):
    return record_pretender(digits_job.order, tmp_path / "run.cfoil", trainer_key, step=3)


def test_a_poisoned_label_behind_a_forged_fingerprint_is_wrong_by_exact_arithmetic(poisoned, digits_job):
    report = audited(poisoned, digits_job.order).report
    assert report.outcome is Outcome.DISPUTED
    finding = report.dispute.finding
    assert finding.right is Right.REPLAY
    assert "A second replay with every reduction in another order gave this machine's result again." in report.reason
    # The loss is one element: the trainer's is recovered from its fingerprint, and is the loss that it recorded.
    (element,) = finding.elements
    assert element.trainer == pytest.approx(report.dispute.trainer_loss, rel=1e-6)
    assert element.exact_nearest == pytest.approx(report.dispute.replay_loss, rel=1e-6)
    assert element.error < 1 < element.midpoint


@pytest.mark.sampled(2)
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


# Conforming hardware may round to either side.

CONVOLUTION = "convolution"
"""Some of its results lie on a midpoint, as pixels are small integers; its bound is above the calibrated margin, so
that a conforming recorder may miss such a decision."""


def test_rounding_within_the_bound_accuses_nobody(bend, program, calibrated_job):
    kind = bent("Within", site=rounding_site(program, CONVOLUTION), choose=nearest_midpoint)
    report = bend(kind, calibrated_job).report
    assert report.outcome is Outcome.INCONCLUSIVE
    finding = report.dispute.finding
    assert finding.right is Right.MARGIN
    assert "The calibrated margin was too small" in report.reason
    assert finding.elements[0].midpoint <= 1
    assert finding.bound > 3 / 8 * finding.margin, "else a conforming recorder would have logged it"
    # With these values the replay goes on, and the later steps are judged.
    assert report.mismatched_steps == (3,)
    assert report.steps_replayed == 6


def test_control_if_it_lay_beyond_the_bound_it_would_be_an_accusation(monkeypatch, bend, program, calibrated_job):
    monkeypatch.setattr(elements, "midpoint_distance", lambda exact, grid: MP.mpf(1))
    monkeypatch.setattr(elements, "rounded_between", lambda exact, bound, grid: (float(exact), float(exact)))
    kind = bent("Within", site=rounding_site(program, CONVOLUTION), choose=nearest_midpoint)
    report = bend(kind, calibrated_job).report
    assert report.outcome is Outcome.DISPUTED
    assert report.dispute.finding.right is Right.REPLAY


class Everywhere(Bent):
    """Rounds an exact tie to the other side at every site that has one."""

    @staticmethod
    def choose(before: np.ndarray, after: np.ndarray, grid: Grid) -> dict[int, float]:
        chosen = nearest_midpoint(before, after, grid)
        ((index, other),) = chosen.items()
        return chosen if before[index] == (after[index] + other) / 2 else {}

    @property
    def site(self) -> int:  # type: ignore[override]
        return self._site


def test_several_operators_may_be_rounded_to_the_other_side(bend, calibrated_job):
    Everywhere.steps_begun = 0
    report = bend(Everywhere, calibrated_job).report
    assert (report.outcome, report.dispute.finding.right) == (Outcome.INCONCLUSIVE, Right.MARGIN)
    assert int(report.dispute.finding.sentence.split("The exact values of ")[1].split()[0]) > 1


def some(count: int) -> Callable[[np.ndarray, np.ndarray, Grid], dict[int, float]]:
    """Set some elements to zero."""

    def choose(before: np.ndarray, after: np.ndarray, grid: Grid) -> dict[int, float]:
        return {int(index): 0.0 for index in np.flatnonzero(after)[: 7 * count : 7]}

    return choose


def test_where_it_is_not_known_which_elements_differ_and_some_may_nobody_is_accused(
    monkeypatch, bend, program, calibrated_job
):
    """As on a machine whose error bound is so large that there are more such elements than subsets can be tried of."""
    monkeypatch.setattr(explain, "MOST_UNLOGGED", 0)
    monkeypatch.setattr(arbiter, "error_bound", lambda bound, exponent, compute: 2.0 ** (exponent - 37))
    kind = bent("Some", site=rounding_site(program, CONVOLUTION), choose=some(40))
    report = bend(kind, calibrated_job).report
    assert (report.outcome, report.dispute.finding.right) == (Outcome.INCONCLUSIVE, Right.UNKNOWN)
    assert "so close to a midpoint" in report.reason
    assert "order the job with proven margins" in report.reason


@pytest.mark.sampled(1)
@pytest.mark.parametrize("precision", [CALIBRATED, PROVEN])
def test_control_where_few_may_have_or_all_would_be_logged_it_is_proof(tmp_path, trainer_key, bend, program, precision):
    job = record_job(tmp_path, digits_order(precision=precision), trainer_key)
    kind = bent("Some", site=rounding_site(program, CONVOLUTION), choose=some(40))
    report = bend(kind, job).report
    assert (report.outcome, report.dispute.finding.right) == (Outcome.DISPUTED, Right.REPLAY)
    assert "no rounding on conforming hardware explains it" in report.dispute.finding.sentence


class FittingByChance(Bent):
    """Has honest values, and a fingerprint that one other value would explain."""

    def _round(self, node: Any, exponent: int, flat: torch.Tensor) -> int:
        honest: list[np.ndarray] = []

        def chosen(before: np.ndarray, after: np.ndarray, grid: Grid) -> dict[int, float]:
            honest.append(after)
            return some(1)(before, after, grid)

        type(self).choose = staticmethod(chosen)
        fingerprint = super()._round(node, exponent, flat)
        if honest:
            flat.copy_(torch.from_numpy(honest[0]).to(flat))
        return fingerprint


def test_a_single_value_accuses_only_if_what_follows_bears_it_out(monkeypatch, bend, program, calibrated_job):
    monkeypatch.setattr(explain, "MOST_UNLOGGED", 0)
    monkeypatch.setattr(arbiter, "error_bound", lambda bound, exponent, compute: 2.0 ** (exponent - 37))
    site = rounding_site(program, CONVOLUTION)
    kind = bent("One", site=site, choose=some(1))
    assert bend(kind, calibrated_job).report.outcome is Outcome.DISPUTED
    report = bend(type("Fitting", (FittingByChance,), {"site": site}), calibrated_job).report
    assert (report.outcome, report.dispute.finding.right) == (Outcome.INCONCLUSIVE, Right.UNKNOWN)


# A decision that a conforming recorder logs.


def test_a_decision_left_out_of_the_log_once_accuses_nobody(bend, program, proven_job):
    kind = bent("Once", site=rounding_site(program, CONVOLUTION), choose=nearest_midpoint)
    report = bend(kind, proven_job).report
    assert (report.outcome, report.dispute.finding.right) == (Outcome.INCONCLUSIVE, Right.OMISSION)
    assert "left that out of its log" in report.reason
    assert (report.mismatched_steps, report.steps_replayed) == ((3,), 6)


def test_at_too_many_operators_of_one_step_it_accuses(monkeypatch, bend, proven_job):
    Everywhere.steps_begun = 0
    assert bend(Everywhere, proven_job).report.dispute.finding.right is Right.OMISSION
    Everywhere.steps_begun = 0
    monkeypatch.setattr(arbiter, "MOST_OMISSIONS", 2)
    report = bend(Everywhere, proven_job).report
    assert (report.outcome, report.dispute.finding.right) == (Outcome.DISPUTED, Right.REPLAY)
    assert "At 2 operators of this step" in report.dispute.finding.sentence


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


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["_log_softmax", "mean", "convolution", "addmm"])
def test_a_machine_that_is_always_wrong_alike_accuses_nobody(monkeypatch, digits_job, kind):
    """The second replay cannot tell: a function that is wrong is wrong in any order of summation."""
    broken = off((kind,), 1e-7)
    monkeypatch.setattr(machine, "native", broken)
    monkeypatch.setattr(machine, "perturb", lambda name: broken)
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

    monkeypatch.setattr(machine, "native", one_wrong)
    monkeypatch.setattr(machine, "perturb", lambda name: one_wrong)
    report = audited(digits_job.run, digits_job.order).report
    assert report.outcome is Outcome.INCONCLUSIVE
    finding = report.dispute.finding
    assert finding.right is Right.TRAINER
    assert "The trainer's values" in report.reason
    (element,) = finding.elements
    assert element.index == (1, 2)
    assert element.trainer == pytest.approx(element.exact_nearest, abs=1e-6)


def wide(program: Any, precision: Any) -> tuple[Margin, ...]:
    """Margins as they are proven on a machine that may err by more."""
    return tuple(replace(margin, bits=35) for margin in site_margins(program, precision))


@pytest.mark.parametrize(("margins", "confirmed"), [(wide, True), (site_margins, False)])
def test_the_own_log_carries_a_second_replay_that_differs_by_more_than_the_orders_margins(
    monkeypatch, tmp_path, calibrated_job, trainer_key, margins, confirmed
):
    run = record_pretender(calibrated_job.order, tmp_path / "run.cfoil", trainer_key, step=2)
    monkeypatch.setattr(machine, "perturb", lambda name: off(("convolution", "addmm", "mm"), 2.0**-36))
    monkeypatch.setattr(profiles, "own_log_margins", margins)
    report = audited(run, calibrated_job.order).report
    assert report.dispute.confirmed is confirmed
    assert (report.outcome is Outcome.DISPUTED) is confirmed


def test_margins_of_the_own_log_are_proven_where_the_grid_has_room(program):
    for site, own, order in zip(
        program.sites, own_log_margins(program, CALIBRATED), site_margins(program, CALIBRATED), strict=True
    ):
        bound = node_bounds(program, program.nodes[site.node])[site.output]
        assert is_proven(own.bits, bound, "float64")
        assert own.bits <= order.bits
    assert any(
        own.bits < order.bits
        for own, order in zip(own_log_margins(program, CALIBRATED), site_margins(program, CALIBRATED), strict=True)
    )


def test_control_the_same_run_on_sound_arithmetic(digits_job):
    assert audited(digits_job.run, digits_job.order).report.outcome is Outcome.VERIFIED


def test_an_operator_without_an_exact_form_accuses_nobody(monkeypatch, poisoned, digits_job):
    from counterfoil_core.operators.judging.numbers import NotExactError

    def none(*_: Any) -> Any:
        raise NotExactError("nobody has written down its exact form")

    monkeypatch.setattr(arbiter, "exact_output", none)
    report = audited(poisoned, digits_job.order).report
    assert (report.outcome, report.dispute.finding.right) == (Outcome.INCONCLUSIVE, Right.UNKNOWN)
    assert "because nobody has written down its exact form" in report.reason


def test_an_operator_without_a_bound_accuses_nobody(monkeypatch, poisoned, digits_job):
    monkeypatch.setattr(arbiter, "node_bounds", lambda program, node: [None] * len(node.outputs))
    report = audited(poisoned, digits_job.order).report
    assert (report.outcome, report.dispute.finding.right) == (Outcome.INCONCLUSIVE, Right.UNKNOWN)
    assert "No error bound is known for the operator aten.nll_loss_forward.default" in report.reason


def test_a_bound_that_says_nothing_accuses_nobody(monkeypatch, poisoned, digits_job):
    monkeypatch.setattr(arbiter, "error_bound", lambda bound, exponent, compute: float("inf"))
    assert audited(poisoned, digits_job.order).report.dispute.finding.right is Right.UNKNOWN


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


def test_the_verdict_signs_the_finding(bend, program, calibrated_job, trainer_key):
    kind = bent("Within", site=rounding_site(program, CONVOLUTION), choose=nearest_midpoint)
    report = bend(kind, calibrated_job).report
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
        (0.75, (0.75, 0.75), 2.0**-25),
        (0.75 + 2.0**-25, (0.75, 0.75 + 2.0**-24), 0.0),
        (0.75 + 3 * 2.0**-25, (0.75 + 2.0**-24, 0.75 + 2.0**-23), 0.0),
        (0.75 + 2.0**-25 + 2.0**-44, (0.75, 0.75 + 2.0**-24), 2.0**-44),
        (0.75 + 2.0**-25 + 2.0**-43, (0.75 + 2.0**-24, 0.75 + 2.0**-24), 2.0**-43),
        (-(0.75 + 2.0**-25 - 2.0**-45), (-0.75 - 2.0**-24, -0.75), 2.0**-45),
        (1.0 - 2.0**-25, (1.0 - 2.0**-24, 1.0), 0.0),
        (0.0, (0.0, 0.0), 2.0**-32),
        (2.0**-40, (0.0, 0.0), 2.0**-32 - 2.0**-40),
    ],
)
def test_what_a_value_within_the_bound_may_be_rounded_to(value, rounded, distance):
    exact = MP.mpf(value)
    assert rounded_between(exact, 2.0**-44, GRID) == rounded
    assert float(midpoint_distance(exact, GRID)) == distance


def test_no_bound_is_finer_than_what_a_decision_hangs_on():
    tiny = Grid(exponent=-300, significand_bits=24, guard_bits=8, margin_bits=44)
    assert tolerance(2.0**-340, tiny) == 2.0**-156
    assert tolerance(2.0**-50, GRID) == 2.0**-50


@pytest.mark.parametrize(
    ("exact", "compute", "defined"),
    [
        (MP.mpf(1) / 3, "float64", 1 / 3),
        (MP.mpf(1) / 3, "float32", float(np.float32(1 / 3))),
        (MP.mpf(1) + MP.ldexp(1, -53), "float64", 1.0),
        (MP.mpf(1) + 3 * MP.ldexp(1, -53), "float64", 1.0 + 2.0**-51),
        (MP.mpf(0), "float64", -0.0),
        (MP.ldexp(3, -1075), "float64", 2.0**-1073),
        (MP.ldexp(1, 128), "float32", float("inf")),
        (-MP.ldexp(1, 1024), "float64", float("-inf")),
        (MP.inf, "float64", float("inf")),
        (MP.nan, "float64", float("nan")),
    ],
)
def test_the_defined_result_of_an_exact_operator(exact, compute, defined):
    assert is_defined(defined, exact, compute)
    assert not is_defined(float(np.nextafter(0.0 if np.isnan(defined) else defined, 5.0)), exact, compute)


def test_the_elements_that_are_recomputed_cover_first_close_and_spread():
    distance = np.abs(np.random.default_rng(0).normal(size=10_000))
    chosen = arbiter.sample_places(distance, 400)
    assert len(chosen) <= 400
    assert set(range(100)) <= set(chosen.tolist())
    assert set(np.argsort(distance)[:100].tolist()) <= set(chosen.tolist())
    assert {0, 9_999} <= set(chosen.tolist())
    assert np.diff(chosen).min() >= 1
    assert arbiter.sample_places(distance[:7], 400).tolist() == list(range(7))


def test_proven_margins_are_arbitrated_as_well(tmp_path, proven_job, trainer_key):
    run = record_pretender(proven_job.order, tmp_path / "run.cfoil", trainer_key, step=2)
    report = audited(run, proven_job.order).report
    assert (report.outcome, report.dispute.finding.right) == (Outcome.DISPUTED, Right.REPLAY)
