"""What was said of a verdict after it was signed, in the words of those who said it."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFrame, QWidget

from counterfoil import Afterwards
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import translated
from counterfoil_app.looks.theme import Tone
from counterfoil_app.views import layouts
from counterfoil_app.views.parts import Field, FieldGrid, caption, clear_layout, label, tell


def _tr(source: str) -> str:
    return QCoreApplication.translate("later", source)


class Quotation(QFrame):
    """A text of somebody else's, as plain text behind a bar, so that nothing in it looks like ours.

    Args:
        who: Who said it, and when.
        words: The text; its lines are of visible characters.
    """

    def __init__(self, who: str, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("quotation")
        self.who = caption(who, "heading")
        self.words = label(words)
        layouts.column(self.who, self.words, inside=self, margins=(12, 6, 8, 6), spacing=4)


class SaidLater(QWidget):
    """Withdrawals by the auditor, replies of the trainer, and what does not count, in this order."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = layouts.column(inside=self, margins=(0, 0, 0, 8), spacing=8)
        self.quotations: list[Quotation] = []
        self.hide()

    def show_later(self, later: Afterwards) -> None:
        """Show statements, whose texts were made plain before."""
        clear_layout(self._column)
        self.quotations = []
        for one in later.withdrawals:
            who = _tr("The auditor took this verdict back on {0}, by the auditor's clock. The auditor's reason:")
            self._quote(who.format(text.moment(one.signed_at)), one.reason)
            if one.superseded_by is not None:
                instead = FieldGrid()
                instead.show_fields([Field(_tr("In its place"), one.superseded_by.hex, exact=True)])
                instead.setToolTip(_tr("SHA-256 of what is signed in the other verdict"))
                self._column.addWidget(instead)
        for reply in later.replies:
            who = _tr("Reply of the trainer who signed the run, on {0} by the trainer's clock:")
            self._quote(who.format(text.moment(reply.signed_at)), reply.text)
        for sentence in later.ignored:
            notice = label("", "notice")
            tell(notice, translated(sentence), Tone.WARN)
            self._column.addWidget(notice)
        self.setVisible(later != Afterwards())

    def _quote(self, who: str, words: str) -> None:
        quotation = Quotation(who, words)
        self.quotations.append(quotation)
        self._column.addWidget(quotation)
