"""Batch, layer and group norm and their gradients: scales, and forms in two passes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.magnitude import (
    Magnitudes,
    Measured,
    Sizes,
    Vectors,
    along,
    centred_channels,
    channels,
    largest,
    matrix_sizes,
    normalised_sizes,
    top_of,
)
from counterfoil_core.arithmetic.families.memoryreuse import combine_into
from counterfoil_core.arithmetic.families.parts import (
    SQUARED_ERROR,
    Form,
    Outputs,
    Run,
    Scale,
    ScaleRule,
    add,
    mean_of,
    natively,
    total,
)
from counterfoil_core.kernels import devices
from counterfoil_core.kernels.cpu import formulas, norms
from counterfoil_core.kernels.cpu.measures import LARGEST, TOTAL
from counterfoil_core.kernels.devicenumber import DeviceNumber
from counterfoil_core.kernels.exact.geometry import runs
from counterfoil_core.operators.sums import Arguments, blocked_terms, channel_lengths

# Scales of batch, layer and group norm, and of their gradients.


def _batch_norm_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Batch norm: the size before the mean is taken off, times the factor that follows.

    The variance's error is relative to std * max|x|, the reciprocal root's to rstd^2 * max|x| (derivative of x^-1/2).
    """
    x, weight, bias = arguments["input"], arguments["weight"], arguments["bias"]
    save_rstd = outputs[2]
    if save_rstd is None or save_rstd.numel() == 0:  # evaluation: running statistics are used, nothing is saved
        x_sizes = channels(x, 1)
        rstd = torch.rsqrt(arguments["running_var"] + arguments["eps"])
        size = top_of(_times((x_sizes.largest + arguments["running_mean"].abs()) * rstd, weight))
        kept = [largest(arguments[name]) for name in ("running_mean", "running_var")][: len(outputs) - 3]
        return [add(size, largest(bias)), 0.0, 0.0, *kept]
    others = [bias, *(arguments[name] for name in ("running_mean", "running_var") if len(outputs) == 5)]
    size, deviation, quotient, square, top, *tops = _norm_terms(x, 1, save_rstd, weight, others)
    scales: list[Scale] = [add(2.0 * size, tops[0]), top, deviation]
    if len(outputs) == 5:
        scales.append(add(tops[1], top))
        scales.append(add(tops[2], quotient, square * SQUARED_ERROR))
    return scales


def _batch_norm_backward_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients of batch norm: sizes before g's mean and g's projection on x are taken off."""
    g, x, weight, trained = (arguments[name] for name in ("grad_out", "input", "weight", "train"))
    if trained:
        mean, rstd = arguments["save_mean"], arguments["save_invstd"]
    else:
        mean, rstd = arguments["running_mean"], torch.rsqrt(arguments["running_var"] + arguments["eps"])
    # The gradients are sums of g and of g (x - mean): what is taken off x is exact but for its last bit.
    there = _gradient_sizes_there(g, x, 1, mean, rstd, weight, projects=bool(trained))
    if there is not None:
        return [None if output is None else size for size, output in zip(there, outputs, strict=True)]
    g_sizes = channels(g, 1)
    x_sizes = _channel_deviations(x, mean)
    scales: list[Scale] = [None, None, None]
    if outputs[0] is not None or outputs[1] is not None:
        length = x.numel() // max(x.shape[1], 1)
        scales[:2] = _gradient_terms(g_sizes, x_sizes, rstd, weight, length, projects=bool(trained))
    if outputs[2] is not None:
        scales[2] = g_sizes.top(TOTAL)
    return scales


def _layer_norm_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Layer norm: as batch norm, with rows in the place of channels."""
    return _row_norm_scales(_rows(arguments["input"], arguments["normalized_shape"]), arguments, outputs)


def _layer_norm_backward_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients of layer norm: rows for the input's, columns for weight and bias."""
    rstd = arguments["rstd"].flatten()
    g, x = (arguments[name].reshape(rstd.numel(), -1) for name in ("grad_out", "input"))
    mean, weight = arguments["mean"].flatten(), arguments["weight"]
    of_row = _gradient_sizes_there(g, x, 0, mean, rstd)
    of_column = None if of_row is None else _gradient_sizes_there(g, x, 1, mean, rstd, by_terms=True)
    if of_row is not None and of_column is not None:
        factor = 1.0 if weight is None else largest(weight)
        found = [of_row[0] * factor, *of_column[1:]]
        return [None if output is None else size for size, output in zip(found, outputs, strict=True)]
    normalised = normalised_sizes(x[None], mean, rstd)
    sizes = matrix_sizes(g)
    one, other = _columns(sizes), _columns(normalised)
    return [
        None if outputs[0] is None else _row_gradient_scale(sizes, normalised, rstd, weight, g.shape[1]),
        None if outputs[1] is None else _largest_norms(one, other),
        None if outputs[2] is None else one.top(TOTAL),
    ]


