"""Average pooling, adaptive or not, and the gradients of padding.

Windows are views of the padded tensor, or of what an index selects, and their sum is a sum over axes. In a gradient
each element of a window gets the window's share; where windows meet, one ``index_add`` sums over all axes at once.
Indices are integers that the program itself computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

_aten = torch.ops.aten


def _each(values: Sequence[int] | int, axes: int) -> list[int]:
    given = [values] if isinstance(values, int) else list(values)
    return given if len(given) == axes else given * axes


def _joined(places: Sequence[Tensor], lengths: Sequence[int]) -> Tensor:
    """Places along axes as places in the flattened axes.

    Args:
        places: For each axis int64, of shapes that broadcast.
        lengths: Lengths of the axes.
    """
    joined = places[0]
    for place, length in zip(places[1:], lengths[1:], strict=True):
        joined = joined * length + place
    return joined


def _along(values: Tensor, axis: int, axes: int) -> Tensor:
    """Values of one axis ``[n]`` or of its windows ``[n, k]``, beside those of the other axes."""
    width = values.dim()
    return values.view([1] * (axis * width) + list(values.shape) + [1] * ((axes - axis - 1) * width))


def _added(values: Tensor, places: Tensor, lengths: Sequence[int]) -> Tensor:
    """Sum values ``[..., *shape]`` into ``[..., *lengths]``: those with the same place meet.

    Args:
        values: The values.
        places: int64 ``[*shape]``: the place of each in the flattened axes.
        lengths: Lengths of the result's axes.
    """
    leading = values.shape[: values.dim() - places.dim()]
    flat = values.reshape([*leading, places.numel()])
    base = values.new_zeros([*leading, math.prod(lengths)])
    return base.index_add(len(leading), places.reshape(-1), flat).view([*leading, *lengths])


# Windows of one length.


@dataclass(frozen=True)
class _Axis:
    """Windows along one axis: ``count`` of ``kernel`` elements, ``stride`` apart, from ``padding`` before the axis."""

    length: int
    kernel: int
    stride: int
    padding: int
    count: int

    @property
    def beyond(self) -> int:
        """Elements behind the axis up to the last window's end; negative where it ends before."""
        return (self.count - 1) * self.stride + self.kernel - self.padding - self.length

    def sizes(self, include_padding: bool) -> list[int]:
        """How many elements of each window count: none beyond the padding, none in it either if not included."""
        found = []
        for i in range(self.count):
            start = i * self.stride - self.padding
            end = min(start + self.kernel, self.length + self.padding)
            found.append(end - start if include_padding else min(end, self.length) - max(start, 0))
        return found


