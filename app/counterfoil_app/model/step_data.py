"""Where every step stands, for the strip, the table and the plots; the numbers are those of the step table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from counterfoil import BundleSummary, StepRow, StepTable

Floats = npt.NDArray[np.float64]
States = npt.NDArray[np.uint8]


class StepState(IntEnum):
    """Where a step stands. A greater number matters more: it wins where several steps share a place on the screen."""

    LEFT_OUT = 0
    """Not among the chosen segments: it will not be replayed."""
    MATCH = 1
    WAITING = 2
    """Not replayed yet."""
    UNJUDGED = 3
    SUSPICIOUS = 4
    """The leaf is equal, but the log holds contradictions or omissions."""
    MISMATCH = 5


class StepFilter(IntEnum):
    """Which steps the table shows."""

    ALL = 0
    MISMATCHES = 1
    CORRECTIONS = 2
    SUSPICIOUS = 3
    """With contradictions or omissions."""
    NOT_JUDGED = 4
    """Not replayed, or not from a state that both sides agree on."""


@dataclass(frozen=True)
class Stretch:
    """Neighbouring steps in one state."""

    first: int  #: The first step, from 1.
    last: int  #: The last.
    state: StepState  #: Their state.


def merge_equal(states: States) -> list[Stretch]:
    """Merge equal neighbours.

    Args:
        states: uint8 ``[steps]``: the state of step 1, 2, ...

    Returns:
        The stretches in order; together they are all steps.
    """
    if not len(states):
        return []
    edges = np.flatnonzero(np.diff(states)) + 1
    begins = [0, *edges.tolist()]
    ends = [*edges.tolist(), len(states)]
    return [Stretch(begin + 1, end, StepState(int(states[begin]))) for begin, end in zip(begins, ends, strict=True)]


def worst_per_place(states: States, places: int) -> States:
    """Return the state that matters most at each of ``places`` places of equal width over all steps.

    Args:
        states: uint8 ``[steps]``, not empty.
        places: How many; where there are more places than steps, a step has several.

    Returns:
        uint8 ``[places]``.
    """
    edges = (np.arange(places) * len(states)) // places
    if places >= len(states):
        return states[edges]
    return np.maximum.reduceat(states, edges)


class StepData:
    """The steps of one run, as the window shows them: the step table, and where each step stands.

    Args:
        summary: What the bundle says; None or an order without a run has no steps.
    """

    def __init__(self, summary: BundleSummary | None = None) -> None:
        run = summary.run if summary is not None else None
        self._recorded = run.recorded if run is not None else None
        self.restart()

    @classmethod
    def of(cls, summary: BundleSummary | None, table: StepTable) -> StepData:
        """The steps of a replay that is over.

        Args:
            summary: What the bundle says.
            table: What the replay found.
        """
        result = cls(summary)
        result.table = table
        result.states = _states(table, np.arange(len(table)))
        return result

    def restart(self) -> None:
        """Forget the replay."""
        self.table = StepTable(self._recorded)
        self.states: States = np.full(len(self.table), StepState.WAITING, np.uint8)

    @property
    def count(self) -> int:
        """Number of steps."""
        return len(self.table)

    def snapshot(self) -> StepData:
        """Return the steps as they are now, for another thread."""
        result = StepData.__new__(StepData)
        result._recorded = self._recorded
        result.table, result.states = self.table.snapshot(), self.states.copy()
        return result

    def choose(self, spans: Iterable[tuple[int, int]]) -> None:
        """Note which steps will be replayed, as first and last of each run of them; the others are left out."""
        chosen = np.zeros(self.count, np.bool_)
        for first, last in spans:
            chosen[max(0, first - 1) : last] = True
        waiting = self.states == StepState.WAITING
        self.states[waiting & ~chosen] = StepState.LEFT_OUT

    def add(self, rows: Iterable[StepRow]) -> tuple[int, int] | None:
        """Take replayed steps; those outside the run, and any that came before, are left out.

        Returns:
            The first and the last step that is new; None when there is none.
        """
        known, new = self.table.has_row, dict[int, StepRow]()
        for row in rows:
            if 1 <= row.step <= self.count and not known[row.step - 1]:
                new.setdefault(row.step, row)
        if not new:
            return None
        self.table.put(list(new.values()))
        places = np.array(list(new)) - 1
        self.states[places] = _states(self.table, places)
        return min(new), max(new)

    # What the plots draw

    @property
    def trainer_loss(self) -> Floats:
        """float64 ``[steps]``."""
        return self.table.column("trainer_loss")

    @property
    def replay_loss(self) -> Floats:
        """float64 ``[steps]``: not a number where a step was not replayed."""
        return self.table.replay_loss

    @property
    def loss_apart(self) -> Floats:
        """float64 ``[steps]``: the replay's loss minus the trainer's; not a number where a step was not replayed."""
        return self.replay_loss - self.trainer_loss

    @property
    def log_bytes(self) -> Floats:
        """float64 ``[steps]``."""
        return self.table.column("log_bytes").astype(np.float64)

    @property
    def corrections(self) -> Floats:
        """float64 ``[steps]``: not a number but in matching steps."""
        return self.table.counted("corrections")

    @property
    def suspicious(self) -> Floats:
        """float64 ``[steps]``: contradictions and omissions; not a number but in matching steps."""
        return self.table.counted("contradictions") + self.table.counted("omissions")

    # What is asked of them

    def result(self, step: int) -> StepRow | None:
        """The result of a step; None while there is none."""
        return self.table.row(step)

    def select(self, wanted: StepFilter) -> npt.NDArray[np.intp]:
        """Return the positions (step - 1) of the steps that a filter lets through, ascending."""
        if wanted is StepFilter.ALL:
            return np.arange(self.count)
        if wanted is StepFilter.MISMATCHES:
            return np.flatnonzero(self.states == StepState.MISMATCH)
        if wanted is StepFilter.CORRECTIONS:
            return np.flatnonzero(self.table.matches & (self.table.column("corrections") > 0))
        if wanted is StepFilter.SUSPICIOUS:
            return np.flatnonzero(self.states == StepState.SUSPICIOUS)
        return np.flatnonzero(np.isin(self.states, (StepState.WAITING, StepState.LEFT_OUT, StepState.UNJUDGED)))

    def state(self, step: int) -> StepState | None:
        """The state of a step; None outside the run."""
        return StepState(int(self.states[step - 1])) if 1 <= step <= self.count else None

    def counts(self, first: int, last: int) -> dict[StepState, int]:
        """How many of the steps ``first`` to ``last`` are in each state; states without any are left out."""
        found = np.bincount(self.states[max(0, first - 1) : last], minlength=len(StepState))
        return {StepState(number): int(count) for number, count in enumerate(found) if count}

    def next_mismatch(self, step: int, direction: int) -> int | None:
        """Return the nearest mismatch after (1) or before (-1) a step; None when there is none."""
        wrong = self.select(StepFilter.MISMATCHES) + 1
        beyond = wrong[wrong > step] if direction > 0 else wrong[wrong < step]
        if not len(beyond):
            return None
        return int(beyond[0] if direction > 0 else beyond[-1])


def _states(table: StepTable, places: npt.NDArray[np.intp]) -> States:
    """uint8 ``[k]``: where the steps at ``places`` (step - 1) stand by what the replay found of them."""
    bad = (table.column("contradictions")[places] > 0) | (table.column("omissions")[places] > 0)
    matches = table.matches[places]
    found = (table.unjudged[places], table.differs[places], matches & bad, matches)
    names = (StepState.UNJUDGED, StepState.MISMATCH, StepState.SUSPICIOUS, StepState.MATCH)
    return np.select(found, [np.uint8(name) for name in names], np.uint8(StepState.WAITING))
