"""Definitions of the exact operators that look at one place: arithmetic, comparison, selection and rounding."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from counterfoil_core.base.dtypes import INTEGER_RANGES
from counterfoil_core.operators.judging.forms import Call, Element, Judge
from counterfoil_core.operators.judging.ieee import Value, convert_element, product, quotient, total, wrap
from counterfoil_core.operators.judging.numbers import NotExactError
from counterfoil_core.operators.judging.selections import plus_zero

JUDGE = Judge()


Function = Callable[..., Any]
"""Takes the operands of one place, in their common dtype, and the name of that dtype."""


def common_dtype(call: Call, *names: str) -> str:
    """The dtype in which operands meet: floating if one is, else the widest integer; numbers only choose the sort."""
    values = [call[name] for name in names]
    kinds = {_sort(value) for value in values}
    if "f" in kinds:
        return call.floating_dtype
    if kinds == {"b"}:
        return "bool"
    # Tensors with axes come first, then tensors without, then numbers, which are int64.
    for chosen in (
        [v for v in values if isinstance(v, np.ndarray) and v.ndim and v.dtype.kind != "b"],
        [v for v in values if isinstance(v, np.ndarray) and v.dtype.kind != "b"],
    ):
        if chosen:
            return str(max((v.dtype for v in chosen), key=lambda dtype: dtype.itemsize).name)
    return "int64"


def _sort(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "f" if value.dtype.kind == "f" else "b" if value.dtype.kind == "b" else "i"
    return "b" if isinstance(value, bool) else "f" if isinstance(value, float) else "i"


def operand(call: Call, name: str, dtype: str | None) -> Element:
    """Return the elements of an argument, broadcast to the output, in a dtype; None keeps the argument's own."""
    value = call[name]
    if not isinstance(value, np.ndarray):
        constant = value if dtype is None else convert_element(value, dtype)
        return lambda index: constant
    flat = np.broadcast_to(value, call.shape).reshape(-1)
    if dtype is None:
        return lambda index: flat[index].item()
    convert = cache(lambda kept: convert_element(kept, dtype))
    return lambda index: flat[index].item() if flat.dtype.name == dtype else convert(flat[index].item())


def _pointwise(function: Function, *names: str) -> Callable[[Call], Element]:
    """A function of the operands in their common dtype; the result is converted to the output's."""

    def rule(call: Call) -> Element:
        present = [name for name in names if call.get(name) is not None]
        dtype = common_dtype(call, *present)
        operands = [operand(call, name, dtype) if name in present else None for name in names]

        def compute(*signed: tuple[Value | None, float]) -> Value:
            return convert_element(function(dtype, *(value for value, _ in signed)), call.dtype)

        # Zeros of both signs are equal, so that a sign has to be part of the key.
        remembered = cache(compute)
        return lambda index: remembered(*(_signed(None if o is None else o(index)) for o in operands))

    return rule


def _signed(value: Value | None) -> tuple[Value | None, float]:
    return (value, math.copysign(1.0, value) if isinstance(value, float) else 0.0)


def _floating(dtype: str) -> bool:
    return dtype.startswith("float")


# Arithmetic: one rounding, or integers modulo 2^n.


def _multiply(dtype: str, a: Any, b: Any) -> Any:
    if dtype == "bool":
        return bool(a and b)
    return product(a, b, dtype) if _floating(dtype) else wrap(a * b, dtype)


def _add(dtype: str, a: Any, b: Any) -> Any:
    if dtype == "bool":
        return bool(a or b)
    return total(a, b, dtype) if _floating(dtype) else wrap(a + b, dtype)


def _negate(dtype: str, a: Any) -> Any:
    return -a if _floating(dtype) else wrap(-a, dtype)


JUDGE.definition("mul")(_pointwise(_multiply, "self", "other"))
JUDGE.definition("neg")(_pointwise(_negate, "self"))
JUDGE.definition("abs")(_pointwise(lambda dtype, a: abs(a) if _floating(dtype) else wrap(abs(a), dtype), "self"))


