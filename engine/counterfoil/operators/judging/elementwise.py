"""Elementwise functions and their gradients, by their definitions, with mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from counterfoil.operators.judging.forms import FUNCTION_COST, Call, ExactOutput, exact_form
from counterfoil.operators.judging.numbers import MP, NotExactError, Number, number


class _At:
    """The arguments of an elementwise operator at one element of its output."""

    def __init__(self, call: Call, index: int) -> None:
        self.call = call
        self._place = call.place(index)

    def __call__(self, name: str) -> Number:
        """A tensor's element, with broadcasting, or a number."""
        value = self.call[name]
        if isinstance(value, np.ndarray):
            return number(np.broadcast_to(value, self.call.shape)[self._place])
        return number(value)

    def raw(self, name: str) -> float:
        """The same as the float that it is: a signed zero keeps its sign."""
        value = self.call[name]
        if isinstance(value, np.ndarray):
            return float(np.broadcast_to(value, self.call.shape)[self._place])
        return float(value)

    def computed(self, value: float) -> Any:
        """A number as the compute dtype holds it: arithmetic with it rounds as every back end's does."""
        dtype: np.dtype[Any] = self.call["self"].dtype
        return dtype.type(value)

    def half(self, name: str, shift: int) -> Number:
        """An element of the first (0) or the second (1) half, along ``dim``, of a tensor that is cut in two."""
        value = self.call[name]
        axis = self.call["dim"] % value.ndim
        place = list(self._place)
        middle = value.shape[axis] // 2
        place[axis] = place[axis] % middle + shift * middle
        return number(value[tuple(place)])


Function = Callable[[_At], Number]


def _elementwise(*kinds: str) -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        exact_form(*kinds)(lambda call: ExactOutput(lambda index: function(_At(call, index)), FUNCTION_COST))
        return function

    return register


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


def _unary(function: Callable[[Number], Number]) -> Function:
    return lambda at: function(at("self"))


for _kind, _function in FUNCTIONS.items():
    _elementwise(_kind)(_unary(_function))


def _elu_of(x: Number, alpha: Number, scale: Number, input_scale: Number) -> Number:
    return x * scale if x > 0 else MP.expm1(x * input_scale) * alpha * scale


@_elementwise("elu")
def _elu(at: _At) -> Number:
    return _elu_of(at("self"), at("alpha"), at("scale"), at("input_scale"))


@_elementwise("celu")
def _celu(at: _At) -> Number:
    return _elu_of(at("self"), at("alpha"), MP.one, 1 / at("alpha"))


@_elementwise("selu")
def _selu(at: _At) -> Number:
    alpha, scale = MP.mpf("1.6732632423543772848170429916717"), MP.mpf("1.0507009873554804934193349852946")
    return _elu_of(at("self"), alpha, scale, MP.one)


@_elementwise("elu_backward")
def _elu_backward(at: _At) -> Number:
    g, x = at("grad_output"), at("self_or_result")
    alpha, scale, input_scale = at("alpha"), at("scale"), at("input_scale")
    if x > 0:
        return g * scale
    if at.call["is_result"]:
        return g * input_scale * (x + alpha * scale)
    return g * input_scale * alpha * scale * MP.exp(x * input_scale)


def _beyond_threshold(at: _At) -> bool:
    """Whether softplus is taken for linear: by a comparison with one correctly rounded product."""
    with np.errstate(over="ignore"):
        product = at.computed(at.raw("self")) * at.computed(at.raw("beta"))
    return bool(product > at.computed(at.raw("threshold")))


@_elementwise("softplus")
def _softplus_of(at: _At) -> Number:
    x, beta = at("self"), at("beta")
    return x if _beyond_threshold(at) else _softplus(x * beta) / beta


@_elementwise("softplus_backward")
def _softplus_backward(at: _At) -> Number:
    g = at("grad_output")
    return g if _beyond_threshold(at) else g * sigmoid(at("self") * at("beta"))


_ROOT_2_OVER_PI = MP.sqrt(2 / MP.pi)
_CUBIC = MP.mpf("0.044715")


