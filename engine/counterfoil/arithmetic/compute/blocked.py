"""Forms of our own for operators whose sums are long: blocks that are summed, and then their sums.

A library adds n terms in an order of its own, and the error bound of that grows with n. Here an axis is cut into blocks
of about its square root, and axes are summed one after another, so that a term passes through about 2 sqrt(n)
additions. Variances take two passes, products are cut into parts, and elements that meet at one index are first added
in groups. Which uses of an operator are computed so follows from shapes alone (:mod:`counterfoil.operators.sums`).

A form is a small program of ATen operators, its pieces. The pieces that sum or call a library function go through
``run``, so that another machine can be imitated piece by piece; what stands beside them is one correctly rounded
operation per element.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil.arithmetic.compute.buffered import combined, product, samples_at_once
from counterfoil.kernels import buffers
from counterfoil.kernels.cpu import normalising
from counterfoil.operators import sums
from counterfoil.operators.sums import Arguments

Run = Callable[..., Any]
"""Computes one piece: called with the name of an ATen operator and its positional arguments."""
Form = Callable[[Run, Arguments], Any]
"""Computes an operator from its arguments by name."""

_LARGEST_EXPONENT = 2200
"""Beyond this exponent a float64 number is zero or infinite whatever its significand."""


def natively(name: str, *args: Any) -> Any:
    """Compute a piece as the device does."""
    if name in _PRODUCTS:
        return product(name, *args)
    _, operator, overload = name.split(".")
    return getattr(getattr(torch.ops.aten, operator), overload)(*args)


_PRODUCTS = frozenset({"aten.mm.default", "aten.bmm.default"})
Reduce = Callable[[Tensor, int], Tensor]
"""Reduces one axis, which stays with the length 1."""


def total(run: Run, x: Tensor, axes: Sequence[int], *, keepdim: bool = False) -> Tensor:
    """Return the sum of ``x`` over some of its axes, none negative: one axis after another, the last first."""

    def reduce(part: Tensor, axis: int) -> Tensor:
        result: Tensor = run("aten.sum.dim_IntList", part, [axis], True)
        return result

    return _reduced(reduce, x, axes, keepdim=keepdim)


def _reduced(reduce: Reduce, x: Tensor, axes: Sequence[int], *, keepdim: bool) -> Tensor:
    """Reduce axes one after another; the reduction of several results must be that of all their terms."""
    ordered = sorted(axes, reverse=True)
    for axis in ordered:
        x = _along(reduce, x, axis)
    return x if keepdim or not ordered else x.squeeze(tuple(ordered))


def _along(reduce: Reduce, x: Tensor, axis: int) -> Tensor:
    length = x.shape[axis]
    if length <= sums.SHORT:
        return reduce(x, axis)
    block = sums.block_length(length)
    whole = length // block * block
    blocks = _cut(x.narrow(axis, 0, whole), axis, block)
    partial = reduce(blocks, axis + 1).squeeze(axis + 1)
    if whole < length:
        partial = torch.cat([partial, reduce(x.narrow(axis, whole, length - whole), axis)], axis)
    return reduce(partial, axis)


def _cut(x: Tensor, axis: int, block: int) -> Tensor:
    """View an axis as two: blocks, and positions within a block."""
    return x.view(*x.shape[:axis], x.shape[axis] // block, block, *x.shape[axis + 1 :])


def _mean(run: Run, x: Tensor, axes: Sequence[int], *, keepdim: bool) -> Tensor:
    count = math.prod(x.shape[axis] for axis in axes)
    result: Tensor = run("aten.div.Scalar", total(run, x, axes, keepdim=keepdim), float(count))
    return result


def _cast(x: Tensor, arguments: Arguments) -> Tensor:
    dtype = arguments.get("dtype")
    return x if dtype is None else x.to(dtype)


def _sum(run: Run, a: Arguments) -> Any:
    return total(run, _cast(a["self"], a), sums.reduced_axes(a), keepdim=bool(a.get("keepdim")))


def _mean_form(run: Run, a: Arguments) -> Any:
    return _mean(run, _cast(a["self"], a), sums.reduced_axes(a), keepdim=bool(a.get("keepdim")))


def _norm(run: Run, a: Arguments) -> Any:
    """Norms; those of other orders than 1 and 2 of numbers that are at most 1, so that no power leaves the range."""
    x, axes, keep, order = _cast(a["self"], a), sums.reduced_axes(a), bool(a.get("keepdim")), sums.norm_order(a)
    if order in (1.0, 2.0) or x.numel() == 0:

        def reduce(part: Tensor, axis: int) -> Tensor:
            result: Tensor = run("aten.linalg_vector_norm.default", part, order, [axis], True)
            return result

        return _reduced(reduce, x, axes, keepdim=keep) if axes else x.abs()
    size = x.abs()
    top = (size.amax(axes, True) if order > 0 else size.amin(axes, True)) if axes else size
    ratio = run("aten.div.Tensor", size, torch.where(top > 0, top, 1.0))
    summed = total(run, run("aten.pow.Tensor_Scalar", ratio, order), axes, keepdim=True)
    result = run("aten.pow.Tensor_Scalar", summed, 1.0 / order) * top
    return result if keep or not axes else result.squeeze(tuple(axes))


def _prod(run: Run, a: Arguments) -> Any:
    """Products of significands, halved again and again, beside sums of exponents: neither overflows nor vanishes."""
    x = _cast(a["self"], a)
    axes = sums.reduced_axes(a)
    significand, exponent = torch.frexp(x)
    exponent = exponent.long()
    for axis in axes:
        if x.shape[axis] == 0:
            significand, exponent = (
                torch.full_like(part.sum(axis, keepdim=True), fill) for part, fill in ((significand, 1), (exponent, 0))
            )
        while (length := significand.shape[axis]) > 1:
            half = length // 2
            product = significand.narrow(axis, 0, half) * significand.narrow(axis, half, half)
            added = exponent.narrow(axis, 0, half) + exponent.narrow(axis, half, half)
            if length % 2:
                product = torch.cat([product, significand.narrow(axis, length - 1, 1)], axis)
                added = torch.cat([added, exponent.narrow(axis, length - 1, 1)], axis)
            significand, carried = torch.frexp(product)
            exponent = added + carried
    exponent = torch.where(significand == 0, 0, exponent).clamp(-_LARGEST_EXPONENT, _LARGEST_EXPONENT)
    half_exponent = exponent // 2
    result = torch.ldexp(torch.ldexp(significand, half_exponent), exponent - half_exponent)
    return result if a.get("keepdim") or not axes else result.squeeze(tuple(axes))


def _variance(run: Run, a: Arguments) -> Any:
    """Variances in two passes."""
    x, axes, keep = a["self"], sums.reduced_axes(a), bool(a.get("keepdim"))
    mean = _mean(run, x, axes, keepdim=True)
    centred = x - mean
    correction = a.get("correction")
    count = math.prod(x.shape[axis] for axis in axes)
    kept = max(count - (1.0 if correction is None else float(correction)), 0.0)
    variance = run("aten.div.Scalar", total(run, centred.mul_(centred), axes, keepdim=keep), kept)
    return variance, mean if keep else mean.squeeze(tuple(axes))


def _deviation(run: Run, a: Arguments) -> Any:
    return run("aten.sqrt.default", _variance(run, a)[0])


def _moments(run: Run, x: Tensor, axes: Sequence[int], eps: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return centred values, mean, variance and reciprocal deviation; the last three keep their axes."""
    mean = _mean(run, x, axes, keepdim=True)
    centred = combined(torch.sub, x, mean)
    variance = _mean(run, combined(torch.mul, centred, centred), axes, keepdim=True)
    return centred, mean, variance, run("aten.rsqrt.default", variance + eps)


