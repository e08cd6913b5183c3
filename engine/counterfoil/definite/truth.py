"""The correctly rounded float32 of a function at one place, decided without a library's float64.

mpmath gives the value with an error below 2^-200. Where a rounding boundary of float32, a midpoint of two neighbours,
is farther away, that decides. Where none is, the value can be the midpoint itself: of all functions here only powers
take such values (docs/numerics.md), and whether x^y is a given midpoint is a question about integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from counterfoil.exact.elementwise import FUNCTIONS
from counterfoil.exact.ieee import rounded
from counterfoil.exact.numbers import MP, Number, number

_CERTAIN_BITS = 200
"""mpmath computes with 256 bits, and is off by a few units in the last place."""


_OF_TWO: Mapping[str, Callable[[Number, Number], Number]] = {
    # A negative base has an integer exponent here: with others the library gives NaN.
    "pow": MP.power,
    "atan2": MP.atan2,
    "xlogy": lambda x, y: x * MP.log(y),
}


def _power_at_ends(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except ValueError:
        # A power of zero that is a pole; or a fraction as the exponent of a negative number.
        return math.copysign(math.inf, x) if x == 0 and y % 2 == 1 else math.inf if x == 0 else math.nan


_LIMITS: Mapping[str, Callable[..., Any]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": math.erf,
    "erfc": math.erfc,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "pow": _power_at_ends,
    "atan2": np.arctan2,
    "xlogy": lambda x, y: x * np.log(y) if x or np.isnan(y) else np.float64(0),
}
"""What ISO C's Annex F says at infinities, poles, and where there is no value; nowhere else is it asked."""
KINDS = frozenset(_LIMITS)
"""The kinds of functions."""
_LARGE, _SMALL = MP.mpf(2) ** 130, MP.mpf(2) ** -160
"""Beyond these float32 has an infinity, and a zero."""


def value_of(kind: str, *operands: float) -> float:
    """Return the defined float32 value of a function at any operands.

    Args:
        kind: One of KINDS.
        operands: One or two float32 numbers, also infinite or not a number.

    Returns:
        As :func:`correctly_rounded`; infinite at a pole or beyond the largest number, not a number where the function
        has no value.
    """
    # An angle hangs on the sign of a zero, which numbers of mpmath do not have.
    if all(map(math.isfinite, operands)) and not (kind == "atan2" and 0 in operands):
        function: Callable[..., Number] = _OF_TWO[kind] if kind in _OF_TWO else FUNCTIONS[kind]
        try:
            value = function(*map(number, operands))
        except ZeroDivisionError:
            value = MP.nan
        if isinstance(value, MP.mpf) and MP.isfinite(value):
            if abs(value) >= _LARGE:
                return math.copysign(math.inf, value)
            return 0.0 if abs(value) <= _SMALL else correctly_rounded(kind, *operands)
    with np.errstate(all="ignore"):
        return float(np.float32(_LIMITS[kind](*map(np.float64, operands)))) + 0.0


def correctly_rounded(kind: str, *operands: float) -> float:
    """Return the float32 number nearest to the true value of a function, ties to even; a zero is +0.

    Args:
        kind: The kind of function, as in :data:`counterfoil.definite.functions.FUNCTIONS`.
        operands: One or two finite float32 numbers, where the function is defined and not zero.
    """
    function: Callable[..., Number] = _OF_TWO[kind] if kind in _OF_TWO else FUNCTIONS[kind]
    low, high = rounded_between(function(*map(number, operands)))
    if low == high:
        return low + 0.0
    middle = (Fraction(low) + Fraction(high)) / 2 if math.isfinite(low) and math.isfinite(high) else None
    assert middle is not None, f"{kind} of {operands} lies at the end of float32's range"
    if kind == "atan2" and Fraction(operands[0]) / Fraction(operands[1]) == middle:
        # Such a quotient is subnormal, and the angle nearer to zero than it by less than can be seen.
        return min(low, high, key=abs) + 0.0
    assert _is_power(kind, operands, middle), f"{kind} of {operands} lies within 2^-{_CERTAIN_BITS} of a midpoint"
    return rounded(middle, "float32") + 0.0


def rounded_between(value: Number) -> tuple[float, float]:
    """Return the float32 numbers to which the ends of the error of mpmath's value round: one number nearly always."""
    exact = as_fraction(value)
    slack = abs(exact) / 2**_CERTAIN_BITS
    return rounded(exact - slack, "float32"), rounded(exact + slack, "float32")


def as_fraction(value: Any) -> Fraction:
    """Return a finite number of mpmath's with all of its bits."""
    sign, significand, exponent, _ = value._mpf_
    magnitude = int(significand) << exponent if exponent >= 0 else Fraction(int(significand), 1 << -exponent)
    return Fraction(-magnitude if sign else magnitude)


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
