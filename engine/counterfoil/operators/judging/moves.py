"""Definitions of the exact operators that move elements: each element of the result is one of the input, or a fill."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from counterfoil.operators.judging.forms import Call, definition
from counterfoil.operators.judging.ieee import Value, converted
from counterfoil.operators.judging.numbers import Array

Move = Callable[[Call], Array]
"""Returns the whole result, as an array of the shape of the output."""


def _moves(*kinds: str) -> Callable[[Move], Move]:
    def register(move: Move) -> Move:
        def rule(call: Call) -> Callable[[int], Value]:
            flat = np.asarray(move(call)).reshape(-1)
            if flat.dtype.name == call.dtype:
                return lambda index: flat[index].item()
            return lambda index: converted(flat[index].item(), call.dtype)

        definition(*kinds)(rule)
        return move

    return register


@_moves("clone", "_to_copy", "lift_fresh_copy", "view_copy")
def _same(call: Call) -> Array:
    return call["self"].reshape(call.shape)  # type: ignore[no-any-return]


@_moves("copy")
def _copy(call: Call) -> Array:
    return np.broadcast_to(call["src"], call.shape)


@_moves("permute_copy")
def _permute(call: Call) -> Array:
    return call["self"].transpose(call["dims"])  # type: ignore[no-any-return]


@_moves("expand_copy")
def _expand(call: Call) -> Array:
    return np.broadcast_to(call["self"], call.shape)


@_moves("unfold_copy")
def _unfold(call: Call) -> Array:
    x, axis = call["self"], call["dimension"]
    windows = np.lib.stride_tricks.sliding_window_view(x, call["size"], axis)
    return np.take(windows, range(0, windows.shape[axis], call["step"]), axis)


@_moves("cat")
def _cat(call: Call) -> Array:
    return np.concatenate([_wide(call, x) for x in call["tensors"] if x.shape != (0,)], call["dim"])


@_moves("stack")
def _stack(call: Call) -> Array:
    return np.stack([_wide(call, x) for x in call["tensors"]], call["dim"])


def _wide(call: Call, x: Array) -> Array:
    """The elements in the output's dtype, so that numpy does not choose another."""
    if x.dtype.name == call.dtype:
        return x
    changed = np.array([converted(value.item(), call.dtype) for value in x.reshape(-1)], call.dtype)
    return changed.reshape(x.shape)


@_moves("flip")
def _flip(call: Call) -> Array:
    return np.flip(call["self"], call["dims"])


@_moves("roll")
def _roll(call: Call) -> Array:
    return np.roll(call["self"], call["shifts"], call["dims"] or None)


@_moves("repeat")
def _repeat(call: Call) -> Array:
    return np.tile(call["self"], call["repeats"])


@_moves("gather")
def _gather(call: Call) -> Array:
    x, index, axis = call["self"], call["index"], call["dim"] % max(call["self"].ndim, 1)
    result = np.empty(index.shape, x.dtype)
    for place in np.ndindex(*index.shape):
        source = list(place)
        if source:
            source[axis] = index[place]
        result[place] = x[tuple(source)]
    return result


@_moves("index")
def _index(call: Call) -> Array:
    return call["self"][tuple(slice(None) if i is None else i for i in call["indices"])]  # type: ignore[no-any-return]


@_moves("index_select")
def _index_select(call: Call) -> Array:
    return np.take(np.atleast_1d(call["self"]), np.atleast_1d(call["index"]), call["dim"])


@_moves("embedding")
def _embedding(call: Call) -> Array:
    return call["weight"][call["indices"]]  # type: ignore[no-any-return]


@_moves("scatter")
def _scatter(call: Call) -> Array:
    result, index, axis = call["self"].copy(), call["index"], call["dim"] % max(call["self"].ndim, 1)
    source = call.get("src")
    for place in np.ndindex(*index.shape):
        target = list(place)
        if target:
            target[axis] = index[place]
        # In C order, so of several values for one place the last along the axis stays.
        result[tuple(target)] = converted(call["value"], call.dtype) if source is None else source[place]
    return result  # type: ignore[no-any-return]


