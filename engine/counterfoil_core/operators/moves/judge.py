"""Copies, paddings and constants, element by element, and the gradients of views."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from counterfoil_core.base.arrays import Array
from counterfoil_core.operators.judging.forms import Call, Element, ExactOutput, Judge
from counterfoil_core.operators.judging.ieee import Value, convert_element
from counterfoil_core.operators.judging.moves import whole
from counterfoil_core.operators.judging.numbers import Number, fixed_point
from counterfoil_core.operators.judging.quantisation import of_terms
from counterfoil_core.operators.judging.separable import WHOLE, Weights, register

JUDGE = Judge()


@whole(JUDGE, "clone", "_to_copy", "lift_fresh_copy", "view_copy")
def _same(call: Call) -> Array:
    return call["self"].reshape(call.shape)  # type: ignore[no-any-return]


@whole(JUDGE, "copy")
def _copy(call: Call) -> Array:
    return np.broadcast_to(call["src"], call.shape)


@whole(JUDGE, "permute_copy")
def _permute(call: Call) -> Array:
    return call["self"].transpose(call["dims"])  # type: ignore[no-any-return]


@whole(JUDGE, "expand_copy")
def _expand(call: Call) -> Array:
    return np.broadcast_to(call["self"], call.shape)


@whole(JUDGE, "unfold_copy")
def _unfold(call: Call) -> Array:
    x, axis = call["self"], call["dimension"]
    windows = np.lib.stride_tricks.sliding_window_view(x, call["size"], axis)
    return np.take(windows, range(0, windows.shape[axis], call["step"]), axis)


@whole(JUDGE, "cat")
def _cat(call: Call) -> Array:
    return np.concatenate([_wide(call, x) for x in call["tensors"] if x.shape != (0,)], call["dim"])


@whole(JUDGE, "stack")
def _stack(call: Call) -> Array:
    return np.stack([_wide(call, x) for x in call["tensors"]], call["dim"])


def _wide(call: Call, x: Array) -> Array:
    """The elements in the output's dtype, so that numpy does not choose another."""
    if x.dtype.name == call.dtype:
        return x
    changed = np.array([convert_element(value.item(), call.dtype) for value in x.reshape(-1)], call.dtype)
    return changed.reshape(x.shape)


@whole(JUDGE, "flip")
def _flip(call: Call) -> Array:
    return np.flip(call["self"], call["dims"])


@whole(JUDGE, "roll")
def _roll(call: Call) -> Array:
    return np.roll(call["self"], call["shifts"], call["dims"] or None)


@whole(JUDGE, "repeat")
def _repeat(call: Call) -> Array:
    return np.tile(call["self"], call["repeats"])


def _along(rank: int, axis: int, chosen: Any) -> tuple[Any, ...]:
    return (*[slice(None)] * (axis % rank), chosen)


@whole(JUDGE, "select_scatter")
def _select_scatter(call: Call) -> Array:
    result = call["self"].copy()
    result[_along(result.ndim, call["dim"], call["index"])] = call["src"]
    return result  # type: ignore[no-any-return]


@whole(JUDGE, "slice_scatter")
def _slice_scatter(call: Call) -> Array:
    result = call["self"].copy()
    result[_along(result.ndim, call["dim"], slice(call["start"], call["end"], call["step"]))] = call["src"]
    return result  # type: ignore[no-any-return]


@whole(JUDGE, "diagonal_scatter")
def _diagonal_scatter(call: Call) -> Array:
    x = call["self"]
    places = np.diagonal(np.arange(x.size).reshape(x.shape), call["offset"], call["dim1"], call["dim2"])
    result = x.reshape(-1).copy()
    result[places] = call["src"]
    return result.reshape(x.shape)  # type: ignore[no-any-return]


@whole(JUDGE, "select_backward")
def _select_backward(call: Call) -> Array:
    g = call["grad_output"]
    result = np.zeros(call["input_sizes"], g.dtype)
    result[_along(result.ndim, call["dim"], call["index"])] = g
    return result


