"""All results of replays, those of earlier days too: to be shown again, signed later, or removed."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QDialog, QHeaderView, QTableWidgetItem, QWidget

from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import translated
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.history import History, Past
from counterfoil_app.views import layouts
from counterfoil_app.views.dialogs import ask_to_remove
from counterfoil_app.views.frame import fit_to_screen
from counterfoil_app.views.layouts import button
from counterfoil_app.views.parts import label, restyle
from counterfoil_app.views.tables import item, outcome_item, record_list

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
            signed = self.tr("not signed") if past.verdict is None else name_of(past.verdict)
            cells = (
                QTableWidgetItem(past.when.astimezone().strftime("%Y-%m-%d %H:%M")),
                item(name_of(past.path), str(past.path)),
                outcome_item(look, self._theme, past.headline, translated(past.trust.reason)),
                QTableWidgetItem(judged),
                item(signed, str(past.verdict or "")),
            )
            for column, cell in enumerate(cells):
                self.table.setItem(place, column, cell)
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
