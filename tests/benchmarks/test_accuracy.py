"""The benchmark of accuracy compares like with like: only the arithmetic differs between two trainings of a seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from benchmarks.accuracy import cases, training
from benchmarks.accuracy.cases import Done, all_cases, train_all
from benchmarks.accuracy.page import collected, page, sentence, shares
from benchmarks.accuracy.tasks import Task, digits_task, gpt_task
from benchmarks.accuracy.training import ARITHMETICS, REFERENCE, Trained, drawing

from counterfoil.program import philoxdraws
from counterfoil.program.philoxdraws import uniform
from counterfoil.training.recipes import digits, gpt2
from counterfoil_core.arithmetic.machine import Machine, open_machine
from support.jobs import captured_once


@pytest.fixture
def machine() -> Machine:
    return open_machine("cpu", 1)


@pytest.fixture(params=["digits", pytest.param("gpt", marks=pytest.mark.slow)])
def task(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    """A task whose operators are captured once: its seeds and precisions change none."""
    for recipe in (digits, gpt2):
        monkeypatch.setattr(recipe, "capture_step", captured_once(f"accuracy, {request.param}", {}))
    if request.param == "digits":
        return digits_task(2)
    text = tmp_path / "text"
    text.write_bytes(b"All work and no play makes a dull trainer. " * 200)
    return gpt_task(text, 2)


def test_all_trainings_of_a_seed_differ_in_arithmetic_only(task: Task, machine: Machine) -> None:
    eager = ARITHMETICS[REFERENCE](task, 1, machine)
    for name in ("float64-24", "exact-20", "float32, weights one ulp up"):
        found = ARITHMETICS[name](task, 1, machine)
        assert found.losses == pytest.approx(eager.losses, rel=1e-5), name
        assert found.held_out_loss == pytest.approx(eager.held_out_loss, rel=1e-4), name
    for name in ("bfloat16 autocast", "exact-8"):
        found = ARITHMETICS[name](task, 1, machine)
        assert found.losses == pytest.approx(eager.losses, rel=1e-2), name
        assert found.losses != pytest.approx(eager.losses, rel=1e-6), f"{name} is another arithmetic"
    assert ARITHMETICS[REFERENCE](task, 2, machine).losses != pytest.approx(eager.losses, rel=1e-5), "seeds differ"
    assert 0 <= eager.held_out_accuracy <= 100
    assert math.isfinite(eager.held_out_loss)


def test_what_is_done_is_not_done_again(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task, trained = digits_task(2), []

    def counted(name: str) -> training.Arithmetic:
        def train(task: Task, seed: int, machine: Machine) -> Trained:
            trained.append((task.what, name, seed))
            return _trained(seed + len(name))

        return train

    names = [REFERENCE, "exact-20"]
    monkeypatch.setattr(cases, "ARITHMETICS", {name: counted(name) for name in names})
    few, more = all_cases([task], names, 2), all_cases([task], names, 3)
    first = list(train_all(few, tmp_path, machine))
    assert len(trained) == 4
    assert [one.count for one in first] == [1, 2, 3, 4]
    assert first[-1].total == 4
    again = list(train_all(more, tmp_path, machine))
    assert len(trained) == 6, "only the third seed is new"
    assert [one.done for one in again[:4]] == [one.done for one in first]
    assert again[-1].seconds_left == 0
    list(train_all([replace(few[0], task=digits_task(3))], tmp_path, machine))
    assert len(trained) == 7, "another number of steps is another training"


def test_a_training_that_was_cut_off_leaves_nothing(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(task: Task, seed: int, machine: Machine) -> Trained:
        raise KeyboardInterrupt

    monkeypatch.setattr(cases, "ARITHMETICS", {REFERENCE: interrupted})
    with pytest.raises(KeyboardInterrupt):
        list(train_all(all_cases([digits_task(2)], [REFERENCE], 2), tmp_path, machine))
    assert not list(tmp_path.iterdir())


def test_the_page_says_which_differences_exceed_the_spread(machine: Machine) -> None:
    task = digits_task(2)

    def done(arithmetic: str, loss: Callable[[int], float]) -> list[Done]:
        return [Done(one, _trained(loss(one.seed)), 1.0) for one in all_cases([task], [arithmetic], 3)]

    found = [
        *done(REFERENCE, lambda seed: 1.0 + seed),
        *done("exact-20", lambda seed: 1.5 + seed),
        *done("exact-13", lambda seed: 1.0 + seed + 1e-6 * seed),
        *done("exact-8", lambda seed: 3.0 + seed * seed),
    ]
    loss, accuracy = shares(collected(found), "exact-20")
    assert (loss.size, loss.error) == (0.5, 0.0), "the spread of 1, 2 and 3 is 1"
    assert accuracy.size == 0.0
    loss, _ = shares(collected(found), "exact-8")
    assert loss.size == pytest.approx(8 / 3)
    assert loss.error == pytest.approx(2 / 3), "2, 2 and 4 deviate by 2 / sqrt(3)"
    assert sentence(collected(found)) == (
        "No mean difference is larger than the spread under *exact-20* and *exact-13*. At least one is under *exact-8*."
    )
    text = page(found, "python -m benchmarks accuracy", machine)
    assert "| digits-cnn | exact-20 | 2.5000 ± 1.0000 | 2.5000 ± 1.0000 | +0.5000 ± 0.0000 | 90.00 ± 0.00 |" in text
    assert "| exact-13 | 2.0000 ± 1.0000 | 2.0000 ± 1.0000 | +1e-06 ± 1e-06 | 90.00 ± 0.00 | 0 |" in text
    assert "| exact-8 | +2.67 ± 0.67 (digits-cnn) | +0.00 ± 0.00 (digits-cnn) | loss of digits-cnn |" in text
    assert "{" not in text


def test_drawing_ends_with_its_block() -> None:
    with drawing(0, 1):
        assert torch.equal(philoxdraws.uniform((4,)), philoxdraws.uniform((4,))) is False
    with pytest.raises(RuntimeError, match="inside a step"):
        uniform((2,))


def _trained(loss: float) -> Trained:
    return Trained((9.0, loss), loss, 90.0)
