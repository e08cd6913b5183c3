"""The correctly rounded float32 of a function at one place, decided without a library's float64.

mpmath gives the value with an error below 2^-200. Where a rounding boundary of float32, a midpoint of two neighbours,
is farther away, that decides. Where none is, the value can be the midpoint itself: of all functions here only powers
take such values (docs/proofs.md), and whether x^y is a given midpoint is a question about integers.

What judges a dispute has all of this once more, by itself (:mod:`counterfoil_core.operators.judging.ieee`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

Number = Any
"""An ``mpf`` of :data:`CONTEXT`; mpmath publishes no types."""
CONTEXT = mpmath.MPContext()
"""A context of our own: mpmath's global one belongs to whoever else uses mpmath."""
CONTEXT.prec = 256
_CERTAIN_BITS = 200
"""mpmath computes with 256 bits, and is off by a few units in the last place."""

FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    **{
        name: getattr(CONTEXT, name)
        for name in (
            "exp", "expm1", "log", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
            "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "sqrt", "atan2",
        )
    },
    "exp2": lambda x: CONTEXT.power(2, x),
    "log2": lambda x: CONTEXT.log(x) / CONTEXT.ln2,
    "sigmoid": lambda x: 1 / (1 + CONTEXT.exp(-x)),
    "rsqrt": lambda x: 1 / CONTEXT.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    # A negative base has an integer exponent here: with others the library gives NaN.
    "pow": CONTEXT.power,
    "xlogy": lambda x, y: x * CONTEXT.log(y),
}  # fmt: skip
"""By operator kind: the function of one or two numbers."""


def correctly_rounded(kind: str, *operands: float) -> float:
    """Return the float32 number nearest to the true value of a function, ties to even; a zero is +0.

    Args:
        kind: The kind of function, as in :data:`counterfoil_core.kernels.exact.functions.FUNCTIONS`.
        operands: One or two finite float32 numbers, where the function is defined and not zero.
    """
    low, high = rounded_between(FUNCTIONS[kind](*map(CONTEXT.mpf, operands)))
    if low == high:
        return low + 0.0
    middle = (Fraction(low) + Fraction(high)) / 2 if math.isfinite(low) and math.isfinite(high) else None
    assert middle is not None, f"{kind} of {operands} lies at the end of float32's range"
    if kind == "atan2" and Fraction(operands[0]) / Fraction(operands[1]) == middle:
        # Such a quotient is subnormal, and the angle nearer to zero than it by less than can be seen.
        return min(low, high, key=abs) + 0.0
    assert _is_power(kind, operands, middle), f"{kind} of {operands} lies within 2^-{_CERTAIN_BITS} of a midpoint"
    return nearest_single(middle) + 0.0


def rounded_between(value: Number) -> tuple[float, float]:
    """Return the float32 numbers to which the ends of the error of mpmath's value round: one number nearly always."""
    sign, significand, exponent, _ = value._mpf_
    exact = int(significand) * Fraction(2) ** exponent * (-1 if sign else 1)
    slack = abs(exact) / 2**_CERTAIN_BITS
    return nearest_single(exact - slack), nearest_single(exact + slack)


def nearest_single(value: Fraction) -> float:
    """Return the float32 number nearest to a rational one, ties to even, by way of float64 rounded to odd.

    Args:
        value: Of a magnitude below 2^1000.
    """
    wide = float(value)
    if Fraction(wide) != value and not int(np.float64(wide).view(np.int64)) & 1:
        # Of the two float64 numbers beside the value the other one is odd, and shows that something is left.
        wide = math.nextafter(wide, math.inf if value > wide else -math.inf)
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(wide))


def _is_power(kind: str, operands: tuple[float, ...], middle: Fraction) -> bool:
    """Whether a function takes exactly this value, a midpoint."""
    if kind == "exp2":
        return power_is(2.0, operands[0], middle)
    return kind == "pow" and power_is(operands[0], operands[1], middle)


def power_is(x: float, y: float, value: Fraction) -> bool:
    """Whether ``abs(x)^y`` is the magnitude of a dyadic rational, in integers.

    Args:
        x: Not zero; finite.
        y: Finite.
        value: Not zero; its denominator a power of two.
    """
    # y = n / 2^t in lowest terms: x^y = value exactly when x^n = value^(2^t).
    n, root = Fraction(y).numerator, Fraction(y).denominator
    base, base_exponent = _odd_part(Fraction(abs(x)))
    found, found_exponent = _odd_part(abs(value))
    if base_exponent * n != found_exponent * root:
        return False
    if n == 0 or base == 1:
        return found == 1
    # From here on base >= 3. A negative power of it is no integer. n and root have no common factor, so base must be a
    # root-th power, at least 3^root; and base^n > 2^n.
    if n < 0 or root > base.bit_length() or n > found.bit_length() * root:
        return False
    return bool(base**n == found**root)


def _odd_part(value: Fraction) -> tuple[int, int]:
    """A dyadic rational as an odd integer and an exponent of two."""
    twos = (value.numerator & -value.numerator).bit_length() - 1
    return value.numerator >> twos, twos - (value.denominator.bit_length() - 1)
