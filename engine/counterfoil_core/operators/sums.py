"""How long the sums of an operator are, from the shapes of its arguments, and how they are cut where they are long.

A sum of n terms errs by at most gamma_n times the sum of their magnitudes (Higham 2002, section 4.2), whatever the
order. For a long sum that bound is too coarse for a short log, and for a very long one it does not fit the grid at all.
Added in blocks, one axis after another, the same terms pass through about 2 sqrt(n) additions each instead of n. The
choice of form follows from shapes alone, so everybody who runs a program makes the same one:
each family of operators says how long its sums are, and has the error bounds of both forms;
:mod:`counterfoil_core.arithmetic.families` has the forms.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Arguments = Mapping[str, Any]
"""Arguments of an operator by name. Of tensors, only ``shape`` and ``dtype`` are looked at."""

LONGEST = 4096
"""Longest sum that is left to the library."""
SHORT = 128
"""Longest axis that is summed at once by a form of our own."""
PART = 2048
"""Length of the parts in which products are summed."""


def block_length(n: int) -> int:
    """Return the length of the blocks of an axis of ``n``: the power of two at or above the square root."""
    return 1 << math.ceil(math.log2(max(n, 1)) / 2)


def axis_terms(n: int) -> int:
    """Return through how many additions a term passes at most when an axis of ``n`` is summed in blocks."""
    if n <= SHORT:
        return n if n > 1 else 0
    block = block_length(n)
    return block + n // block + (1 if n % block else 0)


def blocked_terms(lengths: Sequence[int]) -> int:
    """Return the same for axes of these lengths, one after another."""
    return sum(axis_terms(n) for n in lengths)


def part_length(n: int) -> int:
    """Return the length of the parts of an inner axis of ``n``."""
    return max(PART, block_length(n))


def in_parts(n: int, part: int) -> int:
    """Return through how many additions a term passes when ``n`` terms are added in parts of ``part``."""
    return min(n, part) + -(-n // max(part, 1))


def shape_of(arguments: Arguments, name: str) -> tuple[int, ...]:
    """Return the shape of a tensor argument."""
    return tuple(int(n) for n in arguments[name].shape)


def reduced_axes(arguments: Arguments) -> list[int]:
    """Return the axes ``dim`` of ``self`` that a reduction sums, none negative; all of them when none is named."""
    axes = len(arguments["self"].shape)
    dims = arguments.get("dim")
    if dims is None or (isinstance(dims, (list, tuple)) and not dims):
        return list(range(axes))
    given = [dims] if isinstance(dims, int) else list(dims)
    return sorted({dim % axes for dim in given}) if axes else []


def reduced_lengths(arguments: Arguments) -> list[int]:
    """Return the lengths of these axes."""
    shape = shape_of(arguments, "self")
    return [shape[axis] for axis in reduced_axes(arguments)]


def channel_lengths(shape: Sequence[int]) -> list[int]:
    """Return the lengths of all axes but the second: what a channel's statistics are taken over."""
    return [n for axis, n in enumerate(shape) if axis != 1]


def second_factor(arguments: Arguments) -> str:
    """Return the name of the second factor of a matrix product; raises KeyError where there is none."""
    for name in ("mat2", "batch2", "vec", "tensor"):
        if name in arguments:
            return name
    raise KeyError("a matrix product without a second factor")


def inner_length(arguments: Arguments) -> int:
    """Return the length of the axis that a matrix product sums."""
    shape = shape_of(arguments, second_factor(arguments))
    return shape[0 if len(shape) == 1 else -2]


def norm_order(arguments: Arguments) -> float:
    """Return the order of a vector norm."""
    order = arguments.get("ord", arguments.get("p"))
    return 2.0 if order is None else float(order)


def loss_terms(arguments: Arguments) -> list[int]:
    """Return the lengths of the axes over which a loss is reduced; none without a reduction."""
    if arguments["reduction"] == 0:
        return []
    target = shape_of(arguments, "target")
    if "ignore_index" in arguments:
        return list(target)
    return list(broadcast(shape_of(arguments, "self"), target))


def broadcast(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Return the shape that these shapes are broadcast to; for shapes that fit together."""
    axes = max((len(shape) for shape in shapes), default=0)
    aligned = [(1,) * (axes - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(0 if 0 in lengths else max(lengths) for lengths in zip(*aligned, strict=True))


def meeting(kind: str, arguments: Arguments) -> int:
    """Return how many terms can meet in one element of a sum over repeated indices."""
    if kind == "embedding_dense_backward":
        return math.prod(shape_of(arguments, "indices"))
    if kind == "index_put":
        return math.prod(broadcast(*(index.shape for index in arguments["indices"] if index is not None)))
    index = shape_of(arguments, "index")
    if kind == "index_add":
        return math.prod(index)
    return index[arguments["dim"]] if index else 1


def spatial(values: Sequence[int], axes: int) -> list[int]:
    """Return one number for each spatial axis where a list may hold one for all."""
    return [int(n) for n in values] if len(values) == axes else [int(values[0])] * axes


def pool_axes(kind: str) -> int:
    """Return the number of spatial axes of a pooling operator."""
    return 1 if "1d" in kind else 2 if "2d" in kind else 3


def windows(kind: str, arguments: Arguments) -> list[int]:
    """Return the lengths of the windows of an average pooling, the longest along each axis."""
    axes = pool_axes(kind)
    if "output_size" in arguments:
        lengths = shape_of(arguments, "self")[-axes:]
        sizes = spatial(arguments["output_size"], axes)
        return [
            -(-n // max(out, 1)) + 1 if n % max(out, 1) else n // max(out, 1)
            for n, out in zip(lengths, sizes, strict=True)
        ]
    return spatial(arguments["kernel_size"], axes)


def covering(kernel: int, stride: int, dilation: int) -> int:
    """Return how many windows lie over one element along an axis at most."""
    return -(-kernel * math.gcd(stride, dilation) // stride)


class WeightParts:
    """In which parts a convolution's weight gradient is summed: samples, or rows of one sample.

    Attributes:
        samples: Samples in a part.
        rows: Rows (positions of the first spatial axis) in a part; all where a part has several samples.
        parts: Number of parts.
        terms: Through how many additions a term passes.
        positions: Number of terms in all.
    """

    def __init__(self, arguments: Arguments) -> None:
        transposed = bool(arguments["transposed"])
        small = shape_of(arguments, "input" if transposed else "grad_output")
        batch, first, inner = small[0], small[2], math.prod(small[3:])
        sample = first * inner
        self.positions = batch * sample
        self.samples = max(PART // max(sample, 1), 1)
        self.rows = first
        # A transposed convolution's rows are not cut: its kernel is laid over the other tensor.
        if sample > 8 * PART and not transposed:
            self.rows = max(PART // max(inner, 1), 1)
        per_sample = -(-first // max(self.rows, 1))
        self.parts = -(-batch // self.samples) * per_sample
        self.terms = self.samples * self.rows * inner + self.parts