@_elementwise("gelu")
def _gelu(at: _At) -> Number:
    x = at("self")
    if at.call["approximate"] == "tanh":
        return x * (1 + MP.tanh(_ROOT_2_OVER_PI * (x + _CUBIC * x**3))) / 2
    return x * MP.ncdf(x)


@_elementwise("gelu_backward")
def _gelu_backward(at: _At) -> Number:
    g, x = at("grad_output"), at("self")
    if at.call["approximate"] == "tanh":
        tanh = MP.tanh(_ROOT_2_OVER_PI * (x + _CUBIC * x**3))
        slope = _ROOT_2_OVER_PI * (1 + 3 * _CUBIC * x * x)
        return g * ((1 + tanh) / 2 + x * (1 - tanh * tanh) * slope / 2)
    return g * (MP.ncdf(x) + x * MP.npdf(x))


@_elementwise("silu_backward")
def _silu_backward(at: _At) -> Number:
    x, s = at("self"), sigmoid(at("self"))
    return at("grad_output") * s * (1 + x * sigmoid(-x))


@_elementwise("mish_backward")
def _mish_backward(at: _At) -> Number:
    x = at("self")
    tanh = MP.tanh(_softplus(x))
    return at("grad_output") * (tanh + x * (1 - tanh * tanh) * sigmoid(x))


@_elementwise("tanh_backward")
def _tanh_backward(at: _At) -> Number:
    return at("grad_output") * (1 - at("output") ** 2)


@_elementwise("sigmoid_backward")
def _sigmoid_backward(at: _At) -> Number:
    return at("grad_output") * at("output") * (1 - at("output"))


def _clamp_of_logit(at: _At) -> tuple[Number, Number] | None:
    """Both ends of logit's clamp, eps and 1 - eps in the compute dtype; None where it does not clamp."""
    if at.call["eps"] is None or at.call["eps"] < 0:
        return None
    low = at.computed(at.call["eps"])
    high = at.computed(1.0) - low
    if low > high:
        raise NotExactError("its eps is above one half, where kernels clamp to either end")
    return number(low), number(high)


@_elementwise("logit")
def _logit(at: _At) -> Number:
    x, ends = at("self"), _clamp_of_logit(at)
    if ends is not None:
        x = min(max(x, ends[0]), ends[1])
    return MP.log(x / (1 - x))


@_elementwise("logit_backward")
def _logit_backward(at: _At) -> Number:
    g, x, ends = at("grad_output"), at("self"), _clamp_of_logit(at)
    if ends is not None and not ends[0] <= x <= ends[1]:
        return MP.zero
    return g / (x * (1 - x))


@_elementwise("glu")
def _glu(at: _At) -> Number:
    return at.half("self", 0) * sigmoid(at.half("self", 1))


@_elementwise("glu_backward")
def _glu_backward(at: _At) -> Number:
    axis = at.call["dim"] % len(at.call.shape)
    middle = at.call.shape[axis] // 2
    place = list(at._place)
    first = place[axis] < middle
    place[axis] %= middle
    g = number(at.call["grad_output"][tuple(place)])
    a, s = at.half("self", 0), sigmoid(at.half("self", 1))
    return g * s if first else g * a * s * sigmoid(-at.half("self", 1))


@_elementwise("_prelu_kernel")
def _prelu(at: _At) -> Number:
    x = at("self")
    return x if x > 0 else x * at("weight")


@_elementwise("_prelu_kernel_backward")
def _prelu_backward(at: _At) -> Number:
    g, x = at("grad_output"), at("self")
    if at.call.output == 0:
        return g if x > 0 else g * at("weight")
    return MP.zero if x > 0 else g * x


@_elementwise("add", "sub", "rsub")
def _add(at: _At) -> Number:
    first, second = at("self"), at("other")
    if at.call.kind == "rsub":
        first, second = second, first
    scaled = second * at("alpha")
    return first + scaled if at.call.kind == "add" else first - scaled


@_elementwise("addcmul")
def _addcmul(at: _At) -> Number:
    return at("self") + at("value") * at("tensor1") * at("tensor2")


