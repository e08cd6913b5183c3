"""Compiled formulas of scale rules: what is made of the magnitudes of rows, columns and channels, in the CPU's memory.

Each is a loop over a few numbers that torch would need ten operators for. They add and multiply as the rules in
:mod:`counterfoil.rounding.scale` say; what is not a number stays so. Tensors are given by their addresses, and must
live until the formula returns.
"""

from __future__ import annotations

import math
from functools import lru_cache
from struct import Struct
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from counterfoil.definite.bitcasts import as_bits, as_float
from counterfoil.definite.regions import JOB_WORDS, Region, at_address, carray, job

Int64Array = npt.NDArray[np.int64]

_JOIN, _NORM, _GRADIENT, _PRODUCTS, _ROOTS, _WINDOWS = range(6)
_ARGUMENTS = tuple(Struct(f"<{count}q") for count in range(17))
_RESULTS = tuple(Struct(f"<{count}d") for count in range(8))
_FIRST_RESULT = 16
"""Place of the first result in a job; before it lie the code and the arguments."""


def _formula(code: int, results: int, *arguments: int) -> tuple[float, ...]:
    _ARGUMENTS[len(arguments) + 1].pack_into(job.words, 0, code, *arguments)
    _FORMULAS.run(job.address, 1)
    return _RESULTS[results].unpack_from(job.words, 8 * _FIRST_RESULT)


def join(outer: int, rows: int, source: int, target: int) -> tuple[float, ...]:
    """Reduce the first axis away.

    Args:
        outer: Its length.
        rows: Length of the second one.
        source: Address of float64 ``[3, outer, rows]``: largest magnitudes, their sums, sums of squares.
        target: Address of float64 ``[3, rows]``; written: the same of all together.

    Returns:
        The largest of each of the three.
    """
    return _formula(_JOIN, 3, outer, rows, source, target)


def norm(count: int, top: int, spread: int, weight: int) -> tuple[float, ...]:
    """Return the largest values of what the rules of norms ask for.

    Args:
        count: Number of rows or channels.
        top: Address of float64 ``[count]``: the largest magnitude of each, X.
        spread: Address of float64 ``[count]``: its reciprocal deviation r.
        weight: Address of float64 ``[count]``, w; 0 for none.

    Returns:
        The largest X r abs(w); r (1 + X r); X / r; X X.
    """
    return _formula(_NORM, 4, count, top, spread, weight)


def gradient(
    count: int, g: int, x: int, spread: int, weight: int, length: float, *, normalised: bool, projects: bool
) -> tuple[float, ...]:
    """Return the largest values of what the rules of gradients of norms ask for.

    Args:
        count: Number of rows or channels.
        g: Address of float64 ``[3, count]``: largest magnitude G, sum of magnitudes, sum of squares of the gradient.
        x: Address of float64 ``[3, count]``: the same of the argument less its mean.
        spread: Address of float64 ``[count]``: its reciprocal deviation r.
        weight: Address of float64 ``[count]``, w; 0 for none.
        length: Elements of a row or channel.
        normalised: Whether ``x`` is of the argument times r already.
        projects: Whether a projection on the argument is taken off.

    Returns:
        With H the largest magnitude of the normalised argument, h and n the norms of that and of the gradient: the
        largest r (2 G + H n h / length) abs(w), the second term only with ``projects``; n h.
    """
    bits = _RESULTS[1].pack(length)
    flags = int(normalised) + 2 * int(projects)
    return _formula(_GRADIENT, 2, count, g, x, spread, weight, int.from_bytes(bits, "little", signed=True), flags)


def products(count: int, first: int, second: int) -> float:
    """Return the largest product of numbers at the same place of two arrays float64 ``[count]``, given by address."""
    return _formula(_PRODUCTS, 1, count, first, second)[0]


def roots(count: int, first: int, second: int) -> float:
    """Return the largest product of their square roots."""
    return _formula(_ROOTS, 1, count, first, second)[0]


def windows(outer: int, groups: int, squares: int, width: int, rows: Axis, columns: Axis, tops: int) -> float:
    """Return the largest sum of squares that a kernel brings together.

    Args:
        outer: Number of samples.
        groups: Groups of channels.
        squares: Address of float64 ``[outer, groups, height, width]``.
        width: The last length.
        rows: Which rows meet in each row of the result.
        columns: Which columns meet in each column.
        tops: Address of float64 ``[groups]``; written: the largest sum of each group. 0 for none.
    """
    return _formula(
        _WINDOWS, 1, outer, groups, squares, width, rows.places_before, rows.count, rows.starts_at, rows.places_at,
        columns.count, columns.starts_at, columns.places_at, tops,
    )[0]  # fmt: skip


class Axis:
    """Which places of an axis meet in each place of another one.

    Args:
        places_before: Length of the axis.
        meeting: For each place of the other one those that meet there.
    """

    def __init__(self, places_before: int, meeting: list[list[int]]) -> None:
        self.places_before = places_before
        self.count = len(meeting)
        """Length of the other axis."""
        self._starts: Int64Array = np.cumsum([0, *map(len, meeting)], dtype=np.int64)
        self._places: Int64Array = np.array([place for places in meeting for place in places] or [0], np.int64)
        self.starts_at: int = self._starts.ctypes.data
        self.places_at: int = self._places.ctypes.data


@lru_cache(maxsize=1024)
def read_axis(length: int, count: int, kernel: int, stride: int, padding: int, dilation: int) -> Axis:
    """Return which places of an axis of ``length`` a kernel reads for each of ``count`` results."""
    meeting = []
    for place in range(count):
        first = place * stride - padding
        read = (first + tap * dilation for tap in range(kernel))
        meeting.append([at for at in read if 0 <= at < length])
    return Axis(length, meeting)


