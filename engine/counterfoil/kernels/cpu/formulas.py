"""Compiled formulas of scale rules: what is made of the magnitudes of rows, columns and channels, in the CPU's memory.

Each is a loop over a few numbers that torch would need ten operators for. They add and multiply as the rules in
:mod:`counterfoil.arithmetic.grid.scales` say; what is not a number stays so. Tensors are given by their addresses, and
must live until the formula returns.
"""

from __future__ import annotations

import math
from struct import Struct
from typing import Any, NamedTuple

import numpy as np

from counterfoil.kernels.cache import inlined, kernel
from counterfoil.kernels.cpu.bitcasts import as_bits, as_float
from counterfoil.kernels.cpu.regions import JOB_WORDS, Region, at_address, carray, entered, job, left

_JOIN, _NORM, _GRADIENT, _PRODUCTS, _ROOTS, _WINDOWS = range(6)
_ARGUMENTS = tuple(Struct(f"<{count}q") for count in range(21))
_RESULTS = tuple(Struct(f"<{count}d") for count in range(8))
_FIRST_RESULT = 20
"""Place of the first result in a job; before it lie the code and the arguments."""


def _formula(code: int, results: int, *arguments: int) -> tuple[float, ...]:
    _ARGUMENTS[len(arguments) + 1].pack_into(job.words, 0, code, *arguments)
    _FORMULAS.run(1)
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


def norm(count: int, top: int, spread: int, weight: int, *others: int) -> tuple[float, ...]:
    """Return the largest values of what the rules of norms ask for.

    Args:
        count: Number of rows or channels.
        top: Address of float64 ``[count]``: the largest magnitude of each, X.
        spread: Address of float64 ``[count]``: its reciprocal deviation r.
        weight: Address of float64 ``[count]``, w; 0 for none.
        others: Up to three addresses of float64 ``[count]``; 0 for none.

    Returns:
        The largest X r abs(w); r (1 + X r); X / r; X X; the largest magnitude of each of the others, 0 of none.
    """
    return _formula(_NORM, 4 + len(others), count, top, spread, weight, len(others), *others)


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


class Axis(NamedTuple):
    """An axis of space of a convolution.

    Attributes:
        length: Length of what is added.
        places: Length of the result.
        kernel: Length of the kernel.
        stride: Its stride.
        padding: Padding of what the kernel reads.
        dilation: Its dilation.
    """

    length: int
    places: int
    kernel: int
    stride: int
    padding: int
    dilation: int


def windows(outer: int, groups: int, squares: int, rows: Axis, columns: Axis, tops: int, *, transposed: bool) -> float:
    """Return the largest sum of squares that a kernel brings together.

    Args:
        outer: Number of samples.
        groups: Groups of channels.
        squares: Address of float64 ``[outer, groups, height, width]``.
        rows: The axis of the height.
        columns: That of the width.
        tops: Address of float64 ``[groups]``; written: the largest sum of each group. 0 for none.
        transposed: Whether the kernel writes where otherwise it would read.
    """
    return _formula(_WINDOWS, 1, outer, groups, squares, tops, int(transposed), *rows, *columns)[0]


@inlined
def larger(top: Any, value: Any) -> Any:
    """The larger one of two; what is not a number stays. Inside compiled code."""
    return value if value > top or value != value else top


@kernel(nogil=True, error_model="numpy")
def joined(source: Any, target: Any, are_largest: bool) -> Any:
    """Reduce ``[outer, n]`` to ``[n]``, by maximum or by addition; return the largest. Inside compiled code."""
    target[:] = source[0]
    for n in range(1, source.shape[0]):
        if are_largest:
            for i in range(target.size):
                target[i] = larger(target[i], source[n, i])
        else:
            for i in range(target.size):
                target[i] += source[n, i]
    top = 0.0
    for i in range(target.size):
        top = larger(top, target[i])
    return top


@kernel(nogil=True, error_model="numpy")
def _join(given: Any) -> None:
    outer, rows = np.int64(given[1]), np.int64(given[2])
    source = carray(at_address(given[3]), (3, outer, rows), np.float64)
    target = carray(at_address(given[4]), (3, rows), np.float64)
    for kind in range(3):
        given[20 + kind] = as_bits(joined(source[kind], target[kind], kind == 0))


@kernel(nogil=True, error_model="numpy")
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
    given[20], given[21], given[22], given[23] = (
        as_bits(result), as_bits(deviation), as_bits(quotient), as_bits(square)
    )  # fmt: skip
    for place in range(np.int64(given[5])):
        largest = 0.0
        if given[6 + place]:
            values = carray(at_address(given[6 + place]), (count,), np.float64)
            for i in range(count):
                largest = larger(largest, abs(values[i]))
        given[24 + place] = as_bits(largest)


@kernel(nogil=True, error_model="numpy")
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
    given[20], given[21] = as_bits(to_input), as_bits(to_weight)


@kernel(nogil=True, error_model="numpy")
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
    given[20] = as_bits(top)


@kernel(nogil=True, error_model="numpy", fastmath={"reassoc", "nsz"})
def _add_row(row: Any, other: Any) -> None:
    for i in range(row.size):
        row[i] += other[i]


@kernel(nogil=True, error_model="numpy")
def _meeting(axis: Any, is_transposed: Any) -> Any:
    """Return which places meet in each place of a result, int64 ``[count, kernel]``, filled up with -1."""
    length, count, kernel = np.int64(axis[0]), np.int64(axis[1]), np.int64(axis[2])
    stride, padding, dilation = np.int64(axis[3]), np.int64(axis[4]), np.int64(axis[5])
    places = np.full((count, kernel), -1, np.int64)
    from_count, to_count = (length, count) if is_transposed else (count, length)
    for one in range(from_count):
        for tap in range(kernel):
            other = one * stride - padding + tap * dilation
            if 0 <= other < to_count:
                if is_transposed:
                    places[other, tap] = one
                else:
                    places[one, tap] = other
    return places


@kernel(nogil=True, error_model="numpy")
def _windows(given: Any) -> None:
    outer, groups = np.int64(given[1]), np.int64(given[2])
    height, width = np.int64(given[6]), np.int64(given[12])
    squares = carray(at_address(given[3]), (outer, groups, height, width), np.float64)
    tops = carray(at_address(given[4]), (groups,), np.float64)
    rows, columns = _meeting(given[6:12], given[5]), _meeting(given[12:18], given[5])
    are_kept = given[4] != 0
    # The last number stands for all places outside.
    added = np.empty(width + 1)
    largest = 0.0
    for group in range(groups):
        top = 0.0
        for n in range(outer):
            image = squares[n, group]
            for row in range(rows.shape[0]):
                added[:] = 0.0
                for tap in range(rows.shape[1]):
                    if rows[row, tap] >= 0:
                        _add_row(added[:width], image[rows[row, tap]])
                for column in range(columns.shape[0]):
                    total = 0.0
                    for tap in range(columns.shape[1]):
                        total += added[columns[column, tap]]
                    top = larger(top, total)
        if are_kept:
            tops[group] = top
        largest = larger(largest, top)
    given[20] = as_bits(largest)


def _run(pointer: Any) -> None:
    entered(pointer)
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
    left(pointer)


_FORMULAS = Region(_run)
