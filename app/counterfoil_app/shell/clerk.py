"""Keeps the cases: notes what is opened, replayed, signed, read and compared, and to which case it belongs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as replaced
from functools import partial
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from counterfoil import AuditReport, BundleSummary, CounterfoilError, Digest, FileUse, OrderWritten, Recognised, Verdict
from counterfoil_app.engine.port import VerdictReading
from counterfoil_app.engine.worker import Failure
from counterfoil_app.model.case_file import FileKind, Replay
from counterfoil_app.model.cases import Cases
from counterfoil_app.model.eventloop import follow
from counterfoil_app.model.inquiry import Delivery, Hearing
from counterfoil_app.model.open_bundle import OpenBundle, Phase
from counterfoil_app.model.recordings import Follower
from counterfoil_app.model.session import Session

KINDS = {FileUse.ORDER: FileKind.ORDER, FileUse.RUN: FileKind.RUN, FileUse.CAPSULE: FileKind.CAPSULE}
"""What files that name their order are to its case."""


class Clerk(QObject):
    """Notes what belongs to which case.

    Args:
        session: What is listened to.
        cases: Where it is noted.
    """

    failed = Signal(Failure)

    def __init__(self, session: Session, cases: Cases, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._cases = cases
        self._noted: tuple[Path, Digest] | None = None
        self._followed: OpenBundle | None = None
        self._phase = session.phase
        self._told: set[str] = set()
        session.compared.connect(self.note_recognised)
        session.phase_changed.connect(self._follow)
        follow(self._end, session.concluded, session.kept_sought)
        session.exports.signed.connect(self._note_signed)
        session.exports.capsule_written.connect(self._note_capsule)

    def note_recognised(self, file: Recognised) -> None:
        """Know a file that names its order."""
        if file.order is not None and file.kind in KINDS:
            self._do(partial(self._cases.note, file.order, KINDS[file.kind], file.path))

    def note_order(self, path: Path, written: OrderWritten) -> None:
        """Know an order that was written here."""
        order = Digest.from_hex(written.digest)
        self._do(partial(self._cases.note, order, FileKind.ORDER, path, title=written.title))

    def note_reading(self, path: Path, reading: VerdictReading) -> None:
        """Know a verdict or an adjudication whose signature holds."""
        said = reading.verdict
        if said is None or (isinstance(said, Verdict) and reading.validity.later.withdrawals):
            return
        order = said.run_order or said.order_digest
        if order is not None:
            outcome = said.outcome.value
            self._do(
                partial(self._cases.note, order, FileKind.VERDICT, path, about=said.about, outcome=outcome)
            )  # fmt: skip

    def follow_hearing(self, hearing: Hearing) -> None:
        """Note what becomes of a capsule, and of what is signed about it."""
        hearing.changed.connect(partial(self._note_hearing, hearing))

    def follow_delivery(self, delivery: Delivery) -> None:
        """Note what becomes of delivered weights."""
        delivery.changed.connect(partial(self._note_delivery, delivery))

    # What is opened and replayed

    def _follow(self) -> None:
        session = self._session
        before, self._phase = self._phase, session.phase
        summary = session.summary
        if session.path is None or summary is None:
            return
        run, order = summary.run, summary.order.digest
        if session.phase is Phase.READY and self._noted != (session.path, order):
            self._noted = (session.path, order)
            self._note_bundle(session.path, summary, session.trainer_name)
        elif session.phase is Phase.REPLAYING and before is not Phase.PAUSED and run is not None:
            asked = replaced(session.segments, nonce="", beacon=None)
            begun = Replay.of(session.device, asked, session.order, session.data, run.steps)
            self._do(partial(self._cases.wait, order, session.path, begun))
        elif session.phase in (Phase.EMPTY, Phase.LOADING):
            self._noted = None

    def _end(self) -> None:
        """A replay came to a report, or what is kept of one was looked for: it waits if something of it is kept."""
        session = self._session
        if session.path is None or session.summary is None or session.summary.run is None:
            return
        order, run = session.summary.order.digest, session.summary.run
        now = Replay.of(session.device, session.segments, session.order, session.data, run.steps)
        if session.kept is not None:
            self._do(partial(self._cases.wait, order, session.path, replace(now, step=session.kept.step)))
        elif session.report is not None or self._is_waiting(order, session.path, now):
            self._do(partial(self._cases.wait, order, session.path, None))

    def follow_recordings(self, follower: Follower) -> None:
        """Note the runs that followed recordings come to."""
        follower.changed.connect(partial(self._note_followed, follower))

    def _note_followed(self, follower: Follower) -> None:
        run = follower.run
        finished = None if run is None or run is self._followed else run.finished
        if finished is not None and finished.summary is not None:
            self._followed = run
            self._note_bundle(finished.path, finished.summary)

    def _note_bundle(self, path: Path, summary: BundleSummary, trainer: str = "") -> None:
        run, order = summary.run, summary.order
        kind, about = (FileKind.ORDER, None) if run is None else (FileKind.RUN, run.about)
        note = partial(self._cases.note, order.digest, kind, path, about=about, title=order.title)
        self._do(partial(note, trainer=trainer if kind is FileKind.RUN else ""))

    def forget_waiting(self, run: Path) -> None:
        """Know that nothing is kept of the replay of the open run."""
        if self._session.summary is not None and self._session.path == run:
            self._do(partial(self._cases.wait, self._session.summary.order.digest, run, None))

    def _is_waiting(self, order: Digest, run: Path, now: Replay) -> bool:
        """Whether the replay that is remembered is one with the device and the segments that are chosen now."""
        case = self._cases.find(order)
        waiting = next((file.replay for file in case.files if file.file == run), None) if case is not None else None
        return waiting is not None and (waiting.device, waiting.segments) == (now.device, now.segments)

    # What is signed and written

    def _note_signed(self, report: AuditReport, path: Path) -> None:
        order = report.run_order or report.order_digest
        if order is not None:
            outcome = report.outcome.value
            self._do(
                partial(self._cases.note, order, FileKind.VERDICT, path, about=report.about, outcome=outcome)
            )  # fmt: skip

    def _note_capsule(self, report: AuditReport, path: Path) -> None:
        order = report.run_order or report.order_digest
        if order is not None:
            self._do(partial(self._cases.note, order, FileKind.CAPSULE, path, about=report.about))

    def _note_hearing(self, hearing: Hearing) -> None:
        report = hearing.report
        order = None if report is None else report.run_order or report.order_digest
        if report is None or order is None:
            return
        note = partial(self._cases.note, order, about=report.about, outcome=report.outcome.value, title=report.title)
        self._do(partial(note, FileKind.CAPSULE, hearing.filed))
        if hearing.signed is not None:
            self._do(partial(note, FileKind.VERDICT, hearing.signed))

    def _note_delivery(self, delivery: Delivery) -> None:
        report = delivery.found
        if report is not None:
            note = partial(self._cases.note, report.order_digest, about=report.about, outcome=report.outcome.value)
            self._do(partial(note, FileKind.WEIGHTS, delivery.weights))

    def _do(self, note: Callable[[], None]) -> None:
        """Note something; what keeps that from being written is told once."""
        try:
            note()
        except CounterfoilError as error:
            if str(error) not in self._told:
                self._told.add(str(error))
                self.failed.emit(Failure.of(error))
