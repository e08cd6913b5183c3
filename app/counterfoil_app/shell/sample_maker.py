"""Lets the worker record the sample and says how far it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Signal

from counterfoil import CancelToken
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.sample import SampleFiles, SampleKind, SampleProgress, sample_files
from counterfoil_app.engine.worker import Failure
from counterfoil_app.model.inquiry import Inquiry
from counterfoil_app.model.session import Session


def user_sample_folder() -> Path:
    """Where the sample of the user who runs the program lies."""
    base = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericDataLocation)
    return Path(base) / "counterfoil" / "sample"


class SampleMaker(Inquiry[SampleProgress]):
    """Makes each run of the sample at most once while the program runs.

    Args:
        session: Whose worker records it.
        folder: Where the files go.
    """

    made = Signal(SampleFiles)
    progress_changed = Signal(int, int)
    """Steps recorded, steps to record."""
    failed = Signal(Failure)
    ended = Signal()
    """Made, failed or cancelled."""

    def __init__(self, session: Session, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(session.ask, parent)
        self.folder = folder
        self._known: dict[SampleKind, SampleFiles] = {}

    def make(self, kind: SampleKind) -> None:
        """Record a run, unless that was done already; :attr:`made` or :attr:`failed` follows."""
        known = self._known.get(kind)
        if known is not None and known.run.is_file() and known.order.is_file():
            self.made.emit(known)
            return
        self.cancel()
        self._kind = kind
        self.start()

    def cancel(self) -> None:
        """Give up what is being recorded; its late result is ignored."""
        if self.working:
            self.stop()
            self.ended.emit()

    def _forget(self) -> None:
        super()._forget()
        self._progress = SampleProgress(0, 0)

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        folder, kind, seen = self.folder, self._kind, self._seen

        def record(engine: Engine) -> SampleFiles:
            seen.put_all(engine.make_sample(folder, kind, token))
            return sample_files(folder, kind)

        return record

    def _look(self) -> None:
        self._progress = self._seen.take() or self._progress
        self.progress_changed.emit(self._progress.done, self._progress.total)

    def _answer(self, value: object) -> None:
        self.ended.emit()
        if self.failure is not None:
            self.failed.emit(self.failure)
        elif isinstance(value, SampleFiles):
            self._known[self._kind] = value
            self.made.emit(value)