def _group_norm_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Group norm: as layer norm, a row for each sample and group."""
    return _row_norm_scales(_group_rows(arguments["input"], arguments), arguments, outputs)


def _group_norm_backward_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients of group norm."""
    g, rstd = arguments["grad_out"], arguments["rstd"].flatten()
    x = _group_rows(arguments["input"], arguments)
    normalised = (x - arguments["mean"].reshape(-1, 1)) * rstd[:, None]
    g_channels = along(g, 1)
    scales: list[Scale] = [None, None, None]
    if outputs[0] is not None:
        rows = _group_rows(g, arguments)
        sizes = normalised_sizes(x[None], arguments["mean"].flatten(), rstd)
        scales[0] = _row_gradient_scale(matrix_sizes(rows), sizes, rstd, arguments["weight"], rows.shape[1])
    if outputs[1] is not None:
        scales[1] = _largest_norms(g_channels, along(normalised.reshape(g.shape), 1))
    if outputs[2] is not None:
        scales[2] = g_channels.top(TOTAL)
    return scales


def _times(values: Tensor, weight: Tensor | None) -> Tensor:
    return values if weight is None else values * weight.abs()


def _norm_terms(
    x: Tensor, axis: int, rstd: Tensor, weight: Tensor | None, others: Sequence[Tensor | None] = ()
) -> Sequence[DeviceNumber | float]:
    """Return the largest X r abs(w), r (1 + X r), X / r, X X and X over rows or channels.

    Behind them come the largest magnitudes of others.

    Args:
        x: The argument; X is the largest magnitude of a row or channel.
        axis: Its axis of these.
        rstd: ``[n]``: the reciprocal deviations r.
        weight: ``[n]``: w; None for 1.
        others: ``[n]`` each; None for 0.
    """
    lengths = _lengths_there(axis, x, rstd, weight)
    if lengths is not None:
        from counterfoil_core.kernels.cuda.norms import norm_sizes

        found = norm_sizes(x.contiguous(), lengths, rstd.contiguous(), weight)
        return [*map(DeviceNumber.read, found), *map(largest, others)]
    sizes = channels(x, axis)
    if isinstance(sizes, Vectors) and all(one is None or _wide(one, sizes.count) for one in (rstd, weight, *others)):
        places = (0 if one is None else one.data_ptr() for one in (weight, *others))
        first, *tops = formulas.norm(sizes.count, sizes.address, rstd.data_ptr(), *places)
        return [first, *tops[:3], sizes.top(LARGEST), *tops[3:]]
    top = sizes.largest
    size = top * rstd
    parts = (_times(size, weight), rstd * (1.0 + size), top / rstd, top * top)
    return [*map(top_of, parts), sizes.top(LARGEST), *map(largest, others)]


def _lengths_there(axis: int, x: Tensor, *others: Tensor | None) -> Sequence[int] | None:
    """Return how a kernel of Triton's takes the positions along an axis, and all else as their terms; None if none."""
    if not devices.triton_reaches(x.device) or not all(one is None or _is_full(one) for one in (x, *others)):
        return None
    from counterfoil_core.kernels.cuda.measures import takes

    lengths = runs(x.shape, [other for other in range(x.dim()) if other != axis])
    return lengths if len(lengths) <= 4 and takes(lengths) else None


def _channels_there(x: Tensor, *others: Tensor | None) -> Sequence[int] | None:
    """Return how a kernel of Triton's takes the channels; None where there is none whose sums are within the bounds."""
    lengths = _lengths_there(1, x, *others) if x.dim() > 1 else None
    if lengths is None:
        return None
    from counterfoil_core.kernels.cuda.norms import additions

    return lengths if additions(lengths) <= blocked_terms(channel_lengths(x.shape)) else None


def _is_full(x: Tensor) -> bool:
    return x.dtype is torch.float64 and x.numel() > 0


