"""Steps on which bit-exact replay is hard, each recorded here and replayed as other hardware would compute it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.update import AdamW, Sgd
from counterfoil.training import execution
from counterfoil.training.order import OrderDraft
from counterfoil.training.orderfile import load_order
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.families.magnitude import largest
from counterfoil_core.arithmetic.families.table import SCALES
from counterfoil_core.arithmetic.otherwise.perturbation import PERTURBATIONS, perturb
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.hearing import session
from counterfoil_core.values.outcome import Outcome
from support.jobs import Job, audited, classify, draw, own_order, record_job

LABELS = np.arange(64, dtype=np.int64) * 7 % 10
IMAGES = {"x": draw((64, 3, 12, 12), 1), "labels": LABELS}
TOKENS = {"x": (np.abs(draw((64, 16), 2)) * 6).astype(np.int64), "labels": LABELS}


class Pooled(nn.Module):
    """Layers on images, then the mean over the image and a linear layer."""

    def __init__(self, channels: int, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(channels, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(x).mean((2, 3)))


class Attention(nn.Module):
    """Attention with biases of its own for query, key and value. Softmax does not see the key's."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(6, 16)
        self.query, self.key, self.value = (nn.Linear(16, 16) for _ in range(3))
        self.head = nn.Linear(16, 10)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        weights = functional.softmax(self.query(x) @ self.key(x).transpose(1, 2) * 0.25, -1)
        return self.head((weights @ self.value(x)).mean(1))


class Repeated(nn.Module):
    """A table of five rows looked up a thousand times a step, as an embedding and by plain indexing."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(6, 8)
        self.table = nn.Parameter(torch.zeros(6, 8))
        self.head = nn.Linear(8, 10)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head((self.embed(tokens) * (self.table[tokens] + 1)).mean(1))


class Tied(nn.Module):
    """The output projection is the embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, 16)
        self.norm = nn.LayerNorm(16)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.norm(self.embed(tokens).mean(1)) @ self.embed.weight.t()


