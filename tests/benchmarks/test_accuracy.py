"""The benchmark of accuracy compares like with like: only the arithmetic differs between the two trainings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from benchmarks.accuracy import Task, digits_task, drawing, gpt_task, in_float32, on_the_grid, page, rows_of

from counterfoil.execution.devices import set_determinism
from counterfoil.program.random import uniform
from counterfoil.rounding.rounder import Kernels
from counterfoil.training.recipes import digits, gpt2
from support.jobs import captured_once


@pytest.fixture
def kernels() -> Iterator[Kernels]:
    made = Kernels(torch.device("cpu"), set_determinism(1))
    yield made
    made.close()


@pytest.fixture(params=["digits", "gpt"])
def task(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    """A task whose operators are captured once: its seeds and precisions change none."""
    for recipe in (digits, gpt2):
        monkeypatch.setattr(recipe, "capture", captured_once(f"accuracy, {request.param}", {}))
    if request.param == "digits":
        return digits_task(2)
    text = tmp_path / "text"
    text.write_bytes(b"All work and no play makes a dull trainer. " * 200)
    return gpt_task(text, 2)


def test_both_trainings_draw_the_same_numbers(task: Task, kernels: Kernels) -> None:
    eager, grid = in_float32(task, 1), on_the_grid(task, 1, 24, kernels)
    assert grid.loss == pytest.approx(eager.loss, rel=1e-5)
    assert in_float32(task, 2).loss != pytest.approx(eager.loss, rel=1e-5), "another seed shows"
    lines = rows_of(task, {"float32, eager": [eager, eager], "grid, p = 24": [grid, grid]})
    text = page(lines, "python -m benchmarks.accuracy", 2)
    assert text.count(task.name) == 2
    assert "{" not in text
    assert math.isfinite(grid.score)


def test_drawing_ends_with_its_block() -> None:
    with drawing(0, 1):
        assert torch.equal(_draw(), _draw()) is False
    with pytest.raises(RuntimeError, match="inside a step"):
        uniform((2,))


def _draw() -> torch.Tensor:
    from counterfoil.program import random

    return random.uniform((4,))
