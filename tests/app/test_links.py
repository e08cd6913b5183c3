"""A link to a step of a run, what the menu Edit copies, and the run that was open before."""

from __future__ import annotations

import shlex
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from counterfoil.cli.window import Tab
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.editing import TABS, link_to
from counterfoil_app.shell.window import MainWindow
from support.docks import in_front
from support.fake_engine import FakeEngine
from support.waiting import reached


def test_the_views_of_a_link_are_those_of_the_command_and_of_the_window(window: MainWindow) -> None:
    assert set(TABS) == {tab.value for tab in Tab}
    assert set(TABS.values()) == set(window.docks)


def test_a_link_shows_what_was_shown(window: MainWindow, bundle: Path, qtbot: QtBot) -> None:
    window.open_bundle(bundle)
    window.show_place(37, "merkle")
    qtbot.waitUntil(reached(window, Phase.READY))
    qtbot.waitUntil(lambda: in_front(window.docks["merkle"]))
    assert window.session.selected_step == 37
    window.commands["copy_link"].trigger()
    copied = shlex.split(QGuiApplication.clipboard().text())
    assert copied == ["counterfoil", "gui", str(bundle), "--step", "37", "--tab", "merkle"]
    assert link_to(Path("a b"), Path("o"), None, "") == "counterfoil gui 'a b' --order o"


def test_a_step_that_the_run_has_not_is_none(window: MainWindow, bundle: Path, qtbot: QtBot) -> None:
    window.open_bundle(bundle)
    window.show_place(1000, "steps")
    qtbot.waitUntil(reached(window, Phase.READY))
    qtbot.waitUntil(lambda: in_front(window.docks["steps"]))
    assert window.session.selected_step in (None, 1)


def test_copy_and_select_all_do_what_the_keys_do_where_the_keyboard_is(opened: MainWindow, qtbot: QtBot) -> None:
    opened.activateWindow()
    opened.desk.show_view("steps")
    table = opened.steps.table
    table.setFocus()
    table.selectRow(3)
    QGuiApplication.clipboard().clear()
    opened.commands["copy"].trigger()
    assert QGuiApplication.clipboard().text()
    opened.run.trainer_key.name.setText("Acme")
    opened.desk.show_view("run")
    opened.run.trainer_key.name.setFocus()
    opened.commands["select_all"].trigger()
    assert opened.run.trainer_key.name.selectedText() == "Acme"
    opened.commands["copy"].trigger()
    assert QGuiApplication.clipboard().text() == "Acme"


def test_the_last_two_runs_are_changed_between(window: MainWindow, bundle: Path, qtbot: QtBot) -> None:
    other = bundle.with_name("another.cfoil")
    other.write_bytes(b"")
    for path in (bundle, other):
        window.open_bundle(path)
        qtbot.waitUntil(lambda path=path: window.session.path == path and window.session.phase is Phase.READY)
        qtbot.waitUntil(lambda path=path: path in window.cases.recent)
    for expected in (bundle, other):
        window.commands["previous_run"].trigger()
        qtbot.waitUntil(
            lambda expected=expected: window.session.path == expected and window.session.phase is Phase.READY
        )


def test_the_strip_is_a_slider_for_screen_readers(opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    strip = opened.strip
    opened.commands["replay"].trigger()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED), timeout=20_000)
    opened.session.select_step(37)
    read = QAccessible.queryAccessibleInterface(strip)
    assert read.role() is QAccessible.Role.Slider
    value = read.valueInterface()
    assert (value.currentValue(), value.minimumValue(), value.maximumValue()) == (37, 1, 60)
    assert read.text(QAccessible.Text.Description).startswith("Step 37 of 60: ")
    value.setCurrentValue(12)
    assert opened.session.selected_step == 12
    strip.setFocus()
    QTest.keyClick(strip, Qt.Key.Key_Right)
    assert (opened.session.selected_step, strip.value()) == (13, 13)
