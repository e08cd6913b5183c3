"""Activation functions and their gradients.

Numbers are written out, so that a reader can take them from here: float64's nearest to the square roots.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from counterfoil.program.composites.terms import times

_aten = torch.ops.aten
ROOT_HALF = 0.7071067811865476
"""sqrt(1 / 2)"""
ROOT_TWO_PI = 0.3989422804014327
"""1 / sqrt(2 pi)"""
ROOT_TWO_OVER_PI = 0.7978845608028654
"""sqrt(2 / pi)"""
CUBIC = 0.044715
"""The tanh form's factor of the third power."""
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def _tanh_backward(g: Tensor, y: Tensor) -> Tensor:
    return g * (1.0 - y * y)


def _sigmoid_backward(g: Tensor, y: Tensor) -> Tensor:
    return g * (y * (1.0 - y))


def _silu(x: Tensor) -> Tensor:
    return x * torch.sigmoid(x)


def _silu_backward(g: Tensor, x: Tensor) -> Tensor:
    s = torch.sigmoid(x)
    return g * (s + (x * s) * (1.0 - s))


def _glu(x: Tensor, dim: int = -1) -> Tensor:
    half = x.shape[dim] // 2
    return x.narrow(dim, 0, half) * torch.sigmoid(x.narrow(dim, half, half))


def _glu_backward(g: Tensor, x: Tensor, dim: int) -> Tensor:
    half = x.shape[dim] // 2
    first, s = x.narrow(dim, 0, half), torch.sigmoid(x.narrow(dim, half, half))
    of_first = g * s
    return torch.cat((of_first, (of_first * (1.0 - s)) * first), dim)


# GELU. The gradient names what the forward pass computes in the same way, so that it is computed once.


def _chance(x: Tensor) -> Tensor:
    """The normal distribution's share below x."""
    return torch.erf(x * ROOT_HALF) * 0.5 + 0.5


def _tanh_chance(x: Tensor, square: Tensor) -> tuple[Tensor, Tensor]:
    t = torch.tanh(x * (square * (ROOT_TWO_OVER_PI * CUBIC) + ROOT_TWO_OVER_PI))
    return t, t * 0.5 + 0.5


def _gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    return x * (_chance(x) if approximate == "none" else _tanh_chance(x, x * x)[1])


def _gelu_backward(g: Tensor, x: Tensor, *, approximate: str = "none") -> Tensor:
    square = x * x
    if approximate == "none":
        return g * (_chance(x) + x * (torch.exp(square * -0.5) * ROOT_TWO_PI))
    t, chance = _tanh_chance(x, square)
    slope = square * (1.5 * ROOT_TWO_OVER_PI * CUBIC) + 0.5 * ROOT_TWO_OVER_PI
    return g * (chance + x * ((1.0 - t * t) * slope))


# Softplus and mish: relu(x) + log1p(exp(-|x|)) overflows nowhere.


def _log_one_plus_exp(x: Tensor) -> Tensor:
    return torch.log1p(torch.exp(-x.abs())) + torch.relu(x)


def _softplus(x: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    scaled = times(x, beta)
    result = _log_one_plus_exp(scaled)
    return torch.where(scaled > threshold, x, result if beta == 1 else result / beta)


def _softplus_backward(g: Tensor, x: Tensor, beta: float, threshold: float) -> Tensor:
    scaled = times(x, beta)
    return torch.where(scaled > threshold, g, g * torch.sigmoid(scaled))


def _mish(x: Tensor) -> Tensor:
    return x * torch.tanh(_log_one_plus_exp(x))


def _mish_backward(g: Tensor, x: Tensor) -> Tensor:
    t = torch.tanh(_log_one_plus_exp(x))
    return g * (t + (x * torch.sigmoid(x)) * (1.0 - t * t))


# ELU and its like. Exponentials are of min(x, 0) only: the other side would overflow.


def _elu(x: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Tensor:
    low = torch.expm1(times(torch.clamp_max(x, 0.0), input_scale))
    return torch.where(x > 0, times(x, scale), times(low, alpha * scale))


def _celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    return _elu(x, alpha, 1.0, 1.0 / alpha)


def _selu(x: Tensor) -> Tensor:
    return _elu(x, SELU_ALPHA, SELU_SCALE)


def _elu_backward(g: Tensor, alpha: float, scale: float, input_scale: float, is_result: bool, x: Tensor) -> Tensor:
    if is_result:
        slope = times(x + alpha * scale, input_scale)
    else:
        slope = times(torch.exp(times(torch.clamp_max(x, 0.0), input_scale)), alpha * scale * input_scale)
    return torch.where(x > 0, times(g, scale), g * slope)


# The others.


def _logit(x: Tensor, eps: float | None = None) -> Tensor:
    inside = x if eps is None else torch.clamp(x, eps, 1.0 - eps)
    return torch.log(inside / (1.0 - inside))


def _logit_backward(g: Tensor, x: Tensor, eps: float | None = None) -> Tensor:
    if eps is None:
        return g / (x * (1.0 - x))
    inside = torch.clamp(x, eps, 1.0 - eps)
    return torch.where(x == inside, g / (inside * (1.0 - inside)), 0.0)


def _prelu(x: Tensor, weight: Tensor) -> Tensor:
    return torch.where(x > 0, x, weight * x)


def _prelu_backward(g: Tensor, x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    positive = x > 0
    return torch.where(positive, g, weight * g), torch.where(positive, 0.0, x * g)


TABLE: Mapping[Any, Callable[..., Any]] = {
    _aten.tanh_backward.default: _tanh_backward,
    _aten.sigmoid_backward.default: _sigmoid_backward,
    _aten.silu.default: _silu,
    _aten.silu_backward.default: _silu_backward,
    _aten.glu.default: _glu,
    _aten.glu_backward.default: _glu_backward,
    _aten.gelu.default: _gelu,
    _aten.gelu_backward.default: _gelu_backward,
    _aten.softplus.default: _softplus,
    _aten.softplus_backward.default: _softplus_backward,
    _aten.mish.default: _mish,
    _aten.mish_backward.default: _mish_backward,
    _aten.elu.default: _elu,
    _aten.celu.default: _celu,
    _aten.selu.default: _selu,
    _aten.elu_backward.default: _elu_backward,
    _aten.logit.default: _logit,
    _aten.logit_backward.default: _logit_backward,
    _aten._prelu_kernel.default: _prelu,
    _aten._prelu_kernel_backward.default: _prelu_backward,
}
