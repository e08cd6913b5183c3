"""Runs of one order by several providers: their comparison in the worker, and which of their results are the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject

from counterfoil import (
    CancelToken,
    Member,
    OperatorDone,
    PanelAdmitted,
    PanelCompared,
    PanelFinished,
    PanelReport,
    PanelRuled,
    Parting,
    StepJudged,
    limits_for,
)
from counterfoil_app.engine.port import Engine, ProvidersRequest
from counterfoil_app.engine.strangers import plain
from counterfoil_app.model.inquiry import Inquiry
from counterfoil_app.model.progress import RateMeter

if TYPE_CHECKING:
    from counterfoil_app.model.session import Session

ABSENT = -1
"""The result of a run in a step that it does not have."""
Results = npt.NDArray[np.int16]


class ResultMatrix:
    """Which result each run has in each step.

    Args:
        results: As :class:`counterfoil.PanelCompared` has them.
    """

    def __init__(self, results: Sequence[bytes] = ()) -> None:
        self.steps = max((len(row) - 1 for row in results), default=0)
        """The last step that any of the runs has."""
        self.cells: Results = np.full((len(results), self.steps + 1), ABSENT, np.int16)
        """int16 ``[runs, steps + 1]``: 0 is the result of the largest group, others count up, ABSENT is none."""
        for number, row in enumerate(results):
            self.cells[number, : len(row)] = np.frombuffer(row, np.uint8)

    def thinned(self, places: int) -> Results:
        """Return the steps from the first on, as int16 ``[runs, places]`` at most: of several the largest number."""
        steps = self.cells[:, 1:]
        if not steps.size or steps.shape[1] <= places:
            return steps
        starts = np.arange(places) * steps.shape[1] // places
        thin: Results = np.maximum.reduceat(steps, starts, axis=1)
        return thin

    def next_apart(self, step: int, way: int) -> int | None:
        """Return the nearest step behind this one, or before it, in which not all runs have one result."""
        present = np.where(self.cells == ABSENT, 0, self.cells)
        apart = np.flatnonzero((present != present[:1]).any(axis=0)) if len(self.cells) else np.zeros(0, np.int64)
        found = apart[apart > step] if way > 0 else apart[(apart < step) & (apart > 0)][::-1]
        return int(found[0]) if found.size else None


@dataclass(frozen=True)
class _Seen:
    """Where a comparison stands: what was read, how many steps are replayed, and how many there are at least."""

    members: tuple[Member, ...] = ()
    compared: PanelCompared | None = None
    ruled: tuple[Parting, ...] = ()
    judged: int = 0
    inside: float = 0.0

    @property
    def done(self) -> float:
        """Steps replayed; the fraction is the current one's operators."""
        return self.judged + len(self.ruled) + self.inside


