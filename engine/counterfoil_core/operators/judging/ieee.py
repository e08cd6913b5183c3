"""IEEE 754 rounding and conversions between dtypes, in integers and rationals."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from counterfoil_core.base.dtypes import FLOAT_FORMATS, INTEGER_RANGES
from counterfoil_core.operators.judging.numbers import MP, NotExactError, Number

Value = bool | int | float
"""An element as its dtype holds it: a float for floating dtypes, with its sign where it is zero."""


def round_to(value: Fraction, dtype: str) -> float:
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
        return round_to(exact, dtype)
    return -0.0 if _negative(a) and _negative(b) else 0.0


def product(a: float, b: float, dtype: str) -> float:
    """Return a * b, correctly rounded; its sign is that of the product of the signs."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b
    magnitude = abs(round_to(Fraction(a) * Fraction(b), dtype))
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
        magnitude = abs(round_to(Fraction(a) / Fraction(b), dtype))
    return -magnitude if _negative(a) != _negative(b) else magnitude


def _negative(a: float) -> bool:
    return math.copysign(1.0, a) < 0


def wrap(value: int, dtype: str) -> int:
    """Return an integer modulo 2^n in the range of an integer dtype."""
    low, high = INTEGER_RANGES[dtype]
    return (value - low) % (high - low + 1) + low


def convert_element(value: Value, dtype: str) -> Value:
    """Return an element of any dtype as another dtype has it.

    To a floating dtype it is rounded to the nearest, ties to even. To an integer dtype a floating number loses its
    fraction and stops at the ends of the range, no number becomes 0, and integers wrap modulo 2^n. To bool: whether
    it differs from zero.
    """
    if dtype == "bool":
        return value != 0
    if dtype in INTEGER_RANGES:
        if not isinstance(value, float):
            return wrap(int(value), dtype)
        low, high = INTEGER_RANGES[dtype]
        if math.isnan(value):
            return 0
        if math.isinf(value):
            return high if value > 0 else low
        return min(max(int(value), low), high)
    if not isinstance(value, float):
        return round_to(Fraction(int(value)), dtype)
    if not math.isfinite(value) or not value:
        return value
    return round_to(Fraction(value), dtype)


# The float32 number nearest to a true value. mpmath's value is off by less than 2^-200 of itself; rationals do the
# rest.

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
    low, high = (round_to(exact * (1 + side * _CERTAIN), SINGLE) for side in (-1, 1))
    if low == high:
        return low + 0.0
    middle = (Fraction(low) + Fraction(high)) / 2 if math.isfinite(low) and math.isfinite(high) else None
    if middle is None or not is_midpoint(middle):
        raise NotExactError("its value lies within 2^-200 of the midpoint of two float32 numbers")
    return round_to(middle, SINGLE) + 0.0
