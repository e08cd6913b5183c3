"""Computes operators with every reduction in another order, or in parts that are added, as other hardware does.

An :class:`Order` says in which order the positions of an axis are read. It is applied to every axis that an operator
sums over, and undone on results that keep the axis, so that only the last bits can differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.operation import Operation, native

Change = Callable[[Operation, list[Any], dict[str, Any]], Any]
"""Computes one operator in another way."""

_aten = torch.ops.aten


@dataclass(frozen=True)
class Order:
    """The order in which the positions of an axis are read."""

    seed: int | None = None  #: Key of a permutation for each length of axis; None reads every axis backwards.

    def apply(self, x: Any, *axes: int) -> Any:
        """Return ``x`` with these axes in the new order; what is no tensor comes back as it is."""
        if not isinstance(x, Tensor) or not axes:
            return x
        if self.seed is None:
            return x.flip(axes)
        for axis in axes:
            x = x.index_select(axis, self._permutation(x.shape[axis], x.device))
        return x

    def undo(self, x: Any, *axes: int) -> Any:
        """Return ``x`` with these axes back in the old order."""
        if self.seed is None or not isinstance(x, Tensor):
            return self.apply(x, *axes)
        for axis in axes:
            x = x.index_select(axis, torch.argsort(self._permutation(x.shape[axis], x.device)))
        return x

    def _permutation(self, length: int, device: torch.device) -> Tensor:
        assert self.seed is not None
        generator = np.random.Generator(np.random.Philox(key=[self.seed, length]))
        return torch.from_numpy(generator.permutation(length)).to(device)


BACKWARDS = Order()


def reorder_sums(order: Order) -> Mapping[str, Change]:
    """Return, by operator kind, how to compute with every reduced axis in another order."""
    changes = _Reordered(order)
    return {
        **dict.fromkeys(("mm", "addmm", "mv", "addmv", "dot", "bmm", "baddbmm"), changes.matrix),
        "convolution": changes.convolution,
        "convolution_backward": changes.convolution_backward,
        **dict.fromkeys(("sum", "mean", "prod", "var", "std", "var_mean", "logsumexp"), changes.reduction),
        **dict.fromkeys(("_softmax", "_log_softmax", "_safe_softmax"), changes.softmax),
        **dict.fromkeys(("_softmax_backward_data", "_log_softmax_backward_data"), changes.softmax_backward),
        **dict.fromkeys(("_native_batch_norm_legit_functional", "_native_batch_norm_legit"), changes.batch_norm),
        "native_batch_norm_backward": changes.batch_norm_backward,
        "native_layer_norm": changes.layer_norm,
        "native_layer_norm_backward": changes.layer_norm_backward,
        "native_group_norm": changes.group_norm,
        "native_group_norm_backward": changes.group_norm_backward,
        "embedding_dense_backward": changes.embedding_backward,
        "index_put": changes.index_put,
        "scatter_add": changes.scatter_add,
        "index_add": changes.index_add,
        "_adaptive_avg_pool2d": changes.adaptive_mean,
        **dict.fromkeys(("nll_loss_forward", "mse_loss", "smooth_l1_loss", "huber_loss"), changes.loss),
        "binary_cross_entropy": changes.loss,
    }


def in_parts(parts: int, order: Order) -> Mapping[str, Change]:
    """Return, by operator kind, how to compute in parts that are added, the last first.

    Args:
        parts: Number of parts, at least 2; fewer where an axis is shorter.
        order: The order for reductions that are not computed in parts.
    """
    changes = _InParts(parts, order)
    return {
        **reorder_sums(order),
        **dict.fromkeys(("mm", "addmm", "mv", "addmv", "dot", "bmm", "baddbmm"), changes.matrix),
        "convolution": changes.convolution,
        "convolution_backward": changes.convolution_backward,
        **dict.fromkeys(("sum", "mean"), changes.reduction),
    }


class _Reordered:
    """Every reduced axis in another order."""

    def __init__(self, order: Order) -> None:
        self._apply, self._undo = order.apply, order.undo
        self._backwards = order.seed is None

    def matrix(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Matrix products: the inner axis."""
        *first, left, right = args
        return operation.function(*first, self._apply(left, -1), self._apply(right, _inner_axis(right)), **kwargs)

    def convolution(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Input channels within each group."""
        x, weight, transposed, groups = args[0], args[1], args[6], args[8]
        # A transposed weight is [C, O / groups, ...]: the summed axis is its first, in groups.
        turned = self._rows_in_groups(weight, groups) if transposed else self._apply(weight, 1)
        return operation.function(self._channels_in_groups(x, groups), turned, *args[2:], **kwargs)

    def convolution_backward(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Weight and bias gradients over the batch; the input's over output channels."""
        g, x, weight = args[:3]
        transposed, groups, mask = args[7], args[9], args[10]
        results: list[Any] = [None, None, None]
        if mask[0]:
            turned = self._apply(weight, 1) if transposed else self._rows_in_groups(weight, groups)
            only = _replace(args, {0: self._channels_in_groups(g, groups), 2: turned, 10: [True, False, False]})
            results[0] = operation.function(*only, **kwargs)[0]
        if mask[1] or mask[2]:
            only = _replace(args, {0: self._apply(g, 0), 1: self._apply(x, 0), 10: [False, mask[1], mask[2]]})
            results[1:] = operation.function(*only, **kwargs)[1:]
        return results

    def _channels_in_groups(self, x: Tensor, groups: int) -> Tensor:
        grouped = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
        turned: Tensor = self._apply(grouped, 2).reshape(x.shape)
        return turned

    def _rows_in_groups(self, weight: Tensor, groups: int) -> Tensor:
        turned: Tensor = self._apply(weight.reshape(groups, -1, *weight.shape[1:]), 1).reshape(weight.shape)
        return turned

    def reduction(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Reductions over axes."""
        return operation.function(self._apply(args[0], *_reduced_axes(args)), *args[1:], **kwargs)

    def softmax(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The axis that is normalised."""
        return self._undo(operation.function(self._apply(args[0], args[1]), *args[1:], **kwargs), args[1])

    def softmax_backward(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The axis that was normalised."""
        g, y, axis = args[:3]
        result = operation.function(self._apply(g, axis), self._apply(y, axis), *args[2:], **kwargs)
        return self._undo(result, axis)

    def batch_norm(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Batch and positions."""
        axes = _all_but_channels(args[0])
        out, *rest = operation.function(self._apply(args[0], *axes), *args[1:], **kwargs)
        return [self._undo(out, *axes), *rest]

    def batch_norm_backward(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Batch and positions."""
        g, x = args[:2]
        axes = _all_but_channels(x)
        out, *rest = operation.function(self._apply(g, *axes), self._apply(x, *axes), *args[2:], **kwargs)
        return [self._undo(out, *axes), *rest]

    def layer_norm(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The normalised axes."""
        x, shape, weight, bias = args[:4]
        axes = tuple(range(-len(shape), 0))
        turned = (self._apply(x, *axes), shape, self._apply(weight, *axes), self._apply(bias, *axes))
        out, *rest = operation.function(*turned, *args[4:], **kwargs)
        return [self._undo(out, *axes), *rest]

    def layer_norm_backward(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """All axes, since each gradient sums others; every result comes back in the old order."""
        g, x, shape, mean, rstd, weight, bias, mask = args
        inner = tuple(range(-len(shape), 0))
        outer = tuple(range(x.dim() - len(shape)))
        everything = (*outer, *inner)
        apply, undo = self._apply, self._undo
        results = operation.function(
            apply(g, *everything), apply(x, *everything), shape, apply(mean, *outer), apply(rstd, *outer),
            apply(weight, *inner), apply(bias, *inner), mask, **kwargs,
        )  # fmt: skip
        return [
            undo(results[0], *everything) if mask[0] else None,
            undo(results[1], *inner) if mask[1] else None,
            undo(results[2], *inner) if mask[2] else None,
        ]

    def group_norm(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Positions."""
        axes = tuple(range(2, args[0].dim()))
        out, *rest = operation.function(self._apply(args[0], *axes), *args[1:], **kwargs)
        return [self._undo(out, *axes), *rest]

    def group_norm_backward(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Positions."""
        axes = tuple(range(2, args[0].dim()))
        turned = (self._apply(args[0], *axes), self._apply(args[1], *axes))
        out, *rest = operation.function(*turned, *args[2:], **kwargs)
        return [self._undo(out, *axes), *rest]

    def embedding_backward(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The order in which rows meet."""
        g, indices = args[:2]
        rows = self._apply(g.reshape(-1, g.shape[-1]), 0)
        return operation.function(rows, self._apply(indices.reshape(-1), 0), *args[2:], **kwargs)

    def index_put(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The order in which rows meet, for plain lists of indices."""
        base, indices, values = args[:3]
        given = [index for index in indices if index is not None]
        if any(index.dtype == torch.bool or index.dim() != 1 for index in given) or values.dim() == 0:
            return native(operation, args, kwargs)
        if indices[0] is None or any(index.shape != given[0].shape for index in given):
            return native(operation, args, kwargs)
        if values.dim() != base.dim() - len(given) + 1:  # one row for all indices: its first axis is another one
            return native(operation, args, kwargs)
        turned = [self._apply(index, 0) for index in indices]
        return operation.function(base, turned, self._apply(values, 0), *args[3:], **kwargs)

    def scatter_add(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The axis along which elements meet."""
        base, axis, index, source = args[:4]
        if index.dim() == 0 or tuple(index.shape) != tuple(source.shape):
            return native(operation, args, kwargs)
        return operation.function(base, axis, self._apply(index, axis), self._apply(source, axis), *args[4:], **kwargs)

    def index_add(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The axis along which slices meet."""
        base, axis, index, source = args[:4]
        if index.dim() == 0 or source.dim() == 0:
            return native(operation, args, kwargs)
        return operation.function(base, axis, self._apply(index, 0), self._apply(source, axis), *args[4:], **kwargs)

    def loss(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Losses over rows; only with a reduction, so that no result keeps the rows."""
        if operation.named(args, kwargs)["reduction"] == 0 or args[0].dim() < 2:
            return native(operation, args, kwargs)
        # nll_loss has one label for each row and one weight for each class; elsewhere what has all axes has the rows.
        by_row = [2, 1] if operation.node.entry.kind == "nll_loss_forward" else [args[0].dim()] * 3
        turned = [
            self._apply(a, 0) if isinstance(a, Tensor) and i < len(by_row) and a.dim() == by_row[i] else a
            for i, a in enumerate(args)
        ]
        return operation.function(*turned, **kwargs)

    def adaptive_mean(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Positions: windows that divide the axis change places whole when it is read backwards, and only then."""
        x, size = args[0], args[1]
        spatial = x.shape[-len(size) :]
        if not self._backwards or any(length % n for length, n in zip(spatial, size, strict=True)):
            return native(operation, args, kwargs)
        axes = tuple(range(-len(size), 0))
        return self._undo(operation.function(self._apply(x, *axes), *args[1:], **kwargs), *axes)


class _InParts:
    """Reductions in parts that are added."""

    def __init__(self, parts: int, order: Order) -> None:
        self._parts = parts
        self._whole = _Reordered(order)

    def matrix(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Matrix products: the inner axis in parts."""
        *first, left, right = args
        inner = _inner_axis(right)
        ranges = self._ranges(left.shape[-1])
        if len(ranges) < 2:
            return native(operation, args, kwargs)
        product = {"mv": _aten.mv, "addmv": _aten.mv, "dot": _aten.dot, "bmm": _aten.bmm, "baddbmm": _aten.bmm}.get(
            operation.node.entry.kind, _aten.mm
        )
        alpha = kwargs.get("alpha", 1)
        parts = (product(left.narrow(-1, s, n), right.narrow(inner, s, n)) * alpha for s, n in ranges)
        total = _added(parts)
        return total + first[0] * kwargs.get("beta", 1) if first else total

    def convolution(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Input channels in parts; in another order where they are in groups."""
        x, weight, bias, transposed, groups = *args[:3], args[6], args[8]
        ranges = self._ranges(x.shape[1])
        if groups != 1 or len(ranges) < 2:
            return self._whole.convolution(operation, args, kwargs)
        axis = 0 if transposed else 1
        total = _added(
            operation.function(x.narrow(1, s, n), weight.narrow(axis, s, n), None, *args[3:], **kwargs)
            for s, n in ranges
        )
        return total if bias is None else total + bias.reshape(-1, *(1 for _ in range(x.dim() - 2)))

    def convolution_backward(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Weight and bias gradients with the batch in parts."""
        g, x = args[:2]
        mask = args[10]
        ranges = self._ranges(g.shape[0])
        if len(ranges) < 2:
            return self._whole.convolution_backward(operation, args, kwargs)
        only = _replace(args, {10: [mask[0], False, False]})
        results = list(self._whole.convolution_backward(operation, only, kwargs))
        parts = []
        for start, count in ranges:
            rows = {0: g.narrow(0, start, count), 1: x.narrow(0, start, count), 10: [False, *mask[1:]]}
            parts.append(operation.function(*_replace(args, rows), **kwargs))
        for index in (1, 2):
            if mask[index]:
                results[index] = _added(part[index] for part in parts)
        return results

    def reduction(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Sums and means: the first reduced axis in parts."""
        x, axes = args[0], _reduced_axes(args)
        ranges = self._ranges(x.shape[axes[0]]) if axes else []
        if len(ranges) < 2:
            return native(operation, args, kwargs)
        keep = args[2] if len(args) > 2 else False
        total = _added(x.narrow(axes[0], s, n).sum(axes, keepdim=keep) for s, n in ranges)
        return total / math.prod(x.shape[a] for a in axes) if operation.node.entry.kind == "mean" else total

    def _ranges(self, length: int) -> list[tuple[int, int]]:
        """Start and length of each part, the last part first."""
        parts = min(self._parts, length)
        bounds = [length * number // parts for number in range(parts + 1)] if parts else []
        return [(start, end - start) for start, end in pairwise(bounds)][::-1]


def _added(parts: Any) -> Any:
    first, *rest = parts
    for part in rest:
        first = first + part
    return first


def _inner_axis(right: Tensor) -> int:
    return 0 if right.dim() == 1 else right.dim() - 2


def _all_but_channels(x: Tensor) -> tuple[int, ...]:
    return (0, *range(2, x.dim()))


def _reduced_axes(args: Sequence[Any]) -> list[int]:
    axes = args[1] if len(args) > 1 else None
    if axes is None or axes == []:
        return list(range(args[0].dim()))
    return [axes] if isinstance(axes, int) else list(axes)


def _replace(args: Sequence[Any], by_position: Mapping[int, Any]) -> list[Any]:
    return [by_position.get(position, value) for position, value in enumerate(args)]
