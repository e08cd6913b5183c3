"""Functions of the exact profiles at one place: the float32 number nearest to the true value.

``docs/numerics.md``, "Exact profiles", defines them, and ``docs/proofs.md``, "Functions", says which values lie halfway
between two float32 numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial

from counterfoil_core.operators.judging.forms import Judge
from counterfoil_core.operators.judging.ieee import SINGLE, fraction_of, nearest, no_midpoint, quotient, round_to
from counterfoil_core.operators.judging.numbers import MP, number
from counterfoil_core.operators.pointwise.judge.functions import FUNCTIONS

JUDGE = Judge()

_INF, _NAN = math.inf, math.nan
_RIGHT_ANGLE = round_to(fraction_of(MP.pi / 2), SINGLE)
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
_OPERANDS = {"pow": ("self", "exponent"), "atan2": ("self", "other"), "xlogy": ("self", "other")}
"""Names of the operands of functions of two numbers."""
FUNCTION_KINDS = frozenset(_ENDS) | frozenset(_OPERANDS)
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
    if kind in _OPERANDS:
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
    return nearest(FUNCTIONS[kind](number(x)), _exact_power_of_two(x) if kind == "exp2" else no_midpoint)


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
    return nearest(MP.power(number(x), number(y)), lambda middle: _is_power(abs(x), y, abs(middle)))


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
        return round_to(below, SINGLE) + 0.0
    return nearest(angle)


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
        return nearest(number(x) * MP.log(number(y)))
    # An infinity among them, or no logarithm: the sign of the logarithm is all that counts.
    return x * logarithm + 0.0


for _kind in FUNCTION_KINDS:
    JUDGE.functions[_kind] = (_OPERANDS.get(_kind, ("self",)), partial(value_of, _kind))
JUDGE.functions["div"] = (("self", "other"), partial(quotient, dtype=SINGLE))
