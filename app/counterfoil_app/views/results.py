"""Lists of what came out: the queue of bundles, and the results of all replays, those of earlier days too."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QHeaderView, QTableWidgetItem, QWidget

from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.looks.words import Look
from counterfoil_app.model.bundle_queue import BundleQueue, EntryState, QueuedBundle
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.history import History, Past
from counterfoil_app.views import layouts
from counterfoil_app.views.dialogs import ask_to_remove
from counterfoil_app.views.frame import FlowLayout, fit_to_screen
from counterfoil_app.views.header import ActionButton
from counterfoil_app.views.layouts import button
from counterfoil_app.views.parts import label, restyle
from counterfoil_app.views.tables import item, outcome_item, record_list


class QueueView(QWidget):
    """Lists the queue; double click or Enter opens what was found.

    Args:
        queue: The queue.
        theme: The theme of the application.
        actions: Adding files, starting, stopping and signing, as buttons in this order.
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
        buttons = QWidget()
        flow = FlowLayout(buttons, 6)  # a narrow queue has its buttons in two lines
        for action in actions:
            flow.addWidget(ActionButton(action))
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
            open_still = translate(report.trust.reason) if report is not None else ""
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
        return words.conclusion(report, report.trust)

    def _chosen(self) -> QueuedBundle | None:
        place = self.table.currentRow()
        return self._queue.entries[place] if 0 <= place < len(self._queue.entries) else None

    def _refresh_buttons(self) -> None:
        entry = self._chosen()
        self.open_button.setEnabled(entry is not None and not self._queue.running)
        set_tip(
            self.open_button,
            self.tr("The queue is at work; stop it, or wait until it is done.") if self._queue.running else "",
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
        fit_to_screen(self, QSize(*map(scale, SIZE)))
        self._history = history
        self._theme = theme
        self.sentence = label("", "muted")
        titles = (self.tr("Ended"), self.tr("Run"), self.tr("Outcome"), self.tr("Judged"), self.tr("Signed verdict"))
        self.table = record_list(titles, self.tr("Results"), self._choose, self._remove)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)
        self.show_button = button(self.tr("Sh&ow"), self._choose)
        restyle(self.show_button, "primary", True)
        self.remove_button = button(self.tr("Re&move\u2026"), self._remove)
        self.close_button = button(self.tr("&Close"), self.close)
        row = layouts.row(self.show_button, self.remove_button, 1, self.close_button)
        layouts.column(self.sentence, (self.table, 1), row, inside=self)
        self.table.itemSelectionChanged.connect(self._refresh_buttons)
        history.changed.connect(self._refresh)
        history.refresh()
        self._refresh()

    def _refresh(self) -> None:
        """List what is kept."""
        pasts = self._history.pasts
        self.table.setRowCount(len(pasts))
        for place, past in enumerate(pasts):
            look = words.outcome(past.outcome, trust=past.trust)
            judged = self.tr("{0} of {1} steps").format(text.count(past.judged), text.count(past.ordered))
            signed = self.tr("not signed") if past.signed is None else name_of(past.signed)
            cells = (
                QTableWidgetItem(past.when.astimezone().strftime("%Y-%m-%d %H:%M")),
                item(name_of(past.path), str(past.path)),
                outcome_item(
                    look, self._theme, words.headline_of(past.outcome, past.headline), translate(past.trust.reason)
                ),
                QTableWidgetItem(judged),
                item(signed, str(past.signed or "")),
            )
            for column, cell in enumerate(cells):
                self.table.setItem(place, column, cell)
        self.table.resizeRowsToContents()
        if pasts and self.table.currentRow() < 0:
            self.table.selectRow(0)
        unsigned = sum(past.signed is None for past in pasts)
        self.sentence.setText(
            self.tr("Replays: {0}. Not signed: {1}. They are kept until you remove them.").format(
                text.count(len(pasts)), text.count(unsigned)
            )
            if pasts
            else self.tr("Nothing has been replayed yet.")
            if self._history.is_known
            else self.tr("Reading the results\u2026")
        )
        self._refresh_buttons()

    def _chosen(self) -> Past | None:
        place = self.table.currentRow()
        return self._history.pasts[place] if 0 <= place < len(self._history.pasts) else None

    def _refresh_buttons(self) -> None:
        for each in (self.show_button, self.remove_button):
            each.setEnabled(self._chosen() is not None)

    def _choose(self) -> None:
        past = self._chosen()
        if past is not None:
            self.accept()
            self.chosen.emit(past)

    def _remove(self) -> None:
        past = self._chosen()
        if past is not None:
            ask_to_remove(self, name_of(past.path), lambda: self._history.remove(past))
