"""What is measured: a training step as ordered, and the same step as ordinary eager training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.bundle.precision import AnyPrecision, ExactPrecision
from counterfoil.program.capture import capture
from counterfoil.program.graph import TensorType
from counterfoil.program.update import Sgd
from counterfoil.training.initial import fan_in_uniform
from counterfoil.training.order import OrderDraft, draft_order
from counterfoil.training.recipes import gpt2
from counterfoil.training.recipes.digits import DigitsNet, Residual, order_digits
from counterfoil.training.schedules import cosine, shuffled_epochs
from counterfoil_resources.digits import load_digits

EagerStep = Callable[[], float]


class Ordered(Protocol):
    """Makes the order of a workload."""

    def __call__(self, precision: AnyPrecision | None, steps: int = ..., /) -> OrderDraft:
        """Return an order of so many steps in a precision profile; None for the recipe's own."""


@dataclass(frozen=True)
class Workload:
    """One training step in two forms.

    Attributes:
        name: What it is, for the table.
        order: Returns the order whose first step is executed, in a precision profile; None for the recipe's own.
        eager: Returns ordinary eager training of the same model, batch and optimizer in a dtype.
    """

    name: str
    order: Ordered
    eager: Callable[[torch.dtype], EagerStep]


def _sgd_step(model: nn.Module, loss: Callable[[], Tensor]) -> EagerStep:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)

    def step() -> float:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        return value.item()

    return step


def digits() -> Workload:
    """The recipe digits-cnn as the demonstration orders it."""
    images, labels = load_digits()

    def eager(dtype: torch.dtype) -> EagerStep:
        model = DigitsNet(16).to(dtype)
        x, y = torch.from_numpy(images[:32])[:, None].to(dtype) / 16, torch.from_numpy(labels[:32])
        return _sgd_step(model, lambda: functional.cross_entropy(model(x), y))

    def order(precision: AnyPrecision | None, steps: int = 4) -> OrderDraft:
        return order_digits(images, labels, steps=steps, precision=precision)

    return Workload("digits-cnn, width 16, batch 32", order, eager)


class WideNet(nn.Module):
    """A residual network on 32x32 colour images: the layers of a CIFAR ResNet at a size that a small machine can do."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(64)
        self.blocks = nn.Sequential(Residual(64, 64, 1), Residual(64, 128, 2), Residual(128, 256, 2))
        self.head = nn.Linear(256, 10)

    def forward(self, images: Tensor) -> Tensor:
        """Map ``[N, 3, 32, 32]`` to ``[N, 10]``."""
        x = self.blocks(functional.relu(self.bn(self.stem(images))))
        logits: Tensor = self.head(x.mean((2, 3)))
        return logits


def wide_cnn() -> Workload:
    """A residual network with up to 256 channels, batch 16."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (16, 3, 32, 32)).astype(np.uint8)
    labels = rng.integers(0, 10, 16)
    types = {"images": TensorType("uint8", (16, 3, 32, 32)), "labels": TensorType("int64", (16,))}

    def order(precision: AnyPrecision | None, steps: int = 2) -> OrderDraft:
        model, rule = WideNet(), Sgd(momentum=0.9, weight_decay=5e-4)
        fan_in_uniform(model, 0)
        return draft_order(
            title="Wide residual network",
            recipe="benchmark",
            captured=capture(
                model,
                lambda m, b: functional.cross_entropy(m(b["images"].to(torch.float32) * (1 / 256)), b["labels"]),
                rule,
                types,
                exact=isinstance(precision, ExactPrecision),
            ),
            rule=rule,
            learning_rates=cosine(0.1, steps),
            schedule=shuffled_epochs(16, 16, steps, 0),
            data={"images": images, "labels": labels},
            seed=0,
            precision=precision,
        )

    def eager(dtype: torch.dtype) -> EagerStep:
        net = WideNet().to(dtype)
        x, y = torch.from_numpy(images).to(dtype) / 256, torch.from_numpy(labels)
        return _sgd_step(net, lambda: functional.cross_entropy(net(x), y))

    return Workload("residual CNN, 64 to 256 channels, 32x32, batch 16", order, eager)


def gpt2_of_size(size: gpt2.Gpt2Size, batch: int) -> Workload:
    """A GPT-2 of any size on made-up bytes."""
    rng = np.random.default_rng(0)
    text = rng.integers(0, 256, 4 * batch * (size.context + 1)).astype(np.uint8)

    def order(precision: AnyPrecision | None, steps: int = 2) -> OrderDraft:
        return gpt2.order_gpt2(text.tobytes(), size=size, batch_size=batch, steps=steps, precision=precision)

    def eager(dtype: torch.dtype) -> EagerStep:
        model = gpt2.Gpt2(size).to(dtype)
        gpt2.initialise(model, size.layers, 0)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        rows = torch.from_numpy(text.reshape(-1, size.context + 1)[:batch])

        def step() -> float:
            optimizer.zero_grad()
            loss = gpt2.objective(model, {"tokens": rows})
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            return loss.item()

        return step

    name = f"gpt2, {size.layers} layers, width {size.width}, sequence {size.context}, batch {batch}"
    return Workload(name, order, eager)


def small_gpt2() -> Workload:
    """The recipe gpt2 at its default size."""
    return gpt2_of_size(gpt2.Gpt2Size(), 8)


def wide_gpt2() -> Workload:
    """Layers of GPT-2 124M's width, two of them."""
    return gpt2_of_size(gpt2.Gpt2Size(layers=2, heads=12, width=768, context=64), 8)


WORKLOADS: dict[str, Callable[[], Workload]] = {
    "digits": digits,
    "wide-cnn": wide_cnn,
    "gpt2": small_gpt2,
    "wide-gpt2": wide_gpt2,
}
