"""Products of the exact profiles for CUDA, each in one launch: matrices, batches of them, convolutions.

A program reads tiles of float32, rounds them to integers of S bits, cuts these into bytes in registers, lets tensor
cores multiply the bytes and add up, joins the sums in int64, and rounds once to float32. Nothing is laid out in memory,
and there is no float64 in it: a card has few units for that.

- **Integers.** ``x * 2^(S - E) + 1.5 * 2^23`` in float32 has the bits of ``1.5 * 2^23`` plus the integer that x
  becomes: the addition itself rounds, ties to even, for integers of up to 22 bits. Both factors are powers of two, so
  the product is exact where it is not far below a half, and fused or not gives the same.
- **Digits** are the bytes of that pattern: base 256, -128 to 127, the last one smaller. No sum of two is needed, as in
  :data:`counterfoil_core.kernels.exact.products.Form.KARATSUBA`: a tensor core multiplies faster than registers add.
- **Carriers.** Tensor cores take digits as int8 and add in int32, or as bfloat16, which has eight bits and so every
  byte, and add in float32 (:mod:`counterfoil_core.kernels.carriers`).
- **Sums.** Products of digits whose places add up to the same are at most ``2^15 + 2^9`` a term, of two digits
  ``2^14``, so int32 holds ``2^15`` terms; float32 holds every whole number up to ``2^24``. Then int64 takes them over,
  which holds every sum that a profile allows (at most 2^62).
- **One rounding** (``docs/proofs.md``, "One rounding without float64").

Triton's interpreter runs the same source on the CPU, as :mod:`.kernels.cuda.exact` says; tests run what is compiled on
a machine that executes PTX.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import torch
import triton
import triton.language as tl
from torch import Tensor

from counterfoil_core.kernels.carriers import Carrier
from counterfoil_core.kernels.cpu.magnitudes import INFINITE, LEAST_EXPONENT
from counterfoil_core.kernels.devices import device_of

MOST_BITS_OF_TWO = 14
"""Most bits of integers that two digits hold."""
SUMMED: Mapping[tuple[Carrier, int], int] = {
    (Carrier.INT8, 2): 1 << 15,
    (Carrier.INT8, 3): 1 << 15,
    (Carrier.BFLOAT16, 2): 1 << 10,
    (Carrier.BFLOAT16, 3): 3 << 7,
}
"""Terms that a carrier adds, of so many digits: 2^15 * (2^15 + 2^9) < 2^31; 2^10 * 2^14 = 2^24; and 3 * 2^7 times
2^15 + 2^9 is below 2^24, a multiple of every tile's depth."""
AXES = 3
"""Spatial axes of a convolution; those that it lacks have the length 1."""

_LEAST = tl.constexpr(LEAST_EXPONENT)
_INFINITE = tl.constexpr(INFINITE)
_MAGIC = tl.constexpr(12582912.0)
_MAGIC_BITS = tl.constexpr(0x4B400000)
_MANTISSA = tl.constexpr(0x7FFFFF)
_LEAST_UNIT = tl.constexpr(-149)
"""The exponent of the smallest subnormal number."""
_HIGH = tl.constexpr(16777216.0)
_LOST = tl.constexpr(16384.0)
_DEPTH = 32
"""Terms that a tile has on a device."""
_LEAST_TILE, _MOST_TILE = 16, 128
"""Lengths of tiles under the interpreter, where a program costs milliseconds whatever its size."""
_LACKING = {
    "kernel": 1, "positions": 1, "size": 1, "of_n": 1, "of_k": 1, "offset": 0, "part": 1,
    "left": 0, "right": 0, "result": 0,
}  # fmt: skip
"""What an axis has that a tensor lacks."""


@triton.jit
def _power(e: tl.tensor) -> tl.tensor:
    """2^e in float32, e from -149 to 127."""
    normal = (e + 127) << 23
    subnormal = tl.full((), 1, tl.int32) << tl.minimum(tl.maximum(e + 149, 0), 22)
    return tl.where(e >= -126, normal, subnormal).to(tl.float32, bitcast=True)


