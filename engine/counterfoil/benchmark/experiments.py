"""The four experiments of the paper: the ordered training step, and the same step as ordinary eager training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.errors import DataError
from counterfoil.training.datasets import read_images
from counterfoil.training.images import Images, Labels, Normalisation
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes import gpt2, logistic
from counterfoil.training.recipes.resnet import LAYOUTS as RESNETS
from counterfoil.training.recipes.resnet import ResNet, order_resnet
from counterfoil.training.recipes.vgg import LAYOUTS as VGGS
from counterfoil.training.recipes.vgg import Vgg, order_vgg
from counterfoil.training.tokens import Tokens
from counterfoil.training.weights import Weights

EagerStep = Callable[[], float]
SEQUENCE = 64
FEATURES = 1024
STEPS = 2


@dataclass(frozen=True)
class Step:
    """One training step in two forms.

    Attributes:
        order: The order whose first step is measured.
        eager: Makes ordinary float32 training of the same model and batch size, one step for each call.
    """

    order: OrderDraft
    eager: Callable[[], EagerStep]


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper.

    Attributes:
        title: What is trained, for the table.
        batch: Rows per step in the paper, or in the comparison it makes.
        rows: Rows of one epoch there.
        build: Makes the step at a batch size; the second argument is a folder of images, or None for made-up data.
        smallest: Smallest batch that is worth measuring.
    """

    title: str
    batch: int
    rows: int
    build: Callable[[int, Path | None], Step]
    smallest: int


def _images(batch: int, folder: Path | None) -> tuple[Images, Labels]:
    if folder is not None:
        found = read_images(folder)
        if found.images.shape[1:] != (3, 32, 32) or len(found.images) < batch:
            raise DataError(
                f"The images in {folder} are not {batch} or more of 3 x 32 x 32.", remedy="Name CIFAR-10's folder."
            )
        return found.images[:batch], found.labels[:batch]
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (batch, 3, 32, 32)).astype(np.uint8), rng.integers(0, 10, batch)


def _classifier(model: nn.Module, images: Images, labels: Labels, rate: float) -> EagerStep:
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9, weight_decay=5e-4)
    x, y = Normalisation.of(images)(torch.from_numpy(images)), torch.from_numpy(labels)
    return _eager_step(optimizer, lambda: functional.cross_entropy(model(x), y))


def _eager_step(optimizer: torch.optim.Optimizer, loss: Callable[[], Tensor], clip: float | None = None) -> EagerStep:
    def step() -> float:
        optimizer.zero_grad()
        value = loss()
        value.backward()  # type: ignore[no-untyped-call]
        if clip is not None:
            torch.nn.utils.clip_grad_norm_((p for group in optimizer.param_groups for p in group["params"]), clip)
        optimizer.step()
        return value.item()

    return step


def _resnet50(batch: int, folder: Path | None) -> Step:
    images, labels = _images(batch, folder)
    order = order_resnet(images, labels, steps=STEPS, batch_size=batch)
    return Step(order, lambda: _classifier(ResNet(RESNETS["resnet50"], 3, 10), images, labels, 0.1))


def _vgg11(batch: int, folder: Path | None) -> Step:
    images, labels = _images(batch, folder)
    order = order_vgg(images, labels, steps=STEPS, batch_size=batch)
    return Step(order, lambda: _classifier(Vgg(VGGS["small"], 3, 10), images, labels, 0.01))


def _gpt2(batch: int, _folder: Path | None) -> Step:
    size = gpt2.SIZES["124M"]
    numbers = np.random.default_rng(0).integers(0, size.vocabulary, batch * (SEQUENCE + 1)).astype(np.int32)
    # Drawn by torch: the recipe's own way, the same on every machine, takes minutes at this size.
    torch.manual_seed(0)
    tensors = {
        name: torch.empty_like(parameter).normal_(std=gpt2.DEVIATION)
        for name, parameter in gpt2.Gpt2(size).named_parameters()
    }
    order = gpt2.order_gpt2(
        Tokens(numbers, size.vocabulary, Path("made up")),
        size=size,
        weights=Weights(Path("made up"), tensors),
        sequence=SEQUENCE,
        batch_size=batch,
        steps=STEPS,
        learning_rate=5e-5,
    )

    def eager() -> EagerStep:
        model = gpt2.Gpt2(size)
        for parameter in model.parameters():
            nn.init.normal_(parameter, std=gpt2.DEVIATION)
        optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
        rows = torch.from_numpy(numbers.reshape(batch, -1))
        return _eager_step(optimizer, lambda: gpt2.objective(model, {"tokens": rows}), clip=1.0)

    return Step(order, eager)


def _logistic(batch: int, _folder: Path | None) -> Step:
    table = logistic.synthetic_table(batch, FEATURES, 0)
    order = logistic.order_logistic(table.features, table.labels, steps=STEPS, batch_size=batch)

    def eager() -> EagerStep:
        model = nn.Linear(FEATURES, 1)
        rows = {"features": torch.from_numpy(table.features), "labels": torch.from_numpy(table.labels)}
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        return _eager_step(optimizer, lambda: logistic.objective(model, rows))

    return Step(order, eager)


EXPERIMENTS = MappingProxyType(
    {
        "resnet50": Experiment("ResNet-50 on CIFAR-10", 64, 50_000, _resnet50, 2),
        # Shakespeare, 1.1 million tokens in rows of 64.
        "gpt2": Experiment("GPT-2 124M, sequence 64", 8, 1_100_000 // SEQUENCE, _gpt2, 1),
        "vgg11": Experiment("VGG-11, 10 million parameters, on CIFAR-10", 16, 50_000, _vgg11, 2),
        "logistic": Experiment("Logistic regression, 262,144 x 1,024", 1024, 262_144, _logistic, 64),
    }
)
"""The experiments by name."""
