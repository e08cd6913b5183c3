"""Convolutions on the CPU by int8 digits: cut once, unfolded a tile at a time, multiplied while it is in the cache.

The same as :mod:`counterfoil_core.kernels.exact.convolutions` by
:data:`counterfoil_core.kernels.exact.products.Form.KARATSUBA`, for one group. Cut images have their channels last, so
that what a kernel covers lies in runs. All three products unfold rows:
the gradient by the input reads those positions of the arriving gradient that lie over it, one product for each of the
stride's phases, so that no zeros are put between and multiplied.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil_core.kernels.cache import kernel
from counterfoil_core.kernels.exact import digitproducts, digits
from counterfoil_core.kernels.exact.digits import KARATSUBA_BLOCK, digit_count
from counterfoil_core.kernels.exact.geometry import Geometry
from counterfoil_core.kernels.exact.int8 import int8_product

Int64Array = npt.NDArray[np.int64]

_TILE_BYTES = 640 * 1024
"""An unfolded tile of one digit stays in a core's second cache."""
_FEWEST_ROWS = 64
_FEWEST_ADDED = 1024
"""Rows of a tile below which adding its product to those of the others costs too much."""
_KEPT = 32
"""Tables of a sort that are kept, for as many shapes of convolutions: a stranger's program may have thousands."""


@dataclass(frozen=True)
class Images:
    """Images through Q_b, as digits, with zeros around them."""

    #: int8 ``[2 or 3, N * padded positions * C]``: the digits, the lowest first, channels last.
    planes: npt.NDArray[np.int8]
    unit: int  #: Exponent of the unit.
    bits: int  #: b.


@dataclass(frozen=True)
class Reading:
    """Which runs of cut images make the rows of an unfolded matrix."""

    rows: Int64Array  #: int64 ``[N * positions]``: where a row's window begins.
    runs: Int64Array  #: int64 ``[r]``: where its runs begin, from there.
    length: int  #: Elements of a run.

    @property
    def columns(self) -> int:
        """Columns of the matrix."""
        return len(self.runs) * self.length


@dataclass(frozen=True)
class Phase:
    """Positions of an input that the same elements of a kernel lie over, for each spatial axis."""

    first: int  #: The first position.
    count: int  #: How many there are, a stride from each other.
    taps: tuple[int, ...]  #: Elements of the kernel, the last one first.
    #: For each of them which position of the gradient it takes to the first; further ones follow.
    offsets: tuple[int, ...]


def takes(first: Tensor, second: Tensor, geometry: Geometry, bits: int, count: int) -> bool:
    """Whether these kernels compute a convolution or a gradient of it from two tensors: on the CPU, of one group.

    Args:
        first: An operand.
        second: The other.
        geometry: How the kernel moves.
        bits: S.
        count: Products of a tile that are added: channels times kernel; none for the gradient by the weight.
    """
    return geometry.groups == 1 and count <= KARATSUBA_BLOCK and digitproducts.takes(first, second, bits)


def convolution(x: Tensor, weight: Tensor, geometry: Geometry, bits: int) -> Tensor:
    """Return the defined convolution; see :func:`counterfoil_core.kernels.exact.convolutions.convolution`."""
    size, kernel = tuple(x.shape[2:]), tuple(weight.shape[2:])
    positions = _positions(size, kernel, geometry)
    images = images_once(x, bits, geometry.padding, geometry.padding)
    reading = _windows(x.shape[0], x.shape[1], size, kernel, geometry)
    taps = digitproducts.cut(weight.movedim(1, -1).reshape(weight.shape[0], -1), bits)
    result = torch.empty((x.shape[0], weight.shape[0], math.prod(positions)), dtype=torch.float32)
    _multiply(taps, images, reading, result)
    return result.view(x.shape[0], weight.shape[0], *positions)


def input_gradient(g: Tensor, weight: Tensor, size: Sequence[int], geometry: Geometry, bits: int) -> Tensor:
    """Return the defined gradient by the input; see :func:`.kernels.exact.convolutions.input_gradient`."""
    samples, outputs, channels = g.shape[0], g.shape[1], weight.shape[1]
    phases = [_phases(*axis) for axis in _axes(size, weight.shape[2:], g.shape[2:], geometry)]
    before, after = _gradient_margins(size, weight.shape[2:], g.shape[2:], geometry)
    images = images_once(g, bits, before, after)
    exponent = digitproducts.exponent_of(weight)
    result = torch.zeros((samples, channels, *size), dtype=torch.float32)
    for chosen in itertools.product(*phases):
        counts = tuple(phase.count for phase in chosen)
        if not (math.prod(counts) and all(phase.taps for phase in chosen)):
            continue
        reading = _phase_windows(samples, outputs, tuple(g.shape[2:]), before, after, chosen)
        of_phase = weight
        for axis, phase in enumerate(chosen):
            of_phase = of_phase.index_select(2 + axis, torch.tensor(phase.taps))
        taps = digitproducts.cut(of_phase.transpose(0, 1).movedim(1, -1).reshape(channels, -1), bits, exponent)
        part = result.view(samples, channels, -1)
        whole = counts == tuple(size)
        if not whole:
            part = torch.empty((samples, channels, math.prod(counts)), dtype=torch.float32)
        _multiply(taps, images, reading, part)
        if not whole:
            places = tuple(
                slice(phase.first, None, stride) for phase, stride in zip(chosen, geometry.stride, strict=True)
            )
            result[(slice(None), slice(None), *places)] = part.view(samples, channels, *counts)
    return result


