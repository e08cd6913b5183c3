"""Distances between rows: of one set to another (``cdist``), and of all pairs of one (``pdist``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

_aten = torch.ops.aten


def _norm(difference: Tensor, p: float) -> Tensor:
    norm: Tensor = torch.linalg.vector_norm(difference, p, -1)
    return norm


def _cdist(x: Tensor, y: Tensor, p: float, compute_mode: int | None) -> Tensor:
    return _norm(x.unsqueeze(-2) - y.unsqueeze(-3), p)


def _cdist_backward(g: Tensor, x: Tensor, y: Tensor, p: float, distances: Tensor) -> Tensor:
    slopes = _slopes(x.unsqueeze(-2) - y.unsqueeze(-3), p, distances.unsqueeze(-1))
    return (g.unsqueeze(-1) * slopes).sum(-2).sum_to_size(x.shape)


def _euclidean(x: Tensor, y: Tensor) -> Tensor:
    """Of many rows: by a product of matrices, as torch does."""
    squares = (x * x).sum(-1).unsqueeze(-1) + (y * y).sum(-1).unsqueeze(-2)
    return torch.sqrt(torch.clamp_min(squares - torch.matmul(x, y.mT) * 2.0, 0.0))


def _pairs(x: Tensor) -> tuple[Tensor, Tensor]:
    """The first and the second row of each pair, in torch's order."""
    rows = x.shape[0]
    pairs = [(i, j) for i in range(rows) for j in range(i + 1, rows)]
    return torch.tensor([i for i, _ in pairs], dtype=torch.int64), torch.tensor(
        [j for _, j in pairs], dtype=torch.int64
    )


def _pdist(x: Tensor, p: float = 2.0) -> Tensor:
    first, second = _pairs(x)
    return _norm(x.index_select(0, first) - x.index_select(0, second), p)


def _pdist_backward(g: Tensor, x: Tensor, p: float, distances: Tensor) -> Tensor:
    first, second = _pairs(x)
    difference = x.index_select(0, first) - x.index_select(0, second)
    parts = g.unsqueeze(-1) * _slopes(difference, p, distances.unsqueeze(-1))
    return torch.zeros_like(x).index_add(0, torch.cat((first, second)), torch.cat((parts, -parts)))


def _slopes(difference: Tensor, p: float, distance: Tensor) -> Tensor:
    """The derivative of a norm of order ``p`` by each difference; 0 where the distance is 0."""
    if p == 0:
        return torch.zeros_like(difference)
    signs = torch.sign(difference)
    if p == 1:
        return signs
    size = difference.abs()
    if math.isinf(p):
        return torch.where(size == distance, signs, 0.0)
    nowhere = distance == 0
    safe = torch.where(nowhere, 1.0, distance)
    if p == 2:
        return torch.where(nowhere, 0.0, difference / safe)
    # The power of 0 may be infinite, and is a factor of nothing.
    size = torch.where(difference == 0, 1.0, size)
    return torch.where(nowhere, 0.0, signs * torch.pow(size / safe, p - 1.0))


TABLE: Mapping[Any, Callable[..., Any]] = {
    _aten._cdist_forward.default: _cdist,
    _aten._cdist_backward.default: _cdist_backward,
    _aten._euclidean_dist.default: _euclidean,
    _aten._pdist_forward.default: _pdist,
    _aten._pdist_backward.default: _pdist_backward,
}