@JUDGE.definition("add", "sub", "rsub")
def _addition(call: Call) -> Element:
    """One addition: alpha is 1 or -1 for floating numbers, any integer for integers."""
    alpha = call["alpha"]
    first, second = ("other", "self") if call.kind == "rsub" else ("self", "other")
    sign = alpha if call.kind == "add" else -alpha

    def combine(dtype: str, a: Any, b: Any) -> Value:
        if _floating(dtype):
            return total(a, b if sign == 1 else -b, dtype)
        return _add(dtype, a, b) if dtype == "bool" else wrap(a + int(sign) * b, dtype)

    return _pointwise(combine, first, second)(call)


@JUDGE.definition("addcmul")
def _addcmul(call: Call) -> Element:
    factor = int(call["value"])
    return _pointwise(lambda dtype, x, a, b: wrap(x + factor * a * b, dtype), "self", "tensor1", "tensor2")(call)


def _power(dtype: str, base: int, exponent: int) -> Value:
    if exponent < 0:
        # The reciprocal, without its fraction.
        return base ** (exponent % 2) if abs(base) == 1 else 0
    low, high = INTEGER_RANGES[dtype]
    return wrap(pow(base, exponent, high - low + 1), dtype)


JUDGE.definition("pow")(_pointwise(_power, "self", "exponent"))


# Division.


def _whole(value: float, mode: str) -> float:
    if not math.isfinite(value):
        return value
    return math.copysign(float(math.floor(value) if mode == "floor" else math.trunc(value)), value)


def _integer_quotient(a: int, b: int, mode: str) -> int:
    if b == 0:
        raise NotExactError("an integer is divided by zero")
    return a // b if mode == "floor" else int(Fraction(a, b))


@JUDGE.definition("div")
def _division(call: Call) -> Element:
    mode = call["rounding_mode"]

    def divide(dtype: str, a: Any, b: Any) -> Value:
        if _floating(dtype):
            return _whole(quotient(a, b, dtype), mode)
        return wrap(_integer_quotient(a, b, mode), dtype)

    return _pointwise(divide, "self", "other")(call)


def _left_over(a: float, b: float) -> float:
    """Return a - b trunc(a / b), which a floating number holds exactly; with the sign of a."""
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or not b:
        return math.nan
    if math.isinf(b):
        return a
    x, y = Fraction(a), Fraction(b)
    return math.copysign(float(abs(x - y * int(x / y))), a)


def _fmod(dtype: str, a: Any, b: Any) -> Value:
    return _left_over(a, b) if _floating(dtype) else wrap(a - b * _integer_quotient(a, b, "trunc"), dtype)


def _remainder(dtype: str, a: Any, b: Any) -> Value:
    if not _floating(dtype):
        return wrap(a - b * _integer_quotient(a, b, "floor"), dtype)
    left = _left_over(a, b)
    if left and (left < 0) != (b < 0):
        left = total(left, b, dtype)
    return left + 0.0


JUDGE.definition("fmod")(_pointwise(_fmod, "self", "other"))
JUDGE.definition("remainder")(_pointwise(_remainder, "self", "other"))


# Selections. A zero that comes of a choice between numbers is +0.


def larger(a: Any, b: Any) -> Any:
    """The larger one; what is no number wins."""
    return a if a != a or a > b else b


def smaller(a: Any, b: Any) -> Any:
    """The smaller one; what is no number wins."""
    return a if a != a or a < b else b


def _clamped(_dtype: str, x: Any, low: Any, high: Any) -> Value:
    if low is not None:
        x = larger(x, low)
    if high is not None:
        x = smaller(x, high)
    return plus_zero(x)


