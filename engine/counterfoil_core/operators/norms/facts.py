"""What is known of norms: error bounds, types, classes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from counterfoil_core.operators import sums
from counterfoil_core.operators.bounds import FUNCTION, MOMENTS, always
from counterfoil_core.operators.facts import Bound, Trait, Use, rounded_operators
from counterfoil_core.operators.shaperules import (
    Arguments,
    Results,
    ShapeRule,
    Typed,
    alike,
    fits,
    floats,
    masked_results,
    require,
)


def batch_norm(use: Use) -> Sequence[Bound]:
    """Batch norm: result, mean, reciprocal deviation, running mean, running variance."""
    if not use.own_form:  # in evaluation: what is saved is empty, and running statistics stay as they are
        return [Bound(FUNCTION + 16, 2.0), *[Bound(1)] * 4][: use.outputs]
    n = sums.blocked_terms(sums.channel_lengths(use.shape("input"))) + MOMENTS
    return [Bound(n, 2.0), Bound(n), Bound(n), Bound(n), Bound(n, 4.0)][: use.outputs]


def batch_norm_backward(use: Use) -> Sequence[Bound]:
    """Gradients of batch norm: batch times positions."""
    n = sums.blocked_terms(sums.channel_lengths(use.shape("input")))
    return [Bound(n + MOMENTS + FUNCTION, 2.0), Bound(n + MOMENTS, 1.0), Bound(max(n, 1))]


def layer_norm(use: Use) -> Sequence[Bound]:
    """Layer norm: result, mean, reciprocal deviation; a row is what batch norm's channel is."""
    n = sums.blocked_terms([int(n) for n in use.arguments["normalized_shape"]]) + MOMENTS
    return [Bound(n, 2.0), Bound(n), Bound(n)]


def layer_norm_backward(use: Use) -> Sequence[Bound]:
    """Gradients of layer norm: a row for the input's, all rows for weight and bias."""
    shape = use.shape("input")
    outer = len(shape) - len(use.arguments["normalized_shape"])
    length, rows = sums.blocked_terms(shape[outer:]), sums.blocked_terms(shape[:outer])
    return [Bound(length + MOMENTS + FUNCTION, 2.0), Bound(rows + 8), Bound(max(rows, 1))]


