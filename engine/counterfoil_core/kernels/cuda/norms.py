"""Layer norm, batch norm and their gradients in Triton, for CUDA, and what scale rules ask of norms, a launch each.

Each element takes the operations of the form (:mod:`counterfoil_core.arithmetic.families.norms`) in their order, and
nothing is fused. A sum goes over the terms a tile at a time and over a tile in pairs: a term passes through no more
additions than in blocks (:func:`counterfoil_core.operators.sums.axis_terms`), so every bound holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from counterfoil_core.kernels import devices
from counterfoil_core.kernels.cuda.exact import ACROSS, OPTIONS, TILE, launch_grouped, place_of
from counterfoil_core.kernels.cuda.zeros import zeros
from counterfoil_core.kernels.devicenumber import constant_on
from counterfoil_core.kernels.devices import device_of

LONGEST_ROW, MOST_ROWS = 1 << 18, 1 << 15
"""A longer sum has more additions by tiles than in blocks."""
_ROWS, _BESIDE = 128, 16
"""Rows and columns of a tile where columns are added."""
_MAGNITUDE = tl.constexpr(0x7FFFFFFFFFFFFFFF)


@triton.jit
def _place(row: tl.tensor, rows: tl.tensor, column: tl.tensor, length: tl.tensor) -> tuple[tl.tensor, tl.tensor]:
    """Where the elements of a tile of a matrix lie, and which of them there are."""
    down, across = tl.expand_dims(row, 1), tl.expand_dims(column, 0)
    return down * length + across, (down < rows) & (across < length)


@triton.jit
def _layer_norm(
    x: tl.tensor,
    rows: tl.tensor,
    length: tl.tensor,
    weight: tl.tensor,
    bias: tl.tensor,
    eps: tl.tensor,
    out: tl.tensor,
    means: tl.tensor,
    rstds: tl.tensor,
    weighted: tl.constexpr,
    biased: tl.constexpr,
    high: tl.constexpr,
    wide: tl.constexpr,
) -> None:
    """Normalise ``high`` rows: the mean, then the variance, then the result."""
    row = tl.program_id(0).to(tl.int64) * high + tl.arange(0, high).to(tl.int64)
    column = tl.arange(0, wide).to(tl.int64)
    count = (tl.full((), 0, tl.int64) + length).to(tl.float64)
    total = tl.zeros((high,), tl.float64)
    for start in tl.range(0, length, wide):
        place, inside = _place(row, rows, start + column, length)
        total += tl.sum(tl.load(x + place, mask=inside, other=0.0), 1)
    mean = total / count
    squares = tl.zeros((high,), tl.float64)
    for start in tl.range(0, length, wide):
        place, inside = _place(row, rows, start + column, length)
        centred = tl.load(x + place, mask=inside, other=0.0) - tl.expand_dims(mean, 1)
        squares += tl.sum(tl.where(inside, centred * centred, 0.0), 1)
    rstd = 1.0 / tl.sqrt(squares / count + tl.load(eps))
    tl.store(means + row, mean, mask=row < rows)
    tl.store(rstds + row, rstd, mask=row < rows)
    for start in tl.range(0, length, wide):
        place, inside = _place(row, rows, start + column, length)
        value = (tl.load(x + place, mask=inside, other=0.0) - tl.expand_dims(mean, 1)) * tl.expand_dims(rstd, 1)
        there = start + column < length
        if weighted:
            value = value * tl.expand_dims(tl.load(weight + start + column, mask=there, other=0.0), 0)
        if biased:
            value = value + tl.expand_dims(tl.load(bias + start + column, mask=there, other=0.0), 0)
        tl.store(out + place, value, mask=inside)


@triton.jit
def _layer_norm_gradient(
    g: tl.tensor,
    rows: tl.tensor,
    length: tl.tensor,
    x: tl.tensor,
    means: tl.tensor,
    rstds: tl.tensor,
    weight: tl.tensor,
    to_input: tl.tensor,
    weighted: tl.constexpr,
    high: tl.constexpr,
    wide: tl.constexpr,
) -> None:
    """The gradient of ``high`` rows: g less its mean and its projection on the row."""
    row = tl.program_id(0).to(tl.int64) * high + tl.arange(0, high).to(tl.int64)
    column = tl.arange(0, wide).to(tl.int64)
    count = (tl.full((), 0, tl.int64) + length).to(tl.float64)
    mean = tl.expand_dims(tl.load(means + row, mask=row < rows, other=0.0), 1)
    rstd = tl.expand_dims(tl.load(rstds + row, mask=row < rows, other=0.0), 1)
    total, projected = tl.zeros((high,), tl.float64), tl.zeros((high,), tl.float64)
    for start in tl.range(0, length, wide):
        place, inside = _place(row, rows, start + column, length)
        gradient = tl.load(g + place, mask=inside, other=0.0)
        normalised = (tl.load(x + place, mask=inside, other=0.0) - mean) * rstd
        products = gradient * tl.where(inside, normalised, 0.0)
        if weighted:
            factor = tl.expand_dims(tl.load(weight + start + column, mask=start + column < length, other=0.0), 0)
            gradient, products = gradient * factor, products * factor
        total += tl.sum(gradient, 1)
        projected += tl.sum(products, 1)
    share, slope = tl.expand_dims(total / count, 1), tl.expand_dims(projected / count, 1)
    for start in tl.range(0, length, wide):
        place, inside = _place(row, rows, start + column, length)
        gradient = tl.load(g + place, mask=inside, other=0.0)
        if weighted:
            factor = tl.expand_dims(tl.load(weight + start + column, mask=start + column < length, other=0.0), 0)
            gradient = gradient * factor
        normalised = (tl.load(x + place, mask=inside, other=0.0) - mean) * rstd
        tl.store(to_input + place, ((gradient - share) - normalised * slope) * rstd, mask=inside)


@triton.jit
def _layer_norm_columns(
    g: tl.tensor,
    rows: tl.tensor,
    length: tl.tensor,
    x: tl.tensor,
    means: tl.tensor,
    rstds: tl.tensor,
    to_weight: tl.tensor,
    to_bias: tl.tensor,
    high: tl.constexpr,
    wide: tl.constexpr,
) -> None:
    """The gradients of ``wide`` weights and biases: sums over rows."""
    column = tl.program_id(0).to(tl.int64) * wide + tl.arange(0, wide).to(tl.int64)
    total, products = tl.zeros((wide,), tl.float64), tl.zeros((wide,), tl.float64)
    for start in tl.range(0, rows, high):
        row = start + tl.arange(0, high).to(tl.int64)
        place, inside = _place(row, rows, column, length)
        mean = tl.expand_dims(tl.load(means + row, mask=row < rows, other=0.0), 1)
        rstd = tl.expand_dims(tl.load(rstds + row, mask=row < rows, other=0.0), 1)
        gradient = tl.load(g + place, mask=inside, other=0.0)
        normalised = (tl.load(x + place, mask=inside, other=0.0) - mean) * rstd
        total += tl.sum(gradient, 0)
        products += tl.sum(gradient * tl.where(inside, normalised, 0.0), 0)
    tl.store(to_weight + column, products, mask=column < length)
    tl.store(to_bias + column, total, mask=column < length)


@triton.jit
def _batch_norm(
    x: tl.tensor,
    groups: tl.tensor,
    terms: tl.tensor,
    r0: tl.tensor,
    k1: tl.tensor,
    r1: tl.tensor,
    weight: tl.tensor,
    bias: tl.tensor,
    old_mean: tl.tensor,
    old_variance: tl.tensor,
    eps: tl.tensor,
    momentum: tl.tensor,
    correction: tl.tensor,
    out: tl.tensor,
    means: tl.tensor,
    rstds: tl.tensor,
    new_mean: tl.tensor,
    new_variance: tl.tensor,
    weighted: tl.constexpr,
    biased: tl.constexpr,
    tracked: tl.constexpr,
    rows: tl.constexpr,
    columns: tl.constexpr,
    high: tl.constexpr,
    wide: tl.constexpr,
) -> None:
    """Normalise ``high`` channels: the mean, then the variance, then the result, and new running statistics."""
    group = tl.program_id(0).to(tl.int64) * high + tl.arange(0, high).to(tl.int64)
    across, there = tl.expand_dims(group, 0 if columns else 1), group < groups
    count = (tl.full((), 0, tl.int64) + terms).to(tl.float64)
    total, squares = tl.zeros((high,), tl.float64), tl.zeros((high,), tl.float64)
    for start in tl.range(0, terms, wide):
        along = tl.expand_dims(start + tl.arange(0, wide).to(tl.int64), 1 if columns else 0)
        inside = (across < groups) & (along < terms)
        value = tl.load(x + place_of(across, along, terms, r0, k1, r1, rows), mask=inside, other=0.0)
        total += tl.sum(value, 0 if columns else 1)
    mean = total / count
    for start in tl.range(0, terms, wide):
        along = tl.expand_dims(start + tl.arange(0, wide).to(tl.int64), 1 if columns else 0)
        inside = (across < groups) & (along < terms)
        value = tl.load(x + place_of(across, along, terms, r0, k1, r1, rows), mask=inside, other=0.0)
        centred = value - tl.expand_dims(mean, 0 if columns else 1)
        squares += tl.sum(tl.where(inside, centred * centred, 0.0), 0 if columns else 1)
    variance = squares / count
    rstd = 1.0 / tl.sqrt(variance + tl.load(eps))
    tl.store(means + group, mean, mask=there)
    tl.store(rstds + group, rstd, mask=there)
    if tracked:
        part = tl.load(momentum)
        kept = tl.load(old_mean + group, mask=there, other=0.0) * (1.0 - part)
        tl.store(new_mean + group, kept + mean * part, mask=there)
        kept = tl.load(old_variance + group, mask=there, other=0.0) * (1.0 - part)
        tl.store(new_variance + group, kept + variance * tl.load(correction) * part, mask=there)
    factor = tl.load(weight + group, mask=there, other=0.0) if weighted else rstd
    offset = tl.load(bias + group, mask=there, other=0.0) if biased else rstd
    for start in tl.range(0, terms, wide):
        along = tl.expand_dims(start + tl.arange(0, wide).to(tl.int64), 1 if columns else 0)
        inside = (across < groups) & (along < terms)
        place = place_of(across, along, terms, r0, k1, r1, rows)
        value = tl.load(x + place, mask=inside, other=0.0) - tl.expand_dims(mean, 0 if columns else 1)
        value = value * tl.expand_dims(rstd, 0 if columns else 1)
        if weighted:
            value = value * tl.expand_dims(factor, 0 if columns else 1)
        if biased:
            value = value + tl.expand_dims(offset, 0 if columns else 1)
        tl.store(out + place, value, mask=inside)


@triton.jit
def _batch_norm_gradient(
    g: tl.tensor,
    groups: tl.tensor,
    terms: tl.tensor,
    r0: tl.tensor,
    k1: tl.tensor,
    r1: tl.tensor,
    x: tl.tensor,
    means: tl.tensor,
    rstds: tl.tensor,
    weight: tl.tensor,
    to_input: tl.tensor,
    to_weight: tl.tensor,
    to_bias: tl.tensor,
    weighted: tl.constexpr,
    by_input: tl.constexpr,
    rows: tl.constexpr,
    columns: tl.constexpr,
    high: tl.constexpr,
    wide: tl.constexpr,
) -> None:
    """The gradients of ``high`` channels, by weight and bias, and by the input: g less its mean and its projection."""
    group = tl.program_id(0).to(tl.int64) * high + tl.arange(0, high).to(tl.int64)
    across, there = tl.expand_dims(group, 0 if columns else 1), group < groups
    count = (tl.full((), 0, tl.int64) + terms).to(tl.float64)
    rstd = tl.load(rstds + group, mask=there, other=0.0)
    mean = tl.expand_dims(tl.load(means + group, mask=there, other=0.0), 0 if columns else 1)
    total, projected = tl.zeros((high,), tl.float64), tl.zeros((high,), tl.float64)
    for start in tl.range(0, terms, wide):
        along = tl.expand_dims(start + tl.arange(0, wide).to(tl.int64), 1 if columns else 0)
        inside = (across < groups) & (along < terms)
        place = place_of(across, along, terms, r0, k1, r1, rows)
        gradient = tl.load(g + place, mask=inside, other=0.0)
        centred = tl.where(inside, tl.load(x + place, mask=inside, other=0.0) - mean, 0.0)
        total += tl.sum(gradient, 0 if columns else 1)
        projected += tl.sum(gradient * centred, 0 if columns else 1)
    tl.store(to_weight + group, projected * rstd, mask=there)
    tl.store(to_bias + group, total, mask=there)
    if by_input:
        factor = rstd * tl.load(weight + group, mask=there, other=0.0) if weighted else rstd
        factor = tl.expand_dims(factor, 0 if columns else 1)
        share = tl.expand_dims(total / count, 0 if columns else 1)
        slope = tl.expand_dims(projected * rstd * rstd / count, 0 if columns else 1)
        for start in tl.range(0, terms, wide):
            along = tl.expand_dims(start + tl.arange(0, wide).to(tl.int64), 1 if columns else 0)
            inside = (across < groups) & (along < terms)
            place = place_of(across, along, terms, r0, k1, r1, rows)
            gradient = tl.load(g + place, mask=inside, other=0.0)
            centred = tl.load(x + place, mask=inside, other=0.0) - mean
            tl.store(to_input + place, ((gradient - share) - centred * slope) * factor, mask=inside)


@triton.jit
def _top_of(values: tl.tensor, inside: tl.tensor) -> tl.tensor:
    """The bits of the largest magnitude of some float64 numbers."""
    return tl.max(tl.where(inside, values.to(tl.int64, bitcast=True) & _MAGNITUDE, 0), 0)


@triton.jit
def _norm_sizes(
    x: tl.tensor,
    groups: tl.tensor,
    terms: tl.tensor,
    r0: tl.tensor,
    k1: tl.tensor,
    r1: tl.tensor,
    rstds: tl.tensor,
    weight: tl.tensor,
    tops: tl.tensor,
    weighted: tl.constexpr,
    rows: tl.constexpr,
    columns: tl.constexpr,
    high: tl.constexpr,
    wide: tl.constexpr,
) -> None:
    """Raise X r abs(w), r (1 + X r), X / r, X X and X of ``high`` groups; X is the largest magnitude of a group."""
    group = tl.program_id(0).to(tl.int64) * high + tl.arange(0, high).to(tl.int64)
    across = tl.expand_dims(group, 0 if columns else 1)
    largest = tl.zeros((high,), tl.int64)
    for start in tl.range(0, terms, wide):
        along = tl.expand_dims(start + tl.arange(0, wide).to(tl.int64), 1 if columns else 0)
        inside = (across < groups) & (along < terms)
        value = tl.load(x + place_of(across, along, terms, r0, k1, r1, rows), mask=inside, other=0.0)
        # By their bits: a maximum of numbers would pass over what is none.
        largest = tl.maximum(largest, tl.max(value.to(tl.int64, bitcast=True) & _MAGNITUDE, 0 if columns else 1))
    inside = group < groups
    top = largest.to(tl.float64, bitcast=True)
    rstd = tl.load(rstds + group, mask=inside, other=1.0)
    size = top * rstd
    tl.atomic_max(tops + 1, _top_of(rstd * (1.0 + size), inside), sem="relaxed")
    tl.atomic_max(tops + 2, _top_of(top / rstd, inside), sem="relaxed")
    tl.atomic_max(tops + 3, _top_of(top * top, inside), sem="relaxed")
    tl.atomic_max(tops + 4, _top_of(top, inside), sem="relaxed")
    if weighted:
        size = size * tl.load(weight + group, mask=inside, other=0.0)
    tl.atomic_max(tops, _top_of(size, inside), sem="relaxed")


@triton.jit
def _gradient_sizes(
    g: tl.tensor,
    groups: tl.tensor,
    terms: tl.tensor,
    r0: tl.tensor,
    k1: tl.tensor,
    r1: tl.tensor,
    x: tl.tensor,
    means: tl.tensor,
    rstds: tl.tensor,
    weight: tl.tensor,
    share: tl.tensor,
    tops: tl.tensor,
    weighted: tl.constexpr,
    by_terms: tl.constexpr,
    rows: tl.constexpr,
    columns: tl.constexpr,
    high: tl.constexpr,
    wide: tl.constexpr,
) -> None:
    """Raise r (2 G + H n h share) abs(w), n n h h and the sum of magnitudes of g of ``high`` groups.

    G and n are the largest magnitude and the norm of g, H and h those of x less the mean times r; mean and r are those
    of the group, or with ``by_terms`` of the term, and then the first of the three is left out.
    """
    group = tl.program_id(0).to(tl.int64) * high + tl.arange(0, high).to(tl.int64)
    across = tl.expand_dims(group, 0 if columns else 1)
    mean, rstd = tl.zeros((high,), tl.float64), tl.zeros((high,), tl.float64)
    if not by_terms:
        mean = tl.load(means + group, mask=group < groups, other=0.0)
        rstd = tl.load(rstds + group, mask=group < groups, other=0.0)
    largest, top = tl.zeros((high,), tl.int64), tl.zeros((high,), tl.int64)
    total, energy = tl.zeros((high,), tl.float64), tl.zeros((high,), tl.float64)
    squares = tl.zeros((high,), tl.float64)
    for start in tl.range(0, terms, wide):
        term = start + tl.arange(0, wide).to(tl.int64)
        along = tl.expand_dims(term, 1 if columns else 0)
        inside = (across < groups) & (along < terms)
        place = place_of(across, along, terms, r0, k1, r1, rows)
        if by_terms:
            means_there = tl.expand_dims(tl.load(means + term, mask=term < terms, other=0.0), 1 if columns else 0)
            rstds_there = tl.expand_dims(tl.load(rstds + term, mask=term < terms, other=0.0), 1 if columns else 0)
        else:
            means_there = tl.expand_dims(mean, 0 if columns else 1)
            rstds_there = tl.expand_dims(rstd, 0 if columns else 1)
        gradient = tl.load(g + place, mask=inside, other=0.0)
        bits = gradient.to(tl.int64, bitcast=True) & _MAGNITUDE
        largest = tl.maximum(largest, tl.max(bits, 0 if columns else 1))
        total += tl.sum(bits.to(tl.float64, bitcast=True), 0 if columns else 1)
        energy += tl.sum(gradient * gradient, 0 if columns else 1)
        normalised = (tl.load(x + place, mask=inside, other=0.0) - means_there) * rstds_there
        normalised = tl.where(inside, normalised, 0.0)
        top = tl.maximum(top, tl.max(normalised.to(tl.int64, bitcast=True) & _MAGNITUDE, 0 if columns else 1))
        squares += tl.sum(normalised * normalised, 0 if columns else 1)
    inside = group < groups
    tl.atomic_max(tops + 2, _top_of(total, inside), sem="relaxed")
    # Of numbers within float32's range the product of squares is within that of float64.
    both = energy * squares
    tl.atomic_max(tops + 1, _top_of(both, inside), sem="relaxed")
    if not by_terms:
        size = largest.to(tl.float64, bitcast=True) * 2.0
        size = size + top.to(tl.float64, bitcast=True) * tl.sqrt(both) * tl.load(share)
        size = size * rstd
        if weighted:
            size = size * tl.load(weight + group, mask=inside, other=0.0)
        tl.atomic_max(tops, _top_of(size, inside), sem="relaxed")


def takes_layer_norm(a: Mapping[str, Any]) -> bool:
    """Return whether :func:`layer_norm` and :func:`layer_norm_backward` take these arguments."""
    x, shape = a["input"], tuple(a["normalized_shape"])
    length = math.prod(shape)
    tensors = (x, a["weight"], a.get("bias"), a.get("grad_out"), a.get("mean"), a.get("rstd"))
    return (
        0 < length <= LONGEST_ROW
        and 0 < x.numel() // length <= MOST_ROWS
        and tuple(x.shape[x.dim() - len(shape) :]) == shape
        and all(one is None or reaches(one) for one in tensors)
    )


def reaches(x: Tensor) -> bool:
    """Return whether a tensor is of float64 numbers that a kernel of Triton reaches, and not empty."""
    return x.dtype is torch.float64 and x.numel() > 0 and devices.triton_reaches(x.device)


def layer_norm(a: Mapping[str, Any]) -> tuple[Tensor, Tensor, Tensor]:
    """Layer norm: the result, means and reciprocal deviations; arguments as ATen's operator has them."""
    x = a["input"].contiguous()
    outer = x.shape[: x.dim() - len(a["normalized_shape"])]
    statistics = (*outer, *[1] * len(a["normalized_shape"]))
    out, mean, rstd = torch.empty_like(x), x.new_empty(statistics), x.new_empty(statistics)
    weight, bias, eps = _dense(a["weight"], x), _dense(a["bias"], x), constant_on(a["eps"], x.dtype, x.device)
    _by_rows(
        _layer_norm, x, mean.numel(), weight, bias, eps, out, mean, rstd,
        weighted=a["weight"] is not None, biased=a["bias"] is not None,
    )  # fmt: skip
    return out, mean, rstd


