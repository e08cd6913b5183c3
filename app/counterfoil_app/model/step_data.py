"""What is known of every step, as arrays: what the trainer recorded, and what the replay made of it so far.

One place for the numbers that the strip, the table and the plots show; a million steps take some 60 MB.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from counterfoil import BundleSummary, StepMatch, StepRow
from counterfoil_app.model.step_rows import StepRows

Floats = npt.NDArray[np.float64]
States = npt.NDArray[np.uint8]
NOWHERE = -1


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
    UNREPLAYED = 4


@dataclass(frozen=True)
class Stretch:
    """Neighbouring steps in one state.

    Attributes:
        first: The first step, from 1.
        last: The last.
        state: Their state.
    """

    first: int
    last: int
    state: StepState


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
    """The steps of one run.

    Args:
        summary: What the bundle says; None or an order without a run has no steps.
    """

    def __init__(self, summary: BundleSummary | None = None) -> None:
        run = summary.run if summary is not None else None
        self.count = run.steps if run is not None else 0
        self.trainer_loss: Floats = np.array(run.losses if run is not None else (), np.float64)
        self.log_entries: Floats = np.array(run.log_entries if run is not None else (), np.float64)
        self.log_bytes: Floats = np.array(run.log_bytes if run is not None else (), np.float64)
        self.restart()

    def restart(self) -> None:
        """Forget the replay."""
        self.replay_loss: Floats = np.full(self.count, np.nan)
        self.corrections: Floats = np.full(self.count, np.nan)
        self.contradictions: Floats = np.full(self.count, np.nan)
        self.omissions: Floats = np.full(self.count, np.nan)
        self.states: States = np.full(self.count, StepState.WAITING, np.uint8)
        self.rows = StepRows()
        self._places: npt.NDArray[np.int64] = np.full(self.count, NOWHERE, np.int64)

    def copy(self) -> StepData:
        """Return the arrays as they are now, for another thread; without the rows they came from."""
        result = StepData()
        result.count = self.count
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(result, name, value.copy())
        return result

    def choose(self, spans: Iterable[tuple[int, int]]) -> None:
        """Note which steps will be replayed, as first and last of each run of them; the others are left out."""
        chosen = np.zeros(self.count, np.bool_)
        for first, last in spans:
            chosen[max(0, first - 1) : last] = True
        waiting = self.states == StepState.WAITING
        self.states[waiting & ~chosen] = StepState.LEFT_OUT

    def add(self, rows: Sequence[StepRow]) -> None:
        """Take replayed steps; those outside the run are kept among the rows and shown nowhere."""
        first = len(self.rows)
        self.rows.extend(rows)
        inside = [(place, row) for place, row in enumerate(rows, first) if 1 <= row.step <= self.count]
        if not inside:
            return
        rows = [row for _, row in inside]
        places = np.array([row.step - 1 for row in rows])
        self._places[places] = [place for place, _ in inside]
        self.replay_loss[places] = [row.replay_loss for row in rows]
        self.states[places] = [_state(row) for row in rows]
        # The log of a step that parted belongs to other values; its counts would say nothing of the trainer.
        matching = np.array([row.match is StepMatch.MATCH for row in rows])
        for target, amounts in (
            (self.corrections, [row.corrections for row in rows]),
            (self.contradictions, [row.contradictions for row in rows]),
            (self.omissions, [row.omissions for row in rows]),
        ):
            target[places] = np.where(matching, np.array(amounts, np.float64), np.nan)

    def result(self, step: int) -> StepRow | None:
        """The result of a step; None while there is none."""
        place = int(self._places[step - 1]) if 1 <= step <= self.count else NOWHERE
        return None if place == NOWHERE else self.rows[place]

    def select(self, wanted: StepFilter) -> npt.NDArray[np.intp]:
        """Return the positions (step - 1) of the steps that a filter lets through, ascending."""
        if wanted is StepFilter.ALL:
            return np.arange(self.count)
        if wanted is StepFilter.MISMATCHES:
            return np.flatnonzero(self.states == StepState.MISMATCH)
        if wanted is StepFilter.CORRECTIONS:
            return np.flatnonzero(self.corrections > 0)
        if wanted is StepFilter.SUSPICIOUS:
            return np.flatnonzero(self.states == StepState.SUSPICIOUS)
        return np.flatnonzero((self.states == StepState.WAITING) | (self.states == StepState.LEFT_OUT))

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


def _state(row: StepRow) -> StepState:
    if row.match is StepMatch.MISMATCH:
        return StepState.MISMATCH
    if row.match is StepMatch.UNJUDGED:
        return StepState.UNJUDGED
    return StepState.SUSPICIOUS if row.contradictions or row.omissions else StepState.MATCH
