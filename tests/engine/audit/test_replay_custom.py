"""Clients' own models and every optimizer: recorded, and replayed in other orders of summation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.audit.overview import inspect
from counterfoil.program.update import (
    Adagrad,
    Adam,
    AdamW,
    ClipByNorm,
    ClipByValue,
    Lion,
    ParameterGroup,
    ParameterGroups,
    RmsProp,
    Sgd,
    UpdateRule,
    WeightAverage,
)
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft
from counterfoil.training.orderfile import load_order
from counterfoil_core.base.precision import Precision
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.operators.facts import UNIFORM
from counterfoil_core.values.outcome import Outcome
from support.jobs import audited, classify, draw, record_job

ROWS = 48
LABELS = np.arange(ROWS, dtype=np.int64) * 7 % 5
VECTORS = {"x": draw((ROWS, 6), 1), "labels": LABELS}
SEQUENCES = {"x": draw((ROWS, 5, 8), 2), "labels": LABELS}
IMAGES = {"x": draw((ROWS, 2, 6, 6), 3), "labels": LABELS}
TOKENS = {"x": (np.abs(draw((ROWS, 9), 4)) * 5).astype(np.int64), "labels": LABELS}

Make = Callable[[], nn.Module]


def job(make: Make, data: Mapping[str, Any], rule: UpdateRule | None = None, **settings: Any) -> CustomJob:
    torch.manual_seed(0)
    chosen = {"steps": 3, "batch_size": 8, "learning_rate": 0.02, "checkpoint_every": 3, "seed": 9} | settings
    return CustomJob("A model of a test", make(), classify, rule or Sgd(momentum=0.9), data, **chosen)


def perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Dropout(0.1), nn.Linear(12, 5))


class Attention(nn.Module):
    """torch's attention with dropout of its own, and a fused path that must not be taken."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, dropout=0.2, batch_first=True)
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        mixed, weights = self.attention(x, x, x)
        return self.head(mixed.mean(1)) + weights.mean((1, 2))[:, None]


class Reader(nn.Module):
    """Two layers, both directions, dropout between the layers."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 4, num_layers=2, bidirectional=True, dropout=0.1, batch_first=True)
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.lstm(x)[0].mean(1))


class Padded(nn.Module):
    """An embedding whose row 0 stands for padding and gets no gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(5, 8, padding_idx=0)
        self.norm = nn.LayerNorm(8, elementwise_affine=False)
        self.head = nn.Linear(8, 5)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.norm(self.embed(tokens).sum(1)))


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(5, 8)
        self.head = nn.Linear(8, 5)
        self.head.weight = self.embed.weight

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.embed(tokens).mean(1))