def layer_norm_backward(a: Mapping[str, Any]) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Gradients of layer norm by its input, weight and bias; None for those that are not asked for."""
    (g, x, mean, rstd), mask = (
        (a[name].contiguous() for name in ("grad_out", "input", "mean", "rstd")),
        a["output_mask"],
    )
    rows, shape = rstd.numel(), tuple(a["normalized_shape"])
    to_input, to_weight, to_bias = torch.empty_like(x), x.new_empty(shape), x.new_empty(shape)
    if mask[0]:
        weight = _dense(a["weight"], x)
        _by_rows(
            _layer_norm_gradient, g, rows, x, mean, rstd, weight, to_input, weighted=a["weight"] is not None
        )  # fmt: skip
    if mask[1] or mask[2]:
        length = to_weight.numel()
        high, wide = min(_ROWS, triton.next_power_of_2(rows)), min(_BESIDE, triton.next_power_of_2(length))
        with device_of(g):
            _layer_norm_columns[(-(-length // wide),)](
                g, rows, length, x, mean, rstd, to_weight, to_bias, high=high, wide=wide, **OPTIONS
            )
    results = (to_input, to_weight, to_bias)
    return tuple(one if asked else None for one, asked in zip(results, mask, strict=True))  # type: ignore[return-value]


def additions(lengths: Sequence[int]) -> int:
    """Return through how many additions a term passes at most in :func:`batch_norm`'s sums, by tiles and in pairs.

    Args:
        lengths: k0, r0, k1 and r1, as :func:`.measures.measures` takes them.
    """
    terms = lengths[1] * lengths[3]
    # The least that a tile has of a group, in columns and else.
    tile = TILE // ACROSS if lengths[2] > 1 and lengths[3] == 1 else TILE // 4
    return -(-terms // tile) - 1 + (min(terms, TILE) - 1).bit_length()


def batch_norm(a: Mapping[str, Any], lengths: Sequence[int]) -> tuple[Tensor, ...]:
    """Batch norm in training: the result, means and reciprocal deviations, and new running statistics if there are.

    Args:
        a: Arguments as ATen's operator has them; tensors are float64 and not empty.
        lengths: k0, r0, k1 and r1 of the input, as :func:`.measures.measures` takes them; a channel is a group.
    """
    x, tracked = a["input"].contiguous(), "running_mean" in a
    out = torch.empty_like(x)
    mean, rstd, *new = (x.new_empty(x.shape[1]) for _ in range(4 if tracked else 2))
    of_channels = (_dense(a.get(name), x) for name in ("weight", "bias", "running_mean", "running_var"))
    count = lengths[1] * lengths[3]
    # What makes a variance unbiased is a quotient, for which a program would lack registers.
    numbers = (constant_on(n, x.dtype, x.device) for n in (a["eps"], a["momentum"], count / max(count - 1, 1)))
    launch_grouped(
        _batch_norm, lengths, x, *of_channels, *numbers, out, mean, rstd, *(new or (mean, rstd)), whole=True, halved=2,
        weighted=a["weight"] is not None, biased=a["bias"] is not None, tracked=tracked,
    )  # fmt: skip
    return (out, mean, rstd, *new)


def batch_norm_backward(
    a: Mapping[str, Any], lengths: Sequence[int]
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Gradients of batch norm in training by its input, weight and bias; None for those that are not asked for.

    Args:
        a: As for :func:`batch_norm`.
        lengths: The same.
    """
    g, x, mean, rstd = (a[name].contiguous() for name in ("grad_out", "input", "save_mean", "save_invstd"))
    mask = a["output_mask"]
    to_weight, to_bias = x.new_empty(x.shape[1]), x.new_empty(x.shape[1])
    to_input = torch.empty_like(x) if mask[0] else x
    launch_grouped(
        _batch_norm_gradient, lengths, g, x, mean, rstd, _dense(a["weight"], x), to_input, to_weight, to_bias,
        whole=True, halved=2, weighted=a["weight"] is not None, by_input=mask[0],
    )  # fmt: skip
    results = (to_input, to_weight, to_bias)
    return tuple(one if asked else None for one, asked in zip(results, mask, strict=True))  # type: ignore[return-value]


