"""What marks a step in a plot: the selected one, the disputed one, and the crosshair."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Theme

BEHIND = -10.0
"""Where the markers lie: behind the curves, so that none hides a spike; but above the heat map, which is a ground."""
HIGH = 0.92
"""Height of the word at the disputed step."""

_tr = texts("divergence")


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
