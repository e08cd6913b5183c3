"""The plan dialog: what is chosen, what it costs, and that a sample never looks like a whole run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from counterfoil import CounterfoilError, Device, SegmentRequest
from counterfoil_app.looks import words
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.plan_dialog import PlanDialog
from counterfoil_core.program.limits import LARGE
from support.fake_engine import FakeEngine
from support.waiting import reached

LEFT = Qt.MouseButton.LeftButton
MakeWindow = Callable[[FakeEngine], MainWindow]


@pytest.fixture
def dialog(opened: MainWindow, qtbot: QtBot) -> PlanDialog:
    with qtbot.waitSignal(opened.session.devices_changed):
        opened.session.look_for_devices()
    opened.commands["plan"].trigger()
    found = opened.findChild(PlanDialog)
    assert found is not None
    return found


def measure(dialog: PlanDialog, window: MainWindow, qtbot: QtBot) -> None:
    qtbot.mouseClick(dialog.measure, LEFT)
    qtbot.waitUntil(lambda: not window.session.planner.working)


def cells(dialog: PlanDialog) -> list[list[str]]:
    table = dialog.table
    return [
        [table.item(row, column).text() for column in range(table.columnCount())] for row in range(table.rowCount())
    ]


def test_devices_are_measured_side_by_side(
    dialog: PlanDialog, opened: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    assert dialog.table.isHidden()
    assert dialog.note.text() == "float64 at full speed"
    measure(dialog, opened, qtbot)
    dialog.device.setCurrentIndex(1)
    dialog.device.activated.emit(1)
    assert "half the speed" in dialog.note.text()
    measure(dialog, opened, qtbot)
    assert [(each.device, bad) for each, bad in engine.measured] == [("cpu", 0.01), ("cuda:0", 0.01)]
    assert [row[4:] for row in cells(dialog)] == [
        ["40 s", "5 s"],
        ["1 min 50 s", "14 s"],
        ["2 min 00 s", "15 s"],
    ]
    dialog.bad.setValue(5.0)
    assert dialog.table.isHidden(), "samples of another bad fraction have another size"


@pytest.mark.drawn
def test_all_rows_are_seen_after_measuring(dialog: PlanDialog, opened: MainWindow, qtbot: QtBot) -> None:
    assert not dialog.table.isVisible()
    measure(dialog, opened, qtbot)
    last = dialog.table.rowCount() - 1
    assert last > 0
    qtbot.waitUntil(lambda: dialog.table.visibleRegion().contains(_row(dialog, 0)))
    assert dialog.table.visibleRegion().contains(_row(dialog, last))


def _row(dialog: PlanDialog, row: int) -> QPoint:
    """The middle of a row's first cell, in the table."""
    cell = dialog.table.visualItemRect(dialog.table.item(row, 0)).center()
    return dialog.table.viewport().mapTo(dialog.table, cell)


def test_a_card_with_little_float64_is_told_of_before_anything_is_measured(
    dialog: PlanDialog, opened: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    weak = Device("cuda:1", "NVIDIA GeForce RTX 4090", "little float64", 1 / 64)
    opened.session.devices = (*opened.session.devices, weak)
    assert "exact-20" not in dialog.note.text()
    dialog.device.addItem("cuda:1", "cuda:1")
    dialog.device.setCurrentIndex(2)
    dialog.device.activated.emit(2)
    assert "cuda:1 (NVIDIA GeForce RTX 4090) has little float64, 1/64" in dialog.note.text()
    assert "exact-20 or exact-13" in dialog.note.text()


def test_a_program_beyond_the_limits_is_allowed_in_the_plan(
    dialog: PlanDialog, opened: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    assert dialog.takes.text() == "A step takes about 3.0 MiB of memory, 2.5 billion operations."
    assert not dialog.large.isChecked()
    measure(dialog, opened, qtbot)
    dialog.large.setChecked(True)
    measure(dialog, opened, qtbot)
    assert [each.limits == LARGE for each, _ in engine.measured] == [False, True]
    assert not opened.session.allow_large, "not before the plan is used"
    dialog.accept()
    assert opened.session.allow_large
    opened.session.open(Path("another.cfoil"))
    assert not opened.session.allow_large


def test_a_sample_is_replayed_and_does_not_look_whole(
    dialog: PlanDialog, opened: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    measure(dialog, opened, qtbot)
    dialog.table.selectRow(1)
    assert dialog.sample.isChecked()
    assert dialog.confidence.currentData() == 0.99
    assert "would pass with a probability of 0.01" in dialog.meaning.text()
    qtbot.mouseClick(dialog.ok, LEFT)
    assert opened.session.segments == SegmentRequest(confidence=0.99, bad_fraction=0.01)
    assert "sample" in opened.header.sentence.text()
    assert "sample" in opened.header.primary.toolTip()
    opened.header.primary.click()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))
    assert engine.plans[-1].segments == opened.session.segments
    assert opened.session.progress.total == 55
    report = opened.session.report
    assert report is not None
    assert opened.header.outcome.text() == report.headline == "VERIFIED for 11 of 12 segments"
    assert opened.header.property("tone") != "ok"
    assert opened.header.icon.accessibleName() != "VERIFIED"


def test_whole_run_is_the_default(dialog: PlanDialog, opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    assert dialog.whole.isChecked()
    qtbot.mouseClick(dialog.ok, LEFT)
    opened.header.primary.click()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))
    assert engine.plans[-1].segments == SegmentRequest()
    assert opened.header.outcome.text() == "VERIFIED"
    assert opened.header.property("tone") == "warn", "the order was not compared"


