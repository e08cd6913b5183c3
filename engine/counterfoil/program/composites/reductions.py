"""Means, variances, norms and products over axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil.program.composites.terms import to_float32

_aten = torch.ops.aten
Axes = int | Sequence[int] | None


def reduced_axes_of(x: Tensor, dim: Axes) -> list[int]:
    """Return the axes that a reduction goes over, none negative: all of them where none is named."""
    if dim is None or (not isinstance(dim, int) and not len(dim)):
        return list(range(x.dim()))
    given = [dim] if isinstance(dim, int) else dim
    return sorted(axis % x.dim() for axis in given) if x.dim() else []


def length_of(x: Tensor, axes: Sequence[int]) -> int:
    """Return the number of elements that are reduced to one."""
    return math.prod(x.shape[axis] for axis in axes)


def sum_over(x: Tensor, axes: Sequence[int], *, keepdim: bool = False) -> Tensor:
    """Return the sum over axes; of none, which torch would take for all, the tensor.

    Args:
        x: A tensor.
        axes: The axes, from 0 or from -1 backwards.
        keepdim: Whether the axes stay, with length 1.
    """
    return x.sum(list(axes), keepdim=keepdim) if axes else x


def mean_over(x: Tensor, axes: Sequence[int], *, keepdim: bool = False) -> Tensor:
    """Return the sum over axes divided by their length.

    Args:
        x: A tensor.
        axes: The axes, from 0 or from -1 backwards.
        keepdim: Whether the axes stay, with length 1.
    """
    return sum_over(x, axes, keepdim=keepdim) / length_of(x, axes)


def _sum(x: Tensor, dim: Axes = None, keepdim: bool = False, *, dtype: torch.dtype | None = None) -> Any:
    if dtype is None or not dtype.is_floating_point or x.is_floating_point():
        return NotImplemented
    return _aten.sum.dim_IntList(to_float32(x), dim, keepdim)


def _cumsum(x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Any:
    if dtype is None or not dtype.is_floating_point or x.is_floating_point():
        return NotImplemented
    return _aten.cumsum.default(to_float32(x), dim)


def _mean(x: Tensor, dim: Axes = None, keepdim: bool = False, *, dtype: torch.dtype | None = None) -> Tensor:
    return mean_over(to_float32(x), reduced_axes_of(x, dim), keepdim=keepdim)


# Products.


def _prod(x: Tensor, *, dtype: torch.dtype | None = None) -> Any:
    if not (x.is_floating_point() or (dtype is not None and dtype.is_floating_point)):
        return NotImplemented
    return _last_product(to_float32(x).reshape(-1))


def _prod_of_axis(x: Tensor, dim: int, keepdim: bool = False, *, dtype: torch.dtype | None = None) -> Any:
    if not (x.is_floating_point() or (dtype is not None and dtype.is_floating_point)):
        return NotImplemented
    product = _last_product(to_float32(x).movedim(dim, -1)) if x.dim() else to_float32(x)
    return product.unsqueeze(dim) if keepdim and x.dim() else product


def _last_product(x: Tensor) -> Tensor:
    """The product along the last axis: of neighbours, then of their products; an odd one is carried on."""
    if not x.shape[-1]:
        return x.new_ones(x.shape[:-1])
    while x.shape[-1] > 1:
        even = x.shape[-1] // 2 * 2
        pairs = x[..., 0:even:2] * x[..., 1:even:2]
        x = torch.cat((pairs, x[..., even:]), -1) if even < x.shape[-1] else pairs
    return x.squeeze(-1)


# Variances.


def squared_deviations(x: Tensor, axes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return the mean, its axes kept, and the sum of the squares of what is left of it, likewise."""
    mean = mean_over(x, axes, keepdim=True)
    deviation = x - mean
    return mean, sum_over(deviation * deviation, axes, keepdim=True)


def _variance(x: Tensor, dim: Axes, correction: float | None, keepdim: bool) -> tuple[Tensor, Tensor]:
    axes = reduced_axes_of(x, dim)
    mean, squares = squared_deviations(x, axes)
    variance = squares / max(length_of(x, axes) - (1 if correction is None else correction), 0)
    if keepdim or not axes:
        return variance, mean
    return variance.squeeze(axes), mean.squeeze(axes)


def _var(x: Tensor, dim: Axes = None, *, correction: float | None = None, keepdim: bool = False) -> Tensor:
    return _variance(x, dim, correction, keepdim)[0]


def _var_mean(
    x: Tensor, dim: Axes = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    return _variance(x, dim, correction, keepdim)


def _std(x: Tensor, dim: Axes = None, *, correction: float | None = None, keepdim: bool = False) -> Tensor:
    return torch.sqrt(_variance(x, dim, correction, keepdim)[0])


# Norms.


def _norm(x: Tensor, order: float, dim: Axes, keepdim: bool) -> Tensor:
    axes = reduced_axes_of(x, dim)
    if order == 2:
        return torch.sqrt(sum_over(x * x, axes, keepdim=keepdim))
    if order == 0:
        return sum_over((x != 0).to(torch.float32), axes, keepdim=keepdim)
    size = x.abs()
    if math.isinf(order):
        select = torch.amax if order > 0 else torch.amin
        return select(size, axes, keepdim=keepdim) if axes else size
    if order == 1:
        return sum_over(size, axes, keepdim=keepdim)
    return torch.pow(sum_over(torch.pow(size, order), axes, keepdim=keepdim), 1.0 / order)


def _vector_norm(
    x: Tensor, ord: float = 2, dim: Axes = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
    return _norm(x, ord, dim, keepdim)


def _norm_of_axes(x: Tensor, p: float | None, dim: Axes, keepdim: bool = False) -> Tensor:
    return _norm(x, 2 if p is None else p, dim, keepdim)


def _norm_of_all(x: Tensor, p: float = 2) -> Tensor:
    return _norm(x, p, None, False)


TABLE: Mapping[Any, Callable[..., Any]] = {
    _aten.sum.default: _sum,
    _aten.sum.dim_IntList: _sum,
    _aten.cumsum.default: _cumsum,
    _aten.mean.default: _mean,
    _aten.mean.dim: _mean,
    _aten.prod.default: _prod,
    _aten.prod.dim_int: _prod_of_axis,
    _aten.var.correction: _var,
    _aten.var_mean.correction: _var_mean,
    _aten.std.correction: _std,
    _aten.linalg_vector_norm.default: _vector_norm,
    _aten.norm.ScalarOpt_dim: _norm_of_axes,
    _aten.norm.Scalar: _norm_of_all,
}
