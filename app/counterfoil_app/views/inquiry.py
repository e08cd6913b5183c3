"""The frame of a dialog about one question to the engine: what came out, how far it is, a page, buttons."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from counterfoil_app.looks.theme import Theme
from counterfoil_app.looks.words import Look
from counterfoil_app.model.inquiry import Inquiry, Seen
from counterfoil_app.model.turns import follow
from counterfoil_app.views import layouts
from counterfoil_app.views.checks import TrustBar
from counterfoil_app.views.frame import fit_to_screen
from counterfoil_app.views.parts import Page, label, restyle, show_icon

ICON_PIXELS = 36


class Headline(QHBoxLayout):
    """What came out, in a word and a sentence with an icon, and what it rests on."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.icon = QLabel()
        self.word = label("", "title")
        self.sentence = label()
        self.trust = TrustBar(theme)
        said = layouts.column(self.word, self.sentence)
        layouts.fill(self, self.icon, (said, 1), (self.trust, 0, Qt.AlignmentFlag.AlignTop), spacing=12)

    def show_look(self, look: Look, sentence: str) -> None:
        """Show what came out."""
        show_icon(self.icon, look, self._theme, ICON_PIXELS)
        self.word.setText(look.word)
        self.sentence.setText(sentence)


class InquiryDialog(QDialog):
    """One inquiry; it is stopped when the dialog is closed.

    Args:
        inquiry: The inquiry.
        theme: The theme of the application.
        size: Width and height on a screen that has the room.
    """

    def __init__(
        self, inquiry: Inquiry[Seen], theme: Theme, size: tuple[int, int], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        fit_to_screen(self, QSize(*size))
        self._inquiry = inquiry
        self._theme = theme
        self.top = Headline(theme)
        self.headline, self.sentence, self.trust = self.top.word, self.top.sentence, self.top.trust
        self.notice = label("", "notice")
        self.progress = QProgressBar()
        self.progress.setRange(0, 1000)

    def arrange(self, page: Page, choose: QPushButton, buttons: Sequence[QPushButton]) -> None:
        """Lay everything out, refresh it, and keep it fresh.

        Args:
            page: What was found.
            choose: The button on the left: what the inquiry is to be compared with.
            buttons: Those on the right.
        """
        for button in buttons:
            _hold_width(button)
        below = layouts.row(choose, 1, *buttons)
        layouts.column(self.top, self.notice, self.progress, (page, 1), below, inside=self, spacing=12)
        follow(self.refresh, self._inquiry.changed, self._theme.changed)
        self.refresh()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """Stop what goes on."""
        self._inquiry.stop()
        super().closeEvent(event)

    def reject(self) -> None:
        """Stop what goes on, and close."""
        self._inquiry.stop()
        super().reject()

    def refresh(self) -> None:
        """Show where the inquiry stands."""
        raise NotImplementedError


def _hold_width(button: QPushButton) -> None:
    """Give a button the room that it takes when it is marked as the obvious one, so that nothing moves for that."""
    marked = button.property("primary")
    widths = []
    for primary in (True, False):
        restyle(button, "primary", primary)
        widths.append(button.sizeHint().width())
    restyle(button, "primary", marked)
    button.setMinimumWidth(max(widths))
