"""Draws what was measured into PNG files."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

_TICKS = 8
"""So many numbers have room on an axis."""
_NAMED_APART = 9.0
COLOURS = ("#1f6feb", "#d1570a", "#2da44e", "#8250df", "#57606a", "#bf3989")


@dataclass(frozen=True)
class Bars:
    """One group of bars: what it is, and the length of each by name."""

    title: str
    lengths: Mapping[str, float]


@dataclass(frozen=True)
class Curve:
    """One curve of a panel."""

    name: str  #: What it is.
    points: tuple[tuple[float, float], ...]  #: x and y of each point, ascending in x.

    @property
    def slope(self) -> float:
        """How y grows with x: the slope of the line of least squares through the logarithms of the points."""
        x, y = np.log(np.array(self.points)).T
        return float(np.polyfit(x, y, 1)[0])

    def fitted(self) -> tuple[tuple[float, float], ...]:
        """Return that line at its first and last x."""
        x, y = np.log(np.array(self.points)).T
        slope, start = np.polyfit(x, y, 1)
        return tuple((math.exp(at), math.exp(start + slope * at)) for at in (x[0], x[-1]))


@dataclass(frozen=True)
class Panel:
    """One picture: what is on its axes, and the curves."""

    x: str  #: What is below.
    y: str  #: What is beside it.
    curves: Sequence[Curve]  #: What is drawn.
    #: Whether both axes are logarithmic; each curve then has its fitted line, dashed, and the slope in the legend.
    logarithmic: bool = True
    title: str = ""  #: Above it.
    ticks: Sequence[tuple[float, str]] = ()  #: Of the axis beside it, if its own will not do.


def canvas(width: int, height: int) -> Any:
    """Return a layout of plots of so many pixels, off screen."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    import pyqtgraph

    pyqtgraph.mkQApp()
    pyqtgraph.setConfigOptions(background="w", foreground="k", antialias=True)
    layout = pyqtgraph.GraphicsLayoutWidget()
    layout.resize(width, height)
    layout.show()
    return layout


def save(layout: Any, path: Path) -> None:
    """Save a layout of plots as a picture; raises OSError where it cannot be written."""
    from PySide6.QtWidgets import QApplication

    path.parent.mkdir(parents=True, exist_ok=True)
    QApplication.processEvents()
    if not layout.grab().save(str(path)):
        raise OSError(f"{path} cannot be written")


def draw_bars(groups: Sequence[Bars], label: str, path: Path) -> None:
    """Draw groups of bars side by side, a name to each line."""
    import pyqtgraph

    names = list(groups[0].lengths)
    layout = canvas(1100, 80 + 24 * len(names) * len(groups))
    axes = layout.addPlot()
    axes.addLegend(offset=(-10, 10))
    thick = 0.8 / len(groups)
    for number, group in enumerate(groups):
        y = [-row - number * thick for row in range(len(names))]
        bars = pyqtgraph.BarGraphItem(
            x0=0,
            y=y,
            width=list(group.lengths.values()),
            height=thick,
            brush=COLOURS[number],
            pen="w",
            name=group.title,
        )
        axes.addItem(bars)
        for at, length in zip(y, group.lengths.values(), strict=True):
            text = pyqtgraph.TextItem(f"{length:.2f}", color="k", anchor=(0, 0.5))
            text.setPos(length, at)
            axes.addItem(text)
    middle = (len(groups) - 1) * thick / 2
    axes.getAxis("left").setTicks([[(-row - middle, name) for row, name in enumerate(names)]])
    axes.getAxis("left").setWidth(250)
    axes.setLabel("bottom", label)
    axes.showGrid(x=True, y=False, alpha=0.2)
    axes.setXRange(0, 1.1 * max(max(group.lengths.values()) for group in groups))
    save(layout, path)


