"""What is known of operators that move elements: error bounds, types, classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from counterfoil_core.operators import sums
from counterfoil_core.operators.facts import COPIES, COUNTS, Bound, Trait, Use, exact, rounded_operators, view
from counterfoil_core.operators.shaperules import (
    Arguments,
    Results,
    ShapeRule,
    Typed,
    axes,
    axis,
    each,
    floats,
    put,
    require,
    resize_lengths,
    spreads,
    tensor,
    tensors,
    within,
    without,
)


def padding(use: Use) -> Sequence[Bound]:
    """Gradients of padding: the places that an element was copied to."""
    pairs = list(use.arguments["padding"])
    by_axis = [sum(pairs[i : i + 2]) for i in range(0, len(pairs), 2)]
    return [Bound(math.prod(3 if use.kind.startswith("reflection") else 1 + max(n, 0) for n in by_axis))]


def overlapping(use: Use) -> Sequence[Bound]:
    """Windows put back: as many as lie over one element."""
    if use.kind == "unfold_backward":
        return [Bound(sums.covering(use.arguments["size"], use.arguments["step"], 1))]
    return [Bound(math.prod(sums.spatial(use.arguments["kernel_size"], 2)))]


_Shape = tuple[int, ...]


def _laid_out(arguments: Arguments, x: Typed) -> None:
    """Require that a tensor can lie in memory as it is asked to."""
    rank = {"channels_last": 4, "channels_last_3d": 5}.get(str(arguments.get("memory_format")), x.rank)
    require(rank == x.rank)


def _same(arguments: Arguments) -> Results:
    x = tensor(arguments, "self")
    _laid_out(arguments, x)
    return [x]


def _relabelled(name: str) -> ShapeRule:
    def rule(arguments: Arguments) -> Results:
        x = tensor(arguments, "self")
        return [Typed(x.dtype, resize_lengths(math.prod(x.shape), arguments[name]))]

    return rule


# Axes.


def _squeeze(arguments: Arguments) -> Results:
    x, given = tensor(arguments, "self"), arguments.get("dim")
    asked = (
        range(x.rank) if given is None else axes(given, x.rank) if isinstance(given, list) else [axis(given, x.rank)]
    )
    require(given != [])
    return [Typed(x.dtype, without(x.shape, [n for n in asked if n < x.rank and x.shape[n] == 1], keep=False))]


def _unsqueeze(arguments: Arguments) -> Results:
    x = tensor(arguments, "self")
    place = axis(arguments["dim"], x.rank + 1)
    return [Typed(x.dtype, (*x.shape[:place], 1, *x.shape[place:]))]


def _permute(arguments: Arguments) -> Results:
    x, order = tensor(arguments, "self"), arguments["dims"]
    require(len(order) == x.rank > 0)
    return [Typed(x.dtype, tuple(x.shape[place] for place in axes(order, x.rank)))]


def _transpose(arguments: Arguments) -> Results:
    x = tensor(arguments, "self")
    require(x.rank > 0)
    one, other = (axis(arguments[name], x.rank) for name in ("dim0", "dim1"))
    lengths = list(x.shape)
    lengths[one], lengths[other] = lengths[other], lengths[one]
    return [Typed(x.dtype, tuple(lengths))]


def _t(arguments: Arguments) -> Results:
    x = tensor(arguments, "self")
    require(x.rank <= 2)
    return [Typed(x.dtype, x.shape[::-1])]


def _expand(arguments: Arguments) -> Results:
    x, size = tensor(arguments, "self"), arguments["size"]
    new = len(size) - x.rank
    require(new >= 0 and -1 not in size[:new] and all(length >= -1 for length in size))
    lengths = tuple(x.shape[n - new] if length == -1 else length for n, length in enumerate(size))
    spreads(x.shape, lengths)
    return [Typed(x.dtype, lengths)]


def _flip(arguments: Arguments) -> Results:
    x = tensor(arguments, "self")
    require(bool(arguments["dims"]) and x.rank > 0)
    axes(arguments["dims"], x.rank)
    return [x]


def _roll(arguments: Arguments) -> Results:
    x, shifts, along = tensor(arguments, "self"), arguments["shifts"], arguments["dims"]
    require(x.rank > 0 and len(shifts) == len(along) > 0)
    for place in along:
        axis(place, x.rank)
    return [x]


def _repeat(arguments: Arguments) -> Results:
    x, times = tensor(arguments, "self"), arguments["repeats"]
    require(len(times) >= x.rank and all(count > 0 for count in times))
    lengths = (*(1 for _ in range(len(times) - x.rank)), *x.shape)
    return [Typed(x.dtype, tuple(count * length for count, length in zip(times, lengths, strict=True)))]


def _triangle(arguments: Arguments) -> Results:
    x = tensor(arguments, "self")
    require(x.rank >= 2)
    return [x]


# Parts.


def _sliced(shape: _Shape, arguments: Arguments) -> _Shape:
    place = axis(arguments["dim"], len(shape))
    require(len(shape) > 0)
    length, step = shape[place], arguments["step"]
    start = 0 if arguments["start"] is None else arguments["start"]
    end = length if arguments["end"] is None else arguments["end"]
    require(step >= 1)
    start, end, _ = slice(start, end).indices(length)
    return put(shape, place, max(-((start - end) // step), 0))


def _slice(arguments: Arguments) -> Results:
    x = tensor(arguments, "self")
    return [Typed(x.dtype, _sliced(x.shape, arguments))]


def _selected(shape: _Shape, arguments: Arguments) -> _Shape:
    place = axis(arguments["dim"], len(shape))
    require(len(shape) > 0 and -shape[place] <= arguments["index"] < shape[place])
    return put(shape, place)


def _select(arguments: Arguments) -> Results:
    x = tensor(arguments, "self")
    return [Typed(x.dtype, _selected(x.shape, arguments))]


def _narrow(arguments: Arguments) -> Results:
    x, start, length = tensor(arguments, "self"), arguments["start"], arguments["length"]
    require(x.rank > 0)
    place = axis(arguments["dim"], x.rank)
    require(start >= 0 and length >= 0 and start + length <= x.shape[place])
    return [Typed(x.dtype, put(x.shape, place, length))]


def _diagonal_of(shape: _Shape, arguments: Arguments) -> _Shape:
    require(len(shape) >= 2)
    one, other = (axis(arguments[name], len(shape)) for name in ("dim1", "dim2"))
    require(one != other)
    offset = arguments["offset"]
    length = min(shape[one] + min(offset, 0), shape[other] - max(offset, 0))
    require(length > 0)
    return (*without(shape, (one, other), keep=False), length)


def _diagonal(arguments: Arguments) -> Results:
    x = tensor(arguments, "self")
    return [Typed(x.dtype, _diagonal_of(x.shape, arguments))]


def _cut(arguments: Arguments, sizes: Sequence[int]) -> Results:
    x = tensor(arguments, "self")
    place = axis(arguments["dim"], x.rank)
    require(x.rank > 0 and all(size >= 0 for size in sizes) and sum(sizes) == x.shape[place])
    return [Typed(x.dtype, put(x.shape, place, size)) for size in sizes]


def _split(arguments: Arguments) -> Results:
    x, size = tensor(arguments, "self"), arguments["split_size"]
    require(x.rank > 0 and size > 0)
    length = x.shape[axis(arguments["dim"], x.rank)]
    return _cut(arguments, [min(size, length - first) for first in range(0, length, size)])


def _unbind(arguments: Arguments) -> Results:
    x = tensor(arguments, "self")
    require(x.rank > 0)
    place = axis(arguments["dim"], x.rank)
    return [Typed(x.dtype, put(x.shape, place))] * x.shape[place]


def _windows(shape: _Shape, dim: Any, size: int, step: int) -> _Shape:
    require(len(shape) > 0)
    place = axis(dim, len(shape))
    require(0 < size <= shape[place] and step >= 1)
    return (*put(shape, place, (shape[place] - size) // step + 1), size)


def _unfold(arguments: Arguments) -> Results:
    x = tensor(arguments, "self")
    return [Typed(x.dtype, _windows(x.shape, arguments["dimension"], arguments["size"], arguments["step"]))]


# Gradients of parts, and what is written into a tensor.


def _sizes(arguments: Arguments) -> _Shape:
    sizes = tuple(arguments["input_sizes"])
    require(all(type(length) is int and length > 0 for length in sizes))
    return sizes


def _select_backward(arguments: Arguments) -> Results:
    gradient, sizes = tensor(arguments, "grad_output"), _sizes(arguments)
    require(gradient.shape == _selected(sizes, arguments))
    return [Typed(gradient.dtype, sizes)]


def _slice_backward(arguments: Arguments) -> Results:
    gradient, sizes = tensor(arguments, "grad_output"), _sizes(arguments)
    require(gradient.shape == _sliced(sizes, arguments))
    return [Typed(gradient.dtype, sizes)]


def _unfold_backward(arguments: Arguments) -> Results:
    (gradient,), sizes = floats(arguments, "grad_in"), _sizes(arguments)
    require(gradient.shape == _windows(sizes, arguments["dim"], arguments["size"], arguments["step"]))
    return [Typed(gradient.dtype, sizes)]


def _written(part: Any) -> ShapeRule:
    """What is written must be of the type of the part that it takes the place of."""

    def rule(arguments: Arguments) -> Results:
        x, source = tensors(arguments, "self", "src")
        require(source == Typed(x.dtype, part(x.shape, arguments)))
        return [x]

    return rule


# Copies.


def _to_copy(arguments: Arguments) -> Results:
    x = tensor(arguments, "self")
    _laid_out(arguments, x)
    return [Typed(arguments["dtype"] or x.dtype, x.shape)]


def _copy(arguments: Arguments) -> Results:
    x, source = tensors(arguments, "self", "src")
    spreads(source.shape, x.shape)
    return [x]


def _cat(arguments: Arguments) -> Results:
    given = arguments["tensors"]
    first = given[0]
    place = axis(arguments["dim"], first.rank)
    require(first.rank > 0)
    for item in given:
        require(item.dtype == first.dtype and item.rank == first.rank)
        require(put(item.shape, place) == put(first.shape, place))
    return [Typed(first.dtype, put(first.shape, place, sum(item.shape[place] for item in given)))]


def _stack(arguments: Arguments) -> Results:
    given = arguments["tensors"]
    first = given[0]
    require(all(item == first for item in given))
    place = axis(arguments["dim"], first.rank + 1)
    return [Typed(first.dtype, (*first.shape[:place], len(given), *first.shape[place:]))]


# Paddings and windows.


def _padded(shape: _Shape, pairs: Sequence[int]) -> _Shape:
    require(len(pairs) % 2 == 0 and len(pairs) <= 2 * len(shape))
    lengths = list(shape)
    for number in range(len(pairs) // 2):
        before, behind = pairs[2 * number : 2 * number + 2]
        lengths[-1 - number] += before + behind
        # A cut that is deeper than the axis is long is nothing that an honest program has.
        require(lengths[-1 - number] > 0 and min(before, behind) > -shape[-1 - number])
    return tuple(lengths)


def _constant_pad(arguments: Arguments) -> Results:
    x, value = tensor(arguments, "self"), arguments["value"]
    # The default is 0.0, whatever the dtype is that it is written to.
    within(x.dtype, 0 if value == 0 else value)
    return [Typed(x.dtype, _padded(x.shape, arguments["pad"]))]


def _edges(spatial: int, *, reflects: bool) -> ShapeRule:
    def rule(arguments: Arguments) -> Results:
        (x,) = floats(arguments, "self")
        return [Typed(x.dtype, _with_edges(x.shape, arguments["padding"], spatial, reflects))]

    return rule


def _with_edges(shape: _Shape, padding: Sequence[int], spatial: int, reflects: bool) -> _Shape:
    require(len(shape) in (spatial + 1, spatial + 2) and len(padding) == 2 * spatial)
    for place, length in enumerate(padding):
        require(length >= 0 and (not reflects or length < shape[-1 - place // 2]))
    return _padded(shape, padding)


def _edges_backward(spatial: int, *, reflects: bool) -> ShapeRule:
    def rule(arguments: Arguments) -> Results:
        gradient, x = floats(arguments, "grad_output", "self")
        require(gradient.shape == _with_edges(x.shape, arguments["padding"], spatial, reflects))
        return [x]

    return rule


def _pixels(arguments: Arguments) -> Results:
    x, factor = tensor(arguments, "self"), arguments["upscale_factor"]
    require(x.rank >= 3 and factor >= 1 and x.shape[-3] % factor**2 == 0)
    *outer, channels, height, width = x.shape
    return [Typed(x.dtype, (*outer, channels // factor**2, height * factor, width * factor))]


def _unpixels(arguments: Arguments) -> Results:
    x, factor = tensor(arguments, "self"), arguments["downscale_factor"]
    require(x.rank >= 3 and factor >= 1 and x.shape[-1] % factor == 0 and x.shape[-2] % factor == 0)
    *outer, channels, height, width = x.shape
    return [Typed(x.dtype, (*outer, channels * factor**2, height // factor, width // factor))]


def _columns(arguments: Arguments, lengths: Sequence[int]) -> tuple[int, int]:
    """How many elements a window has, and how many windows there are."""
    kernel, dilation, padding, stride = (
        each(arguments[name], 2) for name in ("kernel_size", "dilation", "padding", "stride")
    )
    require(min(kernel) >= 1 and min(dilation) >= 1 and min(padding) >= 0 and min(stride) >= 1)
    rooms = [n + 2 * p - d * (k - 1) - 1 for n, k, d, p in zip(lengths, kernel, dilation, padding, strict=True)]
    require(min(rooms) >= 0)
    return math.prod(kernel), math.prod(room // s + 1 for room, s in zip(rooms, stride, strict=True))


def _im2col(arguments: Arguments) -> Results:
    (x,) = floats(arguments, "self")
    require(x.rank == 4)
    size, count = _columns(arguments, x.shape[2:])
    return [Typed(x.dtype, (x.shape[0], x.shape[1] * size, count))]


def _col2im(arguments: Arguments) -> Results:
    (x,) = floats(arguments, "self")
    lengths = each(arguments["output_size"], 2)
    size, count = _columns(arguments, lengths)
    require(x.rank == 3 and x.shape[1] % size == 0 and x.shape[2] == count)
    return [Typed(x.dtype, (x.shape[0], x.shape[1] // size, *lengths))]


# Constants.


def _made(arguments: Arguments, shape: Sequence[int]) -> Results:
    require(all(type(length) is int and length >= 0 for length in shape))
    return [Typed(arguments["dtype"], tuple(shape))]


def _filled(arguments: Arguments) -> Results:
    if "fill_value" in arguments:
        within(arguments["dtype"], arguments["fill_value"])
    return _made(arguments, arguments["size"])


def _like(arguments: Arguments) -> Results:
    x = tensor(arguments, "self")
    _laid_out(arguments, x)
    dtype = arguments.get("dtype") or x.dtype
    for name in ("fill_value", "value"):
        if name in arguments:
            within(dtype, arguments[name])
    shape = tuple(arguments.get("size", x.shape))
    require(all(type(length) is int and length >= 0 for length in shape))
    return [Typed(dtype, shape)]


def _eye(arguments: Arguments) -> Results:
    return _made(arguments, (arguments["n"], arguments.get("m", arguments["n"])))


def _number(arguments: Arguments) -> Results:
    within(arguments["dtype"], arguments["s"])
    return _made(arguments, ())


def _counted(arguments: Arguments) -> Results:
    start, end, step = arguments.get("start", 0), arguments["end"], arguments.get("step", 1)
    require(all(type(number) is int and abs(number) < 2**53 for number in (start, end, step)) and step > 0)
    require(end >= start)
    return _made(arguments, (-((start - end) // step),))


_RULES: dict[str, ShapeRule] = {
    "alias.default detach.default lift_fresh.default clone.default lift_fresh_copy.default": _same,
    "view.default _unsafe_view.default _reshape_alias.default view_copy.default": _relabelled("size"),
    "reshape.default": _relabelled("shape"),
    "squeeze.default squeeze.dim squeeze.dims": _squeeze,
    "unsqueeze.default": _unsqueeze,
    "permute.default permute_copy.default": _permute,
    "transpose.int": _transpose,
    "t.default": _t,
    "expand.default expand_copy.default": _expand,
    "slice.Tensor": _slice,
    "select.int": _select,
    "narrow.default": _narrow,
    "diagonal.default": _diagonal,
    "split.Tensor unsafe_split.Tensor": _split,
    "split_with_sizes.default unsafe_split_with_sizes.default": lambda named: _cut(named, named["split_sizes"]),
    "unbind.int": _unbind,
    "unfold.default unfold_copy.default": _unfold,
    "_to_copy.default": _to_copy,
    "copy.default": _copy,
    "cat.default": _cat,
    "stack.default": _stack,
    "roll.default": _roll,
    "repeat.default": _repeat,
    "flip.default": _flip,
    "tril.default triu.default": _triangle,
    "select_backward.default": _select_backward,
    "slice_backward.default": _slice_backward,
    "unfold_backward.default": _unfold_backward,
    "select_scatter.default": _written(_selected),
    "slice_scatter.default": _written(_sliced),
    "diagonal_scatter.default": _written(_diagonal_of),
    "constant_pad_nd.default": _constant_pad,
    "pixel_shuffle.default": _pixels,
    "pixel_unshuffle.default": _unpixels,
    "im2col.default": _im2col,
    "col2im.default": _col2im,
    "full.default zeros.default ones.default": _filled,
    "full_like.default zeros_like.default ones_like.default fill.Scalar": _like,
    "new_zeros.default new_ones.default new_full.default": _like,
    "eye.default eye.m": _eye,
    "scalar_tensor.default": _number,
    "arange.default arange.start arange.start_step": _counted,
    **{f"reflection_pad{n}d.default": _edges(n, reflects=True) for n in (1, 2, 3)},
    **{f"replication_pad{n}d.default": _edges(n, reflects=False) for n in (1, 2, 3)},
    **{f"reflection_pad{n}d_backward.default": _edges_backward(n, reflects=True) for n in (1, 2)},
    **{f"replication_pad{n}d_backward.default": _edges_backward(n, reflects=False) for n in (1, 2)},
}
RULES = {f"aten.{name}": rule for names, rule in _RULES.items() for name in names.split()}
"""By operator."""


FACTS = (
    *view("view.default _unsafe_view.default _reshape_alias.default", Trait.SAME_ORDER, Trait.RESHAPES, Trait.RELABELS),
    *view("reshape.default", Trait.SAME_ORDER, Trait.RESHAPES),
    *view(
        """
        squeeze.default squeeze.dim squeeze.dims unsqueeze.default alias.default detach.default
        lift_fresh.default
    """,
        Trait.SAME_ORDER,
    ),
    *view("permute.default transpose.int t.default expand.default", Trait.OTHER_ORDER),
    *view("""
        slice.Tensor select.int diagonal.default split.Tensor split_with_sizes.default unbind.int unfold.default
        narrow.default unsafe_split.Tensor unsafe_split_with_sizes.default
    """),
    *exact(COPIES, "clone.default lift_fresh_copy.default view_copy.default", Trait.SAME_ORDER),
    *exact(COPIES, "_to_copy.default", casts=(0,)),
    *exact(COPIES, "copy.default", casts=(1,)),
    *exact(
        COPIES,
        """
        cat.default stack.default roll.default repeat.default select_backward.default slice_backward.default
        tril.default triu.default reflection_pad1d.default reflection_pad2d.default replication_pad1d.default
        replication_pad2d.default reflection_pad3d.default replication_pad3d.default pixel_shuffle.default
        pixel_unshuffle.default im2col.default unfold_copy.default
    """,
    ),
    *exact(COPIES, "constant_pad_nd.default", fills=2),
    *exact(COPIES, "flip.default permute_copy.default expand_copy.default", Trait.OTHER_ORDER),
    *exact(COPIES, "select_scatter.default slice_scatter.default diagonal_scatter.default", Trait.WRITES),
    *exact("fills with a constant", "full.default", Trait.MAKES, fills=1),
    *exact("fills with a constant", "full_like.default fill.Scalar", fills=1),
    *exact("fills with a constant", "zeros.default ones.default eye.default eye.m", Trait.MAKES),
    *exact("fills with a constant", "zeros_like.default ones_like.default new_zeros.default new_ones.default"),
    *exact("fills with a constant", "new_full.default", fills=2),
    *exact("fills with a constant", "scalar_tensor.default", Trait.MAKES, fills=0),
    *exact(COUNTS, "arange.default arange.start arange.start_step", Trait.MAKES),
    *rounded_operators(
        "magnitudes",
        padding,
        """
        reflection_pad1d_backward.default reflection_pad2d_backward.default replication_pad1d_backward.default
        replication_pad2d_backward.default
    """,
        Trait.SUMS,
    ),
    *rounded_operators("magnitudes", overlapping, "unfold_backward.default col2im.default", Trait.SUMS),
)
