"""The arithmetic of the exact profiles in Triton, for CUDA: magnitudes, quantisation, digits, and back to float32.

Each kernel is one pass over memory, and none makes the host wait: exponents stay on the device, as the bits of the
largest magnitude, and what is not finite raises a flag there (:mod:`counterfoil_core.kernels.exact.refusals`).

A float64 number x + M, with M = 1.5 * 2^52 units, has the bits of M plus the integer that x becomes: the addition
itself rounds, and a subtraction of bits gives the integer (``docs/proofs.md``, "One rounding"). No product is
added to anything, so nothing can be fused.

Triton's interpreter runs the same source on the CPU (``TRITON_INTERPRET=1`` before this module is imported), which is
how it is tested where there is no CUDA device.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from counterfoil_core.base.trouble import raise_shortage
from counterfoil_core.kernels.cpu.magnitudes import INFINITE, LEAST_EXPONENT
from counterfoil_core.kernels.cuda.zeros import zeros
from counterfoil_core.kernels.devicenumber import constant_on
from counterfoil_core.kernels.devices import device_of

TILE = 2048
"""Elements of one program on a device."""
INTERPRETED_TILE = 1 << 15
"""The same under the interpreter, where a program costs a millisecond whatever its size."""
ACROSS = 64
"""Elements beside each other of a tile that is high as well."""
MOST_OF_A_ROW, MOST_OF_A_COLUMN = 1 << 16, 1 << 10
"""Terms that one program takes: 32 tiles. Of more a device would wait for a few programs, so three launches do."""
OPTIONS = {"num_warps": 8, "enable_fp_fusion": False}

_BIAS = tl.constexpr(1023)
_INFINITE = tl.constexpr(INFINITE)
_LEAST = tl.constexpr(LEAST_EXPONENT)
_MAGNITUDE = tl.constexpr(0x7FFFFFFF)
_LEAST_INTEGER = tl.constexpr(-(1 << 31))
_MAGNITUDE64 = tl.constexpr(0x7FFFFFFFFFFFFFFF)
_ERROR = tl.constexpr(2.0**-46)
"""A power of two, which Triton's float32 holds: how far from the true value a float64 one may be."""
_INFINITE64 = tl.constexpr(0x7FF0000000000000)


@triton.jit
def _exponent(pattern: tl.tensor) -> tl.tensor:
    """E of float32 magnitudes by their bits, int32: the smallest int64 with 2^E above them."""
    # Every float32 number, subnormal or not, is a normal number of float64.
    wide = pattern.to(tl.float32, bitcast=True).to(tl.float64)
    return tl.maximum((wide.to(tl.int64, bitcast=True) >> 52) - (_BIAS - 1), _LEAST)


@triton.jit
def _magic(exponent: tl.tensor, bits: tl.tensor) -> tl.tensor:
    """The bits of 1.5 * 2^52 units of 2^(exponent - bits)."""
    return ((exponent - bits + (_BIAS + 52)) << 52) | (1 << 51)


