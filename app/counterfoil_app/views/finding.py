"""What is proven about a dispute: who is right, and the elements that were computed exactly."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from counterfoil import DisputedElement, Finding
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import translated
from counterfoil_app.looks.theme import Theme
from counterfoil_app.views import layouts
from counterfoil_app.views.parts import caption, label
from counterfoil_app.views.tables import Column, RecordTable, fit_height, table_view

_ERROR, _MIDPOINT = 4, 5
"""Columns that count in error bounds."""


class FindingView(QWidget):
    """Hidden until there is a finding; the table is there when elements were computed."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = caption(self.tr("Finding"), "section")
        self.sentence = label()
        self.recomputed = label()
        self.model: RecordTable[DisputedElement] = RecordTable(self._columns(), theme, self)
        self.table = table_view(self.model, self.tr("Elements computed exactly"))
        layouts.column(self._title, self.sentence, self.recomputed, self.table, inside=self, margins=layouts.NONE)
        self.show_finding(None)

    def show_finding(self, finding: Finding | None) -> None:
        """Show a finding; None hides the view."""
        self.setVisible(finding is not None)
        elements = () if finding is None else finding.elements
        self.model.show_records(elements)
        for widget in (self.recomputed, self.table):
            widget.setVisible(bool(elements))
        if finding is not None:
            self.sentence.setText(translated(finding.sentence))
            self.recomputed.setText(words.finding_extent(finding))
            for column in (_ERROR, _MIDPOINT):
                # Under an exact profile there is no bound to measure in.
                self.table.setColumnHidden(column, finding.defined)
            fit_height(self.table)

    def _columns(self) -> list[Column[DisputedElement]]:
        return [
            Column(self.tr("Element"), lambda item: text.index(item.index), 13),
            Column(self.tr("Exact value"), lambda item: text.digits(item.exact), 34, numeric=True),
            Column(self.tr("Replay"), lambda item: _decimal(item.replay), 23, numeric=True),
            Column(self.tr("Trainer"), self._trainer, 23, numeric=True),
            Column(self.tr("Error, in bounds"), lambda item: text.digits(f"{item.error:.2g}"), 15, numeric=True),
            Column(self.tr("To the midpoint"), lambda item: text.digits(f"{item.midpoint:.3g}"), 14, numeric=True),
            Column(self.tr("Exact, nearest float64"), lambda item: item.exact_nearest.hex(), 24, fixed=True),
            Column(self.tr("Before rounding"), lambda item: item.computed.hex(), 24, fixed=True),
            Column(self.tr("Replay, hexadecimal"), lambda item: item.replay.hex(), 24, fixed=True),
            Column(self.tr("Trainer, hexadecimal"), self._trainer_exactly, 24, fixed=True),
        ]

    def _trainer(self, item: DisputedElement) -> str:
        return self.tr("not known") if item.trainer is None else _decimal(item.trainer)

    def _trainer_exactly(self, item: DisputedElement) -> str:
        return self.tr("not known") if item.trainer is None else item.trainer.hex()


def _decimal(value: float) -> str:
    """The shortest decimal text that reads back to the same number: neighbouring grid points must not look equal."""
    return text.digits(repr(value))
