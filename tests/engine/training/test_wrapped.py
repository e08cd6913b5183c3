"""Jobs and loops whose parts are wrapped are ordered as what is within, and the client is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.parallel import DataParallel
from torch.optim import swa_utils
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

import counterfoil
from counterfoil import ClipByNorm, CustomJob, Turn, TurnsJob, WeightAverage
from counterfoil.training.wrappers import decay_of
from counterfoil_core.base.errors import DataError, ProgramError
from counterfoil_core.signing.keys import SigningKey

DATA = {"x": torch.arange(24.0).reshape(8, 3) / 20, "y": torch.arange(8) % 2}


def objective(model: nn.Module, batch: Any) -> Tensor:
    return functional.cross_entropy(model(batch["x"]), batch["y"])


class AcceleratedOptimizer(torch.optim.Optimizer):
    """As Accelerate's: an optimizer that holds one."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer = optimizer


class AcceleratedScheduler:
    """As Accelerate's, which is none of torch's."""

    def __init__(self, scheduler: Any) -> None:
        self.scheduler = scheduler


def job(wrap: Any = lambda model: model, *, accelerated: bool = False, loss: Any = objective) -> CustomJob:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer: Any = torch.optim.SGD(model.parameters(), 0.1)
    scheduler: Any = StepLR(optimizer, 2)
    if accelerated:
        optimizer, scheduler = AcceleratedOptimizer(optimizer), AcceleratedScheduler(scheduler)
    return CustomJob("T", wrap(model), loss, ClipByNorm(optimizer, 1.0), DATA, 3, 4, scheduler=scheduler)


PLAIN = job().draft()


@pytest.mark.parametrize(
    ("wrapped", "note"),
    [
        (lambda: job(DataParallel), "DataParallel is taken off"),
        (lambda: job(torch.compile), "torch.compile is left out"),
        (lambda: job(lambda model: torch.compile(DataParallel(model))), "DataParallel is taken off"),
        (lambda: job(loss=torch.compile(objective)), "torch.compile is left out"),
        (lambda: job(accelerated=True), "Accelerate's optimizer is taken off."),
    ],
    ids=["DataParallel", "compiled", "both", "compiled objective", "Accelerate"],
)
def test_the_order_is_that_of_what_is_within(wrapped: Any, note: str) -> None:
    draft = wrapped().draft()
    assert draft.manifest.digest == PLAIN.manifest.digest
    assert [sentence for sentence in draft.notes if sentence.startswith(note)]
    assert PLAIN.notes == ()


def test_an_objective_may_ask_the_wrapper_for_what_it_wraps() -> None:
    within = job(DataParallel, loss=lambda model, batch: objective(model.module, batch))
    assert within.draft().manifest.digest == PLAIN.manifest.digest


def test_turns() -> None:
    def turns(wrap: Any) -> TurnsJob:
        torch.manual_seed(0)
        model = nn.ModuleDict({"a": nn.Linear(3, 2), "b": nn.Linear(3, 2)})
        optimizers = {name: torch.optim.SGD(model[name].parameters(), 0.1) for name in "ab"}
        losses = {
            "a": lambda model, batch: objective(getattr(model, "module", model)["a"], batch),
            "b": lambda model, batch: objective(getattr(model, "module", model)["b"], batch),
        }
        made = [Turn(name, losses[name], optimizers[name]) for name in "ab"]
        return TurnsJob("T", wrap(model), made, "a, b", DATA, 2, 4)

    wrapped = turns(DataParallel).draft()
    assert wrapped.manifest.digest == turns(lambda model: model).draft().manifest.digest
    assert wrapped.notes[0].startswith("DataParallel is taken off")


class FullyShardedDataParallel(nn.Linear):
    """Called like torch's, which needs a group of processes."""


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (FullyShardedDataParallel(3, 2), "FSDP gives each process a part of the parameters"),
        (swa_utils.AveragedModel(nn.Linear(3, 2)), "an average of the weights of another one"),
    ],
    ids=["FSDP", "AveragedModel"],
)
def test_what_is_no_model_to_train_is_refused_by_name(model: nn.Module, words: str) -> None:
    with pytest.raises(ProgramError, match=words) as refused:
        job(lambda _: model).draft()
    assert type(model).__name__ in refused.value.sentence
    assert refused.value.remedy


class TestAverages:
    def test_the_decay_of_an_average(self) -> None:
        model = nn.Linear(3, 2)
        assert decay_of(0.5) == 0.5
        assert decay_of(swa_utils.AveragedModel(model, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.9))) == 0.9
        assert decay_of(swa_utils.AveragedModel(model, avg_fn=swa_utils.get_ema_avg_fn(0.8))) == 0.8

    @pytest.mark.parametrize(
        "settings", [{}, {"avg_fn": lambda old, new, count: old}, {"multi_avg_fn": swa_utils.get_swa_multi_avg_fn()}]
    )
    def test_another_rule_is_refused(self, settings: Any) -> None:
        with pytest.raises(DataError, match="averages by a rule of its own"):
            decay_of(swa_utils.AveragedModel(nn.Linear(3, 2), **settings))

    def test_a_loop_keeps_it(self, tmp_path: Path, trainer_key: SigningKey, capsys: pytest.CaptureFixture[str]) -> None:
        torch.manual_seed(0)
        model = nn.Linear(3, 2)
        average = swa_utils.AveragedModel(model, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.5))
        own = [parameter.detach().clone() for parameter in model.parameters()]
        run = counterfoil.loop(
            DataParallel(model),
            torch.optim.SGD(model.parameters(), 0.1),
            DataLoader(TensorDataset(DATA["x"], DATA["y"]), 4),
            lambda model, batch: functional.cross_entropy(model(batch[0]), batch[1]),
            steps=2,
            average=average,
            job=tmp_path / "job.cfoil",
            out=tmp_path / "run.cfoil",
            key=trainer_key,
        )
        for _ in run:
            run.sync()
            own = [old + (new - old) * 0.5 for old, new in zip(own, model.parameters(), strict=True)]
        assert int(average.n_averaged) == 2
        for kept, expected in zip(average.module.parameters(), own, strict=True):
            assert torch.allclose(kept, expected, atol=1e-6)
        told = capsys.readouterr().err
        assert "DataParallel is taken off" in told
        assert "starts at the initial weights" in told
        assert isinstance(run._job.rule, WeightAverage)
