"""One auditor at work on one bundle: what is open, what the replay found so far, and what can be done next.

The views read a :class:`Session` and call its methods; it holds what the engine reported and draws no conclusions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from counterfoil import (
    AuditReport,
    AuditRequest,
    AuditStarted,
    BundleSummary,
    CancelToken,
    Check,
    CheckNumber,
    CheckState,
    CounterfoilError,
    Device,
    Dispute,
    Event,
    Kept,
    OperatorDone,
    Plan,
    PlanProgress,
    Sample,
    SegmentRequest,
    StepTable,
    limits_for,
    write_whole,
)
from counterfoil.sentence import say
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.snapshot import Latest, ReplaySink, Snapshot
from counterfoil_app.engine.strangers import plain
from counterfoil_app.engine.worker import Failure, JobResult, Worker
from counterfoil_app.model.divergence_table import DivergenceTable
from counterfoil_app.model.rate import AwakeClock, RateMeter
from counterfoil_app.model.step_data import StepData
from counterfoil_app.model.turns import Turns

POLL_MILLISECONDS = 30
ROWS_PER_POLL = 2_000
"""Steps taken in one look: 2,000 rows every 30 ms is faster than any replay and takes the window a few ms."""


@dataclass(frozen=True)
class VerdictMaterial:
    """What a verdict is made from.

    Attributes:
        report: What the replay found.
        summary: The overview of the bundle; None when it could not be read.
        steps: The step table.
    """

    report: AuditReport
    summary: BundleSummary | None
    steps: StepTable


class Phase(Enum):
    """Where the work on a bundle stands."""

    EMPTY = "empty"
    LOADING = "loading"
    UNREADABLE = "unreadable"
    READY = "ready"
    REPLAYING = "replaying"
    PAUSED = "paused"
    STOPPING = "stopping"
    CONCLUDED = "concluded"
    FAILED = "failed"
    """The replay ended without a report."""


T = TypeVar("T")
RUNNING = (Phase.REPLAYING, Phase.PAUSED, Phase.STOPPING)


@dataclass(frozen=True)
class Finished:
    """What a replay left, so that it can be looked at again after another bundle was open.

    Attributes:
        path: The bundle.
        order: The client's order file, if one was given.
        data: The data file, if one was chosen.
        summary: The overview; None for a file that could not be read.
        client: That of the client's order file; None when none was given.
        steps: The step table.
        divergence: How far the states lay apart.
        dispute: The dispute, or None.
        resumed_from: Step of the last checkpoint from which the replay went on.
        sample: The segments that were replayed.
        report: What the replay found; None when it ended without.
        failure: Why it ended without, or why the file could not be read.
        verdict_file: Where the signed verdict lies, once there is one.
        kept: What another replay can go on from.
    """

    path: Path
    order: Path | None
    data: Path | None
    summary: BundleSummary | None
    client: BundleSummary | None
    steps: StepTable
    divergence: DivergenceTable
    dispute: Dispute | None
    resumed_from: int | None
    sample: Sample | None
    report: AuditReport | None
    failure: Failure | None
    verdict_file: Path | None
    kept: Kept | None


@dataclass(frozen=True)
class Progress:
    """Where a replay stands.

    Attributes:
        done: Steps done; the fraction is the current step's operators.
        replayed: Whole steps done.
        total: Steps to do.
        step: The step in work.
        rate: Steps per second; None while unknown.
        seconds_left: None while unknown.
    """

    done: float
    replayed: int
    total: int
    step: int
    rate: float | None
    seconds_left: float | None


class Session(QObject):
    """The state of the work on one bundle, and its operations.

    All engine work happens in the worker thread; its results are fetched by a timer that runs only while there is
    something to wait for.
    """

    phase_changed = Signal()
    bundle_changed = Signal()
    checks_changed = Signal()
    rows_changed = Signal(int, int)
    """First and last step of which :attr:`steps` has a new row."""
    sample_chosen = Signal()
    """Some steps turned out not to be among those that will be replayed."""
    divergence_changed = Signal()
    progress_changed = Signal()
    dispute_changed = Signal()
    step_selected = Signal(int)
    devices_changed = Signal()
    plan_changed = Signal()
    export_finished = Signal(Path)
    failed = Signal(Failure)
    idle = Signal()

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self.turns = Turns(self)
        """In which views draw what takes long."""
        self._worker = Worker(engine.close)
        self._handlers: dict[int, Callable[[JobResult], None]] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_MILLISECONDS)
        self._timer.timeout.connect(self._poll)
        self._opening = 0
        self._filled = False
        self._checking: CancelToken | None = None
        self._summaries: Latest[BundleSummary] = Latest()
        self._clients: Latest[BundleSummary] = Latest()
        self._planning: CancelToken | None = None
        self._plan_values: Latest[PlanProgress | Plan] = Latest()
        self.plan: PlanProgress | Plan | None = None
        self.plan_failure: Failure | None = None
        self._token: CancelToken | None = None
        self._sink: ReplaySink | None = None
        self._ended: JobResult | None = None
        self._meter = RateMeter()
        self._awake = AwakeClock()
        self._restoring = False
        """Whether the steps that come in are those of an earlier replay."""
        self._restored: int | None = None
        self._looking = 0
        self._operator: OperatorDone | None = None
        self.devices: tuple[Device, ...] = ()
        self._device = "cpu"
        self.threads: int | None = None
        self.phase = Phase.EMPTY
        self.path: Path | None = None
        self.order: Path | None = None
        self.data: Path | None = None
        self.segments = SegmentRequest()
        self.allow_large = False
        self.failure: Failure | None = None
        self.verdict_file: Path | None = None
        self.selected_step: int | None = None
        self._clear_bundle()

    # What is known

    def _clear_bundle(self) -> None:
        self.summary: BundleSummary | None = None
        self.client: BundleSummary | None = None
        self.step_data = StepData()
        self._clear_replay()

    def _clear_replay(self) -> None:
        self.checks: dict[CheckNumber, Check] = {
            number: Check(number, CheckState.PENDING) for number in list(CheckNumber)
        }
        if self.summary is not None:
            self.checks.update({check.number: check for check in self.summary.checks})
        self.step_data.restart()
        self.divergence = DivergenceTable()
        self.dispute: Dispute | None = None
        self.resumed_from: int | None = None
        self.report: AuditReport | None = None
        self.verdict_file = None
        self.failure = None
        self.selected_step = None
        self.sample: Sample | None = None
        self.was_stopped = False
        self.kept: Kept | None = None
        self._total = 0
        self._operator = None

    @property
    def steps(self) -> StepTable:
        """What is known of each step."""
        return self.step_data.table

    @property
    def running(self) -> bool:
        """Whether a replay is under way."""
        return self.phase in RUNNING

    @property
    def busy(self) -> bool:
        """Whether the worker has anything to do."""
        return self._worker.busy

    @property
    def has_let_go(self) -> bool:
        """Whether the engine is let go of: no thread of it lives."""
        return self._worker.has_let_go

    @property
    def checking(self) -> bool:
        """Whether the open bundle is still being read and compared with what was ordered and signed."""
        return self._checking is not None

    @property
    def planning(self) -> bool:
        """Whether steps are being measured for a plan."""
        return self._planning is not None

    @property
    def refused_so_far(self) -> bool:
        """Whether a check failed before any replay, so that a replay can only conclude REFUSED."""
        return self.phase is Phase.UNREADABLE or any(c.state is CheckState.FAILED for c in self.checks.values())

    @property
    def data_file(self) -> str | None:
        """Name of the data file that the open bundle needs, as the client called it; None when it needs none."""
        arrays = self.summary.order.data if self.summary is not None else ()
        return next((array.file for array in arrays if array.file is not None), None)

    @property
    def lacks_data(self) -> bool:
        """Whether the open bundle needs a data file and none was chosen."""
        return self.data_file is not None and self.data is None

    @property
    def can_replay(self) -> bool:
        """Whether :meth:`replay` would start."""
        if self.phase in (Phase.EMPTY, Phase.LOADING) or self.running:
            return False
        return self.phase is Phase.UNREADABLE or (self.summary is not None and self.summary.run is not None)

    @property
    def can_go_on(self) -> bool:
        """Whether :meth:`go_on` would start."""
        return self.kept is not None and self.can_replay and not self.lacks_data and not self.checking

    @property
    def device(self) -> str:
        """Name of the device of the next replay."""
        return self._device

    @device.setter
    def device(self, name: str) -> None:
        if name != self._device:
            self._device = name
            self._look_for_kept()

    @property
    def progress(self) -> Progress:
        """Where the replay stands."""
        replayed, last = self.steps.done, self.steps.last
        inside = 0.0
        operator = self._operator
        step = last + 1 if operator is None else max(last + 1, operator.step)
        if operator is not None and operator.step == step and operator.total > 0:
            inside = min(1.0, operator.done / operator.total)
        done = min(replayed + inside, float(self._total))
        return Progress(
            done=done,
            replayed=replayed,
            total=self._total,
            step=step,
            rate=self._meter.steps_per_second,
            seconds_left=self._meter.seconds_left(self._total),
        )

    # What can be done

    def look_for_devices(self) -> None:
        """Ask the engine for the devices of this machine."""
        self._submit(self._engine.devices, self._devices_found)

    def open(self, path: Path, order: Path | None = None) -> None:
        """Open a bundle; a replay of the one before is stopped, and its late results are ignored."""
        self._leave()
        if path != self.path:
            self.data = None
            self.segments = SegmentRequest()
            self.allow_large = False
        self.path = path
        self.order = order
        self._clear_bundle()
        self._checking, self._summaries, self._clients = CancelToken(), Latest(), Latest()
        self._opening = self._submit(
            partial(_look, self._engine, path, order, self._checking, self._summaries, self._clients), self._opened
        )
        self._set_phase(Phase.LOADING)
        self._announce_all()

    def _leave(self) -> None:
        """Stop what works on the open bundle; what it still brings is ignored."""
        for token in (self._token, self._checking, self._planning):
            if token is not None:
                token.cancel()
        self._sink = self._token = self._checking = self._planning = self._ended = None
        self._opening = self._looking = 0
        self._filled = False
        self.plan = self.plan_failure = None

    def keep(self) -> Finished | None:
        """What the replay of the open bundle left; None while there is nothing."""
        if self.path is None or self.running or self.phase in (Phase.EMPTY, Phase.LOADING):
            return None
        return Finished(
            self.path, self.order, self.data, self.summary, self.client, self.steps.snapshot(), self.divergence,
            self.dispute,
            self.resumed_from, self.sample, self.report, self.failure, self.verdict_file, self.kept,
        )  # fmt: skip

    def show(self, finished: Finished) -> None:
        """Show again what a replay left; the file itself is not read again."""
        self._leave()
        self.path, self.order, self.data = finished.path, finished.order, finished.data
        self.summary, self.client = finished.summary, finished.client
        self._clear_replay()
        self.step_data = StepData.of(finished.summary, finished.steps)
        self._leave_out(finished.sample)
        self.divergence = finished.divergence
        self.dispute, self.resumed_from = finished.dispute, finished.resumed_from
        self.sample, self.report, self.failure = finished.sample, finished.report, finished.failure
        self.verdict_file, self.kept = finished.verdict_file, finished.kept
        if self.report is not None:
            self.checks.update({check.number: check for check in plain(self.report.checks)})
        judged = Phase.CONCLUDED if self.report is not None else Phase.FAILED
        self._set_phase(judged if self.summary is not None or self.report is not None else Phase.UNREADABLE)
        self._announce_all()
        if self.steps.done:
            self.rows_changed.emit(1, len(self.steps))

    def compare_with(self, order: Path | None) -> None:
        """Compare the open bundle with the client's own order file; None takes the order from the bundle again."""
        if self.path is not None:
            self.open(self.path, order)

    def use_data(self, data: Path) -> None:
        """Take a data file; it is compared with the order when a replay starts."""
        self.data = data
        self._announce_all()
        self.phase_changed.emit()

    def make_plan(self, bad_fraction: float, device: str, allow_large: bool = False) -> None:
        """Measure a few steps on a device; :attr:`plan_changed` follows, several times."""
        if self.path is None or self.running or self.planning:
            return
        self._planning, self._plan_values = CancelToken(), Latest()
        self.plan = self.plan_failure = None
        asked = AuditRequest(
            run=self.path, order=self.order, device=device, data=self.data, limits=limits_for(allow_large)
        )
        values = self._engine.plan(asked, bad_fraction, self._planning)
        self._submit(partial(_feed, values, self._plan_values), partial(self._planned, self._planning))
        self.plan_changed.emit()

    def stop_planning(self) -> None:
        """Stop measuring."""
        if self._planning is not None:
            self._planning.cancel()
            self._planning = None
            self.plan_changed.emit()

    def use_segments(self, segments: SegmentRequest) -> None:
        """Replay these segments from now on."""
        self.segments = segments
        self.phase_changed.emit()
        self._look_for_kept()

    def replay(self) -> None:
        """Start to replay the open run, or the chosen segments of it, from the beginning."""
        self._start(resume=False)

    def go_on(self) -> None:
        """Go on where a replay of the open run was stopped, or ended with its computer."""
        if self.can_go_on:
            self._start(resume=True)

    def _plan_of(self, path: Path, *, resume: bool = False) -> AuditRequest:
        return AuditRequest(
            run=path,
            order=self.order,
            device=self.device,
            data=self.data,
            segments=self.segments,
            threads=self.threads,
            limits=limits_for(self.allow_large),
            resume=resume,
        )

    def _look_for_kept(self) -> None:
        """Ask what is kept of an earlier replay of the open run with the same device and segments."""
        if self.phase not in (Phase.READY, Phase.CONCLUDED, Phase.FAILED):
            return
        self._drop_kept()
        run = self.summary.run if self.summary is not None else None
        if self.path is None or run is None or run.run_root is None or self.refused_so_far:
            return
        asked = partial(self._engine.kept, self._plan_of(self.path), run.order_digest, run.run_root)
        self._looking = self._submit(asked, self._kept_found)

    def _kept_found(self, result: JobResult) -> None:
        if result.job == self._looking and isinstance(result.value, Kept):
            self.kept = result.value
            self.phase_changed.emit()

    def _drop_kept(self) -> None:
        self._looking = 0
        if self.kept is not None:
            self.kept = None
            self.phase_changed.emit()

    def _start(self, *, resume: bool) -> None:
        if not self.can_replay or self.path is None:
            return
        self._leave()  # a replay makes all checks itself
        self._clear_replay()
        run = self.summary.run if self.summary is not None else None
        self._total = run.steps if run is not None else 0
        plan = self._plan_of(self.path, resume=resume)
        self._restoring, self._restored = resume, None
        self._token, self._sink, self._ended = CancelToken(), ReplaySink(), None
        self._meter.restart()
        events = self._engine.audit(plan, self._token)
        self._submit(partial(_publish, events, self._sink), partial(self._ran, self._sink))
        self._set_phase(Phase.REPLAYING)
        self.turns.soon(self._announce_all)

    def pause(self) -> None:
        """Let the replay wait at its next operator."""
        if self.phase is Phase.REPLAYING and self._token is not None:
            self._token.pause()
            self._set_phase(Phase.PAUSED)

    def resume(self) -> None:
        """Let a paused replay go on."""
        if self.phase is Phase.PAUSED and self._token is not None:
            self._token.resume()
            self._meter.restart()
            self._set_phase(Phase.REPLAYING)

    def stop(self) -> None:
        """Stop the replay; what it found so far stays."""
        if self.running and self._token is not None:
            self.was_stopped = True
            self._token.cancel()
            self._set_phase(Phase.STOPPING)

    def export_verdict(self, write: Callable[[Engine, VerdictMaterial], Path]) -> None:
        """Let the worker sign the report and write the verdict; :attr:`export_finished` or :attr:`failed` follows.

        Args:
            write: Signs and writes, and returns where the signed verdict lies; called from the worker thread.
        """
        if self.report is not None:
            material = VerdictMaterial(self.report, self.summary, self.steps.snapshot())
            self._submit(partial(write, self._engine, material), partial(self._signed, self.report))

    def ask(self, question: Callable[[Engine], object], answer: Callable[[JobResult], None]) -> None:
        """Let the worker ask the engine something, and hand the answer over in the window's thread."""
        self._submit(partial(question, self._engine), answer)

    def export_table(self, target: Path) -> None:
        """Write the replayed steps as CSV; :attr:`export_finished` or :attr:`failed` follows."""
        self._submit(partial(_write_table, self._engine, self.steps.snapshot(), target), self._exported)

    def write(self, target: Path, contents: Callable[[], bytes]) -> None:
        """Make and write a file in the worker thread; :attr:`export_finished` or :attr:`failed` follows."""
        self._submit(partial(_write_contents, target, contents), self._exported)

    @property
    def can_export_capsule(self) -> bool:
        """Whether the replay ended with a step that accuses the trainer, which anybody can check from a capsule."""
        return self.report is not None and self.report.dispute is not None and self.report.dispute.stands_alone

    def export_capsule(self, target: Path) -> None:
        """Write the dispute capsule; :attr:`export_finished` or :attr:`failed` follows."""
        if self.report is not None:
            self._submit(partial(_write_capsule, self._engine, self.report, target), self._exported)

    def select_step(self, step: int) -> None:
        """Mark a step in all views."""
        if step != self.selected_step:
            self.selected_step = step
            self.step_selected.emit(step)

    def submit(self, function: Callable[[], object], handler: Callable[[JobResult], None]) -> int:
        """Let the worker run a function after what it is at; the handler gets the result in the window's thread."""
        return self._submit(function, handler)

    def shut_down(self) -> None:
        """Stop everything, let go of the engine, and end the worker thread."""
        self._leave()
        self._timer.stop()
        self.turns.stop()
        self._worker.shut_down()

    # What comes back

    def _submit(self, function: Callable[[], object], handler: Callable[[JobResult], None]) -> int:
        job = self._worker.submit(function)
        self._handlers[job] = handler
        self._timer.start()
        return job

    def _poll(self) -> None:
        self._awake.look(time.monotonic())
        if self._filled and not self.turns.waiting:
            self._filled = False
            self._set_phase(Phase.READY)
            if not self.checking:
                self._look_for_kept()
        self._take_client()
        if (summary := self._summaries.take()) is not None and self._opening:
            self._show_summary(summary)
        if (plan := self._plan_values.take()) is not None and self.planning:
            self.plan = plan
            self.plan_changed.emit()
        for result in self._worker.poll():
            self._handlers.pop(result.job)(result)
        if self._sink is not None and not self.turns.waiting:  # what came before is shown first
            self._absorb(self._sink.take(ROWS_PER_POLL))
            if self._ended is not None and self._sink is not None and self._sink.drained:
                self._conclude(self._ended)
        if not self._worker.busy and self._sink is None and not self._filled:
            self._timer.stop()
            self.idle.emit()

    def _devices_found(self, result: JobResult) -> None:
        if result.failure is not None:
            self.failed.emit(result.failure)
        elif isinstance(result.value, tuple):
            self.devices = result.value
            self.devices_changed.emit()

    def _take_client(self) -> None:
        if (client := self._clients.take()) is not None and self._opening:
            self.client = plain(client)

    def _show_summary(self, summary: BundleSummary) -> None:
        summary = plain(summary)
        before, self.summary = self.summary, summary
        if before is None or before.run != summary.run:
            self.step_data = StepData(summary)
        self.checks.update({check.number: check for check in summary.checks})
        # The views are filled first, one after the other, and then shown: all at once would hold the window up.
        self._filled = self._filled or before is None
        if before is None or (before.order, before.run) != (summary.order, summary.run):
            self._announce_all()
        else:
            self.checks_changed.emit()
            self.phase_changed.emit()

    def _opened(self, result: JobResult) -> None:
        if result.job != self._opening:
            return
        self._take_client()
        if (summary := self._summaries.take()) is not None:
            self._show_summary(summary)
        self._opening, self._checking = 0, None
        if result.failure is not None:
            self._filled = False
            self.summary, self.failure = None, result.failure
            self._set_phase(Phase.UNREADABLE)
            self._announce_all()
        else:
            self.phase_changed.emit()
            self._look_for_kept()

    def _planned(self, token: CancelToken, result: JobResult) -> None:
        if token is not self._planning:
            return
        self._planning = None
        self.plan = self._plan_values.take() or self.plan
        self.plan_failure = result.failure
        self.plan_changed.emit()

    def _ran(self, sink: ReplaySink, result: JobResult) -> None:
        if sink is self._sink:
            self._ended = result

    def _absorb(self, snapshot: Snapshot) -> None:
        if snapshot.started is not None:
            self._total = snapshot.started.planned_steps or snapshot.started.steps
            self._note_sample(snapshot.started)
            self.checks.update({check.number: check for check in plain(snapshot.started.checks)})
        self.checks.update({check.number: check for check in plain(snapshot.checks)})
        if snapshot.started is not None or snapshot.checks:
            self.checks_changed.emit()
        if snapshot.resumed is not None:
            self.resumed_from = snapshot.resumed
        if (new := self.step_data.add(snapshot.rows)) is not None:
            self.rows_changed.emit(*new)
        if snapshot.divergences:
            for measured in snapshot.divergences:
                self.divergence.add(measured)
            self.divergence_changed.emit()
        if snapshot.operator is not None:
            self._operator = snapshot.operator
        if snapshot.rows or snapshot.operator is not None or snapshot.started is not None:
            self._note_rate(snapshot)
            self.progress_changed.emit()
        if snapshot.dispute is not None:
            self.dispute = plain(snapshot.dispute)
            self.dispute_changed.emit()
        if snapshot.report is not None:
            self.report, self.kept = snapshot.report, snapshot.kept

    def _note_rate(self, snapshot: Snapshot) -> None:
        """Note how far the replay is; the steps of an earlier one say nothing of how fast it goes."""
        if snapshot.restored is not None:
            self._restored = snapshot.restored
        if self._restoring and self._restored is not None and self.steps.done >= self._restored:
            self._restoring = False
            self._meter.restart()
        if self.phase is Phase.REPLAYING and not self._restoring:
            self._meter.note(self._awake.seconds, self.progress.done)

    def _note_sample(self, started: AuditStarted) -> None:
        self.sample = started.sample
        self._leave_out(started.sample)

    def _leave_out(self, sample: Sample | None) -> None:
        """Mark the steps that a sample leaves out."""
        if sample is None or sample.whole or self.summary is None:
            return
        every = self.summary.order.checkpoint_every
        self.step_data.choose(((first - 1) * every + 1, last * every) for first, last in sample.spans)
        self.sample_chosen.emit()

    def _conclude(self, result: JobResult) -> None:
        self._sink = self._token = self._ended = None
        self.failure = result.failure
        if self.report is not None:
            self.checks.update({check.number: check for check in plain(self.report.checks)})
            self.dispute = plain(self.report.dispute) or self.dispute
        self._set_phase(Phase.CONCLUDED if self.report is not None else Phase.FAILED)
        self.checks_changed.emit()
        self.dispute_changed.emit()
        self.progress_changed.emit()
        if self.report is None:  # what was kept before the engine came to its end
            self._look_for_kept()
        if result.failure is not None and not result.failure.expected:
            self.failed.emit(result.failure)

    def _signed(self, report: AuditReport, result: JobResult) -> None:
        if result.failure is None and isinstance(result.value, Path) and report is self.report:
            self.verdict_file = result.value
            self.phase_changed.emit()
        self._exported(result)

    def _exported(self, result: JobResult) -> None:
        if result.failure is not None:
            self.failed.emit(result.failure)
        else:
            self.export_finished.emit(result.value)

    def _set_phase(self, phase: Phase) -> None:
        self.phase = phase
        self.phase_changed.emit()

    def _announce_all(self) -> None:
        self.bundle_changed.emit()
        self.checks_changed.emit()
        self.divergence_changed.emit()
        self.dispute_changed.emit()
        self.progress_changed.emit()


# In the worker thread


def _look(
    engine: Engine,
    path: Path,
    order: Path | None,
    cancel: CancelToken,
    summaries: Latest[BundleSummary],
    clients: Latest[BundleSummary],
) -> None:
    """Look into the client's order file, if there is one, and into the bundle."""
    if order is not None:
        # An order file that cannot be read fails check 2 of the bundle, which says so.
        with suppress(CounterfoilError):
            clients.put(engine.outline(order))
    _feed(engine.inspect(path, order, cancel), summaries)


def _publish(events: Iterator[Event], sink: ReplaySink) -> None:
    for event in events:
        sink.publish(event)


def _feed(values: Iterator[T], latest: Latest[T]) -> None:
    for value in values:
        latest.put(value)


def _write_contents(target: Path, contents: Callable[[], bytes]) -> Path:
    write_whole(target, contents(), what=say("the file"))
    return target


def _write_table(engine: Engine, steps: StepTable, target: Path) -> Path:
    engine.write_steps(steps, target)
    return target


def _write_capsule(engine: Engine, report: AuditReport, target: Path) -> Path:
    engine.write_capsule(report, target)
    return target
