"""What is known of every step: states, merging, filters."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from counterfoil_app.model.step_data import StepData, StepFilter, StepState, merge_equal, worst_per_place
from support.fake_engine import FakeEngine

STATES = hnp.arrays(np.uint8, st.integers(1, 300), elements=st.integers(0, len(StepState) - 1))


@given(STATES)
def test_merging_loses_nothing_and_merges_all(states: np.ndarray) -> None:
    stretches = merge_equal(states)
    assert [s.state for s in stretches for _ in range(s.first, s.last + 1)] == states.tolist()
    assert all(one.state is not other.state for one, other in pairwise(stretches))


@given(STATES, st.integers(1, 400))
def test_the_worst_state_is_seen_at_its_place(states: np.ndarray, places: int) -> None:
    seen = worst_per_place(states, places)
    assert len(seen) == places
    assert seen.max() == states.max()
    worst = int(states.argmax())
    if places <= len(states):
        assert states.max() in seen[max(0, worst * places // len(states) - 1) : worst * places // len(states) + 2]


def disputed() -> StepData:
    engine = FakeEngine(disputed=37, lying_log=9)
    data = StepData(engine.summary(Path("run"), None))
    data.add([engine.row(step) for step in range(1, 51)])
    return data


def test_states_follow_the_replay() -> None:
    data = disputed()
    assert [data.state(step) for step in (0, 1, 9, 37, 38, 41, 51, 61)] == [
        None,
        StepState.MATCH,
        StepState.SUSPICIOUS,
        StepState.MISMATCH,
        StepState.UNJUDGED,
        StepState.MATCH,
        StepState.WAITING,
        None,
    ]
    assert np.isnan(data.suspicious[36]), "the log of a step that parted says nothing of the trainer"
    assert data.suspicious[8] == 5
    assert data.counts(31, 42) == {StepState.MATCH: 8, StepState.UNJUDGED: 3, StepState.MISMATCH: 1}
    data.restart()
    assert data.counts(1, 60) == {StepState.WAITING: 60}
    assert data.table.done == 0
    assert data.result(1) is None


def test_filters() -> None:
    data = disputed()
    assert (data.select(StepFilter.MISMATCHES) + 1).tolist() == [37]
    assert (data.select(StepFilter.SUSPICIOUS) + 1).tolist() == [9]
    assert (data.select(StepFilter.NOT_JUDGED) + 1).tolist() == [38, 39, 40, *range(51, 61)]
    assert len(data.select(StepFilter.ALL)) == 60
    corrected = [step for step in range(1, 51) if step * 13 % 7 and data.state(step) is not StepState.UNJUDGED]
    assert (data.select(StepFilter.CORRECTIONS) + 1).tolist() == [step for step in corrected if step != 37]


def test_a_sample_leaves_the_rest_out() -> None:
    engine = FakeEngine()
    data = StepData(engine.summary(Path("run"), None))
    data.choose([(6, 15), (56, 99)])
    assert data.counts(1, 60) == {StepState.WAITING: 15, StepState.LEFT_OUT: 45}
    data.add([engine.row(6)])
    data.choose([(6, 15)])
    assert data.state(6) is StepState.MATCH
    assert data.state(60) is StepState.LEFT_OUT


def test_mismatches_are_found_in_both_directions() -> None:
    engine = FakeEngine(disputed=37)
    data = StepData(engine.summary(Path("run"), None))
    data.add([engine.row(37), replace(engine.row(37), step=50)])
    assert [data.next_mismatch(step, 1) for step in (0, 36, 37, 50)] == [37, 37, 50, None]
    assert [data.next_mismatch(step, -1) for step in (61, 50, 37)] == [50, 37, None]


def test_a_replay_that_is_over_is_shown_again_as_it_was() -> None:
    data = disputed()
    again = StepData.of(FakeEngine().summary(Path("run"), None), data.table.snapshot())
    assert again.states.tolist() == data.states.tolist()
    assert data.add([replace(FakeEngine().row(37), seconds=9.0)]) is None, "a step has one result"
    assert again.result(37) == data.result(37) == FakeEngine(disputed=37).row(37)
    early = data.snapshot()
    assert data.add([FakeEngine().row(52), FakeEngine().row(51)]) == (51, 52)
    assert (early.state(51), data.state(51)) == (StepState.WAITING, StepState.MATCH)
    assert (early.table.done, data.table.done) == (50, 52)


def test_rows_outside_the_run_are_ignored() -> None:
    engine = FakeEngine(steps=3)
    data = StepData(engine.summary(Path("run"), None))
    assert data.add([engine.row(0), engine.row(4)]) is None
    assert data.counts(1, 3) == {StepState.WAITING: 3}
    assert StepData().count == 0
