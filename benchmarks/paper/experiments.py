"""The four experiments of the paper: the ordered training step, and the same step as ordinary eager training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from benchmarks.workloads import CPU, STEPS, EagerStep, eager_step, public_gpt2, sgd
from counterfoil.training.datasets import read_images
from counterfoil.training.images import Labels, Normalisation, Pixels
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes import logistic
from counterfoil.training.recipes.resnet import LAYOUTS as RESNETS, ResNet, order_resnet
from counterfoil.training.recipes.vgg import LAYOUTS as VGGS, Vgg, order_vgg
from counterfoil_core.base.errors import DataError

SEQUENCE = 64
FEATURES = 1024


@dataclass(frozen=True)
class Step:
    """One training step in two forms."""

    order: OrderDraft  #: The order whose first step is measured.
    #: Makes ordinary float32 training of the same model and batch size, one step for each call.
    eager: Callable[[], EagerStep]


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper."""

    title: str  #: What is trained, for the table.
    batch: int  #: Rows per step in the paper, or in the comparison it makes.
    rows: int  #: Rows of one epoch there.
    #: Makes the step at a batch size; the second argument is a folder of images, or None for made-up data.
    build: Callable[[int, Path | None], Step]
    smallest: int  #: Smallest batch that is worth measuring.


def _images(batch: int, folder: Path | None) -> tuple[Pixels, Labels]:
    if folder is not None:
        found = read_images(folder)
        if found.images.shape[1:] != (3, 32, 32) or len(found.images) < batch:
            raise DataError(
                f"The images in {folder} are not {batch} or more of 3 x 32 x 32.", remedy="Name CIFAR-10's folder."
            )
        return found.images[:batch], found.labels[:batch]
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (batch, 3, 32, 32)).astype(np.uint8), rng.integers(0, 10, batch)


def _classifier(model: nn.Module, images: Pixels, labels: Labels, rate: float) -> EagerStep:
    x, y = Normalisation.of(images)(torch.from_numpy(images)), torch.from_numpy(labels)
    return eager_step(sgd(model, rate), lambda: functional.cross_entropy(model(x), y))


def _resnet50(batch: int, folder: Path | None) -> Step:
    images, labels = _images(batch, folder)
    order = order_resnet(images, labels, steps=STEPS, batch_size=batch)
    return Step(order, lambda: _classifier(ResNet(RESNETS["resnet50"], 3, 10), images, labels, 0.1))


def _vgg11(batch: int, folder: Path | None) -> Step:
    images, labels = _images(batch, folder)
    order = order_vgg(images, labels, steps=STEPS, batch_size=batch)
    return Step(order, lambda: _classifier(Vgg(VGGS["small"], 3, 10), images, labels, 0.01))


def _gpt2(batch: int, _folder: Path | None) -> Step:
    step = public_gpt2(batch, SEQUENCE)
    return Step(step.order(None), lambda: step.eager(torch.float32, CPU))


def _logistic(batch: int, _folder: Path | None) -> Step:
    table = logistic.synthetic_table(batch, FEATURES, 0)
    order = logistic.order_logistic(table.features, table.labels, steps=STEPS, batch_size=batch)

    def eager() -> EagerStep:
        model = nn.Linear(FEATURES, 1)
        rows = {"features": torch.from_numpy(table.features), "labels": torch.from_numpy(table.labels)}
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        return eager_step(optimizer, lambda: logistic.objective(model, rows))

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