def test_listed_segments(dialog: PlanDialog) -> None:
    """One after the other in the same dialog, what holds and what does not in turn."""
    dialog.listed.setChecked(True)
    held = [("1,4,7-9", (1, 4, 7, 8, 9)), (" 3 ", (3,)), ("12", (12,))] * 3
    refused = ("", "0", "13", "x", "All", "all,1", "\u00b2")
    for (typed, numbers), wrong in zip(held, refused, strict=False):
        dialog.numbers.setText(typed)
        assert dialog.ok.isEnabled(), typed
        assert dialog.meaning.property("tone") != "bad", typed
        assert dialog.request().numbers == numbers
        assert "says nothing about the others" in dialog.meaning.text()
        dialog.numbers.setText(wrong)
        assert not dialog.ok.isEnabled(), wrong
        assert dialog.meaning.property("tone") == "bad", wrong
        with pytest.raises(CounterfoilError):
            dialog.request()


def test_all_among_the_listed_segments_is_the_whole_run(dialog: PlanDialog, opened: MainWindow) -> None:
    dialog.listed.setChecked(True)
    dialog.numbers.setText("all")
    assert dialog.ok.isEnabled()
    assert dialog.meaning.text() == "All 60 steps are replayed: a clean replay is a proof."
    dialog.accept()
    assert opened.session.segments == SegmentRequest()


def test_measuring_can_be_stopped_and_fails_in_a_sentence(
    dialog: PlanDialog, opened: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    engine.gate.clear()
    qtbot.mouseClick(dialog.measure, LEFT)
    assert opened.session.planner.working
    assert "Stop" in dialog.measure.text()
    qtbot.mouseClick(dialog.measure, LEFT)
    assert not opened.session.planner.working
    engine.gate.set()
    qtbot.waitUntil(lambda: not opened.session.busy)
    assert dialog.table.isHidden(), "a stopped measurement brings nothing"
    engine.plan_error = CounterfoilError("The device is gone.", remedy="Use the CPU.")
    measure(dialog, opened, qtbot)
    assert dialog.meaning.text() == "The device is gone. Use the CPU."


def test_another_bundle_forgets_the_plan(opened: MainWindow, bundle: Path, qtbot: QtBot) -> None:
    opened.session.use_segments(SegmentRequest(count=2))
    opened.session.compare_with(bundle.with_name("job.cfoil"))
    qtbot.waitUntil(reached(opened, Phase.READY))
    assert opened.session.segments == SegmentRequest(count=2)
    other = bundle.with_name("other.cfoil")
    other.touch()
    opened.open_bundle(other)
    qtbot.waitUntil(reached(opened, Phase.READY))
    assert opened.session.segments == SegmentRequest()


def test_numbers_are_written_short() -> None:
    assert words.number_list((1, 4, 7, 8, 9)) == "1, 4, 7-9"
    assert words.number_list(()) == ""
