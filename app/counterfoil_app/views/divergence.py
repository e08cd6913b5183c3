"""Where the replay and the trainer part: differences per tensor, loss and rounding log over the steps, one x axis.

Plots show data; no conclusion is ever read from one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QAction, QActionGroup, QColor, QFont, QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from counterfoil import StepMatch
from counterfoil_app.engine.strangers import beside, name_of
from counterfoil_app.looks import text, words
from counterfoil_app.looks.fonts import scaled
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.divergence_table import Floats, thin_to_view
from counterfoil_app.model.eventloop import follow, single_shot
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts, plot_export
from counterfoil_app.views.axes import CountAxis, NameAxis, NumberAxis, StepAxis, TitleItem, name_width
from counterfoil_app.views.heatmap import HeatMap
from counterfoil_app.views.parts import label
from counterfoil_app.views.plot_export import PlotNumbers

REDRAW_MILLISECONDS = 100
"""Plots are redrawn at most ten times a second, however fast steps come in."""
LEAST_HEIGHT = 54
"""Least height of a plot in pixels."""
CURVE_PIXELS = 1.5
BEHIND = -10.0
"""Where the markers lie: behind the curves, so that none hides a spike; but above the heat map, which is a ground."""
LOW, HIGH = 0.12, 0.92
"""Heights of the word at the disputed step."""
SMOOTHED_STEPS = (1, 5, 25, 100)
FAINT = 90
"""Opacity, of 255, of a curve under its smoothed one."""
CLOSEST_STEPS = 8
"""Fewest steps in view."""

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

    def write_at(self, height: float) -> None:
        """Write "disputed" at a height of the plot, from 0 to 1."""
        if hasattr(self.disputed, "label"):
            self.disputed.label.setPosition(height)

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


class DivergenceView(QWidget):
    """A heat map and two plots above each other, with one crosshair."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._theme = theme
        self._titles: list[TitleItem] = []
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Divergence"))
        self.setAccessibleDescription(
            self.tr("Left and right arrow keys choose a step, plus and minus zoom, Home shows the whole run")
        )
        self.canvas = pg.GraphicsLayoutWidget()
        self.canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # pyqtgraph's own export dialog speaks English only; ours is in the File menu.
        for own in self.canvas.scene().contextMenu:
            own.setParent(None)
        self.canvas.scene().contextMenu = []
        self.canvas.setAccessibleName(self.tr("Plots over the steps"))
        self._layout = self.canvas.ci.layout
        self._layout.setContentsMargins(4, 0, 4, 2)
        self._layout.setVerticalSpacing(0)
        names = NameAxis()
        self.heat = self._plot(0, names)
        self.loss = self._plot(1, NumberAxis())
        self.log = self._plot(2, CountAxis())
        self.plots = (self.heat, self.loss, self.log)
        self.bar = self.canvas.addPlot(row=1, col=1, enableMenu=False)
        for place, stretch in enumerate((5, 3, 3)):
            self._layout.setRowStretchFactor(2 * place + 1, stretch)
            self._layout.setRowMinimumHeight(2 * place + 1, scaled(LEAST_HEIGHT))
        self.differences = HeatMap(self.heat, names, self.bar, session, theme)
        # The trainer's curve is drawn first and solid: where both agree, the replay's dashes lie on it.
        self.trainer_loss = self._curve(self.loss)
        self.replay_loss = self._curve(self.loss)
        self.trainer_smooth = self._curve(self.loss)
        self.replay_smooth = self._curve(self.loss)
        self.log_bytes = self._curve(self.log)
        self.corrections = self._curve(self.log)
        self.suspicious = pg.ScatterPlotItem(symbol="t", size=10)
        self.log.addItem(self.suspicious)
        self.markers = [Markers(plot, labelled=plot is self.loss) for plot in self.plots]
        self.readout = label("", wrap=False)
        self.readout.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        whole_tip = self.tr("Show all steps (Home); the wheel zooms, dragging moves")
        self.whole = layouts.button(self.tr("Reset zoom"), self.show_whole, tip=whole_tip)
        self._make_exports()
        self._make_axes()
        controls = ((self.readout, 1), self.whole, self.axes, self.export)
        bar = layouts.row(*controls, margins=(10, 4, 10, 2), spacing=8)
        layouts.column(bar, (self.canvas, 1), inside=self, margins=layouts.NONE, spacing=0)
        self._stale = single_shot(self, REDRAW_MILLISECONDS, self.redraw)
        self.canvas.viewport().installEventFilter(self)
        self._moves = pg.SignalProxy(self.canvas.scene().sigMouseMoved, rateLimit=60, slot=self._pointed)
        self.canvas.scene().sigMouseClicked.connect(self._clicked)
        follow(self._later, self.heat.getViewBox().sigXRangeChanged, self.heat.getViewBox().sigResized)
        session.bundle_changed.connect(partial(session.drawing.soon, self._reset))
        follow(self._later, session.rows_changed, session.sample_chosen, session.divergence_changed)
        follow(self._mark, session.dispute_changed, session.step_selected)
        theme.changed.connect(self._colour)
        self._colour()
        self._reset()

    # Making

    def _plot(self, place: int, axis: pg.AxisItem) -> pg.PlotItem:
        self._titles.append(TitleItem())
        self.canvas.addItem(self._titles[-1], row=2 * place, col=0)
        axes = {"left": axis, "bottom": StepAxis()}
        plot = self.canvas.addPlot(row=2 * place + 1, col=0, axisItems=axes, enableMenu=False)
        plot.hideButtons()
        plot.setMouseEnabled(x=True, y=False)
        plot.getAxis("bottom").setStyle(showValues=place == 2)
        if place:
            plot.setXLink(self.heat)
        return plot

    def _curve(self, plot: pg.PlotItem) -> pg.PlotCurveItem:
        curve = pg.PlotCurveItem(connect="finite", antialias=True)
        plot.addItem(curve)
        return curve

    def _make_exports(self) -> None:
        picture, drawing = self.tr("Plots as p&icture (PNG)\u2026"), self.tr("Plots as dra&wing (SVG)\u2026")
        numbers = self.tr("&Numbers of the plots (CSV)\u2026")
        self.png_action = layouts.action(self, picture, "Ctrl+Shift+P", partial(self._export, "png"))
        self.svg_action = layouts.action(self, drawing, "", partial(self._export, "svg"))
        self.csv_action = layouts.action(self, numbers, "", partial(self._export, "csv"))
        self.export = layouts.menu_button(self.tr("Export"), self.export_actions())

    def _make_axes(self) -> None:
        choice = partial(layouts.choice_action, self, do=self._axes_chosen)
        self.logarithmic = choice(self.tr("&Logarithmic"))
        self.difference = choice(self.tr("&Difference, replay minus trainer"))
        names = {steps: self.tr("Mean of &{0} steps").format(steps) for steps in SMOOTHED_STEPS}
        names[1] = self.tr("&Not smoothed")
        self.smoothing = {steps: choice(name, checked=steps == 1) for steps, name in names.items()}
        group = QActionGroup(self)
        for smoothed in self.smoothing.values():
            group.addAction(smoothed)
        options = ([self.logarithmic, self.difference], list(self.smoothing.values()))
        self.axes = layouts.menu_button(self.tr("Loss axis"), *options)

    def _axes_chosen(self) -> None:
        self.loss.getAxis("left").setLogMode(self.logarithmic.isChecked())
        self.loss.enableAutoRange(axis="y")
        self._colour()
        self.redraw()

    def export_actions(self) -> list[QAction]:
        """What the window's menu offers of this view."""
        return [self.png_action, self.svg_action, self.csv_action]

    # Drawing

    @property
    def _places(self) -> int:
        return max(50, int(self.heat.getViewBox().width()))

    def view_range(self) -> tuple[int, int]:
        """First and last step in view."""
        low, high = self.heat.getViewBox().viewRange()[0]
        count = self._session.step_data.count
        return max(1, math.floor(low)), max(1, min(count, math.ceil(high)))

    def redraw(self) -> None:
        """Draw what is known now of the steps in view."""
        self._stale.stop()
        data = self._session.step_data
        first, last = self.view_range()
        thin = partial(thin_to_view, first=first, last=last, places=self._places)
        self._draw_loss(data.trainer_loss, data.replay_loss, thin)
        log_bytes, corrections = data.log_bytes, data.corrections
        self.log_bytes.setData(*_counted(thin(log_bytes)))
        self.corrections.setData(*_counted(thin(corrections)))
        steps, amounts = thin(data.suspicious)
        shown = amounts > 0
        self.suspicious.setData(*_counted((steps[shown], amounts[shown])))
        most = [float(np.nanmax(values)) for values in (log_bytes, corrections) if not np.isnan(values).all()]
        self.log.setYRange(-0.15, math.log10(1 + max([10.0, *most])) * 1.06, padding=0.02)
        self._name_heat()
        self.differences.draw(first, last, self._places)
        self._show_readout(None)

    def _draw_loss(self, trainer: Floats, replay: Floats, thin: Callable[[Floats], tuple[Floats, Floats]]) -> None:
        """Draw the loss as the axis was chosen; smoothed curves lie on those they were made from."""
        over = next(steps for steps, chosen in self.smoothing.items() if chosen.isChecked())
        apart, levels = self.difference.isChecked(), self.logarithmic.isChecked()
        if apart:
            trainer, replay = np.full_like(trainer, np.nan), replay - trainer
        for values, curve, smooth in (
            (trainer, self.trainer_loss, self.trainer_smooth),
            (replay, self.replay_loss, self.replay_smooth),
        ):
            curve.setData(*_level(thin(values), levels))
            smooth.setVisible(over > 1)
            if over > 1:
                smooth.setData(*_level(thin(moving_mean(values, over)), levels))

    def _later(self) -> None:
        if not self._stale.isActive():
            self._stale.start()

    def _reset(self) -> None:
        count = self._session.step_data.count
        for plot in self.plots:
            plot.setLimits(xMin=0, xMax=max(2, count + 1), minXRange=min(CLOSEST_STEPS, max(1, count)))
        self.loss.enableAutoRange(axis="y")
        self.show_whole()
        for action in self.export_actions():
            action.setEnabled(count > 0)
        for button in (self.export, self.whole):
            button.setEnabled(count > 0)
        self._mark()
        self.redraw()

    def show_whole(self) -> None:
        """Show all steps."""
        self.heat.setXRange(0.5, max(1.5, self._session.step_data.count + 0.5), padding=0)

    def _mark(self) -> None:
        dispute = self._session.dispute
        for markers in self.markers:
            markers.place(markers.selected, self._session.selected_step)
            disputed = dispute.step if dispute is not None and markers is not self.markers[0] else None
            markers.place(markers.disputed, disputed)  # over the heat map it would hide the very cells it points at
        self._bring_into_view(self._session.selected_step)
        self._show_readout(None)

    def _bring_into_view(self, step: int | None) -> None:
        low, high = self.heat.getViewBox().viewRange()[0]
        if step is not None and not low <= step <= high:
            half = (high - low) / 2
            self.heat.setXRange(step - half, step + half, padding=0)

    def _colour(self) -> None:
        tokens = self._theme.tokens
        self.canvas.setBackground(tokens.surface)
        small = self._small
        for plot in (*self.plots, self.bar):
            for side in ("left", "bottom", "right"):
                axis = plot.getAxis(side)
                axis.setPen(tokens.control)
                axis.setTextPen(tokens.muted)
                axis.setTickFont(small)
        metrics = QFontMetrics(small)
        self._layout.setColumnFixedWidth(1, self.differences.colour(self.font(), small))
        for plot in (*self.plots, self.bar):
            plot.getAxis("bottom").setHeight(2 * metrics.height() + 8 if plot is self.log else 4)
        style = {"color": tokens.muted, "font-size": f"{small.pointSizeF():.1f}pt"}
        self.loss.getAxis("left").setLabel(_tr("Loss"), **style)
        self.log.getAxis("left").setLabel(_tr("Number"), **style)
        self.log.getAxis("bottom").setLabel(_tr("Step"), **style)
        self._set_widths()
        # Below this the canvas is scrolled: a view that is drawn would only be cut off.
        self.canvas.setMinimumHeight(3 * scaled(LEAST_HEIGHT) + 7 * metrics.height())
        for plot in (self.loss, self.log):
            plot.showGrid(x=True, y=True, alpha=0.16)
        dashed_line = Qt.PenStyle.SolidLine if self.difference.isChecked() else Qt.PenStyle.DashLine
        smoothed = not self.smoothing[1].isChecked()
        self.trainer_loss.setPen(_pen(tokens.trainer, faint=smoothed))
        self.replay_loss.setPen(_pen(tokens.replay, dashed_line, faint=smoothed))
        self.trainer_smooth.setPen(_pen(tokens.trainer))
        self.replay_smooth.setPen(_pen(tokens.replay, dashed_line))
        self.log_bytes.setPen(pg.mkPen(tokens.trainer, width=CURVE_PIXELS))
        self.corrections.setPen(pg.mkPen(tokens.replay, width=CURVE_PIXELS))
        self.suspicious.setPen(None)
        self.suspicious.setBrush(tokens.bad)
        for markers in self.markers:
            markers.colour(self._theme)
            # Where the curves are not: a difference is 0 but in few steps.
            markers.write_at(LOW if self.difference.isChecked() and not self.logarithmic.isChecked() else HIGH)
        solid, dashed, sign = "\u2501", "\u254d\u254d", "\u25bc"
        self._name_heat()
        if self.difference.isChecked():
            sized = self.logarithmic.isChecked()
            said = _tr("size of replay minus trainer") if sized else _tr("replay minus trainer")
            self._title(1, _tr("Loss"), (tokens.replay, solid, said))
        else:
            self._title(1, _tr("Loss"), (tokens.trainer, solid, _tr("trainer")), (tokens.replay, dashed, _tr("replay")))
        self._title(
            2,
            _tr("Rounding log per step"),
            (tokens.trainer, solid, _tr("bytes")),
            (tokens.replay, solid, _tr("corrections")),
            (tokens.bad, sign, _tr("contradictions, omissions")),
        )
        self._later()

    def _name_heat(self) -> None:
        title = _tr("Largest difference of each state tensor at the stored states")
        self._title(0, title, (self._theme.tokens.muted, "\u00b7", self.differences.differing()))

    @property
    def _small(self) -> QFont:
        """The font along the axes."""
        small = QFont(self.font())
        small.setPointSizeF(small.pointSizeF() * 0.9)
        return small

    def _set_widths(self) -> None:
        for plot in self.plots:
            plot.getAxis("left").setWidth(name_width(self._small, self.canvas.width()))

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """The crosshair leaves with the mouse; names take their share of the width."""
        if event.type() is QEvent.Type.Leave:
            self._moves.block = True  # what is still on its way would bring it back
            self._moves.flush()
            self._moves.block = False
            self._hide_crosshair()
        elif event.type() is QEvent.Type.Resize:
            self._set_widths()
        return False

    def _hide_crosshair(self) -> None:
        for markers in self.markers:
            markers.place(markers.crosshair, None)
        self._show_readout(None)

    def _title(self, place: int, title: str, *entries: tuple[str, str, str]) -> None:
        parts = [f'<span style="color:{colour}">{mark}</span>&nbsp;{word}' for colour, mark, word in entries]
        self._titles[place].setText(
            f"<b>{title}</b>&nbsp;&nbsp; " + "&nbsp;&nbsp; ".join(parts),
            color=self._theme.tokens.text,
            size=f"{self.font().pointSizeF():.1f}pt",
        )

    # Pointing and choosing

    def _pointed(self, arguments: tuple[QPointF]) -> None:
        self.point_at(arguments[0])

    def point_at(self, place: QPointF) -> None:
        """Show the crosshair and the values at a place of the canvas, in its scene's coordinates."""
        plot = next((plot for plot in self.plots if plot.sceneBoundingRect().contains(place)), None)
        step: int | None = None
        row: int | None = None
        if plot is not None:
            point = plot.getViewBox().mapSceneToView(place)
            step = round(point.x()) if 1 <= round(point.x()) <= self._session.step_data.count else None
            row = int(point.y()) if plot is self.heat and 0 <= point.y() < len(self.differences.rows) else None
        for markers in self.markers:
            markers.place(markers.crosshair, step)
        self._show_readout(step, row)

    def _clicked(self, event: object) -> None:
        place = event.scenePos()  # type: ignore[attr-defined]
        plot = next((plot for plot in self.plots if plot.sceneBoundingRect().contains(place)), None)
        if plot is not None:
            step = round(plot.getViewBox().mapSceneToView(place).x())
            if 1 <= step <= self._session.step_data.count:
                self._session.select_step(step)

    def describe(self, step: int, row: int | None = None) -> str:
        """What the plots show at a step, in words; with a row of the heat map, its difference too."""
        table = self._session.steps
        state, found = self._session.step_data.state(step), table.row(step)
        trainer_loss = text.loss(float(table.column("trainer_loss")[step - 1]))
        parts = [self.tr("Step {0}").format(text.count(step))]
        if state is not None:
            parts.append(words.step_state(state).word)
        if found is None or math.isnan(found.replay_loss):
            parts.append(self.tr("loss {0}").format(trainer_loss))
        else:
            parts.append(self.tr("loss {0} (trainer), {1} (replay)").format(trainer_loss, text.loss(found.replay_loss)))
        parts.append(self.tr("log {0} bytes").format(text.count(int(table.column("log_bytes")[step - 1]))))
        if found is not None and found.match is StepMatch.MATCH:
            parts.append(self.tr("{0} corrections").format(text.count(found.corrections)))
        difference = self.differences.describe(step, row)
        return "   \u00b7   ".join([*parts, difference] if difference else parts)

    def _show_readout(self, step: int | None, row: int | None = None) -> None:
        step = step if step is not None else self._session.selected_step
        if step is None or not 1 <= step <= self._session.step_data.count:
            self.readout.setText(self.tr("Point at a step to read its values; click to select it in all views."))
            return
        self.readout.setText(self.describe(step, row))
        self.readout.setToolTip(self.readout.text())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Arrows choose a step, plus and minus zoom around it, Home shows the whole run."""
        key, count = event.key(), self._session.step_data.count
        if not count:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            now = self._session.selected_step or 0
            self._session.select_step(min(count, max(1, now + (1 if key == Qt.Key.Key_Right else -1))))
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            self._zoom(2.0 if key == Qt.Key.Key_Minus else 0.5)
        elif key == Qt.Key.Key_Home:
            self.show_whole()
        else:
            super().keyPressEvent(event)

    def _zoom(self, factor: float) -> None:
        low, high = self.heat.getViewBox().viewRange()[0]
        centre = self._session.selected_step or (low + high) / 2
        half = (high - low) / 2 * factor
        self.heat.setXRange(max(0.0, centre - half), centre + half, padding=0)

    # Exporting

    def _export_title(self) -> str:
        """What a picture says by itself: the file, the outcome, and which steps it shows."""
        session = self._session
        parts = [name_of(session.path)]
        if session.report is not None:
            parts.append(words.conclusion(session.report).word)
        first, last = self.view_range()
        parts.append(self.tr("steps {0} to {1}").format(text.count(first), text.count(last)))
        return "  \u00b7  ".join(parts)

    def _export(self, kind: str) -> None:
        path = self._session.path
        if path is None:
            return
        proposal = beside(path, f".plots.{kind}")
        if target := layouts.new_file(self, self.tr("Export the plots"), proposal, f"*.{kind}", here=True):
            self.write(kind, target)

    def write(self, kind: str, target: Path) -> None:
        """Write the plots; ``kind`` is ``png``, ``svg`` or ``csv``."""
        self.redraw()
        self._hide_crosshair()
        sheet = plot_export.Sheet(self._export_title(), self.font(), self._theme.tokens)
        if kind == "png":
            self._session.exports.contents(target, partial(plot_export.png, plot_export.draw_image(self.canvas, sheet)))
        elif kind == "svg":
            drawing = plot_export.svg(self.canvas, sheet)
            self._session.exports.contents(target, lambda: drawing)
        else:
            numbers = PlotNumbers(self._session.step_data.snapshot(), self._session.divergence.copy())
            self._session.exports.contents(target, partial(plot_export.numbers_csv, numbers))


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


def _level(series: tuple[Floats, Floats], logarithmic: bool) -> tuple[Floats, Floats]:
    """As log10 of the size where the axis is logarithmic; 0 has no place on it."""
    if not logarithmic:
        return series
    sizes = np.abs(series[1])
    return series[0], np.log10(sizes, out=np.full_like(sizes, np.nan), where=sizes > 0)


def _pen(colour: str, style: Qt.PenStyle = Qt.PenStyle.SolidLine, *, faint: bool = False) -> object:
    drawn = QColor(colour)
    drawn.setAlpha(FAINT if faint else 255)
    return pg.mkPen(drawn, width=CURVE_PIXELS, style=style)


def _counted(series: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    return series[0], np.log10(1 + series[1])
