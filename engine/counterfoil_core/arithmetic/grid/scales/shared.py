"""What the scale rules of several families are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

Arguments = Mapping[str, Any]
"""Arguments of an operator by name, with defaults."""
Outputs = Sequence[Tensor | None]
"""What it made of them, before rounding."""
Scale = Tensor | float | None
"""S of an output: a number, or a zero-dimensional tensor; None for an output without floating-point values."""
Rule = Callable[[Arguments, Outputs], Sequence[Scale]]
"""Gives the scale of each output."""

SQUARED_ERROR = 2.0**-12
"""Above every gamma_n that fits a profile, so that an error that is squared is below it times the squared size."""


def vector_norm(x: Tensor, dims: Sequence[int] | int, order: float = 2.0) -> Tensor:
    """Return float64 norms over some axes."""
    result: Tensor = torch.linalg.vector_norm(x, ord=order, dim=dims, dtype=torch.float64)
    return result


def root(square: Tensor | float) -> Tensor | float:
    """Return the square root."""
    return square.sqrt() if isinstance(square, Tensor) else math.sqrt(square)


def floating(arguments: Arguments) -> list[Tensor]:
    """Return the floating-point tensors among arguments; those within lists are left out."""
    return [value for value in arguments.values() if isinstance(value, Tensor) and value.is_floating_point()]


def add(*parts: Tensor | float) -> Tensor | float:
    """Return the sum of numbers and zero-dimensional tensors, from the left."""
    total: Tensor | float = 0.0
    for part in parts:
        total = total + part
    return total
