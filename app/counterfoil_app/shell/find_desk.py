"""Finds whatever the window has by its name: commands, steps, tensors, checks, cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from counterfoil import CheckNumber
from counterfoil_app.engine import strangers
from counterfoil_app.looks import text, words
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.case_file import FileKind
from counterfoil_app.model.cases import Cases
from counterfoil_app.model.session import Session
from counterfoil_app.shell.actions import Face, Row, without_mnemonic
from counterfoil_app.shell.help import keys_of
from counterfoil_app.views.palette import Entry, Palette
from counterfoil_app.views.parts import open_dialog

ShowView = Callable[[str], object]
"""Brings a view to the front, by its name."""


class FindDesk(QObject):
    """Opens the palette.

    Args:
        session: The open run.
        cases: What can be opened.
        theme: The theme of the application.
        window: The window that the palette belongs to.
    """

    def __init__(self, session: Session, cases: Cases, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._cases, self._theme, self._window = session, cases, theme, window
        self.commands: Callable[[], Sequence[tuple[str, QAction]]] = tuple
        """Returns every command, with what it belongs to."""
        self.show_view: ShowView = lambda _name: None
        self.show_tensor: Callable[[str], object] = lambda _name: None
        self.open_file: Callable[[Path], object] = lambda _path: None

    def rows(self) -> list[Row]:
        """The row of the window's table of actions."""
        tip = self.tr("Find a command, a step, a tensor, a check or a case by its name")
        return [Row("find", Face(self.tr("Fin&d\u2026"), tip=tip), self.find, "Ctrl+K")]

    def find(self) -> Palette:
        """Ask what is looked for, and do it."""
        palette = Palette(list(self._entries()), self._steps, self._theme, self._window)
        open_dialog(palette)
        return palette

    def _entries(self) -> Iterator[Entry]:
        for where, action in self.commands():
            if action.isEnabled() and action.isVisible():
                yield Entry(without_mnemonic(action.text()), where, action.trigger, keys_of(action))
        if self._session.summary is not None:
            for number in CheckNumber:
                yield Entry(words.check_title(number), self.tr("Check"), partial(self.show_view, "checks"))
        dispute = self._session.dispute
        for tensor in () if dispute is None else dispute.tensors:
            yield Entry(strangers.sentence(tensor.name), self.tr("Tensor"), partial(self.show_tensor, tensor.name))
        for case in self._cases.cases:
            for file in case.of_kind(FileKind.RUN):
                name = strangers.sentence(f"{file.file.name}, {case.title}" if case.title else file.file.name)
                yield Entry(name, self.tr("Case"), partial(self.open_file, file.file))

    def _steps(self, typed: str) -> Iterator[Entry]:
        """The step whose number was typed."""
        last = typed.split()[-1] if typed.split() else ""
        count = self._session.step_data.count
        if last.isdecimal() and 1 <= int(last) <= count:
            name = self.tr("Step {0} of {1}").format(text.count(int(last)), text.count(count))
            yield Entry(name, self.tr("Step"), partial(self._go_to, int(last)))

    def _go_to(self, step: int) -> None:
        self._session.select_step(step)
        self.show_view("steps")
