"""Batch, layer and group normalisation, and their gradients.

The gradients name the deviations and the normalised elements as the forward passes do, so that a program, in which
equal operations are one, computes them once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil.program.composites.reductions import mean_over, sum_over

_aten = torch.ops.aten
Masked = tuple[Tensor | None, ...]


def _scaled(h: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Multiply h by weight and add bias, where they are given; both of a shape that fits."""
    if weight is not None:
        h = h * weight
    return h if bias is None else h + bias


# Batch normalisation: channels are the second axis.


def _over_channels(x: Tensor, values: Tensor) -> Tensor:
    return values.view([1, -1, *[1] * (x.dim() - 2)])


def _but_channels(x: Tensor) -> list[int]:
    return [0, *range(2, x.dim())]


def _shaped(x: Tensor, values: Tensor | None) -> Tensor | None:
    return None if values is None else _over_channels(x, values)


def _statistics(x: Tensor, epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """Mean and reciprocal deviation of each channel, and the sum of squared deviations."""
    axes = _but_channels(x)
    mean = mean_over(x, axes)
    deviation = x - _over_channels(x, mean)
    squares = sum_over(deviation * deviation, axes)
    return mean, torch.rsqrt(squares / (x.numel() // x.shape[1]) + epsilon), squares


def _normalised(x: Tensor, mean: Tensor, rstd: Tensor) -> Tensor:
    return (x - _over_channels(x, mean)) * _over_channels(x, rstd)


def _batch_norm(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, training: bool, momentum: float, epsilon: float
) -> tuple[Tensor, Tensor, Tensor]:
    mean, rstd, _ = _statistics(x, epsilon)
    out = _scaled(_normalised(x, mean, rstd), _shaped(x, weight), _shaped(x, bias))
    return out, mean, rstd


def _batch_norm_fixed(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    epsilon: float,
) -> tuple[Tensor, Tensor, Tensor]:
    h = _normalised(x, running_mean, torch.rsqrt(running_var + epsilon))
    return _scaled(h, _shaped(x, weight), _shaped(x, bias)), x.new_zeros([0]), x.new_zeros([0])


def _batch_norm_running(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    training: bool,
    momentum: float,
    epsilon: float,
) -> tuple[Tensor, ...]:
    if not training:
        fixed = _batch_norm_fixed(x, weight, bias, running_mean, running_var, momentum, epsilon)
        return (*fixed, running_mean, running_var)
    mean, rstd, squares = _statistics(x, epsilon)
    out = _scaled(_normalised(x, mean, rstd), _shaped(x, weight), _shaped(x, bias))
    unbiased = squares / (x.numel() // x.shape[1] - 1)
    new_mean = running_mean + (mean - running_mean) * momentum
    new_var = running_var + (unbiased - running_var) * momentum
    return out, mean, rstd, new_mean, new_var


def _native_batch_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    epsilon: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """The form that changes running statistics without saying so."""
    if running_mean is None or running_var is None:
        return _batch_norm(x, weight, bias, training, momentum, epsilon)
    out, mean, rstd, new_mean, new_var = _batch_norm_running(
        x, weight, bias, running_mean, running_var, training, momentum, epsilon
    )
    if training:
        running_mean.copy_(new_mean)
        running_var.copy_(new_var)
    return out, mean, rstd


def _batch_norm_backward(
    g: Tensor,
    x: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    mean: Tensor | None,
    rstd: Tensor | None,
    training: bool,
    epsilon: float,
    mask: Sequence[bool],
) -> Masked:
    """The factor of a channel is left out of its sums, which are those of the weight's and the bias's gradient."""
    axes = _but_channels(x)
    if not training:
        assert running_mean is not None
        assert running_var is not None
        mean, rstd = running_mean, torch.rsqrt(running_var + epsilon)
    assert mean is not None
    assert rstd is not None
    needs_sums = training and mask[0]
    h = _normalised(x, mean, rstd) if needs_sums or mask[1] else None
    of_weight = sum_over(g * h, axes) if h is not None else None
    of_bias = sum_over(g, axes) if needs_sums or mask[2] else None
    of_input = None
    if mask[0]:
        factor = _over_channels(x, rstd if weight is None else rstd * weight)
        if training:
            assert h is not None
            assert of_weight is not None
            assert of_bias is not None
            count = x.numel() // x.shape[1]
            common = h * _over_channels(x, of_weight / count) + _over_channels(x, of_bias / count)
            of_input = (g - common) * factor
        else:
            of_input = g * factor
    return of_input, of_weight if mask[1] else None, of_bias if mask[2] else None


# Layer normalisation: over the last axes.


def _layer_norm(
    x: Tensor, shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, epsilon: float
) -> tuple[Tensor, Tensor, Tensor]:
    axes = list(range(x.dim() - len(shape), x.dim()))
    mean = mean_over(x, axes, keepdim=True)
    deviation = x - mean
    rstd = torch.rsqrt(mean_over(deviation * deviation, axes, keepdim=True) + epsilon)
    # Laid out as the library does, since the step was captured with that.
    return _scaled(deviation * rstd, weight, bias).contiguous(), mean, rstd


def _layer_norm_backward(
    g: Tensor,
    x: Tensor,
    shape: Sequence[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mask: Sequence[bool],
) -> Masked:
    first = x.dim() - len(shape)
    leading, axes = list(range(first)), list(range(first, x.dim()))
    h = (x - mean) * rstd
    of_input = None
    if mask[0]:
        k = g if weight is None else g * weight
        common = h * mean_over(k * h, axes, keepdim=True) + mean_over(k, axes, keepdim=True)
        of_input = ((k - common) * rstd).contiguous()
    of_weight = sum_over(g * h, leading) if mask[1] else None
    of_bias = sum_over(g, leading) if mask[2] else None
    return of_input, of_weight, of_bias


# Group normalisation: over some channels of a sample.


def _group_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    samples: int,
    channels: int,
    positions: int,
    groups: int,
    epsilon: float,
) -> tuple[Tensor, Tensor, Tensor]:
    grouped = x.reshape(samples, groups, channels // groups * positions)
    mean = mean_over(grouped, [2])
    deviation = grouped - mean.unsqueeze(-1)
    rstd = torch.rsqrt(mean_over(deviation * deviation, [2]) + epsilon)
    h = (deviation * rstd.unsqueeze(-1)).view(samples, channels, positions)
    shaped = [None if values is None else values.view(1, -1, 1) for values in (weight, bias)]
    return _scaled(h, *shaped).view(x.shape).contiguous(), mean, rstd


def _group_norm_backward(
    g: Tensor,
    x: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    samples: int,
    channels: int,
    positions: int,
    groups: int,
    mask: Sequence[bool],
) -> Masked:
    """Sums over a channel's positions first, of which all three gradients are made."""
    grouped = x.reshape(samples, groups, channels // groups * positions)
    h = ((grouped - mean.unsqueeze(-1)) * rstd.unsqueeze(-1)).view(samples, channels, positions)
    g = g.reshape(samples, channels, positions)
    of_products, of_gradients = sum_over(g * h, [2]), sum_over(g, [2])
    of_input = None
    if mask[0]:
        per_group = [samples, groups, channels // groups]
        factor = None if weight is None else weight.view(1, -1)
        count = channels // groups * positions
        means = [
            (sum_over((sums if factor is None else sums * factor).view(per_group), [2]) / count).unsqueeze(-1)
            for sums in (of_products, of_gradients)
        ]
        over = [samples, groups, channels // groups * positions]
        k = (g if weight is None else g * weight.view(1, -1, 1)).view(over)
        of_input = ((k - (h.view(over) * means[0] + means[1])) * rstd.unsqueeze(-1)).view(x.shape).contiguous()
    of_weight = sum_over(of_products, [0]) if mask[1] else None
    return of_input, of_weight, sum_over(of_gradients, [0]) if mask[2] else None


TABLE: Mapping[Any, Callable[..., Any]] = {
    _aten._native_batch_norm_legit.no_stats: _batch_norm,
    _aten._native_batch_norm_legit_functional.default: _batch_norm_running,
    _aten._native_batch_norm_legit_no_training.default: _batch_norm_fixed,
    _aten.native_batch_norm_backward.default: _batch_norm_backward,
    _aten.native_layer_norm.default: _layer_norm,
    _aten.native_layer_norm_backward.default: _layer_norm_backward,
    _aten.native_group_norm.default: _group_norm,
    _aten.native_group_norm_backward.default: _group_norm_backward,
}
MUTATING: Mapping[Any, Callable[..., Any]] = {_aten.native_batch_norm.default: _native_batch_norm}
