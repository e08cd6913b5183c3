"""Curves over the steps: a line where each step has its own place, else a band from least to most with the mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from counterfoil_app.model.divergence_table import Floats, Thinned, thin_to_view

CURVE_PIXELS = 1.5
POINT_PIXELS = 5
FAINT, BAND = 90, 120
"""Opacity, of 255, of a curve under its smoothed one, and of a band."""
SPIKE_TIMES, SPIKE_PLACES = 6.0, 3.0
"""A column so many times as high as most is a spike, and so many places wide: seen beside a marker of its step."""


@dataclass(frozen=True)
class View:
    """What of the steps is drawn, and how."""

    first: int  #: First step in view.
    last: int  #: Last step in view.
    places: int  #: Pixels that they have.
    logarithmic: bool = False  #: Whether sizes are drawn, as powers of ten.
    counts: bool = False  #: Whether counts are drawn, as log10(1 + n).

    def thin(self, values: Floats) -> Thinned:
        """What of a column, float64 ``[steps]``, is drawn, at the heights where it is drawn."""
        return thin_to_view(self._height(values), self.first, self.last, self.places)

    def _height(self, values: Floats) -> Floats:
        if self.counts:
            return np.log10(1 + values)
        if not self.logarithmic:
            return values
        sizes = np.abs(values)  # 0 has no place there
        return np.log10(sizes, out=np.full_like(sizes, np.nan), where=sizes > 0)


class Band(pg.GraphicsObject):  # type: ignore[misc]  # pyqtgraph has no types
    """Columns from the least to the most of the steps that share a place: a spike of one step is a whole column."""

    def __init__(self) -> None:
        super().__init__()
        self._colour = QColor()
        self._rectangles: list[QRectF] = []
        self._spikes: list[QRectF] = []
        self._bounds = QRectF()

    def set_colour(self, colour: QColor) -> None:
        """Choose the colour, with its opacity."""
        self._colour = colour
        self.update()

    def show_columns(self, thinned: Thinned) -> None:
        """Draw the columns; none where every step has its own place."""
        self.prepareGeometryChange()
        self.informViewBoundsChanged()
        known = np.isfinite(thinned.most) & np.isfinite(thinned.least) & thinned.merged
        heights = thinned.most - thinned.least
        spikes = known & (heights > SPIKE_TIMES * np.median(heights[known])) if known.any() else known
        self._rectangles = _columns(thinned, known, heights, 1.0)
        self._spikes = _columns(thinned, spikes, heights, SPIKE_PLACES)
        self._bounds = QRectF()
        if self._rectangles:
            low, high = float(thinned.least[known].min()), float(thinned.most[known].max())
            begin, end = self._rectangles[0].left(), self._rectangles[-1].right()
            self._bounds = QRectF(begin, low, end - begin, high - low)
        self.update()

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """What the columns cover, in steps and heights."""
        return self._bounds

    def dataBounds(  # noqa: N802 - pyqtgraph's name
        self,
        axis: int,
        frac: float = 1.0,
        orthoRange: object = None,  # noqa: N803 - pyqtgraph's names
    ) -> tuple[float | None, float | None]:
        """The least and the most on an axis, by which the plot chooses its range."""
        if not self._rectangles:
            return None, None
        bounds = self._bounds
        return (bounds.left(), bounds.right()) if axis == 0 else (bounds.top(), bounds.bottom())

    def paint(self, painter: QPainter, *_more: object) -> None:
        """Draw the columns, as whole pixels."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._colour)
        painter.drawRects(self._rectangles)
        solid = QColor(self._colour)
        solid.setAlpha(255)
        painter.setBrush(solid)
        painter.drawRects(self._spikes)


def _columns(thinned: Thinned, which: npt.NDArray[np.bool_], heights: Floats, places: float) -> list[QRectF]:
    width = places * thinned.width
    chosen = zip(thinned.steps[which], thinned.least[which], heights[which], strict=True)
    return [QRectF(step - width / 2, low, width, height) for step, low, height in chosen]


class Series:
    """One quantity of the steps in a plot.

    Args:
        plot: The plot.

    Attributes:
        line: The values; where steps share places, their means.
        band: From the least to the most of each place.
        smooth: The smoothed values.
        points: The values beside which there are none: no line would show them.
    """

    def __init__(self, plot: pg.PlotItem) -> None:
        self.band = Band()
        self.line, self.smooth = (pg.PlotCurveItem(connect="finite", antialias=True) for _ in range(2))
        self.points = pg.ScatterPlotItem(size=POINT_PIXELS, pen=None)
        for drawn in (self.band, self.line, self.smooth, self.points):
            plot.addItem(drawn)
        self.smooth.setVisible(False)

    def draw(self, values: Floats, view: View, over: int = 1) -> None:
        """Draw a column.

        Args:
            values: float64 ``[steps]``; not a number where there is none.
            view: What of it is drawn.
            over: Over how many steps it is smoothed; 1 for not at all.
        """
        thinned = view.thin(values)
        _show(self.line, thinned)
        alone = _alone(thinned.mean)
        self.points.setData(thinned.steps[alone], thinned.mean[alone])
        self.band.show_columns(thinned)
        self.smooth.setVisible(over > 1)
        if over > 1:
            _show(self.smooth, view.thin(moving_mean(values, over)))

    def colour(self, colour: str, style: Qt.PenStyle = Qt.PenStyle.SolidLine, *, faint: bool = False) -> None:
        """Take a colour; ``faint`` where a smoothed curve lies on it."""
        plain, band = QColor(colour), QColor(colour)
        plain.setAlpha(FAINT if faint else 255)
        band.setAlpha(FAINT if faint else BAND)
        self.line.setPen(pg.mkPen(plain, width=CURVE_PIXELS, style=style))
        self.smooth.setPen(pg.mkPen(QColor(colour), width=CURVE_PIXELS, style=style))
        self.points.setBrush(QColor(colour))
        self.band.set_colour(band)

    def clear(self) -> None:
        """Draw nothing."""
        self.draw(np.zeros(0), View(1, 1, 1))


def _alone(values: Floats) -> npt.NDArray[np.bool_]:
    known = np.pad(np.isfinite(values), 1)
    return np.asarray(known[1:-1] & ~known[:-2] & ~known[2:])


def _show(curve: pg.PlotCurveItem, thinned: Thinned) -> None:
    known = bool(np.isfinite(thinned.mean).any())  # a path of nothing but gaps is none that a drawing can hold
    curve.setData(*((thinned.steps, thinned.mean) if known else ([], [])))


def moving_mean(values: Floats, over: int) -> Floats:
    """Return the mean of the steps around each, float64 ``[steps]``, of those that have a value; a gap stays one.

    Args:
        values: float64 ``[steps]``; not a number where there is none.
        over: How many steps, at the ends fewer.
    """
    known = np.isfinite(values)
    ends = np.minimum(np.arange(len(values)) + over // 2 + 1, len(values))
    begins = np.maximum(np.arange(len(values)) - (over - 1) // 2, 0)
    sums, counts = (np.concatenate([[0.0], np.cumsum(column)]) for column in (np.where(known, values, 0.0), known))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (sums[ends] - sums[begins]) / (counts[ends] - counts[begins])
    return np.where(known, means, np.nan)
