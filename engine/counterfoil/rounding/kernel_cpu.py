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

from counterfoil.definite.bitcasts import as_bits, as_float, trailing_zeros
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
MAGNITUDE = 0x7FFFFFFFFFFFFFFF
"""All bits but the sign."""

_Part = TypeVar("_Part")

FloatArray = npt.NDArray[np.float64] | npt.NDArray[np.float32]


@numba.njit(inline="always")
def _mix(bits: Any, index: Any, key: Any) -> Any:
    # One round of the finaliser of SplitMix64 (Steele, Lea, Flood 2014) over the element's bits, its index and the
    # site's key. Each step is invertible, so a change of one element always changes the sum.
    z = (bits ^ key) + (index + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
    return z ^ (z >> np.uint64(29))


@numba.njit(nogil=True, cache=True)
def _grown(values: Any, used: int, size: int) -> Any:
    more = np.empty(size, values.dtype)
    more[:used] = values[:used]
    return more


@numba.njit(nogil=True, cache=True)
def _collect(words: Any, used: int, first: int, indices: Any, ups: Any, found: int) -> Any:
    """Append the flagged elements of a chunk, eight flags to a word; a chunk seldom has more than one or two."""
    for group in range(0, used, 8):
        end = min(group + 8, used)
        some = np.uint64(0)
        for w in range(group, end):
            some |= words[w]
        if not some:
            continue
        for w in range(group, end):
            word = words[w]
            while word:
                shift = trailing_zeros(word) & np.uint64(0x38)
                indices[found] = first + 8 * w + np.int64(shift >> np.uint64(3))
                ups[found] = np.uint8((word >> shift) & np.uint64(2)) >> np.uint8(1)
                found += 1
                word &= ~(np.uint64(0xFF) << shift)
    return found


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _round_slice(
    y: Any, first: int, floor_biased: int, significand_bits: int, tau: float, key: Any
) -> tuple[Any, Any, Any, Any]:
    """Round ``y``, float64 or float32, in place; ``first`` is the index of its first element in the tensor.

    Returns the indices of the close decisions, whether each went up, the fingerprint, the bits of the largest magnitude
    before rounding.
    """
    count = y.size
    floor = np.uint64(floor_biased)
    p = np.uint64(significand_bits)
    magic_shift = np.uint64(53 - significand_bits)
    half_one = np.uint64(1) << np.uint64(51)
    s52 = np.uint64(52)
    total = np.uint64(0)
    largest = np.uint64(0)
    # A byte for each element of a chunk: 0, or 1 for a close decision that went down and 2 for one that went up. Little
    # to write beside the values, and eight of them can be skipped at once.
    flags = np.zeros(_CHUNK, np.uint8)
    words = flags.view(np.uint64)
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
            magnitude = as_bits(value) & np.uint64(MAGNITUDE)
            largest = max(largest, magnitude)
            exponent = max(magnitude >> s52, floor)
            magic = as_float(((exponent + magic_shift) << s52) | half_one)
            half = as_float((exponent - p) << s52)
            rounded = (value + magic) - magic
            remainder = value - rounded
            near = abs(remainder) >= half - tau
            near_count += np.uint64(1) if near else np.uint64(0)
            flags[i] = np.uint8(near) + np.uint8(near & (remainder < 0.0))
            chunk[i] = rounded
            total += _mix(as_bits(rounded), base + np.uint64(i), key)
        if near_count:
            needed = found + np.int64(near_count)
            if needed > indices.size:
                indices, ups = _grown(indices, found, 2 * needed), _grown(ups, found, 2 * needed)
            used = (chunk.size + 7) >> 3
            flags[chunk.size : 8 * used] = 0
            found = _collect(words, used, first + start, indices, ups, found)
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
        magnitude = bits & np.uint64(MAGNITUDE)
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
        indices, ups, total, largest = parts[0]
        if len(parts) > 1:
            indices, ups = (np.concatenate([part[place] for part in parts]) for place in (0, 1))
            total, largest = sum(int(part[2]) for part in parts), max(part[3] for part in parts)
        top = np.array([largest], np.uint64).view(np.float64)
        before = (int(largest) >> 52) - FLOAT64_BIAS
        # Rounding is monotone, and the same on both sides of zero: the largest magnitude becomes the largest.
        _round_slice(top, 0, *arguments)
        return Rounded(indices, ups.view(np.bool_), int(total) % 2**64, before, float(top[0]))

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