def _gradient_sizes_there(
    g: Tensor,
    x: Tensor,
    axis: int,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None = None,
    *,
    projects: bool = True,
    by_terms: bool = False,
) -> Sequence[DeviceNumber] | None:
    """Return what :func:`_gradient_terms` does, and the largest sum of magnitudes of the gradient.

    None where there is no kernel for it. With ``by_terms`` mean and r are those of the other axis; the first one is 0.
    """
    lengths = _lengths_there(axis, g, x, mean, rstd, weight)
    if lengths is None:
        return None
    from counterfoil_core.kernels.cuda.norms import gradient_sizes

    top, squares, total = gradient_sizes(
        g.contiguous(), x.contiguous(), lengths, mean.contiguous(), rstd.contiguous(), weight, projects=projects,
        by_terms=by_terms,
    )  # fmt: skip
    return [DeviceNumber.read(top), DeviceNumber.read(squares).sqrt(), DeviceNumber.read(total)]


def _wide(x: Tensor, count: int) -> bool:
    """Whether a tensor is float64 ``[count]``, and contiguous."""
    return x.dtype == torch.float64 and x.numel() == count and x.is_contiguous()


def _gradient_terms(
    g: Magnitudes | Vectors,
    x: Magnitudes | Vectors,
    rstd: Tensor,
    weight: Tensor | None,
    length: int,
    *,
    normalised: bool = False,
    projects: bool = True,
) -> Sequence[DeviceNumber | float]:
    """Return the largest r (2 G + H n h / length) abs(w) and n h over rows or channels.

    H is the largest magnitude of the normalised argument, h and n the norms of that and of the gradient.

    Args:
        g: Sizes of the gradient; G is the largest magnitude.
        x: Sizes of the argument less its mean.
        rstd: ``[n]``: the reciprocal deviations r.
        weight: ``[n]``: w; None for 1.
        length: Elements of a row or channel.
        normalised: Whether ``x`` is of the argument times r already.
        projects: Whether the projection on the argument is taken off, the second term.
    """
    length = max(length, 1)
    if (
        isinstance(g, Vectors)
        and isinstance(x, Vectors)
        and x.count == g.count
        and _wide(rstd, g.count)
        and (weight is None or _wide(weight, g.count))
    ):
        weights = 0 if weight is None else weight.data_ptr()
        return formulas.gradient(
            g.count, g.address, x.address, rstd.data_ptr(), weights, length, normalised=normalised, projects=projects
        )
    factor = torch.ones_like(rstd) if normalised else rstd
    x_norm = x.norm * factor
    projection = x.largest * factor * g.norm * x_norm / length if projects else 0.0
    return [top_of(_times(rstd * (2.0 * g.largest + projection), weight)), top_of(g.norm * x_norm)]


def _channel_deviations(x: Tensor, mean: Tensor) -> Magnitudes | Vectors:
    """Magnitudes of x less the mean of its channel, per channel."""
    if not x.numel() or x.dim() < 2:
        return along(x - mean.reshape(1, -1, *[1] * (x.dim() - 2)), 1)
    if x.dim() == 2 or math.prod(x.shape[2:]) == 1:
        return along(x.reshape(x.shape[:2]) - mean, 1)
    compiled = centred_channels(x, mean)
    if compiled is not None:
        return compiled
    rows = normalised_sizes(x.reshape(x.shape[0], x.shape[1], -1), mean, torch.ones_like(mean)).rows
    return Magnitudes(rows.largest.amax(0), rows.total.sum(0), rows.squares.sum(0))


def _rows(x: Tensor, normalized_shape: Sequence[int]) -> Tensor:
    return x.reshape(-1, math.prod(normalized_shape))


