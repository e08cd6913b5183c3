"""Operators that move, choose or fill values, taken apart at capture into the few of the allow-list.

Each has a definition by this alone, on every library and device: of equal elements a choice takes the one that comes
first, of several values written to one place the last one stays. A number that is none is larger than all others, as in
torch's sorting. What reaches memory by strides becomes slices, windows and axes of the tensor that lies there, so no
program can name memory: an order of a stranger that holds ``as_strided`` is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.base.errors import ProgramError

_aten = torch.ops.aten
_LARGEST = torch.finfo(torch.float32).max


# Fills.


def _fill(x: Tensor, value: Tensor) -> Tensor:
    return value.to(x.dtype).expand(x.shape).clone()


def _nan_to_num(
    x: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    if not x.is_floating_point():
        return x.clone()
    above = torch.where(x == math.inf, _LARGEST if posinf is None else posinf, x)
    below = torch.where(x == -math.inf, -_LARGEST if neginf is None else neginf, above)
    return torch.where(torch.isnan(x), 0.0 if nan is None else nan, below)


def _diag_embed(x: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    axes = sorted((dim1 % (x.dim() + 1), dim2 % (x.dim() + 1)))
    length = x.shape[-1] + abs(offset)
    shape = list(x.shape[:-1])
    for axis in axes:
        shape.insert(axis, length)
    return _aten.diagonal_scatter.default(  # type: ignore[no-any-return]
        torch.zeros(shape, dtype=x.dtype), x, offset, dim1, dim2
    )


def _index_fill(x: Tensor, dim: int, index: Tensor, value: float) -> Tensor:
    if not x.dim():
        return torch.full_like(x, value)
    places = _along(index, x, dim)
    return _aten.scatter.value(x, dim, places, value)  # type: ignore[no-any-return]


def _index_fill_tensor(x: Tensor, dim: int, index: Tensor, value: Tensor) -> Tensor:
    if not x.dim():
        return _fill(x, value)
    places = _along(index, x, dim)
    return _aten.scatter.src(x, dim, places, value.to(x.dtype).expand(places.shape))  # type: ignore[no-any-return]


def _along(index: Tensor, x: Tensor, dim: int) -> Tensor:
    """Indices along an axis, repeated over the others; from -n to -1 they count from the end."""
    axis, rows = dim % x.dim(), index.reshape(-1)
    rows = torch.where(rows < 0, rows + x.shape[axis], rows)
    shape = [len(rows) if number == axis else length for number, length in enumerate(x.shape)]
    return rows.reshape(-1, *[1] * (x.dim() - axis - 1)).expand(shape)


def _triangle(numbers: Callable[..., tuple[Any, ...]]) -> Callable[..., Tensor]:
    def indices(row: int, col: int, offset: int = 0, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
        found = np.stack(numbers(row, offset, col))
        return torch.tensor(found.tolist(), dtype=dtype or torch.int64).reshape(2, -1)

    return indices


# Strides.


def _in_memory(x: Tensor) -> Tensor:
    """The elements of a tensor in the order in which they lie in memory, one axis.

    Raises:
        ProgramError: It has gaps or overlaps there, so that strides may reach what is no part of it.
    """
    order = sorted(range(x.dim()), key=lambda axis: (-x.stride()[axis], -x.shape[axis]))
    expected = 1
    for axis in reversed(order):
        if x.shape[axis] != 1 and x.stride(axis) != expected:
            raise _stray()
        expected *= x.shape[axis]
    return x.permute(order).reshape(-1)


def _stray() -> ProgramError:
    return ProgramError(
        "A tensor is read by strides (as_strided) that reach beyond its own elements.",
        remedy="Use views of torch instead, for instance unfold, diagonal or a slice.",
    )


def _geometry(x: Tensor, size: Sequence[int], stride: Sequence[int], offset: int | None) -> tuple[int, int]:
    """Where elements read by strides begin in memory, and how many places they span; none lies outside of ``x``."""
    first = 0 if offset is None else offset - int(x.storage_offset())
    span = 1 + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    if first < 0 or any(step < 0 for step in stride) or first + span > x.numel():
        raise _stray()
    return first, span


def _as_strided(x: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """Windows within windows: one axis of the result for each, of the largest stride first."""
    if math.prod(size) == 0:
        return x.new_zeros(size)
    first, span = _geometry(x, size, stride, storage_offset)
    flat = _in_memory(x)
    if _contiguous(size, stride):
        return flat[first : first + span].reshape(size)
    moving = _moving(size, stride)
    view, left = flat[first : first + span], span
    for axis in moving:
        left -= (size[axis] - 1) * stride[axis]
        view = view.unfold(-1, left, stride[axis])
    view = view.squeeze(-1)
    # The axes that do not move have one element, or the same one again and again.
    order = [moving.index(axis) for axis in sorted(moving)]
    kept = view.permute(order).reshape([length if axis in moving else 1 for axis, length in enumerate(size)])
    return kept.expand(size)


def _moving(size: Sequence[int], stride: Sequence[int]) -> list[int]:
    axes = [axis for axis, length in enumerate(size) if length > 1 and stride[axis]]
    return sorted(axes, key=lambda axis: -stride[axis])


def _contiguous(size: Sequence[int], stride: Sequence[int]) -> bool:
    expected = 1
    for length, step in zip(reversed(size), reversed(stride), strict=True):
        if length != 1 and step != expected:
            return False
        expected *= length
    return True


def _as_strided_scatter(
    x: Tensor, source: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Each element of ``source`` at its place; where none is written, ``x``."""
    if math.prod(size) == 0:
        return x.clone()
    first, span = _geometry(x, size, stride, storage_offset)
    flat = _in_memory(x)
    if _contiguous(size, stride):
        placed = torch.cat([flat[:first], source.reshape(-1), flat[first + span :]])
    else:
        moving = _moving(size, stride)
        if any(length > 1 and axis not in moving for axis, length in enumerate(size)):
            raise _several()
        rest = [axis for axis in range(len(size)) if axis not in moving]
        values = source.permute([*moving, *rest]).reshape([size[axis] for axis in moving])
        around = (first, x.numel() - first - span)
        written = _laid_out(torch.ones_like(values, dtype=torch.bool), moving, stride, around)
        placed = torch.where(written, _laid_out(values, moving, stride, around), flat)
    return _from_memory(placed, x)


