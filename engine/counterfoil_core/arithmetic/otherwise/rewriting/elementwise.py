"""Functions of one element, their gradients, and sums of a few terms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from counterfoil_core.arithmetic.otherwise.rewriting.functions import quotient
from counterfoil_core.arithmetic.otherwise.rewriting.machine import Arguments, Machine, rule
from counterfoil_core.base.arrays import Array


@rule(
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
    "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "sigmoid", "rsqrt", "sqrt", "reciprocal",
)  # fmt: skip
def _function(m: Machine, a: Arguments) -> Any:
    return m.f[a.kind](a["self"])


@rule("silu")
def _silu(m: Machine, a: Arguments) -> Any:
    return a["self"] * m.f["sigmoid"](a["self"])


@rule("mish")
def _mish(m: Machine, a: Arguments) -> Any:
    """Without the logarithm of softplus: tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2)."""
    x = a["self"]
    e = m.f["exp"](np.minimum(x, 30.0))
    n = e * (e + 2.0)
    return np.where(x > 30.0, x, x * (n / (n + 2.0)))


def _elu(m: Machine, x: Array, alpha: float, scale: float, input_scale: float) -> Array:
    below = m.f["expm1"](np.minimum(x, 0.0) * input_scale) * alpha * scale
    result: Array = np.where(x > 0, x * scale, below)
    return result


@rule("elu")
def _elu_of(m: Machine, a: Arguments) -> Any:
    return _elu(m, a["self"], float(a["alpha"]), float(a["scale"]), float(a["input_scale"]))


@rule("celu")
def _celu(m: Machine, a: Arguments) -> Any:
    return _elu(m, a["self"], float(a["alpha"]), 1.0, 1.0 / float(a["alpha"]))


@rule("selu")
def _selu(m: Machine, a: Arguments) -> Any:
    return _elu(m, a["self"], 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0)


@rule("elu_backward")
def _elu_backward(m: Machine, a: Arguments) -> Any:
    g, x = a["grad_output"], a["self_or_result"]
    alpha, scale, input_scale = (float(a[name]) for name in ("alpha", "scale", "input_scale"))
    if a["is_result"]:
        below = (x + alpha * scale) * input_scale * g
    else:
        below = m.f["exp"](np.minimum(x, 0.0) * input_scale) * (g * input_scale) * (alpha * scale)
    return np.where(x > 0, g * scale, below)


def _linear(a: Arguments) -> Array:
    """Where softplus is taken for linear: the product is that of the definition."""
    result: Array = a["self"] * a["self"].dtype.type(a["beta"]) > a["threshold"]
    return result


@rule("softplus")
def _softplus(m: Machine, a: Arguments) -> Any:
    x, beta = a["self"], float(a["beta"])
    return np.where(_linear(a), x, m.f["softplus"](x * beta) / beta)


@rule("softplus_backward")
def _softplus_backward(m: Machine, a: Arguments) -> Any:
    g, x, beta = a["grad_output"], a["self"], float(a["beta"])
    return np.where(_linear(a), g, g * m.f["sigmoid"](x * beta))


_ROOT_HALF = math.sqrt(0.5)
_ROOT_2_OVER_PI = math.sqrt(2.0 / math.pi)
_CUBIC = 0.044715


@rule("gelu")
def _gelu(m: Machine, a: Arguments) -> Any:
    x = a["self"]
    if a["approximate"] == "tanh":
        # (1 + tanh z) / 2 is the sigmoid of 2 z.
        return x * m.f["sigmoid"](2.0 * _ROOT_2_OVER_PI * (x + _CUBIC * (x * x * x)))
    if m.other:
        return 0.5 * x * (1.0 + m.f["erf"](x * _ROOT_HALF))
    return 0.5 * x * m.f["erfc"](-x * _ROOT_HALF)


@rule("gelu_backward")
def _gelu_backward(m: Machine, a: Arguments) -> Any:
    g, x = a["grad_output"], a["self"]
    if a["approximate"] == "tanh":
        s = m.f["sigmoid"](2.0 * _ROOT_2_OVER_PI * (x + _CUBIC * (x * x * x)))
        slope = _ROOT_2_OVER_PI * (1.0 + 3.0 * _CUBIC * (x * x))
        return g * (s + 2.0 * x * slope * s * (1.0 - s))
    density = m.f["exp"](-0.5 * (x * x)) * (_ROOT_2_OVER_PI * 0.5)
    return g * (0.5 * m.f["erfc"](-x * _ROOT_HALF)) + (g * x) * density


@rule("silu_backward")
def _silu_backward(m: Machine, a: Arguments) -> Any:
    g, x = a["grad_output"], a["self"]
    s = m.f["sigmoid"](x)
    return g * (s + x * s * m.f["sigmoid"](-x))


@rule("mish_backward")
def _mish_backward(m: Machine, a: Arguments) -> Any:
    g, x = a["grad_output"], a["self"]
    e = m.f["exp"](np.minimum(x, 30.0))
    n = e * (e + 2.0)
    tanh = n / (n + 2.0)
    slope = tanh + x * (4.0 * (n + 1.0) / ((n + 2.0) * (n + 2.0))) * m.f["sigmoid"](x)
    return np.where(x > 30.0, g, g * slope)


@rule("tanh_backward")
def _tanh_backward(m: Machine, a: Arguments) -> Any:
    g, y = a["grad_output"], a["output"]
    return (g * (1.0 - y)) * (1.0 + y)


@rule("sigmoid_backward")
def _sigmoid_backward(m: Machine, a: Arguments) -> Any:
    g, y = a["grad_output"], a["output"]
    return g * (y * (1.0 - y))


def _within(a: Arguments, x: Array) -> tuple[Array, Array]:
    """What logit makes of x by clamping, and where it leaves it as it is."""
    if a["eps"] is None or a["eps"] < 0:
        return x, np.ones(x.shape, bool)
    low = x.dtype.type(a["eps"])
    high = x.dtype.type(1.0) - low
    return np.minimum(np.maximum(x, low), high), (x >= low) & (x <= high)


@rule("logit")
def _logit(m: Machine, a: Arguments) -> Any:
    x, _ = _within(a, a["self"])
    return m.f["log"](x) - m.f["log1p"](-x) if m.other else np.log(quotient(x, 1.0 - x))


@rule("logit_backward")
def _logit_backward(m: Machine, a: Arguments) -> Any:
    g, x = a["grad_output"], a["self"]
    _, inside = _within(a, x)
    safe = np.where(inside, x, 0.5)
    return np.where(inside, g / safe / (1.0 - safe), 0.0)


@rule("glu")
def _glu(m: Machine, a: Arguments) -> Any:
    first, second = np.split(a["self"], 2, a["dim"])
    return first * m.f["sigmoid"](second)


@rule("glu_backward")
def _glu_backward(m: Machine, a: Arguments) -> Any:
    g = a["grad_output"]
    first, second = np.split(a["self"], 2, a["dim"])
    s = m.f["sigmoid"](second)
    return np.concatenate([g * s, (g * first) * (s * m.f["sigmoid"](-second))], a["dim"])


@rule("_prelu_kernel")
def _prelu(m: Machine, a: Arguments) -> Any:
    return np.where(a["self"] > 0, a["self"], a["weight"] * a["self"])


@rule("_prelu_kernel_backward")
def _prelu_backward(m: Machine, a: Arguments) -> Any:
    g, x = a["grad_output"], a["self"]
    return [np.where(x > 0, g, a["weight"] * g), np.where(x > 0, 0.0, x * g)]


@rule("pow")
def _pow(m: Machine, a: Arguments) -> Any:
    base, exponent = a["self"], a["exponent"]
    dtype = base.dtype if isinstance(base, np.ndarray) else exponent.dtype
    return m.f["pow"](np.asarray(base, dtype), np.asarray(exponent, dtype))


@rule("div")
def _div(m: Machine, a: Arguments) -> Any:
    x = a["self"]
    return quotient(x, np.asarray(a["other"], x.dtype))


@rule("atan2")
def _atan2(m: Machine, a: Arguments) -> Any:
    return m.f["atan2"](*np.broadcast_arrays(a["self"], a["other"]))


@rule("xlogy")
def _xlogy(m: Machine, a: Arguments) -> Any:
    x, y = np.broadcast_arrays(a["self"], a["other"])
    return np.where(x == 0, 0.0, x * m.f["log"](np.where(x == 0, 1.0, y)))


@rule("logaddexp")
def _logaddexp(m: Machine, a: Arguments) -> Any:
    x, y = np.broadcast_arrays(a["self"], a["other"])
    top = np.maximum(x, y)
    shift = np.where(np.isfinite(top), top, 0.0)
    return np.where(np.isfinite(top), shift + m.f["log"](m.f["exp"](x - shift) + m.f["exp"](y - shift)), top)


# A few terms.


def _fused(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c`` with the product's and the sum's errors put back in, as a fused operation nearly gives it."""
    product, first = _two_product(a, b)
    total = product + c
    second = (product - (total - (total - product))) + (c - (total - product))
    result: Array = np.where(np.isfinite(first + second), total + (first + second), a * b + c)
    return result


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    # Dekker 1971: halves whose products are exact.
    factor = 134217729.0 if a.dtype == np.float64 else 4097.0

    def halves(x: Array) -> tuple[Array, Array]:
        scaled = x * factor
        high = scaled - (scaled - x)
        return high, x - high

    product = a * b
    (p, q), (r, s) = halves(a), halves(b)
    return product, ((p * r - product) + p * s + q * r) + q * s


