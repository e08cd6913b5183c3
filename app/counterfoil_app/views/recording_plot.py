"""The loss of a recording while it grows, with that of the replay beside it."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QWidget

from counterfoil_app.looks.fonts import scaled
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.recordingcurves import Floats
from counterfoil_app.views.axes import NumberAxis, StepAxis

CURVE_PIXELS = 1.5
POINT_PIXELS = 5
FEW_STEPS = 60
"""Up to so many steps each is a point too: a curve of one step would not be seen."""
LEAST_HEIGHT = 170
_tr = texts("growing")


class GrowingPlot(pg.GraphicsLayoutWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """Two curves over the steps, and a line at the step that came out otherwise."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAccessibleName(_tr("Loss of the recording and of the replay, by step"))
        self.setMinimumHeight(scaled(LEAST_HEIGHT))
        for own in self.scene().contextMenu:  # speaks English only
            own.setParent(None)
        self.scene().contextMenu = []
        self.plot = self.addPlot(axisItems={"left": NumberAxis(), "bottom": StepAxis()}, enableMenu=False)
        self.plot.hideButtons()
        self.plot.setMouseEnabled(x=False, y=False)
        self.plot.showGrid(x=True, y=True, alpha=0.16)
        self.legend = self.plot.addLegend(offset=(-8, 8))
        self.trainer = self.plot.plot(name=_tr("trainer"), connect="finite", antialias=True)
        self.replay = self.plot.plot(name=_tr("replay"), connect="finite", antialias=True)
        for curve in (self.trainer, self.replay):
            curve.setDownsampling(auto=True, method="peak")
            curve.setClipToView(True)
        self.lie = pg.InfiniteLine(angle=90, movable=False)
        self.lie.hide()
        self.plot.addItem(self.lie)
        theme.changed.connect(self._colour)
        self._colour()

    def show_losses(self, trainer: Floats, replay: Floats, steps: int, lie: int | None) -> None:
        """Draw what is known.

        Args:
            trainer: The trainer's loss of each step, from step 1.
            replay: That of the replay.
            steps: Number of ordered steps; 0 while it is not known.
            lie: The step that came out otherwise; None while there is none.
        """
        for curve, values, symbol in ((self.trainer, trainer, "o"), (self.replay, replay, "x")):
            curve.setData(range(1, len(values) + 1), values, symbol=symbol if len(values) <= FEW_STEPS else None)
        self.plot.setXRange(0.5, max(steps, len(trainer), 1) + 0.5, padding=0.01)
        self.lie.setVisible(lie is not None)
        if lie is not None:
            self.lie.setPos(lie)

    def _colour(self) -> None:
        tokens = self._theme.tokens
        self.setBackground(tokens.surface)
        small = QFont(self.font())
        for side in ("left", "bottom"):
            axis = self.plot.getAxis(side)
            axis.setPen(tokens.control)
            axis.setTextPen(tokens.muted)
            axis.setTickFont(small)
        style = {"color": tokens.muted, "font-size": f"{small.pointSizeF():.1f}pt"}
        self.plot.getAxis("left").setLabel(_tr("Loss"), **style)
        self.plot.getAxis("bottom").setLabel(_tr("Step"), **style)
        self.plot.getAxis("bottom").setHeight(2 * QFontMetrics(small).height() + 10)
        self.legend.setLabelTextColor(tokens.text)
        self.legend.setLabelTextSize(f"{small.pointSizeF():.1f}pt")
        self.trainer.setPen(pg.mkPen(tokens.trainer, width=CURVE_PIXELS))
        self.replay.setPen(pg.mkPen(tokens.replay, width=CURVE_PIXELS, style=Qt.PenStyle.DashLine))
        for curve, colour in ((self.trainer, tokens.trainer), (self.replay, tokens.replay)):
            curve.setSymbolSize(POINT_PIXELS)
            curve.setSymbolBrush(colour)
            curve.setSymbolPen(colour)
        self.lie.setPen(pg.mkPen(tokens.bad, width=CURVE_PIXELS))
