"""Learning rates from the schedulers of torch, listed when the order is written."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import pytest
import torch
from torch.optim import Optimizer, lr_scheduler as schedulers

from counterfoil.base.errors import DataError
from counterfoil.training.schedules import cosine, from_scheduler

STEPS = 12
FACTORIES: dict[str, Callable[[Optimizer], schedulers.LRScheduler]] = {
    "ConstantLR": lambda o: schedulers.ConstantLR(o, 0.5, 4),
    "StepLR": lambda o: schedulers.StepLR(o, 5, 0.1),
    "MultiStepLR": lambda o: schedulers.MultiStepLR(o, [3, 7], 0.1),
    "LambdaLR": lambda o: schedulers.LambdaLR(o, lambda step: 1.0 / (1 + step)),
    "ExponentialLR": lambda o: schedulers.ExponentialLR(o, 0.9),
    "CosineAnnealingLR": lambda o: schedulers.CosineAnnealingLR(o, STEPS),
    "CosineAnnealingWarmRestarts": lambda o: schedulers.CosineAnnealingWarmRestarts(o, 4),
    "CyclicLR": lambda o: schedulers.CyclicLR(o, 0.01, 0.1, 3, cycle_momentum=False),
    "OneCycleLR": lambda o: schedulers.OneCycleLR(o, 0.3, STEPS, cycle_momentum=False),
    "SequentialLR": lambda o: schedulers.SequentialLR(
        o, [schedulers.LinearLR(o, 0.1, total_iters=4), schedulers.PolynomialLR(o, STEPS - 4)], [4]
    ),
}


@pytest.mark.parametrize("name", FACTORIES)
def test_rates_are_those_of_a_training_loop(name):
    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scheduler = FACTORIES[name](optimizer)
    expected = []
    for _ in range(STEPS):
        expected.append(optimizer.param_groups[0]["lr"])
        weight.sum().backward()
        optimizer.step()
        scheduler.step()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*lr_scheduler.step.*")
        rates = from_scheduler(0.1, STEPS, FACTORIES[name])
    assert rates == expected
    assert len(set(rates)) > 1


def test_cosine_is_torchs():
    assert from_scheduler(0.1, STEPS, FACTORIES["CosineAnnealingLR"]) == pytest.approx(cosine(0.1, STEPS))


class Frozen:
    """No scheduler, but has a step."""

    def step(self) -> None:
        raise AssertionError


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        (schedulers.ReduceLROnPlateau, "ReduceLROnPlateau sets the learning rate from the losses of the training"),
        (lambda o: schedulers.OneCycleLR(o, 0.3, STEPS), "moves the momentum"),
        (lambda o: schedulers.OneCycleLR(o, 0.3, 5, cycle_momentum=False), "OneCycleLR fails after step 6 of 12"),
        (lambda o: schedulers.LambdaLR(o, lambda step: 1.0 - step), "learning rate of step 3 is -0.1"),
        (lambda o: schedulers.LambdaLR(o, lambda step: math.inf if step == 4 else 1.0), "learning rate of step 5 is"),
        (lambda o: schedulers.LambdaLR(o, lambda step: 1 / (3 - step)), "fails after step 3 of 12: ZeroDivisionError"),
        (lambda o: schedulers.StepLR(o), "cannot be made: TypeError"),
        (lambda o: None, "returned NoneType"),
        (lambda o: Frozen(), "returned Frozen"),
    ],
)
def test_what_is_refused(factory, words):
    with pytest.raises(DataError) as caught:
        from_scheduler(0.1, STEPS, factory)
    assert words in caught.value.sentence
    assert caught.value.remedy or "learning rate of step" in words
