"""What an audit knows, event after event."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, strategies as st

from counterfoil_core.base.errors import CancelledError, CommitmentError, NonFiniteError, WorkerError
from counterfoil_core.hearing.knowledge import (
    DecisionsOmitted,
    Fact,
    Known,
    Learned,
    SegmentJudged,
    TimePassed,
    Trouble,
    fold,
)
from counterfoil_core.replay.steering import Account
from counterfoil_core.values.dispute import TensorDivergence
from counterfoil_core.values.events import (
    AuditStarted,
    CheckChanged,
    DivergenceMeasured,
    Event,
    OperatorDone,
    StepReplayed,
)
from counterfoil_core.values.outcome import Check, CheckNumber, CheckState
from counterfoil_core.values.sampling import Sample, Selection, ranges
from counterfoil_core.values.steptable import Recorded, StepTable
from counterfoil_core.values.workers import Place, ReplayedAt, ReplayedBy
from support.reports import step_row

PLACES = [
    (by, Place(machine, (("device", "cpu"),))) for by in (ReplayedBy.AUDIT, ReplayedBy.PART) for machine in ("a", "b")
]
SAMPLE = Sample(9, ((1, 9),), Selection.ALL)
STEPS = 9


def after(*events: Event | Fact) -> Known:
    recorded = Recorded.of([0.5] * STEPS, [0] * STEPS, [step_row(step).log_entries for step in range(1, STEPS + 1)])
    known = fold(Known(), Learned({"steps": StepTable(recorded)}))
    for event in (AuditStarted(STEPS, (), "cpu", known.checks, STEPS, SAMPLE), *events):
        known = fold(known, event)
    return known


def test_a_value_does_not_change_when_more_is_known() -> None:
    before = after(TimePassed(1.0), StepReplayed(step_row(1)))
    packed = before.steps.pack(before.step)
    later = fold(fold(before, StepReplayed(step_row(2))), SegmentJudged(1, PLACES[0]))
    assert (before.step, before.judged.segments, before.judged.replayed_at) == (1, 0, ())
    assert (later.step, later.judged.segments, later.judged.seconds) == (2, 1, 1.0)
    assert before.steps.pack(before.step) == packed, "its rows are those up to its step"


@given(st.sets(st.integers(1, 40)), st.randoms())
def test_who_replayed_what_is_told_by_place(numbers, chance):
    where = {number: chance.choice(PLACES) for number in sorted(numbers)}
    found = after(*(SegmentJudged(number, place) for number, place in where.items())).judged.replayed_at
    places = dict.fromkeys(where.values())
    assert found == tuple(
        ReplayedAt(place, tuple(ranges([n for n, its in where.items() if its == (by, place)])), by)
        for by, place in places
    )


def test_of_several_troubles_the_one_that_lies_in_the_run_is_told() -> None:
    nobody, ended = Trouble(not_replayed="Nobody."), Trouble(no_result=NonFiniteError("No number."))
    assert not after(SegmentJudged(1, PLACES[0])).trouble
    assert isinstance(after(nobody).trouble.error(), WorkerError)
    assert after(nobody, ended, Trouble(no_result=NonFiniteError("Later."))).trouble.error() is ended.no_result
    damaged = after(nobody, ended, Trouble((3,)), Trouble((3,)), Trouble(unreached=(4, 5, 6))).trouble
    assert isinstance(damaged.error(), CommitmentError)
    assert damaged.damaged == (3,)
    assert damaged.damage.endswith("Steps that could not be judged for it: 4-6.")
    unjudged = after(SegmentJudged(1, None)).judged
    assert (unjudged.segments, unjudged.replayed_at) == (1, ())


def test_the_first_log_with_another_length_than_the_file_says_is_known() -> None:
    wrong = [replace(step_row(step), log_entries=1000 + step) for step in (2, 3)]
    assert after(StepReplayed(step_row(1))).miscount is None
    found = after(StepReplayed(step_row(1)), *map(StepReplayed, wrong)).miscount
    assert found is not None
    assert f"log of step 2 has {step_row(2).log_entries} entries" in found.sentence
    assert "has 1002." in found.sentence
    assert after(StepReplayed(replace(wrong[0], replay_leaf=None))).miscount is None, "nothing was counted"


def test_what_an_earlier_audit_judged_takes_the_place_of_what_is_known() -> None:
    earlier = after(
        TimePassed(2.0), DecisionsOmitted(2), Account((1,), ((1,) * 6,)), SegmentJudged(1, PLACES[0])
    ).judged
    known = after(Account((0,), ((0,) * 6,)), TimePassed(0.1), Learned({"judged": earlier}))
    assert known.judged == earlier
    more = fold(fold(known, Account((1,), ((2,) * 6,))), TimePassed(0.5)).judged
    assert (more.account, more.seconds, more.omissions) == (Account((2,), ((3,) * 6,)), 2.5, (2,))


def test_tensors_that_are_equal_take_no_room() -> None:
    equal = TensorDivergence("a", (2,), 0, 0.0, 0, 0.0, (), 0.0, 0.0)
    other = replace(equal, name="b", differing=1)
    (kept,) = after(DivergenceMeasured(3, (equal, other))).judged.divergences
    assert kept.differing == (other,)
    assert kept.all_tensors({"a": (2,), "b": (2,)}) == (equal, other)


def test_how_it_ended() -> None:
    assert not after().interrupted
    stopped = after(Learned({"error": CancelledError("Stopped.")}))
    assert (stopped.interrupted, stopped.cancelled) == (True, True)
    assert after(Learned({"error": WorkerError("Nobody.")})).interrupted
    assert not after(Learned({"error": CommitmentError("It lies in the run.")})).interrupted


def test_checks_and_what_says_where_the_replay_stands() -> None:
    check = Check(CheckNumber.REPLAY, CheckState.RUNNING)
    known = after(CheckChanged(check))
    assert known.checks[check.number - 1] == check
    assert [one.number for one in known.checks] == list(CheckNumber)
    assert fold(known, OperatorDone(1, 1, 2)) == known