def _scaled_sum(m: Machine, first: Array, second: Array, factor: float) -> Array:
    first, second = np.broadcast_arrays(first, second)
    scale = np.full_like(second, factor)
    return _fused(scale, second, first) if m.other else first + second * scale


@rule("add", "sub", "rsub")
def _add(m: Machine, a: Arguments) -> Any:
    x = a["self"]
    first, second = x, np.asarray(a["other"], x.dtype)
    if a.kind == "rsub":
        first, second = second, first
    return _scaled_sum(m, first, second, float(a["alpha"]) * (1.0 if a.kind == "add" else -1.0))


@rule("addcmul")
def _addcmul(m: Machine, a: Arguments) -> Any:
    if m.other:
        return a["self"] + (a["tensor2"] * float(a["value"])) * a["tensor1"]
    return _scaled_sum(m, a["self"], a["tensor1"] * a["tensor2"], float(a["value"]))


@rule("addcdiv")
def _addcdiv(m: Machine, a: Arguments) -> Any:
    return a["self"] + quotient(a["tensor1"] * float(a["value"]), a["tensor2"])


@rule("lerp")
def _lerp(m: Machine, a: Arguments) -> Any:
    first, second = a["self"], a["end"]
    weight = np.asarray(a["weight"], first.dtype)
    return first * (1.0 - weight) + second * weight if m.other else second - (second - first) * (1.0 - weight)
