"""Sums and products of a few terms, quotients and powers.

``add``, ``sub`` and ``rsub`` with another alpha than 1 or -1, ``addcmul``, ``addcdiv``, ``lerp``; operands of
quotients and functions that are integers; powers with the exponents for which products and roots do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

_aten = torch.ops.aten


def is_float(operand: Any) -> bool:
    """Whether an operand makes a result floating-point."""
    return operand.is_floating_point() if isinstance(operand, Tensor) else isinstance(operand, float)


def to_float32(x: Tensor) -> Tensor:
    """Return a tensor as float32; integers go to the nearest number."""
    return x if x.is_floating_point() else x.to(torch.float32)


def times(operand: Any, factor: float) -> Any:
    """Multiply by a number, unless it is 1. Two numbers are multiplied in float64."""
    return operand if factor == 1 else operand * factor


def _add(x: Tensor, other: Tensor | float, alpha: float = 1) -> Any:
    if alpha in (1, -1) or not (is_float(x) or is_float(other)):
        return NotImplemented
    return x + times(other, alpha)


def _subtract(x: Tensor, other: Tensor | float, alpha: float = 1) -> Any:
    if alpha in (1, -1) or not (is_float(x) or is_float(other)):
        return NotImplemented
    return x - times(other, alpha)


def _subtract_from(x: Tensor, other: Tensor | float, alpha: float = 1) -> Any:
    if alpha in (1, -1) or not (is_float(x) or is_float(other)):
        return NotImplemented
    return other - times(x, alpha)


def _addcmul(x: Tensor, first: Tensor, second: Tensor, *, value: float = 1) -> Any:
    if not (is_float(x) or is_float(first) or is_float(second)):
        return NotImplemented
    return x + times(first, value) * second


def _addcdiv(x: Tensor, first: Tensor, second: Tensor, *, value: float = 1) -> Tensor:
    quotient: Tensor = times(first, value) / second
    return x + quotient


def _lerp(x: Tensor, end: Tensor, weight: Tensor | float) -> Tensor:
    return x + (end - x) * weight


def _divide(x: Tensor, other: Tensor | float) -> Any:
    operands = [operand for operand in (x, other) if isinstance(operand, Tensor)]
    if all(is_float(operand) for operand in operands):
        return NotImplemented
    return to_float32(x) / (to_float32(other) if isinstance(other, Tensor) else other)


def _power(x: Tensor, exponent: float) -> Any:
    if not is_float(x):
        return torch.pow(to_float32(x), exponent) if isinstance(exponent, float) else NotImplemented
    if exponent == 2:
        return x * x
    if exponent == 3:
        return (x * x) * x
    if exponent == 0.5:
        return torch.sqrt(x)
    if exponent == -0.5:
        return torch.rsqrt(x)
    return torch.reciprocal(x) if exponent == -1 else NotImplemented


def _of_floats(function: Callable[..., Tensor]) -> Callable[..., Any]:
    """A function of two tensors or numbers of which some is floating and some a tensor of integers."""

    def decomposed(x: Tensor | float, other: Tensor | float) -> Any:
        tensors = [operand for operand in (x, other) if isinstance(operand, Tensor)]
        if all(is_float(operand) for operand in tensors) or not any(is_float(operand) for operand in (x, other)):
            return NotImplemented
        return function(*(to_float32(operand) if isinstance(operand, Tensor) else operand for operand in (x, other)))

    return decomposed


TABLE: Mapping[Any, Callable[..., Any]] = {
    _aten.add.Tensor: _add,
    _aten.add.Scalar: _add,
    _aten.sub.Tensor: _subtract,
    _aten.sub.Scalar: _subtract,
    _aten.rsub.Tensor: _subtract_from,
    _aten.rsub.Scalar: _subtract_from,
    _aten.addcmul.default: _addcmul,
    _aten.addcdiv.default: _addcdiv,
    _aten.lerp.Tensor: _lerp,
    _aten.lerp.Scalar: _lerp,
    _aten.div.Tensor: _divide,
    _aten.div.Scalar: _divide,
    _aten.pow.Tensor_Scalar: _power,
    _aten.pow.Tensor_Tensor: _of_floats(torch.pow),
    _aten.pow.Scalar: _of_floats(torch.pow),
    _aten.atan2.default: _of_floats(torch.atan2),
    _aten.xlogy.Tensor: _of_floats(torch.xlogy),
}
