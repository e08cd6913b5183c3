"""Charts for paper: painted into an image by pyqtgraph, on a canvas that nobody sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from counterfoil_app.looks.fonts import TEXT
from counterfoil_app.views.axes import NumberAxis, StepAxis

Floats = npt.NDArray[np.float64]
SCALE = 3
"""Pixels of the picture per pixel on paper, of which an inch has 96."""
MARGINS = (76.0, 12.0, 18.0, 46.0)
"""Left, top, right and bottom, for the numbers along the axes and their names."""
TEXT_PIXELS = 11
PAPER, INK = "#ffffff", "#1b1f24"
GRID_ALPHA = 0.15
MOST_GAPS = 100
LEAST_PLACES = 100
"""At how many places at least a curve as wide as the picture is drawn."""
FEW = 6
"""Up to this many of a thing the axis would have fractions between the whole numbers."""


@dataclass(frozen=True)
class Series:
    """One curve."""

    name: str  #: What it shows.
    x: Floats  #: Steps, ascending: float64 [n].
    y: Floats  #: Values: float64 [n]; those that are not finite are gaps.
    colour: str  #: As ``#rrggbb``.
    dots: bool = False  #: Draw points instead of a line.


def draw(
    series: Sequence[Series],
    width: float,
    height: float,
    mark: float | None,
    x_title: str,
    y_title: str = "",
    *,
    counts: bool = False,
) -> QImage:
    """Draw curves over a common x axis; in the main thread, and with a QApplication.

    Args:
        series: The curves; those without a finite value are left out.
        width: Width in pixels on paper.
        height: Height in pixels on paper.
        mark: Where to draw a dashed vertical line; None for none.
        x_title: What the x axis counts.
        y_title: What the y axis shows.
        counts: Whether the values are numbers of things, of which there are no fractions.

    Returns:
        The picture, :data:`SCALE` pixels for each of them.
    """
    image = QImage(round(width * SCALE), round(height * SCALE), QImage.Format.Format_RGB32)
    image.fill(QColor(PAPER))
    shown = [(one, np.isfinite(one.y)) for one in series]
    shown = [(one, finite) for one, finite in shown if finite.any()]
    if not shown:
        return image
    canvas = pg.GraphicsLayoutWidget()
    canvas.setBackground(PAPER)
    canvas.setAntialiasing(True)
    plot = _make_plot(canvas, x_title, y_title)
    _set_range(plot, shown, counts)
    canvas.resize(image.size())
    canvas.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    canvas.show()  # lays it out
    for one, finite in shown:
        style = (
            {"pen": None, "symbol": "o", "symbolSize": 3.5 * SCALE, "symbolPen": None, "symbolBrush": one.colour}
            if one.dots
            else {"pen": _pen(one.colour, 1.5)}
        )
        for part in stretches(one.x[finite]):
            add_curve(plot, one.x[finite][part], one.y[finite][part], **style)
    if mark is not None:
        plot.addItem(pg.InfiniteLine(mark, angle=90, pen=_pen(INK, 0.8, Qt.PenStyle.DashLine)), ignoreBounds=True)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    canvas.render(painter, QRectF(image.rect()), canvas.viewport().rect())
    painter.end()
    canvas.close()
    return image


def stretches(x: Floats) -> list[slice]:
    """Where a curve is one: from gap to gap.

    Of more than :data:`MOST_GAPS` only the widest count; each of the others is less than a hundredth of the picture.

    Args:
        x: Steps with a value, ascending: float64 [n], not empty.
    """
    widths = np.diff(x)
    gaps = np.flatnonzero(widths > 1)
    widest = gaps[np.argsort(-widths[gaps], kind="stable")[:MOST_GAPS]]
    edges = [0, *(np.sort(widest) + 1).tolist(), len(x)]
    return [slice(first, last) for first, last in pairwise(edges)]


def add_curve(plot: pg.PlotItem, x: Floats, y: Floats, **style: object) -> pg.PlotDataItem:
    """Let pyqtgraph draw a curve without gaps, thinned out to the least and the greatest value of each place.

    Args:
        plot: Where it is drawn.
        x: Steps, ascending: float64 [n].
        y: Values: float64 [n], finite.
        style: Pens and symbols, as pyqtgraph calls them.
    """
    # pyqtgraph loses the last points, which do not fill a place: one place full of the last point more.
    more = len(x) // LEAST_PLACES
    x, y = np.append(x, np.full(more, x[-1])), np.append(y, np.full(more, y[-1]))
    curve = pg.PlotDataItem(x, y, **style)
    plot.addItem(curve)  # which sets what follows as the plot has it
    curve.setDownsampling(auto=True, method="peak")
    curve.setClipToView(True)
    return curve


def _pen(colour: str, width: float, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> object:
    return pg.mkPen(colour, width=width * SCALE, style=style)


def _make_plot(canvas: pg.GraphicsLayoutWidget, x_title: str, y_title: str) -> pg.PlotItem:
    """A plot whose frame has :data:`MARGINS`."""
    left, top, right, bottom = (round(margin * SCALE) for margin in MARGINS)
    canvas.ci.layout.setContentsMargins(0, top, right, 0)
    canvas.ci.layout.setSpacing(0)
    plot = canvas.addPlot(axisItems={"left": NumberAxis(), "bottom": StepAxis()})
    plot.layout.setContentsMargins(0, 0, 0, 0)
    plot.layout.setSpacing(0)
    plot.hideButtons()
    plot.getViewBox().setBorder(_pen(INK, 0.7))
    font = QFont(TEXT)
    font.setPixelSize(round(TEXT_PIXELS * SCALE))
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(_pen(INK, 0.5))
        axis.setTextPen(INK)
        axis.setTickFont(font)
        axis.setStyle(tickLength=0, tickTextOffset=4 * SCALE, maxTickLevel=1, maxTextLevel=0)
        axis.setStyle(hideOverlappingLabels=right)  # what reaches into the margins is shown, what would be cut is not
    plot.getAxis("left").setWidth(left)
    plot.getAxis("bottom").setHeight(bottom)
    if y_title:
        plot.setLabel("left", y_title, color=INK, **{"font-size": f"{round(TEXT_PIXELS * SCALE)}px"})
    plot.setLabel("bottom", x_title, color=INK, **{"font-size": f"{round(TEXT_PIXELS * SCALE)}px"})
    # Axes of their own draw the grid: one with a grid hides the numbers at its ends.
    for side in ("top", "right"):
        plot.showAxis(side)
        axis = plot.getAxis(side)
        axis.setPen(_pen(INK, 0.5))
        axis.setStyle(showValues=False, tickLength=0, maxTickLevel=1)
        axis.setGrid(round(255 * GRID_ALPHA))
        (axis.setHeight if side == "top" else axis.setWidth)(0)
    return plot


def _set_range(plot: pg.PlotItem, shown: Sequence[tuple[Series, npt.NDArray[np.bool_]]], counts: bool) -> None:
    """Show all curves, with some room above and below them; where they stand on 0, as counts do, less."""
    xs = [value for one, _ in shown for value in (float(one.x.min()), float(one.x.max()))]
    ys = [value for one, ok in shown for value in (float(one.y[ok].min()), float(one.y[ok].max()))]
    low, high = min(ys), max(ys)
    if counts:
        low, high = min(0.0, low), max(1.0, high)
        if high < FEW:
            plot.getAxis("left").setTickSpacing(1.0, 1.0)
    room = 0.06 * (high - low) or max(abs(high), 1.0) * 0.5
    low -= 0.3 * room if low == 0 else room
    plot.setXRange(min(xs), max(max(xs), min(xs) + 1.0), padding=0)
    plot.setYRange(low, high + room, padding=0)
