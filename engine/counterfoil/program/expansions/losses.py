"""Losses with margins, of one class and of signs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

_aten = torch.ops.aten
_NONE, _MEAN, _SUM = 0, 1, 2


def _reduced(terms: Tensor, reduction: int) -> Tensor:
    return terms if reduction == _NONE else terms.mean() if reduction == _MEAN else terms.sum()


def _spread(g: Tensor, terms: int, reduction: int) -> Tensor:
    """The gradient that arrives at each term."""
    return g / terms if reduction == _MEAN else g


# Soft margins: log(1 + exp(-y x)) that overflows nowhere.


def _soft_margin(x: Tensor, target: Tensor, reduction: int = _MEAN) -> Tensor:
    u = x * target
    return _reduced(torch.log1p(torch.exp(-u.abs())) + torch.relu(-u), reduction)


def _soft_margin_backward(g: Tensor, x: Tensor, target: Tensor, reduction: int) -> Tensor:
    slope: Tensor = _spread(g, x.numel(), reduction) * (torch.sigmoid(-(x * target)) * -target)
    return slope


# Margins between the class and all others.


def _violations(
    x: Tensor, target: Tensor, margin: float, weight: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """By how much each other class violates the margin, ``[N, C]``; the classes ``[N, 1]`` and their weights."""
    rows, labels = (x, target) if x.dim() == 2 else (x.unsqueeze(0), target.reshape(1))
    labels = labels.unsqueeze(1)
    others = torch.arange(rows.shape[1]).unsqueeze(0) != labels
    missing = torch.where(others, torch.relu(rows - rows.gather(1, labels) + margin), 0.0)
    return missing, labels, None if weight is None else weight.index_select(0, labels.squeeze(1)).unsqueeze(1)


def _multi_margin(
    x: Tensor,
    target: Tensor,
    p: float = 1,
    margin: float = 1,
    weight: Tensor | None = None,
    reduction: int = _MEAN,
) -> Tensor:
    missing, _, weights = _violations(x, target, float(margin), weight)
    terms = missing * missing if p == 2 else missing
    terms = terms if weights is None else terms * weights
    rows = terms.sum(1) / x.shape[-1]
    return _reduced(rows if x.dim() == 2 else rows.squeeze(0), reduction)


def _multi_margin_backward(
    g: Tensor,
    x: Tensor,
    target: Tensor,
    p: float,
    margin: float,
    weight: Tensor | None = None,
    reduction: int = _MEAN,
) -> Tensor:
    missing, labels, weights = _violations(x, target, float(margin), weight)
    slopes = missing * 2.0 if p == 2 else torch.where(missing > 0, 1.0, 0.0)
    slopes = slopes if weights is None else slopes * weights
    slopes = slopes / x.shape[-1]
    # The class itself falls by what all others rise.
    own = torch.arange(slopes.shape[1]).unsqueeze(0) == labels
    slopes = torch.where(own, -slopes.sum(1, keepdim=True), slopes)
    arriving = _spread(g, slopes.shape[0], reduction)
    arriving = arriving.unsqueeze(1) if reduction == _NONE and x.dim() == 2 else arriving
    return (slopes * arriving).reshape(x.shape)


TABLE: Mapping[Any, Callable[..., Any]] = {
    _aten.soft_margin_loss.default: _soft_margin,
    _aten.soft_margin_loss_backward.default: _soft_margin_backward,
    _aten.multi_margin_loss.default: _multi_margin,
    _aten.multi_margin_loss_backward.default: _multi_margin_backward,
}
