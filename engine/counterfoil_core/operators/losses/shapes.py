"""Which type the results have: losses and their gradients."""

from __future__ import annotations

from counterfoil_core.operators.shaping import (
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
