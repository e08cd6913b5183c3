"""Definitions of the exact operators that look at many places: extremes, sorts, maximum pooling, integer sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np

from counterfoil.operators.judging.forms import Call, axes_of, definition, rows_over, rule_of
from counterfoil.operators.judging.ieee import Value, converted, wrapped
from counterfoil.operators.judging.pointwise import Element
from counterfoil.operators.uses import INTEGER_KINDS


def _first_extreme(values: list[Value], sign: int) -> int:
    """Position of the first largest (1) or smallest (-1); the first that is no number comes before all."""
    best = 0
    for position, value in enumerate(values):
        if value != value:
            return position
        if (value > values[best]) if sign > 0 else (value < values[best]):
            best = position
    return best


@definition("max", "min", "amax", "amin", "argmax", "argmin")
def _extreme(call: Call) -> Element:
    """A zero is +0; of equal elements, zeros of both signs among them, the position is the first one's."""
    x, dim = call["self"], call.get("dim")
    sign = 1 if call.kind.endswith("max") else -1
    rows = rows_over(x, axes_of(dim, x.ndim))
    wants_position = call.kind.startswith("arg") or call.output == 1
    known: dict[int, int] = {}

    def element(index: int) -> Value:
        row = rows[index].tolist()
        if index not in known:
            known[index] = _first_extreme(row, sign)
        return known[index] if wants_position else converted(row[known[index]], call.dtype) + _zero(row)

    return element


def _zero(values: list[Value]) -> Value:
    """What turns -0 into +0 when it is added."""
    return 0.0 if isinstance(values[0], float) else 0


@definition("scatter_reduce")
def _scatter_reduce(call: Call) -> Element:
    """The largest or smallest of what is written to a place, and of what was there if that takes part; a zero is +0."""
    x, index, source = (np.atleast_1d(call[name]) for name in ("self", "index", "src"))
    axis, sign = call["dim"] % x.ndim, 1 if call["reduce"] == "amax" else -1
    written: dict[int, list[Value]] = {}
    for place in np.ndindex(*index.shape):
        target = (*place[:axis], index[place], *place[axis + 1 :])
        written.setdefault(int(np.ravel_multi_index(target, x.shape)), []).append(source[place].item())
    flat = x.reshape(-1)

    def element(number: int) -> Value:
        values = written.get(number, [])
        if call["include_self"] or not values:
            values = [flat[number].item(), *values]
        return values[_first_extreme(values, sign)] + _zero(values)

    return element


@definition("any", "all")
def _quantified(call: Call) -> Element:
    x, dim = call["self"], call.get("dim")
    rows = rows_over(x, axes_of(dim, x.ndim))
    decide: Callable[[Iterable[object]], bool] = any if call.kind == "any" else all
    return lambda index: converted(decide(value != 0 for value in rows[index].tolist()), call.dtype)


@definition("sort")
def _sort(call: Call) -> Element:
    """Stable; what is no number is larger than all; a zero is +0."""
    x = call["self"]
    axis = call["dim"] % x.ndim if x.ndim else 0
    moved = np.moveaxis(np.atleast_1d(x), axis, -1)
    result = np.empty(moved.shape, np.int64 if call.output else x.dtype)
    for place in np.ndindex(*moved.shape[:-1]):
        row = moved[place].tolist()
        # What is no number is not even equal to itself, so it must not be compared.
        keys = [(value != value, 0.0 if value != value else value) for value in row]
        order = sorted(range(len(row)), key=keys.__getitem__, reverse=bool(call["descending"]))
        result[place] = order if call.output else [row[i] + _zero(row) for i in order]
    flat = np.moveaxis(result, -1, axis).reshape(-1)
    return lambda index: flat[index].item()


@definition("max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d")
def _max_pool(call: Call) -> Element:
    """The first largest of a window, row by row; the last that is no number comes before all; a zero is +0."""
    x = call["self"]
    axes = 3 if "3d" in call.kind else 2
    lengths, counts = x.shape[-axes:], call.shape[-axes:]
    planes = x.reshape(-1, *lengths)
    windows = [_windows(call, axis, axes, lengths[axis], counts[axis]) for axis in range(axes)]

    def element(index: int) -> Value:
        plane = planes[index // math.prod(counts)]
        place = np.unravel_index(index % math.prod(counts), counts)
        best: tuple[int, ...] | None = None
        for source in product(*(windows[axis][place[axis]] for axis in range(axes))):
            value = plane[source].item()
            if best is None or value != value or value > plane[best].item():
                best = source
        assert best is not None
        if call.output:
            return int(np.ravel_multi_index(best, lengths))
        value = plane[best].item()
        return value + _zero([value])  # type: ignore[no-any-return]

    return element


def _windows(call: Call, axis: int, axes: int, length: int, count: int) -> list[list[int]]:
    """The places of each window along an axis."""
    if call.kind == "adaptive_max_pool2d":
        return [list(range(i * length // count, -(-(i + 1) * length // count))) for i in range(count)]
    kernel, padding, dilation = (_each(call[name], axis, axes) for name in ("kernel_size", "padding", "dilation"))
    stride = _each(call["stride"], axis, axes) if call["stride"] else kernel
    starts = [i * stride - padding for i in range(count)]
    taps = [[start + tap * dilation for tap in range(kernel)] for start in starts]
    return [[place for place in window if 0 <= place < length] for window in taps]


def _each(values: Any, axis: int, axes: int) -> int:
    listed = [values] if isinstance(values, int) else list(values)
    return int(listed[axis] if len(listed) == axes else listed[0])


@definition(*sorted(INTEGER_KINDS - {"pow", "addcmul"}))
def _integers(call: Call) -> Element:
    """The exact integer modulo 2^n; arguments are converted to the result's dtype first."""
    for name, value in call.arguments.items():
        if isinstance(value, np.ndarray) and name not in ("index", "indices"):
            changed = [converted(item, call.dtype) for item in value.reshape(-1).tolist()]
            call.arguments[name] = np.array(changed, np.int64).reshape(value.shape)
    exact = rule_of(call.kind)(call).element
    return lambda index: wrapped(int(exact(index)), call.dtype)
