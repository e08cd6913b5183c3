"""Where the replay and the trainer part: differences by tensor, losses and rounding log over the steps, one at a time.

Plots show data; no conclusion is ever read from one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from functools import partial

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPointF, QSignalBlocker, Qt
from PySide6.QtGui import QActionGroup, QFontMetrics, QKeyEvent, QKeySequence, QStandardItemModel
from PySide6.QtWidgets import QGraphicsItem, QSizePolicy, QWidget

from counterfoil import StepMatch
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import text, words
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Theme
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.model.divergence_table import Floats
from counterfoil_app.model.eventloop import follow, single_shot
from counterfoil_app.model.other_run import OtherRun
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts
from counterfoil_app.views.axes import (
    DASHED,
    POINT,
    SIGN,
    SOLID,
    Canvas,
    Markers,
    NameAxis,
    NumberAxis,
    Written,
    name_width,
    number_of_bytes,
    plain_number,
)
from counterfoil_app.views.curves import Series, View
from counterfoil_app.views.heatmap import HeatMap
from counterfoil_app.views.parts import label
from counterfoil_app.views.plot_export import PlotExport, PlotNumbers

REDRAW_MILLISECONDS = 100
"""Plots are redrawn at most ten times a second, however fast steps come in."""
READOUT_LINES = 2
SMOOTHED_STEPS = (1, 5, 25, 100)
CLOSEST_STEPS = 8
"""Fewest steps in view."""
LEAST_HEIGHT = 190
MOST_CURVES = 3
"""How many curves a plot has at most."""
NUMBER_CHARACTERS = 14
"""Width of an axis of numbers with its name, in average characters."""

_tr = texts("divergence")


class Shown(IntEnum):
    """What the plot shows."""

    HEAT = 0
    LOSS = 1
    APART = 2
    BYTES = 3
    ENTRIES = 4


@dataclass(frozen=True)
class Curve:
    """One quantity of the steps."""

    values: Floats  #: float64 ``[steps]``; not a number where there is none.
    colour: str  #: As ``#rrggbb``.
    name: str  #: What it is, in the legend.
    dashed: bool = False  #: Whether what lies below it is to be seen.


@dataclass(frozen=True)
class Quantity:
    """What is drawn over the steps, in one unit."""

    title: str  #: What it is.
    unit: str  #: What the numbers along the axis are of.
    curves: tuple[Curve, ...]  #: From the lowest.
    written: Written = plain_number  #: How a number along the axis is written.
    counts: bool = False  #: Whether it counts, and 0, 3 and 30,000 are to be read beside each other.
    suspicious: Floats | None = None  #: How often a step contradicts itself, float64 ``[steps]``; None for nothing.


class DivergenceView(QWidget):
    """One plot, and what it shows to be chosen: a heat map of tensors, or curves, with crosshair and marks."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._theme = theme
        self._wanted: Shown | None = None
        self.shown = Shown.LOSS
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Divergence"))
        self.setAccessibleDescription(
            self.tr("Left and right arrow keys choose a step, plus and minus zoom, Home shows the whole run")
        )
        self.canvas = Canvas(theme, self.tr("Plots over the steps"))
        names, self._numbers = NameAxis(), NumberAxis()
        self.heat, self.curves = self.canvas.add_plot(names), self.canvas.add_plot(self._numbers)
        self.plots = self.canvas.plots
        self.canvas.ci.layout.removeItem(self.heat)
        self.heat.hide()
        self.bar = self.canvas.addPlot(row=1, col=1, enableMenu=False)
        self.differences = HeatMap(self.heat, names, self.bar, session, theme)
        self.other = OtherRun(session, self)
        self.series = [Series(self.curves) for _ in range(MOST_CURVES)]
        self.suspicious = pg.ScatterPlotItem(symbol="t", size=10)
        self.curves.addItem(self.suspicious)
        self.markers = [Markers(plot, labelled=plot is self.curves) for plot in self.plots]
        self._make_controls()
        self._stale = single_shot(self, REDRAW_MILLISECONDS, self.redraw)
        self.canvas.viewport().installEventFilter(self)
        self._moves = pg.SignalProxy(self.canvas.scene().sigMouseMoved, rateLimit=60, slot=self._pointed)
        self.canvas.scene().sigMouseClicked.connect(self._clicked)
        for plot in self.plots:
            follow(self._later, plot.getViewBox().sigXRangeChanged, plot.getViewBox().sigResized)
        session.bundle_changed.connect(partial(session.drawing.soon, self._reset))
        follow(self._later, session.rows_changed, session.sample_chosen, session.divergence_changed)
        follow(self._mark, session.dispute_changed, session.step_selected)
        self.other.changed.connect(self._other_changed)
        theme.changed.connect(self._colour)
        self._keep_drawn(True)
        self._colour()
        self._reset()

    # Making

    def _make_controls(self) -> None:
        names = (
            self.tr("Differences by tensor"),
            self.tr("Loss"),
            self.tr("Losses apart"),
            self.tr("Size of the rounding log"),
            self.tr("Entries of the rounding log"),
        )
        self.chooser = layouts.choices(zip(names, Shown, strict=True), name=self.tr("What the plot shows"))
        self.chooser.activated.connect(lambda place: self.show_plot(Shown(place)))
        self.readout = label("")
        self.readout.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.readout.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.readout.setFixedHeight(READOUT_LINES * self.readout.fontMetrics().lineSpacing())
        whole_tip = self.tr("Show all steps (Home); the wheel zooms, dragging moves")
        self.whole = layouts.button(self.tr("Reset zoom"), self.show_whole, tip=whole_tip)
        self._make_axes()
        session = self._session
        self.export = PlotExport(
            self.canvas, self._theme, self._about, lambda: session.path and session.near(session.path),
            lambda: PlotNumbers(session.step_data.snapshot(), session.divergence.copy()).csv,
            session.exports, self._drawn_for_others,
        )  # fmt: skip
        export = layouts.menu_button(self.tr("Export"), self.export.actions)
        bar = layouts.row(self.chooser, 1, self.whole, self.axes, export, margins=(10, 4, 10, 2), spacing=8)
        below = layouts.row((self.readout, 1), margins=(10, 2, 10, 2))
        layouts.column(bar, (self.canvas, 1), below, inside=self, margins=layouts.NONE, spacing=0)

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
        self._free_height()
        self.redraw()

    def show_plot(self, wanted: Shown) -> None:
        """Show this from now on, as far as there is something to show."""
        self._wanted = wanted
        self.redraw()

    # Drawing

    @property
    def plot(self) -> pg.PlotItem:
        """What is seen."""
        return self.heat if self.shown is Shown.HEAT else self.curves

    @property
    def _places(self) -> int:
        return max(50, int(self.plot.getViewBox().width()))

    def view_range(self) -> tuple[int, int]:
        """First and last step in view."""
        low, high = self.plot.getViewBox().viewRange()[0]
        count = self._session.step_data.count
        return max(1, math.floor(low)), max(1, min(count, math.ceil(high)))

    def redraw(self) -> None:
        """Draw what is known now of the steps in view."""
        self._stale.stop()
        self._choose()
        if self.shown is Shown.HEAT:
            self.differences.draw(*self.view_range(), self._places)
            self.canvas.say(
                _tr("Largest difference of each state tensor"),
                (self._theme.tokens.muted, POINT, self.differences.differing()),
            )
        else:
            self._draw_curves(self.quantity(self.shown))
        self._show_readout(None)

    def _draw_curves(self, quantity: Quantity) -> None:
        tokens, losses = self._theme.tokens, self.shown in (Shown.LOSS, Shown.APART)
        sized = losses and self.logarithmic.isChecked()
        self._numbers.show_values(quantity.written, logarithmic=sized, counts=quantity.counts)
        self.canvas.name_axis(self.curves, "left", quantity.unit)
        view = View(*self.view_range(), self._places, logarithmic=sized, counts=quantity.counts)
        over = next(steps for steps, chosen in self.smoothing.items() if chosen.isChecked())
        over = over if self.shown is Shown.LOSS else 1
        for place, series in enumerate(self.series):
            if place < len(quantity.curves):
                curve = quantity.curves[place]
                style = Qt.PenStyle.DashLine if curve.dashed else Qt.PenStyle.SolidLine
                series.colour(curve.colour, style, faint=over > 1)
                series.draw(curve.values, view, over)
            else:
                series.clear()
        entries = [(curve.colour, DASHED if curve.dashed else SOLID, curve.name) for curve in quantity.curves]
        self.suspicious.setData([], [])
        if quantity.suspicious is not None:
            entries.append((tokens.bad, SIGN, _tr("contradictions, omissions")))
            found = view.thin(quantity.suspicious)
            self.suspicious.setData(found.steps[found.most > 0], found.most[found.most > 0])
        if quantity.counts:
            known = [curve.values[np.isfinite(curve.values)] for curve in quantity.curves]
            most = max([10.0, *(float(values.max()) for values in known if values.size)])
            self.curves.setYRange(-0.15, math.log10(1 + most) * 1.06, padding=0.02)
        self.canvas.say(quantity.title, *entries)

    def quantity(self, shown: Shown) -> Quantity:
        """What is drawn as curves."""
        data, tokens = self._session.step_data, self._theme.tokens
        if shown is Shown.APART:
            sized = self.logarithmic.isChecked()
            said = _tr("size of replay minus trainer") if sized else _tr("replay minus trainer")
            return Quantity(_tr("Losses apart"), _tr("Apart"), (Curve(data.loss_apart, tokens.apart, said),))
        if shown is Shown.BYTES:
            said = _tr("bytes of each step")
            size = Curve(data.log_bytes, tokens.log, said)
            return Quantity(_tr("Size of the rounding log"), _tr("Bytes"), (size,), number_of_bytes)
        if shown is Shown.ENTRIES:
            recorded = data.table.column("log_entries").astype(np.float64)
            curves = (
                Curve(recorded, tokens.log, _tr("entries of each step")),
                Curve(data.corrections, tokens.corrected, _tr("corrections")),
            )
            title, unit = _tr("Entries of the rounding log"), _tr("Number")
            return Quantity(title, unit, curves, counts=True, suspicious=data.suspicious)
        # The trainer's curve is drawn first and solid: where both agree, the replay's dashes lie on it.
        losses = [
            Curve(data.trainer_loss, tokens.trainer, _tr("trainer")),
            Curve(data.replay_loss, tokens.replay, _tr("replay"), dashed=True),
        ]
        if self.other.name:
            losses.insert(0, Curve(self.other.losses(data.count), tokens.other, self.other.name))
        return Quantity(_tr("Loss"), _tr("Loss"), tuple(losses))

    def _choose(self) -> None:
        """Show what was chosen, if there is anything of it; else what tells most."""
        session, data = self._session, self._session.step_data
        logged = bool((data.log_bytes > 0).any())
        there = {
            Shown.HEAT: len(session.divergence) > 0,
            Shown.LOSS: True,
            Shown.APART: bool(np.isfinite(data.loss_apart).any()),
            Shown.BYTES: logged,
            Shown.ENTRIES: logged,
        }
        model = self.chooser.model()
        assert isinstance(model, QStandardItemModel)
        for shown, enabled in there.items():
            model.item(shown).setEnabled(enabled)
        telling = Shown.HEAT if session.divergence.differing() else Shown.LOSS
        shown = self._wanted if self._wanted is not None and there[self._wanted] else telling
        with QSignalBlocker(self.chooser):
            self.chooser.setCurrentIndex(shown)
        self._turn(shown)

    def _turn(self, shown: Shown) -> None:
        """Put another plot in the place of the one that is seen, over the same steps."""
        self.axes.setEnabled(shown in (Shown.LOSS, Shown.APART) and self._session.step_data.count > 0)
        if shown is self.shown:
            return
        before, self.shown = self.plot, shown
        layout = self.canvas.ci.layout
        layout.removeItem(before)  # one that is hidden would keep its least height
        layout.addItem(self.plot, 1, 0)
        before.hide()
        self.plot.show()
        self._give_width()
        self.plot.setXRange(*before.getViewBox().viewRange()[0], padding=0)
        self._free_height()
        layout.activate()  # what is drawn next goes by the new heights

    def _give_width(self) -> None:
        heat, small = self.shown is Shown.HEAT, self.canvas.small
        width = self.differences.colour(self.font(), small)
        self.canvas.ci.layout.setColumnFixedWidth(1, width if heat else 0)
        self.bar.setVisible(heat)
        self.heat.getAxis("left").setWidth(name_width(small, self.canvas.width()))
        self.curves.getAxis("left").setWidth(NUMBER_CHARACTERS * QFontMetrics(small).averageCharWidth())

    def _free_height(self) -> None:
        """Let what is drawn decide on the heights that are in view."""
        if self.shown is not Shown.ENTRIES:
            self.curves.enableAutoRange(axis="y")

    def _later(self) -> None:
        if not self._stale.isActive():
            self._stale.start()

    def _reset(self) -> None:
        count = self._session.step_data.count
        for plot in self.plots:
            plot.setLimits(xMin=0, xMax=max(2, count + 1), minXRange=min(CLOSEST_STEPS, max(1, count)))
        self._wanted = None
        self._free_height()
        self.show_whole()
        self.export.set_enabled(count > 0)
        self.without_other.setEnabled(bool(self.other.name))
        for widget in (self.chooser, self.whole):
            widget.setEnabled(count > 0)
        self._mark()
        self.redraw()

    def show_whole(self) -> None:
        """Show all steps."""
        self.plot.setXRange(0.5, max(1.5, self._session.step_data.count + 0.5), padding=0)

    def _mark(self) -> None:
        dispute = self._session.dispute
        for markers in self.markers:
            markers.place(markers.selected, self._session.selected_step)
            disputed = dispute.step if dispute is not None and markers is not self.markers[Shown.HEAT] else None
            markers.place(markers.disputed, disputed)  # over the heat map it would hide the very cells it points at
        self._bring_into_view(self._session.selected_step)
        self._later()
        self._show_readout(None)

    def _bring_into_view(self, step: int | None) -> None:
        low, high = self.plot.getViewBox().viewRange()[0]
        if step is not None and not low <= step <= high:
            half = (high - low) / 2
            self.plot.setXRange(step - half, step + half, padding=0)

    def _colour(self) -> None:
        self.canvas.colour(self.bar)
        self.bar.getAxis("bottom").setHeight(4)
        self._give_width()
        # Below this the canvas is scrolled: a view that is drawn would only be cut off.
        self.canvas.setMinimumHeight(scale(LEAST_HEIGHT))
        self.suspicious.setPen(None)
        self.suspicious.setBrush(self._theme.tokens.bad)
        for markers in self.markers:
            markers.colour(self._theme)
        self._later()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """The crosshair leaves with the mouse; names take their share of the width."""
        if event.type() is QEvent.Type.Leave:
            self._moves.block = True  # what is still on its way would bring it back
            self._moves.flush()
            self._moves.block = False
            self._hide_crosshair()
        elif event.type() is QEvent.Type.Resize:
            self._give_width()
        return False

    def _hide_crosshair(self) -> None:
        for markers in self.markers:
            markers.place(markers.crosshair, None)
        self._show_readout(None)

    # Pointing and choosing

    def _pointed(self, arguments: tuple[QPointF]) -> None:
        self.point_at(arguments[0])

    def point_at(self, place: QPointF) -> None:
        """Show the crosshair and the values at a place of the canvas, in its scene's coordinates."""
        plot, step, row = self.plot, self._step_at(place), None
        if step is not None and plot is self.heat:
            height = plot.getViewBox().mapSceneToView(place).y()
            row = int(height) if 0 <= height < len(self.differences.rows) else None
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
        self._free_height()
        self.redraw()

    def _clicked(self, event: object) -> None:
        step = self._step_at(event.scenePos())  # type: ignore[attr-defined]
        if step is not None:
            self._session.select_step(step)

    def _step_at(self, place: QPointF) -> int | None:
        """The step at a place of the scene; None where there is none."""
        if not self.plot.sceneBoundingRect().contains(place):
            return None
        step = round(self.plot.getViewBox().mapSceneToView(place).x())
        return step if 1 <= step <= self._session.step_data.count else None

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
        """Arrows choose a step, plus and minus zoom around it, Home shows the whole run; Ctrl+C copies the plot."""
        key, count = event.key(), self._session.step_data.count
        if not count:
            super().keyPressEvent(event)
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.export.copy()
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
        low, high = self.plot.getViewBox().viewRange()[0]
        centre = self._session.selected_step or (low + high) / 2
        half = (high - low) / 2 * factor
        self.plot.setXRange(max(0.0, centre - half), centre + half, padding=0)

    # Exporting

    def _about(self) -> tuple[str, str]:
        """What a picture says by itself: the file, the outcome and its steps; below, which run that is."""
        session = self._session
        parts = [name_of(session.path)]
        if session.report is not None:
            parts.append(words.conclusion(session.report).word)
        first, last = self.view_range()
        parts.append(self.tr("steps {0} to {1}").format(text.count(first), text.count(last)))
        root = session.run.run_root if session.run is not None else None
        return "  \u00b7  ".join(parts), self.tr("run root {0}").format(root.hex) if root is not None else ""

    @contextmanager
    def _drawn_for_others(self) -> Iterator[None]:
        """Draw everything anew, without what only the pointer shows: a file has other pixels, or none."""
        self.redraw()
        self._hide_crosshair()
        self._keep_drawn(False)
        yield
        self._keep_drawn(True)

    def _keep_drawn(self, kept: bool) -> None:
        """Keep curves and axes as pixels, so that a marker that moves over them does not draw them anew."""
        mode = QGraphicsItem.CacheMode.DeviceCoordinateCache if kept else QGraphicsItem.CacheMode.NoCache
        drawn = [part for series in self.series for part in (series.line, series.band, series.smooth)]
        for item in (*drawn, *(plot.getAxis(side) for plot in self.plots for side in ("left", "bottom"))):
            item.setCacheMode(mode)
