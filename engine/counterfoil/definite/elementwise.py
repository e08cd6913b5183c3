"""Elementwise operations in float32: each is one correctly rounded IEEE 754 operation of two tensors.

Numbers become tensors of the same device, rounded to float32 once: a library may fold a number into another operation,
as CUDA does when it multiplies by the reciprocal of a divisor. Nothing here is fused: each result is stored.
"""

from __future__ import annotations

import torch
from torch import Tensor


def _pair(x: Tensor | float, y: Tensor | float) -> tuple[Tensor, Tensor]:
    device = next((operand.device for operand in (x, y) if isinstance(operand, Tensor)), torch.device("cpu"))
    first, second = (
        operand if isinstance(operand, Tensor) else torch.full((), operand, dtype=torch.float32, device=device)
        for operand in (x, y)
    )
    assert first.dtype == second.dtype == torch.float32, "values of the exact profiles are float32"
    return first, second


def add(x: Tensor | float, y: Tensor | float) -> Tensor:
    """Return x + y, float32, broadcast; an exact sum of zero is +0 unless both are -0."""
    return torch.add(*_pair(x, y))


def subtract(x: Tensor | float, y: Tensor | float) -> Tensor:
    """Return x - y, float32, broadcast."""
    return torch.sub(*_pair(x, y))


def multiply(x: Tensor | float, y: Tensor | float) -> Tensor:
    """Return x * y, float32, broadcast."""
    return torch.mul(*_pair(x, y))


def divide(x: Tensor | float, y: Tensor | float) -> Tensor:
    """Return x / y, float32, broadcast; the reciprocal is 1 divided by it."""
    return torch.div(*_pair(x, y))
