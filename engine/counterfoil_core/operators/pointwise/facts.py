"""What is known of pointwise operators: error bounds, terms of exact profiles, types, classes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from counterfoil_core.operators.bounds import FUNCTION, constant
from counterfoil_core.operators.facts import (
    COMPARES_OR_LOGIC,
    ONE_OPERATION,
    SELECTS,
    Bound,
    Trait,
    Use,
    exact,
    rounded_operators,
)
from counterfoil_core.operators.limits import Limited
from counterfoil_core.operators.shaperules import (
    Arguments,
    Results,
    ShapeRule,
    Typed,
    axis,
    broadcast,
    common_dtype,
    floats,
    put,
    require,
    same,
    spreads,
    tensor,
    tensors,
    within,
)

_LARGEST_LOGARITHM = 746
"""Largest magnitude of a logarithm of a float64 number, and of an argument whose exponential is one."""


def softplus(use: Use) -> Sequence[Bound]:
    """Softplus: beta times x is rounded before the exponential, unless beta is a power of two."""
    exact = abs(math.frexp(float(use.arguments["beta"]))[0]) == 0.5
    return [Bound(2 * FUNCTION + 8 + (0 if exact else _LARGEST_LOGARITHM))]


def elu_backward(use: Use) -> Sequence[Bound]:
    """ELU's gradient: the coefficients scale what is added."""
    coefficient = abs(use.arguments["alpha"] * use.arguments["scale"] * use.arguments["input_scale"])
    return [Bound(FUNCTION + 8, max(1.0, float(coefficient)))]


LIMITS: Mapping[str, Limited] = dict.fromkeys(
    (
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "div", "erf", "erfc", "exp", "exp2",
        "expm1", "log", "log10", "log1p", "log2", "pow", "reciprocal", "rsqrt", "sigmoid", "sin", "sinh", "sqrt",
        "tan", "tanh", "xlogy",
    ),
    Limited(),
)  # fmt: skip
"""By operator kind."""


def _over(operands: Sequence[Any], dtype: str) -> Results:
    """The one result of operands that are laid over each other."""
    return [Typed(dtype, broadcast(*(item.shape for item in operands if isinstance(item, Typed))))]


def _numbers(operands: Sequence[Any]) -> list[Any]:
    return [item for item in operands if not isinstance(item, Typed)]


def _meeting(*names: str) -> ShapeRule:
    """Floating-point numbers or integers, computed in the dtype in which they meet."""

    def rule(arguments: Arguments) -> Results:
        operands = [arguments[name] for name in names]
        dtype = common_dtype(operands)
        require(dtype != "bool")
        within(dtype, *_numbers(operands), *([arguments["alpha"]] if "alpha" in arguments else ()))
        return _over(operands, dtype)

    return rule


def _fractions(*names: str) -> ShapeRule:
    """The same, of floating-point numbers alone."""

    def rule(arguments: Arguments) -> Results:
        operands = [arguments[name] for name in names]
        require(all(item.floating for item in operands if isinstance(item, Typed)))
        return _over(operands, common_dtype(operands))

    return rule


def _truths(*names: str) -> ShapeRule:
    """A truth value for each element."""

    def rule(arguments: Arguments) -> Results:
        operands = [arguments[name] for name in names]
        numbers = _numbers(operands)
        if numbers:
            within(tensor(arguments, names[0]).dtype, *numbers)
        return _over(operands, "bool")

    return rule


def _bits(arguments: Arguments) -> Results:
    operands = [arguments["self"], arguments["other"]]
    dtype = common_dtype(operands)
    require(not Typed(dtype, ()).floating)
    within(dtype, *_numbers(operands))
    return _over(operands, dtype)


def _bits_alone(arguments: Arguments) -> Results:
    require(not tensor(arguments, "self").floating)
    return [arguments["self"]]


def _same_number(arguments: Arguments) -> Results:
    """A number for a number."""
    require(tensor(arguments, "self").dtype != "bool")
    return [arguments["self"]]


def _where(arguments: Arguments) -> Results:
    condition = tensor(arguments, "condition")
    operands = [arguments["self"], arguments["other"]]
    dtype = common_dtype(operands)
    require(condition.dtype == "bool")
    within(dtype, *_numbers(operands))
    return _over([condition, *operands], dtype)


