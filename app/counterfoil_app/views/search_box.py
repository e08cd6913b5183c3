"""The search of the step table: words are completed while one types, and searches can be kept as buttons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QCompleter, QLineEdit, QPushButton, QWidget

from counterfoil_app.views import layouts
from counterfoil_app.views.frame import FlowLayout
from counterfoil_app.views.parts import clear_layout

MOST_KEPT = 8
LONGEST_SHOWN = 40
_WORD = re.compile(r"(?<![#0-9A-Za-z_])[A-Za-z_]+$")
"""What is completed: a word at the end that is no part of a hash or a number."""
_NOTHING = "\0"


class WordCompleter(QCompleter):
    """Completes the last word of a line.

    Args:
        words: The words.
        parent: The line.
    """

    def __init__(self, words: Sequence[str], parent: QLineEdit) -> None:
        super().__init__(list(words), parent)
        self._before = ""
        self.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        parent.setCompleter(self)

    def splitPath(self, path: str) -> list[str]:  # noqa: N802 - Qt's name
        """The word that is being typed; nothing where none is."""
        found = _WORD.search(path)
        self._before = path[: found.start()] if found else path
        return [found.group() if found else _NOTHING]

    def pathFromIndex(self, index: QModelIndex | QPersistentModelIndex) -> str:  # noqa: N802 - Qt's name
        """The line with the word completed."""
        return self._before + str(index.data() or "")


class KeptSearches(QWidget):
    """The searches that the user keeps, as buttons: a click searches, Delete or the menu of one forgets it."""

    chosen = Signal(str)
    changed = Signal()
    """The user kept or forgot one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.kept: tuple[str, ...] = ()
        self._flow = FlowLayout(self, 6)
        self.show_kept(())

    def show_kept(self, kept: Sequence[str]) -> None:
        """Show these."""
        self.kept = tuple(kept)[:MOST_KEPT]
        clear_layout(self._flow)
        for wanted in self.kept:
            self._flow.addWidget(self._chip(wanted))
        self.setVisible(bool(self.kept))
        self.updateGeometry()

    def keep(self, wanted: str) -> None:
        """Keep a search; it stands first."""
        wanted = wanted.strip()
        if wanted and wanted not in self.kept:
            self.show_kept((wanted, *self.kept))
            self.changed.emit()

    def _forget(self, wanted: str) -> None:
        self.show_kept([other for other in self.kept if other != wanted])
        self.changed.emit()

    def _chip(self, wanted: str) -> QPushButton:
        shown = wanted if len(wanted) <= LONGEST_SHOWN else wanted[: LONGEST_SHOWN - 1] + "\u2026"
        chip = layouts.button(
            shown.replace("&", "&&"),
            partial(self.chosen.emit, wanted),
            name=self.tr("Search {0}").format(wanted),
            tip=self.tr("Search {0}; Delete forgets it").format(wanted),
        )
        chip.setProperty("chip", True)
        forget = layouts.action(chip, self.tr("&Forget this search"), "Del", partial(self._forget, wanted))
        forget.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        chip.addAction(forget)
        chip.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        return chip
