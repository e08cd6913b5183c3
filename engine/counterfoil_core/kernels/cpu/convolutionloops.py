"""Convolutions and their gradients in compiled loops that unfold nothing.

The library unfolds the input of a float64 convolution, a sample at a time, to nine times its size where the window is
3 x 3, and multiplies matrices. Here a sample is copied once, with zeros around it, and tiles of results
(:mod:`counterfoil_core.kernels.cpu.tiles`) take what they need from where it lies, by the tables of
:mod:`counterfoil_core.kernels.cpu.convolutiontables`. The order of a sum's terms hangs on shapes and on how many
numbers a vector of the processor has, not on threads. The gradient by the weight is summed in the parts that its form
says (:class:`counterfoil_core.operators.sums.WeightParts`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.kernels import buffers
from counterfoil_core.kernels.cache import kernel
from counterfoil_core.kernels.cpu import convolutiontables
from counterfoil_core.kernels.cpu.convolutiontables import AXES, Geometry, Layout, Sums as Plan, Table
from counterfoil_core.kernels.cpu.pairsums import ROOM, total
from counterfoil_core.kernels.cpu.regions import (
    Region,
    at_address,
    carray,
    claimed,
    entered,
    floats_at,
    left,
    record_at,
)
from counterfoil_core.kernels.cpu.tiles import (
    COLUMNS,
    LANES,
    ROWS,
    TILE,
    add_row,
    move_vector,
    put_row,
    sums_of_products,
    weighted_sums,
)

Arguments = Mapping[str, Any]

_BLOCK = 256
"""Terms that are added at once: so many weights of a tile stay in the first cache."""
_BYTES = 8


class Convolution:
    """A convolution of certain shapes: what computes it and its gradients from tensors that fit.

    Args:
        geometry: Its shapes.
        batch: Samples.
        axes: Axes that its window moves along.
    """

    def __init__(self, geometry: Geometry, batch: int, axes: int) -> None:
        self._geometry, self._batch = geometry, batch
        first = AXES - axes
        self._inputs = (batch, geometry.groups * geometry.taken, *geometry.inputs[first:])
        self._outputs = (batch, geometry.groups * geometry.made, *geometry.outputs[first:])
        self._weights = (geometry.groups * geometry.made, geometry.taken, *geometry.kernel[first:])

    def takes(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> bool:
        """Return whether these are tensors of its shapes, float64 in the memory of the CPU."""
        wanted = ((x, self._inputs), (weight, self._weights))
        return _are(*wanted) and (bias is None or _are((bias, self._weights[:1])))

    def takes_gradient(self, g: Tensor, x: Tensor, weight: Tensor) -> bool:
        """Return whether these are such tensors, the first being the gradient that arrives."""
        return _are((g, self._outputs), (x, self._inputs), (weight, self._weights))

    def output(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Compute the convolution."""
        out = buffers.empty(self._outputs, torch.float64)
        self._forward.run(x, weight, bias, out)
        return out

    def by_input(self, g: Tensor, weight: Tensor) -> Tensor:
        """Compute the gradient by the input."""
        out = buffers.empty(self._inputs, torch.float64)
        self._backward.run(g, weight, None, out)
        return out

    def by_weight(self, g: Tensor, x: Tensor, samples: int) -> Tensor:
        """Compute the gradient by the weight.

        Args:
            g: The gradient that arrives.
            x: The input.
            samples: Samples of a part: their sum is added at once to that of the parts before it.
        """
        geometry, plan = self._geometry, convolutiontables.by_weight(self._geometry, samples)
        g, x = g.contiguous(), x.contiguous()
        out = torch.empty(self._weights, dtype=torch.float64)
        parts = geometry.groups * -(-geometry.taken // plan.channels)
        positions = math.prod(geometry.outputs)
        _BY_WEIGHT.run(
            _threads(parts, self._batch * positions * out.numel()),
            parts, self._batch, geometry.groups, geometry.taken, geometry.made, geometry.window, positions,
            *geometry.inputs, *_numbers(plan.layout), samples, plan.samples, plan.channels,
            len(plan.whole) // plan.samples, len(plan.cut) // plan.samples,
            x.data_ptr(), g.data_ptr(), out.data_ptr(), *map(_address, (plan.window, plan.whole, plan.cut)),
        )  # fmt: skip
        return out

    @cached_property
    def _forward(self) -> _Sums:
        geometry = self._geometry
        plan = convolutiontables.forward(geometry, self._batch)
        per_result = geometry.taken * geometry.window
        sizes = geometry.inputs, geometry.taken, geometry.made, math.prod(geometry.outputs), per_result
        return _Sums(plan, geometry, self._batch, *sizes)

    @cached_property
    def _backward(self) -> _Sums:
        geometry = self._geometry
        plan = convolutiontables.by_input(geometry, self._batch)
        sizes = geometry.outputs, geometry.made, geometry.taken, math.prod(geometry.inputs), geometry.window
        return _Sums(plan, geometry, self._batch, *sizes)


class _Sums:
    """Runs the loops of a plan.

    Args:
        plan: The plan.
        geometry: The shapes of the convolution.
        batch: Samples.
        sizes: Sizes of a channel of the source.
        taken: Channels of the source that a group has.
        made: Channels of the results that it has.
        positions: Results of a channel.
        per_result: Weights from one channel of the results to the next.
    """

    def __init__(
        self, plan: Plan, geometry: Geometry, batch: int, sizes: tuple[int, ...], taken: int, made: int, positions: int,
        per_result: int,
    ) -> None:  # fmt: skip
        groups, terms = geometry.groups, plan.terms.shape[1]
        parts = -(-batch // plan.samples) * groups
        packed = max(terms, 1) * -(-made // ROWS) * ROWS
        tables = tuple(map(_address, (plan.phases, plan.terms, plan.vectors)))
        self._plan, self._packed = plan, groups * packed
        weights = groups * taken * made * geometry.window
        self._to_pack = groups, made, terms, weights, per_result, packed, len(plan.phases), *tables[:2]
        self._parts, self._products = parts, batch * groups * made * positions * terms
        self._told = (
            parts, batch, groups, taken, made, positions, plan.samples, *sizes, *_numbers(plan.layout),
            len(plan.phases), int(plan.leaves), packed, *tables,
        )  # fmt: skip

    def run(self, source: Tensor, weight: Tensor, bias: Tensor | None, out: Tensor) -> None:
        """Compute what ``out`` shall hold."""
        source, weight, bias = source.contiguous(), weight.contiguous(), None if bias is None else bias.contiguous()
        packed = np.empty(self._packed, np.float64)
        _PACKING.run(1, *self._to_pack, weight.data_ptr(), packed.ctypes.data)
        at = 0 if bias is None else bias.data_ptr(), source.data_ptr(), out.data_ptr(), packed.ctypes.data
        _SUMS.run(_threads(self._parts, self._products), *self._told, *at)


def convolution_of(a: Arguments) -> Convolution | None:
    """Return what computes a convolution, or its gradients, of these arguments; None where that is not done here.

    Of tensors only ``shape`` is looked at: a stranger's program may hold any.
    """
    if a["transposed"]:
        return None
    settings = (tuple(map(int, a[name])) for name in ("stride", "padding", "dilation"))
    return _convolution_of(tuple(a["input"].shape), tuple(a["weight"].shape), *settings, int(a["groups"]))


_Sizes = tuple[int, ...]


@lru_cache(maxsize=1024)
def _convolution_of(
    x: _Sizes, weight: _Sizes, stride: _Sizes, padding: _Sizes, dilation: _Sizes, groups: int
) -> Convolution | None:
    axes = len(x) - 2
    if not 1 <= axes <= AXES or len(weight) != len(x) or min(*x, *weight, groups) < 1:
        return None
    ones = (1,) * (AXES - axes)

    def along(values: _Sizes, absent: _Sizes) -> _Sizes:
        return absent + (values * axes if len(values) == 1 else values)

    stride, dilation, padding = along(stride, ones), along(dilation, ones), along(padding, (0,) * len(ones))
    if {len(stride), len(dilation), len(padding)} != {AXES} or min(*stride, *dilation) < 1 or min(padding) < 0:
        return None
    if weight[0] % groups or weight[1] * groups != x[1]:
        return None
    inputs, window = ones + x[2:], ones + weight[2:]
    outputs = tuple(
        (n + 2 * pad - spread * (k - 1) - 1) // step + 1
        for n, pad, spread, k, step in zip(inputs, padding, dilation, window, stride, strict=True)
    )
    if min(outputs) < 1:
        return None
    geometry = Geometry(inputs, outputs, window, stride, padding, dilation, weight[1], weight[0] // groups, groups)
    return Convolution(geometry, x[0], axes)


def _are(*wanted: tuple[Tensor, _Sizes]) -> bool:
    """Whether tensors are float64 in the memory of the CPU, and of these shapes: loops look at none."""
    return all(type(x) is Tensor and x.dtype is torch.float64 and x.is_cpu and x.shape == shape for x, shape in wanted)


def by_bias(g: Tensor) -> Tensor:
    """Compute the gradient of a convolution by its bias, from that which arrives."""
    g = g.contiguous()
    batch, channels = g.shape[:2]
    out = torch.empty(channels, dtype=torch.float64)
    length = g.numel() // (batch * channels)
    _BY_BIAS.run(_threads(channels, g.numel()), batch, channels, length, g.data_ptr(), out.data_ptr())
    return out


_SMALL = 1 << 18
"""Products below which one thread computes them all."""


def _threads(parts: int, products: int) -> int:
    return min(torch.get_num_threads(), parts) if products >= _SMALL else 1


def _address(table: Table) -> int:
    return int(table.ctypes.data)


def _numbers(layout: Layout) -> tuple[int, ...]:
    return *layout.sizes[:2], layout.side, layout.apart, *layout.before, layout.sizes[2], *layout.every


_COPIED = [
    *((name, "i8") for name in ("depths", "heights", "columns")),
    *((name, "i8") for name in ("all_depths", "all_heights", "side", "apart")),
    *((name, "i8") for name in ("front", "top", "before", "all_columns")),
    *((name, "i8") for name in ("every_depth", "every_height", "every_column")),
]
_JOB_OF_PACKING = np.dtype([
    *((name, "i8") for name in ("groups", "made", "terms", "weights", "per_result", "of_group", "phases")),
    *((name, "u8") for name in ("at_phases", "at_terms", "weight", "packed")),
])  # fmt: skip
_JOB_OF_SUMS = np.dtype([
    *((name, "i8") for name in ("parts", "batch", "groups", "taken", "made", "positions", "at_once")),
    *_COPIED,
    *((name, "i8") for name in ("phases", "leaves", "packed")),
    *((name, "u8") for name in ("at_phases", "at_terms", "at_vectors", "bias", "source", "out", "weights")),
])  # fmt: skip
_JOB_BY_WEIGHT = np.dtype([
    *((name, "i8") for name in ("parts", "batch", "groups", "taken", "made", "window", "positions")),
    *_COPIED,
    *((name, "i8") for name in ("of_part", "at_once", "channels", "of_whole", "of_cut")),
    *((name, "u8") for name in ("x", "g", "out", "at_window", "at_whole", "at_cut")),
])  # fmt: skip
_JOB_BY_BIAS = np.dtype([
    *((name, "i8") for name in ("batch", "channels", "length")), *((name, "u8") for name in ("g", "out")),
])  # fmt: skip
"""Jobs: sizes, and addresses of tensors and tables."""


# Compiled.


@kernel(nogil=True, error_model="numpy")
def _pack_groups(pointer: Any) -> None:
    """Put the weights of each tile's rows side by side, term by term."""
    job = record_at(pointer, _JOB_OF_PACKING)
    groups, made, of_all = job.groups, job.made, job.terms
    tiles, of_group = (made + ROWS - 1) // ROWS, job.weights // groups
    weight, packed = floats_at(job.weight, job.weights), floats_at(job.packed, groups * job.of_group)
    phases = carray(at_address(job.at_phases), (job.phases, 6), np.int64)
    places = carray(at_address(job.at_terms), (2, of_all), np.int64)[1]
    while True:
        group = claimed(pointer)
        if group >= groups:
            break
        for phase in range(job.phases):
            first, count = phases[phase, 0], phases[phase, 1]
            for tile in range(tiles):
                rows = min(made - tile * ROWS, ROWS)
                begin = group * of_group + tile * ROWS * job.per_result
                target = group * job.of_group + (first * tiles + tile * count) * ROWS
                for n in range(count):
                    at = begin + places[first + n]
                    for row in range(ROWS):
                        packed[target + n * ROWS + row] = weight[at + row * job.per_result] if row < rows else 0.0


@kernel(nogil=True, error_model="numpy")
def _copied(room: Any, place: Any, source: Any, job: Any) -> None:
    """Copy a channel from an address to its place among zeros, the columns that a vector takes side by side."""
    row, target = job.side * job.apart, np.uint64(room.ctypes.data) + np.uint64(place * _BYTES)
    step = job.apart * job.every_column
    depths = _inside(job.all_depths, job.depths, job.front, job.every_depth)
    heights = _inside(job.all_heights, job.heights, job.top, job.every_height)
    for depth in range(depths[0], depths[1]):
        for height in range(heights[0], heights[1]):
            line = (depth * job.every_depth - job.front) * job.heights + height * job.every_height - job.top
            read = source + np.uint64(line * job.columns * _BYTES)
            written = target + np.uint64((depth * job.all_heights + height) * row * _BYTES)
            for side in range(job.apart):
                first, end = _inside(job.side, job.columns, job.before - side, step)
                begin = np.uint64((first * step + side - job.before) * _BYTES)
                _spaced(written + np.uint64((side * job.side + first) * _BYTES), read + begin, end - first, step)


@kernel(nogil=True, error_model="numpy")
def _inside(count: Any, size: Any, zeros: Any, step: Any) -> Any:
    """The first of ``count`` places, and the one behind the last, that lie in the source and not among its zeros."""
    first = (zeros + step - 1) // step if zeros > 0 else 0
    end = min(count, (size - 1 + zeros) // step + 1) if size + zeros > 0 else 0
    return first, max(end, first)


@kernel(nogil=True, error_model="numpy")
def _spaced(target: Any, source: Any, count: Any, step: Any) -> None:
    """Put every ``step``-th number side by side."""
    if step == 1:
        whole = count // LANES * LANES
        for n in range(0, whole, LANES):
            move_vector(target + np.uint64(n * _BYTES), source + np.uint64(n * _BYTES))
    else:
        whole = 0
    into, values = floats_at(target, count), floats_at(source, count * step)
    for n in range(whole, count):
        into[n] = values[n * step]


@kernel(nogil=True, error_model="numpy")
def _written(
    out: Any, sums: Any, job: Any, rows: Any, vectors: Any, limit: Any, step: Any, begins: Any, biases: Any
) -> None:
    """Write a tile of sums to ``rows`` channels from an address on, or add it to those of the terms before.

    ``vectors`` ``[columns, 3]``, of which the first ``limit`` are of samples that there are.
    """
    of_channel = np.uint64(job.positions * _BYTES)
    whole = step == 1 and limit >= COLUMNS
    for c in range(COLUMNS):
        whole = whole and vectors[c, 2] == LANES
    for r in range(rows):
        channel, values = out + np.uint64(r) * of_channel, sums + np.uint64(r * COLUMNS * LANES * _BYTES)
        bias = biases[r] if begins and job.bias != 0 else 0.0
        if whole:
            places = (
                channel + np.uint64(vectors[0, 1] * _BYTES),
                channel + np.uint64(vectors[1, 1] * _BYTES),
                channel + np.uint64(vectors[2, 1] * _BYTES),
            )
            if begins:
                put_row(places, values, bias)
            else:
                add_row(places, values)
            continue
        for c in range(min(limit, COLUMNS)):
            count = vectors[c, 2]
            into = floats_at(channel + np.uint64(vectors[c, 1] * _BYTES), count * step)
            from_sums = floats_at(values + np.uint64(c * LANES * _BYTES), count)
            for i in range(count):
                into[i * step] = from_sums[i] + (bias if begins else into[i * step])


@kernel(nogil=True, error_model="numpy")
def _sum_phase(job: Any, phase: Any, room: Any, sums: Any, group: Any, out: Any, samples: Any) -> None:
    """Write the results of a phase, from the address of the first on."""
    made, at_room, at_sums = job.made, np.uint64(room.ctypes.data), np.uint64(sums.ctypes.data)
    tiles = (made + ROWS - 1) // ROWS
    terms, count, step, limit = phase[0], phase[1], phase[4], phase[5] * samples
    vectors = carray(at_address(job.at_vectors + np.uint64(phase[2] * 3 * _BYTES)), (phase[3], 3), np.int64)
    weights = job.weights + np.uint64((group * job.packed + terms * tiles * ROWS) * _BYTES)
    biases = floats_at(job.bias + np.uint64(group * made * _BYTES), made)
    for first in range(0, max(count, 1), _BLOCK):
        many = min(count - first, _BLOCK)
        offsets = job.at_terms + np.uint64((terms + first) * _BYTES)
        for vector in range(0, min(vectors.shape[0], limit), COLUMNS):
            x = (
                at_room + np.uint64(vectors[vector, 0]),
                at_room + np.uint64(vectors[vector + 1, 0]),
                at_room + np.uint64(vectors[vector + 2, 0]),
            )
            for tile in range(tiles):
                row = tile * ROWS
                weighted_sums(x, offsets, weights + np.uint64((row * count + first * ROWS) * _BYTES), many, at_sums)
                _written(
                    out + np.uint64(row * job.positions * _BYTES), at_sums, job, min(made - row, ROWS),
                    vectors[vector : vector + COLUMNS], limit - vector, step, first == 0, biases[row:],
                )  # fmt: skip


@kernel(nogil=True, error_model="numpy")
def _sum_parts(pointer: Any) -> None:
    job = record_at(pointer, _JOB_OF_SUMS)
    taken, of_channel = job.taken, job.all_depths * job.all_heights * job.side * job.apart
    phases = carray(at_address(job.at_phases), (job.phases, 6), np.int64)
    size = job.depths * job.heights * job.columns
    room, sums = np.zeros(job.at_once * taken * of_channel + LANES, np.float64), np.empty(TILE, np.float64)
    while True:
        part = claimed(pointer)
        if part >= job.parts:
            break
        group, first = part % job.groups, part // job.groups * job.at_once
        samples = min(job.at_once, job.batch - first)
        for sample in range(samples):
            for channel in range(taken):
                at = ((first + sample) * job.groups + group) * taken + channel
                _copied(room, (sample * taken + channel) * of_channel, job.source + np.uint64(at * size * _BYTES), job)
        out = job.out + np.uint64((first * job.groups + group) * job.made * job.positions * _BYTES)
        if job.leaves:
            # Results that no element of the window lies over.
            for sample in range(samples):
                apart = sample * job.groups * job.made * job.positions * _BYTES
                floats_at(out + np.uint64(apart), job.made * job.positions)[:] = 0.0
        for phase in range(job.phases):
            _sum_phase(job, phases[phase], room, sums, group, out, samples)


@kernel(nogil=True, error_model="numpy")
def _add_products(sums: Any, job: Any, at_gradient: Any, room: Any, window: Any, samples: Any, channels: Any) -> None:
    """Add what some samples give to the sums of ``channels`` of the input: ``[tiles, tiles, rows, columns]``."""
    made, count = job.made, channels * job.window
    channel_size = job.all_depths * job.all_heights * job.side * job.apart
    across = (count + COLUMNS - 1) // COLUMNS
    of_channel = np.uint64(job.positions * _BYTES)
    whole, cut = samples * job.of_whole, samples * job.of_cut
    at_room, at_sums = np.uint64(room.ctypes.data), np.uint64(sums.ctypes.data)
    for tile in range((made + ROWS - 1) // ROWS):
        first, last = tile * ROWS, made - 1
        g = (
            at_gradient + np.uint64(first) * of_channel,
            at_gradient + np.uint64(min(first + 1, last)) * of_channel,
            at_gradient + np.uint64(min(first + 2, last)) * of_channel,
            at_gradient + np.uint64(min(first + 3, last)) * of_channel,
        )
        for column in range(across):
            begin, end = column * COLUMNS, count - 1
            one, two = min(begin + 1, end), min(begin + 2, end)
            x = (
                at_room + np.uint64(begin // job.window * channel_size * _BYTES + window[begin % job.window]),
                at_room + np.uint64(one // job.window * channel_size * _BYTES + window[one % job.window]),
                at_room + np.uint64(two // job.window * channel_size * _BYTES + window[two % job.window]),
            )
            target = at_sums + np.uint64((tile * across + column) * ROWS * COLUMNS * _BYTES)
            sums_of_products(g, x, job.at_whole, whole, job.at_cut, cut, target)


@kernel(nogil=True, error_model="numpy")
def _weight_parts(pointer: Any) -> None:
    job = record_at(pointer, _JOB_BY_WEIGHT)
    taken, made, window_size, batch, positions = job.taken, job.made, job.window, job.batch, job.positions
    window = carray(at_address(job.at_window), job.window, np.int64)
    channel_size = job.all_depths * job.all_heights * job.side * job.apart
    size = job.depths * job.heights * job.columns
    room = np.zeros(job.at_once * job.channels * channel_size + LANES, np.float64)
    across = (job.channels * window_size + COLUMNS - 1) // COLUMNS
    numbers = (made + ROWS - 1) // ROWS * across * ROWS * COLUMNS
    sums, sum_of_part = np.zeros(numbers, np.float64), np.zeros(numbers, np.float64)
    blocks = (taken + job.channels - 1) // job.channels
    out = floats_at(job.out, job.groups * made * taken * window_size)
    while True:
        part = claimed(pointer)
        if part >= job.parts:
            break
        group, begin = part // blocks, part % blocks * job.channels
        channels = min(job.channels, taken - begin)
        sums[:] = 0.0
        for start in range(0, batch, job.of_part):
            end = min(start + job.of_part, batch)
            sum_of_part[:] = 0.0
            for first in range(start, end, job.at_once):
                samples = min(job.at_once, end - first)
                for sample in range(samples):
                    for channel in range(channels):
                        at = (((first + sample) * job.groups + group) * taken + begin + channel) * size
                        place = (sample * job.channels + channel) * channel_size
                        _copied(room, place, job.x + np.uint64(at * _BYTES), job)
                at_gradient = job.g + np.uint64((first * job.groups + group) * made * positions * _BYTES)
                _add_products(sum_of_part, job, at_gradient, room, window, samples, channels)
            for n in range(numbers):
                sums[n] += sum_of_part[n]
        across = (channels * window_size + COLUMNS - 1) // COLUMNS
        for result in range(made):
            for n in range(channels * window_size):
                tile = (result // ROWS * across + n // COLUMNS) * ROWS * COLUMNS
                value = sums[tile + result % ROWS * COLUMNS + n % COLUMNS]
                out[((group * made + result) * taken + begin) * window_size + n] = value


@kernel(nogil=True, error_model="numpy")
def _bias_parts(pointer: Any) -> None:
    job = record_at(pointer, _JOB_BY_BIAS)
    batch, channels, length = job.batch, job.channels, job.length
    g, out = floats_at(job.g, batch * channels * length), floats_at(job.out, channels)
    sums, room = np.empty(batch, np.float64), np.empty(ROOM, np.float64)
    while True:
        channel = claimed(pointer)
        if channel >= channels:
            break
        for n in range(batch):
            first = (n * channels + channel) * length
            sums[n] = total(g[first : first + length], room)
        out[channel] = total(sums, room)


def _of_packing(pointer: Any) -> None:
    entered(pointer)
    _pack_groups(pointer)
    left(pointer)


def _of_sums(pointer: Any) -> None:
    entered(pointer)
    _sum_parts(pointer)
    left(pointer)


def _of_weight(pointer: Any) -> None:
    entered(pointer)
    _weight_parts(pointer)
    left(pointer)


def _of_bias(pointer: Any) -> None:
    entered(pointer)
    _bias_parts(pointer)
    left(pointer)


_PACKING = Region(_of_packing, _JOB_OF_PACKING)
_SUMS = Region(_of_sums, _JOB_OF_SUMS)
_BY_WEIGHT = Region(_of_weight, _JOB_BY_WEIGHT)
_BY_BIAS = Region(_of_bias, _JOB_BY_BIAS)