def _masked_fill(arguments: Arguments) -> Results:
    x, mask = tensors(arguments, "self", "mask")
    value = arguments["value"]
    require(mask.dtype == "bool")
    if isinstance(value, Typed):
        require(value == Typed(x.dtype, ()))
    else:
        within(x.dtype, value)
    return [Typed(x.dtype, broadcast(x.shape, mask.shape))]


def _clamp(*names: str) -> ShapeRule:
    def rule(arguments: Arguments) -> Results:
        ends = [arguments[name] for name in names if arguments[name] is not None]
        x = tensor(arguments, "self")
        require(bool(ends) and x.dtype != "bool")
        require(all(end.dtype == x.dtype for end in ends if isinstance(end, Typed)))
        within(x.dtype, *_numbers(ends))
        return _over([x, *ends], x.dtype)

    return rule


def _lerp(arguments: Arguments) -> Results:
    names = [name for name in ("self", "end", "weight") if isinstance(arguments[name], Typed)]
    operands = floats(arguments, "self", *names[1:])
    return _over(operands, operands[0].dtype)


def _celu(arguments: Arguments) -> Results:
    require(arguments["alpha"] != 0)
    return same("self")(arguments)


def _elu_backward(arguments: Arguments) -> Results:
    require(not arguments["is_result"] or arguments["alpha"] >= 0)
    return same("grad_output", "self_or_result")(arguments)


def _leaky_relu_backward(arguments: Arguments) -> Results:
    require(not arguments["self_is_result"] or arguments["negative_slope"] >= 0)
    return same("grad_output", "self")(arguments)


