"""The parts of the disputed step in a row: its shares, their combination, the update; the one that lies is marked."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from counterfoil import Dispute
from counterfoil_app.looks import text, words
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.looks.tips import plain

HEIGHT = 30
GAP = 3
LEAST_CELL = 12.0
"""Pixels of the narrowest share that is drawn by itself; more shares than fit are drawn without gaps."""
LAST_PARTS = ("combine", "update")


@dataclass(frozen=True)
class Part:
    """A part of the disputed step."""

    name: str  #: Its name in the engine: ``share 0`` and so on, ``combine``, ``update``.
    tone: Tone  #: What is known of it: as signed, another, or not judged because one before it differs.
    says: str  #: That in words.


class ShareStrip(QWidget):
    """Shows nothing where the step has no shares.

    The part that differs is filled and carries its name, those before it are outlined with a check mark's colour, those
    behind it are dotted: nothing rests on colour.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._parts: tuple[Part, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setVisible(False)
        theme.changed.connect(self.update)

    @property
    def parts(self) -> tuple[Part, ...]:
        """What is shown."""
        return self._parts

    def show_dispute(self, dispute: Dispute | None, shares: int) -> None:
        """Show the parts of the disputed step of a run whose steps have so many shares."""
        self._parts = () if dispute is None or not dispute.part or not shares else self._of(dispute, shares)
        self.setVisible(bool(self._parts))
        found = next((part for part in self._parts if part.tone in (Tone.BAD, Tone.WARN)), None)
        self.setAccessibleName("" if found is None else f"{words.step_part(found.name)}: {found.says}")
        self.update()

    def _of(self, dispute: Dispute, shares: int) -> tuple[Part, ...]:
        names = [*(f"share {share}" for share in range(shares)), *LAST_PARTS]
        place = names.index(dispute.part) if dispute.part in names else 0
        differs = Tone.BAD if dispute.accuses else Tone.WARN
        found = []
        for number, name in enumerate(names):
            if number < place:
                found.append(Part(name, Tone.OK, self.tr("as the trainer signed it")))
            elif number == place:
                found.append(Part(name, differs, self.tr("differs from what the trainer signed")))
            else:
                found.append(Part(name, Tone.MUTED, self.tr("not judged: a part before it differs")))
        return tuple(found)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As wide as there is room."""
        return QSize(400, HEIGHT)

    def cells(self) -> list[QRectF]:
        """Where each part is drawn; the last two, which have names, are wider than shares."""
        if not self._parts:
            return []
        metrics = self.fontMetrics()
        wide = [metrics.horizontalAdvance(words.step_part(name)) + 16 for name in LAST_PARTS]
        shares = len(self._parts) - len(LAST_PARTS)
        room = max(1.0, self.width() - sum(wide) - GAP * len(LAST_PARTS))
        one = min(room / shares, metrics.horizontalAdvance(words.step_part(f"share {shares}")) + 16.0)
        gap = GAP if one >= LEAST_CELL else 0
        found = [QRectF(share * one, 2, max(1.0, one - gap), HEIGHT - 4) for share in range(shares)]
        left = shares * one
        for width in wide:
            found.append(QRectF(left + GAP, 2, width, HEIGHT - 4))
            left += width + GAP
        return found

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw a cell for each part."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens = self._theme.tokens
        for part, cell in zip(self._parts, self.cells(), strict=True):
            marked = part.tone in (Tone.BAD, Tone.WARN)
            pen = QPen(QColor(tokens.border if part.tone is Tone.MUTED else tokens.tone(part.tone)), 2 if marked else 1)
            if part.tone is Tone.MUTED:
                pen.setStyle(Qt.PenStyle.DotLine)
            painter.setPen(pen)
            painter.setBrush(QColor(tokens.tint(part.tone)))
            painter.drawRoundedRect(cell.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
            name = self._short(part, cell)
            if name:
                painter.setPen(QColor(tokens.tone(part.tone) if marked else tokens.text))
                painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, name)
        painter.end()

    def _short(self, part: Part, cell: QRectF) -> str:
        """The name of a part where it fits its cell; a share's number, or nothing, where it does not."""
        share = part.name.removeprefix("share ")
        for name in (words.step_part(part.name), text.count(int(share)) if share.isdecimal() else ""):
            if self.fontMetrics().horizontalAdvance(name) + 6 <= cell.width():
                return name
        return ""

    def event(self, event: QEvent) -> bool:
        """Say in a tip what is known of the part under the pointer."""
        if isinstance(event, QHelpEvent):
            for part, cell in zip(self._parts, self.cells(), strict=True):
                if cell.contains(event.pos().toPointF()):
                    QToolTip.showText(event.globalPos(), plain(f"{words.step_part(part.name)}: {part.says}"), self)
                    return True
            QToolTip.hideText()
            return True
        return super().event(event)
