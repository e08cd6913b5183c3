"""``torch.quantile`` with ranks in the dtype of its input.

From torch 2.14 on it computes them in float64, which a program cannot hold. Earlier versions do as this does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

_LINEAR = "linear"


def quantile(
    input: Tensor,
    q: float | Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = _LINEAR,
    out: Tensor | None = None,
) -> Any:
    """Return quantiles as torch 2.11 to 2.13 do (aten/src/ATen/native/Sorting.cpp, ``quantile_compute``).

    Args:
        input: Floating-point values of any shape.
        q: Probabilities in [0, 1], a number or a tensor of at most one dimension.
        dim: The dimension that is reduced; all of them unless given.
        keepdim: Whether it stays, with size 1.
        interpolation: ``linear``, ``lower``, ``higher``, ``midpoint`` or ``nearest``.
        out: Where torch would write.

    Returns:
        The quantiles, those of a tensor of probabilities along a new first dimension; NotImplemented where torch is to
        do it, or to say what is wrong.
    """
    odd = not input.is_floating_point() or not input.numel() or not input.dim() or out is not None
    if odd or interpolation not in (_LINEAR, "lower", "higher", "midpoint", "nearest"):
        return NotImplemented
    chances = q if isinstance(q, Tensor) else torch.scalar_tensor(q, dtype=input.dtype)
    if chances.dim() > 1 or not chances.numel() or chances.dtype != input.dtype:
        return NotImplemented
    rows = _rows(input, dim).sort().values.reshape(-1, input.numel() if dim is None else input.shape[dim])
    last = rows.shape[-1] - 1
    rank = (chances * last).expand(rows.shape[0], chances.numel())
    rank = rank.masked_fill(rows.isnan().any(-1, keepdim=True), last)
    found = _taken(rows, rank, interpolation)
    kept = [1] * input.dim() if dim is None else list(input.shape)
    if dim is not None:
        kept[dim] = 1
    if not keepdim:
        kept = [] if dim is None else [size for place, size in enumerate(kept) if place != dim % input.dim()]
    if chances.dim() == 0:
        return found.squeeze(-1).view(kept)
    return found.view(*kept, chances.numel()).movedim(-1, 0)


def _rows(values: Tensor, dim: int | None) -> Tensor:
    """What is sorted along its last dimension."""
    if dim is None:
        return values.flatten()
    if dim % values.dim() == values.dim() - 1:
        return values
    return values.unsqueeze(-1).transpose(dim, -1)


def _taken(rows: Tensor, rank: Tensor, interpolation: str) -> Tensor:
    """Take elements by rank, and between two of them what the interpolation says."""
    if interpolation in ("lower", "higher", "nearest"):
        rank = {"lower": rank.floor, "higher": rank.ceil, "nearest": rank.round}[interpolation]()
    below = rank.to(torch.int64)
    low = rows.gather(-1, below)
    if interpolation not in (_LINEAR, "midpoint"):
        return low
    weight = torch.full_like(rank, 0.5) if interpolation == "midpoint" else rank - below
    return low.lerp(rows.gather(-1, rank.ceil().to(torch.int64)), weight)


_IN_FLOAT64 = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 14)
TABLE: Mapping[Any, Callable[..., Any]] = (
    {torch.quantile: quantile, torch.Tensor.quantile: quantile} if _IN_FLOAT64 else {}
)
"""From which version on it stands for torch's."""
