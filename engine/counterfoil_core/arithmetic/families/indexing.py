"""Sums over values that meet at an index: scales, forms in groups of at most a block, definitions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.magnitude import largest, top_of
from counterfoil_core.arithmetic.families.parts import Definition, Form, Outputs, Run, Scale, ScaleRule, add
from counterfoil_core.kernels.devicenumber import DeviceNumber
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.sums import total_by_place
from counterfoil_core.operators import sums
from counterfoil_core.operators.sums import Arguments

# Scales of sums over repeated indices.


def _scatter(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Sums over repeated indices: all magnitudes that can meet in one element."""
    out = outputs[0]
    assert out is not None
    if "grad_output" in arguments:  # embedding: rows of grad_output meet where their indices are equal
        indices = arguments["indices"].flatten()
        return [largest(arguments["grad_output"]) * _most_repeats(indices, out.shape[0])]
    # The same sum over magnitudes, onto zeros: exactly the terms that meet in each element.
    zeros = torch.zeros_like(arguments["self"])
    if "values" in arguments:
        met = torch.ops.aten.index_put.default(zeros, arguments["indices"], arguments["values"].abs(), True)
    elif "src" in arguments:
        met = torch.ops.aten.scatter_add.default(zeros, arguments["dim"], arguments["index"], arguments["src"].abs())
    else:
        source = arguments["source"].abs() * abs(float(arguments.get("alpha", 1)))
        met = torch.ops.aten.index_add.default(zeros, arguments["dim"], arguments["index"], source)
    return [add(largest(arguments["self"]), largest(met))]


def _most_repeats(indices: Tensor, count: int) -> DeviceNumber | float:
    """How often the most frequent of the indices ``[n]``, below ``count``, occurs."""
    if not indices.numel():
        return 0.0
    if indices.device.type == "cpu":
        return top_of(torch.bincount(indices, minlength=1))
    # There a count of each value would wait for the device, to learn how many values there are.
    places = indices.long()
    return top_of(
        torch.zeros(count, dtype=torch.int64, device=indices.device).index_add(0, places, torch.ones_like(places))
    )


SCALES: Mapping[str, ScaleRule] = {
    "scatter": _scatter,
}

# Sums of elements that meet at an index: first in groups of at most a block.


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


def _index_add_form(run: Run, a: Arguments) -> Any:
    """Slices that meet at an index."""
    base, axis = a["self"], a["dim"] % max(a["self"].dim(), 1)
    turned = base.movedim(axis, 0)
    index = _wrapped(a["index"].reshape(-1), base.shape[axis])
    rows = a["source"].movedim(axis, 0).reshape(len(index), -1) * a["alpha"]
    result = _meet(run, turned.reshape(base.shape[axis], -1), index, rows, len(index))
    return result.reshape(turned.shape).movedim(0, axis).contiguous()


def _scatter_add_form(run: Run, a: Arguments) -> Any:
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


def _index_put_form(run: Run, a: Arguments) -> Any:
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
    "index_add": _index_add_form,
    "scatter_add": _scatter_add_form,
    "index_put": _index_put_form,
}
"""Forms by operator kind."""


def _embedding_dense_backward(arguments: Arguments, profile: Profile) -> Tensor:
    assert not arguments["scale_grad_by_freq"], "a division is an operation of its own"
    g, rows = arguments["grad_output"], arguments["indices"].reshape(-1)
    count, width = arguments["num_weights"], g.shape[-1]
    found = total_by_place(g.reshape(rows.numel(), width), rows, count, rows.numel())
    if 0 <= arguments["padding_idx"] < count:
        found[arguments["padding_idx"]] = 0
    return found


def _index_add_defined(arguments: Arguments, profile: Profile) -> Tensor:
    assert arguments["alpha"] == 1, "a product is an operation of its own"
    base, source = (x if x.dim() else x[None] for x in (arguments["self"], arguments["source"]))
    axis, index = arguments["dim"], arguments["index"].reshape(-1)
    first = base.movedim(axis, 0)
    # Of nothing the library works out no length.
    width = math.prod(first.shape[1:])
    values = source.movedim(axis, 0).reshape(len(index), width)
    found = total_by_place(values, index, len(first), len(index), first.reshape(len(first), width))
    return found.view(first.shape).movedim(0, axis).reshape(arguments["self"].shape)


def _scatter_add_defined(arguments: Arguments, profile: Profile) -> Tensor:
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


def _index_put_defined(arguments: Arguments, profile: Profile) -> Tensor:
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


DEFINITIONS: Mapping[str, Definition] = {
    "embedding_dense_backward": _embedding_dense_backward,
    "index_add": _index_add_defined,
    "scatter_add": _scatter_add_defined,
    "index_put": _index_put_defined,
}
"""By operator kind."""
