"""Which elements indices bring together."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from counterfoil_core.base.arrays import Array


class Meetings:
    """Which of many values meet in which place.

    Args:
        places: int ``[k]``: the place of each value; -1 for none.
        values: ``[k]``.
    """

    def __init__(self, places: Array, values: Array) -> None:
        self._places = places.reshape(-1)
        self._values = values.reshape(-1)

    @cached_property
    def _order(self) -> Array:
        return np.argsort(self._places, kind="stable")

    @cached_property
    def _sorted(self) -> Array:
        return self._places[self._order]

    def at(self, place: int) -> Array:
        """The values of a place, in their order."""
        first, end = np.searchsorted(self._sorted, [place, place + 1])
        return self._values[self._order[first:end]]

    @property
    def most(self) -> int:
        """The most values that meet in one place."""
        kept = self._sorted[self._sorted >= 0]
        return int(np.unique(kept, return_counts=True)[1].max()) if len(kept) else 1
