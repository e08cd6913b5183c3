"""Averages over windows and their gradients."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from counterfoil_core.arithmetic.otherwise.rewriting.machine import Arguments, Machine, rule
from counterfoil_core.base.arrays import Array


class _Pool:
    """The windows of an average pooling over the last axes, and what each of their sums is divided by."""

    def __init__(self, a: Arguments, axes: int, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        kernel = self._each(a["kernel_size"], axes)
        stride = self._each(a["stride"] or kernel, axes)
        padding = self._each(a["padding"], axes)
        self._ranges: list[list[tuple[int, int]]] = []
        parts: list[list[int]] = []
        for length, count, size, step, pad in zip(inputs, outputs, kernel, stride, padding, strict=True):
            starts = [place * step - pad for place in range(count)]
            ends = [min(start + size, length + pad) for start in starts]
            self._ranges.append([(max(s, 0), min(e, length)) for s, e in zip(starts, ends, strict=True)])
            whole = [e - s for s, e in zip(starts, ends, strict=True)]
            parts.append(whole if a["count_include_pad"] else [e - s for s, e in self._ranges[-1]])
        self._parts, self._divisor = parts, a.get("divisor_override")

    @staticmethod
    def _each(values: Any, axes: int) -> list[int]:
        listed = [values] if isinstance(values, int) else list(values)
        return listed * axes if len(listed) == 1 else listed

    def windows(self) -> Iterator[tuple[Any, Any, float]]:
        """Yield each place of the result, its window, both as indices of the last axes, and its divisor."""
        for place in itertools.product(*(range(len(axis)) for axis in self._ranges)):
            window = (..., *(slice(*axis[i]) for axis, i in zip(self._ranges, place, strict=True)))
            divisor = self._divisor or math.prod(axis[i] for axis, i in zip(self._parts, place, strict=True))
            yield (..., *place), window, float(divisor)


class _Adaptive(_Pool):
    """Windows from floor(i n / m) to ceil((i + 1) n / m)."""

    def __init__(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        self._ranges = [
            [(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]
            for length, count in zip(inputs, outputs, strict=True)
        ]
        self._parts = [[end - start for start, end in axis] for axis in self._ranges]
        self._divisor = None


def _averaged(m: Machine, x: Array, shape: Sequence[int], pool: _Pool, axes: int) -> Array:
    out: Array = np.zeros(shape, x.dtype)
    for place, window, divisor in pool.windows():
        out[place] = m.add.over(x[window], list(range(-axes, 0))) * (1.0 / divisor)
    return out


def _spread(m: Machine, g: Array, shape: Sequence[int], pool: _Pool) -> Array:
    """The gradient: each window's elements get a share, the last window first."""
    out: Array = np.zeros(shape, g.dtype)
    for place, window, divisor in reversed(list(pool.windows())):
        share = g[place] * (1.0 / divisor) if m.other else g[place] / divisor
        out[window] += share[(..., *(None for _ in window[1:]))]
    return out


def _pooled_lengths(a: Arguments, axes: int) -> list[int]:
    """How many windows torch takes along each axis; one more than fit where ``ceil_mode`` says so."""
    each = _Pool._each
    kernel, lengths = each(a["kernel_size"], axes), a["self"].shape[-axes:]
    found = []
    for n, k, s, p in zip(lengths, kernel, each(a["stride"] or kernel, axes), each(a["padding"], axes), strict=True):
        count = (n + 2 * p - k + (s - 1 if a["ceil_mode"] else 0)) // s + 1
        found.append(count - 1 if a["ceil_mode"] and (count - 1) * s >= n + p else count)
    return found


def _pool_rules(axes: int) -> None:
    @rule(f"avg_pool{axes}d")
    def forward(m: Machine, a: Arguments) -> Any:
        x = a["self"]
        outputs = _pooled_lengths(a, axes)
        pool = _Pool(a, axes, x.shape[-axes:], outputs)
        return _averaged(m, x, (*x.shape[:-axes], *outputs), pool, axes)

    @rule("adaptive_avg_pool1d" if axes == 1 else f"_adaptive_avg_pool{axes}d")
    def adaptive(m: Machine, a: Arguments) -> Any:
        x = a["self"]
        outputs = _Pool._each(a["output_size"], axes)
        return _averaged(m, x, (*x.shape[:-axes], *outputs), _Adaptive(x.shape[-axes:], outputs), axes)

    if axes == 1:
        return

    @rule(f"avg_pool{axes}d_backward")
    def backward(m: Machine, a: Arguments) -> Any:
        g, x = a["grad_output"], a["self"]
        return _spread(m, g, x.shape, _Pool(a, axes, x.shape[-axes:], g.shape[-axes:]))

    @rule(f"_adaptive_avg_pool{axes}d_backward")
    def adaptive_backward(m: Machine, a: Arguments) -> Any:
        g, x = a["grad_output"], a["self"]
        return _spread(m, g, x.shape, _Adaptive(x.shape[-axes:], g.shape[-axes:]))


for _count in (1, 2, 3):
    _pool_rules(_count)
