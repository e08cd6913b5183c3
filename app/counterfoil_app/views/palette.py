"""The palette: whatever can be done, opened or looked at, found by typing a part of its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QDialog, QTableView, QWidget

from counterfoil_app.looks.theme import Theme
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import fit_to_screen
from counterfoil_app.views.parts import label
from counterfoil_app.views.tables import Column, RecordTable, table_view

MOST = 60
"""Entries that are shown: who sees more than these types another letter."""
WIDTH, HEIGHT = 640, 420
_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


@dataclass(frozen=True)
class Entry:
    """Something that can be chosen."""

    name: str  #: What it is called.
    kind: str  #: What kind of thing it is, or where else it is found.
    do: Callable[[], object]  #: What choosing it does.
    keys: str = ""  #: Its shortcut; empty for none.


ForText = Callable[[str], Iterable[Entry]]
"""Entries that only what was typed makes, such as a step of this number; they stand before all others."""


def fitting(entries: Iterable[Entry], typed: str) -> list[Entry]:
    """Return the entries in whose name or kind each typed word occurs; those whose name begins with it come first.

    Args:
        entries: All that there is.
        typed: Words; capital and small letters are the same.
    """
    words = typed.casefold().split()

    def rank(entry: Entry) -> int:
        name = entry.name.casefold()
        return 0 if words and name.startswith(words[0]) else 1 if all(word in name for word in words) else 2

    found = [one for one in entries if all(word in f"{one.name} {one.kind}".casefold() for word in words)]
    return sorted(found, key=rank)


class Palette(QDialog):
    """A line to type in, and what fits it; Return does the chosen entry, Escape nothing.

    Args:
        entries: All that there is.
        for_text: Entries that are made of what was typed.
        theme: The theme of the application.
    """

    def __init__(
        self, entries: Sequence[Entry], for_text: ForText, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Find a command, a step, a tensor, a check or a case"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._entries, self._for_text = entries, for_text
        self.line = layouts.line_edit(
            name=self.windowTitle(), hint=self.tr("A command, a step, a tensor, a check, a case"), clearable=True
        )
        columns = [
            Column[Entry](self.tr("What"), lambda entry: entry.name, 44),
            Column[Entry](self.tr("Kind"), lambda entry: entry.kind, 20),
            Column[Entry](self.tr("Keys"), lambda entry: entry.keys, 14),
        ]
        self.model: RecordTable[Entry] = RecordTable(columns, theme, self)
        self.table = table_view(self.model, self.tr("What fits"), self)
        self.table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.none = label(self.tr("Nothing has this name."), "muted")
        layouts.column(self.line, self.none, (self.table, 1), inside=self)
        self.line.installEventFilter(self)
        self.line.textChanged.connect(self._show)
        self.line.returnPressed.connect(self._do)
        self.table.clicked.connect(self._clicked)
        fit_to_screen(self, self.sizeHint().expandedTo(self.minimumSizeHint()))
        self.resize(WIDTH, HEIGHT)
        self._show("")
        self.line.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """The arrows choose among the entries while the line has the keyboard."""
        pressed = event.type() is QEvent.Type.KeyPress and watched is self.line
        if pressed and isinstance(event, QKeyEvent) and Qt.Key(event.key()) in _MOVES:
            QApplication.sendEvent(self.table, QKeyEvent(event.type(), event.key(), event.modifiers()))
            return True
        return super().eventFilter(watched, event)

    def _show(self, typed: str) -> None:
        found = [*self._for_text(typed), *fitting(self._entries, typed)][:MOST]
        self.model.show_records(tuple(found))
        self.none.setVisible(not found)
        if found:
            self.table.selectRow(0)
            self.table.scrollTo(self.model.index(0, 0), QTableView.ScrollHint.EnsureVisible)

    def _clicked(self, _place: QModelIndex) -> None:
        self._do()

    def _do(self) -> None:
        row = self.table.currentIndex().row()
        if 0 <= row < len(self.model.records):
            entry = self.model.records[row]
            self.accept()
            entry.do()
