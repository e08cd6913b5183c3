"""One auditor at work on one bundle: what can be done with it, and what comes back from the engine.

The views read a :class:`Session` and call its methods; it draws no conclusions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from counterfoil import (
    AuditReport,
    AuditRequest,
    BundleSummary,
    CancelToken,
    CheckNumber,
    CounterfoilError,
    Device,
    FileUse,
    Kept,
    LocalWorkers,
    Recognised,
    SegmentRequest,
    TrainerTrust,
    key_id_of,
    limits_for,
    with_client_key,
    with_client_order,
    with_trainer_key,
)
from counterfoil_app.engine.port import Engine, KnownRequest
from counterfoil_app.engine.snapshot import Latest, ReplaySink
from counterfoil_app.engine.strangers import plain
from counterfoil_app.engine.worker import Failure, JobResult, Worker
from counterfoil_app.model.eventloop import DrawingQueue
from counterfoil_app.model.exports import Exports
from counterfoil_app.model.inquiry import Planner
from counterfoil_app.model.open_bundle import OpenBundle, Phase, same_run
from counterfoil_app.model.replayresult import Finished, VerdictMaterial

POLL_MILLISECONDS = 30
ROWS_PER_POLL = 2_000
"""Steps taken in one look: 2,000 rows every 30 ms is faster than any replay and takes the window a few ms."""


class Inspection:
    """One look into a bundle.

    Args:
        engine: Reads the files.
        path: The bundle.
        order: The client's order file; None for none.
        clients: The public keys of clients that are known.
    """

    def __init__(self, engine: Engine, path: Path, order: Path | None, clients: Sequence[str] = ()) -> None:
        self._engine = engine
        self._path = path
        self._order = order
        self._clients = tuple(clients)
        self._token = CancelToken()
        self._summaries: Latest[BundleSummary] = Latest()
        self._ordered: Latest[BundleSummary] = Latest()

    def run(self) -> None:
        """Look, in the worker thread.

        Raises:
            CounterfoilError: The bundle cannot be read, or the order file is none.
        """
        if self._order is not None:
            self._ordered.put(self._engine.client_order(self._order, self._path))
        self._summaries.put_all(self._engine.inspect(self._path, self._order, self._clients, self._token))

    def cancel(self) -> None:
        """Look no more; what was seen until then may still come."""
        self._token.cancel()

    def client(self) -> BundleSummary | None:
        """The overview of the client's order file, if it is new."""
        return plain(self._ordered.take())

    def summary(self) -> BundleSummary | None:
        """The overview of the bundle, if it is newer than the last."""
        return plain(self._summaries.take())


