"""Losses: the terms one by one, their sum, and its division by the count or by the sum of the weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any

import torch
from torch import Tensor

_aten = torch.ops.aten


class Reduction(IntEnum):
    """What becomes of the terms, as ATen numbers it."""

    NONE = 0
    MEAN = 1
    SUM = 2


def _reduced(terms: Tensor, reduction: int) -> Tensor:
    if reduction == Reduction.NONE:
        return terms
    total = terms.sum()
    return total / terms.numel() if reduction == Reduction.MEAN else total


def _per_term(g: Tensor, reduction: int, count: int) -> Tensor:
    """The gradient that each term gets."""
    return g / count if reduction == Reduction.MEAN else g


def _squared(x: Tensor, target: Tensor, reduction: int = Reduction.MEAN) -> Tensor:
    difference = x - target
    return _reduced(difference * difference, reduction)


def _squared_backward(g: Tensor, x: Tensor, target: Tensor, reduction: int) -> Tensor:
    difference = x - target
    return difference * (_per_term(g, reduction, difference.numel()) * 2.0)


def _smooth(x: Tensor, target: Tensor, reduction: int = Reduction.MEAN, beta: float = 1.0) -> Tensor:
    size = (x - target).abs()
    if not beta:
        return _reduced(size, reduction)
    near = (size * size) * (0.5 / beta)
    return _reduced(torch.where(size < beta, near, size - 0.5 * beta), reduction)


def _smooth_backward(g: Tensor, x: Tensor, target: Tensor, reduction: int, beta: float) -> Tensor:
    difference = x - target
    slope = torch.sign(difference)
    if beta:
        slope = torch.where(difference.abs() < beta, difference / beta, slope)
    return slope * _per_term(g, reduction, difference.numel())


def _huber(x: Tensor, target: Tensor, reduction: int = Reduction.MEAN, delta: float = 1.0) -> Tensor:
    size = (x - target).abs()
    near = (size * size) * 0.5
    return _reduced(torch.where(size <= delta, near, (size - 0.5 * delta) * delta), reduction)


def _huber_backward(g: Tensor, x: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    difference = x - target
    return torch.clamp(difference, -delta, delta) * _per_term(g, reduction, difference.numel())


# Binary cross entropy: logarithms are no less than -100, and that of 0 is not asked for.


def _binary(x: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = Reduction.MEAN) -> Tensor:
    none, all_ = x == 0, x == 1
    of_one = torch.where(none, -100.0, torch.clamp_min(torch.log(torch.where(none, 1.0, x)), -100.0))
    of_zero = torch.where(all_, -100.0, torch.log1p(-torch.where(all_, 0.0, x)))
    terms = (target - 1.0) * of_zero - target * of_one
    return _reduced(terms if weight is None else terms * weight, reduction)


def _binary_backward(
    g: Tensor, x: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = Reduction.MEAN
) -> Tensor:
    slope = (x - target) / torch.clamp_min((1.0 - x) * x, 1e-12)
    if weight is not None:
        slope = slope * weight
    return slope * _per_term(g, reduction, x.numel())


# The negative logarithms of the labels' chances. Classes are the second axis, or the only one.


class _Labels:
    """Labels ``[...]`` of values ``[..., classes, ...]``.

    Attributes:
        axis: The axis of the classes.
        kept: Which labels count.
        places: int64: the labels that count; 0 for the others.
        weights: The weight of each label, if classes have weights.
    """

    def __init__(self, x: Tensor, target: Tensor, weight: Tensor | None, ignored: int) -> None:
        self.axis = min(x.dim() - 1, 1)
        self.kept = target != ignored
        self.places = torch.where(self.kept, target, 0).to(torch.int64)
        self.weights = None
        if weight is not None:
            self.weights = weight.index_select(0, self.places.reshape(-1)).view(self.places.shape)


def _labelled(x: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignored: int) -> tuple[Tensor, Tensor]:
    labels = _Labels(x, target, weight, ignored)
    terms = -x.gather(labels.axis, labels.places.unsqueeze(labels.axis)).squeeze(labels.axis)
    if labels.weights is not None:
        terms = terms * labels.weights
    terms = torch.where(labels.kept, terms, 0.0)
    if reduction == Reduction.NONE:
        return terms, x.new_zeros([])
    if labels.weights is None:
        total_weight = labels.kept.sum().to(torch.float32)
    else:
        total_weight = torch.where(labels.kept, labels.weights, 0.0).sum()
    total = terms.sum()
    return total / total_weight if reduction == Reduction.MEAN else total, total_weight


def _labelled_backward(
    g: Tensor,
    x: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignored: int,
    total_weight: Tensor,
) -> Tensor:
    labels = _Labels(x, target, weight, ignored)
    share = -g
    if reduction == Reduction.MEAN:
        share = share / total_weight
    if labels.weights is not None:
        share = share * labels.weights
    share = torch.where(labels.kept, share, 0.0)
    classes = torch.arange(x.shape[labels.axis], device=x.device)
    shaped = classes.view([-1, *[1] * (x.dim() - 1 - labels.axis)])
    meant = shaped == labels.places.unsqueeze(labels.axis)
    return torch.where(meant, share.unsqueeze(labels.axis), 0.0)


TABLE: Mapping[Any, Callable[..., Any]] = {
    _aten.mse_loss.default: _squared,
    _aten.mse_loss_backward.default: _squared_backward,
    _aten.smooth_l1_loss.default: _smooth,
    _aten.smooth_l1_loss_backward.default: _smooth_backward,
    _aten.huber_loss.default: _huber,
    _aten.huber_loss_backward.default: _huber_backward,
    _aten.binary_cross_entropy.default: _binary,
    _aten.binary_cross_entropy_backward.default: _binary_backward,
    _aten.nll_loss_forward.default: _labelled,
    _aten.nll_loss_backward.default: _labelled_backward,
    _aten.nll_loss2d_forward.default: _labelled,
    _aten.nll_loss2d_backward.default: _labelled_backward,
}
