"""Scales of losses. Binary cross entropy is measured by its logarithms: its probabilities may be tiny."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from counterfoil_core.arithmetic.grid.magnitude import largest, largest_of_new
from counterfoil_core.arithmetic.grid.scales.shared import Arguments, Outputs, Rule, Scale, add, floating

_LARGEST_LOGARITHM = 100.0
"""Binary cross entropy cuts its logarithms off here."""


def _loss(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Losses: the size of one term (a mean) or of all terms together (a sum, or a result without reduction)."""
    out = outputs[0]
    assert out is not None
    terms = max(floating(arguments), key=lambda x: x.numel())
    top = add(*(largest(x) for x in floating(arguments)))
    top = add(top, top * top, largest(out))  # squared and logarithmic losses
    total: Scale = top * float(terms.shape[0] if terms.dim() else 1) if arguments.get("reduction") == 2 else top
    # nll_loss also returns the total weight: a sum of weights that are not negative, so its terms are no larger.
    return [total, *(largest(weight) for weight in outputs[1:])]


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


RULES: Mapping[str, Rule] = {
    "loss": _loss,
    "nll_loss": _nll_loss,
    "binary_cross_entropy": _binary_cross_entropy,
}