@triton.jit
def _exponent(pattern: tl.tensor) -> tl.tensor:
    """E of float32 magnitudes by their bits, int32: the smallest int64 with 2^E above them, -148 at least."""
    field = pattern >> 23
    # A subnormal's bits, as a float32 number, have the exponent of its highest bit.
    subnormal = ((pattern & _MANTISSA).to(tl.float32).to(tl.int32, bitcast=True) >> 23) - (127 + 148)
    return tl.where(field == 0, tl.maximum(subnormal, _LEAST), field - 126)


@triton.jit
def _factors(exponent: tl.tensor, bits: tl.constexpr) -> tuple[tl.tensor, tl.tensor]:
    """2^(S - E) as two factors: it may be beyond float32's range."""
    first = tl.minimum(bits - exponent, 127)
    return _power(first), _power(bits - exponent - first)


@triton.jit
def _integers(x: tl.tensor, first: tl.tensor, second: tl.tensor) -> tl.tensor:
    """The integers nearest to ``x * first * second``, ties to even, over the bits of 1.5 * 2^23."""
    return tl.fma(x * first, second, _MAGIC).to(tl.int32, bitcast=True)


@triton.jit
def _digit(z: tl.tensor, number: tl.constexpr, carrier: tl.constexpr) -> tl.tensor:
    """A digit of what :func:`_integers` gave, as its carrier has it, the lowest first."""
    # Half a base at the place of each digit below. The third byte alone shows 1.5 * 2^23.
    bias: tl.constexpr = 128 * (256**number - 1) // 255 - (_MAGIC_BITS if number == 2 else 0)
    digit = ((z + bias) >> (8 * number)).to(tl.int8)
    return digit if carrier == "int8" else digit.to(tl.float32).to(tl.bfloat16)


@triton.jit
def _beside(y0: tl.tensor, y1: tl.tensor, y2: tl.tensor, y3: tl.tensor, right: tl.constexpr) -> tl.tensor:
    """Four tiles of every fourth k as one: four k of one row, or column, then are in one register of bytes."""
    y = tl.join(tl.join(y0, y2), tl.join(y1, y3))
    if right:
        y = tl.reshape(tl.permute(y, (0, 2, 3, 1)), (4 * y.shape[0], y.shape[1]))
    else:
        y = tl.reshape(y, (y.shape[0], 4 * y.shape[1]))
    return y


@triton.jit
def _added(
    x: tl.tensor,
    y: tl.tensor,
    p0: tl.tensor,
    p1: tl.tensor,
    p2: tl.tensor,
    p3: tl.tensor,
    p4: tl.tensor,
    count: tl.constexpr,
    carrier: tl.constexpr,
) -> tuple[tl.tensor, tl.tensor, tl.tensor, tl.tensor, tl.tensor]:
    """Add the products of the digits of two tiles of integers to the sums, by place."""
    x0, x1 = _digit(x, 0, carrier), _digit(x, 1, carrier)
    y0, y1 = _digit(y, 0, carrier), _digit(y, 1, carrier)
    p0 = tl.dot(x0, y0, p0, out_dtype=p0.dtype)
    p1 = tl.dot(x0, y1, p1, out_dtype=p1.dtype)
    p1 = tl.dot(x1, y0, p1, out_dtype=p1.dtype)
    p2 = tl.dot(x1, y1, p2, out_dtype=p2.dtype)
    if count == 3:
        x2, y2 = _digit(x, 2, carrier), _digit(y, 2, carrier)
        p2 = tl.dot(x0, y2, p2, out_dtype=p2.dtype)
        p2 = tl.dot(x2, y0, p2, out_dtype=p2.dtype)
        p3 = tl.dot(x1, y2, p3, out_dtype=p3.dtype)
        p3 = tl.dot(x2, y1, p3, out_dtype=p3.dtype)
        p4 = tl.dot(x2, y2, p4, out_dtype=p4.dtype)
    return p0, p1, p2, p3, p4


