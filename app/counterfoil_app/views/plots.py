"""Live plots: loss of both sides, divergence per tensor, and what the rounding log needed.

Plots show data; no conclusion is ever read from one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from counterfoil import StepMatch, StepRow
from counterfoil_app.session import Session
from counterfoil_app.theme import Theme
from counterfoil_app.views.parts import label

REDRAW_MILLISECONDS = 100
"""Plots are redrawn at most ten times a second, however fast steps come in."""
MAX_DIVERGENCE_POINTS = 200_000
MOST_SYMBOLS = 200
"""Checkpoints up to which each is marked by a point."""

Floats = npt.NDArray[np.float64]


def _tr(source: str) -> str:
    return QCoreApplication.translate("plots", source)


class PowerAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """An axis of powers of ten, on which two more levels stand for "equal" and "not finite"."""

    def __init__(self) -> None:
        super().__init__("left")
        self.equal_level = 0.0
        self.broken_level = 1.0

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:  # noqa: N802
        """Whole powers of ten, as many as there is room for, and the two special levels."""
        room = max(2, int(size / 28))
        spacing = max(1, math.ceil((high - low) / room))
        special = [level for level in (self.equal_level, self.broken_level) if low <= level <= high]
        powers = np.arange(math.ceil(self.equal_level) + 1, self.broken_level, spacing)
        return [(float(spacing), [*special, *(float(p) for p in powers if low <= p <= high)])]

    def tickStrings(self, values: Sequence[float], _scale: float, _spacing: float) -> list[str]:  # noqa: N802
        """The labels."""
        return [self._text(value) for value in values]

    def _text(self, level: float) -> str:
        if level == self.equal_level:
            return _tr("equal")
        return _tr("not finite") if level == self.broken_level else f"1e{level:.0f}"


class CountAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """An axis of counts drawn as log10(1 + n), so that 0, 3 and 30,000 can all be read."""

    def __init__(self) -> None:
        super().__init__("left")

    def tickValues(self, low: float, high: float, _size: float) -> list[tuple[float, list[float]]]:  # noqa: N802
        """0 and the powers of ten."""
        values = [0.0, *(math.log10(1 + 10**power) for power in range(13))]
        return [(1.0, [value for value in values if low <= value <= high])]

    def tickStrings(self, values: Sequence[float], _scale: float, _spacing: float) -> list[str]:  # noqa: N802
        """The counts themselves."""
        return [f"{round(10**value - 1):,}" for value in values]


def peaks(values: Floats, groups: int) -> tuple[npt.NDArray[np.intp], Floats]:
    """Thin a curve out, keeping the largest value of every group, so that no spike is lost.

    Args:
        values: float64 [n].
        groups: Most points to keep.

    Returns:
        The kept positions and their values, each [min(n, groups)].
    """
    if len(values) <= groups:
        return np.arange(len(values)), values
    edges = np.linspace(0, len(values), groups + 1).astype(np.intp)
    kept = np.array([low + int(np.argmax(values[low:high])) for low, high in pairwise(edges)])
    return kept, values[kept]


class StepPlot(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """A plot over steps, with markers for the selected and the disputed step."""

    def __init__(self, title: str, axis: pg.AxisItem | None = None) -> None:
        super().__init__(axisItems={} if axis is None else {"left": axis})
        self.setAccessibleName(title)
        self.setMinimumHeight(110)
        item = self.getPlotItem()
        item.setMenuEnabled(False)
        item.hideButtons()
        item.setDownsampling(auto=True, mode="peak")
        item.setClipToView(True)
        item.getAxis("left").setWidth(58)
        item.getAxis("bottom").setHeight(22)
        self.selected = pg.InfiniteLine(angle=90, movable=False)
        self.disputed = pg.InfiniteLine(
            angle=90, movable=False, label=_tr("disputed"), labelOpts={"position": 0.72, "rotateAxis": (1, 0)}
        )
        for marker in (self.selected, self.disputed):
            marker.setVisible(False)
            marker.setZValue(-10)  # behind the curves: what they show there is what matters
            self.addItem(marker, ignoreBounds=True)

    def mark(self, selected: int | None, disputed: int | None) -> None:
        """Move the two markers; None hides one."""
        for marker, step in ((self.selected, selected), (self.disputed, disputed)):
            marker.setVisible(step is not None)
            if step is not None:
                marker.setValue(step)

    def colour(self, theme: Theme) -> None:
        """Take the theme's colours."""
        tokens = theme.tokens
        self.setBackground(tokens.surface)
        item = self.getPlotItem()
        item.showGrid(x=True, y=True, alpha=0.18)
        for side in ("left", "bottom"):
            item.getAxis(side).setPen(tokens.control)
            item.getAxis(side).setTextPen(tokens.muted)
        self.selected.setPen(pg.mkPen(tokens.muted, width=1, style=Qt.PenStyle.DashLine))
        self.disputed.setPen(pg.mkPen(tokens.bad, width=2))
        self.disputed.label.setColor(tokens.bad)
        self.disputed.label.fill.setColor(QColor(tokens.surface))


