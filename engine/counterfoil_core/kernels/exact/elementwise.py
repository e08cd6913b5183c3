"""Elementwise operations in float32: each is one correctly rounded IEEE 754 operation of two tensors.

Numbers become tensors of the same device, rounded to float32 once: a library may fold a number into another operation,
as CUDA does when it multiplies by the reciprocal of a divisor. Nothing here is fused: each result is stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.kernels import buffers
from counterfoil_core.kernels.devicenumber import constant_on

_FLOAT64_BITS = 53


def number(value: int | float, device: torch.device) -> Tensor:
    """Return a number of a program as a tensor of no axes: the nearest float32 value, ties to even, with its sign.

    An integer that float64 cannot hold is rounded to odd first: the library rounds such ones twice.
    """
    if isinstance(value, int) and value.bit_length() > _FLOAT64_BITS:
        excess = value.bit_length() - _FLOAT64_BITS
        magnitude = abs(value) >> excess
        lost = magnitude << excess != abs(value)
        value = math.copysign(math.ldexp(magnitude | lost, excess), value)
    return constant_on(value, torch.float32, device)


def _pair(x: Tensor | float, y: Tensor | float) -> tuple[Tensor, Tensor]:
    device = next((operand.device for operand in (x, y) if isinstance(operand, Tensor)), torch.device("cpu"))
    first, second = (operand if isinstance(operand, Tensor) else number(operand, device) for operand in (x, y))
    assert first.dtype == second.dtype == torch.float32, "values of the exact profiles are float32"
    return first, second


def _computed(function: Callable[..., Tensor], x: Tensor | float, y: Tensor | float) -> Tensor:
    first, second = _pair(x, y)
    # Otherwise the library chooses strides like the operands'.
    if first.device.type == "cpu" and first.is_contiguous() and second.is_contiguous():
        shape = first.shape
        if second.shape != shape:
            shape = torch.Size(np.broadcast_shapes(shape, second.shape))
        return function(first, second, out=buffers.empty(shape))
    return function(first, second)


def add(x: Tensor | float, y: Tensor | float) -> Tensor:
    """Return x + y, float32, broadcast; an exact sum of zero is +0 unless both are -0."""
    return _computed(torch.add, x, y)


def subtract(x: Tensor | float, y: Tensor | float) -> Tensor:
    """Return x - y, float32, broadcast."""
    return _computed(torch.sub, x, y)


def multiply(x: Tensor | float, y: Tensor | float) -> Tensor:
    """Return x * y, float32, broadcast."""
    return _computed(torch.mul, x, y)


def divide(x: Tensor | float, y: Tensor | float) -> Tensor:
    """Return x / y, float32, broadcast; the reciprocal is 1 divided by it."""
    return _computed(torch.div, x, y)