@lru_cache(maxsize=1024)
def written_axis(length: int, count: int, kernel: int, stride: int, padding: int, dilation: int) -> Axis:
    """Return which places of an axis of ``length`` a kernel brings to each of ``count`` results: the transposed one."""
    meeting: list[list[int]] = [[] for _ in range(count)]
    for place in range(length):
        first = place * stride - padding
        for at in (first + tap * dilation for tap in range(kernel)):
            if 0 <= at < count:
                meeting[at].append(place)
    return Axis(length, meeting)


@numba.njit(inline="always")
def larger(top: Any, value: Any) -> Any:
    """The larger one of two; what is not a number stays. Inside compiled code."""
    return value if value > top or value != value else top


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _join(given: Any) -> None:
    outer, rows = np.int64(given[1]), np.int64(given[2])
    source = carray(at_address(given[3]), (3, outer, rows), np.float64)
    target = carray(at_address(given[4]), (3, rows), np.float64)
    for i in range(rows):
        target[0, i], target[1, i], target[2, i] = source[0, 0, i], source[1, 0, i], source[2, 0, i]
    for n in range(1, outer):
        for i in range(rows):
            target[0, i] = larger(target[0, i], source[0, n, i])
            target[1, i] += source[1, n, i]
            target[2, i] += source[2, n, i]
    for kind in range(3):
        top = 0.0
        for i in range(rows):
            top = larger(top, target[kind, i])
        given[16 + kind] = as_bits(top)


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _norm(given: Any) -> None:
    count = np.int64(given[1])
    tops = carray(at_address(given[2]), (count,), np.float64)
    spreads = carray(at_address(given[3]), (count,), np.float64)
    weights = carray(at_address(given[4]), (count,), np.float64)
    result = deviation = quotient = square = -math.inf
    for i in range(count):
        top, spread = tops[i], spreads[i]
        size = top * spread
        result = larger(result, size * abs(weights[i]) if given[4] else size)
        deviation = larger(deviation, spread * (1.0 + size))
        quotient = larger(quotient, top / spread)
        square = larger(square, top * top)
    given[16], given[17], given[18], given[19] = (
        as_bits(result), as_bits(deviation), as_bits(quotient), as_bits(square)
    )  # fmt: skip


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _gradient(given: Any) -> None:
    count = np.int64(given[1])
    g = carray(at_address(given[2]), (3, count), np.float64)
    x = carray(at_address(given[3]), (3, count), np.float64)
    spreads = carray(at_address(given[4]), (count,), np.float64)
    weights = carray(at_address(given[5]), (count,), np.float64)
    length: Any = as_float(given[6])
    normalised, projects = given[7] & np.uint64(1), given[7] & np.uint64(2)
    to_input = to_weight = -math.inf
    for i in range(count):
        spread = spreads[i]
        factor = 1.0 if normalised else spread
        g_norm, x_norm = np.sqrt(g[2, i]), np.sqrt(x[2, i]) * factor
        projection = x[0, i] * factor * g_norm * x_norm / length if projects else 0.0
        value = spread * (2.0 * g[0, i] + projection)
        to_input = larger(to_input, value * abs(weights[i]) if given[5] else value)
        to_weight = larger(to_weight, g_norm * x_norm)
    given[16], given[17] = as_bits(to_input), as_bits(to_weight)


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _products(given: Any) -> None:
    count = np.int64(given[1])
    first = carray(at_address(given[2]), (count,), np.float64)
    second = carray(at_address(given[3]), (count,), np.float64)
    top = -math.inf
    if given[0] == _ROOTS:
        for i in range(count):
            top = larger(top, np.sqrt(first[i]) * np.sqrt(second[i]))
    else:
        for i in range(count):
            top = larger(top, first[i] * second[i])
    given[16] = as_bits(top)


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "nsz"})
def _add_row(row: Any, other: Any) -> None:
    for i in range(row.size):
        row[i] += other[i]


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _windows(given: Any) -> None:
    outer, groups, width, height = np.int64(given[1]), np.int64(given[2]), np.int64(given[4]), np.int64(given[5])
    squares = carray(at_address(given[3]), (outer, groups, height, width), np.float64)
    rows, columns = np.int64(given[6]), np.int64(given[9])
    row_starts = carray(at_address(given[7]), (rows + 1,), np.int64)
    row_places = carray(at_address(given[8]), (row_starts[rows],), np.int64)
    column_starts = carray(at_address(given[10]), (columns + 1,), np.int64)
    column_places = carray(at_address(given[11]), (column_starts[columns],), np.int64)
    tops = carray(at_address(given[12]), (groups,), np.float64)
    are_kept = given[12] != 0
    added = np.empty(width)
    largest = 0.0
    for group in range(groups):
        top = 0.0
        for n in range(outer):
            image = squares[n, group]
            for row in range(rows):
                added[:] = 0.0
                for at in range(row_starts[row], row_starts[row + 1]):
                    _add_row(added, image[row_places[at]])
                for column in range(columns):
                    total = 0.0
                    for at in range(column_starts[column], column_starts[column + 1]):
                        total += added[column_places[at]]
                    top = larger(top, total)
        if are_kept:
            tops[group] = top
        largest = larger(largest, top)
    given[16] = as_bits(largest)


def _run(pointer: Any) -> None:
    given = carray(pointer, (JOB_WORDS,))
    code = given[0]
    if code == _JOIN:
        _join(given)
    elif code == _NORM:
        _norm(given)
    elif code == _GRADIENT:
        _gradient(given)
    elif code == _WINDOWS:
        _windows(given)
    else:
        _products(given)


_FORMULAS = Region(_run)
