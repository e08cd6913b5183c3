"""What every plot is drawn on, and its axes: tensor names, numbers, and steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pyqtgraph as pg
from PySide6.QtCore import QLocale, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter

from counterfoil_app.looks import text
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.divergence_table import RowGroup

# What marks a step in a plot: the selected one, the disputed one, and the crosshair.

BEHIND = -10.0
"""Where the markers lie: behind the curves, so that none hides a spike; but above the heat map, which is a ground."""
HIGH = 0.92
"""Height of the word at the disputed step."""

SMALL = 0.9
"""Size of the letters along the axes, as a share of the others'."""
GRID_ALPHA = 0.16
SOLID, DASHED, SIGN, POINT = "\u2501", "\u254d\u254d", "\u25bc", "\u00b7"
"""How a title shows curves and marks."""

_tr = texts("divergence")


class Canvas(pg.GraphicsLayoutWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """What plots over the steps are drawn on.

    Args:
        theme: The theme of the application.
        name: What the plots are, for those who do not see them.
    """

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(name)
        for own in self.scene().contextMenu:  # pyqtgraph's own export speaks English only
            own.setParent(None)
        self.scene().contextMenu = []
        self.ci.layout.setContentsMargins(4, 0, 4, 2)
        self.ci.layout.setVerticalSpacing(0)
        self.title = TitleItem()
        self.addItem(self.title, row=0, col=0)
        self.plots: list[pg.PlotItem] = []

    @property
    def small(self) -> QFont:
        """The font along the axes."""
        small = QFont(self.font())
        small.setPointSizeF(small.pointSizeF() * SMALL)
        return small

    def add_plot(self, left: pg.AxisItem) -> pg.PlotItem:
        """A plot below those that are there, with its axis on the left."""
        row = len(self.plots) + 1
        plot = self.addPlot(row=row, col=0, axisItems={"left": left, "bottom": StepAxis()}, enableMenu=False)
        plot.hideButtons()
        plot.setMouseEnabled(x=True, y=False)
        self.plots.append(plot)
        return plot

    def name_axis(self, plot: pg.PlotItem, side: str, name: str) -> None:
        """Say what an axis has."""
        style = {"color": self._theme.tokens.muted, "font-size": f"{self.small.pointSizeF():.1f}pt"}
        plot.getAxis(side).setLabel(name, **style)

    def colour(self, *more: pg.PlotItem) -> None:
        """Take the theme's colours, ``more`` plots too."""
        tokens, small = self._theme.tokens, self.small
        self.setBackground(tokens.surface)
        for plot in (*self.plots, *more):
            for side in ("left", "bottom", "right"):
                axis = plot.getAxis(side)
                axis.setPen(tokens.control)
                axis.setTextPen(tokens.muted)
                axis.setTickFont(small)
        for plot in self.plots:
            plot.showGrid(x=True, y=True, alpha=GRID_ALPHA)
            self.name_axis(plot, "bottom", _tr("Step"))
            plot.getAxis("bottom").setHeight(2 * QFontMetrics(small).height() + 8)

    def say(self, title: str, *entries: tuple[str, str, str]) -> None:
        """Write the title, with a legend of colours, marks and names."""
        parts = [f'<span style="color:{colour}">{mark}</span>&nbsp;{word}' for colour, mark, word in entries]
        self.title.setText(
            f"<b>{title}</b>&nbsp;&nbsp; " + "&nbsp;&nbsp; ".join(parts),
            color=self._theme.tokens.text,
            size=f"{self.font().pointSizeF():.1f}pt",
        )


class Markers:
    """The selected step, the disputed step and the crosshair in one plot."""

    def __init__(self, plot: pg.PlotItem, *, labelled: bool) -> None:
        options = {"position": HIGH, "movable": False}
        self.disputed = pg.InfiniteLine(angle=90, label=_tr("disputed") if labelled else None, labelOpts=options)
        self.selected = pg.InfiniteLine(angle=90)
        self.crosshair = pg.InfiniteLine(angle=90)
        for line in (self.disputed, self.selected, self.crosshair):
            line.setVisible(False)
            plot.addItem(line, ignoreBounds=True)
            line.setZValue(BEHIND)

    def place(self, line: pg.InfiniteLine, step: float | None) -> None:
        """Move a line; None hides it."""
        line.setVisible(step is not None)
        if step is not None:
            line.setValue(step)

    def colour(self, theme: Theme) -> None:
        """Take the theme's colours."""
        tokens = theme.tokens
        broad = QColor(tokens.bad)
        broad.setAlpha(120)
        self.disputed.setPen(pg.mkPen(broad, width=3))
        self.selected.setPen(pg.mkPen(tokens.text, width=1))
        self.crosshair.setPen(pg.mkPen(tokens.muted, width=1, style=Qt.PenStyle.DashLine))
        if hasattr(self.disputed, "label"):
            self.disputed.label.setColor(tokens.bad)
            self.disputed.label.fill.setColor(QColor(tokens.surface))


NAME_CHARACTERS = 33
SHARE_OF_NAMES = 0.3
"""Share of the plots' width that names have at most."""
LEAST_TICKS = 2
_ROUND_DIGITS = ((1,), (2, 5), (3, 4, 6, 7, 8, 9))


def name_width(font: QFont, room: int) -> int:
    """Width of the axes on the left, in pixels, of ``room`` pixels for all."""
    wanted = int(NAME_CHARACTERS * QFontMetrics(font).averageCharWidth()) + 8
    return min(wanted, int(SHARE_OF_NAMES * room)) if room > 0 else wanted


def least_row(font: QFont) -> int:
    """Pixels between two names below each other, which have no room of a line of text."""
    return int(0.75 * QFontMetrics(font).height())


class TitleItem(pg.LabelItem):  # type: ignore[misc]  # pyqtgraph has no types
    """A title on the left above a plot. It takes the width there is: a long one must not push anything out of view."""

    def __init__(self) -> None:
        super().__init__("", justify="left")

    def updateMin(self) -> None:  # noqa: N802 - pyqtgraph's name
        """Ask for the height alone."""
        height = self.itemRect().height()
        self.setMinimumHeight(height)
        self.setMaximumHeight(height)
        self._sizeHint = {
            Qt.SizeHint.MinimumSize: (0, height),
            Qt.SizeHint.PreferredSize: (0, height),
            Qt.SizeHint.MaximumSize: (-1, -1),
            Qt.SizeHint.MinimumDescent: (0, 0),
        }
        self.updateGeometry()


class NameAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """An axis whose ticks are names of rows, shortened on the left where the room is short."""

    def __init__(self) -> None:
        super().__init__("left")
        self.setStyle(tickLength=0)
        self.groups: Sequence[RowGroup] = ()

    def show_names(self, groups: Sequence[RowGroup]) -> None:
        """Show other names."""
        if list(groups) != list(self.groups):
            self.groups = tuple(groups)
            self.picture = None
            self.update()

    def tickValues(self, low: float, high: float, _size: float) -> list[tuple[float, list[float]]]:  # noqa: N802
        """The middles of the rows."""
        middles = [(group.begin + group.end) / 2 for group in self.groups]
        return [(1.0, [middle for middle in middles if low <= middle <= high])]

    def tickStrings(self, values: Sequence[float], _scale: float, _spacing: float) -> list[str]:  # noqa: N802
        """The names."""
        metrics = QFontMetrics(self.font())
        names = {(group.begin + group.end) / 2: group.label for group in self.groups}
        return [
            metrics.elidedText(names[value], Qt.TextElideMode.ElideLeft, int(self.width()) - 16) for value in values
        ]

    def generateDrawSpecs(self, painter: QPainter) -> object:  # noqa: N802 - pyqtgraph's name
        """Draw the names at their rows; pyqtgraph's own thinning would drop most of them."""
        specs = super().generateDrawSpecs(painter)
        if specs is None:
            return None
        axis, ticks, _texts = specs
        low, high = sorted(self.range)
        inside = self.mapRectFromParent(self.geometry())  # the bounding rectangle is larger
        height = inside.height()
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        texts, row = [], least_row(self.style["tickFont"] or self.font())
        above = -math.inf
        ((_spacing, values),) = self.tickValues(low, high, height)
        for value, name in zip(values, self.tickStrings(values, 1.0, 1.0), strict=True):
            middle = inside.top() + ((value - low) / (high - low) * height if high > low else 0.0)
            if middle - above >= row - 1:  # a name that would lie over the one above is left out
                texts.append((QRectF(0, middle - row, self.width() - 8, 2 * row), flags, name))
                above = middle
        return axis, ticks, texts


Written = Callable[[float, float], str]
"""How a number of an axis is written, where so much lies between two of them."""


def plain_number(value: float, spacing: float) -> str:
    """A number as it is written elsewhere; what is next to nothing between two ticks is 0."""
    return text.number(0.0 if abs(value) < 1e-9 * spacing else value)


def number_of_bytes(value: float, spacing: float) -> str:
    """A number of bytes, in the largest unit in which ticks are apart."""
    factor, unit = max((each for each in _UNITS if each[0] <= max(1.0, spacing)), key=lambda each: each[0])
    return f"{QLocale().toString(value / factor, 'f', 0)} {unit}" if value >= 0 and round(value) == value else ""


_UNITS = ((1, "B"), (1_000, "kB"), (1_000_000, "MB"), (1_000_000_000, "GB"))


class NumberAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """An axis of any numbers, without a common factor in the title."""

    def __init__(self) -> None:
        super().__init__("left")
        self.enableAutoSIPrefix(False)
        self._written: Written = plain_number
        self._counts = False

    def show_values(self, written: Written = plain_number, *, logarithmic: bool = False, counts: bool = False) -> None:
        """Write other numbers; ``counts`` are drawn as log10(1 + n), so that 0, 3 and 30,000 can all be read."""
        self._written, self._counts = written, counts
        self.setLogMode(logarithmic)  # which draws it anew

    def tickValues(self, low: float, high: float, size: float) -> object:  # noqa: N802 - pyqtgraph's name
        """On a logarithmic axis the round numbers that have room: powers of ten first, then what lies between them."""
        if self._counts:
            values = [0.0, *(math.log10(1 + 10**power) for power in range(13))]
            inside = [value for value in values if low <= value <= high]
            every = max(1, math.ceil(len(inside) * least_row(self.style["tickFont"] or self.font()) / max(1.0, size)))
            return [(1.0, inside[::every])]
        if not self.logMode:
            return self._apart(super().tickValues(low, high, size), low, high, size)
        apart = least_row(self.style["tickFont"] or self.font()) * (high - low) / max(1.0, size)
        shown: list[float] = []
        for digits in _ROUND_DIGITS:
            for power in range(math.floor(low), math.ceil(high) + 1):
                for value in (power + math.log10(digit) for digit in digits):
                    if low <= value <= high and all(abs(value - other) >= apart for other in shown):
                        shown.append(value)
        if len(shown) < LEAST_TICKS:  # no round number lies there
            shown = [math.log10(float(f"{10 ** (low + share * (high - low)):.3g}")) for share in (0.25, 0.75)]
        return [(1.0, sorted(shown))]

    def _apart(
        self, levels: list[tuple[float, list[float]]], low: float, high: float, size: float
    ) -> list[tuple[float, list[float]]]:
        """Leave numbers out where they would lie over each other."""
        if not levels:
            return levels
        spacing, values = levels[0]
        least = least_row(self.style["tickFont"] or self.font()) * (high - low) / max(1.0, size)
        if spacing >= least:
            return levels
        every = math.ceil(least / spacing)
        return [(spacing * every, [value for value in values if round(value / spacing) % every == 0])]

    def tickStrings(self, values: Sequence[float], _scale: float, spacing: float) -> list[str]:  # noqa: N802
        """The numbers."""
        if self._counts:
            return [QLocale().toString(round(10**value - 1)) for value in values]
        if self.logMode:
            return [text.number(10**value) for value in values]
        return [self._written(value, spacing) for value in values]


class StepAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """The common axis below: whole steps with separators, no powers of ten."""

    def __init__(self) -> None:
        super().__init__("bottom")
        self.enableAutoSIPrefix(False)

    def tickStrings(self, values: Sequence[float], _scale: float, spacing: float) -> list[str]:  # noqa: N802
        """The step numbers; nothing between two steps."""
        return [QLocale().toString(round(value)) if spacing >= 1 and value >= 0 else "" for value in values]
