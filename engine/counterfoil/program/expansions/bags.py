"""Sums and means of bags of rows of an embedding.

Which bag an index belongs to hangs on the offsets, which are values: it is counted in integers, so that shapes do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from counterfoil.program.remedies import NoFormError

_aten = torch.ops.aten
_SUM, _MEAN = 0, 1


def _check_mode(mode: int) -> None:
    if mode not in (_SUM, _MEAN):
        raise NoFormError(
            "takes the maximum of the rows of an embedding bag, which has no form of fixed shapes",
            remedy='Use mode="sum" or "mean", or nn.Embedding and amax over bags of one length.',
        )


def _bag_of_each(indices: Tensor, offsets: Tensor) -> Tensor:
    """int64 ``[indices]``: the number of the bag that each index lies in. An offset may lie behind the last index."""
    length = indices.numel()
    begun = torch.zeros(length + 1, dtype=torch.int64)
    begun = begun.index_add(0, offsets.to(torch.int64), torch.ones(offsets.numel(), dtype=torch.int64))
    return (begun.cumsum(0) - 1).narrow(0, 0, length)


def _counted(indices: Tensor, padding_idx: int) -> Tensor:
    """Say of each index whether it counts: bool ``[indices]``."""
    return indices != padding_idx


def _sizes(bags: Tensor, counted: Tensor, count: int) -> Tensor:
    """int64 ``[bags]``: how many indices count in each."""
    return torch.zeros(count, dtype=torch.int64).index_add(0, bags, counted.to(torch.int64))


def _bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = _SUM,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    _check_mode(mode)
    count = offsets.numel() - (1 if include_last_offset else 0)
    bags = _bag_of_each(indices, offsets.narrow(0, 0, count))
    counted = _counted(indices, padding_idx)
    sizes = _sizes(bags, counted, count)
    rows = weight.index_select(0, indices)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    rows = torch.where(counted.unsqueeze(-1), rows, 0.0)
    total = weight.new_zeros((count, weight.shape[1])).index_add(0, bags, rows)
    if mode == _MEAN:
        total = total / sizes.clamp_min(1).to(torch.float32).unsqueeze(-1)
    return total, bags, sizes, torch.zeros(0, dtype=torch.int64)


def _bag_backward(
    g: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    padding_idx: int = -1,
) -> Tensor:
    # What the library hands on of the forward pass hangs on the device: bags are counted anew.
    bags = _bag_of_each(indices, offsets.narrow(0, 0, g.shape[0]))
    if mode == _MEAN:
        sizes = _sizes(bags, _counted(indices, padding_idx), g.shape[0])
        g = g / sizes.clamp_min(1).to(torch.float32).unsqueeze(-1)
    rows = g.index_select(0, bags)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    found: Tensor = _aten.embedding_dense_backward(rows, indices, num_weights, padding_idx, scale_grad_by_freq)
    return found


def _weights_backward(
    g: Tensor, weight: Tensor, indices: Tensor, offsets: Tensor, offset2bag: Tensor, mode: int, padding_idx: int = -1
) -> Tensor:
    bags = _bag_of_each(indices, offsets.narrow(0, 0, g.shape[0]))
    products = (g.index_select(0, bags) * weight.index_select(0, indices)).sum(-1)
    return torch.where(_counted(indices, padding_idx), products, 0.0)


TABLE: Mapping[Any, Callable[..., Any]] = {
    _aten._embedding_bag.default: _bag,
    _aten._embedding_bag_forward_only.default: _bag,
    _aten._embedding_bag_backward.default: _bag_backward,
    _aten._embedding_bag_per_sample_weights_backward.default: _weights_backward,
}
