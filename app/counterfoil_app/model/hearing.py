"""The adjudication of one dispute capsule: what was found so far, and what comes back from the engine."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from counterfoil import (
    AdjudicationReport,
    CancelToken,
    Check,
    CheckChanged,
    CheckNumber,
    CheckState,
    OperatorDone,
)
from counterfoil_app.engine.port import Engine, HearingStarted
from counterfoil_app.engine.snapshot import Latest
from counterfoil_app.engine.strangers import plain
from counterfoil_app.engine.worker import Failure, JobResult
from counterfoil_app.model.session import Session

LOOK_MILLISECONDS = 60


class Hearing(QObject):
    """Adjudicates a capsule in the session's worker.

    Args:
        session: Whose worker, device and threads are used.
        path: The capsule.

    Attributes:
        path: The capsule.
        order: The client's order to compare with; None takes it from the capsule.
        checks: Where each check stands.
        report: What was found; None until it is over.
        found: The same as the engine said it, to be signed.
        signed: Where the signed adjudication lies, once there is one.
        failure: Why there is none.
        share: How much of its steps is replayed, 0 to 1.
    """

    changed = Signal()

    def __init__(self, session: Session, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.path = path
        self.order: Path | None = None
        self._token: CancelToken | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MILLISECONDS)
        self._timer.timeout.connect(self._look)
        self._forget()

    def _forget(self) -> None:
        self.checks = {number: Check(number, CheckState.PENDING) for number in list(CheckNumber)}
        self.report: AdjudicationReport | None = None
        self.found: AdjudicationReport | None = None
        self.signed: Path | None = None
        self.failure: Failure | None = None
        self.share = 0.0
        self._seen: Latest[tuple[tuple[Check, ...], float]] = Latest()

    @property
    def working(self) -> bool:
        """Whether it is under way."""
        return self._token is not None

    def start(self) -> None:
        """Begin, unless it is under way; :attr:`changed` follows, several times."""
        if self.working:
            return
        self._forget()
        self._token = CancelToken()
        session, path, order, token = self._session, self.path, self.order, self._token
        session.ask(lambda engine: self._hear(engine, path, order, token), partial(self._ended, token))
        self._timer.start()
        self.changed.emit()

    def stop(self) -> None:
        """Stop; what still comes is ignored."""
        if self._token is not None:
            self._token.cancel()
            self._token = None
            self._timer.stop()
            self.changed.emit()

    def note_signed(self, report: AdjudicationReport, path: Path) -> None:
        """Know that a report was signed; one that was found before says nothing of what is shown now."""
        if report is self.found:
            self.signed = path
            self.changed.emit()

    def _hear(self, engine: Engine, path: Path, order: Path | None, token: CancelToken) -> AdjudicationReport | None:
        """In the worker thread."""
        checks: dict[CheckNumber, Check] = {}
        first, count, share = 1, 1, 0.0
        for event in engine.adjudicate(path, order, self._session.device, self._session.threads, token):
            if isinstance(event, AdjudicationReport):
                return event
            if isinstance(event, CheckChanged):
                checks[event.check.number] = event.check
            elif isinstance(event, HearingStarted):
                first, count = event.first, event.last - event.first + 1
            elif isinstance(event, OperatorDone) and event.total:
                share = (event.step - first + event.done / event.total) / count
            self._seen.put((tuple(checks.values()), share))
        return None

    def _look(self) -> None:
        if (seen := self._seen.take()) is not None:
            checks, self.share = seen
            self.checks.update({check.number: plain(check) for check in checks})
            self.changed.emit()

    def _ended(self, token: CancelToken, result: JobResult) -> None:
        if token is not self._token:
            return
        self._look()
        self._token = None
        self._timer.stop()
        self.failure = result.failure
        if isinstance(result.value, AdjudicationReport):
            self.found, self.report = result.value, plain(result.value)
            self.checks.update({check.number: check for check in self.report.checks})
        self.changed.emit()
