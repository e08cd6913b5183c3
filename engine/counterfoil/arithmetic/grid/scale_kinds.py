"""Scale rules of single operator kinds, in the place of their group's (:mod:`counterfoil.arithmetic.grid.scale`).

* Gradients of elementwise functions are measured by the gradient that arrives. The usual rule adds the size of the
  function's argument, which a gradient can be far below: with 31 bits between S and the finest quantum that does little
  harm, with 13 the gradient would be rounded to zero.
* gelu and logit err by an ulp of 1 that is multiplied by the argument, or stands in a logarithm: where every argument
  is below -3, or close to a half, the largest result says nothing about that.
* Binary cross entropy is measured by its logarithms, not by probabilities that may be tiny.
* Gradients of padding and folding: the same operator over magnitudes, so exactly the terms that meet in an element.

docs/numerics.md derives each.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from counterfoil.arithmetic.grid import scale
from counterfoil.arithmetic.grid.magnitude import largest, largest_of_new, largest_product
from counterfoil.arithmetic.grid.scale import Arguments, Outputs, Rule, Scale
from counterfoil.operators.catalogue import Operator

_TANH_SLOPE = 0.8
"""sqrt(2 / pi) of GELU's tanh form, rounded up."""
_TANH_CUBIC = 3 * 0.044715
_LARGEST_LOGARITHM = 100.0
"""Binary cross entropy cuts its logarithms off here."""


def rule_for(entry: Operator) -> Rule:
    """Return the scale rule of an operator."""
    return _BY_KIND.get(entry.kind) or scale.rule(entry.scale)


def _gradient(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients of functions whose slope, and every term of it, is about 1 at most: the gradient that arrives."""
    return [largest(arguments["grad_output"]) + largest_of_new(outputs[0])]


def _gate_gradient(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradients of silu and mish: an error that is an ulp of 1 is multiplied by x."""
    return [largest_product(arguments["grad_output"], arguments["self"], 1.0, 0.0)]


def _glu_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradient of glu: as of a gate, with the other half of the argument in the place of x."""
    return [largest(arguments["grad_output"]) * (1.0 + largest(arguments["self"]))]


def _gelu_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradient of GELU; in the tanh form 1 - tanh^2 errs by an ulp of 1, and is multiplied by a cubic of x."""
    if arguments["approximate"] != "tanh":
        return _gradient(arguments, outputs)
    return [largest_product(arguments["grad_output"], arguments["self"], 0.5 * _TANH_SLOPE, _TANH_CUBIC)]


def _elu_backward(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Gradient of ELU: the result less its limit is multiplied by the coefficient."""
    coefficient = abs(arguments["alpha"] * arguments["scale"] * arguments["input_scale"])
    return [largest(arguments["grad_output"]) * max(1.0, coefficient) + largest_of_new(outputs[0])]


def _nll_loss(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Negative log likelihood: a weighted mean is no larger than its terms; a sum has as many as there are targets."""
    log_likelihood = largest(arguments["self"])
    if arguments["reduction"] == 2:
        weight = 1.0 if arguments["weight"] is None else largest(arguments["weight"])
        log_likelihood = log_likelihood * weight * float(arguments["target"].numel())
    elif arguments["reduction"] == 0:
        log_likelihood = largest_of_new(outputs[0])
    return [log_likelihood, largest_of_new(outputs[1])]


def _binary_cross_entropy(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Binary cross entropy: weights of target and of its complement, times the larger one of both logarithms."""
    x = arguments["self"].double()
    if not x.numel():
        return [0.0]
    logarithm = torch.maximum(x.log().abs(), torch.log1p(-x).abs()).amax().clamp(1.0, _LARGEST_LOGARITHM)
    weight = 1.0 if arguments["weight"] is None else largest(arguments["weight"])
    terms = float(x.numel()) if arguments["reduction"] == 2 else 1.0
    return [logarithm * (1.0 + 2.0 * largest(arguments["target"])) * weight * terms]


def _over_magnitudes(name: str, gradient: str) -> Rule:
    """Sums of copies of a gradient: the same operator over magnitudes."""

    def magnitudes(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
        function = getattr(torch.ops.aten, name).default
        given = {**arguments, gradient: arguments[gradient].abs()}
        return [largest(function(*(given[argument.name] for argument in function._schema.arguments)))]

    return magnitudes


_RELATIVE = scale.rule("output")
"""Products and quotients alone, and correctly rounded differences: an error relative to the result."""
_BY_KIND: dict[str, Rule] = {
    "tanh_backward": _gradient,
    "sigmoid_backward": _RELATIVE,
    "logit_backward": _RELATIVE,
    "gelu_backward": _gelu_backward,
    "silu_backward": _gate_gradient,
    "mish_backward": _gate_gradient,
    "elu_backward": _elu_backward,
    "softplus_backward": _gradient,
    "glu": _RELATIVE,
    "glu_backward": _glu_backward,
    "_prelu_kernel": _RELATIVE,
    "_prelu_kernel_backward": _RELATIVE,
    "mse_loss_backward": _RELATIVE,
    "smooth_l1_loss_backward": _RELATIVE,
    "huber_loss_backward": _RELATIVE,
    "nll_loss_backward": _RELATIVE,
    "nll_loss2d_backward": _RELATIVE,
    "nll_loss_forward": _nll_loss,
    "nll_loss2d_forward": _nll_loss,
    "gelu": scale.rule("inputs"),
    "logit": scale.rule("inputs"),
    "binary_cross_entropy": _binary_cross_entropy,
    "binary_cross_entropy_backward": _RELATIVE,
    **{
        f"{sort}_pad{axes}d_backward": _over_magnitudes(f"{sort}_pad{axes}d_backward", "grad_output")
        for sort in ("reflection", "replication")
        for axes in (1, 2)
    },
    "col2im": _over_magnitudes("col2im", "self"),
    "unfold_backward": _over_magnitudes("unfold_backward", "grad_in"),
}
