"""Several bundles replayed one after the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from counterfoil import CounterfoilError, Outcome, SegmentRequest
from counterfoil_app.model.bundle_queue import EntryState
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from support.fake_engine import FakeEngine

MakeWindow = Callable[[FakeEngine], MainWindow]


@pytest.fixture
def bundles(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{name}.cfoil" for name in ("one", "two", "three")]
    for path in paths:
        path.write_bytes(b"")
    return paths


def states(window: MainWindow) -> list[EntryState]:
    return [entry.state for entry in window.queue.entries]


def test_dropped_bundles_are_replayed_in_turn_and_can_be_opened(
    window: MainWindow, engine: FakeEngine, bundles: list[Path], qtbot: QtBot
) -> None:
    with qtbot.waitSignal(window.queue.finished, timeout=20_000):
        window.open_files(bundles)
        qtbot.waitUntil(window.queue_dock.isVisible)
        assert not window.queue_view.open_button.isEnabled()
    assert [plan.run for plan in engine.plans] == bundles
    assert states(window) == [EntryState.DONE] * 3
    assert window.session.path == bundles[2]
    window.queue_view.table.selectRow(0)
    window.queue_view.open_button.click()
    assert window.session.path == bundles[0]
    assert window.session.phase is Phase.CONCLUDED
    assert window.session.report is not None
    assert window.session.report.bundle_name == "one.cfoil"
    assert window.header.outcome.text() == "VERIFIED"
    assert window.steps.model.index(0, 1).data() == "match"
    assert len(engine.plans) == 3, "looking at a result replays nothing"
    assert window.commands["verdict"].isEnabled()


def test_a_file_that_is_no_bundle_does_not_hold_the_others_up(
    window: MainWindow, engine: FakeEngine, bundles: list[Path], qtbot: QtBot
) -> None:
    engine.inspect_errors["one.cfoil"] = CounterfoilError("It is no bundle.")
    engine.audit_error = None
    with qtbot.waitSignal(window.queue.finished, timeout=20_000):
        window.open_files(bundles[:2])
    assert states(window) == [EntryState.DONE, EntryState.DONE]
    assert [plan.run for plan in engine.plans] == bundles[:2], "a refusal is concluded, so that it can be signed"


def test_an_order_and_a_failing_engine_are_told(window_of: MakeWindow, bundles: list[Path], qtbot: QtBot) -> None:
    engine = FakeEngine(has_run=False)
    window = window_of(engine)
    with qtbot.waitSignal(window.queue.finished, timeout=20_000):
        window.open_files(bundles[:2])
    assert states(window) == [EntryState.FAILED] * 2
    assert "nobody has run" in window.queue.entries[0].sentence
    engine.has_run, engine.audit_error = True, CounterfoilError("The device ran out of memory.")
    window.queue.add(bundles[2:])
    with qtbot.waitSignal(window.queue.finished, timeout=20_000):
        window.commands["start_queue"].trigger()
    assert window.queue.entries[2].sentence == "The device ran out of memory."
    assert "ran out of memory" in window.queue_view.table.item(2, 1).text()


def test_pause_stop_and_going_on(window: MainWindow, engine: FakeEngine, bundles: list[Path], qtbot: QtBot) -> None:
    engine.gate.clear()
    window.open_files(bundles)
    qtbot.waitUntil(lambda: window.session.running)
    window.commands["pause"].trigger()
    assert window.session.phase is Phase.PAUSED
    assert window.queue.running
    window.commands["go_on"].trigger()
    window.commands["stop_queue"].trigger()
    qtbot.waitUntil(lambda: not window.queue.running)
    assert states(window) == [EntryState.DONE, EntryState.WAITING, EntryState.WAITING]
    first = window.queue.entries[0].finished
    assert first is not None
    assert first.report is not None
    assert first.report.outcome is Outcome.INCONCLUSIVE
    assert len(engine.plans) == 1, "the queue halted"
    engine.gate.set()
    with qtbot.waitSignal(window.queue.finished, timeout=20_000):
        window.commands["start_queue"].trigger()
    assert states(window) == [EntryState.DONE] * 3


def test_opening_something_else_halts_the_queue(
    window: MainWindow, engine: FakeEngine, bundles: list[Path], bundle: Path, qtbot: QtBot
) -> None:
    engine.gate.clear()
    window.open_files(bundles[:2])
    qtbot.waitUntil(lambda: window.session.running)
    window.session.open(bundle)
    assert not window.queue.running
    assert states(window) == [EntryState.WAITING] * 2
    engine.gate.set()
    qtbot.waitUntil(lambda: window.session.phase is Phase.READY and not window.session.busy)
    assert window.session.path == bundle


def test_a_planned_sample_is_used_for_all(
    opened: MainWindow, engine: FakeEngine, bundles: list[Path], qtbot: QtBot
) -> None:
    opened.session.use_segments(SegmentRequest(confidence=0.9))
    opened.queue.add(bundles[:2])
    with qtbot.waitSignal(opened.queue.finished, timeout=20_000):
        opened.commands["start_queue"].trigger()
    assert [plan.segments.confidence for plan in engine.plans] == [0.9, 0.9]
    assert opened.queue_view.table.item(0, 1).text().startswith("VERIFIED for 10 of 12")


def test_entries_stand_once_and_can_be_removed(window: MainWindow, bundles: list[Path]) -> None:
    window.queue.add(bundles)
    window.queue.add([bundles[0].parent / "." / bundles[0].name])
    assert len(window.queue.entries) == 3
    window.queue_view.table.selectRow(1)
    window.queue_view.remove_button.click()
    assert [entry.path for entry in window.queue.entries] == [bundles[0], bundles[2]]
