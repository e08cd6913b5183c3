"""Where the replay and the trainer part: differences per tensor, losses and rounding log over the steps, one x axis.

Plots show data; no conclusion is ever read from one.
"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QDateTime, QEvent, QLocale, QObject, QPointF, Qt
from PySide6.QtGui import QAction, QActionGroup, QFont, QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QGraphicsItem, QSizePolicy, QWidget

from counterfoil import StepMatch
from counterfoil_app.engine.strangers import beside, name_of
from counterfoil_app.looks import text, words
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Theme
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.model.divergence_table import Floats
from counterfoil_app.model.eventloop import follow, single_shot
from counterfoil_app.model.other_run import OtherRun
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts, plot_export
from counterfoil_app.views.axes import CountAxis, Markers, NameAxis, NumberAxis, StepAxis, TitleItem, name_width
from counterfoil_app.views.curves import Series, View
from counterfoil_app.views.heatmap import HeatMap
from counterfoil_app.views.parts import label
from counterfoil_app.views.plot_export import PlotNumbers

REDRAW_MILLISECONDS = 100
"""Plots are redrawn at most ten times a second, however fast steps come in."""
READOUT_LINES = 2
SMOOTHED_STEPS = (1, 5, 25, 100)
CLOSEST_STEPS = 8
"""Fewest steps in view."""
HEAT, LOSS, APART, LOG = range(4)
"""The plots, from above."""
LEAST_HEIGHTS, STRETCHES = (94, 54, 36, 54), (6, 3, 1, 2)
"""Least height of each in pixels, and its share of what there is more."""
SOLID, DASHED, SIGN, POINT = "\u2501", "\u254d\u254d", "\u25bc", "\u00b7"
"""How a legend shows curves and marks."""

_tr = texts("divergence")


class DivergenceView(QWidget):
    """A heat map and plots above each other, with one crosshair; those that have nothing to show are not there."""

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
        axes = (names, NumberAxis(), NumberAxis(), CountAxis())
        self.plots = [self._plot(place, axis) for place, axis in enumerate(axes)]
        self.heat, self.loss, self.apart, self.log = self.plots
        for plot in self.plots:
            if plot is not self.loss:  # which is always there
                plot.setXLink(self.loss)
        self.bar = self.canvas.addPlot(row=1, col=1, enableMenu=False)
        self._shown = dict.fromkeys(range(len(self.plots)), True)
        self.differences = HeatMap(self.heat, names, self.bar, session, theme)
        self.other = OtherRun(session, self)
        # The trainer's curve is drawn first and solid: where both agree, the replay's dashes lie on it.
        self.other_loss = Series(self.loss)
        self.trainer_loss = Series(self.loss)
        self.replay_loss = Series(self.loss)
        self.loss_apart = Series(self.apart)
        self.log_bytes = Series(self.log)
        self.corrections = Series(self.log)
        self.suspicious = pg.ScatterPlotItem(symbol="t", size=10)
        self.log.addItem(self.suspicious)
        self.markers = [Markers(plot, labelled=plot is self.loss) for plot in self.plots]
        self.readout = label("")
        self.readout.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.readout.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.readout.setFixedHeight(READOUT_LINES * self.readout.fontMetrics().lineSpacing())
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
        follow(self._later, self.loss.getViewBox().sigXRangeChanged, self.loss.getViewBox().sigResized)
        session.bundle_changed.connect(partial(session.drawing.soon, self._reset))
        follow(self._later, session.rows_changed, session.sample_chosen, session.divergence_changed)
        follow(self._mark, session.dispute_changed, session.step_selected)
        self.other.changed.connect(self._other_changed)
        theme.changed.connect(self._colour)
        self._keep_drawn(True)
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
        return plot

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
        names = {steps: self.tr("Mean of &{0} steps").format(steps) for steps in SMOOTHED_STEPS}
        names[1] = self.tr("&Not smoothed")
        self.smoothing = {steps: choice(name, checked=steps == 1) for steps, name in names.items()}
        group = QActionGroup(self)
        for smoothed in self.smoothing.values():
            group.addAction(smoothed)
        beside = layouts.action(self, self.tr("&Show another run beside it\u2026"), "", self._choose_other)
        self.without_other = layouts.action(self, self.tr("Leave the &other run out"), "", self.other.forget)
        options = ([self.logarithmic], list(self.smoothing.values()), [beside, self.without_other])
        self.axes = layouts.menu_button(self.tr("Loss axis"), *options)

    def _axes_chosen(self) -> None:
        for plot in (self.loss, self.apart):
            plot.getAxis("left").setLogMode(self.logarithmic.isChecked())
            plot.enableAutoRange(axis="y")
        self._colour()
        self.redraw()

    def export_actions(self) -> list[QAction]:
        """What the window's menu offers of this view."""
        return [self.png_action, self.svg_action, self.csv_action]

    # Drawing

    @property
    def _places(self) -> int:
        return max(50, int(self.loss.getViewBox().width()))

    def view_range(self) -> tuple[int, int]:
        """First and last step in view."""
        low, high = self.loss.getViewBox().viewRange()[0]
        count = self._session.step_data.count
        return max(1, math.floor(low)), max(1, min(count, math.ceil(high)))

    def redraw(self) -> None:
        """Draw what is known now of the steps in view."""
        self._stale.stop()
        data = self._session.step_data
        first, last = self.view_range()
        view = View(first, last, self._places, logarithmic=self.logarithmic.isChecked())
        counts = View(first, last, self._places, counts=True)
        over = next(steps for steps, chosen in self.smoothing.items() if chosen.isChecked())
        self.other_loss.draw(self.other.losses(data.count), view, over)
        self.trainer_loss.draw(data.trainer_loss, view, over)
        self.replay_loss.draw(data.replay_loss, view, over)
        apart, log_bytes, corrections = data.loss_apart, data.log_bytes, data.corrections
        self.loss_apart.draw(apart, view)
        self.log_bytes.draw(log_bytes, counts)
        self.corrections.draw(corrections, counts)
        suspicious = counts.thin(data.suspicious)
        shown = suspicious.most > 0
        self.suspicious.setData(suspicious.steps[shown], suspicious.most[shown])
        most = [float(np.nanmax(values)) for values in (log_bytes, corrections) if not np.isnan(values).all()]
        self.log.setYRange(-0.15, math.log10(1 + max([10.0, *most])) * 1.06, padding=0.02)
        self._show_plots(apart, log_bytes)
        self._name_heat()
        self.differences.draw(first, last, self._places)
        self._show_readout(None)

    def _show_plots(self, apart: Floats, log_bytes: Floats) -> None:
        """Leave out the plots that have nothing to show, and give the others their room."""
        before = dict(self._shown)
        self._shown[HEAT] = len(self._session.divergence) > 0
        self._shown[APART] = bool(np.isfinite(apart).any())
        self._shown[LOG] = bool((log_bytes > 0).any())
        last = max(place for place, shown in self._shown.items() if shown)
        ticks = 2 * QFontMetrics(self._small).height() + 8
        for place, plot in enumerate(self.plots):
            shown = self._shown[place]
            plot.setVisible(shown)
            self._titles[place].setVisible(shown)
            self._layout.setRowStretchFactor(2 * place + 1, STRETCHES[place] if shown else 0)
            self._layout.setRowMinimumHeight(2 * place + 1, scale(LEAST_HEIGHTS[place]) if shown else 0)
            self._layout.setRowMinimumHeight(2 * place, self._titles[place].minimumHeight() if shown else 0)
            bottom = plot.getAxis("bottom")
            bottom.setStyle(showValues=place == last)
            bottom.showLabel(place == last)
            bottom.setHeight(ticks if place == last else 4)
        self.bar.setVisible(self._shown[HEAT])
        if self._shown != before:
            self._layout.activate()  # what is drawn next goes by the new heights

    def _later(self) -> None:
        if not self._stale.isActive():
            self._stale.start()

    def _reset(self) -> None:
        count = self._session.step_data.count
        for plot in self.plots:
            plot.setLimits(xMin=0, xMax=max(2, count + 1), minXRange=min(CLOSEST_STEPS, max(1, count)))
        for plot in (self.loss, self.apart):
            plot.enableAutoRange(axis="y")
        self.show_whole()
        for action in self.export_actions():
            action.setEnabled(count > 0)
        self.without_other.setEnabled(bool(self.other.name))
        for button in (self.export, self.whole):
            button.setEnabled(count > 0)
        self._mark()
        self.redraw()

    def show_whole(self) -> None:
        """Show all steps."""
        self.loss.setXRange(0.5, max(1.5, self._session.step_data.count + 0.5), padding=0)

    def _mark(self) -> None:
        dispute = self._session.dispute
        for markers in self.markers:
            markers.place(markers.selected, self._session.selected_step)
            disputed = dispute.step if dispute is not None and markers is not self.markers[HEAT] else None
            markers.place(markers.disputed, disputed)  # over the heat map it would hide the very cells it points at
        self._bring_into_view(self._session.selected_step)
        self._show_readout(None)

    def _bring_into_view(self, step: int | None) -> None:
        low, high = self.loss.getViewBox().viewRange()[0]
        if step is not None and not low <= step <= high:
            half = (high - low) / 2
            self.loss.setXRange(step - half, step + half, padding=0)

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
        self.bar.getAxis("bottom").setHeight(4)
        style = {"color": tokens.muted, "font-size": f"{small.pointSizeF():.1f}pt"}
        names = ((self.loss, _tr("Loss")), (self.apart, _tr("Apart")), (self.log, _tr("Number")))
        for plot, name in names:
            plot.getAxis("left").setLabel(name, **style)
            plot.showGrid(x=True, y=True, alpha=0.16)
        for plot in self.plots:
            plot.getAxis("bottom").setLabel(_tr("Step"), **style)
        self._set_widths()
        # Below this the canvas is scrolled: a view that is drawn would only be cut off.
        self.canvas.setMinimumHeight(scale(sum(LEAST_HEIGHTS)) + 8 * metrics.height())
        faint = not self.smoothing[1].isChecked()
        self.other_loss.colour(tokens.other, faint=faint)
        self.trainer_loss.colour(tokens.trainer, faint=faint)
        self.replay_loss.colour(tokens.replay, Qt.PenStyle.DashLine, faint=faint)
        self.loss_apart.colour(tokens.apart)
        self.log_bytes.colour(tokens.log)
        self.corrections.colour(tokens.corrected)
        self.suspicious.setPen(None)
        self.suspicious.setBrush(tokens.bad)
        for markers in self.markers:
            markers.colour(self._theme)
        self._name_plots()
        self._later()

    def _name_plots(self) -> None:
        tokens = self._theme.tokens
        self._name_heat()
        losses = [(tokens.trainer, SOLID, _tr("trainer")), (tokens.replay, DASHED, _tr("replay"))]
        if self.other.name:
            losses.append((tokens.other, SOLID, self.other.name))
        self._title(LOSS, _tr("Loss"), *losses)
        sized = self.logarithmic.isChecked()
        said = _tr("size of replay minus trainer") if sized else _tr("replay minus trainer")
        self._title(APART, _tr("Losses apart"), (tokens.apart, SOLID, said))
        self._title(
            LOG,
            _tr("Rounding log per step"),
            (tokens.log, SOLID, _tr("bytes")),
            (tokens.corrected, SOLID, _tr("corrections")),
            (tokens.bad, SIGN, _tr("contradictions, omissions")),
        )

    def _name_heat(self) -> None:
        title = _tr("Largest difference of each state tensor at the stored states")
        self._title(HEAT, title, (self._theme.tokens.muted, POINT, self.differences.differing()))

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

    def _choose_other(self) -> None:
        path = self._session.path
        title, kinds = self.tr("Show another run beside it"), self.tr("Counterfoil bundles (*.cfoil);;All files (*)")
        if path is not None and (other := layouts.existing_file(self, title, path.parent, kinds)):
            self.other.show(other)

    def _other_changed(self) -> None:
        self.without_other.setEnabled(bool(self.other.name))
        self.loss.enableAutoRange(axis="y")
        self._name_plots()
        self.redraw()

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
        beside = self.other.losses(len(table))[step - 1] if self.other.name else math.nan
        if math.isfinite(beside):
            parts.append(self.tr("loss {0} ({1})").format(text.loss(float(beside)), self.other.name))
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
        set_tip(self.readout, self.readout.text())

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
        low, high = self.loss.getViewBox().viewRange()[0]
        centre = self._session.selected_step or (low + high) / 2
        half = (high - low) / 2 * factor
        self.loss.setXRange(max(0.0, centre - half), centre + half, padding=0)

    # Exporting

    def _export_title(self) -> tuple[str, str]:
        """What a picture says by itself: the file, the outcome and its steps; below, which run that is, and when."""
        session = self._session
        parts = [name_of(session.path)]
        if session.report is not None:
            parts.append(words.conclusion(session.report).word)
        first, last = self.view_range()
        parts.append(self.tr("steps {0} to {1}").format(text.count(first), text.count(last)))
        below = [QLocale().toString(QDateTime.currentDateTime(), QLocale.FormatType.ShortFormat)]
        if session.run is not None and session.run.run_root is not None:
            below.insert(0, self.tr("run root {0}").format(session.run.run_root.hex))
        return "  \u00b7  ".join(parts), "  \u00b7  ".join(below)

    def _export(self, kind: str) -> None:
        path = self._session.path
        if path is None:
            return
        proposal = beside(self._session.near(path), f".plots.{kind}")
        if target := layouts.new_file(self, self.tr("Export the plots"), proposal, f"*.{kind}", here=True):
            self.write(kind, target)

    def write(self, kind: str, target: Path) -> None:
        """Write the plots; ``kind`` is ``png``, ``svg`` or ``csv``."""
        self.redraw()
        self._hide_crosshair()
        self._keep_drawn(False)
        sheet = plot_export.Sheet(*self._export_title(), self.font(), self._theme.tokens)
        if kind == "png":
            self._session.exports.contents(target, partial(plot_export.png, plot_export.draw_image(self.canvas, sheet)))
        elif kind == "svg":
            drawing = plot_export.svg(self.canvas, sheet)
            self._session.exports.contents(target, lambda: drawing)
        else:
            numbers = PlotNumbers(self._session.step_data.snapshot(), self._session.divergence.copy())
            self._session.exports.contents(target, partial(plot_export.numbers_csv, numbers))
        self._keep_drawn(True)

    def _keep_drawn(self, kept: bool) -> None:
        """Keep curves and axes as pixels, so that a marker that moves over them does not draw them anew.

        A file is drawn without: it has other pixels, or none.
        """
        mode = QGraphicsItem.CacheMode.DeviceCoordinateCache if kept else QGraphicsItem.CacheMode.NoCache
        curves = (
            self.other_loss,
            self.trainer_loss,
            self.replay_loss,
            self.loss_apart,
            self.log_bytes,
            self.corrections,
        )
        drawn = [part for series in curves for part in (series.line, series.band, series.smooth)]
        for item in (*drawn, *(plot.getAxis(side) for plot in self.plots for side in ("left", "bottom"))):
            item.setCacheMode(mode)
