"""Lets the worker record the sample and says how far it is."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, QTimer, Signal

from counterfoil import CancelToken
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.sample import SampleFiles, SampleKind, sample_files
from counterfoil_app.engine.worker import Failure, JobResult
from counterfoil_app.model.session import Session

LOOK_MILLISECONDS = 100


def user_sample_folder() -> Path:
    """Where the sample of the user who runs the program lies."""
    base = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericDataLocation)
    return Path(base) / "counterfoil" / "sample"


class SampleMaker(QObject):
    """Makes each run of the sample at most once while the program runs.

    Args:
        engine: Records it, in the session's worker.
        session: Whose worker it is.
        folder: Where the files go.
    """

    made = Signal(SampleFiles)
    progress_changed = Signal(int, int)
    """Steps recorded, steps to record."""
    failed = Signal(Failure)
    ended = Signal()
    """Made, failed or cancelled."""

    def __init__(self, engine: Engine, session: Session, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._session = session
        self.folder = folder
        self._known: dict[SampleKind, SampleFiles] = {}
        self._token: CancelToken | None = None
        self._progress = (0, 0)
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MILLISECONDS)
        self._timer.timeout.connect(self._look)

    @property
    def working(self) -> bool:
        """Whether a sample is being recorded."""
        return self._token is not None

    def make(self, kind: SampleKind) -> None:
        """Record a run, unless that was done already; :attr:`made` or :attr:`failed` follows."""
        known = self._known.get(kind)
        if known is not None and known.run.is_file() and known.order.is_file():
            self.made.emit(known)
            return
        self.cancel()
        token = CancelToken()
        self._token, self._progress = token, (0, 0)
        self._session.submit(partial(self._record, kind, token), partial(self._done, kind, token))
        self._timer.start()

    def cancel(self) -> None:
        """Give up what is being recorded; its late result is ignored."""
        if self._token is not None:
            self._token.cancel()
            self._end()

    def _record(self, kind: SampleKind, token: CancelToken) -> SampleFiles:
        """Record a run, in the worker thread."""
        for progress in self._engine.make_sample(self.folder, kind, token):
            # One assignment, read by the window's timer.
            self._progress = (progress.done, progress.total)
        return sample_files(self.folder, kind)

    def _look(self) -> None:
        self.progress_changed.emit(*self._progress)

    def _done(self, kind: SampleKind, token: CancelToken, result: JobResult) -> None:
        if token is not self._token:
            return
        self._end()
        if result.failure is not None:
            self.failed.emit(result.failure)
        elif isinstance(result.value, SampleFiles):
            self._known[kind] = result.value
            self.made.emit(result.value)

    def _end(self) -> None:
        self._token = None
        self._timer.stop()
        self.ended.emit()
