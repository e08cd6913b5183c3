"""Running products, products of a few operands, and other operators of few terms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil.program.remedies import NoFormError

_aten = torch.ops.aten


def _cumprod(x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    """Each element times what lies 1, 2, 4, ... places before it: correctly rounded products, in one fixed order."""
    if dtype is not None:
        x = x.to(dtype)
    elif not x.is_floating_point():
        x = x.to(torch.int64)
    if not x.dim():
        return x.clone()
    length, step = x.shape[dim], 1
    if length < 2:
        return x.clone()
    while step < length:
        later = x.narrow(dim, step, length - step) * x.narrow(dim, 0, length - step)
        x = torch.cat((x.narrow(dim, 0, step), later), dim)
        step *= 2
    return x


def _vdot(x: Tensor, y: Tensor) -> Tensor:
    return torch.dot(x, y)


def _trace(x: Tensor) -> Tensor:
    return x.diagonal().sum()


def _cross(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    def turned(z: Tensor, places: int) -> Tensor:
        return torch.roll(z, places, dim)

    return turned(x, -1) * turned(y, 1) - turned(x, 1) * turned(y, -1)


def _hypot(x: Tensor, y: Tensor) -> Tensor:
    return torch.sqrt(x * x + y * y)


def _scaled(x: Any, factor: float) -> Any:
    return x if factor == 1 else x * factor


def _addr(x: Tensor, one: Tensor, other: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    product = _scaled(one.unsqueeze(1) * other, alpha)
    return product if beta == 0 else _scaled(x, beta) + product  # type: ignore[no-any-return]


def _addbmm(x: Tensor, one: Tensor, other: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    rows = one.transpose(0, 1).reshape(one.shape[1], -1)
    return torch.addmm(x, rows, other.reshape(-1, other.shape[2]), beta=beta, alpha=alpha)


def _trilinear(
    x: Tensor,
    y: Tensor,
    z: Tensor,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Tensor:
    """The sum of products of three tensors that lack some axes each."""
    axes = range(x.dim() + len(expand1))
    operands = [
        (tensor, [axis for axis in axes if axis not in lacking])
        for tensor, lacking in ((x, expand1), (y, expand2), (z, expand3))
    ]
    kept = [axis for axis in axes if axis not in sumdim]
    return torch.einsum(*(part for operand in operands for part in operand), kept)


def _aminmax(x: Tensor, *, dim: int | None = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    axes = list(range(x.dim())) if dim is None else [dim]
    return torch.amin(x, axes, keepdim), torch.amax(x, axes, keepdim)


def _nansum(
    x: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
    numbers = torch.where(torch.isnan(x), 0.0, x)
    if dim is None:
        return numbers.sum(dtype=dtype)
    return numbers.sum([dim] if isinstance(dim, int) else list(dim), keepdim, dtype=dtype)


# The logarithm of the gamma function and its derivative, of positive numbers: Stirling's series from 4 on.

_SHIFT = 4
_LOG = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)
"""B(2k) / (2k (2k - 1)): what is left out is below 5e-10."""
_SLOPE = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132)
"""B(2k) / 2k: what is left out is below 2e-9."""


_CURVE = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66)
"""B(2k): what is left out is below 4e-9."""


def _series(coefficients: Sequence[float], square: Tensor) -> Tensor:
    """The polynomial with these coefficients, the constant first, by Horner's rule."""
    total = square * coefficients[-1]
    for coefficient in reversed(coefficients[1:-1]):
        total = (total + coefficient) * square
    return total + coefficients[0]


def _lgamma(x: Tensor) -> Tensor:
    small = x < _SHIFT
    z = torch.where(small, x + _SHIFT, x)
    factors = torch.where(small, x * (x + 1.0) * ((x + 2.0) * (x + 3.0)), 1.0)
    inverse = torch.reciprocal(z)
    stirling = (z - 0.5) * torch.log(z) - z + 0.5 * math.log(2 * math.pi)
    return stirling + _series(_LOG, inverse * inverse) * inverse - torch.log(factors)


def _digamma(x: Tensor) -> Tensor:
    small = x < _SHIFT
    z = torch.where(small, x + _SHIFT, x)
    square = torch.reciprocal(z * z)
    slope = torch.log(z) - torch.reciprocal(z + z) - _series(_SLOPE, square) * square
    before = sum(torch.reciprocal(x + float(places)) for places in range(1, _SHIFT))
    return torch.where(small, slope - (before + torch.reciprocal(x)), slope)


def _polygamma(order: int, x: Tensor) -> Tensor:
    """The derivative of the digamma function."""
    if order == 0:
        return _digamma(x)
    if order != 1:
        raise NoFormError(
            f"needs the polygamma function of order {order}; there are those of orders 0 and 1",
            remedy="Use a distribution whose density has a simpler derivative.",
        )
    small = x < _SHIFT
    inverse = torch.reciprocal(torch.where(small, x + _SHIFT, x))
    square = inverse * inverse
    slope = inverse + square * 0.5 + _series(_CURVE, square) * (square * inverse)
    parts = [torch.reciprocal(x + float(places) if places else x) for places in range(_SHIFT)]
    return torch.where(small, slope + sum(part * part for part in parts), slope)


# Places that a maximum was taken from.


def _unpool(x: Tensor, indices: Tensor, output_size: Sequence[int], *_: Any) -> Tensor:
    """Each element to its place in a plane, or volume, of zeros."""
    lead = x.shape[: x.dim() - len(output_size)]
    planes = x.new_zeros((*lead, math.prod(output_size)))
    placed = torch.scatter(planes, -1, indices.reshape(*lead, -1), x.reshape(*lead, -1))
    return placed.view(*lead, *output_size)


# Shrinking.


def _hardshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    return torch.where((x >= -lambd) & (x <= lambd), 0.0, x)


def _hardshrink_backward(g: Tensor, x: Tensor, lambd: float) -> Tensor:
    return torch.where((x >= -lambd) & (x <= lambd), 0.0, g)


def _softshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    return torch.where(x > lambd, x - lambd, torch.where(x < -lambd, x + lambd, 0.0))


TABLE: Mapping[Any, Callable[..., Any]] = {
    _aten.cumprod.default: _cumprod,
    _aten.vdot.default: _vdot,
    _aten.trace.default: _trace,
    _aten.linalg_cross.default: _cross,
    _aten.hypot.default: _hypot,
    _aten.addr.default: _addr,
    _aten.addbmm.default: _addbmm,
    _aten._trilinear.default: _trilinear,
    _aten.aminmax.default: _aminmax,
    _aten.nansum.default: _nansum,
    _aten.lgamma.default: _lgamma,
    _aten.digamma.default: _digamma,
    _aten.polygamma.default: _polygamma,
    _aten.max_unpool2d.default: _unpool,
    _aten.max_unpool3d.default: _unpool,
    _aten.hardshrink.default: _hardshrink,
    _aten.hardshrink_backward.default: _hardshrink_backward,
    _aten.softshrink.default: _softshrink,
    _aten.softshrink_backward.default: _hardshrink_backward,
}
WRITING: Mapping[Any, Callable[..., Any]] = {_aten.zero.default: torch.zeros_like}
"""What a write becomes when mutations have been removed."""