def draw_panels(panels: Sequence[Panel], path: Path, columns: int = 2) -> None:
    """Draw panels side by side."""
    columns = min(columns, len(panels))
    layout = canvas(560 * columns, 340 * -(-len(panels) // columns))
    for number, panel in enumerate(panels):
        axes = layout.addPlot(row=number // columns, col=number % columns, title=panel.title or None)
        for side, label in (("left", panel.y), ("bottom", panel.x)):
            axes.getAxis(side).enableAutoSIPrefix(False)
            axes.setLabel(side, label)
        axes.showGrid(x=True, y=True, alpha=0.2)
        axes.addLegend(offset=(-10, -10))
        axes.getAxis("left").setWidth(60)
        if panel.ticks:
            axes.getAxis("left").setTicks([panel.ticks])
        draw = _draw_fitted if panel.logarithmic else _draw_plainly
        draw(axes, panel)
    save(layout, path)


def _draw_plainly(axes: Any, panel: Panel) -> None:
    for colour, curve in zip(COLOURS, panel.curves, strict=False):
        x, y = np.array(curve.points).T
        axes.plot(x, y, pen={"color": colour, "width": 2}, name=curve.name)
    heights = [y for curve in panel.curves for _, y in curve.points]
    axes.setYRange(min(0.0, *heights), max(0.0, max(heights) + 0.2 * abs(max(heights))))


def _draw_fitted(axes: Any, panel: Panel) -> None:
    axes.setLogMode(x=True, y=True)
    heights = [math.log10(y) for curve in panel.curves for _, y in curve.points]
    # Room for the names below; and what does not grow is to look flat.
    low, high = min(heights), max(heights)
    axes.setYRange(low - max(0.6, 0.4 * (high - low)), high + 0.3)
    measured = sorted({x for curve in panel.curves for x, _ in curve.points})
    if len(measured) <= _TICKS:
        axes.getAxis("bottom").setTicks([[(math.log10(x), _short(x)) for x in measured]])
    for colour, curve in zip(COLOURS, panel.curves, strict=False):
        x, y = np.array(curve.points).T
        name = f"{curve.name}, slope {curve.slope:.2f}"
        axes.plot(x, y, pen=None, symbol="o", symbolSize=7, symbolBrush=colour, symbolPen=colour, name=name)
        line = np.array(curve.fitted()).T
        axes.plot(line[0], line[1], pen={"color": colour, "width": 1.5, "style": _dashed()})


def draw_dots(rows: Mapping[str, Mapping[str, float]], label: str, path: Path, below: float) -> None:
    """Draw a line for each row, and on it a dot for each value; those below a value are red and named."""
    import pyqtgraph

    layout = canvas(930, 80 + 34 * len(rows))
    axes = layout.addPlot()
    axes.getAxis("left").setWidth(200)
    axes.getAxis("left").setTicks([[(-number, name) for number, name in enumerate(rows)]])
    axes.setLabel("bottom", label)
    axes.showGrid(x=True, y=True, alpha=0.2)
    axes.setXRange(0, 100)
    for number, found in enumerate(rows.values()):
        named: dict[float, list[str]] = {}
        for name, value in sorted(found.items(), key=lambda item: item[1]):
            axes.plot([value], [-number], pen=None, symbol="o", symbolBrush="#cf222e" if value < below else "#2da44e")
            if value < below:
                # Dots that are close have one name beside them.
                near = next((at for at in named if value - at < _NAMED_APART), value)
                named.setdefault(near, []).append(name)
        for names in named.values():
            text = pyqtgraph.TextItem(", ".join(names), color="k", anchor=(0, 0.8))
            text.setPos(max(found[name] for name in names) + 1, -number)
            axes.addItem(text)
    save(layout, path)


def _short(x: float) -> str:
    """A number on an axis in a few characters."""
    return f"{x / 1e6:.3g}M" if x >= 1e6 else f"{x / 1e3:.3g}k" if x >= 1e4 else f"{x:.3g}" if x < 1e3 else f"{x:.0f}"


def _dashed() -> Any:
    from PySide6.QtCore import Qt

    return Qt.PenStyle.DashLine
