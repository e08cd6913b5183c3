"""Rows that are windows over one sequence, as a text is given to a language model: the sequence is stored once.

A Dataset that gives ``text[i:i + block]`` and ``text[i + 1:i + block + 1]`` as its row i has each number of the text
in twice as many places as a row is long. Where all rows that are drawn are such windows, bit for bit, the order holds
the sequence as a constant of its state, which no step changes, and of each row where its window begins. Where windows
do not overlap, or rows have no numbers, an array that equals another, or is one ahead of it, is not stored beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, permutations, product
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil.training.forms import Forms
from counterfoil.training.rows import Rows
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.dtypes import INTEGER_RANGES

START = "window.start"
"""Name of the data array that says where a row's windows begin."""
_LARGEST = 64 * 2**20
"""Bytes of a sequence; as a part of the state it is hashed with it, and stored with each checkpoint."""
_LEAST_SAVED = 2
"""How many times more room the rows must take; and in how many windows a number must be."""
_SAMPLE = 8
"""Rows that are looked at before all are."""
_TRIED = 4
"""Distances between windows that are tried on all rows."""
_PIECE = 4096
"""Rows that are gathered at a time."""
_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Windows:
    """Arrays whose rows are windows over one sequence."""

    shifts: Mapping[str, int]  #: By the name of each array, how far behind the start of a row its window begins.
    starts: _Numbers  #: Where each row begins.
    sequence: Array  #: The sequence, as far as a window lies over it.


def find_windows(rows: Rows, checkpoints: int) -> tuple[Rows, tuple[str, ...]]:
    """Return data whose rows may be windows over one sequence with that sequence in their place, and what was done.

    Args:
        rows: The data of a Dataset or a DataLoader.
        checkpoints: How often a run stores its state.

    Returns:
        The data, as they were where that would not save half of the room at least; and sentences for the user.
    """
    for base in filter(lambda name: _may_be_windows(rows.arrays[name]), rows.arrays):
        if rows.numbers is None or len(rows.numbers) < _SAMPLE or START in rows.arrays:
            break
        found = _find(base, rows.arrays, rows.numbers, checkpoints)
        if found is not None:
            before = sum(rows.arrays[name].nbytes for name in found.shifts)
            after = found.sequence.nbytes + found.starts.nbytes
            note = (
                f"The rows of {', '.join(found.shifts)} are windows over one sequence of {len(found.sequence):,} "
                f"numbers, which is stored once: {after / 1e6:,.1f} MB in the place of {before / 1e6:,.1f} MB."
            )
            return _in_place(rows, found), (note,)
    return _once(rows)


def _may_be_windows(array: Array) -> bool:
    return array.ndim == 2 and array.dtype.kind == "i" and array.shape[1] > 1


