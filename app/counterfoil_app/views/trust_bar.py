"""What a conclusion rests on, in three lines: whose order, whose key, which machine."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from counterfoil import Trust
from counterfoil_app.looks import icons, words
from counterfoil_app.looks.engine_words import translated
from counterfoil_app.looks.fonts import scaled
from counterfoil_app.looks.theme import Theme
from counterfoil_app.views import layouts
from counterfoil_app.views.parts import caption, restyle

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
            icon.setFixedSize(scaled(ICON_PIXELS), scaled(ICON_PIXELS))
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
            self._icons[place].setPixmap(icons.pixmap(look.icon, colour, scaled(ICON_PIXELS), self.devicePixelRatioF()))
            self._titles[place].setText(translated(line.title))
            self.lines[place].setText(look.word)
            self.lines[place].setAccessibleName(f"{translated(line.title)}: {look.word}")
            restyle(self.lines[place], "tone", look.tone.value)
            for widget in (self._icons[place], self._titles[place], self.lines[place]):
                widget.setToolTip(translated(line.reason))
