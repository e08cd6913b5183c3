"""Operators that torch's back ends define differently, as operators that all of them define alike.

Capture puts these in their place, so no program holds them and the allow-list lacks them:

* ``hardsigmoid`` and ``hardswish`` divide by 6 on the CPU. On CUDA they multiply by ``1.0f / 6.0f``, the float32
  number in float64 as well, which is 2^-25 away (``ActivationHardsigmoidKernel.cu``, ``ActivationHardswishKernel.cu``).
  Hardsigmoid's gradient multiplies by that number on both, so it is not the gradient of what the CPU computes.
* ``log_sigmoid_forward`` keeps a buffer on the CPU for its gradient. On CUDA it gives an empty one, and its gradient
  starts from the input, which is not what is left of the buffer on the grid (``ActivationLogSigmoidKernel.cu``).
* ``smooth_l1_loss_backward`` with beta 0: at equal values the CPU gives -1 times the gradient, CUDA not a number
  (``PointwiseOpsKernel.cu``); by its definition, which is l1_loss's then, it is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

_aten = torch.ops.aten


def _hardsigmoid(x: Tensor) -> Tensor:
    return torch.clamp(x + 3.0, 0.0, 6.0) / 6.0


def _hardsigmoid_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    return torch.where((x > -3.0) & (x < 3.0), grad_output / 6.0, 0.0)


def _hardswish(x: Tensor) -> Tensor:
    return x * torch.clamp(x + 3.0, 0.0, 6.0) / 6.0


def _hardswish_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    inside = grad_output * (x / 3.0 + 0.5)
    return torch.where(x <= -3.0, 0.0, torch.where(x < 3.0, inside, grad_output))


def _log_sigmoid_forward(x: Tensor) -> tuple[Tensor, Tensor]:
    small = torch.exp(-x.abs())
    return torch.clamp_max(x, 0.0) - torch.log1p(small), small


def _log_sigmoid_backward(grad_output: Tensor, x: Tensor, small: Tensor) -> Tensor:
    # The sigmoid of -x, from exp(-|x|): no cancellation on either side.
    return grad_output * torch.where(x < 0, 1.0, small) / (1.0 + small)


def _smooth_l1_loss_backward(
    grad_output: Tensor, x: Tensor, target: Tensor, reduction: int, beta: float
) -> Tensor | Any:
    if beta:
        return NotImplemented
    slope = torch.sign(x - target) * grad_output
    return slope / x.numel() if reduction == 1 else slope


PORTABLE: Mapping[Any, Callable[..., Any]] = {
    _aten.hardsigmoid.default: _hardsigmoid,
    _aten.hardsigmoid_backward.default: _hardsigmoid_backward,
    _aten.hardswish.default: _hardswish,
    _aten.hardswish_backward.default: _hardswish_backward,
    _aten.log_sigmoid_forward.default: _log_sigmoid_forward,
    _aten.log_sigmoid_backward.default: _log_sigmoid_backward,
    _aten.smooth_l1_loss_backward.default: _smooth_l1_loss_backward,
}
"""How to compute each; ``NotImplemented`` where the operator itself will do."""
