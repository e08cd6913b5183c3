"""A step that hangs on one moment is refused: on random numbers that torch does not draw, on a clock, on a count."""

from __future__ import annotations

import os
import random
import secrets
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from counterfoil.program.capture import capture
from counterfoil.program.update import Sgd
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.operators.node import TensorType

pytestmark = pytest.mark.every_moment

BATCH = {"x": TensorType("float32", (4, 3)), "y": TensorType("int64", (4,))}
Factor = Callable[[], Any]


def objective(factor: Factor) -> Callable[..., Any]:
    def loss(model: nn.Module, batch: Any) -> Any:
        return functional.cross_entropy(model(batch["x"]), batch["y"]) * factor()  # the line

    return loss


def captured(factor: Factor) -> Any:
    return capture(nn.Linear(3, 2), objective(factor), Sgd(), BATCH)


def line_of(text: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, start=1) if line.endswith(text))


GENERATOR = np.random.default_rng(0)
COUNTED: list[int] = []


def mixed_up() -> float:
    share = np.random.beta(0.4, 0.4)  # drawn by numpy
    return float(share)


def skipped() -> float:
    return 1.0 if random.random() < 2 else 0.0  # drawn by Python


def drawn_apart() -> float:
    return GENERATOR.random()


def counted() -> float:
    COUNTED.append(1)
    return float(len(COUNTED))


class TestRefused:
    def test_numpy(self) -> None:
        with pytest.raises(ProgramError, match="draws random numbers from numpy's generator") as refused:
            captured(mixed_up)
        assert f"test_steadiness.py, line {line_of('# drawn by numpy')})" in str(refused.value)

    def test_python_although_it_made_no_difference(self) -> None:
        with pytest.raises(ProgramError, match="draws random numbers from Python's generator") as refused:
            captured(skipped)
        assert f"test_steadiness.py, line {line_of('# drawn by Python')})" in str(refused.value)

    @pytest.mark.parametrize(
        "factor",
        [
            drawn_apart,
            counted,
            time.time,
            time.perf_counter,
            lambda: os.urandom(1)[0] + os.urandom(1)[0] / 256 + 1,
            lambda: uuid.uuid4().int % 1_000_003,
            lambda: secrets.randbelow(1_000_003),
            lambda: random.SystemRandom().random(),
        ],
        ids=["generator", "counter", "clock", "timer", "urandom", "uuid", "secrets", "system's generator"],
    )
    def test_what_differs_the_second_time(self, factor: Factor) -> None:
        with pytest.raises(ProgramError, match="another one when it is captured a second time") as refused:
            captured(factor)
        assert f"test_steadiness.py, line {line_of('# the line')})" in str(refused.value)

    def test_a_day_that_begins_between_two_steps(self) -> None:
        with pytest.raises(ProgramError, match="captured a second time"):
            captured(lambda: 1.0 + int(time.time() // 86_400))

    def test_a_constant_tensor(self) -> None:
        with pytest.raises(ProgramError, match="captured a second time"):
            captured(lambda: torch.from_numpy(GENERATOR.random(2)).float().sum())


class Counting(nn.Linear):
    """Warms up over its first calls."""

    def __init__(self) -> None:
        super().__init__(3, 2)
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return super().forward(x) * min(1.0, self.calls / 10)


def test_a_module_that_counts_its_calls() -> None:
    model = Counting()
    with pytest.raises(ProgramError, match="captured a second time"):
        capture(model, objective(lambda: 1.0), Sgd(), BATCH)
    assert model.calls == 0


class TestTaken:
    def test_random_numbers_of_torch(self) -> None:
        assert captured(lambda: torch.rand(()) + 1).program

    def test_generators_go_on_as_if_nothing_had_happened(self) -> None:
        model = nn.Linear(3, 2)
        before = random.getstate(), np.random.get_state()[2], torch.get_rng_state()
        clock = time.time
        capture(model, objective(lambda: torch.rand(()) + 1), Sgd(), BATCH)
        assert random.getstate() == before[0]
        assert np.random.get_state()[2] == before[1]
        assert torch.equal(torch.get_rng_state(), before[2])
        assert time.time is clock