def _row_norm_scales(x: Tensor, arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Scales of a norm over the rows of ``x`` ``[rows, n]``, whose outputs are (result, mean, rstd)."""
    rstd = outputs[2]
    assert rstd is not None
    size, deviation, _, _, top = _norm_terms(x, 0, rstd.flatten(), None)
    factor = largest(arguments["weight"]) if arguments["weight"] is not None else 1.0
    return [add(2.0 * size * factor, largest(arguments["bias"])), top, deviation]


def _columns(sizes: Sizes | Measured) -> Magnitudes | Vectors:
    """Return the magnitudes of the columns of the only matrix."""
    return sizes.column_vectors() if isinstance(sizes, Measured) else sizes.columns


def _rows_of(sizes: Sizes | Measured) -> Magnitudes | Vectors:
    """Return the magnitudes of the rows of the only matrix."""
    return sizes.row_vectors() if isinstance(sizes, Measured) else sizes.rows


def _largest_norms(one: Magnitudes | Vectors, other: Magnitudes | Vectors) -> DeviceNumber | float:
    """Return the largest product of two norms of the same place."""
    if isinstance(one, Vectors) and isinstance(other, Vectors):
        return formulas.roots(one.count, one.address + 16 * one.count, other.address + 16 * other.count)
    return top_of(one.norm * other.norm)


def _row_gradient_scale(
    g: Sizes | Measured, normalised: Sizes | Measured, rstd: Tensor, weight: Tensor | None, length: int
) -> DeviceNumber | float:
    """Scale of the input's gradient: of g ``[rows, length]``, its mean, and its projection on the normalised row."""
    top = _gradient_terms(_rows_of(g), _rows_of(normalised), rstd, None, length, normalised=True)[0]
    return top * (1.0 if weight is None else largest(weight))


def _group_rows(x: Tensor, arguments: Arguments) -> Tensor:
    return x.reshape(int(arguments["N"]) * int(arguments["group"]), -1)


SCALES: Mapping[str, ScaleRule] = {
    "batch_norm": _batch_norm_scale,
    "batch_norm_backward": _batch_norm_backward_scale,
    "layer_norm": _layer_norm_scale,
    "layer_norm_backward": _layer_norm_backward_scale,
    "group_norm": _group_norm_scale,
    "group_norm_backward": _group_norm_backward_scale,
}


def _moments(run: Run, x: Tensor, axes: Sequence[int], eps: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return centred values, mean, variance and reciprocal deviation; the last three keep their axes."""
    mean = mean_of(run, x, axes, keepdim=True)
    centred = combine_into(torch.sub, x, mean)
    variance = mean_of(run, combine_into(torch.mul, centred, centred), axes, keepdim=True)
    return centred, mean, variance, run("aten.rsqrt.default", variance + eps)


def _affine(values: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Multiply by a weight and add a bias, in place; both have the axes of ``values``."""
    if weight is not None:
        values = values.mul_(weight)
    return values if bias is None else values.add_(bias)


def _as_channels(values: Tensor | None, axes: int) -> Tensor | None:
    return None if values is None else values.reshape(-1, *[1] * (axes - 2))


def _batch_norm_form(run: Run, a: Arguments) -> Any:
    """Batch norm in training, in two passes."""
    if run is natively and norms.takes_batch_norm(a):
        return norms.batch_norm(a)
    x, momentum = a["input"], a["momentum"]
    channels_of = (a["weight"], a["bias"], a.get("running_mean"), a.get("running_var"))
    lengths = _channels_there(x, *channels_of) if run is natively else None
    if lengths is not None:
        from counterfoil_core.kernels.cuda import norms as norms_there

        return norms_there.batch_norm(a, lengths)
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


def _batch_norm_backward_form(run: Run, a: Arguments) -> Any:
    """Gradients of batch norm: sums of g and of g (x - mean)."""
    if run is natively and norms.takes_batch_norm_backward(a):
        return norms.batch_norm_backward(a)
    g, x, mask, training = a["grad_out"], a["input"], a["output_mask"], a["train"]
    if run is natively and training:
        lengths = _channels_there(x, g, a["save_mean"], a["save_invstd"], a["weight"])
        if lengths is not None:
            from counterfoil_core.kernels.cuda import norms as norms_there

            return norms_there.batch_norm_backward(a, lengths)
    axes = [axis for axis in range(x.dim()) if axis != 1]
    if training:
        mean, rstd = a["save_mean"], a["save_invstd"]
    else:
        mean, rstd = a["running_mean"], run("aten.rsqrt.default", a["running_var"] + a["eps"])
    shape = [1, -1] + [1] * (x.dim() - 2)
    centred, spread = combine_into(torch.sub, x, mean.reshape(shape)), rstd.reshape(shape)
    summed = total(run, g, axes, keepdim=True)
    projected = total(run, combine_into(torch.mul, g, centred), axes, keepdim=True)
    to_input = None
    if mask[0]:
        factor = spread if a["weight"] is None else spread * a["weight"].reshape(shape)
        if training:
            count = float(x.numel() // max(x.shape[1], 1))
            share = run("aten.div.Scalar", summed, count)
            slope = run("aten.div.Scalar", projected * spread * spread, count)
            to_input = combine_into(torch.sub, g, share).sub_(centred.mul_(slope)).mul_(factor)
        else:
            to_input = combine_into(torch.mul, g, factor)
    return to_input, (projected * spread).flatten() if mask[1] else None, summed.flatten() if mask[2] else None


def _layer_norm_form(run: Run, a: Arguments) -> Any:
    """Layer norm in two passes."""
    if run is natively and norms.takes_layer_norm(a):
        return norms.layer_norm(a)
    if run is natively and devices.triton_reaches(a["input"].device):
        from counterfoil_core.kernels.cuda import norms as norms_there

        if norms_there.takes_layer_norm(a):
            return norms_there.layer_norm(a)
    x = a["input"]
    inner = len(a["normalized_shape"])
    axes = list(range(x.dim() - inner, x.dim()))
    centred, mean, _, rstd = _moments(run, x, axes, a["eps"])
    return _affine(centred.mul_(rstd), a["weight"], a["bias"]), mean, rstd


def _row_gradient_form(
    run: Run, g: Tensor, normalised: Tensor, weight: Tensor | None, rstd: Tensor, axes: Sequence[int], products: Tensor
) -> Tensor:
    """Gradient of a normalised row: g less its mean and its projection on the row, times rstd.

    ``normalised``, and ``products``, which is g times it, are overwritten.
    """
    weighted = g.clone() if weight is None else combine_into(torch.mul, g, weight)
    projected = mean_of(run, products if weight is None else products.mul_(weight), axes, keepdim=True)
    return weighted.sub_(mean_of(run, weighted, axes, keepdim=True)).sub_(normalised.mul_(projected)).mul_(rstd)


def _layer_norm_backward_form(run: Run, a: Arguments) -> Any:
    """Gradients of layer norm: rows for the input's, columns for weight and bias."""
    if run is natively and norms.takes_layer_norm_backward(a):
        return norms.layer_norm_backward(a)
    if run is natively and devices.triton_reaches(a["input"].device):
        from counterfoil_core.kernels.cuda import norms as norms_there

        if norms_there.takes_layer_norm(a):
            return norms_there.layer_norm_backward(a)
    g, x, mask = a["grad_out"], a["input"], a["output_mask"]
    outer = x.dim() - len(a["normalized_shape"])
    columns, rows = list(range(outer)), list(range(outer, x.dim()))
    normalised = combine_into(torch.sub, x, a["mean"]).mul_(a["rstd"])
    products = combine_into(torch.mul, g, normalised)
    to_weight = total(run, products, columns) if mask[1] else None
    return (
        _row_gradient_form(run, g, normalised, a["weight"], a["rstd"], rows, products) if mask[0] else None,
        to_weight,
        total(run, g, columns) if mask[2] else None,
    )


def _channel_rows(values: Tensor | None, a: Arguments) -> Tensor | None:
    """Return a tensor of channels as ``[1, groups, channels of a group, 1]``."""
    return None if values is None else values.reshape(1, a["group"], -1, 1)


def _grouped(x: Tensor, a: Arguments) -> Tensor:
    """Return ``[N, C, ...]`` as ``[N, groups, channels of a group, positions]``."""
    return x.reshape(a["N"], a["group"], a["C"] // a["group"], a["HxW"])


def _group_norm_form(run: Run, a: Arguments) -> Any:
    """Group norm in two passes."""
    x = a["input"]
    centred, mean, _, rstd = _moments(run, _grouped(x, a), [2, 3], a["eps"])
    out = _affine(centred.mul_(rstd), _channel_rows(a["weight"], a), _channel_rows(a["bias"], a))
    return out.reshape(x.shape), mean.reshape(a["N"], a["group"]), rstd.reshape(a["N"], a["group"])


def _group_norm_backward_form(run: Run, a: Arguments) -> Any:
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
        to_input = _row_gradient_form(run, g, normalised, weight, rstd, [2, 3], products).reshape(x.shape)
    return to_input, to_weight, total(run, g, [0, 3]).flatten() if mask[2] else None


FORMS: dict[str, Form] = {
    **dict.fromkeys(("_native_batch_norm_legit_functional", "_native_batch_norm_legit"), _batch_norm_form),
    "native_batch_norm_backward": _batch_norm_backward_form,
    "native_layer_norm": _layer_norm_form,
    "native_layer_norm_backward": _layer_norm_backward_form,
    "native_group_norm": _group_norm_form,
    "native_group_norm_backward": _group_norm_backward_form,
}
"""Forms by operator kind."""
