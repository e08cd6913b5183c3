"""The menu Edit: copy and select where the keyboard is, and a link to what is shown."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QWidget

from counterfoil_app.model.session import Session
from counterfoil_app.shell.actions import Face, Row

TABS: Mapping[str, str] = {
    "finding": "dispute", "steps": "steps", "plots": "divergence", "merkle": "merkle", "checks": "checks", "run": "run",
    "log": "log",
}  # fmt: skip
"""The views by the names that ``counterfoil gui --tab`` takes."""


def link_to(run: Path, order: Path | None, step: int | None, view: str) -> str:
    """Return the command that shows a step of a run in a view.

    Args:
        run: The run.
        order: The client's order that it is compared with; None for none.
        step: The step; None for none.
        view: The name of the view's dock; empty for that which is shown first.
    """
    tab = next((tab for tab, name in TABS.items() if name == view), "")
    parts = ["counterfoil", "gui", str(run)]
    for flag, value in (("--order", order), ("--step", step), ("--tab", tab)):
        if value:
            parts += [flag, str(value)]
    join: Callable[[list[str]], str] = subprocess.list2cmdline if sys.platform == "win32" else shlex.join
    return join(parts)


class EditDesk(QObject):
    """Copies.

    Args:
        session: What is open.
        current_view: Returns the name of the view that is in front; empty where none is.
        window: Has the keyboard.
    """

    copied = Signal(str)
    """What was copied, as a sentence."""

    def __init__(self, session: Session, current_view: Callable[[], str], window: QWidget) -> None:
        super().__init__(window)
        self._session, self._current_view, self._window = session, current_view, window

    def rows(self) -> list[Row]:
        """Its part of the window's action table; the keys of the first two are those of what has the keyboard."""
        copy = Face(self.tr("&Copy"), tip=self.tr("Copy what is chosen where the keyboard is (Ctrl+C)"))
        everything = Face(self.tr("Select &all"), tip=self.tr("Choose all where the keyboard is (Ctrl+A)"))
        link = Face(
            self.tr("Copy a &link"), tip=self.tr("Copy the command that shows this step of this run, for a report")
        )
        return [
            Row("copy", copy, lambda: self._press(QKeySequence.StandardKey.Copy, Qt.Key.Key_C)),
            Row("select_all", everything, lambda: self._press(QKeySequence.StandardKey.SelectAll, Qt.Key.Key_A)),
            Row("copy_link", link, self.copy_link, "Ctrl+Shift+L", lambda session: session.path is not None),
        ]

    def copy_link(self) -> None:
        """Copy the command that shows what is shown."""
        session = self._session
        if session.path is not None:
            link = link_to(session.path, session.order, session.selected_step, self._current_view())
            QGuiApplication.clipboard().setText(link)
            self.copied.emit(self.tr("Copied: {0}").format(link))

    def _press(self, keys: QKeySequence.StandardKey, key: Qt.Key) -> None:
        """Do what keys do where the keyboard is: a shortcut of that widget, or what it does with them itself."""
        focus = self._window.focusWidget()
        if focus is None:
            return
        for shortcut in focus.findChildren(QShortcut, options=Qt.FindChildOption.FindDirectChildrenOnly):
            if shortcut.key() == QKeySequence(keys):
                shortcut.activated.emit()
                return
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            QApplication.sendEvent(focus, QKeyEvent(kind, key, Qt.KeyboardModifier.ControlModifier))
