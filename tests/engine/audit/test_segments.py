"""Replay of some of a run's segments, each from the trainer's own checkpoint."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from counterfoil.audit.timing import plan_audit
from counterfoil.audit.values.plan import Plan, PlanProgress, make_plan
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.base import canonical
from counterfoil_core.base.errors import RefusedError, SignatureError
from counterfoil_core.bundle.extent import Extent
from counterfoil_core.program.limits import Estimate
from counterfoil_core.signing.envelope import open_statement, sign_statement
from counterfoil_core.signing.kinds import VERDICT, make_statement
from counterfoil_core.statement.verdict import sign_verdict, verify_verdict
from counterfoil_core.values.events import AuditStarted, ResumedFromCheckpoint, StepReplayed
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from counterfoil_core.values.sampling import SegmentRequest, Selection
from support.jobs import audited, record_run


def replayed(result) -> list[int]:
    return [event.row.step for event in result.of(StepReplayed)]


# The job has six steps and three segments of two steps each.


def test_a_segment_by_itself_starts_from_the_checkpoint_before_it(digits_job):
    result = audited(digits_job.run, digits_job.order, segments=SegmentRequest(numbers=(3,)))
    assert replayed(result) == [5, 6]
    assert [event.step for event in result.of(ResumedFromCheckpoint)] == [4]
    report = result.report
    assert report.outcome is Outcome.VERIFIED
    assert report.headline == "VERIFIED for 1 of 3 segments"
    assert "chosen by the auditor; nothing follows for the others" in report.reason
    assert (report.steps_ordered, report.steps_planned, report.steps_replayed) == (6, 2, 2)
    assert result.check(CheckNumber.COVERAGE).state is CheckState.WARNING
    started = result.of(AuditStarted)[0]
    assert (started.steps, started.planned_steps) == (6, 2)


def test_neighbouring_segments_go_on_from_each_other(digits_job):
    result = audited(digits_job.run, digits_job.order, segments=SegmentRequest(numbers=(2, 3)))
    assert replayed(result) == [3, 4, 5, 6]
    assert [event.step for event in result.of(ResumedFromCheckpoint)] == [2]


def test_all_segments_are_the_whole_run(digits_job):
    result = audited(digits_job.run, digits_job.order, segments=SegmentRequest.parse("all"))
    assert result.report.headline == "VERIFIED"
    assert result.check(CheckNumber.COVERAGE).state is CheckState.PASSED


@pytest.mark.parametrize(("numbers", "caught"), [((1, 3), False), ((2,), True), ((1, 2, 3), True)])
def test_a_bad_segment_is_found_when_it_is_drawn_and_only_then(cheat_job, numbers, caught):
    report = audited(cheat_job.run, cheat_job.order, segments=SegmentRequest(numbers=numbers)).report
    assert report.mismatched_steps == ((3,) if caught else ())
    assert report.outcome is (Outcome.DISPUTED if caught else Outcome.VERIFIED)
    assert report.headline == ("DISPUTED" if caught else "VERIFIED for 2 of 3 segments")


def test_every_bad_segment_is_found(tmp_path, digits_job, trainer_key):
    def twice(inputs):
        return LabelFlip(2)(LabelFlip(5)(inputs))

    run = record_run(digits_job.order, tmp_path / "run.cfoil", trainer_key, tamper=twice)
    assert audited(run, digits_job.order).report.mismatched_steps == (2, 5)
    report = audited(run, digits_job.order, segments=SegmentRequest(numbers=(3,))).report
    assert (report.mismatched_steps, report.dispute.step) == ((5,), 5)


# The verdict of a sample.


@pytest.fixture
def sampled(digits_job):
    return audited(digits_job.run, digits_job.order, segments=SegmentRequest(count=2, nonce="a1" * 32)).report


def test_a_verdict_says_what_was_drawn_and_anyone_can_draw_it_again(sampled, trainer_key):
    verdict = verify_verdict(sign_verdict(sampled, trainer_key), trainer_key.public)
    assert verdict.headline == "VERIFIED for 2 of 3 segments"
    assert verdict.sample == sampled.sample
    assert verdict.sample.selection is Selection.RANDOM
    assert "a run with at least 1 bad segment would have passed with probability 0.333" in verdict.reason


def resigned(report, key, **changes):
    """The verdict with parts of its sample replaced, signed again by the same auditor."""
    statement = open_statement(sign_verdict(report, key), key.public)
    statement["predicate"]["coverage"]["sample"] |= changes
    return sign_statement(make_statement(statement["subject"], VERDICT.predicate, statement["predicate"]), key)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "changes",
    [
        {"nonce": "a2" * 32, "chosen": None},
        {"nonce": ""},
        {"chosen": [[1, 3]]},
        {"chosen": []},
        {"segments": 2},
        {"segments": 600},
        {"badSegments": 2},
        {"badSegments": 0},
        {"selection": "all"},
        {"selection": "listed"},
        {"selection": "by eye"},
        {"passingProbability": {"hex": "0x0.0p+0", "decimal": "0.0"}},
        {"more": 1},
    ],
)
def test_a_sample_that_was_not_drawn_so_is_noticed(sampled, trainer_key, changes):
    if changes.get("chosen", ()) is None:
        first = verify_verdict(resigned(sampled, trainer_key), trainer_key.public).sample
        other = next(
            pair for pair in ([[1, 2]], [[2, 3]], [[1, 1], [3, 3]]) if pair != [list(span) for span in first.spans]
        )
        changes = {"chosen": other}
    with pytest.raises(SignatureError):
        verify_verdict(resigned(sampled, trainer_key, **changes), trainer_key.public)


def test_control_the_unchanged_sample_is_accepted(sampled, trainer_key):
    assert verify_verdict(resigned(sampled, trainer_key), trainer_key.public).outcome is Outcome.VERIFIED


def test_a_sample_cannot_pass_for_the_whole_run(sampled, trainer_key):
    for report in (
        replace(sampled, sample=None),
        replace(sampled, steps_planned=6),
        replace(sampled, steps_planned=6, steps_replayed=6),
    ):
        with pytest.raises(SignatureError):
            verify_verdict(sign_verdict(report, trainer_key), trainer_key.public)


def test_the_sample_is_canonical_json(sampled, trainer_key):
    payload = open_statement(sign_verdict(sampled, trainer_key), trainer_key.public)
    assert json.loads(canonical.encode(payload))["predicate"]["coverage"]["sample"]["nonce"] == "a1" * 32


# The planner.


def test_a_plan_measures_here_and_lists_what_each_confidence_costs(digits_job):
    *progress, plan = plan_audit(digits_job.run, threads=1, bad_fraction=0.5)
    assert [event.done for event in progress] == list(range(7))
    assert all(isinstance(event, PlanProgress) and event.total == 6 for event in progress)
    assert isinstance(plan, Plan)
    assert (plan.steps, plan.segments, plan.bad, plan.measured_steps) == (6, 3, 2, 6)
    assert plan.step_seconds > 0
    assert [row.segments for row in plan.rows] == [1, 2, 2, 2, 2, 3]


def test_a_plan_adds_up():
    took = {"step_seconds": 2.0, "load_seconds": 0.5, "measured_steps": 3}
    plan = make_plan(Extent(1000, 1, 10), device="cpu", bad_fraction=0.05, estimate=Estimate(1, 2, 3, 4, 5), **took)
    by_confidence = {row.confidence: row for row in plan.rows}
    assert by_confidence[0.95].segments == 45
    assert by_confidence[0.95].steps == 450
    assert by_confidence[0.95].seconds == pytest.approx(450 * 2.0 + 45 * 0.5)
    assert by_confidence[1.0].seconds == pytest.approx(2000.0)
    assert [row.passing <= 1 - row.confidence for row in plan.rows] == [True] * 6


def test_an_order_has_no_plan(digits_job):
    with pytest.raises(RefusedError, match="nobody has run"):
        list(plan_audit(digits_job.order))
