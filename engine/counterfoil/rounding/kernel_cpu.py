"""The rounding kernel for the CPU: one pass that rounds, detects, collects, fingerprints, finds the largest exponent.

Written for numba so that LLVM turns the inner loop into vector instructions: no branch, no division. Rounding to a
multiple of u adds and subtracts 1.5 * 2^52 * u, which rounds to nearest, ties to even, in the addition itself (Dekker
1971; the significand of the sum has no room for anything below u). No fast-math: LLVM must keep the two operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt

from counterfoil.definite.bitcasts import as_bits, as_float
from counterfoil.rounding.grid import FLOAT64_BIAS, Grid
from counterfoil.rounding.result import Rounded
from counterfoil.rounding.workers import Workers

_CHUNK = 1024
_SLICE = 1 << 16
"""Elements below which a second thread costs more than it brings."""

CANONICAL_NAN = 0x7FF8000000000000
"""The bits that stand for every value that is not a number in a fingerprint."""
INFINITY = 0x7FF0000000000000
"""The bits of infinity; those of what is not a number are greater, signs aside."""

_Part = TypeVar("_Part")

FloatArray = npt.NDArray[np.float64] | npt.NDArray[np.float32]
Int64Array = npt.NDArray[np.int64]


@numba.njit(inline="always")
def _mix(bits: Any, index: Any, key: Any) -> Any:
    # One round of the finaliser of SplitMix64 (Steele, Lea, Flood 2014) over the element's bits, its index and the
    # site's key. Each step is invertible, so a change of one element always changes the sum.
    z = (bits ^ key) + (index + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
    return z ^ (z >> np.uint64(29))


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _round_slice(
    y: Any, first: int, floor_biased: int, significand_bits: int, tau: float, key: Any
) -> tuple[Any, Any, Any, Any]:
    """Round ``y``, float64 or float32, in place; ``first`` is the index of its first element in the tensor.

    Returns the indices of the close decisions, whether each went up, the fingerprint, the largest biased exponent.
    """
    count = y.size
    floor = np.uint64(floor_biased)
    p = np.uint64(significand_bits)
    magic_shift = np.uint64(53 - significand_bits)
    half_one = np.uint64(1) << np.uint64(51)
    s52 = np.uint64(52)
    mask = np.uint64(0x7FF)
    total = np.uint64(0)
    largest = np.uint64(0)
    remainders = np.empty(_CHUNK, np.float64)
    indices = np.empty(64, np.int64)
    ups = np.empty(64, np.uint8)
    found = 0
    for start in range(0, count, _CHUNK):
        # A slice, so that indices count from zero: an index that numba must check for being negative is not vectorised.
        chunk = y[start : start + _CHUNK]
        base = np.uint64(first + start)
        near_count = np.uint64(0)
        for i in range(chunk.size):
            # float32 elements are widened, which is exact; so is storing the rounded value, which has p bits.
            value = np.float64(chunk[i])
            biased = (as_bits(value) >> s52) & mask
            largest = max(largest, biased)
            exponent = max(biased, floor)
            magic = as_float(((exponent + magic_shift) << s52) | half_one)
            half = as_float((exponent - p) << s52)
            rounded = (value + magic) - magic
            remainder = value - rounded
            near = abs(remainder) >= half - tau
            near_count += np.uint64(1) if near else np.uint64(0)
            remainders[i] = remainder if near else 0.0
            chunk[i] = rounded
            total += _mix(as_bits(rounded), base + np.uint64(i), key)
        if near_count:
            for i in range(chunk.size):
                if remainders[i] != 0.0:
                    if found == indices.size:
                        more_indices = np.empty(2 * found, np.int64)
                        more_indices[:found] = indices
                        indices = more_indices
                        more_ups = np.empty(2 * found, np.uint8)
                        more_ups[:found] = ups
                        ups = more_ups
                    indices[found] = first + start + i
                    ups[found] = remainders[i] < 0.0
                    found += 1
    return indices[:found].copy(), ups[:found].copy(), total, largest


@numba.njit(nogil=True, cache=True)
def mix_values(values: Any, indices: Any, key: Any) -> Any:
    """Sum the fingerprint terms of single elements, mod 2^64."""
    total = np.uint64(0)
    for i in range(values.size):
        total += _mix(as_bits(values[i]), np.uint64(indices[i]), key)
    return total


@numba.njit(nogil=True, cache=True)
def _mix_integers(values: Any, first: int, key: Any) -> Any:
    """Sum the fingerprint terms of elements, uint64 ``[n]``; ``first`` is the index of the first in its tensor."""
    total = np.uint64(0)
    base = np.uint64(first)
    for i in range(values.size):
        total += _mix(values[i], base + np.uint64(i), key)
    return total


@numba.njit(nogil=True, cache=True)
def _mix_floats(values: Any, first: int, key: Any) -> tuple[Any, Any]:
    """The same of float64 or float32 ``[n]``, by their float64 bits; and the largest magnitude, as its bits."""
    infinity = np.uint64(INFINITY)
    total = np.uint64(0)
    largest = np.uint64(0)
    base = np.uint64(first)
    for i in range(values.size):
        # Widening is exact.
        bits: Any = as_bits(np.float64(values[i]))
        magnitude = bits & np.uint64(0x7FFFFFFFFFFFFFFF)
        largest = max(largest, magnitude)
        # Sign and payload of what is not a number differ between processors.
        total += _mix(np.uint64(CANONICAL_NAN) if magnitude > infinity else bits, base + np.uint64(i), key)
    return total, largest


class CpuKernel:
    """Rounds float64 and float32 tensors in memory.

    Args:
        workers: The threads for large tensors.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    def round(self, y: FloatArray, grid: Grid, tau: float, key: int) -> Rounded:
        """Round a tensor in place and report the decisions that lie within ``tau`` of a midpoint.

        Args:
            y: float64 or float32 ``[n]``, contiguous; overwritten with the rounded values.
            grid: The grid.
            tau: Largest distance from a midpoint, inclusive, at which a decision is reported.
            key: Fingerprint key, 0 to 2^64 - 1.
        """
        arguments = (grid.floor_exponent + FLOAT64_BIAS, grid.significand_bits, tau, np.uint64(key))
        parts = self._workers.in_parts(
            y.size, _SLICE, _CHUNK, lambda first, end: _round_slice(y[first:end], first, *arguments)
        )
        if len(parts) == 1:
            return _rounded(*parts[0])
        return _rounded(
            np.concatenate([part[0] for part in parts]),
            np.concatenate([part[1] for part in parts]),
            sum(int(part[2]) for part in parts),
            max(int(part[3]) for part in parts),
        )

    def fingerprint(self, integers: npt.NDArray[np.uint64], key: int) -> int:
        """Return the fingerprint of integers: a sum mod 2^64 of :func:`_mix` over the elements.

        Args:
            integers: uint64 ``[n]``, contiguous: two's complement.
            key: Fingerprint key, 0 to 2^64 - 1.
        """
        parts = self._in_parts(integers, lambda part, first: int(_mix_integers(part, first, np.uint64(key))))
        return sum(parts) % 2**64

    def fingerprint_finite(self, values: FloatArray, key: int) -> tuple[int, bool]:
        """Return the fingerprint of values that are not rounded, and whether all of them are finite.

        Args:
            values: float64 or float32 ``[n]``, contiguous; the fingerprint is that of their float64 bits, where all
                that are not a number count as one.
            key: Fingerprint key, 0 to 2^64 - 1.
        """
        parts = self._in_parts(values, lambda part, first: _mix_floats(part, first, np.uint64(key)))
        largest = max(int(part[1]) for part in parts)
        return sum(int(part[0]) for part in parts) % 2**64, largest < INFINITY

    def _in_parts(self, values: npt.NDArray[Any], work: Callable[[npt.NDArray[Any], int], _Part]) -> list[_Part]:
        return self._workers.in_parts(values.size, _SLICE, _CHUNK, lambda first, end: work(values[first:end], first))


def _rounded(indices: Int64Array, ups: npt.NDArray[np.uint8], total: int, largest_biased: int) -> Rounded:
    return Rounded(indices, ups.view(np.bool_), int(total) % 2**64, int(largest_biased) - FLOAT64_BIAS)
