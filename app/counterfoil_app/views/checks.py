"""What a conclusion rests on: whose order, whose key, which machine, and the numbered checks."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, SignalInstance
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
        self._trust: Trust | None = None
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

    def show_trust(self, trust: Trust | None) -> None:
        """Show what a conclusion rests on; None hides the bar."""
        self.setVisible(trust is not None)
        if trust != self._trust:
            self._trust = trust
            self._draw()

    def _draw(self) -> None:
        if self._trust is None:
            return
        for place, line in enumerate(self._trust.lines):
            look = words.trust(line)
            colour = self._theme.tokens.tone(look.tone)
            self._icons[place].setPixmap(icons.pixmap(look.icon, colour, scale(ICON_PIXELS), self.devicePixelRatioF()))
            self._titles[place].setText(translate(line.title))
            self.lines[place].setText(look.word)
            self.lines[place].setAccessibleName(f"{translate(line.title)}: {look.word}")
            restyle(self.lines[place], "tone", look.tone.value)
            for widget in (self._icons[place], self._titles[place], self.lines[place]):
                set_tip(widget, translate(line.reason))


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
