"""The sheet of all keyboard shortcuts, read from the menus so that it is never out of date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QMenu, QMenuBar, QWidget

from counterfoil_app.looks.theme import Theme
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import fit_to_screen
from counterfoil_app.views.tables import Column, RecordTable, table_view


@dataclass(frozen=True)
class Shortcut:
    """One line of the sheet."""

    where: str
    what: str
    keys: str


def unmarked(text: str) -> str:
    """A menu text without its mnemonic and its ellipsis."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("\u2026")


def keys_of(action: QAction) -> str:
    """The shortcuts of an action as they are written on this platform."""
    form = QKeySequence.SequenceFormat.NativeText
    return ", ".join(sequence.toString(form) for sequence in action.shortcuts() if not sequence.isEmpty())


def menu_shortcuts(bar: QMenuBar) -> list[Shortcut]:
    """All actions of the menus that have a shortcut, in the order of the menus."""
    found: list[Shortcut] = []

    def walk(actions: Sequence[QAction], where: str) -> None:
        for action in actions:
            menu = action.menu()
            if isinstance(menu, QMenu):
                walk(menu.actions(), where or unmarked(action.text()))
            elif keys_of(action):
                found.append(Shortcut(where, unmarked(action.text()), keys_of(action)))

    walk(bar.actions(), "")
    return found


class ShortcutSheet(QDialog):
    """A table of the shortcuts, with a filter.

    Args:
        bar: The menus.
        more: Shortcuts that are in no menu, because they belong to a view.
        theme: The theme of the window.
    """

    def __init__(self, bar: QMenuBar, more: Sequence[Shortcut], theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keyboard shortcuts"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._all = [*menu_shortcuts(bar), *more]
        self.filter = layouts.line_edit(name=self.tr("Filter the shortcuts"), hint=self.tr("Filter"), clearable=True)
        columns: list[Column[Shortcut]] = [
            Column(self.tr("Keys"), lambda line: line.keys, 22),
            Column(self.tr("Where"), lambda line: line.where, 16),
            Column(self.tr("What"), lambda line: line.what, 40),
        ]
        self.model: RecordTable[Shortcut] = RecordTable(columns, theme, self)
        self.table = table_view(self.model, self.tr("Keyboard shortcuts"), self)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        layouts.column(self.filter, (self.table, 1), buttons, inside=self)
        buttons.rejected.connect(self.reject)
        self.filter.textChanged.connect(self._show)
        self._show("")
        self.filter.setFocus()
        metrics = self.fontMetrics()
        fit_to_screen(self, QSize(int(metrics.averageCharWidth() * 100), metrics.height() * 30))

    def _show(self, wanted: str) -> None:
        word = wanted.casefold()
        self.model.show_records(
            [line for line in self._all if word in f"{line.keys} {line.where} {line.what}".casefold()]
        )
