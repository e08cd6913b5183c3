"""Where the terms of a convolution lie, from its shapes, for :mod:`counterfoil_core.kernels.cpu.convolutionloops`.

The source, of which sums are made, is copied a channel at a time to a place with zeros around it. Where the window
moves by s columns, every s-th column is put side by side. Then what the terms of a vector of results take lies side by
side, at one offset from the vector's first for each channel and element of the window: nothing is unfolded. A gradient
by the input is such a sum, too: for each of the s remainders of a position those elements of the window that can lie
over it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfoil_core.kernels.cpu.tiles import COLUMNS, LANES

Table = NDArray[np.int64]
AXES = 3
"""Axes that a window moves along; fewer have axes of length 1 before them."""
_BYTES = 8


@dataclass(frozen=True)
class Geometry:
    """Shapes of a convolution, along three axes each."""

    inputs: tuple[int, ...]  #: Sizes of a channel of the input.
    outputs: tuple[int, ...]  #: Sizes of a channel of the output.
    kernel: tuple[int, ...]  #: Sizes of the window.
    stride: tuple[int, ...]  #: How far it moves.
    padding: tuple[int, ...]  #: Zeros before the input.
    dilation: tuple[int, ...]  #: Distance of its elements.
    taken: int  #: Channels of the input that a group has.
    made: int  #: Channels of the output that it has.
    groups: int  #: Groups.

    @property
    def window(self) -> int:
        """Elements of a window."""
        return math.prod(self.kernel)


@dataclass(frozen=True)
class Layout:
    """How a channel of the source lies with zeros around it."""

    sizes: tuple[int, ...]  #: Its sizes, zeros included.
    before: tuple[int, ...]  #: Zeros before the source.
    apart: int = 1  #: How many columns lie between two that are put side by side, themselves counted once.
    every: tuple[int, ...] = (1,) * AXES  #: Of the source with its zeros only each so many-th element is copied.

    @property
    def side(self) -> int:
        """Columns that are put side by side."""
        return -(-self.sizes[2] // self.apart)

    @property
    def row(self) -> int:
        """Numbers of a row."""
        return self.side * self.apart

    @property
    def channel(self) -> int:
        """Numbers of a channel."""
        return self.sizes[0] * self.sizes[1] * self.row

    def place(self, depth: int, height: int, column: int) -> int:
        """Return where an element lies in its channel."""
        return (depth * self.sizes[1] + height) * self.row + column % self.apart * self.side + column // self.apart


@dataclass(frozen=True)
class Sums:
    """Sums of products of a source's elements with weights."""

    layout: Layout  #: How a channel of the source lies.
    samples: int  #: Samples at a time.
    #: ``[n, 6]``: for each set of positions with the same elements of the window the first of its terms and their
    #: number, the first of its vectors and their number (a multiple of a tile's columns), the number of positions from
    #: one number of a vector to the next, and the number of vectors of a sample.
    phases: Table
    #: ``[2, n]``: bytes behind a vector's first element; the place of the weight behind that of a result channel.
    terms: Table
    #: ``[n, 3]``: bytes behind the first element of the source, the number of the first result behind those of a
    #: sample's channel, and how many numbers of the vector are results; of some samples, one after another.
    vectors: Table
    leaves: bool  #: Whether there are results that have no term.


@lru_cache(maxsize=512)
def forward(geometry: Geometry, batch: int) -> Sums:
    """Return the sums that the output of a convolution is, of a batch of so many samples."""
    layout = _layout_of_input(geometry)
    window = [(_behind(geometry, layout, at), number) for number, at in enumerate(_positions(geometry.kernel))]
    terms = _terms(window, geometry.taken, layout, geometry.window)
    found = list(_vectors_of_output(geometry, layout))
    results = geometry.groups * geometry.made * math.prod(geometry.outputs)
    return _sums(layout, [(terms, found)], geometry.taken, results, 1, batch)


@lru_cache(maxsize=512)
def by_input(geometry: Geometry, batch: int) -> Sums:
    """Return the sums that the gradient by the input of a convolution is, of a batch of so many samples."""
    shifts = [
        [
            shift
            for remainder in range(geometry.stride[axis])
            for tap in range(geometry.kernel[axis])
            if (shift := _towards(geometry, axis, remainder, tap)) is not None
        ]
        for axis in range(AXES)
    ]
    before = tuple(max(-min(along), 0) for along in shifts)
    sizes = tuple(
        zeros + (size - 1) // step + max(*along, 0) + 1
        for zeros, size, step, along in zip(before, geometry.inputs, geometry.stride, shifts, strict=True)
    )
    layout = Layout(sizes, before)
    phases = []
    steps = (range(min(pair)) for pair in zip(geometry.stride, geometry.inputs, strict=True))
    for remainders in itertools.product(*steps):
        window = []
        for number, taps in enumerate(_positions(geometry.kernel)):
            far = [_towards(geometry, axis, remainders[axis], taps[axis]) for axis in range(AXES)]
            places = [n + zeros for n, zeros in zip(far, before, strict=True) if n is not None]
            if len(places) == AXES:
                window.append((layout.place(*places), number))
        terms = _terms(window, geometry.made, layout, geometry.taken * geometry.window)
        phases.append((terms, list(_vectors_of_phase(geometry, layout, remainders))))
    results = geometry.groups * geometry.taken * math.prod(geometry.inputs)
    return _sums(layout, phases, geometry.made, results, geometry.stride[2], batch)


def _terms(window: Sequence[tuple[int, int]], channels: int, layout: Layout, weights: int) -> list[tuple[int, int]]:
    """For each channel and element of the window how far behind it lies, and which weight it has."""
    return [
        (_BYTES * (channel * layout.channel + behind), channel * weights + number)
        for channel in range(channels)
        for behind, number in window
    ]


