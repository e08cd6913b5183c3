"""Adafactor of transformers as a rule: also where a row has no gradient, or one far smaller than another's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import counterfoil
from counterfoil.program.update import adafactor
from counterfoil.training.custom import order_custom
from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.outcome import Outcome
from support.bundles import test_key
from support.jobs import audited, record_job

pytest.importorskip("transformers", reason="the library transformers is not installed")

STEPS = 4
WORDS = torch.from_numpy(np.random.default_rng(0).integers(0, 30, (16, 4)))
LABELS = WORDS.sum(1) % 3
SETTINGS: dict[str, dict[str, Any]] = {
    "given rates": {"lr": 0.01, "relative_step": False, "scale_parameter": False, "weight_decay": 0.01},
    "its own": {"warmup_init": True, "beta1": 0.9},
}


class Reader(nn.Module):
    """Most rows of the embedding are in no batch; of those that are, some have a far smaller gradient."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words = nn.Embedding(60, 4)
        self.out = nn.Linear(4, 3)

    def forward(self, words: Tensor) -> Tensor:
        taken: Tensor = self.words(words)
        scale = torch.where(words % 2 == 0, 1.0, 1e-5).unsqueeze(-1)
        return self.out((taken * scale).mean(1))


def optimizer(model: nn.Module, **settings: Any) -> Any:
    from transformers.optimization import Adafactor

    return Adafactor(model.parameters(), **settings)


def objective(model: nn.Module, batch: Any) -> Tensor:
    return functional.cross_entropy(model(batch["words"]), batch["labels"])


def drafted(settings: dict[str, Any]) -> Any:
    model = Reader()
    return order_custom(
        counterfoil.CustomJob(
            title="reader",
            model=model,
            objective=objective,
            rule=optimizer(model, **settings),
            data={"words": WORDS.numpy(), "labels": LABELS.numpy()},
            steps=STEPS,
            batch_size=4,
        )
    )


def by_transformers(settings: dict[str, Any], draft: Any) -> nn.Module:
    model = Reader()
    own = optimizer(model, **settings)
    for step in range(STEPS):
        rows = torch.from_numpy(np.asarray(draft.schedule[step]).astype(np.int64)).reshape(-1)
        own.zero_grad()
        objective(model, {"words": WORDS[rows], "labels": LABELS[rows]}).backward()  # type: ignore[no-untyped-call]
        own.step()
    return model


def farthest(draft: Any, model: nn.Module, after: dict[str, Any]) -> float:
    """How far a run's weights are from a model's, in units of how far they went."""
    far = []
    for name, weight in model.named_parameters():
        expected, begun = weight.detach().numpy(), draft.initial[name]
        far.append(np.abs(after[name] - expected).max() / np.abs(expected - begun).max())
    return float(max(far))


@pytest.mark.parametrize("name", SETTINGS)
def test_a_verified_run_is_where_transformers_is(name: str, tmp_path: Path) -> None:
    draft = drafted(SETTINGS[name])
    job = record_job(tmp_path, draft, test_key(tmp_path))
    report = audited(job.run, job.order, perturbation="reversed").report
    assert report.outcome is Outcome.VERIFIED, report.reason
    with BundleReader.open(job.run) as reader:
        after = dict(reader.checkpoint(STEPS))
    assert farthest(draft, by_transformers(SETTINGS[name], draft), after) < 1e-3
    other = {**SETTINGS[name], "clip_threshold": 0.5}
    assert farthest(draft, by_transformers(other, draft), after) > 1e-2


@pytest.mark.parametrize(
    "plainly", [lambda self, squares: torch.sqrt(squares), lambda self, squares: torch.rsqrt(squares).reciprocal()]
)
def test_control_roots_on_one_grid_end_in_infinity(
    plainly: Callable[..., Tensor], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adafactor.Adafactor, "_roots", plainly)
    with pytest.raises(NonFiniteError):
        record_job(tmp_path, drafted(SETTINGS["given rates"]), test_key(tmp_path))
