"""What scale rules ask of tensors, in Triton: the largest magnitude, and sums of magnitudes and of squares.

One launch for a tensor, whatever its groups are; what it adds, each program adds in an order that hangs on shapes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from counterfoil_core.kernels.cuda.exact import INTERPRETED_TILE, OPTIONS, TILE, launch_grouped, place_of
from counterfoil_core.kernels.cuda.zeros import zeros
from counterfoil_core.kernels.devicenumber import constant_on
from counterfoil_core.kernels.devices import device_of

MOST_TERMS = 1 << 18
"""Terms of a group that one program adds: 128 tiles."""
_MAGNITUDE = tl.constexpr(0x7FFFFFFFFFFFFFFF)


@triton.jit
def _top(x: tl.tensor, count: tl.tensor, top: tl.tensor, size: tl.constexpr) -> None:
    """Raise a float64 magnitude, by its bits, to the largest of a block."""
    index = tl.program_id(0).to(tl.int64) * size + tl.arange(0, size).to(tl.int64)
    value = tl.load(x + index, mask=index < count, other=0.0).to(tl.float64)
    tl.atomic_max(top, tl.max(value.to(tl.int64, bitcast=True) & _MAGNITUDE, 0), sem="relaxed")


@triton.jit
def _measure(
    x: tl.tensor,
    groups: tl.tensor,
    terms: tl.tensor,
    r0: tl.tensor,
    k1: tl.tensor,
    r1: tl.tensor,
    found: tl.tensor,
    tops: tl.tensor,
    rows: tl.constexpr,
    columns: tl.constexpr,
    high: tl.constexpr,
    wide: tl.constexpr,
) -> None:
    """Measure ``high`` groups of elements, and raise what is the largest of each measure to theirs."""
    group = tl.program_id(0).to(tl.int64) * high + tl.arange(0, high).to(tl.int64)
    term = tl.arange(0, wide).to(tl.int64)
    across = tl.expand_dims(group, 0 if columns else 1)
    largest = tl.zeros((high,), tl.int64)
    total, squares = tl.zeros((high,), tl.float64), tl.zeros((high,), tl.float64)
    for start in tl.range(0, terms, wide):
        along = tl.expand_dims(start + term, 1 if columns else 0)
        inside = (across < groups) & (along < terms)
        value = tl.load(x + place_of(across, along, terms, r0, k1, r1, rows), mask=inside, other=0.0).to(tl.float64)
        # By their bits: a maximum of numbers would pass over what is none.
        bits = value.to(tl.int64, bitcast=True) & _MAGNITUDE
        largest = tl.maximum(largest, tl.max(bits, 0 if columns else 1))
        total += tl.sum(bits.to(tl.float64, bitcast=True), 0 if columns else 1)
        squares += tl.sum(value * value, 0 if columns else 1)
    inside = group < groups
    tl.store(found + group, largest.to(tl.float64, bitcast=True), mask=inside)
    tl.store(found + groups + group, total, mask=inside)
    tl.store(found + 2 * groups + group, squares, mask=inside)
    tl.atomic_max(tops, tl.max(largest, 0), sem="relaxed")
    tl.atomic_max(tops + 1, tl.max(total.to(tl.int64, bitcast=True) & _MAGNITUDE, 0), sem="relaxed")
    tl.atomic_max(tops + 2, tl.max(squares.to(tl.int64, bitcast=True) & _MAGNITUDE, 0), sem="relaxed")


@triton.jit
def _largest_gate(
    g: tl.tensor,
    count: tl.tensor,
    x: tl.tensor,
    slope: tl.tensor,
    cubic: tl.tensor,
    top: tl.tensor,
    size: tl.constexpr,
) -> None:
    """Raise a float64 magnitude, by its bits, to the largest abs(g) (1 + slope abs(x) (1 + cubic x x)) of a block."""
    index = tl.program_id(0).to(tl.int64) * size + tl.arange(0, size).to(tl.int64)
    inside = index < count
    gradient = tl.load(g + index, mask=inside, other=0.0).to(tl.float64)
    value = tl.load(x + index, mask=inside, other=0.0).to(tl.float64)
    gate = tl.abs(gradient) * (1.0 + tl.load(slope) * tl.abs(value) * (1.0 + tl.load(cubic) * value * value))
    tl.atomic_max(top, tl.max(gate.to(tl.int64, bitcast=True) & _MAGNITUDE, 0), sem="relaxed")


@triton.jit
def _largest_of_products(
    first: tl.tensor, rows: tl.tensor, second: tl.tensor, columns: tl.tensor, top: tl.tensor, size: tl.constexpr
) -> None:
    """Raise a magnitude, by its bits, to the largest of one row of ``first`` times that of ``second``."""
    number = tl.program_id(0).to(tl.int64)
    one, other = tl.zeros((size,), tl.int64), tl.zeros((size,), tl.int64)
    for start in tl.range(0, rows, size):
        index = start + tl.arange(0, size).to(tl.int64)
        value = tl.load(first + number * rows + index, mask=index < rows, other=0.0)
        one = tl.maximum(one, value.to(tl.int64, bitcast=True) & _MAGNITUDE)
    for start in tl.range(0, columns, size):
        index = start + tl.arange(0, size).to(tl.int64)
        value = tl.load(second + number * columns + index, mask=index < columns, other=0.0)
        other = tl.maximum(other, value.to(tl.int64, bitcast=True) & _MAGNITUDE)
    product = tl.max(one, 0).to(tl.float64, bitcast=True) * tl.max(other, 0).to(tl.float64, bitcast=True)
    tl.atomic_max(top, product.to(tl.int64, bitcast=True) & _MAGNITUDE, sem="relaxed")


def largest_gate(g: Tensor, x: Tensor, slope: float, cubic: float) -> Tensor:
    """Return the largest of ``abs(g) * (1 + slope * abs(x) * (1 + cubic * x * x))``, float64 ``[]``.

    Args:
        g: float64 or float32, contiguous and not empty.
        x: The same, of its shape.
        slope: A number.
        cubic: A number.
    """
    found, count = zeros(1, torch.int64, g.device), g.numel()
    numbers = (constant_on(one, torch.float64, g.device) for one in (slope, cubic))
    size = INTERPRETED_TILE if triton.knobs.runtime.interpret and count > TILE else TILE
    with device_of(g):
        _largest_gate[(-(-count // size),)](g, count, x, *numbers, found, size=size, **OPTIONS)
    return found.view(torch.float64)[0]


def largest_of_products(first: Tensor, second: Tensor) -> Tensor:
    """Return the largest product of a number of a row of the first and one of the same row of the second.

    Args:
        first: float64 ``[n, rows]``, contiguous, not empty, no number below 0.
        second: float64 ``[n, columns]``, likewise.
    """
    found = zeros(1, torch.int64, first.device)
    with device_of(first):
        _largest_of_products[(len(first),)](first, first.shape[1], second, second.shape[1], found, size=512, **OPTIONS)
    return found.view(torch.float64)[0]


def top(x: Tensor) -> Tensor:
    """Return the largest magnitude of a float64 or float32 tensor, contiguous and not empty, as float64 ``[]``.

    It is not a number where an element is none.
    """
    found, count = zeros(1, torch.int64, x.device), x.numel()
    size = INTERPRETED_TILE if triton.knobs.runtime.interpret and count > TILE else TILE
    with device_of(x):
        _top[(-(-count // size),)](x, count, found, size=size, **OPTIONS)
    return found.view(torch.float64)[0]


def measures(x: Tensor, lengths: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return the largest magnitudes of groups of elements, the sums of magnitudes and of squares.

    Args:
        x: float64 or float32, contiguous, not empty.
        lengths: k0, r0, k1 and r1: its shape, so taken together that r0 and r1 are the axes of a group.

    Returns:
        float64 ``[3, k0 * k1]``, infinite or not a number where an element is; and the largest of each, ``[3]``.
    """
    found = torch.empty(3, lengths[0] * lengths[2], dtype=torch.float64, device=x.device)
    tops = zeros(3, torch.int64, x.device)
    launch_grouped(_measure, lengths, x, found, tops, whole=True)
    return found, tops.view(torch.float64)


def takes(lengths: Sequence[int]) -> bool:
    """Whether a program may add all terms of a group."""
    return math.prod(lengths[1::2]) <= MOST_TERMS