def _dense(x: Tensor | None, instead: Tensor) -> Tensor:
    """A tensor as kernels take it; where there is none they do not look at what is given."""
    return instead if x is None else x.contiguous()


def _by_rows(kernel: Any, x: Tensor, rows: int, *arguments: Tensor, **constants: bool) -> None:
    length = x.numel() // rows
    # In a larger tile quotients do not find their registers on every device.
    wide = min(TILE // 4, triton.next_power_of_2(length))
    high = min(TILE // 4 // wide, triton.next_power_of_2(rows))
    with device_of(x):
        kernel[(-(-rows // high),)](x, rows, length, *arguments, **constants, high=high, wide=wide, **OPTIONS)


def norm_sizes(x: Tensor, lengths: Sequence[int], rstd: Tensor, weight: Tensor | None) -> Tensor:
    """Return the largest X r abs(w), r (1 + X r), X / r, X X and X over groups of elements, float64 ``[5]``.

    Args:
        x: float64, contiguous, not empty; X is the largest magnitude of a group.
        lengths: k0, r0, k1 and r1, as :func:`.measures.measures` takes them.
        rstd: float64 ``[k0 * k1]``, contiguous: the reciprocal deviations r.
        weight: The same: w; None for 1.
    """
    tops = zeros(5, torch.int64, x.device)
    launch_grouped(
        _norm_sizes, lengths, x, rstd, rstd if weight is None else weight, tops, whole=True, weighted=weight is not None
    )
    return tops.view(torch.float64)


def gradient_sizes(
    g: Tensor,
    x: Tensor,
    lengths: Sequence[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None = None,
    *,
    projects: bool = True,
    by_terms: bool = False,
) -> Tensor:
    """Return the largest r (2 G + H n h / terms) abs(w), n n h h and sum of magnitudes over groups, float64 ``[3]``.

    Args:
        g: float64, contiguous, not empty; G and n are the largest magnitude and the norm of a group.
        x: The same; H and h are those of x less the mean times r.
        lengths: k0, r0, k1 and r1, as :func:`.measures.measures` takes them.
        mean: float64 ``[k0 * k1]``, contiguous.
        rstd: The same: the reciprocal deviations r.
        weight: The same: w; None for 1.
        projects: Whether the second term of the sum is there.
        by_terms: Whether mean and r are of the terms of a group, ``[r0 * r1]``; then the first of the three is 0.
    """
    tops = zeros(3, torch.int64, g.device)
    # Of a scale the last bit says nothing: a product stands for the quotient.
    share = constant_on(projects / (lengths[1] * lengths[3]), torch.float64, g.device)
    launch_grouped(
        _gradient_sizes, lengths, g, x, mean, rstd, rstd if weight is None else weight, share, tops, whole=True,
        weighted=weight is not None, by_terms=by_terms, halved=2,
    )  # fmt: skip
    return tops.view(torch.float64)
