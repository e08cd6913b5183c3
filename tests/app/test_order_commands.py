"""The command line that the order wizard shows is true: it writes the order that the wizard wrote, to the digest."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from counterfoil import CancelToken, CommandProgress, OrderWritten, inspect
from counterfoil.cli import main
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.process import ProcessEngine
from counterfoil_app.model.order_plan import OrderPlan
from support.fake_engine import FakeEngine

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the command line is quoted otherwise")
SMALL = {"steps": "2", "batch_size": "4", "checkpoint_every": "2"}
MODULE = """
import torch
from torch import nn
from counterfoil import CustomJob, Sgd


def make():
    torch.manual_seed(3)
    rows = {"x": torch.arange(24.0).reshape(8, 3) / 24, "y": torch.ones(8, 1)}
    def objective(model, batch):
        return nn.functional.mse_loss(model(batch["x"]), batch["y"])
    return CustomJob(
        title="mine", model=nn.Linear(3, 1), objective=objective, rule=Sgd(), data=rows, steps=2, batch_size=4,
        learning_rate=0.1,
    )
"""
JOBS: Mapping[str, Mapping[str, str]] = {
    "digits-cnn": {**SMALL, "width": "2", "seed": "7", "last_checkpoint": "weights"},
    "gpt2": {
        **SMALL, "text": "a book.txt", "layers": "1", "heads": "1", "width": "8", "context": "8",
        "precision": "exact-13",
    },
    "own": {"source": "my_job:make", "own_code_folder": ".", "second_look": "no", "precision": "exact-20"},
}  # fmt: skip


def written(engine: Engine, plan: OrderPlan, out: Path) -> OrderWritten:
    *before, last = engine.order(plan.arguments(out), plan.folder, CancelToken())
    assert isinstance(last, OrderWritten)
    assert before
    assert all(isinstance(each, CommandProgress) for each in before)
    return last


# What differs in a recipe is its options, which tests/engine/cli/test_ordering.py compares with the commands' own.
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "own")) for name in JOBS])
def test_the_command_that_is_shown_writes_the_same_order(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a book.txt").write_text("It was the best of times, it was the worst of times. " * 8)
    (tmp_path / "my_job.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    plan = OrderPlan(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))
    plan.choose(name)
    for option, text in JOBS[name].items():
        plan.set(option, text)
    told = written(ProcessEngine(), plan, tmp_path / "told.cfoil")
    line = plan.command(tmp_path / "typed.cfoil")
    assert str(tmp_path) in line
    monkeypatch.chdir("/")  # wherever it is typed
    if line.startswith("cd "):
        change, _, line = line.partition(" && ")
        monkeypatch.chdir(shlex.split(change)[1])
    program, *arguments = shlex.split(line)
    assert program == "counterfoil"
    assert main(arguments) == 0
    assert inspect(tmp_path / "typed.cfoil").order.digest.hex == told.digest
    assert inspect(tmp_path / "told.cfoil").order.digest.hex == told.digest
    assert told.steps == 2
    assert told.batch_size == 4


def test_the_fake_engine_tells_an_order_as_the_real_one_does(tmp_path: Path) -> None:
    plan = OrderPlan(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))
    told = written(FakeEngine(), plan, tmp_path / "told.cfoil")
    assert (tmp_path / "told.cfoil").is_file()
    assert told.steps == 60
