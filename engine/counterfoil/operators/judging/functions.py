"""Functions of the exact profiles at one place: the float32 number nearest to the true value, for whoever judges.

``docs/numerics.md``, "Exact profiles", defines them, and "Proofs: functions" says which values lie halfway between two
float32 numbers. mpmath's value is off by less than 2^-200 of itself; rationals do the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from counterfoil.operators.judging import elementwise
from counterfoil.operators.judging.ieee import rounded
from counterfoil.operators.judging.numbers import MP, NotExactError, Number, number

SINGLE = "float32"
_CERTAIN = Fraction(1, 2**200)
"""More than mpmath is off by, relatively, with 256 bits."""
_INF, _NAN = math.inf, math.nan


def fraction_of(value: Number) -> Fraction:
    """Return a finite number of mpmath's with all of its bits."""
    sign, significand, exponent, _ = value._mpf_
    return Fraction(-int(significand) if sign else int(significand)) * Fraction(2) ** int(exponent)


_RIGHT_ANGLE = rounded(fraction_of(MP.pi / 2), SINGLE)
_ENDS: Mapping[str, tuple[float, float]] = {
    "exp": (0.0, _INF), "exp2": (0.0, _INF), "expm1": (-1.0, _INF),
    "log": (_NAN, _INF), "log2": (_NAN, _INF), "log10": (_NAN, _INF), "log1p": (_NAN, _INF),
    "sin": (_NAN, _NAN), "cos": (_NAN, _NAN), "tan": (_NAN, _NAN),
    "asin": (_NAN, _NAN), "acos": (_NAN, _NAN), "atan": (-_RIGHT_ANGLE, _RIGHT_ANGLE),
    "sinh": (-_INF, _INF), "cosh": (_INF, _INF), "tanh": (-1.0, 1.0),
    "asinh": (-_INF, _INF), "acosh": (_NAN, _INF), "atanh": (_NAN, _NAN),
    "erf": (-1.0, 1.0), "erfc": (2.0, 0.0), "sigmoid": (0.0, 1.0),
    "sqrt": (_NAN, _INF), "rsqrt": (_NAN, 0.0), "reciprocal": (0.0, 0.0),
}  # fmt: skip
"""By function of one number: its values at minus infinity and at infinity."""
_POLES: Mapping[str, Mapping[float, float]] = {
    **{kind: {0.0: -_INF} for kind in ("log", "log2", "log10")},
    "log1p": {-1.0: -_INF},
    "atanh": {-1.0: -_INF, 1.0: _INF},
}
"""By function: the finite arguments at which it is infinite. Of a zero's reciprocal and its root's the sign decides."""
_OF_TWO = frozenset(("pow", "atan2", "xlogy"))
FUNCTION_KINDS = frozenset(_ENDS) | _OF_TWO
"""The operator kinds that are functions."""


def value_of(kind: str, *operands: float) -> float:
    """Return the defined value of a function.

    Args:
        kind: One of FUNCTION_KINDS.
        operands: One float32 number, or two; also infinite or not a number.

    Returns:
        A float32 number, every zero +0; infinite at a pole and beyond the largest number, not a number where the
        function has no value.

    Raises:
        NotExactError: The value lies so near to a midpoint that nobody can say to which side it is rounded.
    """
    if kind in _OF_TWO:
        return {"pow": _power, "atan2": _angle, "xlogy": _times_logarithm}[kind](*operands)
    (x,) = operands
    if math.isnan(x):
        return _NAN
    if math.isinf(x):
        return _ENDS[kind][x > 0]
    if x == 0 and kind in ("reciprocal", "rsqrt"):
        return math.copysign(_INF, x)
    if (pole := _POLES.get(kind, {}).get(x)) is not None:
        return pole
    return _nearest(elementwise.FUNCTIONS[kind](number(x)), _exact_power_of_two(x) if kind == "exp2" else _no_midpoint)


def nearest(value: Number) -> float:
    """Return the float32 number nearest to a value of mpmath's that is no midpoint, a zero as +0.

    Raises:
        NotExactError: A midpoint is nearer than mpmath's error.
    """
    return _nearest(value, _no_midpoint)


