"""The case that a report belongs to: its number and its parties, which the auditor names and no verdict signs."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QLineEdit, QWidget

from counterfoil_app.views import layouts
from counterfoil_app.views.parts import caption


@dataclass(frozen=True)
class Case:
    """What the head of a report says; empty where nothing was named.

    Attributes:
        number: The case or file number.
        client: Who ordered the training.
        trainer: Who carried it out.
        auditor: Who replayed it.
    """

    number: str = ""
    client: str = ""
    trainer: str = ""
    auditor: str = ""


NO_CASE = Case()


class CaseFields(QWidget):
    """Asks for the case; all of it may stay empty."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        grid = self._grid = layouts.grid(inside=self, across=12)
        self.number = self._line(self.tr("Case number"))
        self.client = self._line(self.tr("Client's name"))
        self.trainer = self._line(self.tr("Trainer's name"))
        self.auditor = self._line(self.tr("Auditor's name"))
        note = caption(self.tr("For the head of the report. The signed verdict does not hold it."), "muted")
        grid.addWidget(note, grid.rowCount(), 0, 1, 2)
        grid.setRowStretch(grid.rowCount(), 1)

    def _line(self, name: str) -> QLineEdit:
        line = layouts.line_edit(name=name, most=200)
        row = self._grid.rowCount()
        self._grid.addWidget(caption(name, wrap=False), row, 0)
        self._grid.addWidget(line, row, 1)
        return line

    def case(self) -> Case:
        """What was named."""
        return Case(*(line.text().strip() for line in (self.number, self.client, self.trainer, self.auditor)))
