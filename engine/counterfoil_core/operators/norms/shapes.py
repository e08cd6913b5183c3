"""Which type the results have: batch, layer and group norm, and their gradients."""

from __future__ import annotations

import math

from counterfoil_core.operators.shaping import (
    Arguments,
    Results,
    ShapeRule,
    Typed,
    alike,
    fits,
    floats,
    masked,
    require,
)


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
    return masked([x, channel, channel], arguments["output_mask"])


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
    return masked([x, row, row], arguments["output_mask"])


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
    return masked([x, channel, channel], arguments["output_mask"])


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
