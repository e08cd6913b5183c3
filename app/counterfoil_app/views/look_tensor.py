"""A tensor of both sides: what would change, how the values are spread, how far they lie apart, and which the most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from counterfoil import ElementComparison, TensorSides
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Theme
from counterfoil_app.looks.tips import plain
from counterfoil_app.views import layouts
from counterfoil_app.views.parts import caption, label
from counterfoil_app.views.tables import Column, RecordTable, fit_height, table_view

HEIGHT = 120
GAP = 2.0


@dataclass(frozen=True)
class Bar:
    """One bin: its name, how many elements of each side lie in it, and what stands below it."""

    name: str  #: What the bin is, for its tip.
    counts: tuple[int, ...]  #: How many elements, of one side or of both.
    below: str = ""  #: What stands below it; empty for nothing.


class Bars(QWidget):
    """Bars beside each other, in pairs where there are two sides: the trainer's is hatched, the replay's filled.

    Args:
        theme: The theme of the application.
        sides: The names of the sides; one, or two.
        logarithmic: Whether the heights are logarithms: one element among a million is still seen.
        name: What is shown.
    """

    def __init__(self, theme: Theme, sides: Sequence[str], name: str, *, logarithmic: bool) -> None:
        super().__init__()
        self._theme = theme
        self._sides = tuple(sides)
        self._logarithmic = logarithmic
        self._bars: tuple[Bar, ...] = ()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_bars(self, bars: Sequence[Bar]) -> None:
        """Show these."""
        self._bars = tuple(bars)
        said = [f"{bar.name}: {' / '.join(map(text.count, bar.counts))}" for bar in self._bars if any(bar.counts)]
        self.setAccessibleDescription("; ".join(said))
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As wide as there is room."""
        return QSize(300, scale(HEIGHT) + 2 * self.fontMetrics().height() + 8)

    def cells(self) -> list[QRectF]:
        """The room of each bar, from the line below it to the highest."""
        if not self._bars:
            return []
        wide, top = self.width() / len(self._bars), self.fontMetrics().height() + 4.0
        return [QRectF(number * wide, top, wide, scale(HEIGHT)) for number in range(len(self._bars))]

    def _height(self, count: int) -> float:
        most = max((max(bar.counts) for bar in self._bars), default=0)
        if not most or not count:
            return 0.0
        share = np.log1p(count) / np.log1p(most) if self._logarithmic else count / most
        return max(2.0, float(share) * scale(HEIGHT))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the bars, what stands below them, and the legend."""
        painter = QPainter(self)
        tokens = self._theme.tokens
        line = self.fontMetrics().height()
        for bar, cell in zip(self._bars, self.cells(), strict=True):
            each = (cell.width() - GAP) / len(bar.counts)
            for side, count in enumerate(bar.counts):
                if not count:
                    continue
                height = self._height(count)
                place = QRectF(cell.left() + side * each, cell.bottom() - height, max(1.0, each), height)
                self._draw_bar(painter, place, side)
            if len(bar.counts) == 1 and bar.counts[0]:
                painter.setPen(QColor(tokens.text))
                above = QRectF(
                    cell.left() - 20, cell.bottom() - self._height(bar.counts[0]) - line, cell.width() + 40, line
                )
                painter.drawText(above, int(Qt.AlignmentFlag.AlignCenter), text.count(bar.counts[0]))
            if bar.below:
                painter.setPen(QColor(tokens.muted))
                self._draw_below(painter, bar.below, cell, line)
        painter.setPen(QPen(QColor(tokens.border), 1))
        bottom = self.cells()[0].bottom() if self._bars else 0.0
        painter.drawLine(0, int(bottom), self.width(), int(bottom))
        self._draw_legend(painter, line)
        painter.end()

    def _draw_below(self, painter: QPainter, said: str, cell: QRectF, line: int) -> None:
        width = self.fontMetrics().horizontalAdvance(said) + 2.0
        left = min(max(0.0, cell.center().x() - width / 2), self.width() - width)
        painter.drawText(QRectF(left, cell.bottom() + 2, width, line), int(Qt.AlignmentFlag.AlignCenter), said)

    def _draw_bar(self, painter: QPainter, place: QRectF, side: int) -> None:
        tokens = self._theme.tokens
        trainer = side == 0 and len(self._sides) > 1
        colour = QColor(tokens.trainer if trainer else tokens.replay)
        painter.fillRect(place, QBrush(colour, Qt.BrushStyle.BDiagPattern) if trainer else colour)
        if trainer and place.width() > 2:
            painter.setPen(QPen(colour, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(place.adjusted(0.5, 0.5, -0.5, -0.5))

    def _draw_legend(self, painter: QPainter, line: int) -> None:
        if len(self._sides) == 1:
            return
        left, side = 0.0, scale(10)
        for number, name in enumerate(self._sides):
            self._draw_bar(painter, QRectF(left, (line - side) / 2, 2 * side, side), number)
            left += 2 * side + 6
            painter.setPen(QColor(self._theme.tokens.muted))
            painter.drawText(QRectF(left, 0, self.width(), line), int(Qt.AlignmentFlag.AlignVCenter), name)
            left += self.fontMetrics().horizontalAdvance(name) + 2 * side

    def event(self, event: QEvent) -> bool:
        """Say in a tip what is in the bin under the pointer."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            for bar, cell in zip(self._bars, self.cells(), strict=True):
                if cell.left() <= event.pos().x() < cell.right():
                    each = " / ".join(map(text.count, bar.counts))
                    QToolTip.showText(event.globalPos(), plain(f"{bar.name}: {each}"), self)
            return True
        return super().event(event)


