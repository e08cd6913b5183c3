"""Batch norm, layer norm and group norm in two passes, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.buffered import combined
from counterfoil_core.arithmetic.compute.forms.pieces import Form, Run, mean_of, natively, total
from counterfoil_core.kernels.cpu import normalising
from counterfoil_core.operators.sums import Arguments


def _moments(run: Run, x: Tensor, axes: Sequence[int], eps: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return centred values, mean, variance and reciprocal deviation; the last three keep their axes."""
    mean = mean_of(run, x, axes, keepdim=True)
    centred = combined(torch.sub, x, mean)
    variance = mean_of(run, combined(torch.mul, centred, centred), axes, keepdim=True)
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
    projected = mean_of(run, products if weight is None else products.mul_(weight), axes, keepdim=True)
    return weighted.sub_(mean_of(run, weighted, axes, keepdim=True)).sub_(normalised.mul_(projected)).mul_(rstd)


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


FORMS: dict[str, Form] = {
    **dict.fromkeys(("_native_batch_norm_legit_functional", "_native_batch_norm_legit"), _batch_norm),
    "native_batch_norm_backward": _batch_norm_backward,
    "native_layer_norm": _layer_norm,
    "native_layer_norm_backward": _layer_norm_backward,
    "native_group_norm": _group_norm,
    "native_group_norm_backward": _group_norm_backward,
}
"""Forms by operator kind."""
