"""Sums of elements that meet at an index: first in groups of at most a block."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.forms.pieces import Form, Run
from counterfoil_core.operators import sums
from counterfoil_core.operators.sums import Arguments


def _in_groups(run: Run, index: Tensor, rows: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """Add rows with equal indices in groups of at most a block.

    Args:
        run: Computes a piece.
        index: int64 ``[N]``.
        rows: ``[N, D]``.
        most: Rows that can meet.

    Returns:
        int64 ``[N]`` and ``[N, D]``: fewer rows to be added, and zeros.
    """
    block = sums.block_length(most)
    in_order, order = torch.sort(index, stable=True)
    position = torch.arange(len(index), device=index.device)
    is_first = torch.ones_like(index, dtype=torch.bool)
    is_first[1:] = in_order[1:] != in_order[:-1]
    start = torch.cummax(torch.where(is_first, position, 0), 0)[0]
    group = torch.cumsum((position - start) % block == 0, 0) - 1
    partial = run("aten.index_add.default", torch.zeros_like(rows), 0, group, rows[order])
    return torch.zeros_like(index).scatter(0, group, in_order), partial


def _meet(run: Run, base: Tensor, index: Tensor, rows: Tensor, most: int) -> Tensor:
    """Return ``base`` ``[V, D]`` with ``rows`` ``[N, D]`` added at ``index`` ``[N]``."""
    result: Tensor = run("aten.index_add.default", base, 0, *_in_groups(run, index, rows, most))
    return result


def _wrapped(index: Tensor, length: int) -> Tensor:
    index = index.long()
    return torch.where(index < 0, index + length, index)


def _embedding_backward(run: Run, a: Arguments) -> Any:
    """Gradient of an embedding: rows that meet at their token."""
    g, index, count = a["grad_output"], a["indices"].flatten().long(), a["num_weights"]
    rows = g.reshape(len(index), -1)
    if a["padding_idx"] >= 0:
        rows = torch.where((index != a["padding_idx"])[:, None], rows, 0.0)
    if a["scale_grad_by_freq"]:
        met = torch.zeros(count, dtype=rows.dtype, device=rows.device).index_add(0, index, torch.ones_like(rows[:, 0]))
        rows = run("aten.div.Tensor", rows, met[index][:, None])
    target, partial = _in_groups(run, index, rows, len(index))
    return run("aten.embedding_dense_backward.default", partial, target, count, -1, False)


def _index_add(run: Run, a: Arguments) -> Any:
    """Slices that meet at an index."""
    base, axis = a["self"], a["dim"] % max(a["self"].dim(), 1)
    turned = base.movedim(axis, 0)
    index = _wrapped(a["index"].reshape(-1), base.shape[axis])
    rows = a["source"].movedim(axis, 0).reshape(len(index), -1) * a["alpha"]
    result = _meet(run, turned.reshape(base.shape[axis], -1), index, rows, len(index))
    return result.reshape(turned.shape).movedim(0, axis).contiguous()


def _scatter_add(run: Run, a: Arguments) -> Any:
    """Elements that meet along one axis."""
    base, index, axis = a["self"], a["index"], a["dim"] % max(a["self"].dim(), 1)
    place = torch.zeros_like(index)
    for number, length in enumerate(base.shape):
        shape = [-1 if other == number else 1 for other in range(base.dim())]
        along = index if number == axis else torch.arange(index.shape[number], device=index.device).reshape(shape)
        place = place * length + along
    source = a["src"][tuple(slice(0, n) for n in index.shape)]
    flat = _meet(run, base.reshape(-1, 1), place.flatten(), source.reshape(-1, 1), index.shape[axis])
    return flat.reshape(base.shape)


def _index_put(run: Run, a: Arguments) -> Any:
    """Values that meet at repeated indices."""
    base, values = a["self"], a["values"]
    given = [*a["indices"], *[None] * (base.dim() - len(a["indices"]))]
    indexed = [axis for axis, index in enumerate(given) if index is not None]
    others = [axis for axis, index in enumerate(given) if index is None]
    index = torch.zeros((), dtype=torch.long, device=base.device)
    for axis in indexed:
        index = index * base.shape[axis] + _wrapped(given[axis], base.shape[axis])
    turned = base.permute(*indexed, *others)
    rest = [base.shape[axis] for axis in others]
    # Indices that stand together leave their axes where they stand; otherwise theirs come first.
    before = indexed[0] if indexed == list(range(indexed[0], indexed[-1] + 1)) else 0
    spread = values.expand(*rest[:before], *index.shape, *rest[before:])
    rows = spread.permute(
        *range(before, before + index.dim()), *range(before), *range(before + index.dim(), spread.dim())
    ).reshape(index.numel(), -1)
    places = math.prod(base.shape[axis] for axis in indexed)
    result = _meet(run, turned.reshape(places, -1), index.flatten(), rows, index.numel())
    back = [0] * base.dim()
    for position, axis in enumerate((*indexed, *others)):
        back[axis] = position
    return result.reshape(turned.shape).permute(back).contiguous()


FORMS: dict[str, Form] = {
    "embedding_dense_backward": _embedding_backward,
    "index_add": _index_add,
    "scatter_add": _scatter_add,
    "index_put": _index_put,
}
"""Forms by operator kind."""
