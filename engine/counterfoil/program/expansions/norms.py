"""What is divided by a norm of its rows, or kept below one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

_aten = torch.ops.aten
_SLACK = 1e-7
"""What torch adds to a norm before it divides by it."""


def _others(x: Tensor, dim: int) -> list[int]:
    return [axis for axis in range(x.dim()) if axis != dim % x.dim()]


def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> tuple[Tensor, Tensor]:
    norms = torch.linalg.vector_norm(v, 2, _others(v, dim), keepdim=True)
    return v * (g / norms), norms


def _weight_norm_backward(
    of_w: Tensor, v: Tensor, g: Tensor, norms: Tensor, dim: int
) -> tuple[Tensor, Tensor]:  # fmt: skip
    along = (of_w * v).sum(_others(v, dim), keepdim=True)
    return (g / norms) * (of_w - v * (along / (norms * norms))), along / norms


def _factors(norms: Tensor, limit: float) -> Tensor:
    return torch.where(norms > limit, limit / (norms + _SLACK), 1.0)


def _renorm(x: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    return x * _factors(torch.linalg.vector_norm(x, p, _others(x, dim), keepdim=True), float(maxnorm))


def _embedding_renorm(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """The rows that are looked up, each once, however often it is."""
    flat = indices.reshape(-1).to(torch.int64)
    seen = torch.zeros(weight.shape[0], dtype=torch.int64).index_add(0, flat, torch.ones_like(flat)) > 0
    factors = _factors(torch.linalg.vector_norm(weight, norm_type, 1), max_norm)
    return weight * torch.where(seen, factors, 1.0).unsqueeze(1)


def _dist(x: Tensor, y: Tensor, p: float = 2) -> Tensor:
    norm: Tensor = torch.linalg.vector_norm(x - y, p)
    return norm


TABLE: Mapping[Any, Callable[..., Any]] = {
    _aten._weight_norm_interface.default: _weight_norm,
    _aten._weight_norm_interface_backward.default: _weight_norm_backward,
    _aten.renorm.default: _renorm,
    _aten.dist.default: _dist,
}
WRITING: Mapping[Any, Callable[..., Any]] = {_aten.embedding_renorm.default: _embedding_renorm}
"""What a write becomes when mutations have been removed."""
