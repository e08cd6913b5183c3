"""The numbered checks, as a list: those that passed are folded into one line."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, SignalInstance
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from counterfoil import Check, CheckNumber, CheckState
from counterfoil_app.looks import icons, text, words
from counterfoil_app.looks.engine_words import translated
from counterfoil_app.looks.fonts import scaled
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.model.hearing import Hearing
from counterfoil_app.model.session import Session
from counterfoil_app.model.turns import follow
from counterfoil_app.views import layouts
from counterfoil_app.views.parts import caption, label, show_icon

ICON_PIXELS = 16
GAP_PIXELS = 8
"""Between two checks."""


class CheckRow(QWidget):
    """One check: a mark, what it asks, and what was found."""

    def __init__(self, number: CheckNumber, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.icon = QLabel()
        self.icon.setFixedSize(scaled(ICON_PIXELS), self.fontMetrics().height())
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
        self.detail.setText("" if quiet else f"{word}. {translated(check.detail)}".strip())
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
        self.passed.setIconSize(QSize(scaled(ICON_PIXELS), scaled(ICON_PIXELS)))
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
        self.passed.setToolTip(self.tr("Fold the passed checks") if unfolded else self.tr("Show the passed checks"))