@whole(JUDGE, "slice_backward")
def _slice_backward(call: Call) -> Array:
    g = call["grad_output"]
    result = np.zeros(call["input_sizes"], g.dtype)
    result[_along(result.ndim, call["dim"], slice(call["start"], call["end"], call["step"]))] = g
    return result


@whole(JUDGE, "tril")
def _tril(call: Call) -> Array:
    return np.tril(call["self"], call["diagonal"])


@whole(JUDGE, "triu")
def _triu(call: Call) -> Array:
    return np.triu(call["self"], call["diagonal"])


# Padding: the argument lists the last axis first.


def _padded_places(padding: Sequence[int], lengths: Sequence[int]) -> list[range]:
    places = [range(length) for length in lengths]
    for pair in range(len(padding) // 2):
        axis = len(lengths) - 1 - pair
        places[axis] = range(-padding[2 * pair], lengths[axis] + padding[2 * pair + 1])
    return places


@whole(JUDGE, "constant_pad_nd")
def _constant_pad(call: Call) -> Array:
    x = call["self"]
    result = np.full(call.shape, convert_element(call["value"], call.dtype), x.dtype)
    for target, source in zip(np.ndindex(*call.shape), product(*_padded_places(call["pad"], x.shape)), strict=True):
        if all(0 <= i < length for i, length in zip(source, x.shape, strict=True)):
            result[target] = x[source]
    return result


def _mirrored(place: int, length: int) -> int:
    inside = abs(place)
    return inside if inside < length else 2 * (length - 1) - inside


def _clamped(place: int, length: int) -> int:
    return min(max(place, 0), length - 1)


def _inside(padding: Sequence[int], lengths: Sequence[int], source: Callable[[int, int], int]) -> list[list[int]]:
    """Padding by elements of the tensor itself: along each axis where each comes from."""
    return [
        [source(place, length) for place in places]
        for places, length in zip(_padded_places(padding, lengths), lengths, strict=True)
    ]


@whole(JUDGE, "reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def _reflection_pad(call: Call) -> Array:
    return call["self"][np.ix_(*_inside(call["padding"], call["self"].shape, _mirrored))]  # type: ignore[no-any-return]


@whole(JUDGE, "replication_pad1d", "replication_pad2d", "replication_pad3d")
def _replication_pad(call: Call) -> Array:
    return call["self"][np.ix_(*_inside(call["padding"], call["self"].shape, _clamped))]  # type: ignore[no-any-return]


def _by_padding(source: Callable[[int, int], int]) -> Callable[..., list[Weights]]:
    return lambda call, inputs, _: [
        [[(place, WHOLE)] for place in places] for places in _inside(call["padding"], inputs, source)
    ]


register(JUDGE, 1, [], ["reflection_pad1d_backward"], _by_padding(_mirrored))
register(JUDGE, 2, [], ["reflection_pad2d_backward"], _by_padding(_mirrored))
register(JUDGE, 1, [], ["replication_pad1d_backward"], _by_padding(_clamped))
register(JUDGE, 2, [], ["replication_pad2d_backward"], _by_padding(_clamped))


@whole(JUDGE, "pixel_shuffle")
def _pixel_shuffle(call: Call) -> Array:
    x, r = call["self"], call["upscale_factor"]
    *batch, channels, height, width = x.shape
    blocks = x.reshape(math.prod(batch), channels // r**2, r, r, height, width)
    return blocks.transpose(0, 1, 4, 2, 5, 3).reshape(call.shape)  # type: ignore[no-any-return]


@whole(JUDGE, "pixel_unshuffle")
def _pixel_unshuffle(call: Call) -> Array:
    x, r = call["self"], call["downscale_factor"]
    *batch, channels, height, width = x.shape
    blocks = x.reshape(math.prod(batch), channels, height // r, r, width // r, r)
    return blocks.transpose(0, 1, 3, 5, 2, 4).reshape(call.shape)  # type: ignore[no-any-return]


@whole(JUDGE, "im2col")
def _im2col(call: Call) -> Array:
    x = call["self"]
    planes = x.reshape(-1, *x.shape[-3:])
    kernel, dilation, padding, stride = (call[name] for name in ("kernel_size", "dilation", "padding", "stride"))
    spans = [(x.shape[-2 + a] + 2 * padding[a] - dilation[a] * (kernel[a] - 1) - 1) // stride[a] + 1 for a in (0, 1)]
    result = np.zeros((len(planes), x.shape[-3], *kernel, *spans), x.dtype)
    for place in np.ndindex(*kernel, *spans):
        row, column = (place[2 + a] * stride[a] - padding[a] + place[a] * dilation[a] for a in (0, 1))
        if 0 <= row < x.shape[-2] and 0 <= column < x.shape[-1]:
            result[(slice(None), slice(None), *place)] = planes[:, :, row, column]
    return result.reshape(call.shape)


# Fills and counts.


@JUDGE.definition("full", "full_like", "new_full", "fill", "scalar_tensor")
def _full(call: Call) -> Element:
    name = next(name for name in ("fill_value", "value", "s") if name in call.arguments)
    value = convert_element(call[name], call.dtype)
    return lambda index: value


@JUDGE.definition("zeros", "zeros_like", "new_zeros")
def _zeros(call: Call) -> Element:
    zero = convert_element(0, call.dtype)
    return lambda index: zero


@JUDGE.definition("ones", "ones_like", "new_ones")
def _ones(call: Call) -> Element:
    one = convert_element(1, call.dtype)
    return lambda index: one


@JUDGE.definition("eye")
def _eye(call: Call) -> Element:
    def element(index: int) -> Value:
        row, column = call.place(index)
        return convert_element(int(row == column), call.dtype)

    return element


@JUDGE.definition("arange")
def _arange(call: Call) -> Element:
    start, step = call.get("start", 0), call.get("step", 1)
    return lambda index: convert_element(start + index * step, call.dtype)


# Gradients of views.


@JUDGE.exact_form("unfold_backward")
def _unfold_backward(call: Call) -> ExactOutput:
    g, axis = call["grad_in"], call["dim"] % len(call.shape)
    size, step = int(call["size"]), int(call["step"])
    windows = g.shape[axis]

    def element(index: int) -> Number:
        place = call.place(index)
        met = [
            g[(*place[:axis], window, *place[axis + 1 :], place[axis] - window * step)]
            for window in range(windows)
            if 0 <= place[axis] - window * step < size
        ]
        return fixed_point(np.array(met, g.dtype)).total

    return ExactOutput(element, windows)


@JUDGE.exact_form("col2im")
def _col2im(call: Call) -> ExactOutput:
    kernel, dilation, padding, stride = (call[n] for n in ("kernel_size", "dilation", "padding", "stride"))
    size = call["output_size"]
    blocks = [(size[a] + 2 * padding[a] - dilation[a] * (kernel[a] - 1) - 1) // stride[a] + 1 for a in range(2)]
    columns = call["self"].reshape(-1, *kernel, *blocks)

    def along(axis: int, place: int) -> list[tuple[int, int]]:
        reached = [(tap, place + padding[axis] - tap * dilation[axis]) for tap in range(kernel[axis])]
        pairs = [(tap, at // stride[axis]) for tap, at in reached if at % stride[axis] == 0]
        return [(tap, block) for tap, block in pairs if 0 <= block < blocks[axis]]

    def element(index: int) -> Number:
        *_, row, column = call.place(index)
        plane = index // (size[0] * size[1])
        met = [columns[plane, i, j, p, q] for i, p in along(0, row) for j, q in along(1, column)]
        return fixed_point(np.array(met, columns.dtype)).total

    return ExactOutput(element, kernel[0] * kernel[1])


# Under an exact profile.


def _over_one(kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> int:
    """The most windows that lie over one place: along an axis, taps * d = place (mod stride) has so many solutions."""
    # Taps that reach one place differ by multiples of s / gcd(s, d).
    return math.prod(-(-k // (s // math.gcd(s, d))) for k, s, d in zip(kernel, stride, dilation, strict=True))


JUDGE.quantised("unfold_backward")(of_terms("grad_in", lambda given: _over_one([given["size"]], [given["step"]], [1])))
JUDGE.quantised("col2im")(
    of_terms("self", lambda given: _over_one(given["kernel_size"], given["stride"], given["dilation"]))
)