def _affine(values: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Multiply by a weight and add a bias, in place; both have the axes of ``values``."""
    if weight is not None:
        values = values.mul_(weight)
    return values if bias is None else values.add_(bias)


def _as_channels(values: Tensor | None, axes: int) -> Tensor | None:
    return None if values is None else values.reshape(-1, *[1] * (axes - 2))


def _batch_norm(run: Run, a: Arguments) -> Any:
    """Batch norm in training, in two passes."""
    if run is natively and normalising.takes_batch_norm(a):
        return normalising.batch_norm(a)
    x, momentum = a["input"], a["momentum"]
    axes = [axis for axis in range(x.dim()) if axis != 1]
    centred, mean, variance, rstd = _moments(run, x, axes, a["eps"])
    out = _affine(centred.mul_(rstd), _as_channels(a["weight"], x.dim()), _as_channels(a["bias"], x.dim()))
    mean, variance, rstd = mean.flatten(), variance.flatten(), rstd.flatten()
    if "running_mean" not in a:
        return out, mean, rstd
    count = x.numel() // max(x.shape[1], 1)
    unbiased = variance * (count / max(count - 1, 1))
    return (
        out,
        mean,
        rstd,
        a["running_mean"] * (1.0 - momentum) + mean * momentum,
        a["running_var"] * (1.0 - momentum) + unbiased * momentum,
    )


def _batch_norm_backward(run: Run, a: Arguments) -> Any:
    """Gradients of batch norm: sums of g and of g (x - mean)."""
    if run is natively and normalising.takes_batch_norm_backward(a):
        return normalising.batch_norm_backward(a)
    g, x, mask, training = a["grad_out"], a["input"], a["output_mask"], a["train"]
    axes = [axis for axis in range(x.dim()) if axis != 1]
    if training:
        mean, rstd = a["save_mean"], a["save_invstd"]
    else:
        mean, rstd = a["running_mean"], run("aten.rsqrt.default", a["running_var"] + a["eps"])
    shape = [1, -1] + [1] * (x.dim() - 2)
    centred, spread = combined(torch.sub, x, mean.reshape(shape)), rstd.reshape(shape)
    summed = total(run, g, axes, keepdim=True)
    projected = total(run, combined(torch.mul, g, centred), axes, keepdim=True)
    to_input = None
    if mask[0]:
        factor = spread if a["weight"] is None else spread * a["weight"].reshape(shape)
        if training:
            count = float(x.numel() // max(x.shape[1], 1))
            share = run("aten.div.Scalar", summed, count)
            slope = run("aten.div.Scalar", projected * spread * spread, count)
            to_input = combined(torch.sub, g, share).sub_(centred.mul_(slope)).mul_(factor)
        else:
            to_input = combined(torch.mul, g, factor)
    return to_input, (projected * spread).flatten() if mask[1] else None, summed.flatten() if mask[2] else None


def _layer_norm(run: Run, a: Arguments) -> Any:
    """Layer norm in two passes."""
    if run is natively and normalising.takes_layer_norm(a):
        return normalising.layer_norm(a)
    x = a["input"]
    inner = len(a["normalized_shape"])
    axes = list(range(x.dim() - inner, x.dim()))
    centred, mean, _, rstd = _moments(run, x, axes, a["eps"])
    return _affine(centred.mul_(rstd), a["weight"], a["bias"]), mean, rstd


def _row_gradient(
    run: Run, g: Tensor, normalised: Tensor, weight: Tensor | None, rstd: Tensor, axes: Sequence[int], products: Tensor
) -> Tensor:
    """Gradient of a normalised row: g less its mean and its projection on the row, times rstd.

    ``normalised``, and ``products``, which is g times it, are overwritten.
    """
    weighted = g.clone() if weight is None else combined(torch.mul, g, weight)
    projected = _mean(run, products if weight is None else products.mul_(weight), axes, keepdim=True)
    return weighted.sub_(_mean(run, weighted, axes, keepdim=True)).sub_(normalised.mul_(projected)).mul_(rstd)


def _layer_norm_backward(run: Run, a: Arguments) -> Any:
    """Gradients of layer norm: rows for the input's, columns for weight and bias."""
    if run is natively and normalising.takes_layer_norm_backward(a):
        return normalising.layer_norm_backward(a)
    g, x, mask = a["grad_out"], a["input"], a["output_mask"]
    outer = x.dim() - len(a["normalized_shape"])
    columns, rows = list(range(outer)), list(range(outer, x.dim()))
    normalised = combined(torch.sub, x, a["mean"]).mul_(a["rstd"])
    products = combined(torch.mul, g, normalised)
    to_weight = total(run, products, columns) if mask[1] else None
    return (
        _row_gradient(run, g, normalised, a["weight"], a["rstd"], rows, products) if mask[0] else None,
        to_weight,
        total(run, g, columns) if mask[2] else None,
    )


def _channel_rows(values: Tensor | None, a: Arguments) -> Tensor | None:
    """Return a tensor of channels as ``[1, groups, channels of a group, 1]``."""
    return None if values is None else values.reshape(1, a["group"], -1, 1)


def _grouped(x: Tensor, a: Arguments) -> Tensor:
    """Return ``[N, C, ...]`` as ``[N, groups, channels of a group, positions]``."""
    return x.reshape(a["N"], a["group"], a["C"] // a["group"], a["HxW"])


def _group_norm(run: Run, a: Arguments) -> Any:
    """Group norm in two passes."""
    x = a["input"]
    centred, mean, _, rstd = _moments(run, _grouped(x, a), [2, 3], a["eps"])
    out = _affine(centred.mul_(rstd), _channel_rows(a["weight"], a), _channel_rows(a["bias"], a))
    return out.reshape(x.shape), mean.reshape(a["N"], a["group"]), rstd.reshape(a["N"], a["group"])


def _group_norm_backward(run: Run, a: Arguments) -> Any:
    """Gradients of group norm."""
    x, mask = a["input"], a["output_mask"]
    g = _grouped(a["grad_out"], a)
    statistics = (a["N"], a["group"], 1, 1)
    rstd = a["rstd"].reshape(statistics)
    normalised = (_grouped(x, a) - a["mean"].reshape(statistics)).mul_(rstd)
    products = g * normalised
    to_weight = total(run, products, [0, 3]).flatten() if mask[1] else None
    to_input = None
    if mask[0]:
        weight = _channel_rows(a["weight"], a)
        to_input = _row_gradient(run, g, normalised, weight, rstd, [2, 3], products).reshape(x.shape)
    return to_input, to_weight, total(run, g, [0, 3]).flatten() if mask[2] else None


def _matrix(run: Run, a: Arguments) -> Any:
    """Matrix products with the inner axis in parts."""
    name = sums.second_factor(a)
    right, factor = a[name], {"mat2": "mat1", "batch2": "batch1", "vec": "mat"}.get(name, "")
    left, is_added = a.get(factor, a["self"]), factor in a
    operator = {"vec": "mv", "tensor": "dot"}.get(name, "bmm" if right.dim() == 3 else "mm")
    inner = 0 if right.dim() == 1 else right.dim() - 2
    length = right.shape[inner]
    part = sums.part_length(length)
    result: Any = None
    for start in range(0, length, part):
        count = min(part, length - start)
        product = run(f"aten.{operator}.default", left.narrow(-1, start, count), right.narrow(inner, start, count))
        result = product if result is None else result.add_(product)
    if not is_added:
        return result
    result = result.mul_(a["alpha"])
    return result if a["beta"] == 0 else result.add_(a["self"] * a["beta"])


def _convolution_backward(run: Run, a: Arguments) -> Any:
    """Gradients of convolutions: the weight's in parts of samples, or of rows of a sample; the bias's in blocks."""
    g, x, weight, mask = a["grad_output"], a["input"], a["weight"], a["output_mask"]
    settings = (a["stride"], a["padding"], a["dilation"], a["transposed"], a["output_padding"], a["groups"])

    def library(g: Tensor, x: Tensor, settings: Sequence[Any], mask: Sequence[bool]) -> Any:
        return run("aten.convolution_backward.default", g, x, weight, a["bias_sizes"], *settings, mask)

    results: list[Any] = [None, None, None]
    if mask[0]:
        count = samples_at_once(x, weight, None, settings, math.prod(g.shape[2:])) if run is natively else None
        if count is None or count >= len(x) or not g.is_contiguous():
            results[0] = library(g, x, settings, [True, False, False])[0]
        else:
            results[0] = buffers.empty(x.shape, x.dtype)
            for first in range(0, len(x), count):
                some = slice(first, first + count)
                results[0][some] = library(g[some], x[some], settings, [True, False, False])[0]
    if mask[1]:
        for part_g, part_x, part_settings in _weight_parts(a, settings):
            part = library(part_g, part_x, part_settings, [False, True, False])[1]
            results[1] = part if results[1] is None else results[1].add_(part)
    if mask[2]:
        results[2] = total(run, g, [axis for axis in range(g.dim()) if axis != 1])
    return results


def _weight_parts(a: Arguments, settings: Sequence[Any]) -> Any:
    """Yield gradient, input and settings of each part of a convolution's weight gradient."""
    g, x = a["grad_output"], a["input"]
    parts = sums.WeightParts(a)
    rows, batch = g.shape[2], g.shape[0]
    for start in range(0, batch, parts.samples):
        count = min(parts.samples, batch - start)
        some_g, some_x = g.narrow(0, start, count), x.narrow(0, start, count)
        if a["transposed"] or parts.rows >= rows:
            yield some_g, some_x, settings
            continue
        stride, padding, dilation, *rest = settings
        axes = x.dim() - 2
        step, pad, spread = (sums.spatial(values, axes)[0] for values in (stride, padding, dilation))
        reach = (a["weight"].shape[2] - 1) * spread + 1
        # Rows that the kernel lays over the edge are zeros.
        padded = torch.constant_pad_nd(some_x, [0, 0] * (axes - 1) + [pad, pad])
        unpadded = [0, *sums.spatial(padding, axes)[1:]]
        for row in range(0, rows, parts.rows):
            height = min(parts.rows, rows - row)
            under = padded.narrow(2, row * step, (height - 1) * step + reach)
            yield some_g.narrow(2, row, height), under, (stride, unpadded, dilation, *rest)


def _distances(x: Tensor, axes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return the largest element over the axes, and the distances from it."""
    top = x.amax(tuple(axes), True) if axes else x
    # Where all are -inf there is no distance: the exponentials of -inf itself are the zeros that they should be.
    return top, x - torch.where(torch.isinf(top), 0.0, top)


def _softmax(run: Run, a: Arguments) -> Any:
    axis = a["dim"] % a["self"].dim()
    powers = run("aten.exp.default", _distances(a["self"], [axis])[1])
    return run("aten.div.Tensor", powers, total(run, powers, [axis], keepdim=True))


def _safe_softmax(run: Run, a: Arguments) -> Any:
    """Softmax that gives zeros where every element is -inf."""
    x = _cast(a["self"], a)
    return torch.where(x.amax(a["dim"], True) == -math.inf, 0.0, _softmax(run, {**a, "self": x}))


def _log_softmax(run: Run, a: Arguments) -> Any:
    axis = a["dim"] % a["self"].dim()
    _, distance = _distances(a["self"], [axis])
    summed = total(run, run("aten.exp.default", distance), [axis], keepdim=True)
    return distance.sub_(run("aten.log.default", summed))


def _logsumexp(run: Run, a: Arguments) -> Any:
    axes = sums.reduced_axes(a)
    top, distance = _distances(a["self"], axes)
    summed = total(run, run("aten.exp.default", distance), axes, keepdim=True)
    result = torch.where(torch.isinf(top), top, top + run("aten.log.default", summed))
    return result if a.get("keepdim") or not axes else result.squeeze(tuple(axes))


def _softmax_backward(run: Run, a: Arguments) -> Any:
    g, y = a["grad_output"], a["output"]
    projected = total(run, g * y, [a["dim"] % g.dim()], keepdim=True)
    return (g - projected).mul_(y)


def _log_softmax_backward(run: Run, a: Arguments) -> Any:
    g = a["grad_output"]
    summed = total(run, g, [a["dim"] % g.dim()], keepdim=True)
    return run("aten.exp.default", a["output"]).mul_(summed).neg_().add_(g)


def _reduced_loss(run: Run, terms: Tensor, a: Arguments) -> Tensor:
    axes = list(range(terms.dim()))
    return total(run, terms, axes) if a["reduction"] == 2 else _mean(run, terms, axes, keepdim=False)


def _loss(operator: str, *settings: str) -> Form:
    """Losses of one term for each element: the library's terms, and their sum or mean in blocks."""

    def form(run: Run, a: Arguments) -> Any:
        names = ("weight",) if operator == "binary_cross_entropy" else ()
        given = [a[name] for name in ("self", "target", *names)]
        terms = run(f"aten.{operator}.default", *given, 0, *(a[name] for name in settings))
        return _reduced_loss(run, terms, a)

    return form


def _nll_loss(operator: str) -> Form:
    """Negative log likelihood: a term and a weight for each target that is not ignored."""

    def form(run: Run, a: Arguments) -> Any:
        target, weight, ignored = a["target"], a["weight"], a["ignore_index"]
        terms, _ = run(f"aten.{operator}.default", a["self"], target, weight, 0, ignored)
        counts = target != ignored
        if weight is None:
            weights = counts.to(terms.dtype)
        else:
            weights = torch.where(counts, weight[torch.where(counts, target, 0)], 0.0)
        axes = list(range(terms.dim()))
        loss, weighed = total(run, terms, axes), total(run, weights, axes)
        return (loss if a["reduction"] == 2 else run("aten.div.Tensor", loss, weighed)), weighed

    return form


def _cumsum(run: Run, a: Arguments) -> Any:
    """Running sums within blocks, and the running sums of the blocks before."""
    x, axis = _cast(a["self"], a), a["dim"] % a["self"].dim()
    length = x.shape[axis]
    block = sums.block_length(length)
    blocks = -(-length // block)
    after = [0, 0] * (x.dim() - 1 - axis)
    padded = torch.constant_pad_nd(x, [*after, 0, blocks * block - length])
    within = run("aten.cumsum.default", _cut(padded, axis, block), axis + 1)
    last = within.select(axis + 1, block - 1)
    running = run("aten.cumsum.default", last, axis).narrow(axis, 0, blocks - 1)
    before = torch.constant_pad_nd(running, [*after, 1, 0])
    return (within + before.unsqueeze(axis + 1)).flatten(axis, axis + 1).narrow(axis, 0, length)


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


def _average(operator: str) -> Form:
    """Average pooling along one axis after another: the number of elements of a window is a product over the axes."""

    def form(run: Run, a: Arguments) -> Any:
        x, override = a["self"], a.get("divisor_override")
        axes = sums.pool_axes(operator)
        kernel = sums.spatial(a["kernel_size"], axes)
        stride = sums.spatial(a["stride"] or kernel, axes)
        padding = sums.spatial(a["padding"], axes)
        for axis in reversed(range(axes)):

            def only(values: Sequence[int], other: int, axis: int = axis) -> list[int]:
                return [values[axis] if number == axis else other for number in range(axes)]

            x = run(
                f"aten.{operator}.default", x, only(kernel, 1), only(stride, 1), only(padding, 0), a["ceil_mode"],
                a["count_include_pad"], None if override is None else 1,
            )  # fmt: skip
        return x if override is None else run("aten.div.Scalar", x, float(override))

    return form


def _adaptive_average(operator: str) -> Form:
    """Adaptive average pooling along one axis after another."""

    def form(run: Run, a: Arguments) -> Any:
        x = a["self"]
        axes = sums.pool_axes(operator)
        sizes = sums.spatial(a["output_size"], axes)
        for axis in reversed(range(axes)):
            current = list(x.shape[-axes:])
            current[axis] = sizes[axis]
            x = run(f"aten.{operator}.default", x, current)
        return x

    return form


FORMS: dict[str, Form] = {
    "sum": _sum,
    "mean": _mean_form,
    **dict.fromkeys(("linalg_vector_norm", "norm"), _norm),
    "prod": _prod,
    "cumsum": _cumsum,
    "var": lambda run, a: _variance(run, a)[0],
    "var_mean": _variance,
    "std": _deviation,
    **dict.fromkeys(("_native_batch_norm_legit_functional", "_native_batch_norm_legit"), _batch_norm),
    "native_batch_norm_backward": _batch_norm_backward,
    "native_layer_norm": _layer_norm,
    "native_layer_norm_backward": _layer_norm_backward,
    "native_group_norm": _group_norm,
    "native_group_norm_backward": _group_norm_backward,
    **dict.fromkeys(("mm", "addmm", "mv", "addmv", "dot", "bmm", "baddbmm"), _matrix),
    "convolution_backward": _convolution_backward,
    "_softmax": _softmax,
    "_safe_softmax": _safe_softmax,
    "_log_softmax": _log_softmax,
    "logsumexp": _logsumexp,
    "_softmax_backward_data": _softmax_backward,
    "_log_softmax_backward_data": _log_softmax_backward,
    "nll_loss_forward": _nll_loss("nll_loss_forward"),
    "nll_loss2d_forward": _nll_loss("nll_loss2d_forward"),
    "mse_loss": _loss("mse_loss"),
    "smooth_l1_loss": _loss("smooth_l1_loss", "beta"),
    "huber_loss": _loss("huber_loss", "delta"),
    "binary_cross_entropy": _loss("binary_cross_entropy"),
    "embedding_dense_backward": _embedding_backward,
    "index_add": _index_add,
    "scatter_add": _scatter_add,
    "index_put": _index_put,
    **{kind: _average(kind) for kind in ("avg_pool2d", "avg_pool3d")},
    **{kind: _adaptive_average(kind) for kind in ("_adaptive_avg_pool2d", "_adaptive_avg_pool3d")},
}
