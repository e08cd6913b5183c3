"""A user's session on a real X server: run as a program by tests/app/test_xvfb.py, which starts the server.

The window knows nothing of this: it gets its events from the server. Prints one line per thing done.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.help import HelpWindow, ShortcutSheet
from counterfoil_app.shell.preferences import PreferencesDialog
from support.fake_engine import FakeEngine
from support.x_input import ALT, CONTROL, XInput
from support.x_user import give_keyboard, place, questions, until, window_in


def main(folder: Path) -> None:
    """Sample, replay, step table, help, preferences, menus, quit: all by keys and mouse."""
    window = window_in(folder, FakeEngine())
    user = XInput()
    try:
        button = window.home.samples[1]
        until(button.isVisible, "the sample is offered")
        user.click(*place(button))
        until(lambda: window.session.phase is Phase.READY, "a click on the sample opened it")
        user.press("F5")
        until(lambda: window.session.phase is Phase.CONCLUDED, "F5 replayed it")
        assert window.header.outcome.text() == "DISPUTED", window.header.outcome.text()
        window.docks["steps"].raise_()
        until(lambda: not window.steps.table.visibleRegion().isEmpty(), "the steps are in front")
        user.click(*place(window.steps.table.viewport()))
        until(window.steps.table.hasFocus, "a click gave the table the keyboard")
        row = window.steps.table.currentIndex().row()
        user.press("Down")
        until(lambda: window.steps.table.currentIndex().row() == row + 1, "Down moved to the next step")
        until(lambda: window.session.selected_step == row + 2, "all views show that step")
        user.press("Home")
        cell = window.steps.model.index(row + 1, 2)
        until(lambda: window.steps.table.currentIndex().column() == 0, "Home moved to the first column")
        user.press("Right")
        user.press("Right")
        user.press(CONTROL, "c")
        hexadecimal = str(cell.data(Qt.ItemDataRole.ToolTipRole))
        until(lambda: QApplication.clipboard().text() == hexadecimal, "Ctrl+C copied the whole hash of the leaf")
        user.press("F1")
        until(lambda: any(help.isActiveWindow() for help in window.findChildren(HelpWindow)), "F1 opened the help")
        user.press("Escape")
        until(lambda: not any(help.isVisible() for help in window.findChildren(HelpWindow)), "Escape closed the help")
        give_keyboard(window)
        user.press(CONTROL, "comma")
        until(lambda: bool(window.findChildren(PreferencesDialog)), "Ctrl+, opened the preferences")
        until(lambda: window.findChildren(PreferencesDialog)[0].isActiveWindow(), "they have the keyboard")
        user.press("Escape")
        until(lambda: not window.findChildren(PreferencesDialog), "Escape closed them")
        give_keyboard(window)
        user.press(ALT, "h")
        until(lambda: QApplication.activePopupWidget() is not None, "Alt+H opened the help menu")
        user.press("k")
        until(lambda: bool(window.findChildren(ShortcutSheet)), "K opened the sheet of shortcuts")
        until(lambda: window.findChildren(ShortcutSheet)[0].isActiveWindow(), "it has the keyboard")
        user.press("Escape")
        until(lambda: not window.findChildren(ShortcutSheet), "Escape closed it")
        give_keyboard(window)
        user.press(CONTROL, "q")
        until(lambda: bool(questions(window)), "Ctrl+Q asked about the result that nobody signed")
        until(questions(window)[0].isActiveWindow, "the question has the keyboard")
        user.press("Escape")
        until(lambda: not questions(window), "Escape kept the window")
        assert window.isVisible()
        give_keyboard(window)
        user.press(CONTROL, "q")
        until(lambda: bool(questions(window)), "Ctrl+Q asked again")
        (leave,) = [each for each in questions(window)[0].buttons() if "without" in each.text()]
        until(leave.isVisible, "the answer is offered")
        user.click(*place(leave))
        until(lambda: not window.isVisible(), "a click closed the window without signing")
    finally:
        user.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
