"""An honest run whose model decides by numbers that libraries compute differently on every machine.

Each model below ended in a dispute, or could have, when the library's own result was taken for the exact one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks.imitations import IMITATIONS
from torch import Tensor, nn
from torch.nn import functional

from counterfoil_core.signing.keys import SigningKey
from support.expectations import verified
from support.jobs import draw, own_order, record_job

STEPS = 99_991


def thermometer(x: Tensor) -> Tensor:
    """Which thresholds lie below a number, and how many of them fall short of the integer that they stand for."""
    thresholds = torch.arange(0, 1, 1 / STEPS)
    short = ((thresholds * STEPS).floor() < torch.arange(STEPS)).float().mean()
    return (x[:, :4] > torch.arange(0, 1, 0.25)).float() + x[:, :4] * short


def cut_off(x: Tensor) -> Tensor:
    """Quotients without their fraction, and what divisions leave."""
    whole = (x * 64).round()
    return torch.div(whole, 49, rounding_mode="trunc") + torch.fmod(whole, 7) * 0.1 + torch.remainder(whole, -5) * 0.1


def interpolated(x: Tensor) -> Tensor:
    """Neighbours whose places are fractions."""
    image = x.reshape(-1, 1, 2, 4)
    return (
        functional.interpolate(image, size=(5, 7), mode="bilinear").flatten(1)[:, :8]
        + functional.interpolate(image, scale_factor=1.7).flatten(1)[:, :8]
    )


def bent(x: Tensor) -> Tensor:
    """A softplus on both sides of its threshold."""
    return functional.softplus(x * 30, beta=0.7, threshold=10)


def cast(x: Tensor) -> Tensor:
    """Conversions beyond the ends of an integer's range."""
    return x * ((x * 300).to(torch.uint8).float() * 0.01 + (x * 1e20).to(torch.int64).float() * 1e-19)


def signed_zeros(x: Tensor) -> Tensor:
    """The angle of a zero depends on its sign."""
    zero = torch.maximum(x.relu() * -1.0, x * 0.0).detach()
    return x * torch.atan2(zero, x.detach().abs() * -1.0 - 1.0)


def tabled(x: Tensor) -> Tensor:
    """A table that is no buffer."""
    return x * torch.tensor([1.0, 2.0, 0.5, 1.0, 2.0, 4.0, 1.0, 3.0])


class Deciding(nn.Module):
    def __init__(self, decide: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 1)
        self.decide = decide

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        decided = self.decide(y)
        return self.last(
            torch.cat([y, decided], 1)[:, : y.shape[1]] + functional.pad(decided, (0, 8 - decided.shape[1]))
        )


MODELS = [thermometer, cut_off, interpolated, bent, cast, signed_zeros, tabled]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("decide", MODELS, ids=lambda function: function.__name__)
def test_nobody_is_accused(decide: Callable[[Tensor], Tensor], tmp_path: Path, trainer_key: SigningKey) -> None:
    draft = own_order(
        Deciding(decide), lambda model, batch: model(batch["x"]).square().mean(), {"x": draw((32, 8), 1)}, steps=3
    )
    job = record_job(tmp_path, draft, trainer_key)
    for machine in ({"threads": 1}, {"threads": 3}, {"perturbation": IMITATIONS[-1]}):
        verified(job.run, job.order, **machine)


def test_control_the_library_itself_counts_as_threads_decide() -> None:
    before = torch.get_num_threads()
    try:
        counted = []
        for threads in (1, 3):
            torch.set_num_threads(threads)
            counted.append(torch.arange(0, 1, 1 / STEPS, dtype=torch.float64).numpy())
    finally:
        torch.set_num_threads(before)
    assert not np.array_equal(*counted)
    assert not np.array_equal(*(np.floor(numbers * STEPS) for numbers in counted))
