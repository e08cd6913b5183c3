"""Losses and their gradients: scales, and forms with the library's terms in blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.magnitude import largest, largest_of_new, top_of
from counterfoil_core.arithmetic.families.parts import (
    Form,
    Outputs,
    Run,
    Scale,
    ScaleRule,
    add,
    floating_tensors,
    mean_of,
    total,
)
from counterfoil_core.operators.sums import Arguments

# Scales of losses. Binary cross entropy is measured by its logarithms: its probabilities may be tiny.

_LARGEST_LOGARITHM = 100.0
"""Binary cross entropy cuts its logarithms off here."""


def _loss_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
    """Losses: the size of one term (a mean) or of all terms together (a sum, or a result without reduction)."""
    out = outputs[0]
    assert out is not None
    terms = max(floating_tensors(arguments), key=lambda x: x.numel())
    top = add(*(largest(x) for x in floating_tensors(arguments)))
    top = add(top, top * top, largest(out))  # squared and logarithmic losses
    total: Scale = top * float(terms.shape[0] if terms.dim() else 1) if arguments.get("reduction") == 2 else top
    # nll_loss also returns the total weight: a sum of weights that are not negative, so its terms are no larger.
    return [total, *(largest(weight) for weight in outputs[1:])]


def _nll_loss_scale(arguments: Arguments, outputs: Outputs) -> Sequence[Scale]:
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
    logarithm = top_of(torch.maximum(x.log().abs(), torch.log1p(-x).abs()).amax().clamp(1.0, _LARGEST_LOGARITHM))
    weight = 1.0 if arguments["weight"] is None else largest(arguments["weight"])
    terms = float(x.numel()) if arguments["reduction"] == 2 else 1.0
    return [logarithm * (1.0 + 2.0 * largest(arguments["target"])) * weight * terms]


SCALES: Mapping[str, ScaleRule] = {
    "loss": _loss_scale,
    "nll_loss": _nll_loss_scale,
    "binary_cross_entropy": _binary_cross_entropy,
}


def _reduced_loss(run: Run, terms: Tensor, a: Arguments) -> Tensor:
    axes = list(range(terms.dim()))
    return total(run, terms, axes) if a["reduction"] == 2 else mean_of(run, terms, axes, keepdim=False)


def _loss_form(operator: str, *settings: str) -> Form:
    """Losses of one term for each element: the library's terms, and their sum or mean in blocks."""

    def form(run: Run, a: Arguments) -> Any:
        names = ("weight",) if operator == "binary_cross_entropy" else ()
        given = [a[name] for name in ("self", "target", *names)]
        terms = run(f"aten.{operator}.default", *given, 0, *(a[name] for name in settings))
        return _reduced_loss(run, terms, a)

    return form


def _nll_loss_form(operator: str) -> Form:
    """Negative log likelihood: a term and a weight for each target that is not ignored."""

    def form(run: Run, a: Arguments) -> Any:
        target, weight, ignored = a["target"], a["weight"], a["ignore_index"]
        terms, _ = run(f"aten.{operator}.default", a["self"], target, weight, 0, ignored)
        counts = target != ignored
        if weight is None:
            weights = counts.to(terms.dtype)
        else:
            weights = torch.where(counts, weight[torch.where(counts, target, 0)], 0.0)
        axes = list(range(terms.dim()))
        loss, weighed = total(run, terms, axes), total(run, weights, axes)
        return (loss if a["reduction"] == 2 else run("aten.div.Tensor", loss, weighed)), weighed

    return form


FORMS: dict[str, Form] = {
    "nll_loss_forward": _nll_loss_form("nll_loss_forward"),
    "nll_loss2d_forward": _nll_loss_form("nll_loss2d_forward"),
    "mse_loss": _loss_form("mse_loss"),
    "smooth_l1_loss": _loss_form("smooth_l1_loss", "beta"),
    "huber_loss": _loss_form("huber_loss", "delta"),
    "binary_cross_entropy": _loss_form("binary_cross_entropy"),
}
"""Forms by operator kind."""
