"""Sums over repeated indices by the definition of the exact profiles."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.sums import total_by_place
from counterfoil_core.operators.exact import Arguments, Rule


def _embedding_dense_backward(arguments: Arguments, profile: Profile) -> Tensor:
    assert not arguments["scale_grad_by_freq"], "a division is an operation of its own"
    g, rows = arguments["grad_output"], arguments["indices"].reshape(-1)
    count, width = arguments["num_weights"], g.shape[-1]
    found = total_by_place(g.reshape(rows.numel(), width), rows, count, rows.numel())
    if 0 <= arguments["padding_idx"] < count:
        found[arguments["padding_idx"]] = 0
    return found


def _index_add(arguments: Arguments, profile: Profile) -> Tensor:
    assert arguments["alpha"] == 1, "a product is an operation of its own"
    base, source = (x if x.dim() else x[None] for x in (arguments["self"], arguments["source"]))
    axis, index = arguments["dim"], arguments["index"].reshape(-1)
    first = base.movedim(axis, 0)
    # Of nothing the library works out no length.
    width = math.prod(first.shape[1:])
    values = source.movedim(axis, 0).reshape(len(index), width)
    found = total_by_place(values, index, len(first), len(index), first.reshape(len(first), width))
    return found.view(first.shape).movedim(0, axis).reshape(arguments["self"].shape)


def _scatter_add(arguments: Arguments, profile: Profile) -> Tensor:
    base, index, source = (x if x.dim() else x[None] for x in (arguments["self"], arguments["index"], arguments["src"]))
    axis = arguments["dim"] % base.dim()
    # The place of each value is its own but along the axis.
    places = torch.zeros_like(index)
    step = base.numel()
    for number, length in enumerate(base.shape):
        step //= max(length, 1)
        own = torch.arange(index.shape[number], device=index.device).view(-1, *[1] * (base.dim() - number - 1))
        places = places + (index if number == axis else own) * step
    values = source[tuple(slice(0, length) for length in index.shape)]
    flat = total_by_place(values.reshape(-1), places.reshape(-1), base.numel(), index.shape[axis], base.reshape(-1))
    return flat.view(arguments["self"].shape)


def _index_put(arguments: Arguments, profile: Profile) -> Tensor:
    assert arguments["accumulate"], "to overwrite is an exact operator, and undefined where two values meet"
    base, indices = arguments["self"], arguments["indices"]
    numbers = torch.arange(base.numel(), device=base.device).view(base.shape)
    places = torch.ops.aten.index.Tensor(numbers, indices)
    values = arguments["values"].expand(places.shape)
    given = [index for index in indices if index is not None]
    assert all(index.dtype != torch.bool for index in given), "how many places a mask has is told by values alone"
    meeting = math.prod(np.broadcast_shapes(*(tuple(index.shape) for index in given)))
    flat = total_by_place(values.reshape(-1), places.reshape(-1), base.numel(), meeting, base.reshape(-1))
    return flat.view(base.shape)


SINGLES: Mapping[str, Rule] = {
    "embedding_dense_backward": _embedding_dense_backward,
    "index_add": _index_add,
    "scatter_add": _scatter_add,
    "index_put": _index_put,
}
"""By operator kind."""
