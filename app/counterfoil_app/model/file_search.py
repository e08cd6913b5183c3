"""Looks for a file of a case that is no longer where it was, in the session's worker."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from counterfoil import CancelToken, Digest, FileUse, TrustStore
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.search import SearchProgress, Wanted
from counterfoil_app.model.case_file import Case, CaseFile, FileKind
from counterfoil_app.model.inquiry import Ask, Inquiry

USES = {
    FileKind.ORDER: FileUse.ORDER,
    FileKind.RUN: FileUse.RUN,
    FileKind.VERDICT: FileUse.VERDICT,
    FileKind.CAPSULE: FileUse.CAPSULE,
    FileKind.WEIGHTS: FileUse.WEIGHTS,
}
"""What the engine calls them."""


class FileSearch(Inquiry[SearchProgress]):
    """One search after the other for one file.

    Args:
        ask: Lets the worker ask the engine.
        case: The case.
        file: Its file that is gone.
        store: What the user trusts, by which a verdict is read.

    Attributes:
        place: Where it was last looked for; None before that.
        progress: How far that is; None while it has not begun.
        over: Whether it came to its end.
    """

    def __init__(self, ask: Ask, case: Case, file: CaseFile, store: TrustStore, parent: QObject | None = None) -> None:
        self.place: Path | None = None
        super().__init__(ask, parent)
        self.case, self.file = case, file
        self._wanted = Wanted(
            USES[file.kind], file.file.name, Digest.from_hex(case.order), file.about, store
        )  # fmt: skip

    @property
    def found(self) -> Path | None:
        """Where the file is; None while it is not found."""
        return None if self.progress is None else self.progress.found

    def look_in(self, place: Path) -> None:
        """Look at a file, or in a folder."""
        if not self.working:
            self.place = place
            self.start()

    def _forget(self) -> None:
        super()._forget()
        self.progress: SearchProgress | None = None
        self.over = False

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        assert self.place is not None, "a place was chosen"
        return partial(self._look_there, self.place, token)

    def _look_there(self, place: Path, token: CancelToken, engine: Engine) -> None:
        """In the worker thread."""
        self._seen.put_all(engine.find(place, self._wanted, token))

    def _show(self, seen: SearchProgress) -> None:
        self.progress, self.share = seen, seen.looked / seen.total if seen.total else None

    def _answer(self, value: object) -> None:
        self.over = True
