"""Imitates other hardware on one machine: every reduction in another order, every function with other last bits.

Honest hardware differs in the order in which it adds, in whether it fuses, and in the last bit of its functions. A
perturbation does the same to every operator that has such freedom, so that replay can be tested against honest
nondeterminism anywhere.

Named perturbations:

* ``reversed``: every reduced axis is read backwards.
* ``split``: every reduction is computed in two parts which are added.
* ``jitter``: elementwise functions are off by one ulp in a pattern of their bits, as other libraries are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil.execution.interpreter import Compute, Operation, native
from counterfoil.program.operators import OperatorClass

PERTURBATIONS = ("reversed", "split", "jitter")

_aten = torch.ops.aten


def perturbed(name: str) -> Compute:
    """Return the executor of a perturbation.

    Raises:
        ValueError: There is no perturbation of that name.
    """
    if name == "jitter":
        return _jittered
    table = {"reversed": _REVERSED, "split": _SPLIT}.get(name)
    if table is None:
        raise ValueError(f"no perturbation {name!r}; there are {', '.join(PERTURBATIONS)}")

    def compute(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        change = table.get(operation.node.entry.kind)
        rounded = operation.node.entry.operator_class is OperatorClass.ROUNDED
        if change is None or not rounded:
            return native(operation, args, kwargs)
        return change(operation, args, kwargs)

    return compute


def kinds(name: str) -> frozenset[str]:
    """The operator kinds whose computation a perturbation by reordering changes."""
    return frozenset({"reversed": _REVERSED, "split": _SPLIT}[name])


def _flip(x: Any, *axes: int) -> Any:
    return x.flip(axes) if isinstance(x, Tensor) and axes else x


def _replace(args: Sequence[Any], **by_position: Any) -> list[Any]:
    return [by_position.get(f"a{i}", value) for i, value in enumerate(args)]


Change = Callable[[Operation, list[Any], dict[str, Any]], Any]


def _matrix(split: bool) -> Change:
    """Matrix products: the inner axis backwards, or in two parts."""

    def change(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        first, second = len(args) - 2, len(args) - 1
        left, right = args[first], args[second]
        inner = 0 if right.dim() == 1 else right.dim() - 2
        if not split:
            return operation.function(*args[:first], left.flip(-1), right.flip(inner), **kwargs)
        length = left.shape[-1]
        middle = length // 2
        if middle == 0:
            return native(operation, args, kwargs)
        product = {"mv": _aten.mv, "addmv": _aten.mv, "dot": _aten.dot, "bmm": _aten.bmm, "baddbmm": _aten.bmm}.get(
            operation.node.entry.kind, _aten.mm
        )
        parts = [
            product(left.narrow(-1, start, count), right.narrow(inner, start, count))
            for start, count in ((0, middle), (middle, length - middle))
        ]
        total = parts[1] * kwargs.get("alpha", 1) + parts[0] * kwargs.get("alpha", 1)
        return total if first == 0 else total + args[0] * kwargs.get("beta", 1)

    return change


def _reversed_convolution(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Input channels backwards within each group (and kernel positions where nothing depends on them)."""
    x, weight, transposed, groups = args[0], args[1], args[6], args[8]
    if transposed:
        # weight is [C, O / groups, ...]: the summed axis is its first, in groups.
        return operation.function(_flip_groups(x, groups), _flip_rows(weight, groups), *args[2:], **kwargs)
    return operation.function(_flip_groups(x, groups), weight.flip(1), *args[2:], **kwargs)


def _flip_groups(x: Tensor, groups: int) -> Tensor:
    return x.reshape(x.shape[0], groups, -1, *x.shape[2:]).flip(2).reshape(x.shape)


def _flip_rows(weight: Tensor, groups: int) -> Tensor:
    return weight.reshape(groups, -1, *weight.shape[1:]).flip(1).reshape(weight.shape)