def _axes(
    shape: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil: bool,
) -> list[_Axis]:
    found = []
    for length, taps, step, pad in zip(shape, kernel, stride, padding, strict=True):
        left = length + 2 * pad - taps
        count = (-(-left // step) if ceil else left // step) + 1
        # A last window that begins behind the axis and its left padding is left out.
        if ceil and (count - 1) * step >= length + pad:
            count -= 1
        found.append(_Axis(length, taps, step, pad, count))
    return found


def _divided(x: Tensor, sizes: Sequence[Sequence[int]], divisor: int | None) -> Tensor:
    """Divide ``[..., *positions]`` by the number of elements of each window, or by what is given instead."""
    if divisor is None and all(len(set(along)) <= 1 for along in sizes):
        divisor = math.prod(along[0] for along in sizes if along)
    if divisor is not None:
        return x / divisor
    counts = torch.ones([], dtype=torch.float32, device=x.device)
    for axis, along in enumerate(sizes):
        counts = counts * _along(_listed(along, x), axis, len(sizes))
    return x / counts


def _listed(values: Sequence[int], x: Tensor) -> Tensor:
    """Whole numbers as float32 ``[n]``: runs of equal ones, so no constant of the order is needed."""
    runs: list[list[int]] = []
    for value in values:
        if runs and runs[-1][0] == value:
            runs[-1][1] += 1
        else:
            runs.append([value, 1])
    return torch.cat([x.new_full([count], value) for value, count in runs])


@dataclass(frozen=True)
class _Pooling:
    """The arguments of average pooling over the last axes, with their defaults."""

    axes: int

    def read(
        self,
        x: Tensor,
        kernel_size: Sequence[int],
        stride: Sequence[int] = (),
        padding: Sequence[int] = (0,),
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> tuple[list[_Axis], list[list[int]], int | None]:
        kernel = _each(kernel_size, self.axes)
        windows = _axes(
            x.shape[x.dim() - self.axes :],
            kernel,
            _each(stride, self.axes) if not isinstance(stride, int) and len(stride) else kernel,
            _each(padding, self.axes),
            ceil_mode,
        )
        return windows, [window.sizes(count_include_pad) for window in windows], divisor_override

    def forward(self, x: Tensor, *settings: Any, **named: Any) -> Tensor:
        windows, sizes, divisor = self.read(x, *settings, **named)
        return _divided(_pooled(x, windows), sizes, divisor)

    def backward(self, g: Tensor, x: Tensor, *settings: Any, **named: Any) -> Tensor:
        windows, sizes, divisor = self.read(x, *settings, **named)
        return _unpooled(_divided(g, sizes, divisor), windows)


def _pooled(x: Tensor, windows: Sequence[_Axis]) -> Tensor:
    """Sum each window."""
    first = x.dim() - len(windows)
    pads = [side for window in reversed(windows) for side in (window.padding, max(window.beyond, 0))]
    if any(pads):
        x = _aten.constant_pad_nd.default(x, pads, 0.0)
    for axis, window in enumerate(windows):
        x = x.unfold(first + axis, window.kernel, window.stride)
    return x.sum(list(range(x.dim() - len(windows), x.dim())))


def _unpooled(share: Tensor, windows: Sequence[_Axis]) -> Tensor:
    """Give each element of a window the window's share ``[..., *positions]``, and add up where windows meet."""
    if all(window.kernel <= window.stride for window in windows):
        for axis, window in enumerate(windows):
            share = _spread(share, share.dim() - len(windows) + axis, window)
        return share
    padded = [window.padding + window.length + max(window.beyond, 0) for window in windows]
    places, kernels = [], [window.kernel for window in windows]
    for axis, window in enumerate(windows):
        starts = torch.arange(window.count, device=share.device) * window.stride
        along = starts.unsqueeze(-1) + torch.arange(window.kernel, device=share.device)
        places.append(_interleaved(along, axis, len(windows)))
    leading, positions = share.shape[: share.dim() - len(windows)], share.shape[share.dim() - len(windows) :]
    shaped = share.view([*leading, *positions, *[1] * len(windows)]).expand([*leading, *positions, *kernels])
    whole = _added(shaped, _joined(places, padded), padded)
    for axis, window in enumerate(windows):
        whole = whole.narrow(len(leading) + axis, window.padding, window.length)
    return whole


def _interleaved(values: Tensor, axis: int, axes: int) -> Tensor:
    """Values of one axis's windows ``[n, k]`` beside those of the others: positions first, then kernels."""
    shape = [1] * (2 * axes)
    shape[axis], shape[axes + axis] = values.shape
    return values.view(shape)


def _spread(share: Tensor, axis: int, window: _Axis) -> Tensor:
    """Repeat each share over its window, where no two windows meet; what lies between them gets nothing."""
    repeated = share.unsqueeze(axis + 1).expand([*share.shape[: axis + 1], window.kernel, *share.shape[axis + 1 :]])
    after = share.dim() - 1 - axis
    if window.kernel < window.stride:
        repeated = _aten.constant_pad_nd.default(repeated, [0, 0] * after + [0, window.stride - window.kernel], 0.0)
    flat = repeated.reshape([*share.shape[:axis], window.count * window.stride, *share.shape[axis + 1 :]])
    edges = [-window.padding, window.padding + window.length - window.count * window.stride]
    return _aten.constant_pad_nd.default(flat, [0, 0] * after + edges, 0.0) if any(edges) else flat


# Windows of lengths that follow from the two lengths of an axis.


@dataclass(frozen=True)
class _Adaptive:
    """Windows along one axis: number i of ``count`` from floor(i length / count) to ceil((i + 1) length / count)."""

    length: int
    count: int

    @property
    def sizes(self) -> list[int]:
        return [self._end(i) - i * self.length // self.count for i in range(self.count)]

    def _end(self, i: int) -> int:
        return -(-(i + 1) * self.length // self.count)

    def places(self, device: torch.device) -> Tensor:
        """int64 ``[count, longest window]``: what each window holds, and ``length`` where it is shorter."""
        numbers = torch.arange(self.count, device=device) * self.length
        starts = torch.div(numbers, self.count, rounding_mode="floor").unsqueeze(-1)
        ends = torch.div(numbers + (self.length + self.count - 1), self.count, rounding_mode="floor").unsqueeze(-1)
        places = starts + torch.arange(max(self.sizes, default=0), device=device)
        return torch.where(places < ends, places, self.length)


def _adaptive_windows(x: Tensor, counts: Sequence[int]) -> list[_Adaptive]:
    return [_Adaptive(n, count) for n, count in zip(x.shape[x.dim() - len(counts) :], counts, strict=True)]


def _even(windows: Sequence[_Adaptive]) -> list[_Axis] | None:
    """Adaptive windows as ordinary ones; None unless all are of one length and none meet."""
    if any(not window.count or window.length % window.count for window in windows):
        return None
    steps = [window.length // window.count for window in windows]
    return [_Axis(w.length, step, step, 0, w.count) for w, step in zip(windows, steps, strict=True)]


def _adaptive(x: Tensor, counts: Sequence[int]) -> Tensor:
    windows = _adaptive_windows(x, counts)
    sizes = [window.sizes for window in windows]
    even = _even(windows)
    if even is not None:
        return _divided(_pooled(x, even), sizes, None)
    first = x.dim() - len(windows)
    # One zero behind each axis is what windows shorter than the longest are filled with.
    x = _aten.constant_pad_nd.default(x, [0, 1] * len(windows), 0.0)
    shape = list(x.shape[:first])
    for axis, window in enumerate(windows):
        places = window.places(x.device)
        x = x.index_select(first + axis, places.reshape(-1))
        shape += places.shape
    summed = x.view(shape).sum([first + 1 + 2 * axis for axis in range(len(windows))])
    return _divided(summed, sizes, None)


def _adaptive_backward(g: Tensor, x: Tensor, axes: int) -> Tensor:
    first = x.dim() - axes
    windows = _adaptive_windows(x, g.shape[first:])
    share = _divided(g, [window.sizes for window in windows], None)
    even = _even(windows)
    if even is not None:
        return _unpooled(share, even)
    places = [window.places(g.device) for window in windows]
    lengths = [window.length + 1 for window in windows]
    shape, expanded = list(share.shape[:first]), list(share.shape[:first])
    for along in places:
        shape += [along.shape[0], 1]
        expanded += along.shape
    joined = _joined([_along(along, axis, axes) for axis, along in enumerate(places)], lengths)
    whole = _added(share.reshape(shape).expand(expanded), joined, lengths)
    for axis, window in enumerate(windows):
        whole = whole.narrow(first + axis, 0, window.length)
    return whole


# Padding.


def _reflected(places: Tensor, length: int) -> Tensor:
    return (length - 1) - ((length - 1) - places.abs()).abs()


def _replicated(places: Tensor, length: int) -> Tensor:
    return torch.clamp(places, 0, length - 1)


def _sides(padding: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Both sides of each axis, the first axis first."""
    for axis in range(len(padding) // 2 - 1, -1, -1):
        yield padding[2 * axis], padding[2 * axis + 1]


def _pad_backward(source: Callable[[Tensor, int], Tensor]) -> Callable[..., Tensor]:
    def decomposed(g: Tensor, x: Tensor, padding: Sequence[int]) -> Tensor:
        axes = len(padding) // 2
        lengths = list(x.shape[x.dim() - axes :])
        places = []
        for axis, (length, (before, after)) in enumerate(zip(lengths, _sides(padding), strict=True)):
            numbers = torch.arange(before + length + after, device=g.device) - before
            places.append(_along(source(numbers, length), axis, axes))
        return _added(g, _joined(places, lengths), lengths)

    return decomposed


TABLE: Mapping[Any, Callable[..., Any]] = {
    _aten.avg_pool1d.default: _Pooling(1).forward,
    _aten.avg_pool2d.default: _Pooling(2).forward,
    _aten.avg_pool3d.default: _Pooling(3).forward,
    _aten.avg_pool2d_backward.default: _Pooling(2).backward,
    _aten.avg_pool3d_backward.default: _Pooling(3).backward,
    _aten.adaptive_avg_pool1d.default: _adaptive,
    _aten._adaptive_avg_pool2d.default: _adaptive,
    _aten._adaptive_avg_pool3d.default: _adaptive,
    _aten._adaptive_avg_pool2d_backward.default: lambda g, x: _adaptive_backward(g, x, 2),
    _aten._adaptive_avg_pool3d_backward.default: lambda g, x: _adaptive_backward(g, x, 3),
    _aten.reflection_pad1d_backward.default: _pad_backward(_reflected),
    _aten.reflection_pad2d_backward.default: _pad_backward(_reflected),
    _aten.replication_pad1d_backward.default: _pad_backward(_replicated),
    _aten.replication_pad2d_backward.default: _pad_backward(_replicated),
}