@triton.jit
def _tile_of(across: tl.tensor, high: tl.constexpr, wide: tl.constexpr) -> tuple[tl.tensor, tl.tensor, tl.tensor]:
    """The rows and columns, int64, of this program's tile of a matrix of so many columns; which tile of its rows."""
    # In int64: the sum may be beyond int32 where the number of elements is not.
    tiles = (tl.full((), wide - 1, tl.int64) + across) // wide
    number = tl.program_id(0).to(tl.int64)
    row = (number // tiles) * high + tl.arange(0, high).to(tl.int64)
    return row, (number % tiles) * wide + tl.arange(0, wide).to(tl.int64), number % tiles


@triton.jit
def place_of(
    group: tl.tensor, term: tl.tensor, terms: tl.tensor, r0: tl.tensor, k1: tl.tensor, r1: tl.tensor, rows: tl.constexpr
) -> tl.tensor:
    """Where the terms of groups lie in ``x[k0, r0, k1, r1]``; groups are the pairs of k0 and k1, terms those of r0, r1.

    ``rows``: r0 and k1 are 1.
    """
    if rows:
        return group * terms + term
    return (((group // k1) * r0 + term // r1) * k1 + group % k1) * r1 + term % r1


@triton.jit
def _largest(
    x: tl.tensor,
    groups: tl.tensor,
    terms: tl.tensor,
    r0: tl.tensor,
    k1: tl.tensor,
    r1: tl.tensor,
    largest: tl.tensor,
    rows: tl.constexpr,
    columns: tl.constexpr,
    high: tl.constexpr,
    wide: tl.constexpr,
) -> None:
    """Raise the largest magnitudes of ``high`` groups to those of ``wide`` terms of each, all by their bits."""
    group, term, _ = _tile_of(terms, high, wide)
    if columns:
        # Groups lie beside each other in memory: so they do in the tile.
        across, along = tl.expand_dims(group, 0), tl.expand_dims(term, 1)
    else:
        across, along = tl.expand_dims(group, 1), tl.expand_dims(term, 0)
    inside = (across < groups) & (along < terms)
    pattern = tl.load(x + place_of(across, along, terms, r0, k1, r1, rows), mask=inside, other=0) & _MAGNITUDE
    found = tl.max(pattern, 0 if columns else 1)
    tl.atomic_max(largest + group, found, mask=group < groups, sem="relaxed")


@triton.jit
def _quantise(
    x: tl.tensor,
    groups: tl.tensor,
    terms: tl.tensor,
    r0: tl.tensor,
    k1: tl.tensor,
    r1: tl.tensor,
    largest: tl.tensor,
    bits: tl.tensor,
    values: tl.tensor,
    exponents: tl.tensor,
    flag: tl.tensor,
    rows: tl.constexpr,
    columns: tl.constexpr,
    high: tl.constexpr,
    wide: tl.constexpr,
) -> None:
    """Round ``wide`` terms of each of ``high`` groups to the units of their group."""
    group, term, tile = _tile_of(terms, high, wide)
    pattern = tl.load(largest + group, mask=group < groups, other=0)
    exponent = _exponent(pattern)
    # All programs that raise the flag write the same.
    tl.store(flag + group * 0, pattern * 0 + 1, mask=pattern >= _INFINITE)
    tl.store(exponents + group, exponent, mask=(group < groups) & (group * 0 + tile == 0))
    magic = _magic(exponent, bits).to(tl.float64, bitcast=True)
    if columns:
        across, along, magics = tl.expand_dims(group, 0), tl.expand_dims(term, 1), tl.expand_dims(magic, 0)
    else:
        across, along, magics = tl.expand_dims(group, 1), tl.expand_dims(term, 0), tl.expand_dims(magic, 1)
    inside = (across < groups) & (along < terms)
    place = place_of(across, along, terms, r0, k1, r1, rows)
    value = tl.load(x + place, mask=inside, other=0.0).to(tl.float64)
    tl.store(values + place, (value + magics) - magics, mask=inside)


@triton.jit
def _sum(
    x: tl.tensor,
    groups: tl.tensor,
    terms: tl.tensor,
    r0: tl.tensor,
    k1: tl.tensor,
    r1: tl.tensor,
    largest: tl.tensor,
    bits: tl.tensor,
    totals: tl.tensor,
    rows: tl.constexpr,
    columns: tl.constexpr,
    high: tl.constexpr,
    wide: tl.constexpr,
) -> None:
    """Add ``wide`` terms of each of ``high`` groups, as integers of the units of their group, to the group's total."""
    group, term, _ = _tile_of(terms, high, wide)
    magic = _magic(_exponent(tl.load(largest + group, mask=group < groups, other=0)), bits)
    if columns:
        across, along, magics = tl.expand_dims(group, 0), tl.expand_dims(term, 1), tl.expand_dims(magic, 0)
    else:
        across, along, magics = tl.expand_dims(group, 1), tl.expand_dims(term, 0), tl.expand_dims(magic, 1)
    inside = (across < groups) & (along < terms)
    place = place_of(across, along, terms, r0, k1, r1, rows)
    value = tl.load(x + place, mask=inside, other=0.0).to(tl.float64)
    # Where nothing is, the integer is zero.
    integers = (value + magics.to(tl.float64, bitcast=True)).to(tl.int64, bitcast=True) - magics
    tl.atomic_add(totals + group, tl.sum(integers, 0 if columns else 1), mask=group < groups, sem="relaxed")


@triton.jit
def _round_sums(
    totals: tl.tensor,
    groups: tl.tensor,
    largest: tl.tensor,
    bits: tl.tensor,
    result: tl.tensor,
    flag: tl.tensor,
    size: tl.constexpr,
) -> None:
    """Round sums of terms in units of their groups."""
    group = tl.program_id(0).to(tl.int64) * size + tl.arange(0, size).to(tl.int64)
    inside = group < groups
    pattern = tl.load(largest + group, mask=inside, other=0)
    tl.store(flag + group * 0, pattern * 0 + 1, mask=pattern >= _INFINITE)
    total = tl.load(totals + group, mask=inside, other=0)
    tl.store(result + group, _rounded_once(total, _exponent(pattern) - bits), mask=inside)


@triton.jit
def _largest_of_whole(
    x: tl.tensor,
    groups: tl.tensor,
    terms: tl.tensor,
    r0: tl.tensor,
    k1: tl.tensor,
    r1: tl.tensor,
    group: tl.tensor,
    rows: tl.constexpr,
    columns: tl.constexpr,
    high: tl.constexpr,
    wide: tl.constexpr,
) -> tl.tensor:
    """The largest magnitudes among all terms of these ``high`` groups, by their bits."""
    term = tl.arange(0, wide).to(tl.int64)
    across = tl.expand_dims(group, 0 if columns else 1)
    pattern = tl.zeros((high,), tl.int32)
    for start in tl.range(0, terms, wide):
        along = tl.expand_dims(start + term, 1 if columns else 0)
        inside = (across < groups) & (along < terms)
        value = tl.load(x + place_of(across, along, terms, r0, k1, r1, rows), mask=inside, other=0.0)
        found = value.to(tl.int32, bitcast=True) & _MAGNITUDE
        pattern = tl.maximum(pattern, tl.max(found, 0 if columns else 1))
    return pattern


@triton.jit
def _sum_whole(
    x: tl.tensor,
    groups: tl.tensor,
    terms: tl.tensor,
    r0: tl.tensor,
    k1: tl.tensor,
    r1: tl.tensor,
    bits: tl.tensor,
    result: tl.tensor,
    flag: tl.tensor,
    rows: tl.constexpr,
    columns: tl.constexpr,
    high: tl.constexpr,
    wide: tl.constexpr,
) -> None:
    """Add all terms of each of ``high`` groups: the largest magnitude first, then integers, then one rounding."""
    group = tl.program_id(0).to(tl.int64) * high + tl.arange(0, high).to(tl.int64)
    term = tl.arange(0, wide).to(tl.int64)
    across = tl.expand_dims(group, 0 if columns else 1)
    pattern = _largest_of_whole(x, groups, terms, r0, k1, r1, group, rows, columns, high, wide)
    # All programs that raise the flag write the same.
    tl.store(flag + group * 0, pattern * 0 + 1, mask=pattern >= _INFINITE)
    exponent = _exponent(pattern)
    magic = _magic(exponent, bits)
    magics = tl.expand_dims(magic, 0 if columns else 1)
    total = tl.zeros((high,), tl.int64)
    for start in tl.range(0, terms, wide):
        along = tl.expand_dims(start + term, 1 if columns else 0)
        inside = (across < groups) & (along < terms)
        value = tl.load(x + place_of(across, along, terms, r0, k1, r1, rows), mask=inside, other=0.0).to(tl.float64)
        # Where nothing is, the integer is zero.
        integers = (value + magics.to(tl.float64, bitcast=True)).to(tl.int64, bitcast=True) - magics
        total += tl.sum(integers, 0 if columns else 1)
    tl.store(result + group, _rounded_once(total, exponent - bits), mask=group < groups)


@triton.jit
def _row_frexp(
    x: tl.tensor,
    groups: tl.tensor,
    terms: tl.tensor,
    r0: tl.tensor,
    k1: tl.tensor,
    r1: tl.tensor,
    largest: tl.tensor | None,
    fractions: tl.tensor,
    scales: tl.tensor,
    rows: tl.constexpr,
    columns: tl.constexpr,
    high: tl.constexpr,
    wide: tl.constexpr,
) -> None:
    """Divide groups by the powers of two that their largest magnitudes lie in.

    A program takes ``wide`` terms of each of ``high`` groups; or all terms, and looks for the magnitudes itself, where
    ``largest`` is None.
    """
    group, term, tile = _tile_of(wide if largest is None else terms, high, wide)
    if largest is None:
        pattern = _largest_of_whole(x, groups, terms, r0, k1, r1, group, rows, columns, high, wide)
    else:
        pattern = tl.load(largest + group, mask=group < groups, other=0)
    # What is not a number is taken for infinite, whose exponent field is that of an infinite power.
    exponent = _exponent(tl.minimum(pattern, _INFINITE))
    scale = ((exponent + (_BIAS - 1)) << 52).to(tl.float64, bitcast=True).to(tl.float32)
    tl.store(scales + group, scale, mask=(group < groups) & (group * 0 + tile == 0))
    across, divisor = tl.expand_dims(group, 0 if columns else 1), tl.expand_dims(scale, 0 if columns else 1)
    for start in tl.range(0, terms if largest is None else wide, wide):
        along = tl.expand_dims(start + term, 1 if columns else 0)
        inside = (across < groups) & (along < terms)
        place = place_of(across, along, terms, r0, k1, r1, rows)
        value = tl.load(x + place, mask=inside, other=0.0)
        tl.store(fractions + place, tl.div_rn(value, divisor), mask=inside)


@triton.jit
def _nearest(value: tl.tensor) -> tl.tensor:
    """The bits, int32, of the float32 nearest to a float64; no zero has a sign."""
    pattern = value.to(tl.float32).to(tl.int32, bitcast=True)
    return tl.where(pattern == _LEAST_INTEGER, 0, pattern)


@triton.jit
def _rounded_once(total: tl.tensor, exponent: tl.tensor) -> tl.tensor:
    """The bits, int32, of the float32 nearest to ``total * 2^exponent``, total at most 2^53; no zero has a sign."""
    scale = ((exponent + _BIAS) << 52).to(tl.float64, bitcast=True)
    return _nearest(total.to(tl.float64) * scale)


@triton.jit
def _sure(x: tl.tensor, count: tl.tensor, result: tl.tensor, kind: tl.constexpr, size: tl.constexpr) -> None:
    """A function of float32 numbers that float64 decides: a root, a reciprocal, or the reciprocal of a root."""
    index = tl.program_id(0).to(tl.int64) * size + tl.arange(0, size).to(tl.int64)
    inside = index < count
    value = tl.load(x + index, mask=inside, other=1.0)
    if kind == "sqrt":
        found = tl.sqrt_rn(value)
    elif kind == "reciprocal":
        found = tl.div_rn(1.0, value)
    else:
        tl.static_assert(kind == "rsqrt")
        # As counterfoil_core.kernels.exact.functions does in torch's operators, which says why.
        wide = value.to(tl.float64)
        near = 1.0 / tl.sqrt(wide)
        one = tl.full((), 1.0, tl.float64)
        below, above = (near * (one - _ERROR)).to(tl.float32), (near * (one + _ERROR)).to(tl.float32)
        middle = (below.to(tl.float64) + above.to(tl.float64)) * 0.5
        square = middle * middle
        upper = ((square.to(tl.int64, bitcast=True) >> 27) << 27).to(tl.float64, bitcast=True)
        is_less = (upper * wide - 1.0) + (square - upper) * wide < 0.0
        found = tl.where(is_less, above, below)
    tl.store(result + index, found + 0.0, mask=inside)


@triton.jit
def _bracket(
    values: tl.tensor,
    count: tl.tensor,
    low: tl.tensor,
    high: tl.tensor,
    result: tl.tensor,
    report: tl.tensor,
    room: tl.tensor,
    size: tl.constexpr,
) -> None:
    """Round values times ``low``, and collect where those times ``high`` round to another number."""
    index = tl.program_id(0).to(tl.int64) * size + tl.arange(0, size).to(tl.int64)
    inside = index < count
    value = tl.load(values + index, mask=inside, other=0.0)
    below = _nearest(value * tl.load(low))
    above = _nearest(value * tl.load(high))
    # What is not a number is no doubt.
    is_number = (value.to(tl.int64, bitcast=True) & _MAGNITUDE64) <= _INFINITE64
    doubtful = inside & (below != above) & is_number
    number = tl.sum(doubtful.to(tl.int64), 0)
    before = number * 0
    if number > 0:
        before = tl.atomic_add(report, number, sem="relaxed")
    place = before + tl.cumsum(doubtful.to(tl.int64), 0)
    tl.store(report + place, index, mask=doubtful & (place <= room))
    tl.store(result + index, below, mask=inside)


def _power_of_two(length: int, most: int) -> int:
    """The smallest power of two that is not less than a length, ``most`` at most."""
    return min(1 << max(length - 1, 0).bit_length(), most)


def _tile(rows: int, columns: int, widest: int = TILE) -> tuple[int, int]:
    """Lengths of a tile of a matrix, powers of two; where it does not lie in rows it should not be too wide."""
    interpreted = triton.knobs.runtime.interpret and rows * columns > TILE
    size = INTERPRETED_TILE if interpreted else TILE
    wide = _power_of_two(columns, size if interpreted else widest)
    return _power_of_two(rows, size // wide), wide


def _launch(
    kernel: Any, shape: tuple[int, int], tile: tuple[int, int], x: Tensor, *arguments: Any, **constants: Any
) -> None:
    """Launch a kernel over a matrix of this shape on the device of x, which need not be the machine's first."""
    (rows, columns), (high, wide) = shape, tile
    with device_of(x):
        kernel[(-(-rows // high) * -(-columns // wide),)](x, *arguments, **constants, high=high, wide=wide, **OPTIONS)


def launch_grouped(
    kernel: Any, lengths: Sequence[int], x: Tensor, *arguments: Any, whole: bool = False, halved: int = 1,
    **constants: bool,
) -> None:  # fmt: skip
    """Launch a kernel over ``x[k0, r0, k1, r1]``.

    ``whole``: its programs take all terms of their groups, in tiles that are so often ``halved``.
    """
    k0, r0, k1, r1 = lengths
    groups, terms, columns = k0 * k1, r0 * r1, k1 > 1 and r1 == 1
    if columns:
        wide, high = _tile(terms, groups, ACROSS)
    else:
        high, wide = _tile(groups, terms)
    if whole:
        # Totals of groups stay in registers, where a whole tile does not find room beside them on every device.
        for _ in range(halved):
            high, wide = (high // 2, wide) if high > 1 else (high, max(wide // 2, 1))
    _launch(
        kernel, (groups, 1 if whole else terms), (high, wide), x, groups, terms, r0, k1, r1, *arguments,
        rows=r0 == k1 == 1, columns=columns, **constants,
    )  # fmt: skip


def _takes_whole(lengths: Sequence[int]) -> bool:
    """Whether a program takes all terms of its groups of ``x[k0, r0, k1, r1]``."""
    _, r0, k1, r1 = lengths
    return r0 * r1 <= (MOST_OF_A_COLUMN if k1 > 1 and r1 == 1 else MOST_OF_A_ROW)


def largest(x: Tensor, lengths: Sequence[int]) -> Tensor:
    """Return the largest magnitudes of groups of elements, by their bits.

    Args:
        x: float32, contiguous, not empty.
        lengths: k0, r0, k1 and r1: its shape, so taken together that r0 and r1 are the axes of a group.

    Returns:
        int32 ``[k0 * k1]``: magnitudes are ordered as their bits are, infinity and what is not a number above all.
    """
    found = zeros(lengths[0] * lengths[2], torch.int32, x.device)
    launch_grouped(_largest, lengths, x.view(torch.int32), found)
    return found


def quantise(x: Tensor, lengths: Sequence[int], top: Tensor, bits: int, flag: Tensor) -> tuple[Tensor, Tensor]:
    """Return Q_b of groups of elements.

    Args:
        x: float32, contiguous, not empty.
        lengths: As for :func:`largest`.
        top: int32 ``[k0 * k1]``: what that gave.
        bits: b, 1 to 51.
        flag: int32 ``[1]``: becomes 1 where an element is not finite.

    Returns:
        float64, the shape of ``x``: the values; int64 ``[k0 * k1]``: the exponents.
    """
    values = torch.empty(x.shape, dtype=torch.float64, device=x.device)
    exponents = torch.empty(top.shape, dtype=torch.int64, device=x.device)
    launch_grouped(_quantise, lengths, x, top, bits, values, exponents, flag)
    return values, exponents


def total(x: Tensor, lengths: Sequence[int], bits: int, flag: Tensor) -> Tensor:
    """Return the sums of groups of elements through Q_b, each rounded once.

    Args:
        x: float32, contiguous, not empty.
        lengths: As for :func:`largest`.
        bits: b, so that no sum is more than 2^53 units.
        flag: int32 ``[1]``: becomes 1 where an element is not finite.

    Returns:
        float32 ``[k0 * k1]``.
    """
    groups = lengths[0] * lengths[2]
    result = torch.empty(groups, dtype=torch.int32, device=x.device)
    if _takes_whole(lengths):
        launch_grouped(_sum_whole, lengths, x, bits, result, flag, whole=True)
        return result.view(torch.float32)
    top, totals = largest(x, lengths), zeros(groups, torch.int64, x.device)
    launch_grouped(_sum, lengths, x, top, bits, totals)
    size = INTERPRETED_TILE if triton.knobs.runtime.interpret and groups > TILE else TILE
    with device_of(x):
        _round_sums[(-(-groups // size),)](totals, groups, top, bits, result, flag, size=size, **OPTIONS)
    return result.view(torch.float32)


def row_frexp(x: Tensor, lengths: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return groups of elements divided by the power of two that their largest magnitude lies in, and these powers.

    Args:
        x: float32, contiguous, not empty.
        lengths: As for :func:`largest`.

    Returns:
        float32, the shape of ``x``: the quotients; float32 ``[k0 * k1]``: the powers, 2^-149 at least, infinite where
        an element is not finite.
    """
    whole = _takes_whole(lengths)
    top = None if whole else largest(x, lengths)
    fractions = torch.empty_like(x)
    scales = torch.empty(lengths[0] * lengths[2], dtype=torch.float32, device=x.device)
    launch_grouped(_row_frexp, lengths, x, top, fractions, scales, whole=whole)
    return fractions, scales


def sure(kind: str, x: Tensor) -> Tensor:
    """Return correctly rounded values of a function that needs no exact arithmetic.

    Args:
        kind: ``sqrt``, ``reciprocal`` or ``rsqrt``.
        x: float32.

    Returns:
        float32, the shape of ``x``, contiguous; no zero has a sign.
    """
    flat, count = x.contiguous(), x.numel()
    result = torch.empty_like(flat)
    size = INTERPRETED_TILE if triton.knobs.runtime.interpret and count > TILE else TILE
    with device_of(x):
        _sure[(-(-count // size),)](flat, count, result, kind=kind, size=size, **OPTIONS)
    return result


def bracket(approximate: Tensor, error: float, room: int) -> tuple[Tensor, Tensor]:
    """Round values to float32, and collect where their error may decide.

    Args:
        approximate: float64 ``[n]``, contiguous.
        error: How far from the true value each may be, relatively.
        room: Indices that there is room for.

    Returns:
        float32 ``[n]``: the lower end of the error in magnitude, rounded. int64 ``[1 + room]``: how many indices there
        are at which the upper end rounds to another number, then those that found room, in any order.
    """
    count = approximate.numel()
    result = torch.empty(count, dtype=torch.int32, device=approximate.device)
    report = zeros(1 + room, torch.int64, approximate.device)
    # Triton takes a number for a float32 one.
    ends = (constant_on(end, torch.float64, approximate.device) for end in (1 - error, 1 + error))
    size = INTERPRETED_TILE if triton.knobs.runtime.interpret and count > TILE else TILE
    with device_of(approximate):
        _bracket[(-(-count // size),)](approximate, count, *ends, result, report, room, size=size, **OPTIONS)
    return result.view(torch.float32), report


def gives_known_answer(device: torch.device) -> bool:
    """Return whether a kernel runs on a device, and is right.

    None does where there is no C compiler and no headers of Python for Triton's launcher, no room for what is compiled,
    or a driver that does not take it.

    Raises:
        MemoryShortageError: The device has no memory left, which says nothing of its kernels.
    """
    try:
        found = largest(torch.tensor([0.5, -2.0, 1.0], device=device), (1, 1, 1, 3))
        return found.tolist() == [_BITS_OF_TWO]
    except Exception as error:  # what a compiler and a driver may raise is anybody's guess
        raise_shortage(error)
        _LOG.warning("no kernels of Triton on %s: %r", device, error)
        return False


_BITS_OF_TWO = 0x40000000
_LOG = logging.getLogger("counterfoil")
