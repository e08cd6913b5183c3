"""A plan of runs past the machines at hand: what recording, storing and auditing them takes, by a model."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QLocale
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

from counterfoil import (
    GPUS,
    CounterfoilError,
    Fleet,
    FleetRequest,
    FleetRow,
    Gpu,
    MeasuredStep,
    Plan,
    measured_by,
    plan_fleet,
)
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.theme import Theme
from counterfoil_app.model.eventloop import follow
from counterfoil_app.views import layouts
from counterfoil_app.views.fleet_plot import BILLION, FleetPlot
from counterfoil_app.views.frame import Body, Frame
from counterfoil_app.views.layouts import choices
from counterfoil_app.views.parts import label, restyle
from counterfoil_app.views.tables import LEFT, RIGHT, item_table

FIRST_GPU = "H100"
TOKENS = (1e11, 3e11, 1e12, 3e12, 1e13)
DEFAULT_TOKENS = 1e12
CONFIDENCES = (0.5, 0.9, 0.95, 0.99, 0.999)
DEFAULT_CONFIDENCE = 0.99
WIDTH = 1240
LEAST_HEIGHT = 300
COLUMN_GAP = 10
"""Pixels between columns, so that no two numbers run together."""
PROFILE = 1
"""The column of the profiles' names."""


