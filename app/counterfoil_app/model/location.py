"""A hash, or a file of weights, looked for in a run by the worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from counterfoil import CancelToken, Digest, Located, LocateProgress
from counterfoil_app.engine.port import Engine, LocateRequest
from counterfoil_app.model.inquiry import Query

if TYPE_CHECKING:
    from counterfoil_app.model.session import Session


def read_hash(typed: str) -> Digest | None:
    """The hash that somebody typed or pasted: 64 hexadecimal digits, large or small; None for anything else."""
    try:
        return Digest.from_hex(typed.strip().lower())
    except ValueError:
        return None


class Locating(Query[LocateProgress, Located]):
    """Says which steps of a run hold something.

    Args:
        session: Whose worker is used.
        run: The run.

    Attributes:
        run: The run.
        wanted: A hash, or a file or folder of weights; None until something is looked for.
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

    def _asked(self, token: CancelToken) -> Callable[[Engine], Iterator[LocateProgress | Located]]:
        assert self.wanted is not None
        asked = LocateRequest(self.run, self.wanted)
        return lambda engine: engine.locate(asked, token)