@triton.jit
def _joined(
    p0: tl.tensor, p1: tl.tensor, p2: tl.tensor, p3: tl.tensor, p4: tl.tensor, count: tl.constexpr
) -> tl.tensor:
    """Sums by place as one, int64."""
    # Whole numbers in float32, too.
    total = p2.to(tl.int32).to(tl.int64)
    if count == 3:
        total += ((p4.to(tl.int32).to(tl.int64) << 8) + p3.to(tl.int32)) << 8
    return (((total << 8) + p1.to(tl.int32)) << 8) + p0.to(tl.int32)


@triton.jit
def _rounded(total: tl.tensor, e: tl.tensor) -> tl.tensor:
    """The float32 nearest to ``total * 2^e``, ties to even, of totals up to 2^62 and a scalar e; no zero has a sign."""
    one = tl.full((), 1, tl.int64)
    if e < _LEAST_UNIT:
        # Units are finer than the smallest subnormal: to odd, two bits below that, then to whole ones of it.
        lost = tl.minimum(tl.maximum(_LEAST_UNIT - e, 0), 65)
        keep = tl.minimum(lost, 2)
        shift, kept = (lost - keep).to(tl.int64), keep.to(tl.int64)
        short = total >> shift
        short = short | ((short << shift) != total).to(tl.int64)
        even = ((short + ((one << kept) >> 1) - one + ((short >> kept) & one)) >> kept) << kept
        limit = one << (kept + 24)
        total = tl.where((kept > 0) & (short < limit) & (short > -limit), even, short)
        e = tl.maximum(e, _LEAST_UNIT - 2)
    # Beyond 48 bits the last 14 are below half a unit of the result: to odd.
    large = (total >= (one << 48)) | (total < -(one << 48))
    short = (total >> 14) | ((total & 0x3FFF) != 0).to(tl.int64)
    total = tl.where(large, short, total)
    # Both parts are exact, and so is every product with a power of two: the addition is the one rounding.
    number = (total >> 24).to(tl.int32).to(tl.float32) * _HIGH + (total.to(tl.int32) & 0xFFFFFF).to(tl.float32)
    number = tl.where(large, number * _LOST, number)
    second = tl.where(e < _LEAST_UNIT, _LEAST_UNIT, tl.minimum(e, 127))
    return number * _power(e - second) * _power(second)


@triton.jit
def _summed(
    pa: tl.tensor,
    pb: tl.tensor,
    k: tl.tensor,
    kb: tl.tensor,
    start: tl.tensor,
    end: tl.tensor,
    a_step: tl.tensor,
    b_step: tl.tensor,
    inside_a: tl.tensor,
    inside_b: tl.tensor,
    fa: tl.tensor,
    ga: tl.tensor,
    fb: tl.tensor,
    gb: tl.tensor,
    count: tl.constexpr,
    carrier: tl.constexpr,
    high: tl.constexpr,
    wide: tl.constexpr,
    deep: tl.constexpr,
    turned_a: tl.constexpr,
    turned_b: tl.constexpr,
    whole: tl.constexpr,
) -> tuple[tl.tensor, tl.tensor, tl.tensor]:
    """Sum the products of terms from start to end; where the pointers are then, and the sums."""
    zero = tl.zeros((high, wide), tl.int32 if carrier == "int8" else tl.float32)
    p0, p1, p2, p3, p4 = zero, zero, zero, zero, zero
    for k0 in tl.range(start, end, deep):
        x = _loaded(pa, a_step, inside_a, k, end - k0, False, turned_a, whole)
        y = _loaded(pb, b_step, inside_b, kb, end - k0, True, turned_b, whole)
        pa += a_step * deep
        pb += b_step * deep
        z, w = _integers(x, fa, ga), _integers(y, fb, gb)
        p0, p1, p2, p3, p4 = _added(z, w, p0, p1, p2, p3, p4, count, carrier)
    return pa, pb, _joined(p0, p1, p2, p3, p4, count)