def _group_lengths(use: Use) -> list[int]:
    return [use.arguments["C"] // max(use.arguments["group"], 1), use.arguments["HxW"]]


def group_norm(use: Use) -> Sequence[Bound]:
    """Group norm: as layer norm, a row for each sample and group."""
    n = sums.blocked_terms(_group_lengths(use)) + MOMENTS
    return [Bound(n, 2.0), Bound(n), Bound(n)]


def group_norm_backward(use: Use) -> Sequence[Bound]:
    """Gradients of group norm: a sample's group for the input's, batch and positions for weight and bias."""
    length = sums.blocked_terms(_group_lengths(use))
    rows = sums.blocked_terms([use.arguments["N"], use.arguments["HxW"]])
    return [Bound(length + MOMENTS + FUNCTION, 2.0), Bound(rows + 8), Bound(max(rows, 1))]


def longest_of_batch_norm(use: Use) -> float:
    """Let it be computed in a form of our own in training, as :func:`always` does; in evaluation nothing is summed."""
    return math.inf if use.arguments.get("training", True) else 0.0


def _channels(arguments: Arguments) -> tuple[Typed, Typed]:
    """The input, and a number for each channel of it; what the arguments have of the latter must be of its type."""
    (x,) = floats(arguments, "input")
    require(x.rank >= 2)
    channel = Typed(x.dtype, (x.shape[1],))
    for name in ("weight", "bias", "running_mean", "running_var"):
        fits(arguments.get(name), channel)
    return x, channel


def _batch_norm(arguments: Arguments) -> Results:
    x, channel = _channels(arguments)
    require(arguments["training"] is True)
    return [x, channel, channel]


def _batch_norm_with_statistics(arguments: Arguments) -> Results:
    _, channel = _channels(arguments)
    return [*_batch_norm(arguments), channel, channel]


def _batch_norm_in_evaluation(arguments: Arguments) -> Results:
    x, channel = _channels(arguments)
    nothing = Typed(channel.dtype, (0,))
    return [x, nothing, nothing]


def _batch_norm_backward(arguments: Arguments) -> Results:
    x, channel = _channels(arguments)
    alike(arguments, "grad_out", "input")
    saved = [arguments["save_mean"], arguments["save_invstd"]]
    if arguments["train"]:
        require(saved == [channel, channel])
    else:
        require(None not in (arguments["running_mean"], arguments["running_var"]))
        require(all(item in (None, Typed(x.dtype, (0,))) for item in saved))
    return masked_results([x, channel, channel], arguments["output_mask"])


def _rows(arguments: Arguments) -> tuple[Typed, Typed, Typed]:
    """The input, what each row has a number of, and a number for each row."""
    (x,) = floats(arguments, "input")
    inner = tuple(arguments["normalized_shape"])
    require(0 < len(inner) <= x.rank and x.shape[x.rank - len(inner) :] == inner)
    row = Typed(x.dtype, inner)
    fits(arguments["weight"], row)
    fits(arguments["bias"], row)
    return x, row, Typed(x.dtype, (*x.shape[: x.rank - len(inner)], *(1 for _ in inner)))


def _layer_norm(arguments: Arguments) -> Results:
    x, _, number = _rows(arguments)
    return [x, number, number]


def _layer_norm_backward(arguments: Arguments) -> Results:
    x, row, number = _rows(arguments)
    alike(arguments, "grad_out", "input")
    require(arguments["mean"] == number and arguments["rstd"] == number)
    # Without weight or bias there is nothing whose gradient could be asked for.
    require(arguments["weight"] is not None or not arguments["output_mask"][1])
    require(arguments["bias"] is not None or not arguments["output_mask"][2])
    return masked_results([x, row, row], arguments["output_mask"])


def _groups(arguments: Arguments) -> tuple[Typed, Typed, Typed]:
    """The input, a number for each channel, and one for each group of a sample."""
    (x,) = floats(arguments, "input")
    count, group = arguments["C"], arguments["group"]
    require(x.rank >= 2 and x.shape[:2] == (arguments["N"], count) and math.prod(x.shape[2:]) == arguments["HxW"])
    require(count % group == 0)
    channel = Typed(x.dtype, (count,))
    fits(arguments["weight"], channel)
    fits(arguments.get("bias"), channel)
    return x, channel, Typed(x.dtype, (x.shape[0], group))


def _group_norm(arguments: Arguments) -> Results:
    x, _, number = _groups(arguments)
    return [x, number, number]


def _group_norm_backward(arguments: Arguments) -> Results:
    x, channel, number = _groups(arguments)
    alike(arguments, "grad_out", "input")
    require(arguments["mean"] == number and arguments["rstd"] == number)
    return masked_results([x, channel, channel], arguments["output_mask"])


RULES: dict[str, ShapeRule] = {
    "aten._native_batch_norm_legit.no_stats": _batch_norm,
    "aten._native_batch_norm_legit_functional.default": _batch_norm_with_statistics,
    "aten._native_batch_norm_legit_no_training.default": _batch_norm_in_evaluation,
    "aten.native_batch_norm_backward.default": _batch_norm_backward,
    "aten.native_layer_norm.default": _layer_norm,
    "aten.native_layer_norm_backward.default": _layer_norm_backward,
    "aten.native_group_norm.default": _group_norm,
    "aten.native_group_norm_backward.default": _group_norm_backward,
}
"""By operator."""


FACTS = (
    *rounded_operators(
        "batch_norm",
        batch_norm,
        "_native_batch_norm_legit_functional.default _native_batch_norm_legit.no_stats",
        longest=longest_of_batch_norm,
    ),
    *rounded_operators("batch_norm", batch_norm, "_native_batch_norm_legit_no_training.default"),
    *rounded_operators(
        "batch_norm_backward", batch_norm_backward, "native_batch_norm_backward.default", longest=always
    ),
    *rounded_operators("layer_norm", layer_norm, "native_layer_norm.default", longest=always),
    *rounded_operators(
        "layer_norm_backward",
        layer_norm_backward,
        "native_layer_norm_backward.default",
        Trait.CONTIGUOUS,
        longest=always,
    ),
    *rounded_operators("group_norm", group_norm, "native_group_norm.default", Trait.CONTIGUOUS, longest=always),
    *rounded_operators(
        "group_norm_backward",
        group_norm_backward,
        "native_group_norm_backward.default",
        Trait.CONTIGUOUS,
        longest=always,
    ),
)
