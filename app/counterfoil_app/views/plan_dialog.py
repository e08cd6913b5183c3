"""The plan: how much of a run is replayed, on which device, and what that costs and proves."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QGridLayout,
    QHeaderView,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from counterfoil import CounterfoilError, Device, Plan, PlanProgress, PlanRow, SegmentRequest
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.fonts import scale
from counterfoil_app.looks.tips import set_tip
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.session import Session
from counterfoil_app.views import layouts
from counterfoil_app.views.frame import Body
from counterfoil_app.views.layouts import choices, line_edit
from counterfoil_app.views.parts import label, restyle
from counterfoil_app.views.tables import LEFT, RIGHT, item_table

CONFIDENCES = (0.5, 0.9, 0.95, 0.99, 0.999)
DEFAULT_CONFIDENCE = 0.99
WIDTH = 780


class PlanDialog(QDialog):
    """Asks how much of the open run is replayed; what is chosen is given to the session on accepting.

    Args:
        session: The session with the open run.

    Attributes:
        plans: What was measured, by device.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Plan the replay"))
        self._session = session
        self.plans: dict[str, Plan] = {}
        assert session.summary is not None
        order, run = session.summary.order, session.summary.run
        self._compute, self._step = order.compute, order.estimate
        self._steps = order.steps if run is None else run.steps
        self._total = -(-self._steps // order.checkpoint_every)
        intro = label(
            self.tr(
                "The run has {0} steps in {1} segments, each from one stored state to the next. Each segment can be "
                "replayed by itself."
            ).format(text.count(self._steps), text.count(self._total))
        )
        self.whole = QRadioButton(self.tr("The &whole run"))
        self.sample = QRadioButton(self.tr("A &random sample"))
        self.listed = QRadioButton(self.tr("These &segments"))
        percents = [(_percent(confidence), confidence) for confidence in CONFIDENCES]
        self.confidence = choices(percents, name=self.tr("Chance to find a bad run"))
        self.bad = QDoubleSpinBox()
        self.bad.setAccessibleName(self.tr("Share of bad segments"))
        self.bad.setRange(0.1, 100.0)
        self.bad.setDecimals(1)
        self.bad.setSuffix(" %")
        self.bad.setValue(100 * session.segments.bad_fraction)
        self.numbers = line_edit(name=self.tr("Numbers of the segments"), hint=self.tr("for instance 1,4,7-9"))
        devices = [(f"{device.name}: {device.title}", device.name) for device in session.devices]
        devices = devices or [(session.device, session.device)]
        self.device = choices(devices, session.device, name=self.tr("Device of the replay"))
        self.note = label("", "muted")
        self.large = QCheckBox(self.tr("Allow a program beyond the &limits"))
        set_tip(
            self.large,
            self.tr("Limits of operators, memory and computing keep a stranger's program from taking this machine."),
        )
        self.large.setChecked(session.allow_large)
        self.takes = label("", "muted")
        self.takes.setVisible(order.estimate is not None)
        if order.estimate is not None:
            step = text.step(order.estimate.bytes, order.estimate.flops)
            self.takes.setText(self.tr("A step takes {0}.").format(step))
        self.measure = QPushButton()
        self.progress = QProgressBar()
        self.progress.setAccessibleName(self.tr("Progress of the measurement"))
        self.table = item_table([], self.tr("What each plan costs and proves"))
        self.invitation = label(
            self.tr("Measure on one device or several to compare the plans; a few steps are replayed for it."),
            "muted",
        )
        self.meaning = label("", "notice")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setText(self.tr("Use this plan"))
        self.ok.setProperty("primary", True)
        self._column = Body(self, self.meaning, self.buttons)
        parts = (intro, self._choices(), self._devices(), self.invitation, (self._prepared_table(), 1))
        layouts.fill(self._column, *parts, spacing=12)
        self._connect()
        self._start_from(session.segments)
        self._show_plan()
        self._refresh()
        self._column.fit(scale(WIDTH))

    # Making

    def _choices(self) -> QGridLayout:
        grid = layouts.grid(down=8, stretch=2)
        finds = label(self.tr("that finds a run with"), wrap=False)
        chance = label(self.tr("of bad segments, with a chance of"), wrap=False)
        row = layouts.row(finds, self.bad, chance, self.confidence, 1, spacing=8)
        grid.addWidget(self.whole, 0, 0)
        grid.addWidget(self.sample, 1, 0)
        grid.addLayout(row, 1, 1, 1, 2)
        grid.addWidget(self.listed, 2, 0)
        grid.addWidget(self.numbers, 2, 1, 1, 2)
        return grid

    def _devices(self) -> QGridLayout:
        grid = layouts.grid()
        grid.addWidget(label(self.tr("Device"), wrap=False), 0, 0)
        grid.addWidget(self.device, 0, 1)
        grid.addWidget(self.measure, 0, 2)
        for place, below in enumerate((self.note, self.progress, self.takes, self.large), start=1):
            grid.addWidget(below, place, 1, 1, 2)
        return grid

    def _prepared_table(self) -> QTableWidget:
        table = self.table
        table.setAlternatingRowColors(True)
        return table

    def _connect(self) -> None:
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        follow(self._refresh, *(choice.toggled for choice in (self.whole, self.sample, self.listed)))
        follow(self._refresh, self.numbers.textChanged, self.device.activated)
        self.confidence.activated.connect(self._choose_sample)
        self.bad.valueChanged.connect(self._bad_changed)
        self.measure.clicked.connect(self._measure_or_stop)
        self.table.itemSelectionChanged.connect(self._row_chosen)
        self._session.planner.changed.connect(self._plan_changed)
        self.finished.connect(self._session.planner.stop)

    def _start_from(self, request: SegmentRequest) -> None:
        self._choose_confidence(request.confidence or DEFAULT_CONFIDENCE)
        if request.numbers:
            self.numbers.setText(",".join(str(number) for number in request.numbers))
        chosen = self.listed if request.numbers else self.sample if request.confidence is not None else self.whole
        chosen.setChecked(True)

    # What is chosen

    def request(self) -> SegmentRequest:
        """The chosen segments; raises CounterfoilError when what was typed cannot be read."""
        if self.whole.isChecked():
            return SegmentRequest()
        if self.sample.isChecked():
            return SegmentRequest(confidence=self.confidence.currentData(), bad_fraction=self._bad_fraction())
        typed = self.numbers.text().replace(" ", "")
        found = SegmentRequest.parse(f"{typed}-{typed}" if typed.isdigit() else typed or "-")
        if not found.numbers:  # all
            return found
        if not 1 <= min(found.numbers) <= max(found.numbers) <= self._total:
            raise CounterfoilError(self.tr("The run has the segments 1 to {0}.").format(self._total))
        return SegmentRequest(numbers=tuple(sorted(set(found.numbers))))

    @property
    def device_name(self) -> str:
        """The chosen device."""
        return str(self.device.currentData())

    def accept(self) -> None:
        """Give the plan to the session."""
        self._session.device = self.device_name
        self._session.allow_large = self.large.isChecked()
        self._session.use_segments(self.request())
        super().accept()

    def _bad_fraction(self) -> float:
        return round(self.bad.value() / 100, 6)

    def _choose_confidence(self, confidence: float) -> None:
        position = self.confidence.findData(confidence)
        if position < 0:
            self.confidence.addItem(_percent(confidence), confidence)
            position = self.confidence.count() - 1
        self.confidence.setCurrentIndex(position)

    def _choose_sample(self, _position: int = 0) -> None:
        self.sample.setChecked(True)
        self._refresh()

    def _bad_changed(self, _value: float) -> None:
        # The sizes of samples depend on it, so that what was measured no longer answers the question.
        self._session.planner.stop()
        self.plans.clear()
        self.sample.setChecked(True)
        self._show_plan()
        self._refresh()

    def _row_chosen(self) -> None:
        selected = self.table.selectionModel().selectedRows()
        plan = next(iter(self.plans.values()), None)
        if not selected or plan is None:
            return
        row = plan.rows[selected[0].row()]
        if row.confidence < 1.0:
            self._choose_confidence(row.confidence)
        (self.sample if row.confidence < 1.0 else self.whole).setChecked(True)
        self._refresh()

    # Measuring

    def _measure_or_stop(self) -> None:
        if self._session.planner.working:
            self._session.planner.stop()
        else:
            self._session.make_plan(self._bad_fraction(), self.device_name, self.large.isChecked())

    def _plan_changed(self) -> None:
        plan = self._session.planner.plan
        if isinstance(plan, Plan) and plan.bad_fraction == self._bad_fraction():
            first = not self.plans
            self.plans[plan.device] = plan
            self._show_plan()
            if first:  # there is a table now; how high the dialog is with it is known once it was laid out
                QTimer.singleShot(0, self, self._fit)
        self._refresh()

    # Showing

    def _show_plan(self) -> None:
        plans = self.plans
        find, passes = self.tr("Chance to find\na bad run"), self.tr("Chance that\na bad run passes")
        heads = [find, self.tr("Segments"), self.tr("Steps"), passes]
        self.table.blockSignals(True)
        self.table.setColumnCount(len(heads) + len(plans))
        self.table.setHorizontalHeaderLabels([*heads, *(self.tr("Time on {0}").format(name) for name in plans)])
        rows = next(iter(plans.values())).rows if plans else ()
        self.table.setRowCount(len(rows))
        for place, row in enumerate(rows):
            whole = row.confidence == 1.0
            cells = [
                self.tr("100 % (whole run)") if whole else _percent(row.confidence),
                text.count(row.segments),
                text.count(row.steps),
                _percent(0.0 if whole else row.passing),
                *(text.duration(plan.rows[place].seconds) for plan in plans.values()),
            ]
            for position, cell in enumerate(cells):
                item = QTableWidgetItem(cell)
                if position:
                    item.setTextAlignment(RIGHT)
                self.table.setItem(place, position, item)
        header = self.table.horizontalHeader()
        for position in range(self.table.columnCount()):
            wordy = position in (0, 3)
            mode = QHeaderView.ResizeMode.ResizeToContents if wordy else QHeaderView.ResizeMode.Stretch
            header.setSectionResizeMode(position, mode)
            title = self.table.horizontalHeaderItem(position)
            if title is not None:
                title.setTextAlignment(RIGHT if position else LEFT)
        self.table.blockSignals(False)
        self._show_all_rows()
        self.table.setVisible(bool(plans))
        self.invitation.setVisible(not plans)

    def _fit(self) -> None:
        """There is a table now: show it, on a small screen too."""
        self._column.fit(self.width())
        self._column.reveal(self.table)

    def _show_all_rows(self) -> None:
        """Make the table as high as its rows: they are few, and are compared with each other."""
        rows = sum(self.table.rowHeight(row) for row in range(self.table.rowCount()))
        bar = self.table.horizontalScrollBar().sizeHint().height()
        header = self.table.horizontalHeader().sizeHint().height()
        self.table.setMinimumHeight(header + rows + bar + 2 * self.table.frameWidth())

    def _refresh(self, _value: object = None) -> None:
        session = self._session
        self.numbers.setEnabled(self.listed.isChecked())
        device = next((item for item in session.devices if item.name == self.device_name), None)
        self.note.setText(self._said_of(device) if device is not None else "")
        self.note.setVisible(bool(self.note.text()))
        self.measure.setText(self.tr("Stop measuring") if session.planner.working else self.tr("&Measure the time"))
        self.measure.setEnabled(not session.running and not session.lacks_data)
        self.progress.setVisible(session.planner.working)
        progress = session.planner.plan
        if isinstance(progress, PlanProgress):
            self.progress.setRange(0, max(progress.total, 1))
            self.progress.setValue(progress.done)
            self.progress.setFormat(self.tr("step {0} of {1}").format(progress.done, progress.total))
        else:
            self.progress.setRange(0, 0)
        sentence, tone = self._consequence()
        self.meaning.setText(sentence)
        restyle(self.meaning, "tone", tone)
        self.ok.setEnabled(tone != "bad")
        self._mark_row()

    def _said_of(self, device: Device) -> str:
        """How well a device computes in float64, and what to order where that makes the replay of this order slow."""
        advice = device.advice(self._compute, self._step)
        return translate(advice or device.float64_note)

    def _mark_row(self) -> None:
        plan = next(iter(self.plans.values()), None)
        wanted = 1.0 if self.whole.isChecked() else self.confidence.currentData() if self.sample.isChecked() else None
        place = next((n for n, row in enumerate(plan.rows) if row.confidence == wanted), -1) if plan else -1
        self.table.blockSignals(True)
        if place < 0:
            self.table.clearSelection()
        else:
            self.table.selectRow(place)
        self.table.blockSignals(False)

    def _row(self) -> PlanRow | None:
        plan = self.plans.get(self.device_name)
        if plan is None or self.listed.isChecked():
            return None
        wanted = 1.0 if self.whole.isChecked() else self.confidence.currentData()
        return next((row for row in plan.rows if row.confidence == wanted), None)

    def _consequence(self) -> tuple[str, str]:
        """What the choice means, as sentences, and the tone of it."""
        try:
            request = self.request()
        except CounterfoilError as error:
            return f"{error.sentence} {error.remedy}".strip(), "bad"
        failure = self._session.planner.failure
        if failure is not None and not self._session.planner.working:
            return f"{failure.sentence} {failure.remedy}".strip(), "warn"
        row = self._row()
        takes = (
            self.tr(" It takes about {0} on {1}.").format(text.duration(row.seconds), self.device_name) if row else ""
        )
        if request.numbers:
            return self.tr("{0} of {1} segments are replayed. A clean replay says nothing about the others.").format(
                text.count(len(request.numbers)), text.count(self._total)
            ), "info"
        if request == SegmentRequest():
            return self.tr("All {0} steps are replayed: a clean replay is a proof.").format(
                text.count(self._steps)
            ) + takes, "info"
        if row is None:
            return self.tr(
                "Which segments are replayed is drawn at random when the replay starts; the trainer cannot know them. "
                "Measure to see how many they are and how long they take."
            ), "info"
        return self.tr(
            "{0} of {1} segments are drawn at random when the replay starts. A run in which {2} or more of them are "
            "bad would pass with a probability of {3}."
        ).format(
            text.count(row.segments), text.count(self._total), text.count(self.plans[self.device_name].bad),
            text.number(row.passing),
        ) + takes, "info"  # fmt: skip


def _percent(share: float) -> str:
    return f"{text.number(100 * share)} %"