def _several() -> ProgramError:
    return ProgramError(
        "Several elements are written to one place by strides (as_strided), so the result has no definition.",
        remedy="Write to views of torch in which no element appears twice.",
    )


def _laid_out(values: Tensor, moving: Sequence[int], stride: Sequence[int], around: tuple[int, int]) -> Tensor:
    """Elements at their places, zeros between, before and behind them; one axis."""
    flat, length = values[..., None], 1
    for axis in reversed(moving):
        if length > stride[axis]:
            raise _several()
        padded = _aten.constant_pad_nd.default(flat, [0, stride[axis] - length])
        length = (padded.shape[-2] - 1) * stride[axis] + length
        flat = padded.reshape([*padded.shape[:-2], -1])[..., :length]
    return _aten.constant_pad_nd.default(flat, list(around))  # type: ignore[no-any-return]


def _from_memory(flat: Tensor, like: Tensor) -> Tensor:
    """Undo :func:`_in_memory`."""
    order = sorted(range(like.dim()), key=lambda axis: (-like.stride()[axis], -like.shape[axis]))
    back = [order.index(axis) for axis in range(like.dim())]
    return flat.reshape([like.shape[axis] for axis in order]).permute(back)


# Choices.


def _sorted(x: Tensor, dim: int, *, descending: bool = False) -> tuple[Tensor, Tensor]:
    return _aten.sort.stable(x, stable=True, dim=dim, descending=descending)  # type: ignore[no-any-return]