class Comparison(Inquiry[_Seen]):
    """Compares runs in the session's worker, and replays where they part when that is wanted.

    Args:
        session: Whose worker, device, threads and data file are used.

    Attributes:
        runs: The runs, in the order in which they were added.
        order: The client's order to compare with; None takes that of the first run.
        members: What was read of each run so far.
        compared: Where they part; None until all are read.
        matrix: Which results are the same.
        ruled: The partings that were replayed.
        report: What was concluded; None until it is.
        seconds_left: How long it will still take; None while that is not known.
        replaying: Whether the runs are replayed where they part, and not only compared.
    """

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        self.runs: list[Path] = []
        self.order: Path | None = None
        self.data: Path | None = session.data
        self.replaying = False
        self._known: tuple[tuple[Member, ...], PanelCompared | None, ResultMatrix] | None = None
        super().__init__(session.ask, parent)
        self._session = session

    @property
    def parting(self) -> Parting | None:
        """The parting at the first step, as it is known: with its ruling once it was replayed."""
        known = self.ruled or (self.compared.partings if self.compared is not None else ())
        return min(known, key=lambda parting: parting.step, default=None)

    @property
    def partings(self) -> tuple[Parting, ...]:
        """All of them, those that were replayed with their rulings."""
        known = {(parting.first, parting.second): parting for parting in self.ruled}
        found = self.compared.partings if self.compared is not None else ()
        return tuple(known.get((parting.first, parting.second), parting) for parting in found)

    def add(self, paths: Iterable[Path]) -> None:
        """Compare with these runs too; what was found without them is forgotten."""
        new = [path for path in paths if path not in self.runs]
        if new and not self.working:
            self._change([*self.runs, *new])

    def remove(self, number: int) -> None:
        """Leave out a run; what was found with it is forgotten."""
        if not self.working:
            self._change([path for place, path in enumerate(self.runs) if place != number])

    def _change(self, runs: list[Path]) -> None:
        self.runs = runs
        self.replaying = False
        self._forget()
        self.changed.emit()

    def compare(self) -> None:
        """Find where the runs part; nothing is replayed."""
        self._begin(replay=False)

    def replay(self) -> None:
        """Replay where they part, and say who is right."""
        self._begin(replay=True)

    def _begin(self, *, replay: bool) -> None:
        if self.working or len(self.runs) < 2:
            return
        self.replaying = replay
        self._known = (self.members, self.compared, self.matrix) if replay else None
        self.start()

    def _forget(self) -> None:
        super()._forget()
        self.members: tuple[Member, ...] = ()
        self.compared: PanelCompared | None = None
        self.matrix = ResultMatrix()
        if self._known is not None:  # it stays in view while the files are read once more
            (self.members, self.compared, self.matrix), self._known = self._known, None
        self.ruled: tuple[Parting, ...] = ()
        self.report: PanelReport | None = None
        self.share = 0.0
        self.seconds_left: float | None = None
        self._rate = RateMeter()

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        asked = ProvidersRequest(
            tuple(self.runs),
            self.order,
            self.data,
            self.replaying,
            self._session.device,
            self._session.threads,
            limits_for(self._session.allow_large),
        )
        return partial(self._compare, asked, token)

    def _compare(self, asked: ProvidersRequest, token: CancelToken, engine: Engine) -> PanelReport | None:
        """In the worker thread."""
        seen = _Seen()
        for event in engine.compare_providers(asked, token):
            match event:
                case PanelAdmitted():
                    seen = replace(seen, members=(*seen.members, event.member))
                case PanelCompared():
                    seen = replace(seen, members=event.members, compared=event)
                case OperatorDone() if event.total:
                    seen = replace(seen, inside=min(1.0, event.done / event.total))
                case StepJudged():
                    seen = replace(seen, judged=seen.judged + 1, inside=0.0)
                case PanelRuled():
                    seen = replace(seen, ruled=(*seen.ruled, event.parting), inside=0.0)
                case PanelFinished():
                    self._seen.put(seen)
                    return event.report
            self._seen.put(seen)
        self._seen.put(seen)
        return None

    def _show(self, seen: _Seen) -> None:
        if len(seen.members) >= len(self.members):
            self.members = plain(seen.members)
        if seen.compared is not None and seen.compared is not self.compared:
            self.compared = seen.compared
            self.matrix = ResultMatrix(seen.compared.results)
        self.ruled = plain(seen.ruled)
        if self.compared is None or not self.replaying:
            self.share = len(seen.members) / max(1, len(self.runs))
            return
        # A step that decides nothing is followed by others, of which nobody knows how many.
        total = max(self.compared.steps, int(seen.done) + 1)
        self.share = min(1.0, seen.done / total)
        self._rate.note(time.monotonic(), seen.done)
        self.seconds_left = self._rate.seconds_left(total)

    def _answer(self, value: object) -> None:
        if isinstance(value, PanelReport):
            self.report = plain(value)
            self.members, self.ruled = self.report.members, self.report.partings