@triton.jit
def _loaded(
    p: tl.tensor,
    step: tl.tensor,
    inside: tl.tensor,
    k: tl.tensor,
    left: tl.tensor,
    right: tl.constexpr,
    turned: tl.constexpr,
    whole: tl.constexpr,
) -> tl.tensor:
    """A tile of float32; where ``turned``, memory runs along the other axis, and p and k are of every fourth k.

    Where it is not, rows beyond the end are the last one's, without a mask: what they give is not stored.
    """
    if turned:
        there = k + 4 if whole else left
        y = _beside(
            tl.load(p, mask=inside & (k < there), other=0.0),
            tl.load(p + step, mask=inside & (k + 1 < there), other=0.0),
            tl.load(p + 2 * step, mask=inside & (k + 2 < there), other=0.0),
            tl.load(p + 3 * step, mask=inside & (k + 3 < there), other=0.0),
            right,
        )
    elif whole:
        y = tl.load(p)
    else:
        y = tl.load(p, mask=k < left, other=0.0)
    return y


@triton.jit
def _multiply(
    a: tl.tensor,
    b: tl.tensor,
    c: tl.tensor,
    tops_a: tl.tensor,
    tops_b: tl.tensor,
    flag: tl.tensor,
    rows: tl.tensor,
    columns: tl.tensor,
    inner: tl.tensor,
    tiles_across: tl.tensor,
    tiles: tl.tensor,
    a_batch: tl.tensor,
    a_row: tl.tensor,
    a_step: tl.tensor,
    b_batch: tl.tensor,
    b_step: tl.tensor,
    b_column: tl.tensor,
    bits: tl.constexpr,
    count: tl.constexpr,
    carrier: tl.constexpr,
    summed: tl.constexpr,
    turned_a: tl.constexpr,
    turned_b: tl.constexpr,
    whole: tl.constexpr,
    long: tl.constexpr,
    high: tl.constexpr,
    wide: tl.constexpr,
    deep: tl.constexpr,
) -> None:
    """A tile of a product of matrices.

    ``turned_a``: memory of a runs along its rows' axis; ``turned_b``: that of b along its columns'. ``whole``: the
    inner length is a multiple of ``deep``. ``long``: there are more terms than ``summed``, which the carrier adds.
    """
    none = tl.full((), 0, tl.int64)
    batch = tl.program_id(0) // tiles
    tile = tl.program_id(0) % tiles
    m = tl.expand_dims(tile // tiles_across * high + tl.arange(0, high), 1)
    n = tl.expand_dims(tile % tiles_across * wide + tl.arange(0, wide), 0)
    inside_a, inside_b = m < rows, n < columns
    last_a, last_b = tl.minimum(m, rows - 1), tl.minimum(n, columns - 1)
    ta, tb = tl.load(tops_a + batch), tl.load(tops_b + batch)
    ea, eb = _exponent(ta), _exponent(tb)
    # All programs that raise the flag write the same.
    tl.store(flag + ta * 0, ta * 0 + 1, mask=ta >= _INFINITE)
    tl.store(flag + tb * 0, tb * 0 + 1, mask=tb >= _INFINITE)
    fa, ga = _factors(ea, bits)
    fb, gb = _factors(eb, bits)
    k = tl.expand_dims(4 * tl.arange(0, deep // 4) if turned_a else tl.arange(0, deep), 0)
    kb = tl.expand_dims(4 * tl.arange(0, deep // 4) if turned_b else tl.arange(0, deep), 1)
    pa = a + (none + batch) * a_batch + (none + last_a) * a_row + (none + k) * a_step
    pb = b + (none + batch) * b_batch + (none + kb) * b_step + (none + last_b) * b_column
    if long:
        total = tl.zeros((high, wide), tl.int64)
        for start in range(0, inner, summed):
            pa, pb, more = _summed(
                pa, pb, k, kb, start, tl.minimum(start + summed, inner), none + a_step, none + b_step, inside_a,
                inside_b, fa, ga, fb, gb, count, carrier, high, wide, deep, turned_a, turned_b, whole,
            )  # fmt: skip
            total += more
    else:
        # A total that is carried along takes two registers for each element.
        pa, pb, total = _summed(
            pa, pb, k, kb, 0, inner, none + a_step, none + b_step, inside_a, inside_b, fa, ga, fb, gb, count, carrier,
            high, wide, deep, turned_a, turned_b, whole,
        )  # fmt: skip
    place = c + ((none + batch) * rows + m) * columns + n
    tl.store(place, _rounded(total, ea + eb - 2 * bits), mask=inside_a & inside_b)


@triton.jit
def _parted(
    number: tl.tensor, l_0: tl.tensor, l_1: tl.tensor, l_2: tl.tensor
) -> tuple[tl.tensor, tl.tensor, tl.tensor, tl.tensor]:
    """A place along an outer axis and three inner ones of these lengths, by its number."""
    return number // (l_2 * l_1 * l_0), number // (l_2 * l_1) % l_0, number // l_2 % l_1, number % l_2


@triton.jit
def _along(
    n: tl.tensor, k: tl.tensor, of_n: tl.tensor, of_k: tl.tensor, offset: tl.tensor, part: tl.tensor, length: tl.tensor
) -> tuple[tl.tensor, tl.tensor]:
    """Where a window looks along one axis, and whether an element is there."""
    place = n * of_n + k * of_k + offset
    inside = (place >= 0) & (place % part == 0)
    place = place // part
    return place, inside & (place < length)


@triton.jit
def _convolve(
    a: tl.tensor,
    x: tl.tensor,
    c: tl.tensor,
    top_a: tl.tensor,
    top_x: tl.tensor,
    flag: tl.tensor,
    rows: tl.tensor,
    columns: tl.tensor,
    inner: tl.tensor,
    tiles_across: tl.tensor,
    tiles: tl.tensor,
    a_group: tl.tensor,
    a_row: tl.tensor,
    a_outer: tl.tensor,
    a_0: tl.tensor,
    a_1: tl.tensor,
    a_2: tl.tensor,
    x_group: tl.tensor,
    x_column: tl.tensor,
    x_outer: tl.tensor,
    x_0: tl.tensor,
    x_1: tl.tensor,
    x_2: tl.tensor,
    c_group: tl.tensor,
    c_row: tl.tensor,
    c_column: tl.tensor,
    c_0: tl.tensor,
    c_1: tl.tensor,
    c_2: tl.tensor,
    size_0: tl.tensor,
    size_1: tl.tensor,
    size_2: tl.tensor,
    k_0: tl.tensor,
    k_1: tl.tensor,
    k_2: tl.tensor,
    n_0: tl.tensor,
    n_1: tl.tensor,
    n_2: tl.tensor,
    of_n_0: tl.tensor,
    of_n_1: tl.tensor,
    of_n_2: tl.tensor,
    of_k_0: tl.tensor,
    of_k_1: tl.tensor,
    of_k_2: tl.tensor,
    offset_0: tl.tensor,
    offset_1: tl.tensor,
    offset_2: tl.tensor,
    part_0: tl.tensor,
    part_1: tl.tensor,
    part_2: tl.tensor,
    bits: tl.constexpr,
    count: tl.constexpr,
    carrier: tl.constexpr,
    summed: tl.constexpr,
    high: tl.constexpr,
    wide: tl.constexpr,
    deep: tl.constexpr,
) -> None:
    """A tile of a convolution or a gradient of one, the window in the index; arguments as in :class:`Windows`."""
    none = tl.full((), 0, tl.int64)
    group = tl.program_id(0) // tiles
    tile = tl.program_id(0) % tiles
    m = tl.expand_dims(tile // tiles_across * high + tl.arange(0, high), 1)
    n = tl.expand_dims(tile % tiles_across * wide + tl.arange(0, wide), 0)
    ta, tx = tl.load(top_a), tl.load(top_x)
    tl.store(flag, 1, mask=(ta >= _INFINITE) | (tx >= _INFINITE))
    ea, ex = _exponent(ta), _exponent(tx)
    fa, ga = _factors(ea, bits)
    fx, gx = _factors(ex, bits)
    no, n0, n1, n2 = _parted(n, n_0, n_1, n_2)
    pa = a + (none + group) * a_group + (none + m) * a_row
    px = x + (none + group) * x_group + (none + no) * x_column
    zero = tl.zeros((high, wide), tl.int32 if carrier == "int8" else tl.float32)
    total = tl.zeros((high, wide), tl.int64)
    for start in range(0, inner, summed):
        p0, p1, p2, p3, p4 = zero, zero, zero, zero, zero
        for first in tl.range(start, tl.minimum(start + summed, inner), deep):
            k = tl.expand_dims(first + tl.arange(0, deep), 0)
            ko, k0, k1, k2 = _parted(k, k_0, k_1, k_2)
            place = (none + ko) * a_outer + (none + k0) * a_0 + (none + k1) * a_1 + (none + k2) * a_2
            left = tl.load(pa + place, mask=(m < rows) & (k < inner), other=0.0)
            k = tl.expand_dims(first + tl.arange(0, deep), 1)
            ko, k0, k1, k2 = _parted(k, k_0, k_1, k_2)
            h0, there0 = _along(n0, k0, of_n_0, of_k_0, offset_0, part_0, size_0)
            h1, there1 = _along(n1, k1, of_n_1, of_k_1, offset_1, part_1, size_1)
            h2, there2 = _along(n2, k2, of_n_2, of_k_2, offset_2, part_2, size_2)
            there = there0 & there1 & there2 & (k < inner) & (n < columns)
            place = (none + ko) * x_outer + (none + h0) * x_0 + (none + h1) * x_1 + (none + h2) * x_2
            right = tl.load(px + place, mask=there, other=0.0)
            z, w = _integers(left, fa, ga), _integers(right, fx, gx)
            p0, p1, p2, p3, p4 = _added(z, w, p0, p1, p2, p3, p4, count, carrier)
        total += _joined(p0, p1, p2, p3, p4, count)
    e = ea + ex - 2 * bits
    into = c + (none + group) * c_group + (none + m) * c_row + (none + no) * c_column
    into += (none + n0) * c_0 + (none + n1) * c_1 + (none + n2) * c_2
    tl.store(into, _rounded(total, e), mask=(m < rows) & (n < columns))


def digit_count(bits: int) -> int:
    """Return how many bytes hold integers of so many bits."""
    return 2 if bits <= MOST_BITS_OF_TWO else 3


def tile_of(rows: int, columns: int, *, small: bool, narrow: bool) -> tuple[int, int, int, int]:
    """Return height, width and depth of a tile, and its warps: larger ones read less, smaller ones are more.

    They are the largest whose sums find room in registers (``tests/ptx/ahead.py`` looks that nothing spills).

    Args:
        rows: Of the result.
        columns: Of the result.
        small: Whether a total in int64 is carried along, and there is a window or an end.
        narrow: Whether there are three digits, digits of two bytes each, or such a total.
    """
    if triton.knobs.runtime.interpret:
        high, wide = (min(max(triton.next_power_of_2(length), _LEAST_TILE), _MOST_TILE) for length in (rows, columns))
        return high, wide, _MOST_TILE, 4
    if small or min(rows, columns) < 64:
        return 32, 32, _DEPTH, 8
    return 64, 32 if narrow else 64, _DEPTH, 8


def multiply(a: Tensor, b: Tensor, tops: tuple[Tensor, Tensor], bits: int, flag: Tensor, carrier: Carrier) -> Tensor:
    """Return the defined products of a batch of matrices.

    Args:
        a: float32 ``[batch, m, k]``, any strides, not empty.
        b: float32 ``[batch, k, n]``, any strides, not empty.
        tops: int32 ``[batch]`` each: the bits of the largest magnitude of each matrix.
        bits: S, 8 to 22.
        flag: int32 ``[1]``: becomes 1 where an element is not finite.
        carrier: What tensor cores multiply.

    Returns:
        float32 ``[batch, m, n]``, contiguous.
    """
    (batch, rows, inner), columns, count = a.shape, b.shape[2], digit_count(bits)
    summed = SUMMED[carrier, count]
    narrow = count == 3 or carrier is Carrier.BFLOAT16 or inner > summed
    small = inner > summed and inner % _DEPTH > 0
    high, wide, deep, warps = tile_of(rows, columns, small=small, narrow=narrow)
    result = torch.empty((batch, rows, columns), dtype=torch.float32, device=a.device)
    across = -(-columns // wide)
    tiles = -(-rows // high) * across
    with device_of(a):
        _multiply[(batch * tiles,)](
            a, b, result, *tops, flag, rows, columns, inner, across, tiles, *a.stride(), *b.stride(),
            bits=bits, count=count, carrier=carrier.value, summed=summed,
            turned_a=a.stride(2) != 1 and rows > 1, turned_b=b.stride(1) != 1 and columns > 1, whole=inner % deep == 0,
            long=inner > summed, high=high, wide=wide, deep=deep, num_warps=warps, num_stages=1,
            enable_fp_fusion=False,
        )  # fmt: skip
    return result


@dataclass(frozen=True)
class Windows:
    """A convolution, or a gradient of one, as a product of matrices whose right operand is a window over a tensor.

    Row k of that operand is a place ``(outer, k_0, k_1, k_2)``, its column n a place ``(column, n_0, n_1, n_2)``; it is
    ``x[column, outer, h_0, h_1, h_2]`` with ``h = (n of_n + k of_k + offset) / part``, and 0 where that is no integer,
    or outside. Each field is of the three spatial axes, but for strides, which begin with those that are named.
    """

    groups: int
    rows: int  #: Of each group.
    outer: int
    columns: int
    kernel: Sequence[int]  #: Lengths of k.
    positions: Sequence[int]  #: Lengths of n.
    size: Sequence[int]  #: Lengths of the tensor.
    of_n: Sequence[int]
    of_k: Sequence[int]
    offset: Sequence[int]
    part: Sequence[int]
    left: Sequence[int]  #: Strides of the left operand: group, row, outer, k.
    right: Sequence[int]  #: Strides of the tensor: group, column, outer, h.
    result: Sequence[int]  #: Strides of the result: group, row, column, n.

    @classmethod
    def of(cls, groups: int, rows: int, outer: int, columns: int, **axes: Sequence[int]) -> Self:
        """Make it of the spatial axes that there are, 1 to 3."""
        whole = {
            name: [*given[: len(given) - count], *[_LACKING[name]] * (AXES - count), *given[len(given) - count :]]
            for count in (len(axes["size"]),)
            for name, given in axes.items()
        }
        return cls(groups, rows, outer, columns, **whole)


def convolve(
    a: Tensor,
    x: Tensor,
    result: Tensor,
    windows: Windows,
    tops: tuple[Tensor, Tensor],
    bits: int,
    flag: Tensor,
    carrier: Carrier,
) -> None:
    """Write a defined convolution, or a gradient of one.

    Args:
        a: float32, the left operand, not empty.
        x: float32, the tensor under the windows, not empty.
        result: float32, to write to.
        windows: Where everything lies.
        tops: int32 ``[1]`` each: the bits of the largest magnitudes.
        bits: S, 8 to 22.
        flag: int32 ``[1]``: becomes 1 where an element is not finite.
        carrier: What tensor cores multiply.
    """
    rows, inner, columns = windows.rows, windows.outer, windows.columns
    for taps, places in zip(windows.kernel, windows.positions, strict=True):
        inner, columns = inner * taps, columns * places
    count = digit_count(bits)
    high, wide, deep, warps = tile_of(rows, columns, small=True, narrow=True)
    across = -(-columns // wide)
    tiles = -(-rows // high) * across
    with device_of(a):
        _convolve[(windows.groups * tiles,)](
            a, x, result, *tops, flag, rows, columns, inner, across, tiles, *windows.left, *windows.right,
            *windows.result, *windows.size, *windows.kernel, *windows.positions, *windows.of_n, *windows.of_k,
            *windows.offset, *windows.part, bits=bits, count=count, carrier=carrier.value,
            summed=SUMMED[carrier, count], high=high, wide=wide, deep=deep, num_warps=warps, num_stages=1,
            enable_fp_fusion=False,
        )  # fmt: skip
