"""Sums over axes on the CPU: the largest magnitude of each, then its terms, each pass in the order of memory.

A term x becomes x + 1.5 * 2^52 units, whose bits are those of 1.5 * 2^52 units plus its integer: the sum of the bits,
mod 2^64, is the sum of the integers. Integers may be added in any order, so the compiler adds several at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.kernels import buffers, devices
from counterfoil_core.kernels.cache import inlined, kernel
from counterfoil_core.kernels.cpu.magnitudes import INFINITE, as_bits, exponent_above, largest_bits, magic_number
from counterfoil_core.kernels.exact.geometry import runs
from counterfoil_core.kernels.exact.limits import sum_bits
from counterfoil_core.kernels.exact.refusals import not_finite


def takes(x: Tensor, summed: Sequence[int]) -> bool:
    """Whether these kernels sum a tensor over axes: on the CPU, kept and summed axes in turns, twice at most."""
    if not devices.loops_reach(x.device) or not x.numel() or not summed or not x.is_contiguous():
        return False
    return len(runs(x.shape, summed)) <= 4


def total(x: Tensor, summed: Sequence[int]) -> Tensor:
    """Return the defined sum over axes, without them; see :func:`counterfoil_core.kernels.exact.sums.total`.

    Args:
        x: float32, contiguous, where :func:`takes` says so.
        summed: Non-negative numbers of axes.
    """
    lengths = runs(x.shape, summed)
    bits = sum_bits(lengths[1] * lengths[3])
    kept = [length for axis, length in enumerate(x.shape) if axis not in summed]
    result = buffers.empty(kept, dtype=torch.float32)
    shaped, into = x.view(lengths).numpy(), result.view(lengths[0], lengths[2]).numpy()
    sum_up = _sum_rows
    if lengths[3] == 1:
        sum_up, shaped = _sum_columns, shaped[..., 0]
    if not sum_up(shaped, shaped.view(np.int32), bits, into):
        raise not_finite()
    return result


@inlined
def _rounded(total: Any, count: Any, magic: Any) -> Any:
    """The sum whose terms' bits add up to ``total``."""
    integers = np.int64(total - np.uint64(count) * as_bits(magic))
    # A unit is 2^-52 of 2/3 of it.
    return np.float32(np.float64(integers) * (magic / 6755399441055744.0)) + np.float32(0)


@kernel(nogil=True)
def _added(row: Any, magic: float) -> Any:
    total = np.uint64(0)
    for i in range(row.size):
        total += as_bits(np.float64(row[i]) + magic)
    return total


@kernel(nogil=True)
def _sum_rows(x: Any, patterns: Any, bits: int, result: Any) -> bool:
    """Sum ``x[k0, r0, k1, r1]`` over r0 and r1; says whether all is finite."""
    count = x.shape[1] * x.shape[3]
    for k0 in range(x.shape[0]):
        for k1 in range(x.shape[2]):
            largest = np.int32(0)
            for r0 in range(x.shape[1]):
                largest = max(largest, largest_bits(patterns[k0, r0, k1]))
            if largest >= INFINITE:
                return False
            magic = magic_number(exponent_above(largest), bits)
            total = np.uint64(0)
            for r0 in range(x.shape[1]):
                total += _added(x[k0, r0, k1], magic)
            result[k0, k1] = _rounded(total, count, magic)
    return True


@kernel(nogil=True)
def _raise_largest(row: Any, largest: Any) -> None:
    for i in range(row.size):
        largest[i] = max(largest[i], row[i] & np.int32(0x7FFFFFFF))


@kernel(nogil=True)
def _add_row(row: Any, magics: Any, totals: Any) -> None:
    for i in range(row.size):
        totals[i] += as_bits(np.float64(row[i]) + magics[i])


@kernel(nogil=True, ahead=["(float32[:,:,::1], int32[:,:,::1], int64, float32[:,::1])"])
def _sum_columns(x: Any, patterns: Any, bits: int, result: Any) -> bool:
    """Sum ``x[k0, r0, k1]`` over r0; says whether all is finite."""
    count, columns = x.shape[1], x.shape[2]
    largest, magics = np.empty(columns, np.int32), np.empty(columns, np.float64)
    totals = np.empty(columns, np.uint64)
    for k0 in range(x.shape[0]):
        largest[:] = 0
        totals[:] = 0
        for r0 in range(count):
            _raise_largest(patterns[k0, r0], largest)
        for i in range(columns):
            if largest[i] >= INFINITE:
                return False
            magics[i] = magic_number(exponent_above(largest[i]), bits)
        for r0 in range(count):
            _add_row(x[k0, r0], magics, totals)
        for i in range(columns):
            result[k0, i] = _rounded(totals[i], count, magics[i])
    return True
