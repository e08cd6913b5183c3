"""Delivered weights beside a run: what says that the run is verified, how far the comparison is, what it found."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from counterfoil import AuditReport, CancelToken, DeliveryProgress, DeliveryReport
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.snapshot import Latest
from counterfoil_app.engine.strangers import plain
from counterfoil_app.engine.worker import Failure, JobResult
from counterfoil_app.model.session import Session

LOOK_MILLISECONDS = 60


class Delivery(QObject):
    """Compares delivered weights with a run in the session's worker.

    Args:
        session: Whose worker is used.
        weights: The folder, or the file, of weights.
        run: The run.

    Attributes:
        weights: The folder, or the file, of weights.
        run: The run.
        verdict: A verdict on the run; None for none.
        keys: Public keys to check it with.
        replay: The report of a replay of the run here; it counts where there is no verdict.
        progress: How far it is; None before it begins.
        report: What was found; None until it is over.
        failure: Why there is none.
    """

    changed = Signal()

    def __init__(self, session: Session, weights: Path, run: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.weights = weights
        self.run = run
        self.verdict: Path | None = None
        self.keys: Sequence[Path] = ()
        self.replay: AuditReport | None = None
        self._token: CancelToken | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MILLISECONDS)
        self._timer.timeout.connect(self._look)
        self._forget()

    def _forget(self) -> None:
        self.progress: DeliveryProgress | None = None
        self.report: DeliveryReport | None = None
        self.failure: Failure | None = None
        self._seen: Latest[DeliveryProgress] = Latest()

    @property
    def working(self) -> bool:
        """Whether it is under way."""
        return self._token is not None

    def start(self) -> None:
        """Begin, unless it is under way; :attr:`changed` follows, several times."""
        if self.working:
            return
        self._forget()
        token = self._token = CancelToken()
        self._session.ask(lambda engine: self._compare(engine, token), partial(self._ended, token))
        self._timer.start()
        self.changed.emit()

    def stop(self) -> None:
        """Stop; what still comes is ignored."""
        if self._token is not None:
            self._token.cancel()
            self._token = None
            self._timer.stop()
            self.changed.emit()

    def _compare(self, engine: Engine, token: CancelToken) -> DeliveryReport | None:
        """In the worker thread."""
        replay = None if self.verdict is not None else self.replay
        for event in engine.verify_weights(self.weights, self.run, self.verdict, self.keys, replay, token):
            if isinstance(event, DeliveryReport):
                return event
            self._seen.put(event)
        return None

    def _look(self) -> None:
        if (seen := self._seen.take()) is not None:
            self.progress = plain(seen)
            self.changed.emit()

    def _ended(self, token: CancelToken, result: JobResult) -> None:
        if token is not self._token:
            return
        self._token = None
        self._timer.stop()
        self.failure = result.failure
        if isinstance(result.value, DeliveryReport):
            self.report = plain(result.value)
        self.changed.emit()
