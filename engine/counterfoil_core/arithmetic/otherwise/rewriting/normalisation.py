"""Batch, layer and group norm and their gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from counterfoil_core.arithmetic.otherwise.rewriting.machine import Arguments, Machine, rule
from counterfoil_core.base.arrays import Array


def _root_reciprocal(m: Machine, variance: Array, epsilon: float) -> Array:
    result: Array = m.f["rsqrt"](variance + epsilon)
    return result


def _normalised(m: Machine, x: Array, mean: Array, rstd: Array, weight: Any, bias: Any) -> Array:
    """(x - mean) rstd weight + bias, as it stands, or as one product and one sum."""
    factor = rstd if weight is None else rstd * weight
    offset = 0.0 if bias is None else bias
    if m.other:
        return x * factor + (offset - mean * factor)
    result = (x - mean) * rstd
    if weight is not None:
        result = result * weight
    return result if bias is None else result + bias


def _per_channel(values: Any, x: Array) -> Any:
    """``[C]`` as it meets ``[N, C, ...]``."""
    return None if values is None else values.reshape(1, -1, *(1 for _ in range(x.ndim - 2)))


def _channels(x: Array) -> Array:
    """``[N, C, ...]`` as ``[C, n]``."""
    result: Array = np.moveaxis(x, 1, 0).reshape(x.shape[1], -1)
    return result


@rule("_native_batch_norm_legit_functional", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training")
def _batch_norm(m: Machine, a: Arguments) -> Any:
    x, weight, bias = a["input"], a["weight"], a["bias"]
    factors = (_per_channel(weight, x), _per_channel(bias, x))
    if not a.get("training", False):
        rstd = _root_reciprocal(m, a["running_var"], a["eps"])
        out = _normalised(m, x, _per_channel(a["running_mean"], x), _per_channel(rstd, x), *factors)
        kept = [] if a.kind == "_native_batch_norm_legit_no_training" else [a["running_mean"], a["running_var"]]
        return [out, np.zeros(0, x.dtype), np.zeros(0, x.dtype), *kept]
    rows = _channels(x)
    mean, spread = m.add.moments(rows)
    rstd = _root_reciprocal(m, spread / rows.shape[1], a["eps"])
    out = _normalised(m, x, _per_channel(mean, x), _per_channel(rstd, x), *factors)
    if a.kind == "_native_batch_norm_legit":
        return [out, mean, rstd]
    momentum = float(a["momentum"])
    statistics = [("running_mean", mean), ("running_var", spread / (rows.shape[1] - 1))]
    if m.other:
        return [out, mean, rstd, *(a[name] * (1.0 - momentum) + new * momentum for name, new in statistics)]
    return [out, mean, rstd, *(a[name] + (new - a[name]) * momentum for name, new in statistics)]


def _gradient_sums(m: Machine, g: Array, x: Array, mean: Array) -> tuple[Array, Array]:
    """Sums over rows ``[rows, n]`` of g, and of g times x less its mean ``[rows]``."""
    total = m.add.rows(g)
    if m.other:
        return total, m.add.rows(g * x) - mean * total
    return total, m.add.rows(g * (x - mean[:, None]))


def _input_gradient(g: Array, x: Array, row: Sequence[Array], count: int) -> Array:
    """Gradient of (x - mean) rstd, where both depend on every x.

    ``row`` is what belongs to a row of ``count`` elements, broadcast already: mean, rstd, and both gradient sums.
    """
    mean, rstd, total, centred = row
    result: Array = (g - total / count - (x - mean) * (rstd * rstd * (centred / count))) * rstd
    return result


@rule("native_batch_norm_backward")
def _batch_norm_backward(m: Machine, a: Arguments) -> Any:
    g, x, weight, mask = a["grad_out"], a["input"], a["weight"], a["output_mask"]
    if a["train"]:
        mean, rstd = a["save_mean"], a["save_invstd"]
    else:
        mean, rstd = a["running_mean"], _root_reciprocal(m, a["running_var"], a["eps"])
    total, centred = _gradient_sums(m, _channels(g), _channels(x), mean)
    wide = [_per_channel(part, x) for part in (mean, rstd, total, centred)]
    to_input = None
    if mask[0]:
        to_input = _input_gradient(g, x, wide, x.size // x.shape[1]) if a["train"] else g * wide[1]
        to_input = to_input if weight is None else to_input * _per_channel(weight, x)
    return [to_input, centred * rstd if mask[1] else None, total if mask[2] else None]


@rule("native_layer_norm")
def _layer_norm(m: Machine, a: Arguments) -> Any:
    x, inner = a["input"], len(a["normalized_shape"])
    rows = x.reshape(-1, math.prod(a["normalized_shape"]))
    mean, spread = m.add.moments(rows)
    rstd = _root_reciprocal(m, spread / rows.shape[1], a["eps"])
    weight, bias = (None if a[name] is None else a[name].reshape(1, -1) for name in ("weight", "bias"))
    out = _normalised(m, rows, mean[:, None], rstd[:, None], weight, bias)
    statistics = (*x.shape[: x.ndim - inner], *(1 for _ in range(inner)))
    return [out.reshape(x.shape), mean.reshape(statistics), rstd.reshape(statistics)]


@rule("native_layer_norm_backward")
def _layer_norm_backward(m: Machine, a: Arguments) -> Any:
    x, mask, shape = a["input"], a["output_mask"], a["normalized_shape"]
    count = math.prod(shape)
    g, rows = a["grad_out"].reshape(-1, count), x.reshape(-1, count)
    mean, rstd = a["mean"].reshape(-1), a["rstd"].reshape(-1)
    to_input = None
    if mask[0]:
        scaled = g if a["weight"] is None else g * a["weight"].reshape(1, -1)
        total, centred = _gradient_sums(m, scaled, rows, mean)
        parts = [part[:, None] for part in (mean, rstd, total, centred)]
        to_input = _input_gradient(scaled, rows, parts, count).reshape(x.shape)
    normalised = (rows - mean[:, None]) * rstd[:, None]
    return [
        to_input,
        m.add.over(g * normalised, [0]).reshape(shape) if mask[1] else None,
        m.add.over(g, [0]).reshape(shape) if mask[2] else None,
    ]


def _groups(a: Arguments) -> tuple[int, int, int, int]:
    """N, groups, channels of a group, positions."""
    return a["N"], a["group"], a["C"] // a["group"], a["HxW"]


@rule("native_group_norm")
def _group_norm(m: Machine, a: Arguments) -> Any:
    x = a["input"]
    count, groups, channels, positions = _groups(a)
    rows = x.reshape(count * groups, channels * positions)
    mean, spread = m.add.moments(rows)
    rstd = _root_reciprocal(m, spread / rows.shape[1], a["eps"])
    factors = [None if a[n] is None else a[n].reshape(1, groups, channels, 1) for n in ("weight", "bias")]
    wide = (part.reshape(count, groups, 1, 1) for part in (mean, rstd))
    out = _normalised(m, x.reshape(count, groups, channels, positions), *wide, *factors)
    return [out.reshape(x.shape), mean.reshape(count, groups), rstd.reshape(count, groups)]


@rule("native_group_norm_backward")
def _group_norm_backward(m: Machine, a: Arguments) -> Any:
    mask = a["output_mask"]
    count, groups, channels, positions = _groups(a)
    shape = (count, groups, channels, positions)
    g, x = a["grad_out"].reshape(shape), a["input"].reshape(shape)
    mean, rstd = (a[name].reshape(count, groups, 1, 1) for name in ("mean", "rstd"))
    to_input = None
    if mask[0]:
        scaled = g if a["weight"] is None else g * a["weight"].reshape(1, groups, channels, 1)
        flat = count * groups, channels * positions
        sums = _gradient_sums(m, scaled.reshape(flat), x.reshape(flat), mean.reshape(-1))
        parts = [mean, rstd, *(part.reshape(mean.shape) for part in sums)]
        to_input = _input_gradient(scaled, x, parts, channels * positions)
        to_input = to_input.reshape(a["input"].shape)
    to_weight = m.add.over(g * ((x - mean) * rstd), [0, 3]).reshape(-1) if mask[1] else None
    return [to_input, to_weight, m.add.over(g, [0, 3]).reshape(-1) if mask[2] else None]