class PlotsView(QWidget):
    """Three plots with one x axis."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._theme = theme
        self._power_axis = PowerAxis()
        self.loss = StepPlot(_tr("Loss"))
        self.divergence = StepPlot(_tr("Difference per tensor"), self._power_axis)
        self.log = StepPlot(_tr("Rounding log per step"), CountAxis())
        self.plots = (self.loss, self.divergence, self.log)
        for plot in (self.divergence, self.log):
            plot.setXLink(self.loss)
        # The trainer's curve is drawn first and solid: where both agree, the replay's dashes lie on it.
        self.trainer_loss = self.loss.plot(connect="finite")
        self.replay_loss = self.loss.plot(connect="finite")
        self.all_tensors = pg.PlotCurveItem(connect="finite")
        self.divergence.addItem(self.all_tensors)
        self.one_tensor = self.divergence.plot(connect="finite", symbol="o", symbolSize=5)
        self.entries = self.log.plot(connect="finite")
        self.corrections = self.log.plot(connect="finite")
        self.suspicious = self.log.plot(connect="finite", pen=None, symbol="t", symbolSize=9)
        self.tensor = QComboBox()
        self.tensor.setAccessibleName(self.tr("Tensor to highlight"))
        self.tensor.setMinimumContentsLength(11)
        self.tensor.setToolTip(self.tr("The tensor drawn in colour; the others are drawn in grey"))
        self.tensor.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.tensor.addItem(self.tr("largest"))
        self.tensor.currentIndexChanged.connect(self._redraw_divergence)
        self._legends = [label(), label(), label()]
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(4, 4, 8, 4)
        for plot, legend in zip(self.plots, self._legends, strict=True):
            legend.setTextFormat(Qt.TextFormat.RichText)
            legend.setAlignment(Qt.AlignmentFlag.AlignTop)
            legend.setContentsMargins(8, 2, 4, 2)
            heading = QHBoxLayout()
            heading.addWidget(legend, 1)
            if plot is self.divergence:
                heading.addWidget(self.tensor)
            column = QVBoxLayout()
            column.setSpacing(0)
            column.addLayout(heading)
            column.addWidget(plot, 1)
            self._row.addLayout(column, 1)
        self._stale = QTimer(self)
        self._stale.setSingleShot(True)
        self._stale.setInterval(REDRAW_MILLISECONDS)
        self._stale.timeout.connect(self.redraw)
        self._arrays = np.full((4, 0), np.nan)
        self._recorded_entries = np.empty(0)
        session.bundle_changed.connect(self._reset)
        session.rows_changed.connect(self._add)
        session.divergence_changed.connect(self._later)
        session.dispute_changed.connect(self._mark)
        session.step_selected.connect(self._mark)
        theme.changed.connect(self._colour)
        self._colour()
        self._reset()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put the plots side by side where the view is wide, above each other where it is high."""
        wide = event.size().width() > 1.2 * event.size().height()
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)
        super().resizeEvent(event)

    def redraw(self) -> None:
        """Draw what is known now."""
        self._stale.stop()
        steps = np.arange(1, self._arrays.shape[1] + 1, dtype=np.float64)
        loss, corrections, contradictions, omissions = self._arrays
        self.replay_loss.setData(steps, loss)
        self.corrections.setData(steps, np.log10(1 + corrections))
        suspicious = contradictions + omissions
        shown = suspicious > 0
        self.suspicious.setData(steps[shown], np.log10(1 + suspicious[shown]))
        most = np.nanmax(np.concatenate([[10.0], self._recorded_entries, corrections, suspicious]))
        self.log.setYRange(-0.15, math.log10(1 + most) * 1.08, padding=0.02)
        self._redraw_divergence()

    def _later(self) -> None:
        if not self._stale.isActive():
            self._stale.start()

    def _reset(self) -> None:
        summary = self._session.summary
        run = summary.run if summary is not None else None
        count = run.steps if run is not None else 0
        self._arrays = np.full((4, count), np.nan)
        steps = np.arange(1, count + 1, dtype=np.float64)
        self.trainer_loss.setData(steps, np.array(run.losses if run is not None else (), dtype=np.float64))
        self._recorded_entries = np.array(run.log_entries if run is not None else (), dtype=np.float64)
        self.entries.setData(steps, np.log10(1 + self._recorded_entries))
        self.loss.setXRange(0, max(count, 1), padding=0.02)
        self.loss.getPlotItem().enableAutoRange(axis="y")
        self.tensor.blockSignals(True)
        while self.tensor.count() > 1:
            self.tensor.removeItem(1)
        self.tensor.blockSignals(False)
        if self._session.rows:
            self._fill(self._session.rows)
        self._mark()
        self.redraw()

    def _add(self, first: int, last: int) -> None:
        self._fill(self._session.rows[first : last + 1])
        self._later()

    def _fill(self, rows: Sequence[StepRow]) -> None:
        for row in rows:
            if 1 <= row.step <= self._arrays.shape[1]:
                # The log of a step that parted belongs to other values; its counts would say nothing of the trainer.
                match = row.match is StepMatch.MATCH
                counts = (row.corrections, row.contradictions, row.omissions) if match else (np.nan,) * 3
                self._arrays[:, row.step - 1] = (row.replay_loss, *counts)

    def _redraw_divergence(self) -> None:
        table = self._session.divergence
        if self.tensor.count() == 1 and table.names:
            self.tensor.addItems(list(table.names))
        levels, low, high = table.levels()
        self._power_axis.equal_level, self._power_axis.broken_level = low, high
        steps = table.steps
        if not len(table):
            self.all_tensors.setData([], [])
            self.one_tensor.setData([], [])
            self.divergence.setYRange(low - 0.5, high - 0.5, padding=0)
            return
        groups = max(2, MAX_DIVERGENCE_POINTS // max(1, len(table.names)))
        thinned = [peaks(row, groups) for row in levels]
        # One item for all tensors, with a gap between any two: hundreds of items would be slow.
        self.all_tensors.setData(
            np.concatenate([np.append(steps[kept], np.nan) for kept, _ in thinned]),
            np.concatenate([np.append(values, np.nan) for _, values in thinned]),
        )
        name = self.tensor.currentText() if self.tensor.currentIndex() > 0 else table.largest() or table.names[0]
        self.one_tensor.setSymbol("o" if len(table) <= MOST_SYMBOLS else None)
        self.one_tensor.setData(steps, levels[table.names.index(name)])
        top = high if (levels == high).any() else high - 1
        self.divergence.setYRange(low - 0.5, max(top, low + 2) + 0.5, padding=0)

    def _mark(self) -> None:
        dispute = self._session.dispute
        for plot in self.plots:
            plot.mark(self._session.selected_step, dispute.step if dispute is not None else None)

    def _colour(self) -> None:
        tokens = self._theme.tokens
        for plot in self.plots:
            plot.colour(self._theme)
        self.trainer_loss.setPen(pg.mkPen(tokens.trainer, width=1))
        self.replay_loss.setPen(pg.mkPen(tokens.replay, width=1, style=Qt.PenStyle.DashLine))
        faint = QColor(tokens.muted)
        faint.setAlpha(110)
        self.all_tensors.setPen(pg.mkPen(faint, width=1))
        self.one_tensor.setPen(pg.mkPen(tokens.replay, width=1))
        self.one_tensor.setSymbolPen(None)
        self.one_tensor.setSymbolBrush(tokens.replay)
        self.entries.setPen(pg.mkPen(tokens.trainer, width=1))
        self.corrections.setPen(pg.mkPen(tokens.replay, width=1))
        self.suspicious.setSymbolPen(None)
        self.suspicious.setSymbolBrush(tokens.bad)
        solid, dashed, sign = "\u2501", "\u254d\u254d", "\u25bc"
        self._legends[0].setText(
            self._legend(_tr("Loss"), (tokens.trainer, solid, _tr("trainer")), (tokens.replay, dashed, _tr("replay")))
        )
        self._legends[1].setText(self._legend(_tr("Difference per tensor"), (tokens.replay, solid, _tr("chosen"))))
        self._legends[2].setText(
            self._legend(
                _tr("Rounding log"),
                (tokens.trainer, solid, _tr("entries")),
                (tokens.replay, solid, _tr("corrections")),
                (tokens.bad, sign, _tr("contradictions, omissions")),
            )
        )

    def _legend(self, title: str, *entries: tuple[str, str, str]) -> str:
        parts = [f'<span style="color:{colour}">{mark}</span>&nbsp;{word}' for colour, mark, word in entries]
        return f"<b>{title}</b>&nbsp; " + "&nbsp; ".join(parts)
