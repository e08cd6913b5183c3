"""The rules of the arithmetic, once, on Python's integers and fractions: slow, plain, one element after another.

What docs/numerics.md defines, as it reads. Every form that computes, be it a loop for the CPU, torch's operators or a
kernel for CUDA, is held to these element by element (``tests/engine/kernels/test_rules.py``); none is made of them.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from counterfoil_core.kernels.grid import ACCEPTANCE_FACTOR, SMALLEST_EXPONENT, Grid

_MASK32, _MASK64 = 2**32 - 1, 2**64 - 1
_NAN = 0x7FF8000000000000
_LEAST_EXPONENT = -148
_SINGLE_BITS = 24


def power(exponent: int) -> Fraction:
    """Return 2^exponent."""
    return Fraction(2) ** exponent


def floor_log2(value: Fraction) -> int:
    """Return floor(log2 value) of a positive fraction."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if power(exponent) <= value else exponent - 1


def nearest(value: Fraction, unit: Fraction) -> Fraction:
    """Return the nearest multiple of a unit; of two, the even one."""
    return round(value / unit) * unit


def single(value: Fraction) -> float:
    """Return the nearest float32 number: infinite beyond their range, and no -0."""
    exponent = max(floor_log2(abs(value)), SMALLEST_EXPONENT) if value else SMALLEST_EXPONENT
    rounded = nearest(value, power(exponent - _SINGLE_BITS + 1))
    return math.copysign(math.inf, rounded) if abs(rounded) >= power(128) else float(rounded) + 0.0


# Rounding to a grid, and following a log.


class Element(NamedTuple):
    """An element of a rounded tensor.

    Attributes:
        value: The grid point that it goes to, never -0.
        distance: How far it lies from the midpoint between that and the next grid point on its side.
        is_up: Whether it went up, towards plus infinity.
        other: That next grid point; above, where the element is a grid point itself.
    """

    value: float
    distance: Fraction
    is_up: bool
    other: float


def quantum(value: Fraction, grid: Grid) -> Fraction:
    """Return the distance of the grid points about a value."""
    floor = max(grid.exponent - grid.guard_bits, SMALLEST_EXPONENT)
    exponent = max(floor_log2(abs(value)), floor) if value else floor
    return power(exponent - grid.significand_bits + 1)


def rounded(value: float, grid: Grid) -> Element:
    """Round a finite number to a grid: to the nearest point, of two to the one with an even multiple."""
    exact = Fraction(value)
    unit = quantum(exact, grid)
    here = nearest(exact, unit)
    is_up = here > exact
    other = here - unit if is_up else here + unit
    return Element(float(here) + 0.0, unit / 2 - abs(exact - here), is_up, float(other) + 0.0)


def directed(value: float, up: bool, grid: Grid) -> float:
    """Round a number, and take the logged direction where it lies within 2 tau of the midpoint.

    An infinite number is on no grid, and stays.
    """
    if math.isinf(value):
        return value
    element = rounded(value, grid)
    accepted = element.distance <= ACCEPTANCE_FACTOR * Fraction(grid.tau)
    return element.other if accepted and up != element.is_up else element.value


# Fingerprints and draws.


def mixed(bits: int, index: int, key: int) -> int:
    """Return the fingerprint term of an element: one round of SplitMix64's finaliser (Steele, Lea, Flood 2014).

    Args:
        bits: Its 64 bits: those of the float64 number, or of the integer in two's complement.
        index: Its flat C-order index.
        key: The key, 0 to 2^64 - 1.
    """
    z = ((bits ^ key) + (index + 1) * 0x9E3779B97F4A7C15) & _MASK64
    z = ((z ^ (z >> 32)) * 0xBF58476D1CE4E5B9) & _MASK64
    return z ^ (z >> 29)


def fingerprint(values: Iterable[float], key: int) -> int:
    """Return the fingerprint of a tensor: the sum of its terms mod 2^64, all that is not a number counting as one."""
    total = 0
    for index, value in enumerate(values):
        bits = _NAN if math.isnan(value) else struct.unpack("<Q", struct.pack("<d", value))[0]
        total += mixed(bits, index, key)
    return total & _MASK64


def philox(counter: Sequence[int], key: Sequence[int]) -> tuple[int, ...]:
    """Return four 32-bit words of Philox4x32-10 (Salmon et al., SC 2011): for four of a counter and two of a key."""
    (c0, c1, c2, c3), (k0, k1) = counter, key
    for _ in range(10):
        left, right = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (right >> 32) ^ c1 ^ k0, right & _MASK32, (left >> 32) ^ c3 ^ k1, left & _MASK32
        k0, k1 = (k0 + 0x9E3779B9) & _MASK32, (k1 + 0xBB67AE85) & _MASK32
    return c0, c1, c2, c3


# The exact profiles.


def shared_exponent(values: Iterable[float]) -> int:
    """Return E: the smallest integer of -148 or more with 2^E above every magnitude."""
    largest = max((abs(Fraction(value)) for value in values), default=Fraction(0))
    return max(floor_log2(largest) + 1, _LEAST_EXPONENT) if largest else _LEAST_EXPONENT


def quantised(value: float, exponent: int, bits: int) -> int:
    """Return Q_b of a number: the nearest integer of units of 2^(E - b), ties to even."""
    return round(Fraction(value) / power(exponent - bits))


def digits(integer: int, count: int, digit_bits: int = 6) -> list[int]:
    """Return balanced digits, the lowest first: all but the highest lie in -2^d to 2^d - 1."""
    half, found = 1 << digit_bits, []
    for _ in range(count - 1):
        lowest = (integer + half) % (2 * half) - half
        found.append(lowest)
        integer = (integer - lowest) // (2 * half)
    return [*found, integer]


def recombined(found: Sequence[int], digit_bits: int = 6) -> int:
    """Return the integer that digits stand for, the lowest first."""
    return sum(digit << place * (digit_bits + 1) for place, digit in enumerate(found))


# The combine rule.


def combine_bits(shares: int) -> int:
    """Return b: the bits that each of W shares keeps, so that their sum is ``2^62`` at most."""
    return min(52, 62 - math.ceil(math.log2(shares)))


def combined(shares: Sequence[Sequence[float]], count: int | None = None) -> list[float]:
    """Return what shares add up to, element by element; with a count, that divided by it: one rounding of a fraction.

    Args:
        shares: W lists of float32 numbers, of one length.
        count: What the sums are divided by; nothing if None.
    """
    every = [abs(Fraction(value)) for share in shares for value in share]
    largest = max(every, default=Fraction(0))
    if not largest:
        return [0.0] * len(shares[0])
    exponent, bits = floor_log2(largest) + 1, combine_bits(len(shares))
    sums = (sum(quantised(value, exponent, bits) for value in column) for column in zip(*shares, strict=True))
    return [single(total * power(exponent - bits) / (count or 1)) for total in sums]
