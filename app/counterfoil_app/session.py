"""One auditor at work on one bundle: what is open, what the replay found so far, and what can be done next.

The views read a :class:`Session` and call its methods; it holds what the engine reported and draws no conclusions.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from counterfoil import (
    AuditReport,
    BundleSummary,
    CancelToken,
    Check,
    CheckNumber,
    CheckState,
    CounterfoilError,
    Dispute,
    OperatorDone,
    StepMatch,
    StepRow,
)
from counterfoil_app.divergence import DivergenceTable
from counterfoil_app.engine_port import DeviceInfo, Engine, ReplayPlan
from counterfoil_app.rate import RateMeter
from counterfoil_app.snapshot import ReplaySink, Snapshot
from counterfoil_app.worker import Failure, JobResult, Worker

POLL_MILLISECONDS = 30
ROWS_PER_POLL = 2_000
"""Steps taken in one look: 2,000 rows every 30 ms is faster than any replay and takes the window a few ms."""


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


RUNNING = (Phase.REPLAYING, Phase.PAUSED, Phase.STOPPING)


@dataclass(frozen=True)
class SigningRequest:
    """How to sign a verdict.

    Attributes:
        private_key: The auditor's private key file.
        passphrase: Its passphrase; None when it has none.
        create: Create the key first.
        target: Where the signed verdict goes.
    """

    private_key: Path
    passphrase: str | None
    create: bool
    target: Path


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
    """First and last position in :attr:`rows` that are new."""
    divergence_changed = Signal()
    progress_changed = Signal()
    dispute_changed = Signal()
    step_selected = Signal(int)
    devices_changed = Signal()
    export_finished = Signal(Path)
    failed = Signal(Failure)
    idle = Signal()

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._worker = Worker()
        self._handlers: dict[int, Callable[[JobResult], None]] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_MILLISECONDS)
        self._timer.timeout.connect(self._poll)
        self._opening = 0
        self._token: CancelToken | None = None
        self._sink: ReplaySink | None = None
        self._ended: JobResult | None = None
        self._meter = RateMeter()
        self._operator: OperatorDone | None = None
        self.devices: tuple[DeviceInfo, ...] = ()
        self.device = "cpu"
        self.phase = Phase.EMPTY
        self.path: Path | None = None
        self.order: Path | None = None
        self.data: Path | None = None
        self.failure: Failure | None = None
        self.verdict_file: Path | None = None
        self.selected_step: int | None = None
        self._clear_bundle()

    # What is known

    def _clear_bundle(self) -> None:
        self.summary: BundleSummary | None = None
        self._clear_replay()

    def _clear_replay(self) -> None:
        self.checks: dict[CheckNumber, Check] = {
            number: Check(number, CheckState.PENDING) for number in list(CheckNumber)
        }
        if self.summary is not None:
            self.checks.update({check.number: check for check in self.summary.checks})
        self.rows: list[StepRow] = []
        self.mismatches = 0
        self.divergence = DivergenceTable()
        self.dispute: Dispute | None = None
        self.resumed_from: int | None = None
        self.report: AuditReport | None = None
        self.verdict_file = None
        self.failure = None
        self.selected_step = None
        self._total = 0
        self._operator = None

    @property
    def running(self) -> bool:
        """Whether a replay is under way."""
        return self.phase in RUNNING

    @property
    def busy(self) -> bool:
        """Whether the worker has anything to do."""
        return self._worker.busy

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
    def progress(self) -> Progress:
        """Where the replay stands."""
        replayed = len(self.rows)
        inside = 0.0
        step = self.rows[-1].step + 1 if self.rows else 1
        operator = self._operator
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
        if self._token is not None:
            self._token.cancel()
        self._sink = self._token = None
        if path != self.path:
            self.data = None
        self.path = path
        self.order = order
        self._clear_bundle()
        self._opening = self._submit(partial(self._engine.inspect, path, order), self._opened)
        self._set_phase(Phase.LOADING)
        self._announce_all()

    def compare_with(self, order: Path | None) -> None:
        """Compare the open bundle with the client's own order file; None takes the order from the bundle again."""
        if self.path is not None:
            self.open(self.path, order)

    def use_data(self, data: Path) -> None:
        """Take a data file; it is compared with the order when a replay starts."""
        self.data = data
        self._announce_all()
        self.phase_changed.emit()

    def replay(self) -> None:
        """Start to replay the open run, from the beginning."""
        if not self.can_replay or self.path is None:
            return
        self._clear_replay()
        run = self.summary.run if self.summary is not None else None
        self._total = run.steps if run is not None else 0
        plan = ReplayPlan(run=self.path, order=self.order, device=self.device, data=self.data)
        self._token, self._sink, self._ended = CancelToken(), ReplaySink(), None
        self._meter.restart()
        self._submit(partial(_run_audit, self._engine, plan, self._token, self._sink), partial(self._ran, self._sink))
        self._set_phase(Phase.REPLAYING)
        self._announce_all()

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
            self._token.cancel()
            self._set_phase(Phase.STOPPING)

    def export_verdict(self, request: SigningRequest) -> None:
        """Sign the report and write the verdict; :attr:`export_finished` or :attr:`failed` follows."""
        if self.report is not None:
            self._submit(partial(_sign, self._engine, self.report, request), partial(self._signed, self.report))

    def export_table(self, target: Path) -> None:
        """Write the replayed steps as CSV; :attr:`export_finished` or :attr:`failed` follows."""
        self._submit(partial(_write_table, self._engine, tuple(self.rows), target), self._exported)

    @property
    def can_export_capsule(self) -> bool:
        """Whether the replay ended with a dispute that accuses the trainer, which anybody can check from a capsule."""
        return self.report is not None and self.report.dispute is not None and self.report.dispute.accuses

    def export_capsule(self, target: Path) -> None:
        """Write the dispute capsule; :attr:`export_finished` or :attr:`failed` follows."""
        if self.report is not None:
            self._submit(partial(_write_capsule, self._engine, self.report, target), self._exported)

    def select_step(self, step: int) -> None:
        """Mark a step in all views."""
        if step != self.selected_step:
            self.selected_step = step
            self.step_selected.emit(step)

    def shut_down(self) -> None:
        """Stop everything and end the worker thread."""
        if self._token is not None:
            self._token.cancel()
        self._timer.stop()
        self._worker.shut_down()

    # What comes back

    def _submit(self, function: Callable[[], object], handler: Callable[[JobResult], None]) -> int:
        job = self._worker.submit(function)
        self._handlers[job] = handler
        self._timer.start()
        return job

    def _poll(self) -> None:
        for result in self._worker.poll():
            self._handlers.pop(result.job)(result)
        if self._sink is not None:
            self._absorb(self._sink.take(ROWS_PER_POLL))
            if self._ended is not None and self._sink is not None and self._sink.drained:
                self._conclude(self._ended)
        if not self._worker.busy and self._sink is None:
            self._timer.stop()
            self.idle.emit()

    def _devices_found(self, result: JobResult) -> None:
        if result.failure is not None:
            self.failed.emit(result.failure)
        elif isinstance(result.value, tuple):
            self.devices = result.value
            self.devices_changed.emit()

    def _opened(self, result: JobResult) -> None:
        if result.job != self._opening:
            return
        if result.failure is None:
            summary = result.value
            assert isinstance(summary, BundleSummary)
            self.summary = summary
            self.checks.update({check.number: check for check in summary.checks})
        self.failure = result.failure
        self._set_phase(Phase.READY if result.failure is None else Phase.UNREADABLE)
        self._announce_all()

    def _ran(self, sink: ReplaySink, result: JobResult) -> None:
        if sink is self._sink:
            self._ended = result

    def _absorb(self, snapshot: Snapshot) -> None:
        if snapshot.started is not None:
            self._total = snapshot.started.steps
            self.checks.update({check.number: check for check in snapshot.started.checks})
        self.checks.update({check.number: check for check in snapshot.checks})
        if snapshot.started is not None or snapshot.checks:
            self.checks_changed.emit()
        if snapshot.resumed is not None:
            self.resumed_from = snapshot.resumed
        if snapshot.rows:
            first = len(self.rows)
            self.rows.extend(snapshot.rows)
            self.mismatches += sum(row.match is StepMatch.MISMATCH for row in snapshot.rows)
            self.rows_changed.emit(first, len(self.rows) - 1)
        if snapshot.divergences:
            for measured in snapshot.divergences:
                self.divergence.add(measured)
            self.divergence_changed.emit()
        if snapshot.operator is not None:
            self._operator = snapshot.operator
        if snapshot.rows or snapshot.operator is not None or snapshot.started is not None:
            if self.phase is Phase.REPLAYING:
                self._meter.note(time.monotonic(), self.progress.done)
            self.progress_changed.emit()
        if snapshot.dispute is not None:
            self.dispute = snapshot.dispute
            self.dispute_changed.emit()
        if snapshot.report is not None:
            self.report = snapshot.report

    def _conclude(self, result: JobResult) -> None:
        self._sink = self._token = self._ended = None
        self.failure = result.failure
        if self.report is not None:
            self.checks.update({check.number: check for check in self.report.checks})
            self.dispute = self.report.dispute or self.dispute
        self._set_phase(Phase.CONCLUDED if self.report is not None else Phase.FAILED)
        self.checks_changed.emit()
        self.dispute_changed.emit()
        self.progress_changed.emit()
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


def _run_audit(engine: Engine, plan: ReplayPlan, token: CancelToken, sink: ReplaySink) -> None:
    for event in engine.audit(plan, token):
        sink.publish(event)


def _sign(engine: Engine, report: AuditReport, request: SigningRequest) -> Path:
    if request.create:
        engine.create_key(request.private_key, request.passphrase)
    envelope = engine.sign(report, request.private_key, request.passphrase)
    _write_whole(request.target, envelope)
    return request.target


def _write_table(engine: Engine, rows: tuple[StepRow, ...], target: Path) -> Path:
    engine.write_steps(rows, target)
    return target


def _write_capsule(engine: Engine, report: AuditReport, target: Path) -> Path:
    engine.write_capsule(report, target)
    return target


def _write_whole(target: Path, data: bytes) -> None:
    """Write a file so that under its name there is either all of it or what was there before."""
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).chmod(0o644)
            Path(name).replace(target)
        except OSError:
            with suppress(FileNotFoundError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise CounterfoilError(
            f"The file {target} could not be written: {error.strerror or error}.",
            remedy="Choose another folder, or make room there.",
        ) from error