def _topk(x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    if not x.dim():
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    values, indices = _sorted(x, dim, descending=largest)
    return values.narrow(dim, 0, k).contiguous(), indices.narrow(dim, 0, k).contiguous()


def _kthvalue(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if not x.dim():
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    values, indices = (found.narrow(dim, k - 1, 1) for found in _sorted(x, dim))
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def _median(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The lower of the two in the middle; the first number that is none where there is one."""
    if not x.dim():
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    indices = _sorted(x, dim)[1].narrow(dim, (x.shape[dim] - 1) // 2, 1)
    if x.is_floating_point():
        none = torch.isnan(x)
        first = none.to(torch.int64).argmax(dim, keepdim=True)
        indices = torch.where(none.any(dim, keepdim=True), first, indices)
    values = x.gather(dim, indices)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def _median_of_all(x: Tensor) -> Tensor:
    return _median(x.reshape(-1), 0)[0]


def _running(larger: bool) -> Callable[[Tensor, int], tuple[Tensor, Tensor]]:
    """Running maxima and minima: of equal ones the last, as torch's; a number that is none stays."""

    def scan(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
        if not x.dim():
            return x.clone(), torch.zeros_like(x, dtype=torch.int64)
        axis, length = dim % x.dim(), x.shape[dim]
        numbers = torch.arange(length).reshape(-1, *[1] * (x.dim() - axis - 1)).expand(x.shape)
        values, indices, shift = x, numbers, 1
        while shift < length:
            # Each element against the result of the elements that end ``shift`` before it.
            before = (found.narrow(axis, 0, length - shift) for found in (values, indices))
            earlier, their = before
            own, ours = (found.narrow(axis, shift, length - shift) for found in (values, indices))
            keeps = own >= earlier if larger else own <= earlier
            if x.is_floating_point():
                keeps = (keeps & ~torch.isnan(earlier)) | torch.isnan(own)
            head, first = (found.narrow(axis, 0, shift) for found in (values, indices))
            values = torch.cat([head, torch.where(keeps, own, earlier)], axis)
            indices = torch.cat([first, torch.where(keeps, ours, their)], axis)
            shift *= 2
        return values, indices

    return scan


# Writes.


def _index_put(x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Any:
    """Of several values for one place the last stays; a mask chooses between one value and what was there."""
    if accumulate or x.dtype != values.dtype:
        return NotImplemented
    given = [(position, index) for position, index in enumerate(indices) if index is not None]
    if len(given) == 1 and given[0][1].dtype in (torch.bool, torch.uint8):
        return assign_masked(x, given[0][0], given[0][1], values)
    if any(index.dtype in (torch.bool, torch.uint8) for _, index in given):
        return NotImplemented
    places = _aten.index.Tensor(torch.arange(x.numel()).reshape(x.shape), list(indices))
    written = values.expand(places.shape).reshape(-1)
    return _aten.scatter.src(x.reshape(-1), 0, places.reshape(-1), written).reshape(x.shape)


def assign_masked(x: Tensor, position: int, mask: Tensor, values: Tensor) -> Any:
    """What ``x`` is after ``x[..., mask] = values``, where all places that the mask chooses get the same.

    Args:
        x: Any shape.
        position: How many axes stand before those of the mask.
        mask: Truth values, of the shape of those axes of ``x``.
        values: Broadcast over the places that the mask chooses: a single one, or of the shape of the axes behind.

    Returns:
        The new tensor, or ``NotImplemented`` where each place would have a value of its own.
    """
    rest = x.dim() - position - mask.dim()
    own = values.dim() - 1 - rest  # Position of the axis of the chosen places among those of the values.
    if own >= 0:
        if values.shape[own] != 1:
            return NotImplemented
        shape = [*values.shape[:own], *[1] * mask.dim(), *values.shape[own + 1 :]]
        values = values.reshape(shape)
    chosen = mask.to(torch.bool).reshape([*mask.shape, *[1] * rest])
    return torch.where(chosen, values.to(x.dtype), x)


def _index_copy(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    if not x.dim():
        return source.reshape(x.shape).clone()
    return _aten.scatter.src(x, dim, _along(index, x, dim), source)  # type: ignore[no-any-return]


def _masked_scatter(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Elements of ``source`` in order at the places of the mask."""
    chosen = mask.expand(x.shape).reshape(-1)
    taken = source.reshape(-1).index_select(0, _numbered(chosen).clamp_min(0))
    return torch.where(chosen, taken, x.reshape(-1)).reshape(x.shape)


def _numbered(chosen: Tensor) -> Tensor:
    """Which of the chosen places each is, from 0; before the first one -1."""
    return chosen.to(torch.int64).cumsum(0) - 1


def _masked_scatter_backward(g: Tensor, mask: Tensor, sizes: Sequence[int]) -> Tensor:
    """What the places of the mask got, in order; zeros for elements that were not taken."""
    chosen = mask.expand(g.shape).reshape(-1)
    count = math.prod(sizes)
    # What lies at no place of the mask goes to one place more, which is cut off.
    places = torch.where(chosen, _numbered(chosen), count)
    room = torch.zeros(count + 1, dtype=g.dtype)
    return _aten.scatter.src(room, 0, places, g.reshape(-1))[:count].reshape(sizes)  # type: ignore[no-any-return]


def _scatter_reduce(
    x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Any:
    """Sums and means by ``scatter_add``, whose sums a profile defines; the others choose."""
    if reduce not in ("sum", "mean"):
        return NotImplemented
    base = x if include_self else _aten.scatter.value(x, dim, index, 0)
    total = base.scatter_add(dim, index, source)
    if reduce == "sum":
        return total
    ones = torch.ones(x.shape, dtype=x.dtype)
    count = ones if include_self else _aten.scatter.value(ones, dim, index, 0)
    count = count.scatter_add(dim, index, torch.ones(source.shape, dtype=x.dtype)).clamp_min(1)
    return total / count if x.is_floating_point() else torch.div(total, count, rounding_mode="floor")


MADE: Mapping[Any, Callable[..., Any]] = {
    _aten.tril_indices.default: _triangle(np.tril_indices),
    _aten.triu_indices.default: _triangle(np.triu_indices),
}
"""The same of operators that make constants: capture replaces these before it removes mutations."""
MOVES: Mapping[Any, Callable[..., Any]] = {
    _aten.fill.Tensor: _fill,
    _aten.nan_to_num.default: _nan_to_num,
    _aten.diag_embed.default: _diag_embed,
    _aten.index_fill.int_Scalar: _index_fill,
    _aten.index_fill.int_Tensor: _index_fill_tensor,
    _aten.as_strided.default: _as_strided,
    _aten.as_strided_copy.default: _as_strided,
    _aten.as_strided_scatter.default: _as_strided_scatter,
    _aten.topk.default: _topk,
    _aten.kthvalue.default: _kthvalue,
    _aten.median.default: _median_of_all,
    _aten.median.dim: _median,
    _aten.cummax.default: _running(larger=True),
    _aten.cummin.default: _running(larger=False),
    _aten.index_put.default: _index_put,
    _aten.index_copy.default: _index_copy,
    _aten.masked_scatter.default: _masked_scatter,
    _aten.masked_scatter_backward.default: _masked_scatter_backward,
    _aten.scatter_reduce.two: _scatter_reduce,
}
"""How to compute each; ``NotImplemented`` where the operator itself will do."""
