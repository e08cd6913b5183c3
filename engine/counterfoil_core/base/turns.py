"""What takes turns: the programs of an order, one for each step, and whatever is made of each of them."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

_T = TypeVar("_T")
_Made = TypeVar("_Made")
ALONE = ""
"""The name of the only program of an order: it needs none."""


@dataclass(frozen=True)
class Turns(Generic[_T]):
    """Things by name, and the order in which they take turns: step t has the one that the pattern names t-th.

    The pattern starts again when it is through. An order's only program is the case of a pattern of one.
    """

    parts: Mapping[str, _T]  #: What takes turns, by name. A part of an order, such as a dispute capsule, may lack some.
    pattern: tuple[str, ...]  #: Their names in the order of the steps, from step 1.

    @classmethod
    def alone(cls, part: _T) -> Turns[_T]:
        """Return what there is where every step has the same."""
        return cls({ALONE: part}, (ALONE,))

    @property
    def only(self) -> _T:
        """The one that every step has; raises ValueError where several take turns."""
        (part,) = self.all
        return part

    @property
    def all(self) -> tuple[_T, ...]:
        """All of them, each once."""
        return tuple(self.parts.values())

    @property
    def several(self) -> bool:
        """Whether there is a choice: whether they have names."""
        return self.pattern != (ALONE,)

    def name(self, step: int) -> str:
        """Return the name of the one whose turn a step is, counted from 1."""
        return self.pattern[(step - 1) % len(self.pattern)]

    def of(self, step: int) -> _T:
        """Return the one whose turn a step is, counted from 1; raises KeyError when it is lacking."""
        return self.parts[self.name(step)]

    def count(self, name: str, last: int) -> int:
        """Return how many of the steps 1 to ``last`` are turns of ``name``."""
        rounds, rest = divmod(last, len(self.pattern))
        places = self._places[name]
        return rounds * len(places) + bisect_left(places, rest)

    def first(self, name: str) -> int:
        """Return the first step that is a turn of ``name``."""
        return self._places[name][0] + 1

    @property
    def complete_after(self) -> int:
        """The first step after which each of them had a turn."""
        return max(self.first(name) for name in self.parts)

    def names(self, first: int, last: int) -> tuple[str, ...]:
        """Return the names of those whose turns the steps ``first`` to ``last`` are, sorted."""
        return tuple(sorted({self.name(step) for step in range(first, min(last, first + len(self.pattern) - 1) + 1)}))

    def map(self, make: Callable[[_T], _Made]) -> Turns[_Made]:
        """Return what is made of each of them, taking the same turns."""
        return Turns({name: make(part) for name, part in self.parts.items()}, self.pattern)

    def take(self, names: tuple[str, ...]) -> Turns[_T]:
        """Return those of these names; the others are lacking."""
        return Turns({name: self.parts[name] for name in names}, self.pattern)

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        """For each name its places in the pattern, counted from 0, ascending."""
        places: dict[str, array[int]] = {}
        for place, name in enumerate(self.pattern):
            places.setdefault(name, array("q")).append(place)
        return places
