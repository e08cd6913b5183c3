"""The float32 number nearest to a true value.

mpmath's value is off by less than 2^-200 of itself; rationals do the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from counterfoil_core.operators.judging.ieee import rounded
from counterfoil_core.operators.judging.numbers import MP, NotExactError, Number

SINGLE = "float32"

_CERTAIN = Fraction(1, 2**200)
"""More than mpmath is off by, relatively, with 256 bits."""


def fraction_of(value: Number) -> Fraction:
    """Return a finite number of mpmath's with all of its bits."""
    sign, significand, exponent, _ = value._mpf_
    return Fraction(-int(significand) if sign else int(significand)) * Fraction(2) ** int(exponent)


def no_midpoint(middle: Fraction) -> bool:
    """Of all functions only powers take the value of a midpoint."""
    return False


def nearest(value: Number, is_midpoint: Callable[[Fraction], bool] = no_midpoint) -> float:
    """Return the float32 number nearest to a value of mpmath's, a zero as +0.

    Args:
        value: Off by mpmath's error; a complex number has no value.
        is_midpoint: Says whether the value is the midpoint of two float32 numbers that lies within that error.

    Raises:
        NotExactError: A midpoint that the value is not is nearer than mpmath's error.
    """
    if isinstance(value, MP.mpc) or MP.isnan(value):
        return math.nan
    # Beyond these float32 has an infinity, and a zero; their numerators and denominators would have millions of digits.
    if abs(value) > 2**130:
        return math.copysign(math.inf, value)
    if abs(value) < MP.mpf(2) ** -160:
        return 0.0
    exact = fraction_of(value)
    low, high = (rounded(exact * (1 + side * _CERTAIN), SINGLE) for side in (-1, 1))
    if low == high:
        return low + 0.0
    middle = (Fraction(low) + Fraction(high)) / 2 if math.isfinite(low) and math.isfinite(high) else None
    if middle is None or not is_midpoint(middle):
        raise NotExactError("its value lies within 2^-200 of the midpoint of two float32 numbers")
    return rounded(middle, SINGLE) + 0.0
