"""Magnitudes of tensors, for the scale rules: largest element, sum of magnitudes, sum of squares.

On the CPU one numba pass gives all three; elsewhere plain torch reductions do. They need not agree to the last bit: a
scale is used through its exponent alone, and the replay accepts an exponent that is off by one. So these loops, unlike
the rounding kernel, may add in any order (``reassoc``), which lets LLVM use vector instructions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor

from counterfoil.definite.bitcasts import as_bits, as_float
from counterfoil.rounding.workers import Workers

_LOOSE = {"reassoc", "nsz", "contract"}
_SLICE = 1 << 17
"""Elements below which a second thread costs more than it brings."""
_ALONE = Workers(1)
_workers: ContextVar[Workers] = ContextVar("counterfoil_workers", default=_ALONE)


@contextmanager
def using(workers: Workers) -> Iterator[None]:
    """Let large tensors be measured by several threads meanwhile."""
    token = _workers.set(workers)
    try:
        yield
    finally:
        _workers.reset(token)


@dataclass(frozen=True)
class Magnitudes:
    """Magnitudes along one axis, all others reduced: float64 ``[n]`` each, whatever the tensor's dtype.

    Attributes:
        largest: Largest magnitude; infinite or not a number if an element is.
        total: Sum of magnitudes.
        squares: Sum of squares.
    """

    largest: Tensor
    total: Tensor
    squares: Tensor

    @property
    def norm(self) -> Tensor:
        """Euclidean norms."""
        return self.squares.sqrt()


def along(x: Tensor, axis: int) -> Magnitudes:
    """Return the magnitudes for each position of ``axis``, reduced over all other axes.

    Args:
        x: float64 or float32 tensor with at least one axis.
        axis: The axis that stays.
    """
    axis %= x.dim()
    if _fast(x):
        if x.is_contiguous():
            return _contiguous(x, axis)
        if x.dim() == 2 and x.t().is_contiguous():
            return _contiguous(x.t(), 1 - axis)
    others = [other for other in range(x.dim()) if other != axis]
    x = x.double()
    if not others or x.numel() == 0:
        magnitudes = x.abs().reshape(x.shape[axis], -1)
        largest = magnitudes.amax(1) if magnitudes.shape[1] else torch.zeros_like(magnitudes.sum(1))
        return Magnitudes(largest, magnitudes.sum(1), magnitudes.square().sum(1))
    norm = torch.linalg.vector_norm
    return Magnitudes(norm(x, math.inf, others), norm(x, 1, others), norm(x, 2, others).square())


def energy(x: Tensor, axis: int) -> Tensor:
    """Return the sum of squares over one axis, float64 with that axis gone."""
    axis %= x.dim()
    last = x.dim() - 1
    if _fast(x) and x.numel():
        if x.is_contiguous():
            return _contiguous_energy(x, axis)
        turned = x.transpose(-1, -2) if last else x
        if axis >= last - 1 and turned.is_contiguous():
            # The same sums: only the two last axes change places, and one of them is summed away.
            return _contiguous_energy(turned, last if axis == last - 1 else last - 1)
    return x.double().square().sum(axis)


def _contiguous_energy(x: Tensor, axis: int) -> Tensor:
    outer, inner = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
    view: Any = x.view(outer, x.shape[axis], inner).numpy()
    if inner == 1:
        parts = _sliced(view, lambda part: _channels(part.reshape(1, part.shape[0], -1))[2])
    else:
        parts = _sliced(view, _energy)
    sums = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return torch.from_numpy(sums).view((*x.shape[:axis], *x.shape[axis + 1 :]))


def _sliced(view: Any, measure: Callable[[Any], Any]) -> list[Any]:
    """Measure an array in parts along its first axis."""
    row = max(view.size // max(view.shape[0], 1), 1)
    smallest = -(-_SLICE // row)
    return _workers.get().in_parts(view.shape[0], smallest, 1, lambda first, end: measure(view[first:end]))


def _fast(x: Tensor) -> bool:
    return x.device.type == "cpu" and x.dtype in (torch.float64, torch.float32) and not x.is_conj()


def _contiguous(x: Tensor, axis: int) -> Magnitudes:
    outer, inner = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
    view: Any = x.reshape(outer, x.shape[axis], inner).numpy()
    parts = _sliced(view[:, :, 0], _columns) if inner == 1 else _sliced(view, _channels)
    largest, total, squares = parts[0]
    for other in parts[1:]:
        # np.maximum keeps what is not a number.
        largest, total, squares = np.maximum(largest, other[0]), total + other[1], squares + other[2]
    return Magnitudes(torch.from_numpy(largest), torch.from_numpy(total), torch.from_numpy(squares))


@numba.njit(nogil=True, cache=True, fastmath=_LOOSE)
def _channels(x: Any) -> Any:
    outer, channels, _ = x.shape
    largest = np.zeros(channels)
    total = np.zeros(channels)
    squares = np.zeros(channels)
    for n in range(outer):
        for c in range(channels):
            row = x[n, c]
            # Bits of magnitudes are ordered as the magnitudes are, with NaN on top, and their maximum is vectorised.
            top = np.uint64(0)
            part = 0.0
            square = 0.0
            for i in range(row.size):
                magnitude = abs(np.float64(row[i]))
                top = max(top, as_bits(magnitude))
                part += magnitude
                square += magnitude * magnitude
            largest[c] = as_float(max(as_bits(largest[c]), top))
            total[c] += part
            squares[c] += square
    return largest, total, squares


@numba.njit(nogil=True, cache=True, fastmath=_LOOSE)
def _columns(x: Any) -> Any:
    rows, columns = x.shape
    top = np.zeros(columns, np.uint64)
    total = np.zeros(columns)
    squares = np.zeros(columns)
    for r in range(rows):
        row = x[r]
        for i in range(row.size):
            magnitude = abs(np.float64(row[i]))
            top[i] = max(top[i], as_bits(magnitude))
            total[i] += magnitude
            squares[i] += magnitude * magnitude
    return top.view(np.float64), total, squares


@numba.njit(nogil=True, cache=True, fastmath=_LOOSE)
def _energy(x: Any) -> Any:
    outer, length, inner = x.shape
    sums = np.zeros((outer, inner))
    for n in range(outer):
        out = sums[n]
        for c in range(length):
            row = x[n, c]
            for i in range(row.size):
                value = np.float64(row[i])
                out[i] += value * value
    return sums