def _split_convolution(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Input channels in two halves whose results are added; grouped ones as they are."""
    x, weight, bias, transposed, groups = *args[:3], args[6], args[8]
    channels = x.shape[1]
    if groups != 1 or channels < 2:
        return _reversed_convolution(operation, args, kwargs)
    middle, axis = channels // 2, 0 if transposed else 1
    parts = [
        operation.function(x.narrow(1, s, n), weight.narrow(axis, s, n), None, *args[3:], **kwargs)
        for s, n in ((middle, channels - middle), (0, middle))
    ]
    total = parts[0] + parts[1]
    return total if bias is None else total + bias.reshape(-1, *(1 for _ in range(x.dim() - 2)))


def _reversed_convolution_backward(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Weight and bias gradients with the batch backwards; the input's with output channels backwards."""
    g, x, weight = args[:3]
    transposed, groups, mask = args[7], args[9], args[10]
    results: list[Any] = [None, None, None]
    if mask[0]:
        flipped = weight.flip(1) if transposed else _flip_rows(weight, groups)
        only = _replace(args, a0=_flip_groups(g, groups), a2=flipped, a10=[True, False, False])
        results[0] = operation.function(*only, **kwargs)[0]
    if mask[1] or mask[2]:
        only = _replace(args, a0=g.flip(0), a1=x.flip(0), a10=[False, mask[1], mask[2]])
        results[1:] = operation.function(*only, **kwargs)[1:]
    return results


def _split_convolution_backward(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Weight and bias gradients as the sum over two halves of the batch."""
    g, x = args[:2]
    mask = args[10]
    batch = g.shape[0]
    results = list(_reversed_convolution_backward(operation, _replace(args, a10=[mask[0], False, False]), kwargs))
    if batch < 2:
        return _reversed_convolution_backward(operation, args, kwargs)
    middle = batch // 2
    parts = [
        operation.function(
            *_replace(args, a0=g.narrow(0, s, n), a1=x.narrow(0, s, n), a10=[False, *mask[1:]]), **kwargs
        )
        for s, n in ((middle, batch - middle), (0, middle))
    ]
    for index in (1, 2):
        if mask[index]:
            results[index] = parts[0][index] + parts[1][index]
    return results


def _sum_axes(args: list[Any]) -> list[int]:
    x = args[0]
    dims = args[1] if len(args) > 1 else None
    if dims is None or dims == []:
        return list(range(x.dim()))
    return [dims] if isinstance(dims, int) else list(dims)


def _reversed_reduction(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Reductions over axes: each of them backwards."""
    return operation.function(_flip(args[0], *_sum_axes(args)), *args[1:], **kwargs)


def _split_reduction(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Sums and means: in two halves of the first reduced axis."""
    x, axes = args[0], _sum_axes(args)
    if not axes or x.shape[axes[0]] < 2:
        return native(operation, args, kwargs)
    length = x.shape[axes[0]]
    middle = length // 2
    keep = args[2] if len(args) > 2 else False
    parts = [x.narrow(axes[0], s, n).sum(axes, keepdim=keep) for s, n in ((middle, length - middle), (0, middle))]
    total = parts[0] + parts[1]
    return total / math.prod(x.shape[a] for a in axes) if operation.node.entry.kind == "mean" else total


def _reversed_softmax(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    axis = args[1]
    return operation.function(_flip(args[0], axis), *args[1:], **kwargs).flip(axis)


def _reversed_softmax_backward(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    axis = args[2]
    return operation.function(_flip(args[0], axis), _flip(args[1], axis), *args[2:], **kwargs).flip(axis)


def _reversed_batch_norm(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    x = args[0]
    axes = (0, *range(2, x.dim()))
    out, *rest = operation.function(x.flip(axes), *args[1:], **kwargs)
    return [out.flip(axes), *rest]


def _reversed_batch_norm_backward(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    g, x = args[:2]
    axes = (0, *range(2, x.dim()))
    out, *rest = operation.function(g.flip(axes), x.flip(axes), *args[2:], **kwargs)
    return [None if out is None else out.flip(axes), *rest]


def _reversed_layer_norm(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    x, shape, weight, bias = args[:4]
    axes = tuple(range(-len(shape), 0))
    out, *rest = operation.function(x.flip(axes), shape, _flip(weight, *axes), _flip(bias, *axes), *args[4:], **kwargs)
    return [out.flip(axes), *rest]


def _reversed_layer_norm_backward(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    g, x, shape, mean, rstd, weight, bias, mask = args
    inner = tuple(range(-len(shape), 0))
    outer = tuple(range(x.dim() - len(shape)))
    # Each gradient sums other axes, so all axes go backwards and every result comes back the right way round.
    everything = (*outer, *inner)
    results = operation.function(
        g.flip(everything), x.flip(everything), shape, _flip(mean, *outer), _flip(rstd, *outer),
        _flip(weight, *inner), _flip(bias, *inner), mask, **kwargs,
    )  # fmt: skip
    return [
        _flip(results[0], *everything) if mask[0] else None,
        _flip(results[1], *inner) if mask[1] else None,
        _flip(results[2], *inner) if mask[2] else None,
    ]


def _reversed_group_norm(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    axes = tuple(range(2, args[0].dim()))
    out, *rest = operation.function(_flip(args[0], *axes), *args[1:], **kwargs)
    return [_flip(out, *axes), *rest]


def _reversed_group_norm_backward(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    axes = tuple(range(2, args[0].dim()))
    out, *rest = operation.function(_flip(args[0], *axes), _flip(args[1], *axes), *args[2:], **kwargs)
    return [_flip(out, *axes), *rest]


def _reversed_embedding_backward(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Rows meet in the opposite order."""
    g, indices = args[:2]
    flat = g.reshape(-1, g.shape[-1]).flip(0)
    return operation.function(flat, indices.reshape(-1).flip(0), *args[2:], **kwargs)


def _reversed_index_put(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    base, indices, values = args[:3]
    given = [index for index in indices if index is not None]
    if any(index.dtype == torch.bool or index.dim() != 1 for index in given) or values.dim() == 0:
        return native(operation, args, kwargs)
    if indices[0] is None or any(index.shape != given[0].shape for index in given):
        return native(operation, args, kwargs)
    if values.dim() != base.dim() - len(given) + 1:  # one row for all indices: its first axis is another one
        return native(operation, args, kwargs)
    return operation.function(base, [_flip(index, 0) for index in indices], values.flip(0), *args[3:], **kwargs)


def _reversed_scatter_add(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    base, axis, index, source = args[:4]
    if index.dim() == 0 or tuple(index.shape) != tuple(source.shape):
        return native(operation, args, kwargs)
    return operation.function(base, axis, index.flip(axis), source.flip(axis), *args[4:], **kwargs)


def _reversed_index_add(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    base, axis, index, source = args[:4]
    if index.dim() == 0:
        return native(operation, args, kwargs)
    return operation.function(base, axis, index.flip(0), source.flip(axis), *args[4:], **kwargs)


def _reversed_loss(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Losses that average over rows: rows backwards (only with a reduction, so the result does not turn round)."""
    reduction = operation.named(args, kwargs)["reduction"]
    if reduction == 0 or args[0].dim() < 2:
        return native(operation, args, kwargs)
    # nll_loss has one label for each row and one weight for each class; elsewhere what has all axes has the rows.
    by_row = [2, 1] if operation.node.entry.kind == "nll_loss_forward" else [args[0].dim()] * 3
    changed = [
        a.flip(0) if isinstance(a, Tensor) and i < len(by_row) and a.dim() == by_row[i] else a
        for i, a in enumerate(args)
    ]
    return operation.function(*changed, **kwargs)


def _whole_mean(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    # Windows of adaptive pooling are symmetric under reversal only when they divide the axis.
    x, size = args[0], args[1]
    spatial = x.shape[-len(size) :]
    if any(length % n for length, n in zip(spatial, size, strict=True)):
        return native(operation, args, kwargs)
    axes = tuple(range(-len(size), 0))
    return operation.function(_flip(x, *axes), *args[1:], **kwargs).flip(axes)


_REVERSED: dict[str, Change] = {
    **dict.fromkeys(("mm", "addmm", "mv", "addmv", "dot", "bmm", "baddbmm"), _matrix(split=False)),
    "convolution": _reversed_convolution,
    "convolution_backward": _reversed_convolution_backward,
    **dict.fromkeys(("sum", "mean", "prod", "var", "std", "var_mean"), _reversed_reduction),
    "logsumexp": _reversed_reduction,
    "_softmax": _reversed_softmax,
    "_log_softmax": _reversed_softmax,
    "_safe_softmax": _reversed_softmax,
    "_softmax_backward_data": _reversed_softmax_backward,
    "_log_softmax_backward_data": _reversed_softmax_backward,
    "_native_batch_norm_legit_functional": _reversed_batch_norm,
    "_native_batch_norm_legit": _reversed_batch_norm,
    "native_batch_norm_backward": _reversed_batch_norm_backward,
    "native_layer_norm": _reversed_layer_norm,
    "native_layer_norm_backward": _reversed_layer_norm_backward,
    "native_group_norm": _reversed_group_norm,
    "native_group_norm_backward": _reversed_group_norm_backward,
    "embedding_dense_backward": _reversed_embedding_backward,
    "index_put": _reversed_index_put,
    "scatter_add": _reversed_scatter_add,
    "index_add": _reversed_index_add,
    "_adaptive_avg_pool2d": _whole_mean,
    **dict.fromkeys(("nll_loss_forward", "mse_loss", "smooth_l1_loss", "huber_loss"), _reversed_loss),
    "binary_cross_entropy": _reversed_loss,
}

_SPLIT: dict[str, Change] = {
    **_REVERSED,
    **dict.fromkeys(("mm", "addmm", "mv", "addmv", "dot", "bmm", "baddbmm"), _matrix(split=True)),
    "convolution": _split_convolution,
    "convolution_backward": _split_convolution_backward,
    "sum": _split_reduction,
    "mean": _split_reduction,
}


def _jittered(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Move each element of an elementwise function's result by -1, 0 or 1 ulp, as its own bits decide."""
    result = native(operation, args, kwargs)
    entry = operation.node.entry
    if entry.operator_class is not OperatorClass.ROUNDED or entry.scale not in ("output", "terms"):
        return result
    if not isinstance(result, Tensor) or result.dtype not in (torch.float64, torch.float32):
        return result
    bits = result.contiguous().view(torch.int64 if result.dtype == torch.float64 else torch.int32)
    # Zero and infinity are special values in every library; the low bits of the rest decide.
    ordinary = (result != 0) & torch.isfinite(result)
    shift = (bits.long() * -7046029254386353131 >> 61) % 3 - 1
    return torch.where(ordinary, (bits + shift.to(bits.dtype)).view(result.dtype), result)