class Summed(nn.Module):
    """The sum of each row, with a weight for each row of a batch."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((8,), 0.75))

    def forward(self, x: Tensor) -> Tensor:
        return x.sum(1) * self.weight


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(6, 8)
        self.lstm = nn.LSTM(8, 8, batch_first=True)
        self.head = nn.Linear(8, 10)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.lstm(self.embed(tokens))[0][:, -1])


@dataclass(frozen=True)
class Case:
    """An order, and the operators without which it would test nothing."""

    make: Callable[[], OrderDraft]
    kinds: tuple[str, ...]


def images(*layers: nn.Module, channels: int = 6, data: Mapping[str, Any] = IMAGES, **settings: Any) -> OrderDraft:
    return own_order(Pooled(channels, *layers), classify, data, **settings)


def tokens(model: nn.Module, **settings: Any) -> OrderDraft:
    return own_order(model, classify, TOKENS, **settings)


def integer_images() -> OrderDraft:
    """Four grey levels, so that most windows hold their maximum several times."""
    data = {"x": np.floor(draw((64, 3, 12, 12), 4) * 2), "labels": LABELS}
    layers = (nn.MaxPool2d(2), nn.Conv2d(3, 6, 3), nn.ReLU(), nn.MaxPool2d(3, stride=1, padding=1))
    return images(*layers, data=data)


def clipped() -> OrderDraft:
    return images(nn.Conv2d(3, 6, 3), nn.ReLU(), rule=Sgd(momentum=0.9, clip_norm=0.01))


def cancelling() -> OrderDraft:
    """Rows of terms of many sizes, each with its opposite: every sum is zero, and what is left of it is noise."""
    rng = np.random.default_rng(5)
    half = (rng.uniform(-1, 1, (32, 40)) * 2.0 ** -rng.integers(0, 40, (32, 40))).astype(np.float32)
    rows = rng.permuted(np.concatenate([half, -half], axis=1), axis=1)
    return own_order(Summed(), lambda model, batch: model(batch["x"]).square().mean(), {"x": rows})


CASES = {
    "bias in front of batch norm": Case(
        lambda: images(nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU()),
        ("_native_batch_norm_legit_functional", "native_batch_norm_backward", "convolution_backward"),
    ),
    "key bias in attention": Case(
        lambda: tokens(Attention(), rule=AdamW(), learning_rate=0.01), ("bmm", "_softmax", "_softmax_backward_data")
    ),
    "repeated indices": Case(lambda: tokens(Repeated()), ("embedding_dense_backward", "index_put")),
    "sums that cancel": Case(cancelling, ("sum",)),
    "max-pool ties": Case(integer_images, ("max_pool2d_with_indices_backward",)),
    "weight tying": Case(lambda: tokens(Tied()), ("embedding_dense_backward", "native_layer_norm_backward", "mm")),
    "clipping by norm": Case(clipped, ("linalg_vector_norm", "reciprocal")),
    "group norm": Case(
        lambda: images(nn.Conv2d(3, 6, 3), nn.GroupNorm(2, 6), nn.ReLU()),
        ("native_group_norm", "native_group_norm_backward"),
    ),
    "strided convolution": Case(lambda: images(nn.Conv2d(3, 6, 3, stride=2, padding=1)), ("convolution_backward",)),
    "dilated convolution": Case(
        lambda: images(nn.Conv2d(3, 6, 3, dilation=2), nn.ReLU(), nn.Conv2d(6, 6, 3, dilation=3, padding=2)),
        ("convolution_backward",),
    ),
    "grouped convolution": Case(
        lambda: images(nn.Conv2d(3, 6, 1), nn.Conv2d(6, 12, 3, groups=3), nn.Conv2d(12, 12, 3, groups=12), channels=12),
        ("convolution_backward",),
    ),
    "transposed convolution": Case(
        lambda: images(nn.ConvTranspose2d(3, 4, 3, stride=2), nn.ReLU(), nn.ConvTranspose2d(4, 6, 2, groups=2)),
        ("convolution_backward",),
    ),
    "lstm": Case(lambda: tokens(Recurrent()), ("sigmoid", "tanh_backward")),
}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory, trainer_key) -> Callable[[str], Job]:
    made: dict[str, Job] = {}

    def job(name: str) -> Job:
        if name not in made:
            made[name] = record_job(tmp_path_factory.mktemp("hard"), CASES[name].make(), trainer_key)
        return made[name]

    return job


@pytest.mark.sampled(3)
@pytest.mark.parametrize("perturbation", PERTURBATIONS)
@pytest.mark.parametrize("name", CASES)
def test_replay_is_bit_exact_on_other_hardware(jobs, name, perturbation):
    job = jobs(name)
    report = audited(job.run, job.order, perturbation=perturbation).report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert (report.contradictions, report.omissions) == (0, 0)
    assert report.steps_replayed == 4


@pytest.mark.parametrize("name", CASES)
def test_control_the_operators_are_there_and_come_out_different(jobs, name):
    with BundleReader.open(jobs(name).order) as reader:
        order = load_order(reader)
    present = {node.entry.kind for node in order.program.nodes}
    assert set(CASES[name].kinds) <= present
    different: set[str] = set()

    def compute(operation: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = native(operation, args, kwargs)
        pairs = zip(_listed(result), _listed(perturb("reversed")(operation, args, kwargs)), strict=True)
        if any(a is not None and a.is_floating_point() and not torch.equal(a, b) for a, b in pairs):
            different.add(operation.node.entry.kind)
        return result

    Interpreter(order.program, torch.device("cpu")).run(order.inputs(1, order.initial), compute=compute)
    assert different


def _listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


# Controls: without the bound on the terms, and without the grid, cancellation breaks replay.


def naive(arguments: Mapping[str, Any], outputs: Any) -> list[Any]:
    """The largest output in the place of a bound on the terms that were added to make it."""
    return [None if out is None or not out.is_floating_point() else largest(out) for out in outputs]


def test_control_the_largest_output_is_no_scale(tmp_path, trainer_key, monkeypatch):
    """The sums must not stand on a grid already: those of numbers on one are exact in float64 in any order."""
    monkeypatch.setitem(SCALES, "sum", naive)
    for module in (execution, session):  # the self-test has known answers, and would find this out
        monkeypatch.setattr(module, "run_selftest", lambda *_: "not asked")
    job = record_job(tmp_path, CASES["sums that cancel"].make(), trainer_key)
    assert audited(job.run, job.order).report.outcome is Outcome.VERIFIED
    report = audited(job.run, job.order, perturbation="reversed").report
    assert report.outcome is not Outcome.VERIFIED, report.reason
    assert report.mismatched_steps, report.reason


def test_control_without_the_grid_the_gradient_of_a_bias_before_batch_norm_is_noise(jobs):
    """Its true value is zero, so what is left depends on the order of the sum alone."""
    with BundleReader.open(jobs("bias in front of batch norm").order) as reader:
        order = load_order(reader)
    gradients: list[Tensor] = []

    def compute(operation: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = native(operation, args, kwargs)
        if operation.node.entry.kind == "convolution_backward":
            gradients.extend([result[2], perturb("reversed")(operation, args, kwargs)[2]])
        return result

    Interpreter(order.program, torch.device("cpu")).run(order.inputs(1, order.initial), compute=compute)
    one, other = gradients
    assert float((one - other).abs().max()) > 2.0**-10 * float(one.abs().max())
