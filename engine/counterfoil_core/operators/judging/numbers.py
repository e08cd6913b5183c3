"""Numbers without rounding errors.

A finite binary floating-point number is an integer times a power of two, so sums and products of such numbers are
integers times powers of two again, and Python's integers hold them whatever their size. What has no such form
(quotients, roots, transcendental functions) is computed by mpmath with :data:`PRECISION_BITS` bits, 200 more than
the error bounds that it is held against.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath.libmp import from_man_exp

from counterfoil_core.base.arrays import Array

Number = Any
"""An ``mpf`` of :data:`MP`; mpmath publishes no types. It may hold more bits than the context computes with."""

PRECISION_BITS = 256
"""Significand bits of whatever is not exact."""
MP = mpmath.MPContext()
"""A context of our own: mpmath's global one belongs to whoever else uses mpmath."""
MP.prec = PRECISION_BITS
_SIGNIFICAND_BITS = 53
_HALF_BITS = 27
_LOW_HALF = (1 << _HALF_BITS) - 1
_CHUNK = 1 << 20
"""Terms that are added at once; at most 2^25, so that sums of halves stay exact."""
_FEW = 4096
"""Below so many terms Python's integers are as quick."""


class NotExactError(Exception):
    """There is no exact value to compare with: the sentence says why, as the end of "... because"."""


def number(value: Any) -> Number:
    """Return a Python or numpy number, infinities included, as it is."""
    if isinstance(value, (bool, int, np.integer, np.bool_)):
        return dyadic(int(value), 0)
    return MP.mpf(float(value))


def dyadic(significand: int, exponent: int) -> Number:
    """Return ``significand * 2^exponent`` without rounding."""
    return MP.make_mpf(from_man_exp(significand, exponent))


@dataclass(frozen=True)
class Fixed:
    """Numbers that share an exponent: ``integers[i] * 2^exponent``."""

    integers: Array  #: Python integers ``[n]``, as a numpy array of objects.
    exponent: int  #: The exponent.

    @property
    def total(self) -> Number:
        """Their sum."""
        return dyadic(int(self.integers.sum()), self.exponent)

    @property
    def magnitudes(self) -> Fixed:
        """Their magnitudes."""
        return Fixed(np.abs(self.integers), self.exponent)

    @property
    def product(self) -> Number:
        """Their product."""
        return dyadic(int(self.integers.prod()), self.exponent * self.integers.size)

    @property
    def spread(self) -> Number:
        """The sum of their squared distances from their mean."""
        count, total = len(self.integers), int(self.integers.sum())
        squares = int((self.integers * self.integers).sum())
        return dyadic(count * squares - total * total, 2 * self.exponent) / count

    def __getitem__(self, index: int) -> Number:
        return dyadic(int(self.integers[index]), self.exponent)

    def __mul__(self, other: Fixed) -> Fixed:
        return Fixed(self.integers * other.integers, self.exponent + other.exponent)

    def dot(self, other: Fixed) -> Number:
        """Sum of the products."""
        return (self * other).total


def fixed_point(values: Array) -> Fixed:
    """Return all elements of an array, in C order, as integers over one exponent.

    Raises:
        NotExactError: A value is infinite or not a number.
    """
    flat = np.asarray(values).reshape(-1)
    if flat.dtype.kind in "iub":
        return Fixed(flat.astype(object) * 1, 0)
    significands, exponents = _parts(flat)
    ordinary = significands != 0
    if not ordinary.any():
        return Fixed(significands.astype(object), 0)
    lowest = int(exponents[ordinary].min())
    shifts = np.where(ordinary, exponents - lowest, 0)
    return Fixed(significands.astype(object) << shifts.astype(object), lowest)


def _parts(flat: Array) -> tuple[Array, Array]:
    """Split floating-point numbers: int64 significands of up to 53 bits, and their exponents."""
    wide = flat.astype(np.float64)
    if not np.isfinite(wide).all():
        raise NotExactError("a value that reaches it is infinite or not a number")
    fractions, exponents = np.frexp(wide)
    return np.ldexp(fractions, _SIGNIFICAND_BITS).astype(np.int64), exponents.astype(np.int64) - _SIGNIFICAND_BITS


class _Accumulator:
    """A sum that is kept as one integer for each exponent, so that millions of terms take no memory."""

    def __init__(self) -> None:
        self._sums: dict[int, int] = {}

    def add(self, integers: Array, exponents: Array) -> None:
        """Add ``integers * 2^exponents``: int64 ``[n]`` of up to 54 bits, n at most ``_CHUNK``."""
        lowest = int(exponents.min())
        places = exponents - lowest
        # Halves of 27 bits: their float64 sums over a chunk stay below 2^53, so they are exact.
        for half, shift in ((integers & _LOW_HALF, 0), (integers >> _HALF_BITS, _HALF_BITS)):
            sums = np.bincount(places, weights=half)
            for place in np.flatnonzero(sums).tolist():
                exponent = lowest + place + shift
                self._sums[exponent] = self._sums.get(exponent, 0) + int(sums[place])

    @property
    def total(self) -> Number:
        """The sum."""
        lowest = min(self._sums, default=0)
        return dyadic(sum(integer << (exponent - lowest) for exponent, integer in self._sums.items()), lowest)


def exact_sum(values: Array) -> Number:
    """Return the sum of all elements of an array, however many; raises as :func:`fixed_point` does."""
    flat = np.asarray(values).reshape(-1)
    if flat.size < _FEW or flat.dtype.kind in "iub":
        return fixed_point(flat).total
    accumulator = _Accumulator()
    for start in range(0, flat.size, _CHUNK):
        accumulator.add(*_parts(flat[start : start + _CHUNK]))
    return accumulator.total


def exact_dot(first: Array, second: Array) -> Number:
    """Return the inner product of two arrays of one size, however many; raises as :func:`fixed_point` does."""
    a, b = np.asarray(first).reshape(-1), np.asarray(second).reshape(-1)
    if a.size < _FEW or a.dtype.kind in "iub" or b.dtype.kind in "iub":
        return fixed_point(a).dot(fixed_point(b))
    accumulator = _Accumulator()
    for start in range(0, a.size, _CHUNK):
        (p, p_exponents), (q, q_exponents) = (_parts(x[start : start + _CHUNK]) for x in (a, b))
        exponents = p_exponents + q_exponents
        halves = [(x & _LOW_HALF, x >> _HALF_BITS) for x in (p, q)]
        for i in range(2):
            for j in range(2):
                accumulator.add(halves[0][i] * halves[1][j], exponents + (i + j) * _HALF_BITS)
    return accumulator.total
