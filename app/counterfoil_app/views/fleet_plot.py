"""The plot of a plan of large runs: device-hours by parameters, to record and to audit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pyqtgraph as pg
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QWidget

from counterfoil import Fleet, FleetRow
from counterfoil_app.looks import text
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Theme
from counterfoil_app.views.axes import NumberAxis

_tr = texts("fleet")
LOOKS = {
    "float64-24": ("trainer", "o"),
    "exact-20": ("ok", "s"),
    "exact-13": ("replay", "t"),
    "float32-bfloat16": ("warn", "d"),
    "bfloat16": ("muted", "x"),
}
"""Token of the colour and symbol of each profile: no two are told apart by colour alone."""
OTHER = ("trainer", "o")
"""Of a profile that was measured and is none of these."""
SYMBOL_PIXELS = 9
CURVE_PIXELS = 1.5
BILLION = 1e9


class HoursAxis(NumberAxis):
    """A logarithmic axis of hours, written with separators and no powers."""

    def tickStrings(self, values: Sequence[float], _scale: float, _spacing: float) -> list[str]:  # noqa: N802
        """The hours; below one, with digits behind the point."""
        return [text.count(round(10**value)) if value >= 0 else text.number(10**value) for value in values]


class FleetPlot(pg.GraphicsLayoutWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """Two plots beside each other: hours to record, and to audit the sample."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._fleet: Fleet | None = None
        self.curves: dict[str, list[tuple[float, float]]] = {}
        """Points of each curve, by what it shows and profile, for whoever asks what is drawn."""
        self.setAccessibleName(_tr("Device-hours by billions of parameters"))
        for own in self.scene().contextMenu:  # speaks English only
            own.setParent(None)
        self.scene().contextMenu = []
        theme.changed.connect(self._draw)

    def show_fleet(self, fleet: Fleet | None) -> None:
        """Show another plan; None shows nothing."""
        self._fleet = fleet
        self._draw()

    def _draw(self) -> None:
        self.ci.clear()
        self.curves = {}
        self.setBackground(self._theme.tokens.surface)
        if self._fleet is None:
            return
        self._panel(0, _tr("Device-hours to record"), self._fleet.rows, lambda row: row.record_device_hours)
        audited = [row for row in self._fleet.rows if row.audited]
        self._panel(1, _tr("Device-hours to audit the sample"), audited, lambda row: row.sample_device_hours)

    def _panel(self, place: int, title: str, rows: Sequence[FleetRow], hours: Callable[[FleetRow], float]) -> None:
        tokens = self._theme.tokens
        plot = self.addPlot(row=0, col=place, axisItems={"left": HoursAxis()}, enableMenu=False)
        plot.setTitle(title, color=tokens.text, size=f"{self.font().pointSizeF():.1f}pt")
        plot.hideButtons()
        plot.setMouseEnabled(x=False, y=False)
        plot.setLogMode(x=True, y=True)
        legend = plot.addLegend(offset=(-8, -8), labelTextColor=tokens.text, brush=tokens.surface, pen=tokens.border)
        small = QFont(self.font())
        for side in ("left", "bottom"):
            axis = plot.getAxis(side)
            axis.setPen(tokens.control)
            axis.setTextPen(tokens.muted)
            axis.setTickFont(small)
        sizes = sorted({row.parameters for row in rows})
        ticks = [(math.log10(size), text.number(size / BILLION)) for size in sizes]
        plot.getAxis("bottom").setTicks([ticks])
        plot.getAxis("bottom").enableAutoSIPrefix(False)
        plot.setLabel("bottom", _tr("Billions of parameters"), color=tokens.muted)
        plot.showGrid(x=True, y=True, alpha=0.16)
        for profile in dict.fromkeys(row.profile for row in rows):
            points = [(row.parameters, hours(row)) for row in rows if row.profile == profile]
            token, symbol = LOOKS.get(profile, OTHER)
            colour = getattr(tokens, token)
            x, y = zip(*points, strict=True)
            plot.plot(
                x, y, pen=pg.mkPen(colour, width=CURVE_PIXELS), symbol=symbol, symbolSize=SYMBOL_PIXELS,
                symbolBrush=colour, symbolPen=None, name=profile,
            )  # fmt: skip
            self.curves[f"{place} {profile}"] = points
        self._make_room(plot, [hours(row) for row in rows])
        legend.setZValue(1)

    def _make_room(self, plot: pg.PlotItem, hours: Sequence[float]) -> None:
        """Leave room below the curves for the legend, which lies over nothing then."""
        low, high = math.log10(min(hours)), math.log10(max(hours))
        plot.setYRange(low - max(1.0, 0.8 * (high - low)), high + 0.2, padding=0)
