"""The exact sum of shares, once more, by the bits of their numbers: nothing of it is what added them.

Every float32 number is an integer times a power of two. All of it is done in numpy's int64, from the definition in
docs/numerics.md, "Shares".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

_BLOCK = 2**20
"""Elements of each share that are added at a time, so that little memory is taken beside the shares."""
_LEAST = -149
"""The exponent of the smallest float32 number above zero."""
_DIGITS = 24
"""The bits of a float32 number."""
_RANGE = 128
"""Every float32 number lies below two to this power."""


def common_exponent(shares: Floats) -> int | None:
    """Return the smallest E with ``2^E`` above every magnitude; None where all elements are zero.

    Args:
        shares: ``[W, ...]``, one behind the other.

    Raises:
        ValueError: An element is infinite or not a number.
    """
    largest = max((int(_magnitudes(block).max()) for share in shares for block in _blocks(share)), default=0)
    if largest >> 23 == 0xFF:
        raise ValueError("a share that is not finite")
    if not largest:
        return None
    # A number in [2^(e - 127), 2^(e - 126)) has the exponent field e; one below them all is an integer times 2^-149.
    return (largest >> 23) - 126 if largest >> 23 else largest.bit_length() + _LEAST


def sum_of_shares(shares: Floats, exponent: int | None, bits: int) -> Floats | None:
    """Return the sum of shares, rounded once; None where an element is beyond float32's range.

    Args:
        shares: ``[W, ...]``, one behind the other; W elements of :data:`_BLOCK` are added at a time.
        exponent: Their common exponent, as :func:`common_exponent` returns it.
        bits: How many bits of each share are kept.
    """
    result = np.zeros(shares.shape[1:], np.float32)
    if exponent is None:
        return result
    flat = result.reshape(-1)
    for first in range(0, flat.size, _BLOCK):
        total = np.zeros(flat[first : first + _BLOCK].size, np.int64)
        for share in shares:
            total += _kept(share.reshape(-1)[first : first + _BLOCK], bits - exponent)
        block = _nearest(total, exponent - bits)
        if block is None:
            return None
        flat[first : first + _BLOCK] = block
    return result


def _blocks(share: Any) -> Iterator[Floats]:
    flat = np.asarray(share).reshape(-1)
    return (flat[first : first + _BLOCK] for first in range(0, flat.size, _BLOCK))


def _magnitudes(values: Floats) -> Integers:
    """Return the bits of numbers without their signs, which are in the order of the magnitudes."""
    return (np.ascontiguousarray(values).view(np.uint32) & 0x7FFFFFFF).astype(np.int64)


def _kept(values: Floats, scale: int) -> Integers:
    """Return the integers nearest to numbers times ``2^scale``, ties to even."""
    found = _magnitudes(values)
    field = found >> 23
    digits = np.where(field > 0, (found & 0x7FFFFF) | 0x800000, found)
    # Numbers of 24 bits are below a quarter from 26 places to the right on, and nothing is left of them.
    places = np.maximum(field, 1) - 127 - 23 + scale
    right, left = np.clip(-places, 0, _DIGITS + 2), np.clip(places, 0, 62)
    # An element to the left fits, for it is below 2^bits: the exponent is above every magnitude.
    kept = np.where(digits > 0, _halved(digits, right) << left, 0)
    signed: Integers = np.where(np.signbit(values), -kept, kept)
    return signed


def _halved(magnitudes: Integers, places: Integers) -> Integers:
    """Return integers divided by two so many times, to the nearest, ties to even."""
    whole = magnitudes >> places
    rest = magnitudes - (whole << places)
    middle = np.where(places > 0, np.int64(1) << np.maximum(places - 1, 0), 0)
    up = (places > 0) & ((rest > middle) | ((rest == middle) & (whole & 1 == 1)))
    result: Integers = whole + up
    return result


def _lengths(magnitudes: Integers) -> Integers:
    """Return how many bits integers have."""
    length, rest = np.zeros_like(magnitudes), magnitudes.copy()
    for step in (32, 16, 8, 4, 2, 1):
        more = rest >> step > 0
        length += np.where(more, step, 0)
        rest = np.where(more, rest >> step, rest)
    return length + (rest > 0)


def _nearest(total: Integers, unit: int) -> Floats | None:
    """Return the float32 numbers nearest to integers times ``2^unit``, ties to even; None beyond their range."""
    magnitudes = np.abs(total)
    places = np.maximum(np.maximum(_lengths(magnitudes) - _DIGITS, _LEAST - unit), 0)
    digits = _halved(magnitudes, np.minimum(places, 62))
    if bool((_lengths(digits) + places + unit > _RANGE).any()):
        return None
    # At most 24 bits times a power of two from 2^-149 on: no rounding is left.
    values = np.ldexp(digits.astype(np.float64), places + unit)
    result: Floats = np.where(total < 0, -values, values).astype(np.float32) + np.float32(0)
    return result