class FleetDialog(QDialog):
    """Shows what larger runs take, on a GPU by its data sheet or at the rate of a step that was measured here.

    Args:
        theme: The colours of the plot.
        plans: What was measured of the open run, by device.
    """

    def __init__(self, theme: Theme, plans: Mapping[str, Plan] | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Plan a large run"))
        self.fleet: Fleet | None = None
        self._sources: dict[str, Gpu | MeasuredStep] = {**GPUS}
        for device, plan in (plans or {}).items():
            self._sources[device] = measured_by(plan)
        intro = label(
            self.tr(
                "What recording, storing and auditing the training of a language model would take. It is a model: no "
                "such run was made, and what it rests on stands under Assumptions."
            )
        )
        sources = [(self._source_name(name), name) for name in self._sources]
        first = next(iter(plans)) if plans else FIRST_GPU
        self.source = choices(sources, first, name=self.tr("Device"))
        self.devices = _whole(FleetRequest.devices, 1, 100_000, self.tr("Number of devices"))
        amounts = [(self.tr("{0} billion").format(text.count(round(tokens / BILLION))), tokens) for tokens in TOKENS]
        self.tokens = choices(amounts, DEFAULT_TOKENS, name=self.tr("Tokens of the run"))
        self.every = _whole(FleetRequest.checkpoint_every, 1, 100_000, self.tr("Steps of a segment"))
        self.bad = QDoubleSpinBox()
        self.bad.setAccessibleName(self.tr("Share of bad segments"))
        self.bad.setRange(0.1, 100.0)
        self.bad.setDecimals(1)
        self.bad.setSuffix(" %")
        self.bad.setValue(100 * FleetRequest.bad_fraction)
        percents = [(f"{text.number(100 * confidence)} %", confidence) for confidence in CONFIDENCES]
        self.confidence = choices(percents, DEFAULT_CONFIDENCE, name=self.tr("Chance to find a bad run"))
        self.table = self._prepared_table()
        self.plot = FleetPlot(theme)
        self.assumptions = label()
        self.tabs = QTabWidget()
        self.tabs.setMinimumHeight(LEAST_HEIGHT)
        self.tabs.tabBar().setAccessibleName(self.tr("What it takes"))
        self.tabs.addTab(self.table, self.tr("&Table"))
        self.tabs.addTab(self.plot, self.tr("&Plot"))
        self.tabs.addTab(self._assumed(), self.tr("&Assumptions"))
        self.meaning = label("", "notice")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.buttons.rejected.connect(self.reject)
        self._column = Body(self, self.meaning, self.buttons)
        layouts.fill(self._column, intro, self._choices(), (self.tabs, 1), spacing=12)
        follow(self._refresh, self.source.activated, self.tokens.activated, self.confidence.activated)
        follow(self._refresh, self.devices.valueChanged, self.every.valueChanged, self.bad.valueChanged)
        self._refresh()
        self._column.fit(scale(WIDTH))

    # Making

    def _source_name(self, name: str) -> str:
        return (
            self.tr("{0}, by its data sheet").format(name) if name in GPUS else self.tr("{0}, as measured").format(name)
        )

    def _choices(self) -> QGridLayout:
        grid = layouts.grid(across=8, down=8, stretch=6)
        first = (
            label(self.tr("Device"), wrap=False), self.source, label(self.tr("Number of devices"), wrap=False),
            self.devices, label(self.tr("Tokens of the run"), wrap=False), self.tokens,
        )  # fmt: skip
        for place, part in enumerate(first):
            grid.addWidget(part, 0, place)
        finds = label(self.tr("A sample finds a run with"), wrap=False)
        chance = label(self.tr("of bad segments, with a chance of"), wrap=False)
        grid.addWidget(label(self.tr("Steps of a segment"), wrap=False), 1, 0)
        grid.addWidget(self.every, 1, 1)
        grid.addLayout(layouts.row(finds, self.bad, chance, self.confidence, 1, spacing=8), 1, 2, 1, 5)
        return grid

    def _assumed(self) -> QWidget:
        inside = QWidget()
        layouts.column(self.assumptions, 1, inside=inside, margins=(12, 12, 12, 12))
        return Frame(inside)

    def _prepared_table(self) -> QTableWidget:
        table = item_table([], self.tr("What large runs take"))
        table.setAlternatingRowColors(True)
        return table

    # What is chosen

    def request(self) -> FleetRequest:
        """What was chosen; raises CounterfoilError where it does not fit together."""
        return FleetRequest(
            tokens=self.tokens.currentData(),
            devices=self.devices.value(),
            checkpoint_every=self.every.value(),
            confidence=self.confidence.currentData(),
            bad_fraction=round(self.bad.value() / 100, 6),
        )

    # Showing

    def _refresh(self, _value: object = None) -> None:
        try:
            self.fleet = plan_fleet(self._sources[self.source.currentData()], self.request())
        except CounterfoilError as error:
            self.fleet = None
            self._say(f"{translate(error.sentence)} {translate(error.remedy)}".strip(), "bad")
        else:
            self._say(self._consequence(self.fleet), "warn" if self.fleet.notes else "info")
        self._fill_table()
        self.plot.show_fleet(self.fleet)
        lines = self.fleet.assumptions if self.fleet is not None else ()
        self.assumptions.setText("\n\n".join(f"\u2022 {translate(line)}" for line in lines))

    def _say(self, said: str, tone: str) -> None:
        self.meaning.setText(said)
        restyle(self.meaning, "tone", tone)

    def _consequence(self, fleet: Fleet) -> str:
        sample = self.tr(
            "{0} of {1} segments are the sample: a run in which {2} or more of them are bad would pass with a "
            "probability of {3}."
        ).format(
            text.count(next(row.sample_segments for row in fleet.rows if row.audited)), text.count(fleet.segments),
            text.count(fleet.bad), text.digits(f"{fleet.passing:.2g}"),
        )  # fmt: skip
        return " ".join([sample, *map(translate, fleet.notes)])

    def _fill_table(self) -> None:
        heads = [
            self.tr("Billions of\nparameters"),
            self.tr("Profile"),
            self.tr("TFLOP/s of\na device"),
            self.tr("A step"),
            self.tr("Days"),
            self.tr("Device-hours\nto record"),
            self.tr("States"),
            self.tr("Logs"),
            self.tr("Whole audit,\ndevice-hours"),
            self.tr("Sample,\ndevice-hours"),
            self.tr("To fetch\nfor the sample"),
        ]
        rows = self.fleet.rows if self.fleet is not None else ()
        self.table.setColumnCount(len(heads))
        self.table.setHorizontalHeaderLabels(heads)
        self.table.setRowCount(len(rows))
        for place, row in enumerate(rows):
            for position, cell in enumerate(self._cells(row)):
                item = QTableWidgetItem(cell)
                item.setTextAlignment(LEFT if position == PROFILE else RIGHT)
                self.table.setItem(place, position, item)
        self._set_widths()
        for position in range(len(heads)):
            title = self.table.horizontalHeaderItem(position)
            if title is not None:
                title.setTextAlignment(LEFT if position == PROFILE else RIGHT)

    def _set_widths(self) -> None:
        """Give each column room for what stands in it; numbers that are far apart are not read together."""
        self.table.resizeColumnsToContents()
        for position in range(self.table.columnCount()):
            self.table.setColumnWidth(position, self.table.columnWidth(position) + COLUMN_GAP)

    def _cells(self, row: FleetRow) -> list[str]:
        seconds = QLocale().toString(row.step_seconds, "f", 1)
        said = [
            text.number(row.parameters / BILLION),
            row.profile if row.audited else self.tr("{0}, ordinary").format(row.profile),
            text.digits(f"{row.rate / 1e12:.3g}"),
            self.tr("{0} s, hashing").format(seconds) if row.hashing else self.tr("{0} s").format(seconds),
            text.count(round(row.record_hours / 24)),
            text.count(round(row.record_device_hours)),
        ]
        if not row.audited:
            return [*said, *[self.tr("cannot be audited")], "", "", "", ""]
        return [
            *said,
            text.amount(row.checkpoint_bytes),
            text.amount(row.log_bytes) if row.log_bytes else self.tr("none"),
            text.count(round(row.audit_device_hours)),
            text.count(round(row.sample_device_hours)),
            text.amount(row.sample_bytes),
        ]


def _whole(value: int, least: int, most: int, name: str) -> QSpinBox:
    """A box for a whole number."""
    box = QSpinBox()
    box.setRange(least, most)
    box.setValue(value)
    box.setGroupSeparatorShown(True)
    box.setAccessibleName(name)
    return box