class Upsampled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(2, 4, 3, stride=2)
        self.norm = nn.GroupNorm(2, 4)
        self.up = nn.ConvTranspose2d(4, 5, 3, stride=2, output_padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.up(functional.silu(self.norm(self.down(x)))).mean((2, 3))


class Frozen(nn.Module):
    """Only the head is trained."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(6, 8).requires_grad_(False)
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(functional.gelu(self.body(x)))


def several_losses(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    logits = model(batch["x"])
    sizes = sum(parameter.abs().sum() for parameter in model.parameters())
    smoothed = functional.cross_entropy(logits, batch["labels"], label_smoothing=0.1)
    distance = functional.huber_loss(logits.sum(1), batch["labels"].to(torch.float32))
    return smoothed + 0.3 * distance + 1e-3 * sizes + 0.01 * torch.logsumexp(logits, 1).square().mean()


@dataclass(frozen=True)
class Case:
    """A job, and the operators without which it would test nothing."""

    make: Callable[[], CustomJob]
    kinds: tuple[str, ...] = ()


def with_rule(rule: UpdateRule, *kinds: str, **settings: Any) -> Case:
    return Case(lambda: job(perceptron, VECTORS, rule, **settings), kinds)


GROUPS = ParameterGroups(
    (ParameterGroup("bias", "*.bias", Sgd(momentum=0.9), 2.0), ParameterGroup("rest", "*", AdamW(weight_decay=0.1)))
)

CASES = {
    "sgd, Nesterov": with_rule(Sgd(momentum=0.9, nesterov=True, weight_decay=1e-3)),
    "adam": with_rule(Adam(weight_decay=1e-3), "sqrt", "div"),
    "adagrad": with_rule(Adagrad(lr_decay=0.1), "sqrt", "div"),
    "rmsprop": with_rule(RmsProp(momentum=0.9, centered=True), "sqrt", "div", "clamp"),
    "lion": with_rule(Lion(weight_decay=0.1), "sign"),
    "clipping by value": with_rule(ClipByValue(Sgd(), 0.01), "clamp"),
    "clipping by norm": with_rule(ClipByNorm(Adam(), 0.1), "linalg_vector_norm"),
    "groups": with_rule(GROUPS),
    "average": with_rule(WeightAverage(Sgd(momentum=0.9), 0.9)),
    "micro-batches": with_rule(ClipByNorm(AdamW(), 1.0), "slice", micro_batches=4),
    "scheduler": with_rule(
        Sgd(), scheduler=lambda optimizer: torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, 3, cycle_momentum=False)
    ),
    "18 significand bits": with_rule(Adam(), precision=Precision(significand_bits=18, margin_bits=40)),
    "attention with dropout": Case(lambda: job(Attention, SEQUENCES, AdamW()), ("_softmax", "bmm", "uniform")),
    "lstm": Case(lambda: job(Reader, SEQUENCES), ("sigmoid", "tanh", "uniform")),
    "padding": Case(lambda: job(Padded, TOKENS), ("embedding_dense_backward", "native_layer_norm_backward")),
    "tied weights": Case(lambda: job(Tied, TOKENS, Lion()), ("embedding_dense_backward",)),
    "batch norm over rows": Case(
        lambda: job(lambda: nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 5)), VECTORS),
        ("_native_batch_norm_legit_functional", "native_batch_norm_backward"),
    ),
    "batch norm and micro-batches": Case(
        lambda: job(lambda: nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 5)), VECTORS, micro_batches=2),
        ("_native_batch_norm_legit_functional",),
    ),
    "group norm, transposed convolution": Case(
        lambda: job(Upsampled, IMAGES), ("native_group_norm_backward", "convolution_backward", "silu")
    ),
    "frozen weights": Case(lambda: job(Frozen, VECTORS, Adam()), ("gelu",)),
    "several losses": Case(
        lambda: CustomJob(
            **{**job(perceptron, VECTORS, Adam()).__dict__, "objective": several_losses},
        ),
        ("huber_loss", "logsumexp", "abs", "_log_softmax"),
    ),
}


@cache
def draft_of(name: str) -> OrderDraft:
    """The order of a case, captured once; nothing here changes it."""
    return order_custom(CASES[name].make())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_replay_is_bit_exact_on_other_hardware(name: str, tmp_path: Path, trainer_key: Any) -> None:
    made = record_job(tmp_path, draft_of(name), trainer_key)
    for perturbation in ("reversed", "split"):
        report = audited(made.run, made.order, perturbation=perturbation).report
        assert report.outcome is Outcome.VERIFIED, report.reason
        assert (report.contradictions, report.omissions) == (0, 0)
        assert report.steps_replayed == 3


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.kinds])
def test_control_the_operators_are_there(name: str) -> None:
    program = draft_of(name).program
    kinds = {"uniform" if node.operator == UNIFORM else node.operator.split(".")[1] for node in program.nodes}
    assert set(CASES[name].kinds) <= kinds
    # Nothing that only one library or one machine has.
    assert not any("scaled_dot_product" in kind or "mkldnn" in kind or "bernoulli" in kind for kind in kinds)


def final_state(folder: Path, name: str, key: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Initial and last state of a run."""
    recorded = record_job(folder, draft_of(name), key)
    with BundleReader.open(recorded.run) as reader:
        return reader.initial_state(), reader.checkpoint(3)


def test_the_row_of_the_padding_stays_zero(tmp_path: Path, trainer_key: Any) -> None:
    initial, final = final_state(tmp_path, "padding", trainer_key)
    assert not final["embed.weight"][0].any()
    assert (final["embed.weight"][1:] != initial["embed.weight"][1:]).any(1).all()


def test_frozen_weights_stay_and_have_no_slots(tmp_path: Path, trainer_key: Any) -> None:
    initial, final = final_state(tmp_path, "frozen weights", trainer_key)
    assert "moment1:head.weight" in final
    assert "moment1:body.weight" not in final
    assert np.array_equal(final["body.weight"], initial["body.weight"])
    assert not np.array_equal(final["head.weight"], initial["head.weight"])


def test_the_average_is_part_of_what_is_audited(tmp_path: Path, trainer_key: Any) -> None:
    initial, final = final_state(tmp_path, "average", trainer_key)
    assert np.array_equal(initial["average:0.weight"], initial["0.weight"])
    between = (final["average:0.weight"] - initial["0.weight"]) / (final["0.weight"] - initial["0.weight"])
    assert 0 < np.median(between) < 0.5


def test_learning_rates_of_a_scheduler_are_listed_in_the_order(tmp_path: Path) -> None:
    path = tmp_path / "job.cfoil"
    made = job(
        perceptron, VECTORS, scheduler=lambda optimizer: torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    )
    order_custom(made).write(path)
    with BundleReader.open(path) as reader:
        order = load_order(reader)
        rates = [order.inputs(step, order.initial).scalars["lr"] for step in (1, 2, 3)]
    assert rates == [0.02, 0.02, 0.01]


@pytest.mark.parametrize(
    ("name", "count"),
    [("groups", 6 * 12 + 12 + 12 * 5 + 5), ("clipping by value", 6 * 12 + 12 + 12 * 5 + 5), ("frozen weights", 45)],
)
def test_what_is_trained_is_counted(name: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / "job.cfoil"
    draft_of(name).write(path)
    assert inspect(path).order.parameters == count


def test_statistics_of_batch_norm_are_not_trained(tmp_path: Path) -> None:
    path = tmp_path / "job.cfoil"
    order_custom(job(lambda: nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 5)), VECTORS, Sgd())).write(path)
    assert inspect(path).order.parameters == 6 + 6 + 30 + 5