class TensorView(QWidget):
    """Hidden until there is a tensor."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: TensorSides | None = None
        self.said = label()
        self._above_values = caption(self.tr("How the values are spread"), "section")
        self.values = Bars(
            theme,
            (self.tr("Trainer"), self.tr("Replay")),
            self.tr("Histogram of the values of both sides"),
            logarithmic=False,
        )
        self._above_ulps = caption(
            self.tr("How far the two sides lie apart, in units in the last place (heights are logarithms)"), "section"
        )
        self.ulps = Bars(theme, ("",), self.tr("Histogram of the distances"), logarithmic=True)
        self.above_elements = caption("", "section")
        self.elements: RecordTable[ElementComparison] = RecordTable(self._columns(), theme, self)
        self.table = table_view(self.elements, self.tr("The elements that lie farthest apart"))
        column = layouts.column(self.said, self._above_values, self.values, inside=self, margins=layouts.NONE)
        layouts.fill(column, self._above_ulps, self.ulps, self.above_elements, self.table)

    def show_tensor(self, found: TensorSides | None) -> None:
        """Show a tensor; None hides the view."""
        self.setVisible(found is not None)
        if found is None or found is self._shown:
            self._shown = found
            return
        self._shown = found
        self.said.setText("\n".join(map(translate, found.said)))
        self.values.show_bars(self._value_bars(found))
        self.ulps.show_bars(ulp_bars(found.ulp_bins.tolist(), self.tr("equal")))
        records = [
            ElementComparison(tuple(index), trainer, replay, ulps, trainer == replay)
            for index, trainer, replay, ulps in zip(
                found.indices.tolist(), found.trainer.tolist(), found.replay.tolist(), found.ulps.tolist(), strict=True
            )
        ]
        self.elements.show_records(records)
        fit_height(self.table)
        for widget in (self.above_elements, self.table):
            widget.setVisible(bool(records))
        said = self.tr("The {0} of {1} differing elements that lie farthest apart")
        self.above_elements.setText(said.format(text.count(len(records)), text.count(found.differing)))

    def _value_bars(self, found: TensorSides) -> list[Bar]:
        edges = found.edges.tolist()
        last = len(edges) - 2
        return [
            Bar(
                self.tr("{0} to {1}").format(text.number(edges[place]), text.number(edges[place + 1])),
                (int(trainer), int(replay)),
                text.number(edges[0]) if place == 0 else text.number(edges[-1]) if place == last else "",
            )
            for place, (trainer, replay) in enumerate(
                zip(found.trainer_bins.tolist(), found.replay_bins.tolist(), strict=True)
            )
        ]

    def _columns(self) -> list[Column[ElementComparison]]:
        return [
            Column(self.tr("Element"), lambda item: text.index(item.index), 16),
            Column(self.tr("Trainer"), lambda item: text.exact(item.trainer), 16, numeric=True),
            Column(self.tr("Replay"), lambda item: text.exact(item.replay), 16, numeric=True),
            Column(self.tr("ulps"), lambda item: text.count(item.ulps), 14, numeric=True),
            Column(self.tr("Trainer, exactly"), lambda item: text.hexadecimal(item.trainer), 18, fixed=True),
            Column(self.tr("Replay, exactly"), lambda item: text.hexadecimal(item.replay), 18, fixed=True),
        ]


def ulp_bars(counts: Sequence[int], equal: str) -> list[Bar]:
    """The bars of distances: none, 1, 2 to 3, 4 to 7 and so on."""
    bars = []
    for power, count in enumerate(counts):
        low, high = 2 ** (power - 1) if power else 0, 2**power - 1
        name = equal if not power else text.count(low) if low == high else f"{text.count(low)}\u2013{text.count(high)}"
        below = "=" if not power else f"2{_raised(power - 1)}"
        bars.append(Bar(name, (count,), below))
    return bars


def _raised(number: int) -> str:
    return str(number).translate(
        str.maketrans("0123456789", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
    )
