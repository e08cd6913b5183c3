"""The forms of a training's batches: the shapes of the parts of each step, for each of which it has a program.

The arrays of an order have rows of one shape, the longest, and a step has as many rows as the largest batch. A program
first cuts them to the shape that its batch has, so that the objective sees what the client's own loop would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from torch import Tensor

from counterfoil.training.tables import Kind, Shape
from counterfoil_core.base.errors import DataError
from counterfoil_core.bundle.pattern import MAX_PATTERN

_LONGEST_NAME = 40
"""Characters of the name of a program that lists shapes."""
Combination = tuple[int, ...]
"""The numbers of the kinds of a step's parts."""


@dataclass(frozen=True)
class Forms:
    """The shapes that the parts of steps have."""

    #: Each that occurs, once: the shape of every array in a part, by name. The first axis is the row.
    kinds: tuple[Kind, ...]
    steps: tuple[Combination, ...]  #: For each step the number of each part's kind.
    rows: int  #: Rows that a part has in the schedule: those of the largest.
    whole: bool = False  #: Whether each part is one row of the arrays, and a kind the shape within it.

    @cached_property
    def names(self) -> Mapping[Combination, str]:
        """The name of the program of each combination of parts that occurs: the rows of each, and lengths that vary."""
        labels = self._labels
        named = {step: ".".join(labels[number] for number in step) for step in dict.fromkeys(self.steps)}
        if all(len(name) <= _LONGEST_NAME for name in named.values()) and len(set(named.values())) == len(named):
            return named
        return {step: f"shape.{number}" for number, step in enumerate(named, start=1)}

    @cached_property
    def pattern(self) -> tuple[str, ...]:
        """The name of each step's program, up to where they start again; raises DataError as :func:`pattern_of`."""
        return pattern_of([self.names[step] for step in self.steps])

    @cached_property
    def _labels(self) -> list[str]:
        columns = dict.fromkeys(zip(*(_flat(kind) for kind in self.kinds), strict=True))
        rows = [] if self.whole else [tuple(next(iter(kind.values()))[0] for kind in self.kinds)]
        varying = dict.fromkeys([*rows, *(column for column in columns if len(set(column)) > 1)])
        return ["x".join(str(column[number]) for column in varying) or "1" for number in range(len(self.kinds))]

    def check_pieces(self, pieces: int) -> None:
        """Check that each part can be split into equal pieces; raises DataError."""
        for kind in self.kinds if pieces > 1 else ():
            rows = 1 if self.whole else next(iter(kind.values()))[0]
            if rows % pieces:
                raise DataError(
                    f"A batch of {rows} rows cannot be split into {pieces} equal parts.",
                    remedy="Choose a number of micro-batches that divides the rows of every batch, or leave a shorter "
                    "one out with last='drop'.",
                )

    def cut(self, batch: Mapping[str, Tensor], step: Combination, number: int, pieces: int = 1) -> dict[str, Tensor]:
        """Return what a part of a step, or a piece of it, has of the step's rows, in its own shape.

        Args:
            batch: The rows of the step by name.
            step: The kinds of its parts.
            number: Which piece, counted over all parts.
            pieces: Into how many equal pieces each part is split.
        """
        part, piece = divmod(number, pieces)
        found = {}
        for name, shape in self.kinds[step[part]].items():
            if self.whole:
                found[name] = _cut(batch[name][part], shape)
                continue
            rows = shape[0] // pieces
            first = part * self.rows + piece * rows
            found[name] = _cut(batch[name][first : first + rows], (rows, *shape[1:]))
        return found

    @cached_property
    def _longest(self) -> Kind:
        axes = {name: zip(*(kind[name] for kind in self.kinds), strict=True) for name in self.kinds[0]}
        return {name: tuple(map(max, lengths)) for name, lengths in axes.items()}

    def padded_kind(self, kind: Kind, multiple: int) -> Kind:
        """Return a kind whose lengths are padded to a multiple, and no longer than the longest.

        The rows stay as many as they are.
        """
        return {
            name: (*shape[:1], *map(min, (-(-n // multiple) * multiple for n in shape[1:]), self._longest[name][1:]))
            for name, shape in kind.items()
        }

    def rounded(self, multiple: int) -> Forms:
        """Return the forms of batches whose kinds are padded so."""
        found: dict[tuple[tuple[str, Shape], ...], int] = {}
        padded = (self.padded_kind(kind, multiple) for kind in self.kinds)
        places = [found.setdefault(tuple(kind.items()), len(found)) for kind in padded]
        steps = tuple(tuple(places[number] for number in step) for step in self.steps)
        return replace(self, kinds=tuple(map(dict, found)), steps=steps)


def _flat(kind: Kind) -> tuple[int, ...]:
    return tuple(length for shape in kind.values() for length in shape)


def _cut(tensor: Tensor, shape: Shape) -> Tensor:
    return tensor[tuple(map(slice, shape))]


def schedule_of_parts(
    parts: Sequence[npt.NDArray[np.int64]], combinations: Sequence[Sequence[object]]
) -> npt.NDArray[np.int64]:
    """Return which rows each step reads; a part with fewer rows than the largest is filled up with row 0.

    Args:
        parts: The rows of each part of each step.
        combinations: The parts of each step, whatever they are.

    Returns:
        int64 ``[steps, most parts * most rows]``.
    """
    rows = max(map(len, parts))
    schedule = np.zeros((len(combinations), max(map(len, combinations)), rows), np.int64)
    following = iter(parts)
    for number, combination in enumerate(combinations):
        for place in range(len(combination)):
            part = next(following)
            schedule[number, place, : len(part)] = part
    return schedule.reshape(len(combinations), -1)


def pattern_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return the shortest beginning of a sequence that gives all of it when it starts again and again.

    Args:
        names: The name of each step's program.

    Raises:
        DataError: It is longer than an order has room for.
    """
    # Knuth, Morris and Pratt: the longest beginning of each part of the sequence that is its end, too.
    ends = [0] * len(names)
    length = 0
    for place in range(1, len(names)):
        while length and names[place] != names[length]:
            length = ends[length - 1]
        length += names[place] == names[length]
        ends[place] = length
    pattern = tuple(names[: len(names) - ends[-1]])
    if len(pattern) > MAX_PATTERN:
        raise DataError(
            f"The shapes of batches follow no pattern in {len(pattern):,} steps; an order says for {MAX_PATTERN:,} at "
            "most which step has which.",
            remedy="Pad all batches to one length, or order fewer steps.",
        )
    return pattern
