"""Charts for paper: painted into an image, in any thread, without a widget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QPen, QPolygonF

from counterfoil_app.looks import text

Floats = npt.NDArray[np.float64]
SCALE = 3
"""Pixels per point: 216 dots per inch on paper."""
MARGINS = (58.0, 10.0, 12.0, 30.0)
"""Left, top, right and bottom, in points, for the numbers along the axes."""
INK, GRID = "#1b1f24", "#d5dbe1"
MOST_COLUMNS = 800


@dataclass(frozen=True)
class Series:
    """One curve.

    Attributes:
        name: What it shows.
        x: Steps, ascending: float64 [n].
        y: Values: float64 [n]; those that are not finite are gaps.
        colour: As ``#rrggbb``.
        dots: Draw points instead of a line.
    """

    name: str
    x: Floats
    y: Floats
    colour: str
    dots: bool = False


def peaks(x: Floats, y: Floats, columns: int) -> tuple[Floats, Floats]:
    """Thin a curve out to the least and the greatest value of each column, so that no spike is lost.

    Args:
        x: float64 [n], ascending.
        y: float64 [n], finite.
        columns: Columns of the picture.

    Returns:
        At most two points for each column, in the order of ``x``; the curve itself when it is no longer than that.
    """
    if len(x) <= 2 * columns:
        return x, y
    edges = np.linspace(0, len(x), columns + 1).astype(int)
    chosen = []
    for first, last in pairwise(edges.tolist()):
        part = y[first:last]
        chosen += sorted({first + int(part.argmin()), first + int(part.argmax())})
    return x[chosen], y[chosen]


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers between ``low`` and ``high``: multiples of 1, 2 or 5 times a power of ten, at most ``most``."""
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    size = 10.0 ** math.floor(math.log10(span / most))
    step = next(size * factor for factor in (1, 2, 5, 10, 20) if span / (size * factor) <= most - 1)
    return [n * step for n in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def draw(series: Sequence[Series], width: float, height: float, mark: float | None, x_title: str) -> QImage:
    """Draw curves over a common x axis.

    Args:
        series: The curves; those without a finite value are left out.
        width: Width in points.
        height: Height in points.
        mark: Where to draw a dashed vertical line; None for none.
        x_title: What the x axis counts.

    Returns:
        The picture, :data:`SCALE` pixels per point.
    """
    image = QImage(round(width * SCALE), round(height * SCALE), QImage.Format.Format_RGB32)
    image.fill(QColor("#ffffff"))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(SCALE, SCALE)
    left, top, right, bottom = MARGINS
    frame = QRectF(left, top, width - left - right, height - top - bottom)
    shown = [(one, np.isfinite(one.y)) for one in series]
    shown = [(one, finite) for one, finite in shown if finite.any()]
    if shown:
        view = _view(shown)
        _draw_axes(painter, frame, view, x_title)
        painter.setClipRect(frame.adjusted(-2, -2, 2, 2))
        for one, finite in shown:
            _draw_series(painter, frame, view, one, finite)
        if mark is not None:
            painter.setPen(QPen(QColor(INK), 0.8, Qt.PenStyle.DashLine))
            at = _place(frame, view, mark, view.bottom()).x()
            painter.drawLine(QPointF(at, frame.top()), QPointF(at, frame.bottom()))
    painter.end()
    return image


def _view(shown: Sequence[tuple[Series, npt.NDArray[np.bool_]]]) -> QRectF:
    """The shown part of the plane; y grows upwards, so ``top`` is the least value."""
    xs = [value for one, _ in shown for value in (float(one.x.min()), float(one.x.max()))]
    ys = [value for one, ok in shown for value in (float(one.y[ok].min()), float(one.y[ok].max()))]
    low, high = min(ys), max(ys)
    room = 0.06 * (high - low) or max(abs(high), 1.0) * 0.5
    low = low if low == 0 else low - room  # counts stand on the axis
    return QRectF(min(xs), low, max(max(xs) - min(xs), 1.0), high + room - low)


def _place(frame: QRectF, view: QRectF, x: float, y: float) -> QPointF:
    return QPointF(
        frame.left() + (x - view.left()) / view.width() * frame.width(),
        frame.bottom() - (y - view.top()) / view.height() * frame.height(),
    )


def _draw_axes(painter: QPainter, frame: QRectF, view: QRectF, x_title: str) -> None:
    font = QFont(painter.font())
    font.setPointSizeF(7.5 * 72 / max(painter.device().logicalDpiY(), 1))  # the painter's unit is a point
    painter.setFont(font)
    for value in ticks(view.top(), view.bottom(), 5):
        y = _place(frame, view, view.left(), value).y()
        painter.setPen(QPen(QColor(GRID), 0.5))
        painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
        painter.setPen(QColor(INK))
        box = QRectF(0, y - 6, frame.left() - 5, 12)
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text.number(value))
    for value in ticks(view.left(), view.right(), 9):
        x = _place(frame, view, value, view.top()).x()
        painter.setPen(QPen(QColor(GRID), 0.5))
        painter.drawLine(QPointF(x, frame.top()), QPointF(x, frame.bottom()))
        painter.setPen(QColor(INK))
        box = QRectF(x - 40, frame.bottom() + 3, 80, 11)
        painter.drawText(box, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, text.count(round(value)))
    box = QRectF(frame.left(), frame.bottom() + 14, frame.width(), 13)
    painter.drawText(box, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, x_title)
    painter.setPen(QPen(QColor(INK), 0.7))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(frame)


def _draw_series(painter: QPainter, frame: QRectF, view: QRectF, one: Series, finite: npt.NDArray[np.bool_]) -> None:
    if one.dots:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(one.colour))
        for x, y in zip(*peaks(one.x[finite], one.y[finite], MOST_COLUMNS), strict=True):
            painter.drawEllipse(_place(frame, view, float(x), float(y)), 1.3, 1.3)
        return
    painter.setPen(QPen(QColor(one.colour), 1.1))
    # Each stretch without a gap is a line of its own.
    stretches = np.split(np.flatnonzero(finite), np.flatnonzero(np.diff(np.flatnonzero(finite)) > 1) + 1)
    for part in stretches:
        x, y = peaks(one.x[part], one.y[part], MOST_COLUMNS)
        line = QPolygonF([_place(frame, view, float(a), float(b)) for a, b in zip(x, y, strict=True)])
        painter.drawPolyline(line)
