"""Compiled formulas of scale rules: what is made of the magnitudes of rows, columns and channels, in the CPU's memory.

Each is a loop over a few numbers that torch would need ten operators for. They add and multiply as the rules in
:mod:`counterfoil_core.arithmetic.families` say; what is not a number stays so. Tensors are given by their
addresses, and must live until the formula returns.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from counterfoil_core.kernels.cache import inlined, kernel
from counterfoil_core.kernels.cpu.regions import Region, entered, floats_at, left, record_at

_JOIN = np.dtype([("outer", "i8"), ("rows", "i8"), ("source", "u8"), ("target", "u8"), ("tops", "f8", 3)])
_NORM = np.dtype(
    [
        ("count", "i8"), ("tops", "u8"), ("spreads", "u8"), ("weights", "u8"), ("others", "u8", 3),
        ("result", "f8"), ("deviation", "f8"), ("quotient", "f8"), ("square", "f8"), ("largest", "f8", 3),
    ]
)  # fmt: skip
_GRADIENT = np.dtype(
    [
        ("count", "i8"), ("g", "u8"), ("x", "u8"), ("spreads", "u8"), ("weights", "u8"), ("length", "f8"),
        ("normalised", "i8"), ("projects", "i8"), ("to_input", "f8"), ("to_weight", "f8"),
    ]
)  # fmt: skip
_PRODUCTS = np.dtype([("count", "i8"), ("first", "u8"), ("second", "u8"), ("are_roots", "i8"), ("top", "f8")])
_WINDOWS = np.dtype(
    [
        ("outer", "i8"), ("groups", "i8"), ("squares", "u8"), ("tops", "u8"), ("transposed", "i8"), ("rows", "i8", 6),
        ("columns", "i8", 6), ("largest", "f8"),
    ]
)  # fmt: skip
"""Jobs: what the functions below are told, addresses as such, and what they return."""


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
    return _JOINING.run(1, outer, rows, source, target)


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
    return _NORMING.run(1, count, top, spread, weight, *others, *_ABSENT[len(others) :])[: 4 + len(others)]


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
    return _DERIVING.run(1, count, g, x, spread, weight, length, normalised, projects)


def products(count: int, first: int, second: int) -> float:
    """Return the largest product of numbers at the same place of two arrays float64 ``[count]``, given by address."""
    return float(_MULTIPLYING.run(1, count, first, second, False)[0])


def roots(count: int, first: int, second: int) -> float:
    """Return the largest product of their square roots."""
    return float(_MULTIPLYING.run(1, count, first, second, True)[0])


class Axis(NamedTuple):
    """An axis of space of a convolution."""

    length: int  #: Length of what is added.
    places: int  #: Length of the result.
    kernel: int  #: Length of the kernel.
    stride: int  #: Its stride.
    padding: int  #: Padding of what the kernel reads.
    dilation: int  #: Its dilation.


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
    return float(_GATHERING.run(1, outer, groups, squares, tops, transposed, *rows, *columns)[0])


_ABSENT = 0, 0, 0


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


def _join(pointer: Any) -> None:
    entered(pointer)
    job = record_at(pointer, _JOIN)
    source = floats_at(job.source, (3, job.outer, job.rows))
    target = floats_at(job.target, (3, job.rows))
    for kind in range(3):
        job.tops[kind] = joined(source[kind], target[kind], kind == 0)
    left(pointer)


def _norm(pointer: Any) -> None:
    entered(pointer)
    job = record_at(pointer, _NORM)
    tops = floats_at(job.tops, job.count)
    spreads = floats_at(job.spreads, job.count)
    weights = floats_at(job.weights, job.count)
    result = deviation = quotient = square = -math.inf
    for i in range(job.count):
        top, spread = tops[i], spreads[i]
        size = top * spread
        result = larger(result, size * abs(weights[i]) if job.weights else size)
        deviation = larger(deviation, spread * (1.0 + size))
        quotient = larger(quotient, top / spread)
        square = larger(square, top * top)
    job.result, job.deviation, job.quotient, job.square = result, deviation, quotient, square
    for place in range(3):
        largest = 0.0
        if job.others[place]:
            values = floats_at(job.others[place], job.count)
            for i in range(job.count):
                largest = larger(largest, abs(values[i]))
        job.largest[place] = largest
    left(pointer)


def _gradient(pointer: Any) -> None:
    entered(pointer)
    job = record_at(pointer, _GRADIENT)
    g = floats_at(job.g, (3, job.count))
    x = floats_at(job.x, (3, job.count))
    spreads = floats_at(job.spreads, job.count)
    weights = floats_at(job.weights, job.count)
    to_input = to_weight = -math.inf
    for i in range(job.count):
        spread = spreads[i]
        factor = 1.0 if job.normalised else spread
        g_norm, x_norm = np.sqrt(g[2, i]), np.sqrt(x[2, i]) * factor
        projection = x[0, i] * factor * g_norm * x_norm / job.length if job.projects else 0.0
        value = spread * (2.0 * g[0, i] + projection)
        to_input = larger(to_input, value * abs(weights[i]) if job.weights else value)
        to_weight = larger(to_weight, g_norm * x_norm)
    job.to_input, job.to_weight = to_input, to_weight
    left(pointer)


def _products(pointer: Any) -> None:
    entered(pointer)
    job = record_at(pointer, _PRODUCTS)
    first = floats_at(job.first, job.count)
    second = floats_at(job.second, job.count)
    top = -math.inf
    if job.are_roots:
        for i in range(job.count):
            top = larger(top, np.sqrt(first[i]) * np.sqrt(second[i]))
    else:
        for i in range(job.count):
            top = larger(top, first[i] * second[i])
    job.top = top
    left(pointer)


@kernel(nogil=True, error_model="numpy", fastmath={"reassoc", "nsz"})
def _add_row(row: Any, other: Any) -> None:
    for i in range(row.size):
        row[i] += other[i]


@kernel(nogil=True, error_model="numpy")
def _meeting(axis: Any, is_transposed: Any) -> Any:
    """Return which places meet in each place of a result, int64 ``[count, kernel]``, filled up with -1."""
    length, count, kernel, stride, padding, dilation = axis[0], axis[1], axis[2], axis[3], axis[4], axis[5]
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


def _windows(pointer: Any) -> None:
    entered(pointer)
    job = record_at(pointer, _WINDOWS)
    width = job.columns[0]
    squares = floats_at(job.squares, (job.outer, job.groups, job.rows[0], width))
    tops = floats_at(job.tops, job.groups)
    rows, columns = _meeting(job.rows, job.transposed), _meeting(job.columns, job.transposed)
    # The last number stands for all places outside.
    added = np.empty(width + 1)
    largest = 0.0
    for group in range(job.groups):
        top = 0.0
        for n in range(job.outer):
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
        if job.tops:
            tops[group] = top
        largest = larger(largest, top)
    job.largest = largest
    left(pointer)


_JOINING, _NORMING = Region(_join, _JOIN, "tops"), Region(_norm, _NORM, "result")
_DERIVING, _MULTIPLYING = Region(_gradient, _GRADIENT, "to_input"), Region(_products, _PRODUCTS, "top")
_GATHERING = Region(_windows, _WINDOWS, "largest")
