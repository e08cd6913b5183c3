"""Two bundles beside each other, asked in the worker: where they first differ, and what stands on both sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from counterfoil import BundleSummary, CancelToken, Difference, DifferenceProgress
from counterfoil_app.engine.port import BundlesRequest, Engine
from counterfoil_app.engine.strangers import plain
from counterfoil_app.model.inquiry import Inquiry, share_of

if TYPE_CHECKING:
    from counterfoil_app.model.session import Session

Sides = tuple[BundleSummary, BundleSummary]


@dataclass(frozen=True)
class _Answer:
    """What the worker brings: both overviews, and what was found."""

    sides: Sides
    found: Difference


class BundleDifference(Inquiry[DifferenceProgress]):
    """Says where two bundles first differ.

    Args:
        session: Whose worker, device, threads and data file are used.

    Attributes:
        first: A run; None until one is chosen.
        second: Another.
        data: The data file, for orders that keep data outside.
        replaying: Whether the step in which they part is replayed too, to compare single elements.
        progress: How far it is; None before it begins.
        sides: What both say of themselves; None until it was read.
        found: What was found; None until it is.
    """

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        self._kept: tuple[Sides | None, Difference | None] | None = None
        super().__init__(session.ask, parent)
        self._session = session
        self.first: Path | None = None
        self.second: Path | None = None
        self.data: Path | None = session.data
        self.replaying = False

    @property
    def ready(self) -> bool:
        """Whether both are chosen."""
        return self.first is not None and self.second is not None

    def choose(self, first: Path | None, second: Path | None) -> None:
        """Compare these two; what was found of others is forgotten."""
        if self.working:
            return
        self.first, self.second = first, second
        self._forget()
        if self.ready:
            self.compare()
        else:
            self.changed.emit()

    def turn(self) -> None:
        """Let both change places."""
        self.choose(self.second, self.first)

    def compare(self) -> None:
        """Find where they first differ."""
        self._begin(replay=False)

    def replay(self) -> None:
        """Replay the step in which they part with each run's own log, to compare single elements."""
        self._begin(replay=True)

    def _begin(self, *, replay: bool) -> None:
        if self.ready and not self.working:
            self.replaying = replay
            self._kept = (self.sides, self.found) if replay else None
            self.start()

    def _forget(self) -> None:
        super()._forget()
        self.progress: DifferenceProgress | None = None
        self.sides: Sides | None = None
        self.found: Difference | None = None
        if self._kept is not None:  # it stays in view while the step is replayed
            (self.sides, self.found), self._kept = self._kept, None

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        assert self.first is not None
        assert self.second is not None
        session = self._session
        asked = BundlesRequest(self.first, self.second, self.data, self.replaying, session.device, session.threads)
        return partial(self._work, asked, token)

    def _work(self, asked: BundlesRequest, token: CancelToken, engine: Engine) -> _Answer | None:
        """In the worker thread."""
        sides = engine.outline(asked.first), engine.outline(asked.second)
        for value in engine.compare_bundles(asked, token):
            if isinstance(value, Difference):
                return _Answer(sides, value)
            self._seen.put(value)
        return None

    def _show(self, seen: DifferenceProgress) -> None:
        self.progress = plain(seen)
        self.share = share_of(seen)

    def _answer(self, value: object) -> None:
        if isinstance(value, _Answer):
            self.sides, self.found = plain(value.sides), plain(value.found)
