"""Arrays that are filled row by row, or batch by batch, and padded with zeros to the longest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from counterfoil.training.leaves import check_dtype, is_bool, is_bool_list, leaves, numbers_of, structure
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.errors import DataError

Shape = tuple[int, ...]
Kind = Mapping[str, Shape]
"""The shape of each array in a row, or in a batch, by name."""


class Table:
    """Rows, or batches, one behind the other.

    Args:
        expected: How many are to come.
        batched: Whether batches come, and not rows.

    Attributes:
        batch: Gives the rows of a batch, by name, the structure that the first item has.
        kinds: The shapes that items have, each once.
        kind_of: For each item the number of its kind.
        whole: Whether a row of the arrays is a whole batch: where what is in a batch does not have the rows for its
            first axis, it can only be told apart as a whole.
    """

    def __init__(self, expected: int, *, batched: bool = False) -> None:
        self.batch: Callable[[Mapping[str, Tensor]], Any] = dict
        self.kinds: list[Kind] = []
        self.kind_of: list[int] = []
        self.whole = False
        self._expected = expected
        self._batched = batched
        self._stacks: dict[str, _Stack] = {}
        self._numbers: dict[tuple[Shape, ...], int] = {}

    def put(self, item: Any) -> None:
        """Take a row, or a batch.

        Raises:
            DataError: It is of another structure than the first, or holds what an order cannot.
        """
        named = dict(leaves(item, ""))
        found = {name: numbers_of(leaf, name) for name, leaf in named.items()}
        if not self._numbers:
            self._begin(item, named, found)
        self._check(found)
        key = tuple(found[name].shape for name in self._stacks)
        if self._batched and not self.whole and not _has_rows(key):
            self._separate()
        number = self._numbers.setdefault(key, len(self.kinds))
        if number == len(self.kinds):
            self.kinds.append(dict(zip(self._stacks, key, strict=True)))
        self.kind_of.append(number)
        for name, stack in self._stacks.items():
            stack.add(found[name] if self._batched and not self.whole else found[name][None])

    @property
    def arrays(self) -> dict[str, Array]:
        """The arrays by name: of batches all rows, one behind the other."""
        return {name: stack.whole() for name, stack in self._stacks.items()}

    def _begin(self, item: Any, named: Mapping[str, Any], found: Mapping[str, Array]) -> None:
        self.batch = structure(item, ((name, is_bool(leaf) or is_bool_list(leaf)) for name, leaf in named.items()))
        rows = self._batched and _has_rows([array.shape for array in found.values()])
        self.whole = self._batched and not rows
        for name, array in found.items():
            check_dtype(name, array)
            shape = array.shape if rows else (1, *array.shape)
            self._stacks[name] = _Stack(array.dtype, (self._expected * shape[0], *shape[1:]))

    def _check(self, found: Mapping[str, Array]) -> None:
        """Check that an item has the arrays of the first; raises DataError."""
        what, number = "Batch" if self._batched else "Row", len(self.kind_of)
        for name, stack in self._stacks.items():
            array = found.get(name)
            axes = stack.axes - (not self._batched or self.whole)
            if array is None or (array.dtype, array.ndim) != (stack.dtype, axes):
                has = "does not have" if array is None else f"has {array.dtype} of {array.ndim} axes for"
                raise DataError(
                    f"{what} {number} of the job's data {has} {name!r}; {what.lower()} 0 has {stack.dtype} of {axes} "
                    "axes.",
                    remedy=f"Return the same from every {'call of collate_fn' if self._batched else 'row'}.",
                )
        for name in found.keys() - self._stacks.keys():
            raise DataError(f"{what} {number} of the job's data has {name!r}; {what.lower()} 0 does not.")

    def _separate(self) -> None:
        """Make each batch that came so far a row of its own."""
        self.whole = True
        rows = [next(iter(self.kinds[number].values()))[0] for number in self.kind_of]
        starts = np.cumsum([0, *rows]).tolist()
        for name, joined in self._stacks.items():
            before = joined.whole()
            self._stacks[name] = stack = _Stack(before.dtype, (self._expected, max(rows, default=1), *before.shape[1:]))
            for number, start in zip(self.kind_of, starts, strict=False):
                shape = self.kinds[number][name]
                stack.add(before[(slice(start, start + shape[0]), *map(slice, shape[1:]))][None])


def _has_rows(shapes: Sequence[Shape]) -> bool:
    """Whether the arrays of a batch have as many rows each, by their first axes."""
    return all(shapes) and len({shape[0] for shape in shapes}) == 1


class _Stack:
    """Pieces of an array, one behind the other, each with rows for its first axis."""

    def __init__(self, dtype: np.dtype[Any], expected: Shape) -> None:
        self._held = np.zeros(expected, dtype)
        self._used: Shape = (0, *expected[1:])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of all pieces."""
        dtype: np.dtype[Any] = self._held.dtype
        return dtype

    @property
    def axes(self) -> int:
        """The number of axes of all pieces."""
        return self._held.ndim

    def add(self, piece: Array) -> None:
        """Take the next piece."""
        first = self._used[0]
        needed = (first + len(piece), *map(max, self._used[1:], piece.shape[1:]))
        if any(length > held for length, held in zip(needed, self._held.shape, strict=True)):
            # More than is needed, so that pieces of ever greater length are not copied each time.
            lengths = zip(needed, self._held.shape, strict=True)
            grown = np.zeros([held if n <= held else max(n, held + held // 4) for n, held in lengths], self.dtype)
            grown[tuple(map(slice, self._used))] = self._held[tuple(map(slice, self._used))]
            self._held = grown
        self._held[(slice(first, needed[0]), *map(slice, piece.shape[1:]))] = piece
        self._used = needed

    def whole(self) -> Array:
        """Return all pieces as one array, zero beyond their ends."""
        return np.ascontiguousarray(self._held[tuple(map(slice, self._used))])