def weight_gradient(g: Tensor, x: Tensor, kernel: Sequence[int], geometry: Geometry, bits: int) -> Tensor:
    """Return the defined gradient by the weight; see :func:`.kernels.exact.convolutions.weight_gradient`."""
    samples, outputs, channels = g.shape[0], g.shape[1], x.shape[1]
    images = images_once(x, bits, geometry.padding, geometry.padding)
    # With the zeros around it that the gradient by the input reads.
    before, after = _gradient_margins(x.shape[2:], kernel, g.shape[2:], geometry)
    arriving = images_once(g, bits, before, after)
    single = _single(samples, outputs, tuple(g.shape[2:]), before, after)
    reading = _windows(samples, channels, tuple(x.shape[2:]), tuple(kernel), geometry)
    count = len(reading.rows)
    digits = digit_count(bits)
    dtype = torch.int32 if count <= KARATSUBA_BLOCK else torch.int64
    totals = torch.zeros((digits * (digits + 1) // 2, outputs, reading.columns), dtype=dtype)
    # Of few columns a tile would have more rows than int32 adds.
    rows = min(max(_FEWEST_ADDED, _TILE_BYTES // reading.columns), KARATSUBA_BLOCK)
    for start in range(0, count, rows):
        end = min(start + rows, count)
        unfolded = _unfolded(images, reading, start, end)
        left = _unfolded(arriving, single, start, end)
        for total, a, b in zip(totals, left, unfolded, strict=True):
            total.add_(int8_product(a.t(), b))
    result = torch.empty((outputs, reading.columns), dtype=torch.float32)
    digitproducts.join(totals, images.unit + arriving.unit, bits, count, result)
    return result.view(outputs, *kernel, channels).movedim(-1, 1).contiguous()


def images_once(x: Tensor, bits: int, before: Sequence[int], after: Sequence[int]) -> Images:
    """The same as :func:`cut_images`, once for two products that a value occurs in."""
    if not x.is_contiguous():
        return cut_images(x, bits, before, after)
    return digits.once(x, (bits, *before, *after), lambda: cut_images(x, bits, before, after))


def cut_images(x: Tensor, bits: int, before: Sequence[int], after: Sequence[int]) -> Images:
    """Return the digits of Q_b(x), channels last, with zeros around them.

    Args:
        x: float32 ``[N, C, *size]`` on the CPU.
        bits: b, 7 to 20.
        before: Zeros before each spatial axis.
        after: Zeros after it.

    Raises:
        NonFiniteError: An element is infinite or not a number.
    """
    unit = digitproducts.exponent_of(x) - bits
    samples, channels, size = x.shape[0], x.shape[1], tuple(x.shape[2:])
    places, padded = _places(size, tuple(before), tuple(after))
    count = digit_count(bits)
    make = np.zeros if any(before) or any(after) else np.empty
    planes = make((count, samples * padded * channels), np.int8)
    flat = x.contiguous().view(samples, channels, -1).numpy()
    shaped = planes.reshape(count, samples, padded, channels)
    (_cut_two if count == 2 else _cut_three)(flat, 2.0**-unit, places, shaped)
    return Images(planes, unit, bits)


def _positions(size: Sequence[int], kernel: Sequence[int], geometry: Geometry) -> tuple[int, ...]:
    return tuple(
        max((n + 2 * p - d * (taps - 1) - 1) // s + 1, 0)
        for n, taps, s, p, d in zip(size, kernel, geometry.stride, geometry.padding, geometry.dilation, strict=True)
    )


def _axes(
    size: Sequence[int], kernel: Sequence[int], positions: Sequence[int], geometry: Geometry
) -> Iterator[tuple[int, int, int, int, int]]:
    """Length, taps, stride, padding, dilation of each spatial axis."""
    assert len(positions) == len(size)
    return zip(size, kernel, geometry.stride, geometry.padding, geometry.dilation, strict=True)


def _phases(length: int, taps: int, stride: int, padding: int, dilation: int) -> tuple[Phase, ...]:
    """The phases of an axis: input i and tap t meet where i + padding = position * stride + t * dilation."""
    found = []
    for phase in range(min(stride, length)):
        over = tuple(t for t in reversed(range(taps)) if (phase + padding - t * dilation) % stride == 0)
        offsets = tuple((phase + padding - t * dilation) // stride for t in over)
        found.append(Phase(phase, len(range(phase, length, stride)), over, offsets))
    return tuple(found)


def _margins(phases: Sequence[Phase], positions: int) -> tuple[int, int]:
    """Zeros before and after the positions of the gradient that the phases of an axis read."""
    least = min((offset for phase in phases for offset in phase.offsets), default=0)
    most = max((offset + phase.count - 1 for phase in phases for offset in phase.offsets), default=0)
    return max(0, -least), max(0, most - positions + 1)


def _gradient_margins(
    size: Sequence[int], kernel: Sequence[int], positions: Sequence[int], geometry: Geometry
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    phases = (_phases(*axis) for axis in _axes(size, kernel, positions, geometry))
    before, after = zip(*map(_margins, phases, positions), strict=True)
    return before, after


@lru_cache(maxsize=_KEPT)
def _places(size: tuple[int, ...], before: tuple[int, ...], after: tuple[int, ...]) -> tuple[Int64Array, int]:
    """Where the positions of an image lie once it has zeros around it; and how many positions it has then."""
    padded = tuple(n + b + a for n, b, a in zip(size, before, after, strict=True))
    lengths = [b + np.arange(n) for n, b in zip(size, before, strict=True)]
    return _grid(lengths, padded), math.prod(padded)


def _grid(indices: Sequence[Int64Array], shape: Sequence[int]) -> Int64Array:
    """Flat C-order numbers of all combinations of indices of the axes."""
    total = np.zeros((), np.int64)
    for found, length in zip(indices, shape, strict=True):
        total = total[..., None] * length + np.asarray(found, np.int64)
    return total.reshape(-1)


def _reading(samples: int, channels: int, starts: Int64Array, taps: Int64Array, padded: int) -> Reading:
    """Describe the rows by positions: ``starts`` of the windows in an image, ``taps`` from there."""
    # The longest run of neighbours that all taps are made of.
    length = next(
        (
            run
            for run in range(len(taps), 0, -1)
            if len(taps) % run == 0
            and all((np.diff(taps[first : first + run]) == 1).all() for first in range(0, len(taps), run))
        ),
        1,
    )
    rows = (np.arange(samples)[:, None] * padded + starts).reshape(-1)
    return Reading(rows * channels, np.ascontiguousarray(taps[::length]) * channels, length * channels)


@lru_cache(maxsize=_KEPT)
def _windows(
    samples: int, channels: int, size: tuple[int, ...], kernel: tuple[int, ...], geometry: Geometry
) -> Reading:
    """The windows of padded images."""
    padded = [n + 2 * p for n, p in zip(size, geometry.padding, strict=True)]
    starts = [np.arange(n) * s for n, s in zip(_positions(size, kernel, geometry), geometry.stride, strict=True)]
    taps = [np.arange(n) * d for n, d in zip(kernel, geometry.dilation, strict=True)]
    return _reading(samples, channels, _grid(starts, padded), _grid(taps, padded), math.prod(padded))


@lru_cache(maxsize=_KEPT)
def _phase_windows(
    samples: int,
    channels: int,
    positions: tuple[int, ...],
    before: tuple[int, ...],
    after: tuple[int, ...],
    chosen: tuple[Phase, ...],
) -> Reading:
    """The positions of a padded gradient that lie over those of an input that share a phase."""
    padded = [n + b + a for n, b, a in zip(positions, before, after, strict=True)]
    starts = [np.arange(phase.count) for phase in chosen]
    taps = [np.array(phase.offsets) + b for phase, b in zip(chosen, before, strict=True)]
    return _reading(samples, channels, _grid(starts, padded), _grid(taps, padded), math.prod(padded))


@lru_cache(maxsize=_KEPT)
def _single(
    samples: int, channels: int, positions: tuple[int, ...], before: tuple[int, ...], after: tuple[int, ...]
) -> Reading:
    """The positions of a padded gradient, without what is around them."""
    places, padded = _places(positions, before, after)
    return _reading(samples, channels, places, np.zeros(1, np.int64), padded)


def _multiply(taps: digitproducts.Cut, images: Images, reading: Reading, result: Tensor) -> None:
    """Write the products of a kernel ``[M, columns]`` with all rows into ``result``, float32 ``[N, M, positions]``."""
    samples, outputs, positions = result.shape
    scale = taps.unit + images.unit
    wanted = max(_FEWEST_ROWS, _TILE_BYTES // reading.columns)
    if positions >= wanted:
        pieces = -(-positions // wanted)
        rows, at_once = -(-positions // pieces), 1
    else:
        rows, at_once = positions, max(1, wanted // max(positions, 1))
    for sample in range(0, samples, at_once):
        together = min(at_once, samples - sample)
        for start in range(0, positions, max(rows, 1)):
            end = min(start + rows, positions)
            first = sample * positions + start
            count = together * (end - start)
            products = torch.empty((len(taps.planes), outputs, count), dtype=torch.int32)
            unfolded = _unfolded(images, reading, first, first + count)
            for plane, rows_of_plane, out in zip(taps.planes, unfolded, products, strict=True):
                int8_product(plane, rows_of_plane.t(), out)
            place = result[sample : sample + together, :, start:end]
            if place.is_contiguous() and together == 1:
                digitproducts.join(products, scale, images.bits, reading.columns, place[0])
            else:
                tile = torch.empty(products.shape[1:], dtype=torch.float32)
                digitproducts.join(products, scale, images.bits, reading.columns, tile)
                place.copy_(tile.view(outputs, together, end - start).transpose(0, 1))


def _unfolded(images: Images, reading: Reading, start: int, end: int) -> Iterator[Tensor]:
    """Yield rows of the unfolded matrix, int8 ``[rows, columns]``: of each digit, then of each sum of two.

    All of them lie in the same memory, one after the other: what was just written is multiplied from the cache.
    """
    unfolded = torch.empty((end - start, reading.columns), dtype=torch.int8)
    flat = unfolded.view(-1).numpy()
    where = reading.rows[start:end], reading.runs, reading.length
    for plane in images.planes:
        _unfold(plane, *where, flat)
        yield unfolded
    for i, j in itertools.combinations(range(len(images.planes)), 2):
        _unfold_sum(images.planes[i], images.planes[j], *where, flat)
        yield unfolded


@kernel(nogil=True)
def _unfold(image: Any, rows: Any, runs: Any, length: int, out: Any) -> None:
    width = runs.size * length
    for r in range(rows.size):
        for t in range(runs.size):
            start, place = rows[r] + runs[t], r * width + t * length
            source, target = image[start : start + length], out[place : place + length]
            for i in range(length):
                target[i] = source[i]


@kernel(nogil=True)
def _unfold_sum(first: Any, second: Any, rows: Any, runs: Any, length: int, out: Any) -> None:
    width = runs.size * length
    for r in range(rows.size):
        for t in range(runs.size):
            start, place = rows[r] + runs[t], r * width + t * length
            a, b, target = first[start : start + length], second[start : start + length], out[place : place + length]
            for i in range(length):
                target[i] = a[i] + b[i]


_WIDE = 64
"""Positions that are turned from rows of a channel to rows of a position at once."""


@kernel(nogil=True)
def _turned(rows: Any, to_units: float, turned: Any) -> None:
    """Integers of some positions: ``[channels, positions]`` to ``[positions, channels]``."""
    for channel in range(rows.shape[0]):
        row = rows[channel]
        for p in range(row.size):
            turned[p, channel] = digitproducts._integer(row[p], to_units)


@kernel(nogil=True)
def _cut_two(x: Any, to_units: float, places: Any, planes: Any) -> None:
    turned = np.empty((_WIDE, x.shape[1]), np.int32)
    for sample in range(x.shape[0]):
        for start in range(0, x.shape[2], _WIDE):
            end = min(start + _WIDE, x.shape[2])
            _turned(x[sample, :, start:end], to_units, turned)
            for p in range(end - start):
                integers, place = turned[p], places[start + p]
                d0, d1 = planes[0, sample, place], planes[1, sample, place]
                for i in range(integers.size):
                    v = integers[i]
                    low = digitproducts._lowest(v)
                    d0[i], d1[i] = low, (v - low) >> np.int32(7)


@kernel(nogil=True)
def _cut_three(x: Any, to_units: float, places: Any, planes: Any) -> None:
    turned = np.empty((_WIDE, x.shape[1]), np.int32)
    for sample in range(x.shape[0]):
        for start in range(0, x.shape[2], _WIDE):
            end = min(start + _WIDE, x.shape[2])
            _turned(x[sample, :, start:end], to_units, turned)
            for p in range(end - start):
                integers, place = turned[p], places[start + p]
                d0, d1, d2 = planes[0, sample, place], planes[1, sample, place], planes[2, sample, place]
                for i in range(integers.size):
                    v = integers[i]
                    low = digitproducts._lowest(v)
                    v = (v - low) >> np.int32(7)
                    middle = digitproducts._lowest(v)
                    d0[i], d1[i], d2[i] = low, middle, (v - middle) >> np.int32(7)
