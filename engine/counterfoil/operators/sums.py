"""How long the sums of an operator are, and which operators are therefore computed in a form of Counterfoil's own.

A sum of n terms errs by at most gamma_n times the sum of their magnitudes (Higham 2002, section 4.2), whatever the
order. For a long sum that bound is too coarse for a short log, and for a very long one it does not fit the grid at all.
Added in blocks, one axis after another, the same terms pass through about 2 sqrt(n) additions each instead of n. The
choice of form follows from shapes alone, so everybody who runs a program makes the same one:
:mod:`counterfoil.arithmetic.compute.blocked` has the forms, :mod:`counterfoil.arithmetic.grid.margin` their error
bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
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


def rows_and_length(arguments: Arguments) -> tuple[int, int]:
    """Return the number of rows of a layer norm, and their length."""
    length = math.prod(int(n) for n in arguments["normalized_shape"])
    return max(math.prod(shape_of(arguments, "input")) // max(length, 1), 1), length


def group_length(arguments: Arguments) -> int:
    """Return the number of elements of a sample's group."""
    return math.prod(shape_of(arguments, "input")) // max(int(arguments["N"]) * int(arguments["group"]), 1)


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


def _losses(arguments: Arguments) -> float:
    return math.prod(loss_terms(arguments)) if arguments["reduction"] else 0


def _along(name: str) -> Callable[[Arguments], float]:
    def length(arguments: Arguments) -> float:
        shape = shape_of(arguments, name)
        return shape[arguments["dim"]] if shape else 1

    return length


def _reduced(arguments: Arguments) -> float:
    return math.prod(reduced_lengths(arguments))


def _norm(arguments: Arguments) -> float:
    order = norm_order(arguments)
    if order in (0.0, math.inf, -math.inf):
        return 0.0
    # Powers of other orders leave float64's range where the norm does not: always our own form.
    return math.prod(reduced_lengths(arguments)) if order in (1.0, 2.0) else math.inf


def _batch_norm(arguments: Arguments) -> float:
    return math.inf if arguments.get("training", True) else 0.0


def _convolution_backward(arguments: Arguments) -> float:
    mask = arguments["output_mask"]
    g = shape_of(arguments, "grad_output")
    if len(g) < 3:
        return 0.0
    weight = WeightParts(arguments).positions if mask[1] else 0
    return max(weight, g[0] * math.prod(g[2:]) if mask[2] else 0)


def _meeting(kind: str) -> Callable[[Arguments], float]:
    def length(arguments: Arguments) -> float:
        indices = arguments.get("indices")
        if kind == "index_put" and (
            not isinstance(indices, (list, tuple))
            or any(index is not None and not str(index.dtype).endswith(("int64", "int32")) for index in indices)
        ):
            return 0.0
        return meeting(kind, arguments)

    return length


def _windows(kind: str) -> Callable[[Arguments], float]:
    return lambda arguments: math.prod(windows(kind, arguments))


def _always(arguments: Arguments) -> float:
    return math.inf


ALWAYS = (
    # Two passes: a library's updates, or its sums of squares, lose by what factor the mean exceeds the deviation.
    "var", "std", "var_mean", "_native_batch_norm_legit_functional", "_native_batch_norm_legit",
    "native_batch_norm_backward", "native_layer_norm", "native_layer_norm_backward", "native_group_norm",
    "native_group_norm_backward",
    # Products of significands and sums of exponents: nothing in between can overflow or vanish.
    "prod",
)  # fmt: skip
"""Kinds that are computed in a form of our own whatever their shapes."""
_MEETING = ("embedding_dense_backward", "index_put", "index_add", "scatter_add")
_WINDOWED = ("avg_pool2d", "avg_pool3d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d")
_WEIGHTS: dict[str, Callable[[Arguments], float]] = {
    **dict.fromkeys(("sum", "mean", "cumsum", "logsumexp"), _reduced),
    **dict.fromkeys(("linalg_vector_norm", "norm"), _norm),
    **dict.fromkeys(("mm", "addmm", "mv", "addmv", "dot", "bmm", "baddbmm"), inner_length),
    **dict.fromkeys(("_softmax", "_safe_softmax", "_log_softmax"), _along("self")),
    **dict.fromkeys(("_softmax_backward_data", "_log_softmax_backward_data"), _along("grad_output")),
    "convolution_backward": _convolution_backward,
    **dict.fromkeys(
        ("nll_loss_forward", "nll_loss2d_forward", "mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy"),
        _losses,
    ),
    **{kind: _meeting(kind) for kind in _MEETING},
    **{kind: _windows(kind) for kind in _WINDOWED},
    **dict.fromkeys(ALWAYS, _always),
    # In evaluation there is nothing to sum.
    **dict.fromkeys(("_native_batch_norm_legit_functional", "_native_batch_norm_legit"), _batch_norm),
}


def may_have_own_form(kind: str) -> bool:
    """Return whether some uses of an operator kind are computed in a form of our own."""
    return kind in _WEIGHTS


def has_own_form(kind: str, arguments: Arguments) -> bool:
    """Return whether a use of a rounded operator is computed in a form of our own.

    Args:
        kind: The operator kind, for instance ``mm``.
        arguments: Its arguments by name, with defaults.
    """
    weigh = _WEIGHTS.get(kind)
    return weigh is not None and weigh(arguments) > LONGEST