def _find(base: str, arrays: Mapping[str, Array], numbers: _Numbers, checkpoints: int) -> _Windows | None:
    """Find the sequence that an array and others are windows over; None where there is none, or it saves little."""
    first = arrays[base]
    others = {name: array for name, array in arrays.items() if name != base and _may_be_windows(array)}
    shifts = {base: 0} | {n: shift for n, array in others.items() if (shift := _shift(first, array)) is not None}
    span = max(shift + arrays[name].shape[1] for name, shift in shifts.items())
    room = sum(arrays[name].nbytes for name in shifts) // _LEAST_SAVED - numbers.nbytes
    for stride in islice(_strides(first, numbers), _TRIED):
        starts, length = _packed((numbers - numbers.min()) * stride, span)
        if length > first.size // _LEAST_SAVED:
            continue
        sequence = _narrow(_laid(arrays, shifts, starts, length))
        if sequence.nbytes > min(_LARGEST, room // (1 + checkpoints)) or sequence.min() == sequence.max():
            continue
        if all(_are_windows(arrays[name], sequence, starts + shift) for name, shift in shifts.items()):
            return _Windows(shifts, starts, sequence)
    return None


def _shift(first: Array, other: Array) -> int | None:
    """How far behind the windows of one array those of another begin, by the first rows; None where they do not."""
    one, two = first[:_SAMPLE], other[:_SAMPLE]
    for shift in range(one.shape[1]):
        both = min(one.shape[1] - shift, two.shape[1])
        if np.array_equal(one[:, shift : shift + both], two[:, :both]):
            return shift
    return None


def _strides(rows: Array, numbers: _Numbers) -> Iterator[int]:
    """How far apart the windows of two neighbouring rows may begin, by some rows that lie close together."""
    order = np.argsort(numbers, kind="stable")
    gaps = np.diff(numbers[order])
    near = np.argsort(np.where(gaps > 0, gaps, np.iinfo(np.int64).max), kind="stable")[:_SAMPLE]
    pairs = [(order[place], order[place + 1], int(gaps[place])) for place in near if gaps[place] > 0]
    block = rows.shape[1]

    def fits(stride: int) -> bool:
        moved = ((one, two, stride * gap) for one, two, gap in pairs)
        return all(np.array_equal(rows[one, by:], rows[two, : block - by]) for one, two, by in moved if by < block)

    # Windows side by side: what follows may be cut off from them (block - 1), or be among them (block + 1).
    yield from filter(fits, range(1, block + 2))


def _packed(starts: _Numbers, span: int) -> tuple[_Numbers, int]:
    """Where windows begin when nothing lies between them that is in none, and how long the sequence is then."""
    order = np.argsort(starts, kind="stable")
    places = np.concatenate([[0], np.cumsum(np.minimum(np.diff(starts[order]), span))])
    packed = np.empty_like(starts)
    packed[order] = places
    return packed, int(places[-1]) + span


def _laid(arrays: Mapping[str, Array], shifts: Mapping[str, int], starts: _Numbers, length: int) -> _Numbers:
    sequence = np.zeros(length, np.int64)
    for name, shift in shifts.items():
        for first in range(0, len(starts), _PIECE):
            piece = arrays[name][first : first + _PIECE]
            sequence[_places(starts[first : first + _PIECE] + shift, piece.shape[1])] = piece
    return sequence


def _are_windows(rows: Array, sequence: Array, starts: _Numbers) -> bool:
    """Whether each row of an array is the window over a sequence that begins there."""
    return all(
        np.array_equal(sequence[_places(starts[first : first + _PIECE], rows.shape[1])], rows[first : first + _PIECE])
        for first in range(0, len(starts), _PIECE)
    )


def _places(starts: _Numbers, length: int) -> _Numbers:
    return starts[:, None] + np.arange(length)


def _narrow(sequence: _Numbers) -> Array:
    """The sequence in the shortest dtype that holds its numbers."""
    low, high = int(sequence.min()), int(sequence.max())
    narrowest = next(
        name
        for name in ("uint8", "int32", "int64")
        if INTEGER_RANGES[name][0] <= low and high <= INTEGER_RANGES[name][1]
    )
    return sequence.astype(narrowest)


def _in_place(rows: Rows, found: _Windows) -> Rows:
    """The data with windows in the place of rows."""
    sequence, batch = torch.from_numpy(found.sequence), rows.batch
    lengths = {name: rows.arrays[name].shape[1] for name in found.shifts}
    dtypes = {name: torch.from_numpy(rows.arrays[name][:0]).dtype for name in found.shifts}

    def gathered(given: Mapping[str, Tensor]) -> Any:
        leaves = {name: leaf for name, leaf in given.items() if name != START}
        for name, shift in found.shifts.items():
            places = given[START][:, None] + torch.arange(shift, shift + lengths[name])
            leaves[name] = sequence[places].to(dtypes[name])
        return batch(leaves)

    arrays = {name: array for name, array in rows.arrays.items() if name not in found.shifts}
    return replace(
        rows,
        arrays={**arrays, START: found.starts},
        batch=gathered,
        forms=None if rows.forms is None else _of_starts(rows.forms, found.shifts),
    )


# Arrays that are stored within others.


def _once(rows: Rows) -> tuple[Rows, tuple[str, ...]]:
    """The data, where an array that equals another, or is one ahead of it, is stored with that one."""
    # Arrays that the client names are held under their names.
    named = rows.schedule is None
    names = [] if named or rows.forms else [name for name, array in rows.arrays.items() if _may_be_windows(array)]
    for (first, other), ahead in product(permutations(names, 2), (0, 1)):
        one, two = rows.arrays[first], rows.arrays[other]
        if (one.shape, one.dtype) == (two.shape, two.dtype) and np.array_equal(
            one[:, ahead:], two[:, : two.shape[1] - ahead]
        ):
            note = (
                f"{other} {'is one ahead of' if ahead else 'equals'} {first} in all rows, and is not stored beside it."
            )
            return _within(rows, first, other, ahead), (note,)
    return rows, ()


def _within(rows: Rows, first: str, other: str, ahead: int) -> Rows:
    one, two = rows.arrays[first], rows.arrays[other]
    length, batch = one.shape[1], rows.batch

    def apart(given: Mapping[str, Tensor]) -> Any:
        both = given[first]
        return batch({**given, first: both[:, :length], other: both[:, ahead : ahead + length]})

    arrays = {name: array for name, array in rows.arrays.items() if name != other}
    return replace(rows, arrays={**arrays, first: np.concatenate([one, two[:, length - ahead :]], 1)}, batch=apart)


def _of_starts(forms: Forms, windows: Mapping[str, int]) -> Forms:
    """The forms of batches whose rows have starts in the place of windows."""
    kinds = []
    for kind in forms.kinds:
        rows = next(iter(kind.values()))[0]
        kinds.append({**{name: shape for name, shape in kind.items() if name not in windows}, START: (rows,)})
    return replace(forms, kinds=tuple(kinds))
