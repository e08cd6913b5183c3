"""A hash, or a file of weights, looked for in a run by the worker."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from counterfoil import CancelToken, Digest, Located, LocateProgress
from counterfoil_app.engine.port import Engine, LocateRequest
from counterfoil_app.engine.strangers import plain
from counterfoil_app.model.inquiry import Inquiry

if TYPE_CHECKING:
    from counterfoil_app.model.session import Session


def read_hash(typed: str) -> Digest | None:
    """The hash that somebody typed or pasted: 64 hexadecimal digits, large or small; None for anything else."""
    try:
        return Digest.from_hex(typed.strip().lower())
    except ValueError:
        return None


class Locating(Inquiry[LocateProgress]):
    """Says which steps of a run hold something.

    Args:
        session: Whose worker is used.
        run: The run.

    Attributes:
        run: The run.
        wanted: A hash, or a file or folder of weights; None until something is looked for.
        progress: How far it is; None before it begins.
        found: What was found; None until it is over.
    """

    def __init__(self, session: Session, run: Path, parent: QObject | None = None) -> None:
        super().__init__(session.ask, parent)
        self.run = run
        self.wanted: Digest | Path | None = None

    def look_for(self, wanted: Digest | Path) -> None:
        """Look for this; what is being looked for is left."""
        self._leave()
        self.wanted = wanted
        self.start()

    def _forget(self) -> None:
        super()._forget()
        self.progress: LocateProgress | None = None
        self.found: Located | None = None

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        assert self.wanted is not None
        return partial(self._work, LocateRequest(self.run, self.wanted), token)

    def _work(self, asked: LocateRequest, token: CancelToken, engine: Engine) -> Located | None:
        """In the worker thread."""
        for said in engine.locate(asked, token):
            if isinstance(said, Located):
                return plain(said)
            self._seen.put(said)
        return None

    def _show(self, seen: LocateProgress) -> None:
        self.progress = seen

    def _answer(self, value: object) -> None:
        if isinstance(value, Located):
            self.found = value
