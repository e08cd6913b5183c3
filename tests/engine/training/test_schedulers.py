"""Learning rates from the schedulers of torch, listed when the order is written."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.optim import Optimizer, lr_scheduler as schedulers

from counterfoil.cli.order_options import rates_in_words
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.schedules import Pace, cosine, from_scheduler
from counterfoil_core.base.errors import DataError

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
        rates = from_scheduler(0.1, Pace(range(STEPS)), FACTORIES[name])
    assert rates == expected
    assert len(set(rates)) > 1


def test_cosine_is_torchs():
    assert from_scheduler(0.1, Pace(range(STEPS)), FACTORIES["CosineAnnealingLR"]) == pytest.approx(cosine(0.1, STEPS))


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
        from_scheduler(0.1, Pace(range(STEPS)), factory)
    assert words in caught.value.sentence
    assert caught.value.remedy or "learning rate of step" in words


EPOCH = 4
"""Steps."""


def by_epoch(every: Any, factory: Any = FACTORIES["StepLR"], *, rows: int = 2 * EPOCH) -> list[float]:
    pace = Pace.of(every, rows // 2, range(STEPS))
    return from_scheduler(0.1, pace, factory)


class TestEpochs:
    def test_rates_are_those_of_a_loop_over_epochs(self) -> None:
        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=1.0)
        scheduler = schedulers.StepLR(optimizer, 1, 0.7)
        expected = []
        for _ in range(STEPS // EPOCH):
            for _ in range(EPOCH):
                expected.append(optimizer.param_groups[0]["lr"])
                optimizer.step()
            scheduler.step()
        pace = Pace.of("epoch", EPOCH, range(STEPS))
        assert from_scheduler(1.0, pace, lambda o: schedulers.StepLR(o, 1, 0.7)) == expected
        assert len(set(expected)) == STEPS // EPOCH

    def test_whoever_has_turns_counts_the_epochs_of_the_data(self) -> None:
        own = range(1, STEPS, 2)
        assert Pace.of("epoch", EPOCH, own).moves == [0, 0, 1, 1, 2, 2]

    @pytest.mark.parametrize(
        ("factory", "words"),
        [
            (lambda o: schedulers.StepLR(o, 1, 0.7), "StepLR has step_size 1"),
            (lambda o: schedulers.MultiStepLR(o, [1, 2], 0.7), r"MultiStepLR has milestones \[1, 2\]"),
            (lambda o: schedulers.CosineAnnealingLR(o, 3), "CosineAnnealingLR has T_max 3"),
            (lambda o: schedulers.PolynomialLR(o, 3), "PolynomialLR has total_iters 3"),
            (
                lambda o: schedulers.ExponentialLR(o, 0.01),
                "ExponentialLR brings the learning rate to 1e-09 in one epoch",
            ),
            (lambda o: schedulers.ChainedScheduler([schedulers.StepLR(o, 2, 0.7)]), "StepLR has step_size 2"),
        ],
    )
    def test_what_suggests_epochs_is_asked_about(self, factory: Any, words: str) -> None:
        with pytest.raises(DataError, match=words) as asked:
            by_epoch(None, factory)
        assert "scheduler_every='epoch'" in asked.value.remedy
        assert by_epoch("step", factory) != by_epoch("epoch", factory)

    @pytest.mark.parametrize("name", ["CosineAnnealingLR", "StepLR", "LambdaLR", "OneCycleLR", "CyclicLR"])
    def test_what_counts_steps_is_not(self, name: str) -> None:
        assert by_epoch(None, FACTORIES[name]) == by_epoch("step", FACTORIES[name])

    def test_a_single_epoch_leaves_no_question(self) -> None:
        once = lambda o: schedulers.StepLR(o, 1, 0.7)  # noqa: E731
        assert by_epoch(None, once, rows=2 * STEPS) == by_epoch("step", once, rows=2 * STEPS)

    def test_a_schedule_of_ones_own_has_no_epochs(self) -> None:
        with pytest.raises(DataError, match="does not say where one ends"):
            Pace.of("epoch", None, range(STEPS))

    def test_what_is_neither(self) -> None:
        with pytest.raises(DataError, match="scheduler_every is 'batch'"):
            Pace.of("batch", EPOCH, range(STEPS))  # type: ignore[arg-type]


class TestJobs:
    def ordered(self, **given: Any) -> Any:
        model = torch.nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        rows = torch.utils.data.TensorDataset(torch.randn(8, 3), torch.arange(8) % 2)
        loader = torch.utils.data.DataLoader(rows, batch_size=2)
        return order_custom(
            CustomJob(
                "epochs",
                model,
                lambda model, batch: torch.nn.functional.cross_entropy(model(batch[0]), batch[1]),
                optimizer,
                loader,
                steps=STEPS,
                scheduler=schedulers.StepLR(optimizer, 1, 0.7),
                **given,
            )
        )

    def test_a_loader_has_epochs(self) -> None:
        draft = self.ordered(scheduler_every="epoch")
        assert draft.rates[""] == pytest.approx([1.0] * 4 + [0.7] * 4 + [0.49] * 4)

    def test_and_is_asked_about(self) -> None:
        with pytest.raises(DataError, match="an epoch has 4 steps"):
            self.ordered()


def test_learning_rates_are_told() -> None:
    assert rates_in_words([0.1, 0.1]) == "Learning rate: 0.1 in every step"
    words = rates_in_words([0.0, 0.5, 1.0, 0.25], "d")
    assert words == "Learning rate of d: first 0, highest 1 at step 3, last 0.25  ▁▅█▃"
    assert len(rates_in_words([float(step) for step in range(1000)]).rpartition(" ")[2]) == 32
