"""The first differing operator: what it was given, and what the replay got."""

from __future__ import annotations

import math

from PySide6.QtWidgets import QWidget

from counterfoil import OperatorLook, OperatorValue
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import translated
from counterfoil_app.looks.theme import Theme
from counterfoil_app.views import layouts
from counterfoil_app.views.parts import caption, label
from counterfoil_app.views.tables import Column, RecordTable, fit_height, table_view


class OperatorView(QWidget):
    """Hidden until there is an operator."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.where = caption("", "section")
        self.said = label()
        self.model: RecordTable[OperatorValue] = RecordTable(self._columns(), theme, self)
        self.table = table_view(self.model, self.tr("Inputs and output of the operator"))
        layouts.column(self.where, self.said, self.table, inside=self, margins=layouts.NONE)

    def show_operator(self, found: OperatorLook | None) -> None:
        """Show an operator; None hides the view."""
        self.setVisible(found is not None)
        if found is None or found.values is self.model.records:
            return
        self.where.setText(self.tr("Operator {0}: {1}").format(text.count(found.number), found.where))
        self.said.setText(" ".join(map(translated, found.said)))
        self.model.show_records(found.values)
        fit_height(self.table)

    def _columns(self) -> list[Column[OperatorValue]]:
        return [
            Column(self.tr("Argument"), lambda value: value.name or self.tr("output of the replay"), 22),
            Column(self.tr("Shape"), lambda value: text.shape(value.shape) if value.dtype else "", 16),
            Column(self.tr("Type"), lambda value: value.dtype, 9),
            Column(self.tr("Least"), lambda value: _number(value.least), 13, numeric=True),
            Column(self.tr("Mean"), lambda value: _number(value.mean), 13, numeric=True),
            Column(self.tr("Largest"), lambda value: _number(value.largest), 13, numeric=True),
            Column(self.tr("First values"), self._first, 40, tip=self._first),
        ]

    def _first(self, value: OperatorValue) -> str:
        if not value.dtype:
            return value.said
        more = " \u2026" if math.prod(value.shape) > len(value.first) else ""
        return " ".join(map(text.number, value.first.tolist())) + more


def _number(value: float) -> str:
    return "" if math.isnan(value) else text.number(value)
