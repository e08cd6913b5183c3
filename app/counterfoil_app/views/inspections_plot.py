"""The plot of a plan of inspections: chips to look at in a year, and what a run gains that takes longer."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QWidget

from counterfoil import Inspections
from counterfoil_app.looks import text
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Theme
from counterfoil_app.views.axes import NumberAxis
from counterfoil_app.views.fleet_plot import CURVE_PIXELS, SYMBOL_PIXELS

_tr = texts("inspections")
LOOKS = (("trainer", "o"), ("ok", "s"), ("replay", "t"), ("warn", "d"), ("muted", "x"), ("text", "+"))
"""Token of the colour and symbol of each curve in turn: no two are told apart by colour alone."""
BESIDE = 0.12
"""Of the width of a plot that stays free on each side, for the outermost numbers."""
Points = list[tuple[float, float]]


class InspectionsPlot(pg.GraphicsLayoutWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """Two plots beside each other: chips to look at by the chips that there are, and p_d(k) by k."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._plan: Inspections | None = None
        self.curves: dict[str, Points] = {}
        """Points of each curve by its name, for whoever asks what is drawn."""
        self.setAccessibleName(_tr("Chips to look at, and how surely longer runs are caught"))
        for own in self.scene().contextMenu:  # speaks English only
            own.setParent(None)
        self.scene().contextMenu = []
        theme.changed.connect(self._draw)

    def show_plan(self, plan: Inspections | None) -> None:
        """Show another plan; None shows nothing."""
        self._plan = plan
        self._draw()

    def _draw(self) -> None:
        self.ci.clear()
        self.curves = {}
        self.setBackground(self._theme.tokens.surface)
        if self._plan is None:
            return
        needed = {
            row.name: [(float(cell.chips), float(cell.a_year)) for cell in row.cells if cell.a_year is not None]
            for row in self._plan.rows
        }
        caught = {
            _tr("{0} % of the chips").format(text.number(100 * curve.share)): [
                (point.factor, point.caught) for point in curve.points
            ]
            for curve in self._plan.curves
        }
        chips = sorted({float(count) for count in self._plan.request.chips})
        self._panel(0, _tr("Chips to look at in a year"), _tr("Chips that there are"), needed, chips, logarithmic=True)
        factors = [point.factor for point in self._plan.curves[0].points]
        self._panel(1, _tr("Chance to catch a run"), _tr("Times as long"), caught, factors, logarithmic=False)

    def _panel(
        self,
        place: int,
        title: str,
        below: str,
        curves: dict[str, Points],
        ticks: Sequence[float],
        *,
        logarithmic: bool,
    ) -> None:
        tokens = self._theme.tokens
        plot = self.addPlot(row=0, col=place, axisItems={"left": NumberAxis()}, enableMenu=False)
        plot.setTitle(title, color=tokens.text, size=f"{self.font().pointSizeF():.1f}pt")
        plot.hideButtons()
        plot.setMouseEnabled(x=False, y=False)
        plot.setLogMode(x=True, y=logarithmic)
        legend = plot.addLegend(offset=(8, 8) if logarithmic else (-8, -8), labelTextColor=tokens.text,
                                brush=tokens.surface, pen=tokens.border)  # fmt: skip
        small = QFont(self.font())
        for side in ("left", "bottom"):
            one = plot.getAxis(side)
            one.setPen(tokens.control)
            one.setTextPen(tokens.muted)
            one.setTickFont(small)
        plot.getAxis("bottom").setTicks([[(math.log10(value), text.count(round(value))) for value in ticks]])
        plot.getAxis("bottom").enableAutoSIPrefix(False)
        first, last = math.log10(ticks[0]), math.log10(ticks[-1])
        beside = BESIDE * max(last - first, 1.0)
        plot.setXRange(first - beside, last + beside, padding=0)
        plot.setLabel("bottom", below, color=tokens.muted)
        plot.showGrid(x=True, y=True, alpha=0.16)
        drawn = [height for points in curves.values() for _, height in points]
        for number, (name, points) in enumerate(curves.items()):
            if not points:
                continue
            token, symbol = LOOKS[number % len(LOOKS)]
            colour = getattr(tokens, token)
            x, y = zip(*points, strict=True)
            plot.plot(
                x, y, pen=pg.mkPen(colour, width=CURVE_PIXELS), symbol=symbol, symbolSize=SYMBOL_PIXELS,
                symbolBrush=colour, symbolPen=None, name=name,
            )  # fmt: skip
            self.curves[name] = points
        if drawn:
            self._make_room(plot, drawn, logarithmic)
        if drawn and logarithmic:
            powers = range(math.ceil(math.log10(max(drawn))) + 1)
            plot.getAxis("left").setTicks([[(power, text.count(10**power)) for power in powers]])
        legend.setZValue(1)

    @staticmethod
    def _make_room(plot: pg.PlotItem, drawn: Sequence[float], logarithmic: bool) -> None:
        """Leave room for the legend, which lies over nothing then: above the rising curves, below the falling ones."""
        low, high = (math.log10(min(drawn)), math.log10(max(drawn))) if logarithmic else (min(drawn), max(drawn))
        room = max(high - low, 1e-6)
        if logarithmic:
            plot.setYRange(low - 0.1 * room, high + 0.4 * room, padding=0)
        else:
            plot.setYRange(low - 0.9 * room, high + 0.1 * room, padding=0)
