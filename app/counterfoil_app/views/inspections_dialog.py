"""A plan of inspections: how many chips inspectors look at to catch a training run of a given size, by a model."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QGridLayout,
    QSpinBox,
    QTableWidget,
    QTableWidgetItem,
    QTabWidget,
    QWidget,
)

from counterfoil import GPUS, CounterfoilError, InspectionRequest, Inspections, plan_inspections
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.eventloop import follow
from counterfoil_app.views import layouts
from counterfoil_app.views.axes import NumberAxis
from counterfoil_app.views.fleet_plot import CURVE_PIXELS, SYMBOL_PIXELS
from counterfoil_app.views.frame import Body, Frame
from counterfoil_app.views.layouts import choices
from counterfoil_app.views.parts import label, restyle
from counterfoil_app.views.tables import LEFT, RIGHT, item_table

# The plot of a plan of inspections: chips to look at in a year, and what a run gains that takes longer.

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


CONFIDENCES = (0.5, 0.9, 0.95, 0.99, 0.999)
MOST_DAYS = 3650.0
MOST_SAMPLES = 100_000_000
WIDTH = 1080
LEAST_HEIGHT = 320
COLUMN_GAP = 10
"""Pixels between columns, so that no two numbers run together."""


class InspectionsDialog(QDialog):
    """Shows how many chips inspectors look at in a year, and what a run gains that takes longer on fewer of them.

    Args:
        theme: The colours of the plot.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Plan inspections"))
        self.plan: Inspections | None = None
        intro = label(
            self.tr(
                "How many chips inspectors would have to look at in a year to catch a training run of a given size, by "
                "Shavit's framework (2023). It is a model: chips that log what they train do not exist, and what it "
                "rests on stands under Assumptions."
            )
        )
        usual = InspectionRequest()
        rates = [(self.tr("of the paper"), usual.rate)]
        rates += [(self.tr("{0}, by its data sheet").format(gpu.name), gpu.bfloat16) for gpu in GPUS.values()]
        self.chip = choices(rates, usual.rate, name=self.tr("Chip"))
        percents = [(f"{text.number(100 * confidence)} %", confidence) for confidence in CONFIDENCES]
        self.confidence = choices(percents, usual.confidence, name=self.tr("Chance to catch a run"))
        self.run_days = _days(usual.run_days, self.tr("Days that a run lasts"))
        self.period = _days(usual.period_days, self.tr("Days between inspections"))
        self.snapshots = QDoubleSpinBox()
        self.snapshots.setAccessibleName(self.tr("Fingerprints a day"))
        self.snapshots.setRange(0.01, 100.0)
        self.snapshots.setDecimals(2)
        self.snapshots.setValue(usual.snapshots)
        self.samples = QSpinBox()
        self.samples.setAccessibleName(self.tr("Chips looked at in a year"))
        self.samples.setRange(0, MOST_SAMPLES)
        self.samples.setGroupSeparatorShown(True)
        self.samples.setSpecialValueText(self.tr("as many as needed"))
        self.table = item_table([], self.tr("Chips to look at in a year"))
        self.stretching = item_table([], self.tr("How surely longer runs are caught"))
        for table in (self.table, self.stretching):
            table.setAlternatingRowColors(True)
        self.plot = InspectionsPlot(theme)
        self.assumptions = label()
        self.tabs = QTabWidget()
        self.tabs.setMinimumHeight(LEAST_HEIGHT)
        self.tabs.tabBar().setAccessibleName(self.tr("What inspections take"))
        self.tabs.addTab(self.table, self.tr("&Chips"))
        self.tabs.addTab(self.stretching, self.tr("&Longer runs"))
        self.tabs.addTab(self.plot, self.tr("&Plot"))
        self.tabs.addTab(self._assumed(), self.tr("&Assumptions"))
        self.meaning = label("", "notice")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.buttons.rejected.connect(self.reject)
        self._column = Body(self, self.meaning, self.buttons)
        layouts.fill(self._column, intro, self._choices(), (self.tabs, 1), spacing=12)
        follow(self._refresh, self.chip.activated, self.confidence.activated, self.samples.valueChanged)
        follow(self._refresh, self.run_days.valueChanged, self.period.valueChanged, self.snapshots.valueChanged)
        self._refresh()
        self._column.fit(scale(WIDTH))

    # Making

    def _choices(self) -> QGridLayout:
        grid = layouts.grid(across=8, down=8, stretch=4)
        named = (
            (self.tr("Chip"), self.chip),
            (self.tr("Chance to catch a run"), self.confidence),
            (self.tr("Chips looked at in a year"), self.samples),
            (self.tr("Days that a run lasts"), self.run_days),
            (self.tr("Days between inspections"), self.period),
            (self.tr("Fingerprints a day"), self.snapshots),
        )
        for place, (name, box) in enumerate(named):
            row, column = divmod(place, 2)
            grid.addWidget(label(name, wrap=False), row, 2 * column)
            grid.addWidget(box, row, 2 * column + 1)
        return grid

    def _assumed(self) -> QWidget:
        inside = QWidget()
        layouts.column(self.assumptions, 1, inside=inside, margins=(12, 12, 12, 12))
        return Frame(inside)

    # What is chosen

    def request(self) -> InspectionRequest:
        """What was chosen; raises CounterfoilError where it does not fit together."""
        return InspectionRequest(
            rate=self.chip.currentData(),
            run_days=self.run_days.value(),
            period_days=self.period.value(),
            snapshots=self.snapshots.value(),
            confidence=self.confidence.currentData(),
            samples=self.samples.value() or None,
        )

    # Showing

    def _refresh(self, _value: object = None) -> None:
        try:
            self.plan = plan_inspections(self.request())
        except CounterfoilError as error:
            self.plan = None
            self._say(f"{translate(error.sentence)} {translate(error.remedy)}".strip(), "bad")
        else:
            self._say(self._consequence(self.plan), "info")
        self._fill_chips()
        self._fill_stretching()
        self.plot.show_plan(self.plan)
        lines = self.plan.assumptions if self.plan is not None else ()
        self.assumptions.setText("\n\n".join(f"\u2022 {translate(line)}" for line in lines))

    def _say(self, said: str, tone: str) -> None:
        self.meaning.setText(said)
        restyle(self.meaning, "tone", tone)

    def _consequence(self, plan: Inspections) -> str:
        percent = f"{text.number(100 * plan.request.confidence)} %"
        if plan.request.samples is None:
            return self.tr(
                "So many chips a year catch each run with a chance of {0}, at the latest {1} days after its end. A "
                "dash stands where the chips cannot carry it out in time."
            ).format(percent, text.number(plan.request.period_days))
        return self.tr(
            "Chance that {0} chips a year catch each run. A dash stands where the chips cannot carry it out in time."
        ).format(text.count(plan.request.samples))

    def _fill_chips(self) -> None:
        plan = self.plan
        heads = [self.tr("Run"), self.tr("Operations"), self.tr("Chip-days"), self.tr("Least\nchips")]
        if plan is not None:
            heads += [self.tr("of {0}\nchips").format(text.count(chips)) for chips in plan.request.chips]
        cells = []
        for row in plan.rows if plan is not None else ():
            said = [
                row.name or "\u2013",
                text.digits(f"{row.operations:.3g}"),
                text.count(round(row.chip_days)),
                text.count(row.least_chips),
            ]
            for cell in row.cells:
                if cell.a_year is None:
                    said.append("\u2013")
                elif cell.caught is not None:
                    said.append(f"{text.digits(f'{100 * cell.caught:.3g}')} %")
                else:
                    said.append(text.count(cell.a_year))
            cells.append(said)
        _fill(self.table, heads, cells)

    def _fill_stretching(self) -> None:
        curves = self.plan.curves if self.plan is not None else ()
        heads = [self.tr("Share of\nthe chips")]
        if curves:
            heads += [self.tr("{0} times\nas long").format(text.number(point.factor)) for point in curves[0].points]
        _fill(
            self.stretching,
            heads,
            [
                [f"{text.number(100 * curve.share)} %", *(_percent(point.caught) for point in curve.points)]
                for curve in curves
            ],
        )


def _percent(share: float) -> str:
    return f"{text.digits(f'{100 * share:.2f}')} %"


def _fill(table: QTableWidget, heads: list[str], rows: list[list[str]]) -> None:
    """Show rows of texts; the first column is of names."""
    table.setColumnCount(len(heads))
    table.setHorizontalHeaderLabels(heads)
    table.setRowCount(len(rows))
    for place, row in enumerate(rows):
        for position, cell in enumerate(row):
            item = QTableWidgetItem(cell)
            item.setTextAlignment(RIGHT if position else LEFT)
            table.setItem(place, position, item)
    table.resizeColumnsToContents()
    for position in range(len(heads)):
        table.setColumnWidth(position, table.columnWidth(position) + COLUMN_GAP)
        title = table.horizontalHeaderItem(position)
        if title is not None:
            title.setTextAlignment(RIGHT if position else LEFT)


def _days(value: float, name: str) -> QDoubleSpinBox:
    """A box for a number of days."""
    box = QDoubleSpinBox()
    box.setRange(1.0, MOST_DAYS)
    box.setDecimals(0)
    box.setValue(value)
    box.setAccessibleName(name)
    return box