def _along(rank: int, axis: int, chosen: Any) -> tuple[Any, ...]:
    return (*[slice(None)] * (axis % rank), chosen)


@_moves("select_scatter")
def _select_scatter(call: Call) -> Array:
    result = call["self"].copy()
    result[_along(result.ndim, call["dim"], call["index"])] = call["src"]
    return result  # type: ignore[no-any-return]


@_moves("slice_scatter")
def _slice_scatter(call: Call) -> Array:
    result = call["self"].copy()
    result[_along(result.ndim, call["dim"], slice(call["start"], call["end"], call["step"]))] = call["src"]
    return result  # type: ignore[no-any-return]


@_moves("diagonal_scatter")
def _diagonal_scatter(call: Call) -> Array:
    x = call["self"]
    places = np.diagonal(np.arange(x.size).reshape(x.shape), call["offset"], call["dim1"], call["dim2"])
    result = x.reshape(-1).copy()
    result[places] = call["src"]
    return result.reshape(x.shape)  # type: ignore[no-any-return]


@_moves("select_backward")
def _select_backward(call: Call) -> Array:
    g = call["grad_output"]
    result = np.zeros(call["input_sizes"], g.dtype)
    result[_along(result.ndim, call["dim"], call["index"])] = g
    return result


@_moves("slice_backward")
def _slice_backward(call: Call) -> Array:
    g = call["grad_output"]
    result = np.zeros(call["input_sizes"], g.dtype)
    result[_along(result.ndim, call["dim"], slice(call["start"], call["end"], call["step"]))] = g
    return result


@_moves("tril")
def _tril(call: Call) -> Array:
    return np.tril(call["self"], call["diagonal"])


@_moves("triu")
def _triu(call: Call) -> Array:
    return np.triu(call["self"], call["diagonal"])


# Padding: the argument lists the last axis first.


def _padded_places(call: Call, name: str) -> list[range]:
    x, padding = call["self"], call[name]
    places = [range(length) for length in x.shape]
    for pair in range(len(padding) // 2):
        axis = x.ndim - 1 - pair
        places[axis] = range(-padding[2 * pair], x.shape[axis] + padding[2 * pair + 1])
    return places


@_moves("constant_pad_nd")
def _constant_pad(call: Call) -> Array:
    x = call["self"]
    result = np.full(call.shape, converted(call["value"], call.dtype), x.dtype)
    for target, source in zip(np.ndindex(*call.shape), product(*_padded_places(call, "pad")), strict=True):
        if all(0 <= i < length for i, length in zip(source, x.shape, strict=True)):
            result[target] = x[source]
    return result


def _from_inside(call: Call, source: Callable[[int, int], int]) -> Array:
    x = call["self"]
    sources = [
        [source(place, length) for place in places]
        for places, length in zip(_padded_places(call, "padding"), x.shape, strict=True)
    ]
    return x[np.ix_(*sources)]  # type: ignore[no-any-return]


@_moves("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def _reflection_pad(call: Call) -> Array:
    return _from_inside(call, lambda at, length: abs(at) if abs(at) < length else 2 * (length - 1) - abs(at))


@_moves("replication_pad1d", "replication_pad2d", "replication_pad3d")
def _replication_pad(call: Call) -> Array:
    return _from_inside(call, lambda at, length: min(max(at, 0), length - 1))


@_moves("pixel_shuffle")
def _pixel_shuffle(call: Call) -> Array:
    x, r = call["self"], call["upscale_factor"]
    *batch, channels, height, width = x.shape
    blocks = x.reshape(math.prod(batch), channels // r**2, r, r, height, width)
    return blocks.transpose(0, 1, 4, 2, 5, 3).reshape(call.shape)  # type: ignore[no-any-return]


@_moves("pixel_unshuffle")
def _pixel_unshuffle(call: Call) -> Array:
    x, r = call["self"], call["downscale_factor"]
    *batch, channels, height, width = x.shape
    blocks = x.reshape(math.prod(batch), channels, height // r, r, width // r, r)
    return blocks.transpose(0, 1, 3, 5, 2, 4).reshape(call.shape)  # type: ignore[no-any-return]


@_moves("im2col")
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