def _glu(arguments: Arguments) -> Results:
    (x,) = floats(arguments, "self")
    require(x.rank > 0)
    place = axis(arguments["dim"], x.rank)
    require(x.shape[place] % 2 == 0)
    return [Typed(x.dtype, put(x.shape, place, x.shape[place] // 2))]


def _glu_backward(arguments: Arguments) -> Results:
    gradient, x = floats(arguments, "grad_output", "self")
    require(_glu(arguments) == [gradient])
    return [x]


def _prelu(arguments: Arguments) -> Results:
    x, weight = floats(arguments, "self", "weight")
    spreads(weight.shape, x.shape)
    return [x]


def _prelu_backward(arguments: Arguments) -> Results:
    gradient, x, weight = floats(arguments, "grad_output", "self", "weight")
    require(gradient == x)
    spreads(weight.shape, x.shape)
    return [x, x]


_SINGLES = """
    hardtanh.default threshold.default floor.default ceil.default trunc.default round.default frac.default exp.default
    exp2.default expm1.default log.default log2.default log10.default log1p.default sin.default cos.default tan.default
    asin.default acos.default atan.default sinh.default cosh.default tanh.default asinh.default acosh.default
    atanh.default erf.default erfc.default rsqrt.default sqrt.default reciprocal.default sigmoid.default silu.default
    elu.default selu.default softplus.default mish.default gelu.default logit.default leaky_relu.default
"""
_COMPARISONS = "eq ne lt le gt ge"
_GRADIENTS = {
    "aten.hardtanh_backward.default": ("grad_output", "self"),
    "aten.threshold_backward.default": ("grad_output", "self"),
    "aten.sigmoid_backward.default": ("grad_output", "output"),
    "aten.tanh_backward.default": ("grad_output", "output"),
    "aten.logit_backward.default": ("grad_output", "self"),
    "aten.softplus_backward.default": ("grad_output", "self"),
    "aten.silu_backward.default": ("grad_output", "self"),
    "aten.mish_backward.default": ("grad_output", "self"),
    "aten.gelu_backward.default": ("grad_output", "self"),
}

RULES: dict[str, ShapeRule] = {
    **dict.fromkeys((f"aten.{name}" for name in _SINGLES.split()), same("self")),
    **{name: same(*names) for name, names in _GRADIENTS.items()},
    **{
        f"aten.{kind}.{other}": _meeting("self", "other")
        for kind in ("mul", "add", "sub", "rsub", "fmod", "remainder")
        for other in ("Tensor", "Scalar")
    },
    **dict.fromkeys(("aten.div.Tensor_mode", "aten.div.Scalar_mode"), _meeting("self", "other")),
    **dict.fromkeys(("aten.maximum.default", "aten.minimum.default"), _meeting("self", "other")),
    **dict.fromkeys(
        (
            "aten.div.Tensor", "aten.div.Scalar", "aten.atan2.default", "aten.xlogy.Tensor", "aten.logaddexp.default",
        ),
        _fractions("self", "other"),
    ),
    **dict.fromkeys(
        ("aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor", "aten.pow.Scalar"), _fractions("self", "exponent")
    ),
    **dict.fromkeys(("aten.addcmul.default", "aten.addcdiv.default"), _fractions("self", "tensor1", "tensor2")),
    **dict.fromkeys(("aten.lerp.Tensor", "aten.lerp.Scalar"), _lerp),
    **{
        f"aten.{kind}.{other}": _truths("self", "other")
        for kind in _COMPARISONS.split()
        for other in ("Tensor", "Scalar")
    },
    **{f"aten.logical_{kind}.default": _truths("self", "other") for kind in ("and", "or", "xor")},
    **dict.fromkeys(("aten.logical_not.default", "aten.isnan.default", "aten.isinf.default"), _truths("self")),
    **{f"aten.bitwise_{kind}.{other}": _bits for kind in ("and", "or", "xor") for other in ("Tensor", "Scalar")},
    "aten.bitwise_not.default": _bits_alone,
    **dict.fromkeys(
        ("aten.neg.default", "aten.abs.default", "aten.relu.default", "aten.sign.default", "aten.sgn.default"),
        _same_number,
    ),
    **{f"aten.where.{form}": _where for form in ("self", "ScalarSelf", "ScalarOther", "Scalar")},
    **dict.fromkeys(("aten.masked_fill.Scalar", "aten.masked_fill.Tensor"), _masked_fill),
    **{f"aten.clamp.{form}": _clamp("min", "max") for form in ("default", "Tensor")},
    **{f"aten.clamp_min.{form}": _clamp("min") for form in ("default", "Tensor")},
    **{f"aten.clamp_max.{form}": _clamp("max") for form in ("default", "Tensor")},
    "aten.celu.default": _celu,
    "aten.elu_backward.default": _elu_backward,
    "aten.leaky_relu_backward.default": _leaky_relu_backward,
    "aten.glu.default": _glu,
    "aten.glu_backward.default": _glu_backward,
    "aten._prelu_kernel.default": _prelu,
    "aten._prelu_kernel_backward.default": _prelu_backward,
}  # fmt: skip
"""By operator."""


FACTS = (
    *exact(ONE_OPERATION, "mul.Tensor mul.Scalar", Trait.NUMBER_OR_TENSOR),
    *exact(ONE_OPERATION, "neg.default abs.default"),
    *exact(
        "one correctly rounded addition per element, because alpha is 1 or -1",
        "add.Tensor add.Scalar sub.Tensor sub.Scalar rsub.Scalar rsub.Tensor",
        Trait.BY_ALPHA,
        Trait.INFINITE,
        Trait.NUMBER_OR_TENSOR,
    ),
    *exact(
        SELECTS,
        """
        clamp.default clamp.Tensor clamp_min.default clamp_min.Tensor clamp_max.default clamp_max.Tensor
        hardtanh.default threshold.default
    """,
        Trait.INFINITE,
    ),
    *exact(SELECTS, "relu.default maximum.default minimum.default"),
    *exact(SELECTS, "where.self where.ScalarSelf where.ScalarOther where.Scalar", Trait.VERBATIM),
    *exact(SELECTS, "hardtanh_backward.default threshold_backward.default", Trait.INFINITE, decides=(1,)),
    *exact(SELECTS, "masked_fill.Scalar masked_fill.Tensor", fills=2),
    *exact("selects its input or one correctly rounded product of it", "leaky_relu.default"),
    *exact("selects its input or one correctly rounded product of it", "leaky_relu_backward.default", decides=(1,)),
    *exact(
        COMPARES_OR_LOGIC,
        """
        eq.Tensor eq.Scalar ne.Tensor ne.Scalar lt.Tensor lt.Scalar le.Tensor le.Scalar gt.Tensor gt.Scalar
        ge.Tensor ge.Scalar
    """,
        Trait.COMPARES,
        decides=(0, 1),
    ),
    *exact(
        COMPARES_OR_LOGIC,
        "logical_and.default logical_or.default logical_not.default logical_xor.default isnan.default isinf.default",
        decides=(0, 1),
    ),
    *exact(
        COMPARES_OR_LOGIC,
        """
        bitwise_and.Tensor bitwise_and.Scalar bitwise_or.Tensor bitwise_or.Scalar bitwise_xor.Tensor bitwise_xor.Scalar
    """,
        Trait.TRUTHS,
    ),
    *exact(COMPARES_OR_LOGIC, "bitwise_not.default"),
    *exact(
        "rounds to a neighbouring integer or takes the sign, without error",
        "floor.default ceil.default trunc.default round.default sign.default sgn.default frac.default",
        decides=(0, 1),
    ),
    *exact(
        "a quotient, correctly rounded, without its fraction: both by definition",
        "div.Tensor_mode div.Scalar_mode",
        Trait.NUMBER_OR_TENSOR,
        decides=(0, 1),
    ),
    *exact(
        "what a division leaves, without error; at most one correctly rounded addition corrects its sign",
        "fmod.Tensor fmod.Scalar remainder.Tensor remainder.Scalar",
        Trait.NUMBER_OR_TENSOR,
        decides=(0, 1),
    ),
    # Library functions: relative to the result.
    *rounded_operators(
        "output",
        constant(FUNCTION),
        """
        exp.default exp2.default expm1.default log.default log2.default log10.default log1p.default sin.default
        cos.default tan.default asin.default acos.default atan.default sinh.default cosh.default tanh.default
        asinh.default acosh.default atanh.default erf.default erfc.default rsqrt.default sqrt.default
        reciprocal.default atan2.default
    """,
        Trait.LAST_BIT,
    ),
    *rounded_operators("output", constant(FUNCTION), "div.Tensor div.Scalar", Trait.LAST_BIT, Trait.NUMBER_OR_TENSOR),
    *rounded_operators(
        "output", constant(FUNCTION), "pow.Tensor_Scalar pow.Tensor_Tensor pow.Scalar", Trait.INTEGERS, Trait.LAST_BIT
    ),
    # Functions made of them: relative to the result, which has no cancellation.
    *rounded_operators(
        "output",
        constant(FUNCTION + 8),
        "sigmoid.default silu.default xlogy.Tensor elu.default celu.default selu.default",
        Trait.LAST_BIT,
    ),
    *rounded_operators("output", constant(FUNCTION + 8), "glu.default"),
    *rounded_operators("output", softplus, "softplus.default", Trait.LAST_BIT),
    *rounded_operators("output", constant(4 * FUNCTION), "mish.default", Trait.LAST_BIT),
    # Functions with cancellation: relative to arguments and result together.
    *rounded_operators("inputs", constant(FUNCTION + 16), "gelu.default", Trait.LAST_BIT),
    *rounded_operators("inputs", constant(3 * FUNCTION), "logit.default", Trait.LAST_BIT),
    *rounded_operators("inputs", constant(3 * FUNCTION + 16, 1.5), "logaddexp.default"),
    # A few terms.
    *rounded_operators("terms", constant(6), "addcmul.default", Trait.INTEGERS, Trait.LAST_BIT),
    *rounded_operators(
        "terms",
        constant(6),
        "addcdiv.default lerp.Tensor lerp.Scalar add.Tensor add.Scalar sub.Tensor sub.Scalar rsub.Scalar rsub.Tensor",
        Trait.LAST_BIT,
    ),
    # Gradients: products and quotients alone, and correctly rounded differences, are relative to the result.
    *rounded_operators(
        "output",
        constant(8),
        "sigmoid_backward.default logit_backward.default _prelu_kernel.default _prelu_kernel_backward.default",
    ),
    *rounded_operators("gradient", constant(8), "tanh_backward.default"),
    *rounded_operators("gradient", constant(FUNCTION + 16), "softplus_backward.default"),
    *rounded_operators("gate_gradient", constant(2 * FUNCTION + 16), "silu_backward.default"),
    *rounded_operators("gate_gradient", constant(10 * FUNCTION), "mish_backward.default"),
    *rounded_operators("gelu_backward", constant(2 * FUNCTION + 16), "gelu_backward.default"),
    *rounded_operators("glu_backward", constant(2 * FUNCTION + 16), "glu_backward.default"),
    *rounded_operators("elu_backward", elu_backward, "elu_backward.default"),
)