@_elementwise("addcdiv")
def _addcdiv(at: _At) -> Number:
    return at("self") + at("value") * at("tensor1") / at("tensor2")


@_elementwise("lerp")
def _lerp(at: _At) -> Number:
    return at("self") + at("weight") * (at("end") - at("self"))


@_elementwise("pow")
def _pow(at: _At) -> Number:
    base, exponent = at.raw("self"), at.raw("exponent")
    if math.isinf(base) or math.isinf(exponent):
        return number(math.pow(base, exponent))  # 0, 1 or infinite
    return MP.power(at("self"), at("exponent"))


@_elementwise("atan2")
def _atan2(at: _At) -> Number:
    y, x = at.raw("self"), at.raw("other")
    if y == 0 or math.isinf(y) or math.isinf(x):  # then it is a multiple of pi/4, which signed zeros decide too
        return MP.nint(math.atan2(y, x) / (math.pi / 4)) * MP.pi / 4
    return MP.atan2(at("self"), at("other"))


@_elementwise("xlogy")
def _xlogy(at: _At) -> Number:
    return MP.zero if at("self") == 0 else at("self") * MP.log(at("other"))


@_elementwise("logaddexp")
def _logaddexp(at: _At) -> Number:
    top, bottom = max(at("self"), at("other")), min(at("self"), at("other"))
    return top + MP.log1p(MP.exp(bottom - top))


@_elementwise("div")
def _div(at: _At) -> Number:
    return at("self") / at("other")


def _mean_factor(call: Call) -> Number:
    """1 / n for the gradient of a mean, else 1."""
    return 1 / number(call["self"].size) if call["reduction"] == 1 else MP.one


@_elementwise("mse_loss_backward")
def _mse_loss_backward(at: _At) -> Number:
    return 2 * _mean_factor(at.call) * (at("self") - at("target")) * at("grad_output")


@_elementwise("smooth_l1_loss_backward")
def _smooth_l1_loss_backward(at: _At) -> Number:
    if at("beta") == 0 and at("self") == at("target"):
        raise NotExactError("with beta 0 the slope of equal values is -1 in one library and not a number in another")
    slope = _clamped_ratio(at("self") - at("target"), at("beta"))
    return _mean_factor(at.call) * slope * at("grad_output")


@_elementwise("huber_loss_backward")
def _huber_loss_backward(at: _At) -> Number:
    slope = _clamped_ratio(at("self") - at("target"), at("delta")) * at("delta")
    return _mean_factor(at.call) * slope * at("grad_output")


def _clamped_ratio(value: Number, limit: Number) -> Number:
    return MP.sign(value) if abs(value) >= limit else value / limit


_LEAST_VARIANCE = number(np.float32(1e-12))
"""What the gradient of binary cross entropy divides by at least: ``constexpr float EPSILON = 1e-12`` in torch's
Loss.cpp and Loss.cu, so the float32 number, in float64 as well, on the CPU and on CUDA."""


@_elementwise("binary_cross_entropy_backward")
def _binary_cross_entropy_backward(at: _At) -> Number:
    x = at("self")
    slope = (x - at("target")) / max(x * (1 - x), _LEAST_VARIANCE)
    factor = MP.one if at.call["weight"] is None else at("weight")
    return _mean_factor(at.call) * slope * factor * at("grad_output")


@exact_form("nll_loss_backward", "nll_loss2d_backward")
def _nll_loss_backward(call: Call) -> ExactOutput:
    g, target, weight = call["grad_output"], call["target"], call["weight"]
    axis = 1 if len(call.shape) > 1 else 0

    def element(index: int) -> Number:
        place = list(call.place(index))
        label = place.pop(axis)
        row: Any = tuple(place)
        if target[row] != label or label == call["ignore_index"]:
            return MP.zero
        gradient = number(g[row] if call["reduction"] == 0 else g.reshape(()))
        factor = MP.one if weight is None else number(weight[label])
        total = number(call["total_weight"].reshape(())) if call["reduction"] == 1 else MP.one
        return -gradient * factor / total

    return ExactOutput(element, FUNCTION_COST)
