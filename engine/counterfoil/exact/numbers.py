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
import numpy.typing as npt
from mpmath.libmp import from_man_exp

Number = Any
"""An ``mpf`` of :data:`MP`; mpmath publishes no types. It may hold more bits than the context computes with."""
Array = npt.NDArray[Any]

PRECISION_BITS = 256
"""Significand bits of whatever is not exact."""
MP = mpmath.MPContext()
"""A context of our own: mpmath's global one belongs to whoever else uses mpmath."""
MP.prec = PRECISION_BITS
_SIGNIFICAND_BITS = 53


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
    """Numbers that share an exponent: ``integers[i] * 2^exponent``.

    Attributes:
        integers: Python integers ``[n]``, as a numpy array of objects.
        exponent: The exponent.
    """

    integers: Array
    exponent: int

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

    def __getitem__(self, index: int) -> Number:
        return dyadic(int(self.integers[index]), self.exponent)

    def __mul__(self, other: Fixed) -> Fixed:
        return Fixed(self.integers * other.integers, self.exponent + other.exponent)

    def dot(self, other: Fixed) -> Number:
        """Sum of the products."""
        return (self * other).total


def fixed(values: Array) -> Fixed:
    """Return all elements of an array, in C order, as integers over one exponent.

    Raises:
        NotExactError: A value is infinite or not a number.
    """
    flat = np.asarray(values).reshape(-1)
    if flat.dtype.kind in "iub":
        return Fixed(flat.astype(object) * 1, 0)
    wide = flat.astype(np.float64)
    if not np.isfinite(wide).all():
        raise NotExactError("a value that reaches it is infinite or not a number")
    fractions, exponents = np.frexp(wide)
    significands = np.ldexp(fractions, _SIGNIFICAND_BITS).astype(np.int64)
    ordinary = significands != 0
    if not ordinary.any():
        return Fixed(significands.astype(object), 0)
    lowest = int(exponents[ordinary].min())
    shifts = np.where(ordinary, exponents - lowest, 0)
    return Fixed(significands.astype(object) << shifts.astype(object), lowest - _SIGNIFICAND_BITS)
