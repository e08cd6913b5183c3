"""The digest card: what names an order, to be compared by people, read by a telephone, printed or kept as a text."""

from __future__ import annotations

import html
from dataclasses import dataclass
from datetime import date

import segno
from PySide6.QtCore import QSizeF, Qt, QUrl
from PySide6.QtGui import QColor, QImage, QPixmap, QTextDocument
from PySide6.QtPrintSupport import QPrinter
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from counterfoil import OrderWritten, group_digits
from counterfoil_app.looks import text
from counterfoil_app.looks.fonts import MONO, TEXT, fixed_font, scale
from counterfoil_app.looks.language import texts
from counterfoil_app.views import layouts
from counterfoil_app.views.parts import Field, FieldGrid, caption, label

QUIET = 4
"""White modules around a QR code, as its standard asks."""
CODE_PIXELS = 148
LINE_GROUPS = 4
"""Groups of four digits in a line of the digest."""
PRINTED_PIXELS = 400

_tr = texts("digest_card")


@dataclass(frozen=True)
class Card:
    """What stands on a card."""

    order: OrderWritten  #: What was written.
    command: str  #: The command line that orders the same.
    day: date  #: The day on which it was.

    @property
    def digest_lines(self) -> list[str]:
        """The order digest in groups of four digits, four in a line."""
        groups = group_digits(self.order.digest).split(" ")
        return [" ".join(groups[place : place + LINE_GROUPS]) for place in range(0, len(groups), LINE_GROUPS)]

    def lines(self) -> list[tuple[str, str]]:
        """What the order is, as names and values."""
        order = self.order
        steps = _tr("{0} steps of {1} rows").format(text.count(order.steps), text.count(order.batch_size))
        if order.shares:
            steps = _tr("{0}, in {1} shares each").format(steps, text.count(order.shares))
        return [
            (_tr("Order"), order.title),
            (_tr("Training"), steps),
            (_tr("Optimizer"), order.optimizer),
            (_tr("Seed"), str(order.seed)),
            (_tr("Precision profile"), order.profile),
            (_tr("Data"), "; ".join(order.data)),
            (_tr("Day"), self.day.isoformat()),
        ]

    def as_text(self) -> str:
        """The card as a plain text."""
        named = [f"{name}: {value}" for name, value in self.lines()]
        digest = [_tr("Order digest (SHA-256)"), *self.digest_lines]
        command = [_tr("The same order by the command line:"), self.command]
        return "\n".join([_tr("Counterfoil order"), "", *digest, "", *named, "", *command, "", _meaning(), ""])

    def document(self) -> QTextDocument:
        """The card to be printed, on a page of its own."""
        document = QTextDocument()
        document.setPageSize(QSizeF(640, 900))
        document.addResource(
            QTextDocument.ResourceType.ImageResource.value,
            QUrl("card:code"),
            qr_code(self.order.digest, PRINTED_PIXELS),
        )
        rows = "".join(
            f"<tr><td style='padding-right:14px'>{html.escape(name)}</td><td>{html.escape(value)}</td></tr>"
            for name, value in self.lines()
        )
        digest = "<br/>".join(html.escape(line) for line in self.digest_lines)
        document.setHtml(
            f"<body style=\"font-family:'{TEXT}'; color:black\">"
            f"<h1>{html.escape(_tr('Counterfoil order'))}</h1><p>{html.escape(_tr('Order digest (SHA-256)'))}</p>"
            f"<p style=\"font-family:'{MONO}'; font-size:16px\">{digest}</p><img src='card:code' width='180'/>"
            f"<table>{rows}</table><p>{html.escape(_tr('The same order by the command line:'))}</p>"
            f"<p style=\"font-family:'{MONO}'\">{html.escape(self.command)}</p><p>{html.escape(_meaning())}</p></body>"
        )
        return document


def print_card(card: Card, printer: QPrinter) -> None:
    """Print a card."""
    card.document().print_(printer)


def qr_code(content: str, pixels: int) -> QImage:
    """The QR code of a text, of error correction M, black on white with the margin that readers need.

    Args:
        content: The text.
        pixels: About how large; it is a whole number of pixels for each module.
    """
    rows = [list(row) for row in segno.make(content, error="m", micro=False).matrix]
    side = len(rows) + 2 * QUIET
    image = QImage(side, side, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    for y, row in enumerate(rows):
        for x, dark in enumerate(row):
            if dark:
                image.setPixelColor(x + QUIET, y + QUIET, QColor("black"))
    whole = max(1, round(pixels / side)) * side
    return image.scaled(whole, whole)


def _meaning() -> str:
    return _tr(
        "Whoever holds an order file with this digest holds this order: data, program, steps, seed, weights. "
        "The trainer's run names the same digest, and the verdict does."
    )


class CardView(QFrame):
    """Shows a card."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("quotation")
        self.digest = label("", "title", wrap=False)
        font = fixed_font()
        font.setPointSizeF(font.pointSizeF() * 1.15)
        self.digest.setFont(font)
        self.digest.setAccessibleName(self.tr("Order digest"))
        self.code = QLabel()
        self.code.setAccessibleName(self.tr("QR code of the order digest"))
        self.fields = FieldGrid()
        said = layouts.column(
            caption(self.tr("Order digest (SHA-256)"), "muted"), self.digest, self.fields, 1, spacing=6
        )
        layouts.row(
            (said, 1), (self.code, 0, Qt.AlignmentFlag.AlignTop), inside=self, margins=(14, 10, 10, 10), spacing=16
        )

    def show_card(self, card: Card) -> None:
        """Show a card."""
        self.digest.setText("\n".join(card.digest_lines))
        self.fields.show_fields([Field(name, value) for name, value in card.lines()])
        self.code.setPixmap(QPixmap.fromImage(qr_code(card.order.digest, scale(CODE_PIXELS))))