def _nearest(value: Number, is_midpoint: Callable[[Fraction], bool]) -> float:
    """Round a value, which is the midpoint that lies within mpmath's error if the function says so."""
    if isinstance(value, MP.mpc) or MP.isnan(value):
        return _NAN
    # Beyond these float32 has an infinity, and a zero; their numerators and denominators would have millions of digits.
    if abs(value) > 2**130:
        return math.copysign(_INF, value)
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


def _no_midpoint(middle: Fraction) -> bool:
    """Of all functions only powers take the value of a midpoint."""
    return False


# Powers.


def _power(x: float, y: float) -> float:
    if y == 0 or x == 1:
        return 1.0
    if math.isnan(x) or math.isnan(y):
        return _NAN
    odd = math.isfinite(y) and y % 2 == 1
    if math.isinf(y):
        return 1.0 if x == -1 else _INF if (abs(x) > 1) == (y > 0) else 0.0
    if x == 0 or math.isinf(x):
        # What is negative and odd stays negative where it is infinite; a zero is +0.
        infinite = (x == 0) == (y < 0)
        return (math.copysign(_INF, x) if odd else _INF) if infinite else 0.0
    if x < 0 and y != int(y):
        return _NAN
    return _nearest(MP.power(number(x), number(y)), lambda middle: _is_power(abs(x), y, abs(middle)))


def _exact_power_of_two(y: float) -> Callable[[Fraction], bool]:
    return lambda middle: _is_power(2.0, y, middle)


def _is_power(x: float, y: float, value: Fraction) -> bool:
    """Whether x^y, both positive, is a dyadic rational: exactly when x^n = value^r, with y = n / r in lowest terms.

    Either side is a power of two times an odd integer. r is a power of two, so an odd integer other than 1 that has an
    r-th root in integers is 3^r at least.
    """
    n, r = Fraction(y).numerator, Fraction(y).denominator
    odd, twos = _split(Fraction(x))
    wanted, wanted_twos = _split(value)
    if twos * n != wanted_twos * r:
        return False
    if odd == 1 or n < 0:
        return wanted == 1 and odd == 1
    root = odd
    while r > 1:
        root, r, square = math.isqrt(root), r // 2, root
        if root * root != square:
            return False
    # root >= 3, and what it is compared with has few bits.
    return n <= wanted.bit_length() and root**n == wanted


def _split(value: Fraction) -> tuple[int, int]:
    """An odd integer and the exponent of a power of two whose product is a positive dyadic rational."""
    odd, twos = value.numerator, 1 - value.denominator.bit_length()
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return odd, twos


# Angles, and x log y.


def _angle(y: float, x: float) -> float:
    if math.isnan(y) or math.isnan(x):
        return _NAN
    if y == 0 or math.isinf(y) or math.isinf(x):
        return _special_angle(y, x)
    angle = MP.atan2(number(y), number(x))
    if x > 0 and abs(angle) < MP.mpf(2) ** -100:
        # Nearer to zero than y / x by less than can be seen: a midpoint is rounded towards zero.
        ratio = Fraction(y) / Fraction(x)
        below = ratio * (1 - Fraction(1, 2**250))
        return rounded(below, SINGLE) + 0.0
    return _nearest(angle, _no_midpoint)


def _special_angle(y: float, x: float) -> float:
    """A multiple of an eighth of a turn, on the side of the sign of y, zeros included."""
    behind = math.copysign(1.0, x) < 0
    if y == 0 or (math.isinf(x) and not math.isinf(y)):
        eighths = 4 if behind else 0
    elif not math.isinf(x):
        eighths = 2
    else:
        eighths = 3 if behind else 1
    return math.copysign(nearest(MP.pi * eighths / 4), y) if eighths else 0.0


def _times_logarithm(x: float, y: float) -> float:
    if math.isnan(y):
        return _NAN
    if x == 0:
        return 0.0
    logarithm = value_of("log", y)
    if math.isfinite(x) and math.isfinite(y) and y > 0:
        return _nearest(number(x) * MP.log(number(y)), _no_midpoint)
    # An infinity among them, or no logarithm: the sign of the logarithm is all that counts.
    return x * logarithm + 0.0
