"""The heat map of the plots: how far each state tensor lies from the trainer's, with its names and its colour scale."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtGui import QColor, QFont, QFontMetrics

from counterfoil_app.looks import text, words
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import LIGHT, Theme, Tokens
from counterfoil_app.model.divergence_table import Floats, RowGroup, Scale, group_rows
from counterfoil_app.model.session import Session
from counterfoil_app.views.axes import NameAxis, least_row

Pixels = npt.NDArray[np.uint8]
_LIGHT_STOPS = ("#fbd9a5", "#f59d56", "#d9542f", "#9c1f1f", "#4a0511")
_DARK_STOPS = ("#5a2317", "#9c3d20", "#d96b34", "#f5ad63", "#fff0cf")
_LIGHT_BROKEN, _DARK_BROKEN = "#a000a8", "#ff7bff"


def rgba(colour: str) -> tuple[int, int, int, int]:
    """A colour as red, green, blue and alpha, 0 to 255."""
    parsed = QColor(colour)
    return parsed.red(), parsed.green(), parsed.blue(), parsed.alpha()


def broken_colour(tokens: Tokens) -> str:
    """The colour of differences that are not finite."""
    return _LIGHT_BROKEN if tokens == LIGHT else _DARK_BROKEN


def ramp(tokens: Tokens, fractions: Floats) -> Pixels:
    """Return the colours of places on the scale: float64 ``[...]`` in 0 to 1 to uint8 ``[..., 4]``."""
    stops = np.array([rgba(stop) for stop in (_LIGHT_STOPS if tokens == LIGHT else _DARK_STOPS)], np.float64)
    places = np.linspace(0.0, 1.0, len(stops))
    channels = [np.interp(np.nan_to_num(fractions), places, stops[:, channel]) for channel in range(4)]
    return np.stack(channels, axis=-1).round().astype(np.uint8)


def paint(values: Floats, scale: Scale, tokens: Tokens) -> Pixels:
    """Return the pixels of differences.

    Args:
        values: float64 ``[tensors, columns]``: NaN where nothing was compared, 0 where all is equal.
        scale: The colour scale.
        tokens: The theme's colours.

    Returns:
        uint8 ``[tensors, columns, 4]``; transparent where nothing was compared.
    """
    pixels = ramp(tokens, scale.fractions(values))
    pixels[values == 0] = rgba(tokens.ok_tint)
    pixels[np.isinf(values)] = rgba(broken_colour(tokens))
    pixels[np.isnan(values)] = 0
    return pixels


LEAST_PIXELS = 4
"""Height of the lowest row of the heat map; where tensors would be lower, neighbours share a row."""
CELL_PIXELS = 4
"""Width of the narrowest column of the heat map, so that a single differing checkpoint is seen beside the markers."""
BAR_PIXELS = 22
BAR_CHARACTERS = 10
"""Width of the colour scale itself, and of its labels in average characters."""
GROUND = -20.0
"""Where the pixels lie: behind everything else."""

_tr = texts("divergence")


class HeatMap:
    """What is drawn into one plot, and the colour scale beside it.

    Args:
        plot: The plot.
        names: Its axis of names.
        bar: The plot that is the colour scale.
        session: What is shown.
        theme: The theme of the application.
    """

    def __init__(self, plot: pg.PlotItem, names: NameAxis, bar: pg.PlotItem, session: Session, theme: Theme) -> None:
        self._plot = plot
        self._bar = bar
        self._session = session
        self._theme = theme
        self._font = QFont()
        self.names = names
        self.rows: list[RowGroup] = []
        self.image = pg.ImageItem(axisOrder="row-major")
        plot.addItem(self.image)
        self.image.setZValue(GROUND)
        self.equal = pg.TextItem(anchor=(0.5, 0.5))
        plot.addItem(self.equal, ignoreBounds=True)
        plot.invertY()
        bar.hideButtons()
        bar.setMouseEnabled(x=False, y=False)
        bar.hideAxis("left")
        bar.showAxis("right")
        bar.showAxis("bottom")
        bar.getAxis("bottom").setStyle(showValues=False, tickLength=0)
        self._bar_image = pg.ImageItem(axisOrder="row-major")
        bar.addItem(self._bar_image)

    def colour(self, font: QFont, small: QFont) -> int:
        """Take the theme's colours; returns the width of the colour scale with its labels, in pixels."""
        self._font = small
        self.equal.setFont(font)
        for side in ("bottom", "right"):
            self._bar.getAxis(side).setPen(pg.mkPen(None))
        labels = int(BAR_CHARACTERS * QFontMetrics(small).averageCharWidth())
        self._bar.getAxis("right").setWidth(labels)
        return BAR_PIXELS + labels

    def draw(self, first: int, last: int, places: int) -> None:
        """Draw the steps ``first`` to ``last`` into so many pixels."""
        table, summary = self._session.divergence, self._session.summary
        height = self._plot.getViewBox().height()
        self.rows = group_rows(table.names, max(1, int(height / LEAST_PIXELS)))
        if not len(table) or summary is None:
            self.image.clear()
            self.names.show_names(())
            self._plot.setYRange(0, 1, padding=0)
            self.equal.setVisible(False)
            self._draw_bar()
            return
        every = summary.order.checkpoint_every
        image = table.image(first, last, places // CELL_PIXELS, every, self._disputed)
        merged = np.stack([_peak(image[group.begin : group.end]) for group in self.rows])
        self.image.setImage(paint(merged, table.scale(), self._theme.tokens), autoLevels=False)
        self.image.setRect(first - 0.5, 0, last - first + 1, len(self.rows))
        self._plot.setYRange(0, len(self.rows), padding=0)
        self.names.show_names(self._labels(height))
        self.equal.setVisible(table.differing() == 0)
        self.equal.setColor(self._theme.tokens.bad if self._disputed else self._theme.tokens.ok)
        self.equal.setText(self.differing())
        self.equal.setPos((first + last) / 2, len(self.rows) / 2)
        self._draw_bar()

    @property
    def _disputed(self) -> int:
        """The disputed step, before which all steps match; 0 where there is none."""
        return 0 if self._session.dispute is None else self._session.dispute.step

    def differing(self) -> str:
        """How many tensors differ, in words; a dispute is told even where no stored state shows it."""
        table = self._session.divergence
        if not len(table):
            return _tr("nothing compared yet")
        if self._disputed and not table.differing():
            return _tr("step {0} differs, and the stored states that were compared do not show it").format(
                text.count(self._disputed)
            )
        return _tr("{0} of {1} tensors differ").format(text.count(table.differing()), text.count(len(table.names)))

    def describe(self, step: int, row: int | None) -> str:
        """The difference at a step in a row, in words; empty outside."""
        table, summary = self._session.divergence, self._session.summary
        if row is None or summary is None or row >= len(self.rows):
            return ""
        every = summary.order.checkpoint_every
        stored = min(self._session.step_data.count, -(-step // every) * every)
        values, group = table.at(stored), self.rows[row]
        if step < self._disputed <= stored:  # it matched: what is stored next differs by what came after it
            return _tr("{0}: {1} at step {2}").format(group.label, words.equality(True).word, text.count(step))
        if values is None:
            return _tr("{0}: not compared").format(group.label)
        worst = group.begin + int(values[group.begin : group.end].argmax())
        amount = words.equality(True).word if values[worst] == 0 else text.number(float(values[worst]))
        return _tr("{0}: {1} at step {2}").format(table.names[worst], amount, text.count(stored))

    def _labels(self, height: float) -> list[RowGroup]:
        """The names that have room beside the rows, in units of rows."""
        begins = {group.begin: place for place, group in enumerate(self.rows)}
        begins[len(self._session.divergence.names)] = len(self.rows)
        groups = group_rows(self._session.divergence.names, max(1, int(height / least_row(self._font))))
        return [
            RowGroup(group.label, begins[group.begin], begins[group.end])
            for group in groups
            if group.begin in begins and group.end in begins
        ]

    def _draw_bar(self) -> None:
        """The colour scale: equal below it, not finite above it."""
        table, tokens = self._session.divergence, self._theme.tokens
        scale = table.scale()
        pixels = np.zeros((100, 1, 4), np.uint8)
        pixels[0:8] = rgba(tokens.ok_tint)
        pixels[14:86, 0] = ramp(tokens, np.linspace(0, 1, 72))
        special = [(4, _tr("equal"))]
        if table.has_broken():
            pixels[92:100] = rgba(broken_colour(tokens))
            special.append((96, _tr("not finite")))
        self._bar_image.setImage(pixels, autoLevels=False)
        self._bar.setXRange(0, 1, padding=0)
        self._bar.setYRange(0, 100, padding=0)
        decades = scale.high - scale.low
        room = max(1, int(self._bar.getViewBox().height() * 0.72 / (1.25 * least_row(self._font))) - 1)
        every = max(1, math.ceil(decades / room))
        powers = [
            (14 + 72 * (power - scale.low) / decades, f"1e{power}") for power in range(scale.low, scale.high + 1, every)
        ]
        apart = 100 * least_row(self._font) / max(1.0, self._bar.getViewBox().height())
        powers = [(place, word) for place, word in powers if all(abs(place - other) > apart for other, _ in special)]
        self._bar.getAxis("right").setTicks([[*special, *powers]])
        self._bar.setVisible(len(table) > 0)


def _peak(rows: Floats) -> Floats:
    """The largest of several rows; NaN only where none has a value."""
    return np.asarray(np.fmax.reduce(rows, axis=0))
