"""Home: the desk with the cases, the files that were used last, and what each kind of person can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, Signal
from PySide6.QtGui import QAction, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QGridLayout, QWidget

from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks.engine_words import failure_text
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.model.cases import Cases
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.history import History
from counterfoil_app.views import layouts
from counterfoil_app.views.case_list import CaseList, FileLine, look_of
from counterfoil_app.views.frame import FlowLayout, Frame
from counterfoil_app.views.header import ActionButton
from counterfoil_app.views.parts import caption, clear_layout, enlarge, label, logo, restyle, tell

# What each kind of person can do here: four cards, each with its actions.

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
        heading = enlarge(caption(title, "title"), 1.1)
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


LOGO_PIXELS = 44
BESIDE_CHARACTERS = 150
"""From this width on the cards stand beside the cases, and not below."""
WIDEST_CHARACTERS = 190
MOST_RECENT = 6
LAYOUT_LEVELS = 8
"""More than parts lie in each other here."""


class HomeView(QWidget):
    """Shown while nothing is open, or while the user looks at the desk beside a replay.

    Args:
        cases: The cases.
        history: The kept results.
        actions: The actions of each part that a person plays.
        sample_actions: Those that record a sample.
        theme: The theme of the application.
    """

    sample_cancelled = Signal()

    def __init__(
        self,
        cases: Cases,
        history: History,
        actions: Mapping[Part, Sequence[QAction]],
        sample_actions: Sequence[QAction],
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Home"))
        self._cases = cases
        self._history = history
        self._theme = theme
        self._running: Path | None = None
        self._entered = False
        self._shape: tuple[bool, bool] | None = None
        self.notice = label("", "notice")
        self.list = CaseList(theme)
        self.cards = Cards(actions)
        self.drop = self.cards.of[Part.RECEIVER]
        self.empty = caption(
            self.tr("Your cases will lie here: open a run, an order or anything that you were given."), "muted"
        )
        self._cases_title = enlarge(caption(self.tr("Cases"), "title"), 1.1)
        self._recent_title = enlarge(caption(self.tr("Recent files"), "title"), 1.1)
        recent = QWidget()
        self._recent = layouts.column(inside=recent, margins=layouts.NONE, spacing=2)
        self.recent_lines: list[FileLine] = []
        title = enlarge(caption(self.tr("Is the training you ordered the training that happened?"), "title"), 1.25)
        top = layouts.row(logo(LOGO_PIXELS), (title, 1), spacing=14)
        left = QWidget()
        layouts.column(
            self.notice, self._cases_title, self.list, self.empty, self._recent_title, recent, 1,
            inside=left, margins=layouts.NONE, spacing=8,
        )  # fmt: skip
        self._left = left
        self._right = QWidget()
        layouts.column(
            self.cards, self._make_samples(sample_actions), 1, inside=self._right, margins=layouts.NONE, spacing=12
        )
        self._inside = QWidget()
        # A box and no grid: a grid is vague about the height of wrapped text that spans its columns.
        self._parts = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._parts.setSpacing(24)
        layouts.column(top, self._parts, inside=self._inside, margins=layouts.NONE, spacing=16)
        page = QWidget()
        column = layouts.column(self._inside, 1, margins=(28, 22, 28, 22))
        # Stretches beside the column, and no alignment: an aligned widget is not asked how high its wrapped text is.
        layouts.row(1, (column, 1000), 1, inside=page, margins=layouts.NONE)
        self._scroll = Frame(page)
        layouts.column(self._scroll, inside=self, margins=layouts.NONE)
        follow(self._changed, cases.changed, history.changed)
        theme.changed.connect(self._changed)
        self.show_sample("")
        self._draw()

    def _make_samples(self, actions: Sequence[QAction]) -> QWidget:
        self.samples = [ActionButton(action) for action in actions]
        self.sample_progress = label("", "muted")
        self.cancel_sample = layouts.button(
            self.tr("Cancel"), self.sample_cancelled, name=self.tr("Cancel recording the sample")
        )
        hint = caption(self.tr("No run at hand? Try one that is recorded on this machine:"), "muted")
        inside = QWidget()
        buttons = layouts.row(*self.samples, self.cancel_sample, 1, spacing=10)
        layouts.column(hint, buttons, self.sample_progress, inside=inside, margins=(16, 0, 16, 0), spacing=8)
        return inside

    # What is shown

    def show_running(self, run: Path | None) -> None:
        """Know which run is being replayed; None for none."""
        if run != self._running:
            self._running = run
            self._changed()

    def show_sample(self, sentence: str) -> None:
        """Say how far the sample is; an empty sentence when none is being recorded."""
        self.sample_progress.setText(sentence)
        for part in (self.sample_progress, self.cancel_sample):
            part.setVisible(bool(sentence))
        for button in self.samples:
            button.setVisible(not sentence)

    def show_hot(self, hot: bool) -> None:
        """Show that a dragged file would be taken."""
        restyle(self.drop, "hot", hot)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Show the cases as they are now: files may have moved meanwhile, and another window may have changed them."""
        super().showEvent(event)
        self._entered = True
        self.cards.of[Part.AUDITOR].buttons[0].setFocus()
        self._cases.refresh()
        self._draw()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put the cards where there is room."""
        super().resizeEvent(event)
        self._arrange()

    def _changed(self) -> None:
        if self.isVisible():
            self._draw()

    def _draw(self) -> None:
        # Where a case stands follows from the results: before they were read nothing is said of it.
        cases, pasts = self._cases.cases if self._history.is_known else (), self._history.pasts
        self.list.show_cases(cases, pasts, self._running)
        problem = self._cases.problem
        self.notice.setVisible(problem is not None)
        if problem is not None:
            tell(self.notice, failure_text(Failure.of(problem)), Tone.WARN)
        self._show_recent()
        if self._entered and self.list.rows:  # the keyboard goes where the user most likely goes on
            self._entered = False
            self.list.rows[0].button.setFocus()
        for part in (self._cases_title, self.list):
            part.setVisible(bool(cases))
        self.empty.setVisible(not self._cases.cases)
        self._arrange()
        if self.isVisible():
            self._settle()

    def _settle(self) -> None:
        """Lay everything out now: what wrapped text needs goes up one part at a time, and each would be seen."""
        for _ in range(LAYOUT_LEVELS):
            QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)

    def _show_recent(self) -> None:
        known = self._cases.cases if self._history.is_known else ()
        used = [(case, file) for case in known for file in case.files if file.used]
        newest = sorted(used, key=lambda pair: pair[1].used, reverse=True)[:MOST_RECENT]
        clear_layout(self._recent)
        self.recent_lines = []
        for case, file in newest:
            line = FileLine(file, look_of(file, self._history.pasts), self._theme)
            line.opened.connect(lambda chosen=file: self.list.file_wanted.emit(chosen))
            line.lost.connect(lambda of=case, chosen=file: self.list.lost.emit(of, chosen))
            self.recent_lines.append(line)
        layouts.fill(self._recent, *self.recent_lines)
        self._recent_title.setVisible(bool(newest))

    def _arrange(self) -> None:
        """Cards beside the cases where there is room, else below them; without cases they come first."""
        character = max(1, self.fontMetrics().averageCharWidth())
        characters, some = self.width() // character, bool(self._cases.cases)
        beside = some and characters >= BESIDE_CHARACTERS
        self._inside.setMaximumWidth(character * (WIDEST_CHARACTERS if beside else 150))
        self._right.setMinimumWidth(0)
        self.cards.show_in(1 if beside or characters < 90 else 2)
        if (beside, some) == self._shape:
            return
        self._shape = beside, some
        for part in (self._left, self._right):
            self._parts.removeWidget(part)
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        self._parts.setDirection(direction)
        for part in (self._left, self._right) if some else (self._right, self._left):
            self._parts.addWidget(part, (5 if part is self._left else 3) if beside else 0)
