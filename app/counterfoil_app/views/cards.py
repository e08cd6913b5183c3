"""What each kind of person can do here: four cards, each with its actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from counterfoil_app.views import layouts
from counterfoil_app.views.frame import FlowLayout
from counterfoil_app.views.header import ActionButton
from counterfoil_app.views.parts import caption, enlarged

SPACING = 12


class Part(Enum):
    """A part that a person plays."""

    CLIENT = "client"
    TRAINER = "trainer"
    AUDITOR = "auditor"
    RECEIVER = "receiver"


class Card(QFrame):
    """What somebody can do who plays a part.

    Args:
        title: The part, as that person says it.
        sentence: What it is.
        actions: What can be done in the window, the obvious one first.
    """

    def __init__(self, title: str, sentence: str, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.setAccessibleName(title)
        self.buttons = [ActionButton(action, primary=not place) for place, action in enumerate(actions)]
        heading = enlarged(caption(title, "title"), 1.1)
        below = QWidget()
        flow = FlowLayout(below, 8)
        for button in self.buttons:
            flow.addWidget(button)
        column = layouts.column(
            heading, caption(sentence, "muted"), inside=self, margins=(16, 12, 16, 14), spacing=8
        )  # fmt: skip
        layouts.fill(column, below)
        column.addStretch(1)


class Cards(QWidget):
    """The four cards, in one, two or four columns.

    Args:
        actions: The actions of each part.
    """

    def __init__(self, actions: Mapping[Part, Sequence[QAction]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        said = {
            Part.CLIENT: (
                self.tr("I order training"),
                self.tr("Say what is to be trained, so that anybody can see later whether it was."),
            ),
            Part.TRAINER: (
                self.tr("I train"),
                self.tr("Carry out an order, and record the run so that others can replay it."),
            ),
            Part.AUDITOR: (
                self.tr("I audit"),
                self.tr("Replay a run on this machine, see whether it comes out the same, and sign what you found."),
            ),
            Part.RECEIVER: (
                self.tr("I was given something"),
                self.tr("A verdict, a dispute capsule, weights, a run, a key: drop anything here, or choose it."),
            ),
        }
        self.of = {part: Card(title, sentence, actions.get(part, ())) for part, (title, sentence) in said.items()}
        self.of[Part.RECEIVER].setObjectName("drop")
        self._columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(SPACING)
        self.show_in(2)

    def show_in(self, columns: int) -> None:
        """Lay the cards out in so many columns."""
        if columns == self._columns:
            return
        self._columns = columns
        for card in self.of.values():
            self._grid.removeWidget(card)
        for place, card in enumerate(self.of.values()):
            self._grid.addWidget(card, place // columns, place % columns)
        for column in range(len(self.of)):
            self._grid.setColumnStretch(column, int(column < columns))
