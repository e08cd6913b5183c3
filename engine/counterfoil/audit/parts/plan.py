"""Which worker replays which segment: pure, without clocks, processes or files."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable

MOST_DEATHS = 2
"""A segment that so many workers died of is given up: it would end the next one too."""


class Schedule:
    """Hands out segments, lowest first; those of a worker that is gone go to others.

    Args:
        numbers: The segments.
    """

    def __init__(self, numbers: Iterable[int]) -> None:
        self._waiting = sorted(numbers)
        self._at: dict[int, int] = {}
        self._deaths: Counter[int] = Counter()
        self._in_a_row: Counter[int] = Counter()
        self._given_up: set[int] = set()

    @property
    def waiting(self) -> bool:
        """Whether there are segments that nobody has."""
        return bool(self._waiting)

    @property
    def given_up(self) -> frozenset[int]:
        """Segments that ended every worker that they were given to."""
        return frozenset(self._given_up)

    def at(self, worker: int) -> int | None:
        """Return the segment that a worker has; None when it has none."""
        return self._at.get(worker)

    def next(self, worker: int) -> int | None:
        """Give a worker that has none the next segment; None when there is none."""
        if worker in self._at or not self._waiting:
            return None
        self._at[worker] = heapq.heappop(self._waiting)
        return self._at[worker]

    def done(self, worker: int, number: int) -> bool:
        """Note that a worker is done with its segment; returns False when that was not its segment."""
        if self._at.get(worker) != number:
            return False
        del self._at[worker]
        self._in_a_row[worker] = 0
        return True

    def unable(self, worker: int) -> None:
        """Note that a worker can do no more, through no fault of its segment, which goes to another."""
        number = self._at.pop(worker, None)
        if number is not None:
            heapq.heappush(self._waiting, number)

    def died(self, worker: int) -> bool:
        """Note that a worker died; returns whether it is worth another start.

        It is not where it died without a segment for the second time, or has died again and again and done nothing in
        between.
        """
        number = self._at.pop(worker, None)
        self._in_a_row[worker] += 1
        if number is None:
            return self._in_a_row[worker] < MOST_DEATHS
        self._deaths[number] += 1
        if self._deaths[number] >= MOST_DEATHS:
            self._given_up.add(number)
        else:
            heapq.heappush(self._waiting, number)
        return self._in_a_row[worker] <= MOST_DEATHS
