"""What is known of losses: error bounds, types, classes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from counterfoil_core.operators import indices, sums
from counterfoil_core.operators.bounds import FUNCTION, constant, sum_terms
from counterfoil_core.operators.facts import Bound, Trait, Use, rounded_operators
from counterfoil_core.operators.shaperules import (
    Arguments,
    Results,
    ShapeRule,
    Typed,
    alike,
    fits,
    floats,
    require,
    tensor,
)


def loss(use: Use) -> Sequence[Bound]:
    """Losses: one rounding for each addition, and those of a term."""
    lengths = sums.loss_terms(use.arguments)
    count = sum_terms(use, lengths)
    if use.kind.startswith("nll"):
        # Both the sum of the terms and that of their weights.
        return [Bound(2 * count + FUNCTION + 3), Bound(count)]
    of_a_term = 2 * FUNCTION + 16 if use.kind == "binary_cross_entropy" else 8
    # The scale of a sum counts the terms along the first axis only.
    rows = max(lengths[0] if lengths else 1, 1)
    factor = max(1.0, math.prod(lengths) / rows) if use.arguments["reduction"] == 2 else 1.0
    return [Bound(count + of_a_term + FUNCTION, 1.0 if use.kind == "binary_cross_entropy" else factor)]


def longest(use: Use) -> float:
    """Return how many terms are reduced."""
    return math.prod(sums.loss_terms(use.arguments)) if use.arguments["reduction"] else 0


def _loss(arguments: Arguments) -> Results:
    x, _ = alike(arguments, "self", "target")
    fits(arguments.get("weight"), x)
    require(arguments.get("delta", 1.0) > 0 and arguments.get("beta", 1.0) >= 0)
    return [Typed(x.dtype, () if arguments["reduction"] else x.shape)]


def _loss_backward(arguments: Arguments) -> Results:
    x, _ = alike(arguments, "self", "target")
    require([arguments["grad_output"]] == _loss(arguments))
    return [x]


def _labelled(rank: int) -> ShapeRule:
    def rule(arguments: Arguments) -> Results:
        (x,) = floats(arguments, "self")
        require(x.rank == rank)
        places = (x.shape[0], *x.shape[2:])
        require(tensor(arguments, "target") == Typed("int64", places))
        fits(arguments["weight"], Typed(x.dtype, (x.shape[1],)))
        single = Typed(x.dtype, ())
        return [single if arguments["reduction"] else Typed(x.dtype, places), single]

    return rule


def _labelled_backward(rank: int) -> ShapeRule:
    def rule(arguments: Arguments) -> Results:
        require([arguments["grad_output"], arguments["total_weight"]] == _labelled(rank)(arguments))
        return floats(arguments, "self")

    return rule


_WITH_TARGET = ("mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy")
RULES: dict[str, ShapeRule] = {
    **{f"aten.{kind}.default": _loss for kind in _WITH_TARGET},
    **{f"aten.{kind}_backward.default": _loss_backward for kind in _WITH_TARGET},
    "aten.nll_loss_forward.default": _labelled(2),
    "aten.nll_loss2d_forward.default": _labelled(4),
    "aten.nll_loss_backward.default": _labelled_backward(2),
    "aten.nll_loss2d_backward.default": _labelled_backward(4),
}
"""By operator."""


FACTS = (
    *rounded_operators(
        "output", constant(8), "mse_loss_backward.default smooth_l1_loss_backward.default huber_loss_backward.default"
    ),
    *rounded_operators("output", constant(8), "nll_loss_backward.default", indices=indices.of_labels),
    *rounded_operators(
        "output", constant(8), "nll_loss2d_backward.default", Trait.CONTIGUOUS, indices=indices.of_labels
    ),
    *rounded_operators("output", constant(FUNCTION + 8), "binary_cross_entropy_backward.default"),
    *rounded_operators("loss", loss, "mse_loss.default smooth_l1_loss.default huber_loss.default", longest=longest),
    *rounded_operators(
        "nll_loss",
        loss,
        "nll_loss_forward.default nll_loss2d_forward.default",
        longest=longest,
        indices=indices.of_labels,
    ),
    *rounded_operators("binary_cross_entropy", loss, "binary_cross_entropy.default", longest=longest),
)
