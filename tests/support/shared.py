"""A small job whose steps shares make, and trainers who lie in one part of one step of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import nn

import counterfoil
from counterfoil.training import combination
from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.compute.interpreter import StepInputs
from counterfoil_core.base.precision import AnyPrecision
from support.jobs import replaced

SHARES, STEPS, LIE = 4, 5, 3
"""The shares of a step, the steps, and the step in which a trainer lies."""


@cache
def shared_order(shares: int | None = SHARES, precision: AnyPrecision | None = None, **settings: Any) -> OrderDraft:
    """Draft an order of a small classifier with batch norm and dropout."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    data = {"x": rng.standard_normal((48, 6)).astype(np.float32), "y": rng.integers(0, 3, 48)}
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.1), nn.ReLU(), nn.Linear(8, 3))
    job = counterfoil.CustomJob(
        "shares",
        model,
        lambda model, batch: nn.functional.cross_entropy(model(batch["x"]), batch["y"]),
        torch.optim.AdamW(model.parameters(), 1e-2),
        data,
        STEPS,
        batch_size=12,
        precision=precision,
        checkpoint_every=2,
        shares=shares,
        **settings,
    )
    return counterfoil.order_custom(job)


Changes = Callable[[StepInputs], StepInputs]


def other_rows(share: int, step: int = LIE) -> Changes:
    """One share is trained on other labels."""
    return counterfoil.LabelFlip(step, "y", 3, share)


def other_draws(inputs: StepInputs) -> StepInputs:
    """Share 1 draws the numbers of another."""
    if inputs.share != 1 or inputs.draws.step != LIE:
        return inputs
    return replace(inputs, draws=replace(inputs.draws, first=0))


def other_gradient(inputs: StepInputs) -> StepInputs:
    """The update takes something else than what the shares gave."""
    if not inputs.combined or inputs.draws.step != LIE:
        return inputs
    return replace(inputs, combined={name: tensor * 0.5 for name, tensor in inputs.combined.items()})


@contextmanager
def other_sum() -> Iterator[None]:
    """At one step something is added to the sum of the shares, and signed."""
    add, calls = combination.exact_sum, [0]

    def changed(*arguments: Any) -> dict[str, torch.Tensor]:
        together = add(*arguments)
        calls[0] += 1
        if calls[0] == LIE:
            name = "gradient:4.weight"
            together[name] = together[name].clone()
            together[name].view(-1)[0] += 0.25
        return together

    with replaced(combination, "exact_sum", changed):
        yield


@contextmanager
def other_exponents() -> Iterator[None]:
    """The shares are added by exponents that are one too large, in every step."""
    found = combination.common_exponents
    with replaced(combination, "common_exponents", lambda given: found(given) + 1):
        yield
