"""The queue of bundles: what waits, what runs, and what came out."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHeaderView, QWidget

from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import words
from counterfoil_app.looks.engine_words import translated
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.bundle_queue import BundleQueue, EntryState, QueuedBundle
from counterfoil_app.model.turns import follow
from counterfoil_app.views import layouts
from counterfoil_app.views.header import ActionButton
from counterfoil_app.views.parts import label
from counterfoil_app.views.tables import item, outcome_item, record_list


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
        titles = [self.tr("Bundle"), self.tr("Outcome")]
        self.table = record_list(titles, self.tr("Queue of bundles"), self._open, self._remove)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.open_button = layouts.button(self.tr("Show"), self._open)
        self.remove_button = layouts.button(self.tr("Remove"), self._remove)
        buttons = layouts.row(*map(ActionButton, actions), 1, spacing=6)
        row = layouts.row(self.open_button, self.remove_button, 1, spacing=6)
        layouts.column(buttons, self.sentence, (self.table, 1), row, inside=self, margins=(10, 8, 10, 10))
        self.table.itemSelectionChanged.connect(self._refresh_buttons)
        follow(self.refresh, queue.changed, theme.changed)
        self.refresh()

    def refresh(self) -> None:
        """Show where the queue stands."""
        chosen = self._chosen()
        entries = self._queue.entries
        self.table.setRowCount(len(entries))
        for place, entry in enumerate(entries):
            look = self._look(entry)
            report = entry.finished.report if entry.finished is not None else None
            open_still = translated(report.trust.reason) if report is not None else ""
            tip = entry.sentence or open_still or look.word
            self.table.setItem(place, 0, item(name_of(entry.path), str(entry.path)))
            self.table.setItem(place, 1, outcome_item(look, self._theme, look.word, tip))
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

    def _look(self, entry: QueuedBundle) -> Look:
        if entry.state is EntryState.WAITING:
            return Look(self.tr("waiting"), "waiting", Tone.MUTED)
        if entry.state is EntryState.RUNNING:
            return Look(self.tr("being replayed"), "running", Tone.INFO)
        report = entry.finished.report if entry.finished is not None else None
        if report is None:
            return Look(self.tr("not replayed: {0}").format(entry.sentence), "inconclusive", Tone.WARN)
        return words.outcome(report.outcome, report.sample, report.trust)

    def _chosen(self) -> QueuedBundle | None:
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