class Session(OpenBundle):
    """The work on one bundle: its operations, and what comes back from them.

    All engine work happens in the worker thread; its results are fetched by a timer that runs only while there is
    something to wait for.
    """

    devices_changed = Signal()
    failed = Signal(Failure)
    misnamed = Signal(Failure)
    """A file that was chosen is not there, or is another one than was meant; :attr:`Failure.role` says as what."""
    other_order = Signal(Path)
    """The order file that is to be compared with asks for the open bundle to be opened anew."""
    compared = Signal(Recognised)
    """A file was used as the client's order."""
    kept_sought = Signal()
    """It is known whether something is kept of an earlier replay of the open run: :attr:`kept`, or nothing."""
    concluded = Signal()
    """There is a report that was not there before."""
    idle = Signal()

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self.drawing = DrawingQueue(self)
        """In which views draw what takes long."""
        self._worker = Worker(engine.close)
        self._handlers: dict[int, Callable[[JobResult], None]] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_MILLISECONDS)
        self._timer.timeout.connect(self._poll)
        self._filled = False
        self._inspection: Inspection | None = None
        self._clients_asked: tuple[str, ...] = ()
        self._token: CancelToken | None = None
        self._sink: ReplaySink | None = None
        self._ended: JobResult | None = None
        self._looking = 0
        self.planner = Planner(self.ask, self)
        self.exports = Exports(engine, self.submit, self.files_read, self)
        self.exports.signed.connect(self._signed)
        self.exports.failed.connect(self.failed)
        self.devices: tuple[Device, ...] = ()
        self._device = "cpu"
        self.threads: int | None = None
        self.workers = 1

    @property
    def where(self) -> str:
        """The machine that the engine works on; empty for this one."""
        return self._engine.where

    def near(self, path: Path) -> Path:
        """Return what lies beside a file: in its folder, or at home where that folder is on another machine."""
        return Path.home() / path.name if self.where else path

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
        return self._inspection is not None

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

    # What can be done

    def look_for_devices(self) -> None:
        """Ask the engine for the devices of this machine."""
        self.submit(self._engine.devices, self._devices_found)

    def open(self, path: Path, order: Path | None = None) -> None:
        """Open a bundle; a replay of the one before is stopped, and its late results are ignored."""
        self._leave()
        if path != self.path:
            self.data = self.heads = None
            self.segments = SegmentRequest()
            self.allow_large = False
        self.path = path
        self.order = order
        self._clear_bundle()
        self._clients_asked = self.keys.clients if self.keys is not None else ()
        self._inspection = Inspection(self._engine, path, order, self._clients_asked)
        self.submit(self._inspection.run, partial(self._opened, self._inspection))
        self._set_phase(Phase.LOADING)
        self._announce_all()

    def leave(self) -> None:
        """Close what is open; a replay of it is stopped, and its late results are ignored."""
        self._leave()
        self.path = self.order = self.data = self.heads = None
        self._clear_bundle()
        self._set_phase(Phase.EMPTY)
        self._announce_all()

    def _leave(self) -> None:
        """Stop what works on the open bundle; what it still brings is ignored."""
        for work in (self._token, self._inspection):
            if work is not None:
                work.cancel()
        self._sink = self._token = self._inspection = self._ended = None
        self._looking = 0
        self._filled = False
        self.planner.forget()

    def show(self, finished: Finished) -> None:
        """Show again what a replay left; the file itself is not read again."""
        self._leave()
        self._put_back(finished)
        judged = Phase.CONCLUDED if self.report is not None else Phase.FAILED
        self._set_phase(judged if self.summary is not None or self.report is not None else Phase.UNREADABLE)
        self._announce_all()
        if self.steps.done:
            self.rows_changed.emit(1, len(self.steps))
        if finished.stopped and finished.kept is None:  # a result of an earlier day: it can still be gone on with
            self._look_for_kept()

    def compare_with(self, order: Path | None, *, known: bool = False) -> None:
        """Compare the open bundle with the client's own order file; None takes the order from the bundle again.

        A file that is no order changes nothing: :attr:`misnamed` tells of it. What was replayed stays if it was
        replayed by the very order that the file holds.

        Args:
            order: The file.
            known: Whether nobody asked for it: the file held the order that the bundle names when it was last given.
                Where it holds another one by now, or none, nothing is compared and nothing said.
        """
        if self.path is None:
            return
        if order is None:
            self.open(self.path)
        else:
            asked = partial(self._engine.client_order, order, self.path)
            self.submit(asked, partial(self._order_read, self.path, order, known))

    def _order_read(self, path: Path, order: Path, known: bool, result: JobResult) -> None:
        if path != self.path or self.running:  # meanwhile the user went on
            return
        if known and not self._holds_the_order(result.value):
            return
        if result.failure is not None:
            self._tell(result.failure)
        elif isinstance(result.value, BundleSummary):
            client = plain(result.value)
            self.compared.emit(Recognised(order, FileUse.ORDER, client.order.digest))
            if self.report is None or self.report.run_order != client.order.digest:
                self.other_order.emit(order)
                return
            try:
                report = with_client_order(self.report, client.order.digest, client.order.client_key)
            except CounterfoilError:  # another key signed it: opened anew, check 2 says so
                self.other_order.emit(order)
                return
            self.order, self.client = order, client
            self._confirm_order(report)

    def _confirm_order(self, report: AuditReport) -> None:
        """Know that the order by which the open run was replayed is the client's."""
        self.report = report
        if self.verdict_file is not None:  # which says that the order was not compared
            self.verdict_file, self.earlier_verdict, self.handed_over = None, self.verdict_file, None
        self._take_checks(report.checks)
        if self.summary is not None:
            found = self.checks[CheckNumber.ORDER]
            self.summary = replace(
                self.summary,
                client_order=self.client.order.digest if self.client is not None else None,
                checks=tuple(found if c.number is CheckNumber.ORDER else c for c in self.summary.checks),
                order_source=report.order_source,
                given_client_key=report.given_client_key,
            )
        self._announce_all()
        self.phase_changed.emit()
        self.concluded.emit()

    def _holds_the_order(self, found: object) -> bool:
        """Whether what was read is the order that the open bundle names."""
        named = self.summary
        return isinstance(found, BundleSummary) and named is not None and found.order.digest == named.order.digest

    def know_keys(self) -> None:
        """Know whose keys signed the open run and its order, if the book has come to say so."""
        self._know_client()
        trust, report = self.trust, self.report
        named = trust is not None and trust.trainer is TrainerTrust.NAMED
        if report is not None and named and self.verdict_file is None and not report.given_key:
            self.report = with_trainer_key(report)
            self._take_checks(self.report.checks)
            self.checks_changed.emit()
            self.concluded.emit()
        self.phase_changed.emit()

    def _know_client(self) -> None:
        """Check 2 is made with the client's key: anew for an open run, and on paper for one that was replayed."""
        if self.keys is None or self.path is None or self.summary is None or self.running:
            return
        known, report = self.keys.is_client(self.client_key), self.report
        if report is None:
            was_known = any(key_id_of(public) == self.client_key for public in self._clients_asked)
            if self.phase in (Phase.LOADING, Phase.READY) and known != was_known:
                self.open(self.path, self.order)
        elif known and not report.given_client_key and self.verdict_file is None and report.order_source == "bundle":
            self._confirm_order(with_client_key(report))

    def _tell(self, failure: Failure) -> None:
        (self.misnamed if failure.role else self.failed).emit(failure)

    def use_data(self, data: Path) -> None:
        """Take a data file; it is compared with the order when a replay starts."""
        self.data = data
        self._announce_all()
        self.phase_changed.emit()

    def use_heads(self, heads: Path) -> None:
        """Take the tree heads that the trainer published; they are compared with the run when a replay starts."""
        self.heads = heads
        self.phase_changed.emit()

    def make_plan(self, bad_fraction: float, device: str, allow_large: bool = False) -> None:
        """Let the planner measure a few steps on a device."""
        if self.path is not None and not self.running and not self.planner.working:
            asked = AuditRequest(
                run=self.path, order=self.order, device=device, data=self.data, limits=limits_for(allow_large)
            )
            self.planner.measure(asked, bad_fraction)

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

    def _plan_of(self, path: Path, *, resume: bool = False) -> KnownRequest:
        run, trust = self.run, self.trust
        named = run is not None and trust is not None and trust.trainer is TrainerTrust.NAMED
        return KnownRequest(
            run=path,
            trainer=run.trainer_public if run is not None and named else "",
            client=self._client_public,
            order=self.order,
            device=self.device,
            data=self.data,
            heads=self.heads,
            segments=self.segments,
            threads=self.threads,
            workers=LocalWorkers(self.workers, self._devices_in_turn) if self.workers > 1 else None,
            limits=limits_for(self.allow_large),
            resume=resume,
        )

    @property
    def _devices_in_turn(self) -> tuple[str, ...]:
        """Where workers replay: on every GPU, the chosen one first, if that is one of several; else none but that."""
        gpus = [device.name for device in self.devices if device.name.startswith("cuda")]
        place = gpus.index(self.device) if self.device in gpus else 0
        return (*gpus[place:], *gpus[:place]) if self.device in gpus and len(gpus) > 1 else ()

    @property
    def _client_public(self) -> str:
        """The public key of the client whose signature the order has; empty where none is known."""
        known = (
            self.keys.find(self.client_key) if self.keys is not None and self.keys.is_client(self.client_key) else None
        )
        return "" if known is None else known.public

    def _look_for_kept(self) -> None:
        """Ask what is kept of an earlier replay of the open run with the same device and segments."""
        if self.phase not in (Phase.READY, Phase.CONCLUDED, Phase.FAILED):
            return
        self._drop_kept()
        run = self.run
        if self.path is None or run is None or run.run_root is None or self.refused_so_far:
            return
        asked = partial(self._engine.kept, self._plan_of(self.path), run.order_digest, run.run_root)
        self._looking = self.submit(asked, self._kept_found)

    def _kept_found(self, result: JobResult) -> None:
        if result.job != self._looking:
            return
        if isinstance(result.value, Kept):
            self.kept = result.value
            self.phase_changed.emit()
        self.kept_sought.emit()

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
        self._meter.begin(self.run.steps if self.run is not None else 0, resume=resume)
        self._token, self._sink, self._ended = CancelToken(), ReplaySink(), None
        events = self._engine.audit(self._plan_of(self.path, resume=resume), self._token)
        self.submit(partial(self._sink.publish_all, events), partial(self._ran, self._sink))
        self._set_phase(Phase.REPLAYING)
        self.drawing.soon(self._announce_all)

    def pause(self) -> None:
        """Let the replay wait at its next operator."""
        if self.phase is Phase.REPLAYING and self._token is not None:
            self._token.pause()
            self._set_phase(Phase.PAUSED)

    def resume(self) -> None:
        """Let a paused replay go on."""
        if self.phase is Phase.PAUSED and self._token is not None:
            self._token.resume()
            self._meter.go_on()
            self._set_phase(Phase.REPLAYING)

    def stop(self) -> None:
        """Stop the replay; what it found so far stays."""
        if self.running and self._token is not None:
            self.was_stopped = True
            self._token.cancel()
            self._set_phase(Phase.STOPPING)

    def export_verdict(
        self, write: Callable[[Engine, VerdictMaterial], Path], done: Callable[[Failure | None], None] | None = None
    ) -> None:
        """Let the worker sign the report and write the verdict, as :meth:`Exports.verdict` does."""
        if (material := self.material()) is not None:
            self.exports.verdict(material, write, done)

    def note_handed_over(self, report: AuditReport, target: Path) -> None:
        """Know where a report lies for others, if it is still the open one."""
        if report is self.report:
            self.handed_over = target
            self.phase_changed.emit()

    def ask(self, question: Callable[[Engine], object], answer: Callable[[JobResult], None]) -> None:
        """Let the worker ask the engine something, and hand the answer over in the window's thread."""
        self.submit(partial(question, self._engine), answer)

    def submit(self, function: Callable[[], object], handler: Callable[[JobResult], None]) -> int:
        """Let the worker run a function after what it is at; the handler gets the result in the window's thread."""
        job = self._worker.submit(function)
        self._handlers[job] = handler
        self._timer.start()
        return job

    def shut_down(self) -> None:
        """Stop everything, let go of the engine, and end the worker thread."""
        self._leave()
        self._timer.stop()
        self.drawing.stop()
        self._worker.shut_down()

    # What comes back

    def _poll(self) -> None:
        self._meter.look(time.monotonic())
        if self._filled and not self.drawing.waiting:
            self._filled = False
            self._set_phase(Phase.READY)
            if not self.checking:
                self._look_for_kept()
        if self._inspection is not None:
            self._take_what_was_seen(self._inspection)
        for result in self._worker.poll():
            self._handlers.pop(result.job)(result)
        if self._sink is not None and not self.drawing.waiting:  # what came before is shown first
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

    def _take_what_was_seen(self, inspection: Inspection) -> None:
        if (client := inspection.client()) is not None and self.order is not None:
            self.client = client
            self.compared.emit(Recognised(self.order, FileUse.ORDER, client.order.digest))
        if (summary := inspection.summary()) is not None:
            self._show_summary(summary)

    def _show_summary(self, summary: BundleSummary) -> None:
        before = self._take_summary(summary)
        # The views are filled first, one after the other, and then shown: all at once would hold the window up.
        self._filled = self._filled or before is None
        shown = (summary.order, summary.comparison)
        if before is None or (before.order, before.comparison) != shown or not same_run(before, summary):
            self._announce_all()
        else:
            self.checks_changed.emit()
            self.phase_changed.emit()

    def _opened(self, inspection: Inspection, result: JobResult) -> None:
        if inspection is not self._inspection:
            return
        self._take_what_was_seen(inspection)
        self._inspection = None
        if result.failure is not None and result.failure.role:
            self._misnamed(result.failure)
        elif result.failure is not None:
            self._filled = False
            self.summary, self.failure = None, result.failure
            self._set_phase(Phase.UNREADABLE)
            self._announce_all()
        else:
            self.phase_changed.emit()
            self._look_for_kept()
            self._know_client()  # the book may have changed while it was being opened

    def _misnamed(self, failure: Failure) -> None:
        """Take back what was chosen by mistake: nothing is concluded from it, and what is open stays open."""
        path = self.path
        self._leave()
        self.misnamed.emit(failure)
        if failure.role == "file" or path is None:
            self.path = self.order = None
            self._clear_bundle()
            self._set_phase(Phase.EMPTY)
            self._announce_all()
        elif failure.role == "order":
            self.open(path)
        else:
            self.data = None if failure.role == "data" else self.data
            self.heads = None if failure.role == "heads" else self.heads
            self._clear_replay()
            self._set_phase(Phase.READY)
            self._announce_all()

    def _ran(self, sink: ReplaySink, result: JobResult) -> None:
        if sink is self._sink:
            self._ended = result

    def _conclude(self, result: JobResult) -> None:
        self._sink = self._token = self._ended = None
        if result.failure is not None and result.failure.role:
            self._misnamed(result.failure)
            return
        self.failure = result.failure
        self._take_report()
        if self.report is None:
            self._end_checks()
        self._set_phase(Phase.CONCLUDED if self.report is not None else Phase.FAILED)
        self.checks_changed.emit()
        self.dispute_changed.emit()
        self.progress_changed.emit()
        if self.report is None:  # what was kept before the engine came to its end
            self._look_for_kept()
        else:
            self.concluded.emit()
        if result.failure is not None and not result.failure.expected:
            self.failed.emit(result.failure)

    def _signed(self, report: AuditReport, path: Path) -> None:
        if report is self.report:
            self.verdict_file, self.earlier_verdict, self.handed_over = path, None, None
            self.phase_changed.emit()
