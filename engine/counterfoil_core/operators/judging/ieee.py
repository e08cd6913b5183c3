"""IEEE 754 rounding and conversions between dtypes, in integers and rationals."""

from __future__ import annotations

import math
from fractions import Fraction

from counterfoil_core.base.dtypes import FLOAT_FORMATS, INTEGER_RANGES

Value = bool | int | float
"""An element as its dtype holds it: a float for floating dtypes, with its sign where it is zero."""


def rounded(value: Fraction, dtype: str) -> float:
    """Return the number of a floating dtype nearest to a rational one, ties to even; infinite beyond the largest."""
    held = FLOAT_FORMATS[dtype]
    if not value:
        return 0.0
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    # Below the smallest normal number the spacing stays what it is there.
    spacing = max(exponent, held.smallest_exponent) - held.significand_bits + 1
    steps = round(magnitude / Fraction(2) ** spacing)
    beyond = steps >= 2 ** (held.largest_exponent + 1 - spacing)
    nearest = math.inf if beyond else math.ldexp(steps, spacing)
    return -nearest if value < 0 else nearest


def total(a: float, b: float, dtype: str) -> float:
    """Return a + b, correctly rounded; an exact sum of zero is +0 unless both are -0."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a + b
    exact = Fraction(a) + Fraction(b)
    if exact:
        return rounded(exact, dtype)
    return -0.0 if _negative(a) and _negative(b) else 0.0


def product(a: float, b: float, dtype: str) -> float:
    """Return a * b, correctly rounded; its sign is that of the product of the signs."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b
    magnitude = abs(rounded(Fraction(a) * Fraction(b), dtype))
    return -magnitude if _negative(a) != _negative(b) else magnitude


def quotient(a: float, b: float, dtype: str) -> float:
    """Return a / b, correctly rounded."""
    if math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b)) or (not a and not b):
        return math.nan
    if math.isinf(a) or not b:
        magnitude = math.inf
    elif math.isinf(b):
        magnitude = 0.0
    else:
        magnitude = abs(rounded(Fraction(a) / Fraction(b), dtype))
    return -magnitude if _negative(a) != _negative(b) else magnitude


def _negative(a: float) -> bool:
    return math.copysign(1.0, a) < 0


def wrapped(value: int, dtype: str) -> int:
    """Return an integer modulo 2^n in the range of an integer dtype."""
    low, high = INTEGER_RANGES[dtype]
    return (value - low) % (high - low + 1) + low


def converted(value: Value, dtype: str) -> Value:
    """Return an element of any dtype as another dtype has it.

    To a floating dtype it is rounded to the nearest, ties to even. To an integer dtype a floating number loses its
    fraction and stops at the ends of the range, no number becomes 0, and integers wrap modulo 2^n. To bool: whether
    it differs from zero.
    """
    if dtype == "bool":
        return value != 0
    if dtype in INTEGER_RANGES:
        if not isinstance(value, float):
            return wrapped(int(value), dtype)
        low, high = INTEGER_RANGES[dtype]
        if math.isnan(value):
            return 0
        if math.isinf(value):
            return high if value > 0 else low
        return min(max(int(value), low), high)
    if not isinstance(value, float):
        return rounded(Fraction(int(value)), dtype)
    if not math.isfinite(value) or not value:
        return value
    return rounded(Fraction(value), dtype)
