"""Elementwise functions and their gradients, by their definitions, with mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from counterfoil_core.operators.judging.elementwise import At, elementwise
from counterfoil_core.operators.judging.forms import Judge
from counterfoil_core.operators.judging.numbers import MP, NotExactError, Number, number

JUDGE = Judge()


def sigmoid(x: Number) -> Number:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + MP.exp(-x))


def _softplus(x: Number) -> Number:
    """log(1 + exp(x)), without an error relative to x."""
    return x + MP.log1p(MP.exp(-x)) if x > 0 else MP.log1p(MP.exp(x))


FUNCTIONS: dict[str, Callable[[Number], Number]] = {
    "exp": MP.exp,
    "exp2": lambda x: MP.power(2, x),
    "expm1": MP.expm1,
    "log": MP.log,
    "log2": lambda x: MP.log(x) / MP.log(2),
    "log10": MP.log10,
    "log1p": MP.log1p,
    "sin": MP.sin,
    "cos": MP.cos,
    "tan": MP.tan,
    "asin": MP.asin,
    "acos": MP.acos,
    "atan": MP.atan,
    "sinh": MP.sinh,
    "cosh": MP.cosh,
    "tanh": MP.tanh,
    "asinh": MP.asinh,
    "acosh": MP.acosh,
    "atanh": MP.atanh,
    "erf": MP.erf,
    "erfc": MP.erfc,
    "sigmoid": sigmoid,
    "rsqrt": lambda x: 1 / MP.sqrt(x),
    "sqrt": MP.sqrt,
    "reciprocal": lambda x: 1 / x,
    "silu": lambda x: x * sigmoid(x),
    "mish": lambda x: x * MP.tanh(_softplus(x)),
}
"""Functions of one number, by operator kind."""


def _unary(function: Callable[[Number], Number]) -> Callable[[At], Number]:
    return lambda at: function(at("self"))


for _kind, _function in FUNCTIONS.items():
    elementwise(JUDGE, _kind)(_unary(_function))


def _elu_of(x: Number, alpha: Number, scale: Number, input_scale: Number) -> Number:
    return x * scale if x > 0 else MP.expm1(x * input_scale) * alpha * scale


@elementwise(JUDGE, "elu")
def _elu(at: At) -> Number:
    return _elu_of(at("self"), at("alpha"), at("scale"), at("input_scale"))


@elementwise(JUDGE, "celu")
def _celu(at: At) -> Number:
    return _elu_of(at("self"), at("alpha"), MP.one, 1 / at("alpha"))


@elementwise(JUDGE, "selu")
def _selu(at: At) -> Number:
    alpha, scale = MP.mpf("1.6732632423543772848170429916717"), MP.mpf("1.0507009873554804934193349852946")
    return _elu_of(at("self"), alpha, scale, MP.one)


@elementwise(JUDGE, "elu_backward")
def _elu_backward(at: At) -> Number:
    g, x = at("grad_output"), at("self_or_result")
    alpha, scale, input_scale = at("alpha"), at("scale"), at("input_scale")
    if x > 0:
        return g * scale
    if at.call["is_result"]:
        return g * input_scale * (x + alpha * scale)
    return g * input_scale * alpha * scale * MP.exp(x * input_scale)


def _beyond_threshold(at: At) -> bool:
    """Whether softplus is taken for linear: by a comparison with one correctly rounded product."""
    with np.errstate(over="ignore"):
        product = at.computed(at.raw("self")) * at.computed(at.raw("beta"))
    return bool(product > at.computed(at.raw("threshold")))


@elementwise(JUDGE, "softplus")
def _softplus_of(at: At) -> Number:
    x, beta = at("self"), at("beta")
    return x if _beyond_threshold(at) else _softplus(x * beta) / beta


@elementwise(JUDGE, "softplus_backward")
def _softplus_backward(at: At) -> Number:
    g = at("grad_output")
    return g if _beyond_threshold(at) else g * sigmoid(at("self") * at("beta"))


_ROOT_2_OVER_PI = MP.sqrt(2 / MP.pi)
_CUBIC = MP.mpf("0.044715")


@elementwise(JUDGE, "gelu")
def _gelu(at: At) -> Number:
    x = at("self")
    if at.call["approximate"] == "tanh":
        return x * (1 + MP.tanh(_ROOT_2_OVER_PI * (x + _CUBIC * x**3))) / 2
    return x * MP.ncdf(x)


@elementwise(JUDGE, "gelu_backward")
def _gelu_backward(at: At) -> Number:
    g, x = at("grad_output"), at("self")
    if at.call["approximate"] == "tanh":
        tanh = MP.tanh(_ROOT_2_OVER_PI * (x + _CUBIC * x**3))
        slope = _ROOT_2_OVER_PI * (1 + 3 * _CUBIC * x * x)
        return g * ((1 + tanh) / 2 + x * (1 - tanh * tanh) * slope / 2)
    return g * (MP.ncdf(x) + x * MP.npdf(x))


@elementwise(JUDGE, "silu_backward")
def _silu_backward(at: At) -> Number:
    x, s = at("self"), sigmoid(at("self"))
    return at("grad_output") * s * (1 + x * sigmoid(-x))


@elementwise(JUDGE, "mish_backward")
def _mish_backward(at: At) -> Number:
    x = at("self")
    tanh = MP.tanh(_softplus(x))
    return at("grad_output") * (tanh + x * (1 - tanh * tanh) * sigmoid(x))


@elementwise(JUDGE, "tanh_backward")
def _tanh_backward(at: At) -> Number:
    return at("grad_output") * (1 - at("output") ** 2)


@elementwise(JUDGE, "sigmoid_backward")
def _sigmoid_backward(at: At) -> Number:
    return at("grad_output") * at("output") * (1 - at("output"))


def _clamp_of_logit(at: At) -> tuple[Number, Number] | None:
    """Both ends of logit's clamp, eps and 1 - eps in the compute dtype; None where it does not clamp."""
    if at.call["eps"] is None or at.call["eps"] < 0:
        return None
    low = at.computed(at.call["eps"])
    high = at.computed(1.0) - low
    if low > high:
        raise NotExactError("its eps is above one half, where kernels clamp to either end")
    return number(low), number(high)


