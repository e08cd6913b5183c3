"""Softmax and its logarithm, their gradients, and sums of exponentials.

The largest element is taken off first, so that no exponential is beyond 1, and one of them is 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil.program.composites.reductions import reduced_axes_of, sum_over

_aten = torch.ops.aten


def _below_largest(x: Tensor, dim: int) -> Tensor:
    return x - torch.amax(x, reduced_axes_of(x, dim), keepdim=True)


def _softmax(x: Tensor, dim: int, half_to_float: bool = False) -> Tensor:
    exponentials = torch.exp(_below_largest(x, dim))
    return exponentials / sum_over(exponentials, reduced_axes_of(x, dim), keepdim=True)


def _safe_softmax(x: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    """A row that is masked as a whole, so -infinity everywhere, gives zeros."""
    axes = reduced_axes_of(x, dim)
    largest = torch.amax(x, axes, keepdim=True)
    exponentials = torch.exp(x - torch.where(largest == -math.inf, 0.0, largest))
    total = sum_over(exponentials, axes, keepdim=True)
    return exponentials / torch.where(total == 0.0, 1.0, total)


def _softmax_backward(g: Tensor, y: Tensor, dim: int, input_dtype: torch.dtype) -> Tensor:
    return (g - sum_over(g * y, reduced_axes_of(y, dim), keepdim=True)) * y


def _log_softmax(x: Tensor, dim: int, half_to_float: bool = False) -> Tensor:
    below = _below_largest(x, dim)
    return below - torch.log(sum_over(torch.exp(below), reduced_axes_of(x, dim), keepdim=True))


def _log_softmax_backward(g: Tensor, y: Tensor, dim: int, input_dtype: torch.dtype) -> Tensor:
    return g - torch.exp(y) * sum_over(g, reduced_axes_of(y, dim), keepdim=True)


def _logsumexp(x: Tensor, dim: Sequence[int], keepdim: bool = False) -> Tensor:
    axes = reduced_axes_of(x, dim)
    largest = torch.amax(x, axes, keepdim=True) if axes else x
    shift = torch.where(torch.isinf(largest), 0.0, largest)
    result = torch.log(sum_over(torch.exp(x - shift), axes, keepdim=True)) + shift
    return result if keepdim or not axes else result.squeeze(axes)


def _logaddexp(x: Tensor, other: Tensor) -> Tensor:
    larger, smaller = torch.maximum(x, other), torch.minimum(x, other)
    # The difference of two equal infinities is no number; any will do there.
    distance = torch.where(torch.isinf(larger), 0.0, smaller - larger)
    return larger + torch.log1p(torch.exp(distance))


TABLE: Mapping[Any, Callable[..., Any]] = {
    _aten._softmax.default: _softmax,
    _aten._safe_softmax.default: _safe_softmax,
    _aten._softmax_backward_data.default: _softmax_backward,
    _aten._log_softmax.default: _log_softmax,
    _aten._log_softmax_backward_data.default: _log_softmax_backward,
    _aten.logsumexp.default: _logsumexp,
    _aten.logaddexp.default: _logaddexp,
}
