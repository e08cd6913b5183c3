"""Losses: the library's terms, and their sum or mean in blocks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.forms.pieces import Form, Run, mean_of, total
from counterfoil_core.operators.sums import Arguments


def _reduced_loss(run: Run, terms: Tensor, a: Arguments) -> Tensor:
    axes = list(range(terms.dim()))
    return total(run, terms, axes) if a["reduction"] == 2 else mean_of(run, terms, axes, keepdim=False)


def _loss(operator: str, *settings: str) -> Form:
    """Losses of one term for each element: the library's terms, and their sum or mean in blocks."""

    def form(run: Run, a: Arguments) -> Any:
        names = ("weight",) if operator == "binary_cross_entropy" else ()
        given = [a[name] for name in ("self", "target", *names)]
        terms = run(f"aten.{operator}.default", *given, 0, *(a[name] for name in settings))
        return _reduced_loss(run, terms, a)

    return form


def _nll_loss(operator: str) -> Form:
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
    "nll_loss_forward": _nll_loss("nll_loss_forward"),
    "nll_loss2d_forward": _nll_loss("nll_loss2d_forward"),
    "mse_loss": _loss("mse_loss"),
    "smooth_l1_loss": _loss("smooth_l1_loss", "beta"),
    "huber_loss": _loss("huber_loss", "delta"),
    "binary_cross_entropy": _loss("binary_cross_entropy"),
}
"""Forms by operator kind."""