@elementwise(JUDGE, "logit")
def _logit(at: At) -> Number:
    x, ends = at("self"), _clamp_of_logit(at)
    if ends is not None:
        x = min(max(x, ends[0]), ends[1])
    return MP.log(x / (1 - x))


@elementwise(JUDGE, "logit_backward")
def _logit_backward(at: At) -> Number:
    g, x, ends = at("grad_output"), at("self"), _clamp_of_logit(at)
    if ends is not None and not ends[0] <= x <= ends[1]:
        return MP.zero
    return g / (x * (1 - x))


@elementwise(JUDGE, "glu")
def _glu(at: At) -> Number:
    return at.half("self", 0) * sigmoid(at.half("self", 1))


@elementwise(JUDGE, "glu_backward")
def _glu_backward(at: At) -> Number:
    axis = at.call["dim"] % len(at.call.shape)
    middle = at.call.shape[axis] // 2
    place = list(at.place)
    first = place[axis] < middle
    place[axis] %= middle
    g = number(at.call["grad_output"][tuple(place)])
    a, s = at.half("self", 0), sigmoid(at.half("self", 1))
    return g * s if first else g * a * s * sigmoid(-at.half("self", 1))


@elementwise(JUDGE, "_prelu_kernel")
def _prelu(at: At) -> Number:
    x = at("self")
    return x if x > 0 else x * at("weight")


@elementwise(JUDGE, "_prelu_kernel_backward")
def _prelu_backward(at: At) -> Number:
    g, x = at("grad_output"), at("self")
    if at.call.output == 0:
        return g if x > 0 else g * at("weight")
    return MP.zero if x > 0 else g * x


@elementwise(JUDGE, "add", "sub", "rsub")
def _add(at: At) -> Number:
    first, second = at("self"), at("other")
    if at.call.kind == "rsub":
        first, second = second, first
    scaled = second * at("alpha")
    return first + scaled if at.call.kind == "add" else first - scaled


@elementwise(JUDGE, "addcmul")
def _addcmul(at: At) -> Number:
    return at("self") + at("value") * at("tensor1") * at("tensor2")


@elementwise(JUDGE, "addcdiv")
def _addcdiv(at: At) -> Number:
    return at("self") + at("value") * at("tensor1") / at("tensor2")


@elementwise(JUDGE, "lerp")
def _lerp(at: At) -> Number:
    return at("self") + at("weight") * (at("end") - at("self"))


@elementwise(JUDGE, "pow")
def _pow(at: At) -> Number:
    base, exponent = at.raw("self"), at.raw("exponent")
    if math.isinf(base) or math.isinf(exponent):
        return number(math.pow(base, exponent))  # 0, 1 or infinite
    return MP.power(at("self"), at("exponent"))


@elementwise(JUDGE, "atan2")
def _atan2(at: At) -> Number:
    y, x = at.raw("self"), at.raw("other")
    if y == 0 or math.isinf(y) or math.isinf(x):  # then it is a multiple of pi/4, which signed zeros decide too
        return MP.nint(math.atan2(y, x) / (math.pi / 4)) * MP.pi / 4
    return MP.atan2(at("self"), at("other"))


@elementwise(JUDGE, "xlogy")
def _xlogy(at: At) -> Number:
    return MP.zero if at("self") == 0 else at("self") * MP.log(at("other"))


@elementwise(JUDGE, "logaddexp")
def _logaddexp(at: At) -> Number:
    top, bottom = max(at("self"), at("other")), min(at("self"), at("other"))
    return top + MP.log1p(MP.exp(bottom - top))


@elementwise(JUDGE, "div")
def _div(at: At) -> Number:
    return at("self") / at("other")
