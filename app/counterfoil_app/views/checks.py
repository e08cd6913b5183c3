"""What a conclusion rests on: whose order, whose key, which machine, and the numbered checks."""

from __future__ import annotations

from enum import Enum
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal, SignalInstance
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from counterfoil import Check, CheckNumber, CheckState, Trust
from counterfoil_app.looks import icons, text, words
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.inquiry import Hearing
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts
from counterfoil_app.views.parts import caption, label, restyle, show_icon

ICON_PIXELS = 16
LINES = 3


class TrustBar(QWidget):
    """Order, trainer and machine, each with an icon and in words; what follows from each is in its tool tip.

    Args:
        theme: Colours icons and words.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: tuple[Trust | None, str] = (None, "")
        self.setAccessibleName(self.tr("What this rests on"))
        grid = layouts.grid(inside=self, across=7, down=1, stretch=2)
        grid.setContentsMargins(*layouts.NONE)
        self._icons, self._titles, self.lines = [], [], []
        for row in range(LINES):
            icon, title, line = QLabel(), caption("", "muted", wrap=False), caption("", "trust", wrap=False)
            icon.setFixedSize(scale(ICON_PIXELS), scale(ICON_PIXELS))
            for column, widget in enumerate((icon, title, line)):
                grid.addWidget(widget, row, column, Qt.AlignmentFlag.AlignVCenter)
            self._icons.append(icon)
            self._titles.append(title)
            self.lines.append(line)
        theme.changed.connect(self._draw)
        self.hide()

    def show_trust(self, trust: Trust | None, trainer: str = "") -> None:
        """Show what a conclusion rests on; None hides the bar. ``trainer`` is the name that the reader has given."""
        self.setVisible(trust is not None)
        if (trust, trainer) != self._shown:
            self._shown = trust, trainer
            self._draw()

    def _draw(self) -> None:
        trust, trainer = self._shown
        if trust is None:
            return
        for place, (line, look) in enumerate(words.trust(trust, trainer)):
            colour = self._theme.tokens.tone(look.tone)
            self._icons[place].setPixmap(icons.pixmap(look.icon, colour, scale(ICON_PIXELS), self.devicePixelRatioF()))
            self._titles[place].setText(translate(line.title))
            self.lines[place].setText(look.word)
            self.lines[place].setAccessibleName(f"{translate(line.title)}: {look.word}")
            restyle(self.lines[place], "tone", look.tone.value)
            for widget in (self._icons[place], self._titles[place], self.lines[place]):
                set_tip(widget, translate(line.reason))


CHIP_PIXELS = 42
"""Beside icon and words of a button: its padding, its border, and the gap to the next."""


class Door(Enum):
    """What a conclusion rests on, each of which opens what shows or mends it."""

    ORDER = 0
    TRAINER = 1
    MACHINE = 2


class TrustDoors(QWidget):
    """Order, trainer and machine, each a button with an icon and words; what follows from each is in its tool tip.

    Args:
        theme: Colours icons and words.
    """

    opened = Signal(Door)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: tuple[Trust | None, str] = (None, "")
        self._said = dict.fromkeys(Door, "")
        self._in_words = True
        self.setAccessibleName(self.tr("What this rests on"))
        self.doors = {door: QPushButton() for door in Door}
        for door, button in self.doors.items():
            button.setProperty("chip", True)
            button.setIconSize(QSize(scale(ICON_PIXELS), scale(ICON_PIXELS)))
            button.clicked.connect(partial(self._open, door))
        layouts.row(*self.doors.values(), inside=self, margins=layouts.NONE, spacing=6)
        theme.changed.connect(self._draw)
        self.hide()

    def show_trust(self, trust: Trust | None, trainer: str = "") -> None:
        """Show what a conclusion rests on; None hides the bar.

        Args:
            trust: What it rests on.
            trainer: Name that the reader has given the trainer's key; empty for none.
        """
        self.setVisible(trust is not None)
        if (trust, trainer) != self._shown:
            self._shown = trust, trainer
            self._draw()

    @property
    def words_width(self) -> int:
        """How wide it is when each says in words how it stands."""
        metrics = self.fontMetrics()
        around = scale(ICON_PIXELS) + CHIP_PIXELS
        return sum(metrics.horizontalAdvance(said) + around for said in self._said.values())

    def use_words(self, in_words: bool) -> None:
        """Show words beside the icons, or where there is no room for them icons alone."""
        if in_words != self._in_words:
            self._in_words = in_words
            self._draw()

    def _open(self, door: Door, _checked: bool = False) -> None:
        self.opened.emit(door)

    def _draw(self) -> None:
        trust, trainer = self._shown
        if trust is None:
            return
        for (door, button), (line, look) in zip(self.doors.items(), words.trust(trust, trainer), strict=True):
            said = self.tr("{0}: {1}").format(translate(line.title), look.word)
            button.setIcon(icons.icon(look.icon, self._theme.tokens.tone(look.tone)))
            self._said[door] = said
            button.setText(said.replace("&", "&&") if self._in_words else "")
            button.setAccessibleName(said)
            restyle(button, "tone", look.tone.value)
            set_tip(button, f"{said}. {translate(line.reason)}".strip())


GAP_PIXELS = 8
"""Between two checks."""


class CheckRow(QWidget):
    """One check: a mark, what it asks, and what was found."""

    def __init__(self, number: CheckNumber, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.icon = QLabel()
        self.icon.setFixedSize(scale(ICON_PIXELS), self.fontMetrics().height())
        self.title = caption(words.check_title(number))
        self.detail = label("", "muted")
        grid = layouts.grid(inside=self, across=GAP_PIXELS, down=0)
        grid.setContentsMargins(*layouts.NONE)
        grid.addWidget(self.icon, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.title, 0, 1)
        grid.addWidget(self.detail, 1, 1)

    def show_check(self, check: Check, theme: Theme) -> None:
        """Show where the check stands, in a word, an icon and a sentence."""
        look = words.check(check)
        show_icon(self.icon, look, theme, ICON_PIXELS, tip=True)
        word = look.word[:1].upper() + look.word[1:]
        quiet = check.state is CheckState.PENDING and not check.detail
        self.detail.setText("" if quiet else f"{word}. {translate(check.detail)}".strip())
        self.detail.setVisible(not quiet)


class ChecksList(QWidget):
    """The checks of an audit or an adjudication; a button says how many passed, and unfolds them.

    Args:
        held: Knows where each check stands.
        changed: Tells when it knows more.
        theme: The theme of the application.
    """

    def __init__(
        self, held: Session | Hearing, changed: SignalInstance, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._held = held
        self._theme = theme
        self.passed = QPushButton()
        self.passed.setProperty("fold", True)
        self.passed.setCheckable(True)
        self.passed.setIconSize(QSize(scale(ICON_PIXELS), scale(ICON_PIXELS)))
        self.rows = {number: CheckRow(number) for number in CheckNumber}
        top = (self.passed, 0, Qt.AlignmentFlag.AlignLeft)
        layouts.column(top, *self.rows.values(), inside=self, margins=(0, 2, 0, 2), spacing=GAP_PIXELS)
        follow(self.refresh, self.passed.toggled, changed, theme.changed)
        self.refresh()

    def refresh(self) -> None:
        """Show where every check stands."""
        checks, unfolded = self._held.checks, self.passed.isChecked()
        passed = sum(check.state is CheckState.PASSED for check in checks.values())
        for number, row in self.rows.items():
            row.show_check(checks[number], self._theme)
            row.setVisible(unfolded or checks[number].state is not CheckState.PASSED)
        self.passed.setVisible(passed > 0)
        self.passed.setIcon(icons.icon("passed", self._theme.tokens.tone(Tone.OK)))
        said = self.tr("{0} of {1} passed").format(text.count(passed), text.count(len(checks)))
        arrow = "\u25be" if unfolded else "\u25b8"
        self.passed.setText(f"{said}  {arrow}")
        self.passed.setAccessibleName(said)
        set_tip(self.passed, self.tr("Fold the passed checks") if unfolded else self.tr("Show the passed checks"))
