"""Two bundles in two columns: order, step, operator, element."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.difference import DEPTHS, Depth, DifferenceDialog
from support.fake_engine import FakeEngine

ONE, OTHER, OTHER_ORDER = Path("/runs/cpu.cfoil"), Path("/runs/gpu.cfoil"), Path("/runs/other.cfoil")


def page(window: MainWindow) -> DifferenceDialog:
    window.commands["compare_bundles"].trigger()
    (dialog,) = window.findChildren(DifferenceDialog)
    return dialog


def compared(window: MainWindow, qtbot: QtBot, one: Path, other: Path) -> DifferenceDialog:
    dialog = page(window)
    dialog.difference.choose(one, other)
    qtbot.waitUntil(lambda: not dialog.difference.working)
    return dialog


def shown(dialog: DifferenceDialog) -> dict[str, tuple[str, str, str]]:
    model = dialog.model
    rows = range(model.rowCount())
    return {model.index(row, 0).data(): tuple(model.index(row, place).data() for place in (1, 2, 3)) for row in rows}  # type: ignore[misc]


def look(dialog: DifferenceDialog, depth: Depth) -> dict[str, tuple[str, str, str]]:
    dialog.depths.setCurrentIndex(DEPTHS.index(depth))
    return shown(dialog)


def test_it_begins_as_deep_as_something_is_known_to_differ(window: MainWindow, qtbot: QtBot) -> None:
    dialog = compared(window, qtbot, ONE, OTHER)
    assert dialog.headline.text() == "They differ from step 30 on"
    assert dialog.looked_at is Depth.OPERATOR
    assert "Nobody is judged" in dialog.notice.text()
    first = next(line for name, line in shown(dialog).items() if name.startswith("55. "))
    assert first == ("different", "one result", "another result")


def test_each_depth_has_both_columns(window: MainWindow, qtbot: QtBot) -> None:
    dialog = compared(window, qtbot, ONE, OTHER)
    heads = [dialog.model.headerData(place, Qt.Orientation.Horizontal) for place in (2, 3)]
    assert heads == ["cpu.cfoil", "gpu.cfoil"]
    orders = look(dialog, Depth.ORDER)
    assert orders["Seed"] == ("equal", "20261121", "20261121")
    steps = look(dialog, Depth.STEP)
    assert steps["step 30: loss"] == ("different", "1.5", "1.25")
    assert steps["Machine: device"] == ("different", "cpu", "cuda:0")
    assert steps["Results"][1] == "the same up to step 29"
    elements = look(dialog, Depth.ELEMENT)
    assert elements["head.extra"] == ("different", "one result", "another result")
    assert dialog.nothing.text() == "Replay this step to compare the elements of the operator's output."


def test_a_replay_brings_single_elements_and_what_was_found_stays_meanwhile(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    dialog = compared(window, qtbot, ONE, OTHER)
    engine.gate.clear()
    dialog.start.click()
    qtbot.waitUntil(lambda: dialog.progress.isVisible())
    assert dialog.model.rowCount() > 0
    engine.gate.set()
    qtbot.waitUntil(lambda: not dialog.difference.working)
    assert engine.differences[-1].replay
    assert dialog.looked_at is Depth.ELEMENT
    lines = shown(dialog)
    assert lines["Element [0, 3]"] == ("different", "0.5", "0.500000954")
    assert lines["The recorded output of the operator"][1:] == ("came out again here", "came out again here")


def test_enter_on_a_line_goes_deeper(window: MainWindow, qtbot: QtBot) -> None:
    dialog = compared(window, qtbot, ONE, OTHER)
    look(dialog, Depth.ORDER)
    for depth in (Depth.STEP, Depth.OPERATOR, Depth.ELEMENT, Depth.ELEMENT):
        dialog.table.activated.emit(dialog.model.index(0, 0))
        assert dialog.looked_at is depth
        assert DEPTHS[dialog.depths.currentIndex()] is depth


def test_equal_bundles_are_equal_and_nothing_is_replayed(window: MainWindow, qtbot: QtBot) -> None:
    dialog = compared(window, qtbot, ONE, ONE)
    assert dialog.headline.text() == "No difference"
    assert not dialog.start.isEnabled()
    assert {line[0] for line in look(dialog, Depth.ORDER).values()} == {"equal"}
    assert look(dialog, Depth.OPERATOR) == {}
    assert dialog.nothing.text() == "Nothing differs."


def test_of_other_orders_the_order_is_shown_first(window: MainWindow, qtbot: QtBot) -> None:
    dialog = compared(window, qtbot, ONE, OTHER_ORDER)
    assert dialog.looked_at is Depth.ORDER
    look(dialog, Depth.OPERATOR)
    assert dialog.nothing.text().startswith("The orders differ: fingerprints of operators")


def test_the_open_run_is_the_first_and_both_can_change_places(opened: MainWindow, bundle: Path, qtbot: QtBot) -> None:
    dialog = page(opened)
    assert (dialog.difference.first, dialog.difference.second) == (bundle, None)
    assert not dialog.turn.isEnabled()
    dialog.difference.choose(bundle, OTHER)
    qtbot.waitUntil(lambda: not dialog.difference.working)
    dialog.turn.click()
    qtbot.waitUntil(lambda: not dialog.difference.working)
    assert (dialog.difference.first, dialog.difference.second) == (OTHER, bundle)
    assert dialog.model.headerData(2, Qt.Orientation.Horizontal) == "gpu.cfoil"