_FEW_VECTORS = 32
"""Vectors of a sample up to which several samples are computed at a time, if they are no whole tiles."""
_ROOM = 1 << 15
"""Numbers of a sample up to which they are."""


def _sums(
    layout: Layout, phases: Sequence[tuple[list[Any], list[Any]]], channels: int, results: int, step: int, batch: int
) -> Sums:
    """Put the tables together."""
    size = channels * layout.channel
    few = size <= _ROOM and any(len(found) % COLUMNS and len(found) <= _FEW_VECTORS for _, found in phases)
    samples = min(COLUMNS, batch) if few else 1
    rows: list[tuple[int, ...]] = []
    terms: list[tuple[int, int]] = []
    vectors: list[tuple[int, int, int]] = []
    for ends, found in phases:
        if not ends:
            continue
        of_all = [
            (behind + _BYTES * sample * size, result + sample * results, count)
            for sample in range(samples)
            for behind, result, count in found
        ]
        filled = of_all + [(0, 0, 0)] * (-len(of_all) % COLUMNS)
        rows.append((len(terms), len(ends), len(vectors), len(filled), step, len(found)))
        terms += ends
        vectors += filled
    leaves = len(rows) < len(phases)
    return Sums(layout, samples, _table(rows, 6), _table(terms, 2).T.copy(), _table(vectors, 3), leaves)


@dataclass(frozen=True)
class Products:
    """Sums of products of the gradient that arrives with the input, over positions of some samples."""

    layout: Layout  #: How a channel of the input lies.
    samples: int  #: Samples at a time.
    channels: int  #: Channels of the input at a time.
    window: Table  #: Bytes behind the first element of a channel for each element of the window.
    #: ``[samples * n, 3]``: bytes behind the first element of the gradient's channel, bytes behind that of the input's,
    #: and how many numbers count: vectors of which all count, sample by sample.
    whole: Table
    cut: Table  #: The same of the other vectors.


_POSITIONS = 512
"""Positions at a time: what a tile takes of the gradient, and of the input, stays in the first cache."""
_COLUMNS = 24
"""Elements of the window and channels at a time."""


@lru_cache(maxsize=512)
def by_weight(geometry: Geometry, most: int) -> Products:
    """Return the sums that the gradient by the weight of a convolution is.

    Args:
        geometry: The convolution.
        most: Samples at a time at most.
    """
    layout = _layout_of_input(geometry)
    positions = math.prod(geometry.outputs)
    samples = max(min(_POSITIONS // max(positions, 1), most), 1)
    channels = max(min(_COLUMNS // geometry.window, geometry.taken), 1)
    found = list(_vectors_of_output(geometry, layout))
    of_gradient = geometry.groups * geometry.made * positions
    lists: dict[bool, list[tuple[int, int, int]]] = {True: [], False: []}
    for sample in range(samples):
        for behind, position, count in found:
            place = _BYTES * (sample * of_gradient + position), behind + _BYTES * sample * channels * layout.channel
            lists[count == LANES].append((*place, count))
    window = _table([(_BYTES * _behind(geometry, layout, at),) for at in _positions(geometry.kernel)], 1)
    return Products(layout, samples, channels, window, _table(lists[True], 3), _table(lists[False], 3))


def _layout_of_input(geometry: Geometry) -> Layout:
    # A window of one element meets each so many-th only.
    single = [kernel == 1 for kernel in geometry.kernel]
    sizes = (
        out if one else (out - 1) * step + (kernel - 1) * spread + 1
        for one, out, step, kernel, spread in zip(
            single, geometry.outputs, geometry.stride, geometry.kernel, geometry.dilation, strict=True
        )
    )
    every = tuple(step if one else 1 for one, step in zip(single, geometry.stride, strict=True))
    return Layout(tuple(sizes), geometry.padding, 1 if single[2] else geometry.stride[2], every)


def _behind(geometry: Geometry, layout: Layout, at: Sequence[int]) -> int:
    """Where an element of the window lies behind its first."""
    return layout.place(*(n * spread for n, spread in zip(at, geometry.dilation, strict=True)))


def _towards(geometry: Geometry, axis: int, remainder: int, tap: int) -> int | None:
    """How far behind i // stride the output lies that an element of the window takes i for, i being of a remainder."""
    far, left = divmod(remainder + geometry.padding[axis] - tap * geometry.dilation[axis], geometry.stride[axis])
    return None if left else far


def _vectors_of_output(geometry: Geometry, layout: Layout) -> Iterator[tuple[int, int, int]]:
    depths, heights, columns = geometry.outputs
    down, over, _ = (step // every for step, every in zip(geometry.stride, layout.every, strict=True))
    for depth, height in _positions((depths, heights)):
        row = layout.place(depth * down, height * over, 0)
        for column in range(0, columns, LANES):
            position = (depth * heights + height) * columns + column
            yield _BYTES * (row + column), position, min(columns - column, LANES)


def _vectors_of_phase(geometry: Geometry, layout: Layout, remainders: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    _, heights, columns = geometry.inputs
    depth_at, height_at, column_at = (
        range(first, size, step) for first, size, step in zip(remainders, geometry.inputs, geometry.stride, strict=True)
    )
    for (down, depth), (over, height) in itertools.product(enumerate(depth_at), enumerate(height_at)):
        row = layout.place(down, over, 0)
        for first in range(0, len(column_at), LANES):
            position = (depth * heights + height) * columns + column_at[first]
            yield _BYTES * (row + first), position, min(len(column_at) - first, LANES)


def _positions(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(size) for size in sizes))


def _table(rows: Sequence[Sequence[int]], columns: int) -> Table:
    return np.array(rows, np.int64).reshape(len(rows), columns)
