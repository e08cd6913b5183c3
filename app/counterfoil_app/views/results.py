"""All results of replays, those of earlier days too: to be shown again, signed later, or removed."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import icons, text, words
from counterfoil_app.looks.engine_words import translated
from counterfoil_app.looks.fonts import scaled
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.history import History, Past
from counterfoil_app.views.dialogs import ask_to_remove
from counterfoil_app.views.frame import fit_to_screen
from counterfoil_app.views.parts import label, restyle

ICON_PIXELS = 18
SIZE = (860, 460)


class ResultsDialog(QDialog):
    """Lists the kept results, newest first; double click or Enter shows one.

    Args:
        history: The results.
        theme: The theme of the application.
    """

    chosen = Signal(Past)

    def __init__(self, history: History, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Results"))
        fit_to_screen(self, QSize(*SIZE))
        self._history = history
        self._theme = theme
        self.sentence = label("", "muted")
        self.table = QTableWidget(0, 5)
        self.table.setAccessibleName(self.tr("Results"))
        self.table.setHorizontalHeaderLabels(
            [self.tr("Ended"), self.tr("Run"), self.tr("Outcome"), self.tr("Judged"), self.tr("Signed verdict")]
        )
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setIconSize(QSize(scaled(ICON_PIXELS), scaled(ICON_PIXELS)))
        self.table.setShowGrid(False)
        self.table.setTabKeyNavigation(False)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.show_button = QPushButton(self.tr("Sh&ow"))
        self.remove_button = QPushButton(self.tr("Re&move\u2026"))
        self.close_button = QPushButton(self.tr("&Close"))
        restyle(self.show_button, "primary", True)
        row = QHBoxLayout()
        row.addWidget(self.show_button)
        row.addWidget(self.remove_button)
        row.addStretch(1)
        row.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.addWidget(self.sentence)
        column.addWidget(self.table, 1)
        column.addLayout(row)
        self.show_button.clicked.connect(self._choose)
        self.remove_button.clicked.connect(self._remove)
        self.close_button.clicked.connect(self.close)
        self.table.itemDoubleClicked.connect(lambda _item: self._choose())
        self.table.itemSelectionChanged.connect(self._refresh_buttons)
        for keys, slot in ((Qt.Key.Key_Return, self._choose), (Qt.Key.Key_Delete, self._remove)):
            shortcut = QShortcut(QKeySequence(keys), self.table)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(slot)
        history.changed.connect(self._refresh)
        history.refresh()
        self._refresh()

    def _refresh(self) -> None:
        """List what is kept."""
        pasts = self._history.pasts
        self.table.setRowCount(len(pasts))
        for place, past in enumerate(pasts):
            look = words.outcome(past.outcome, trust=past.trust)
            colour = self._theme.tokens.tone(look.tone)
            outcome = QTableWidgetItem(icons.icon(look.icon, colour, colour), past.headline)
            outcome.setForeground(QColor(colour))
            outcome.setToolTip(translated(past.trust.reason))
            judged = self.tr("{0} of {1} steps").format(text.count(past.judged), text.count(past.ordered))
            run = QTableWidgetItem(name_of(past.path))
            run.setToolTip(str(past.path))
            verdict = QTableWidgetItem(self.tr("not signed") if past.verdict is None else name_of(past.verdict))
            verdict.setToolTip("" if past.verdict is None else str(past.verdict))
            when = QTableWidgetItem(past.when.astimezone().strftime("%Y-%m-%d %H:%M"))
            for column, item in enumerate((when, run, outcome, QTableWidgetItem(judged), verdict)):
                self.table.setItem(place, column, item)
        self.table.resizeRowsToContents()
        if pasts and self.table.currentRow() < 0:
            self.table.selectRow(0)
        unsigned = sum(past.verdict is None for past in pasts)
        self.sentence.setText(
            self.tr("Replays: {0}. Not signed: {1}. They are kept until you remove them.").format(
                text.count(len(pasts)), text.count(unsigned)
            )
            if pasts
            else self.tr("Nothing has been replayed yet.")
        )
        self._refresh_buttons()

    def _chosen(self) -> Past | None:
        place = self.table.currentRow()
        return self._history.pasts[place] if 0 <= place < len(self._history.pasts) else None

    def _refresh_buttons(self) -> None:
        for button in (self.show_button, self.remove_button):
            button.setEnabled(self._chosen() is not None)

    def _choose(self) -> None:
        past = self._chosen()
        if past is not None:
            self.accept()
            self.chosen.emit(past)

    def _remove(self) -> None:
        past = self._chosen()
        if past is not None:
            ask_to_remove(self, name_of(past.path), lambda: self._history.remove(past))
