from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from counterfoil import AuditRequest, CancelToken, CheckNumber, OperatorDone, StepReplayed
from counterfoil_app.engine.snapshot import ReplaySink
from support.fake_engine import FakeEngine


def filled(steps: int) -> ReplaySink:
    sink = ReplaySink()
    for event in FakeEngine(steps=steps, disputed=3).audit(AuditRequest(Path("run.cfoil"), None, "cpu"), CancelToken()):
        sink.publish(event)
    return sink


@given(st.integers(1, 40), st.integers(1, 15))
def test_every_step_is_taken_once_in_order_and_the_report_last(steps: int, limit: int) -> None:
    sink = filled(steps)
    taken: list[int] = []
    report = None
    while not sink.drained:
        assert report is None, "the report came before the last step"
        snapshot = sink.take(limit)
        assert len(snapshot.rows) <= limit
        taken += [row.step for row in snapshot.rows]
        report = snapshot.report
    assert taken == list(range(1, steps + 1))
    assert report is not None


def test_only_the_latest_state_is_kept() -> None:
    sink = filled(20)
    snapshot = sink.take(100)
    assert snapshot.operator == OperatorDone(20, 20, 40)
    assert [check.number for check in snapshot.checks] == list(CheckNumber)[6:]
    assert snapshot.resumed == 5
    assert snapshot.dispute is not None
    assert snapshot.dispute.step == 3


def test_second_look_finds_nothing_new() -> None:
    sink = filled(5)
    sink.take(100)
    again = sink.take(100)
    assert (again.rows, again.checks, again.operator, again.dispute, again.report) == ((), (), None, None, None)


def test_what_is_no_event_is_our_own_mistake() -> None:
    with pytest.raises(TypeError):
        ReplaySink().publish("step 3")  # type: ignore[arg-type]
    ReplaySink().publish(StepReplayed(FakeEngine().row(1)))
