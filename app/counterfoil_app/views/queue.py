"""The queue of bundles: what waits, what runs, and what came out."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QColor, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import icons, words
from counterfoil_app.looks.engine_words import translated
from counterfoil_app.looks.fonts import scaled
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.bundle_queue import BundleQueue, Entry, EntryState
from counterfoil_app.views.header import ActionButton
from counterfoil_app.views.parts import label

ICON_PIXELS = 18


class QueueView(QWidget):
    """Lists the queue; double click or Enter opens what was found.

    Args:
        queue: The queue.
        theme: The theme of the application.
        actions: Adding files, starting and stopping, as buttons in this order.
    """

    def __init__(
        self, queue: BundleQueue, theme: Theme, actions: tuple[QAction, ...], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._queue = queue
        self._theme = theme
        self.sentence = label("", "muted")
        self.table = QTableWidget(0, 2)
        self.table.setAccessibleName(self.tr("Queue of bundles"))
        self.table.setHorizontalHeaderLabels([self.tr("Bundle"), self.tr("Outcome")])
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setIconSize(QSize(scaled(ICON_PIXELS), scaled(ICON_PIXELS)))
        self.table.setShowGrid(False)
        self.table.setTabKeyNavigation(False)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.open_button = QPushButton(self.tr("Show"))
        self.remove_button = QPushButton(self.tr("Remove"))
        buttons = QHBoxLayout()
        buttons.setSpacing(6)
        for action in actions:
            buttons.addWidget(ActionButton(action))
        buttons.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.open_button)
        row.addWidget(self.remove_button)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 8, 10, 10)
        column.addLayout(buttons)
        column.addWidget(self.sentence)
        column.addWidget(self.table, 1)
        column.addLayout(row)
        self.open_button.clicked.connect(self._open)
        self.remove_button.clicked.connect(self._remove)
        self.table.itemDoubleClicked.connect(lambda _item: self._open())
        self.table.itemSelectionChanged.connect(self._refresh_buttons)
        for keys, slot in ((Qt.Key.Key_Return, self._open), (Qt.Key.Key_Delete, self._remove)):
            shortcut = QShortcut(QKeySequence(keys), self.table)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(slot)
        queue.changed.connect(self.refresh)
        theme.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show where the queue stands."""
        chosen = self._chosen()
        entries = self._queue.entries
        self.table.setRowCount(len(entries))
        for place, entry in enumerate(entries):
            look = self._look(entry)
            name = QTableWidgetItem(name_of(entry.path))
            name.setToolTip(str(entry.path))
            outcome = QTableWidgetItem(look.word)
            colour = self._theme.tokens.tone(look.tone)
            outcome.setIcon(icons.icon(look.icon, colour, colour))
            outcome.setForeground(QColor(colour))
            report = entry.finished.report if entry.finished is not None else None
            open_still = translated(report.trust.reason) if report is not None else ""
            outcome.setToolTip(entry.sentence or open_still or look.word)
            self.table.setItem(place, 0, name)
            self.table.setItem(place, 1, outcome)
        self.table.resizeRowsToContents()
        if chosen in entries:
            self.table.selectRow(entries.index(chosen))
        self.sentence.setText(self._summary())
        self._refresh_buttons()

    def _summary(self) -> str:
        entries = self._queue.entries
        if not entries:
            return self.tr("Add several runs: they are replayed one after the other.")
        done = sum(entry.state in (EntryState.DONE, EntryState.FAILED) for entry in entries)
        return self.tr("{0} of {1} done. Replayed of each: {2}.").format(
            done, len(entries), words.segments(self._queue.segments)
        )

    def _look(self, entry: Entry) -> Look:
        if entry.state is EntryState.WAITING:
            return Look(self.tr("waiting"), "waiting", Tone.MUTED)
        if entry.state is EntryState.RUNNING:
            return Look(self.tr("being replayed"), "running", Tone.INFO)
        report = entry.finished.report if entry.finished is not None else None
        if report is None:
            return Look(self.tr("not replayed: {0}").format(entry.sentence), "inconclusive", Tone.WARN)
        return words.outcome(report.outcome, report.sample, report.trust)

    def _chosen(self) -> Entry | None:
        place = self.table.currentRow()
        return self._queue.entries[place] if 0 <= place < len(self._queue.entries) else None

    def _refresh_buttons(self) -> None:
        entry = self._chosen()
        self.open_button.setEnabled(entry is not None and not self._queue.running)
        self.open_button.setToolTip(
            self.tr("The queue is at work; stop it, or wait until it is done.") if self._queue.running else ""
        )
        self.remove_button.setEnabled(entry is not None and entry.state is not EntryState.RUNNING)

    def _open(self) -> None:
        entry = self._chosen()
        if entry is not None:
            self._queue.open(entry)

    def _remove(self) -> None:
        entry = self._chosen()
        if entry is not None:
            self._queue.remove(entry)