JUDGE.definition("relu")(_pointwise(lambda _, x: plus_zero(larger(x, 0)), "self"))
JUDGE.definition("maximum")(_pointwise(lambda _, a, b: plus_zero(larger(a, b)), "self", "other"))
JUDGE.definition("minimum")(_pointwise(lambda _, a, b: plus_zero(smaller(a, b)), "self", "other"))
JUDGE.definition("clamp")(_pointwise(_clamped, "self", "min", "max"))
JUDGE.definition("clamp_min")(_pointwise(lambda _, x, low: plus_zero(larger(x, low)), "self", "min"))
JUDGE.definition("clamp_max")(_pointwise(lambda _, x, high: plus_zero(smaller(x, high)), "self", "max"))
JUDGE.definition("hardtanh")(_pointwise(_clamped, "self", "min_val", "max_val"))
JUDGE.definition("hardtanh_backward")(
    _pointwise(
        lambda _, g, x, low, high: type(g)(0) if x <= low or x >= high else g,
        "grad_output", "self", "min_val", "max_val",
    )
)  # fmt: skip
JUDGE.definition("threshold")(_pointwise(lambda _, x, at, value: value if x <= at else x, "self", "threshold", "value"))
JUDGE.definition("threshold_backward")(
    _pointwise(lambda _, g, x, at: type(g)(0) if x <= at else g, "grad_output", "self", "threshold")
)
JUDGE.definition("leaky_relu")(
    _pointwise(lambda dtype, x, slope: x if x > 0 else product(x, slope, dtype), "self", "negative_slope")
)
JUDGE.definition("leaky_relu_backward")(
    _pointwise(
        lambda dtype, g, x, slope: g if x > 0 else product(g, slope, dtype), "grad_output", "self", "negative_slope"
    )
)


@JUDGE.definition("where")
def _where(call: Call) -> Element:
    dtype = common_dtype(call, "self", "other")
    chosen, first, second = (
        operand(call, "condition", None),
        operand(call, "self", dtype),
        operand(call, "other", dtype),
    )
    return lambda index: convert_element(first(index) if chosen(index) else second(index), call.dtype)


@JUDGE.definition("masked_fill")
def _masked_fill(call: Call) -> Element:
    mask, x, value = operand(call, "mask", None), operand(call, "self", None), operand(call, "value", call.dtype)
    return lambda index: value(index) if mask(index) else x(index)


# Comparison and logic.

for _kind, _compare in {
    "eq": lambda _, a, b: a == b,
    "ne": lambda _, a, b: a != b,
    "lt": lambda _, a, b: a < b,
    "le": lambda _, a, b: a <= b,
    "gt": lambda _, a, b: a > b,
    "ge": lambda _, a, b: a >= b,
    "bitwise_and": lambda _, a, b: a & b,
    "bitwise_or": lambda _, a, b: a | b,
    "bitwise_xor": lambda _, a, b: a ^ b,
}.items():
    JUDGE.definition(_kind)(_pointwise(_compare, "self", "other"))


@JUDGE.definition("logical_and", "logical_or", "logical_xor", "logical_not")
def _logic(call: Call) -> Element:
    first = operand(call, "self", "bool")
    if call.kind == "logical_not":
        return lambda index: not first(index)
    second = operand(call, "other", "bool")
    combine: Callable[[Value, Value], bool] = {
        "logical_and": lambda a, b: bool(a and b),
        "logical_or": lambda a, b: bool(a or b),
        "logical_xor": lambda a, b: a != b,
    }[call.kind]
    return lambda index: combine(first(index), second(index))


JUDGE.definition("bitwise_not")(_pointwise(lambda dtype, a: not a if dtype == "bool" else wrap(~a, dtype), "self"))
JUDGE.definition("isnan")(_pointwise(lambda _, x: x != x, "self"))
JUDGE.definition("isinf")(_pointwise(lambda _, x: isinstance(x, float) and math.isinf(x), "self"))


# Rounding to integers keeps the sign, also that of a zero.


def _whole_number(choose: Callable[[float], int]) -> Function:
    def compute(_: str, x: Any) -> Value:
        if not isinstance(x, float) or not math.isfinite(x):
            return x  # type: ignore[no-any-return]
        return math.copysign(float(choose(x)), x)

    return compute


JUDGE.definition("floor")(_pointwise(_whole_number(math.floor), "self"))
JUDGE.definition("ceil")(_pointwise(_whole_number(math.ceil), "self"))
JUDGE.definition("trunc")(_pointwise(_whole_number(math.trunc), "self"))
JUDGE.definition("round")(_pointwise(_whole_number(round), "self"))
JUDGE.definition("sign", "sgn")(_pointwise(lambda _, x: type(x)((x > 0) - (x < 0)), "self"))


@JUDGE.definition("frac")
def _frac(call: Call) -> Element:
    def compute(_: str, x: float) -> float:
        if not math.isfinite(x):
            return math.nan
        return float(Fraction(x) - math.trunc(x))

    return _pointwise(compute, "self")(call)
