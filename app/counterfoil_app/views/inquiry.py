"""The frame of a dialog about one question to the engine: what came out, how far it is, a page, buttons."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from counterfoil_app.looks import icons
from counterfoil_app.looks.fonts import scaled
from counterfoil_app.looks.theme import Theme
from counterfoil_app.looks.words import Look
from counterfoil_app.model.inquiry import Inquiry, Seen
from counterfoil_app.views.frame import fit_to_screen
from counterfoil_app.views.parts import Page, label, restyle
from counterfoil_app.views.trust_bar import TrustBar

ICON_PIXELS = 36


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
        self.icon = QLabel()
        self.headline = label("", "title")
        self.sentence = label()
        self.trust = TrustBar(theme)
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
        top, column_of_words = QHBoxLayout(), QVBoxLayout()
        top.setSpacing(12)
        top.addWidget(self.icon)
        column_of_words.addWidget(self.headline)
        column_of_words.addWidget(self.sentence)
        top.addLayout(column_of_words, 1)
        top.addWidget(self.trust, 0, Qt.AlignmentFlag.AlignTop)
        row = QHBoxLayout()
        row.addWidget(choose)
        row.addStretch(1)
        for button in buttons:
            _hold_width(button)
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setSpacing(12)
        column.addLayout(top)
        column.addWidget(self.notice)
        column.addWidget(self.progress)
        column.addWidget(page, 1)
        column.addLayout(row)
        self._inquiry.changed.connect(self.refresh)
        self._theme.changed.connect(self.refresh)
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

    def show_headline(self, look: Look, sentence: str) -> None:
        """Show in a word and a sentence what came out."""
        colour = self._theme.tokens.tone(look.tone)
        self.icon.setPixmap(icons.pixmap(look.icon, colour, scaled(ICON_PIXELS), self.devicePixelRatioF()))
        self.icon.setAccessibleName(look.word)
        self.headline.setText(look.word)
        self.sentence.setText(sentence)


def _hold_width(button: QPushButton) -> None:
    """Give a button the room that it takes when it is marked as the obvious one, so that nothing moves for that."""
    marked = button.property("primary")
    widths = []
    for primary in (True, False):
        restyle(button, "primary", primary)
        widths.append(button.sizeHint().width())
    restyle(button, "primary", marked)
    button.setMinimumWidth(max(widths))
