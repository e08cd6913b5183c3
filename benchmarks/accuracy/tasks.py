"""What is trained: a model, its data, its ordinary optimizer, and examples that were held out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.training.datasets import read_images
from counterfoil.training.images import ImageObjective, Normalisation
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes import digits, gpt2
from counterfoil.training.recipes.resnet import BasicBlock, ResNet, ResNetLayout, order_resnet
from counterfoil_core.base.precision import AnyPrecision
from counterfoil_resources.digits import load_digits

HELD_OUT_DIGITS = 297
FASHION_TRAINED, FASHION_HELD_OUT = 6_000, 2_000
TEXT_HELD_OUT = 512
"""Sequences at most."""
_AT_ONCE = 250
"""Examples that a trained model is given at once."""

Objective = Callable[[nn.Module, Mapping[str, Tensor]], Tensor]
Examples = Callable[[nn.Module], Iterator[tuple[Tensor, Tensor]]]
"""Gives logits float32 ``[n, classes]`` and labels int64 ``[n]`` of held-out examples, some at a time."""


@dataclass(frozen=True)
class Task:
    """One training that is done under every arithmetic."""

    name: str  #: Its short name.
    what: str  #: What is trained, on what, for how long.
    data: str  #: SHA-256 of its data, in hexadecimal.
    order: Callable[[int, AnyPrecision], OrderDraft]  #: Makes the order for a seed and a precision.
    model: Callable[[], nn.Module]  #: Makes the model, whose weights are taken from the order.
    objective: Objective  #: The loss of a batch.
    optimizer: Callable[[nn.Module], torch.optim.Optimizer]  #: Makes the ordinary optimizer.
    examples: Examples  #: The held-out examples.
    clip: float | None = None  #: Largest norm of the gradients, or None.


def held_out(task: Task, model: nn.Module) -> tuple[float, float]:
    """Return the mean loss of a trained model on the held-out examples, and how many of 100 it gets right.

    The model is computed in float32, whatever it was trained in.
    """
    loss, right, count = 0.0, 0, 0
    with torch.no_grad():
        for logits, labels in task.examples(model.eval()):
            loss += float(functional.cross_entropy(logits.to(torch.float64), labels, reduction="sum"))
            right += int((logits.argmax(1) == labels).sum())
            count += len(labels)
    return loss / count, 100 * right / count


def digits_task(steps: int) -> Task:
    """The recipe digits-cnn on 1,500 images; the other 297 are held out."""
    images, labels = load_digits()
    train = images[:-HELD_OUT_DIGITS], labels[:-HELD_OUT_DIGITS]
    return Task(
        name="digits-cnn",
        what=f"the recipe of width 16, {len(train[0]):,} images of handwritten digits, {steps} steps of 32; "
        f"{HELD_OUT_DIGITS} images are held out",
        data=_digest(images, labels),
        order=lambda seed, precision: digits.order_digits(*train, steps=steps, seed=seed, precision=precision),
        model=lambda: digits.DigitsNet(16),
        objective=digits.objective,
        optimizer=_sgd,
        examples=_images(
            images[-HELD_OUT_DIGITS:],
            labels[-HELD_OUT_DIGITS:],
            lambda pixels: pixels[:, None].to(torch.float32) * (1.0 / digits.LEVELS),
        ),
    )


def gpt_task(path: Path, steps: int) -> Task:
    """A small GPT on the bytes of a file; sequences of its last tenth are held out."""
    text = path.read_bytes()
    cut = len(text) * 9 // 10
    size = gpt2.Gpt2Size(layers=2, heads=4, width=64, context=64)
    length = size.context + 1
    rest = np.frombuffer(text[cut:], np.uint8)
    rows = torch.from_numpy(rest[: len(rest) // length * length].reshape(-1, length)[:TEXT_HELD_OUT].astype(np.int64))

    def examples(model: nn.Module) -> Iterator[tuple[Tensor, Tensor]]:
        for some in torch.split(rows, _AT_ONCE):
            yield model(some[:, :-1]).flatten(0, 1), some[:, 1:].flatten()

    return Task(
        name="gpt2",
        what=f"2 layers of width 64 with dropout, {len(text):,} bytes of {path.name}, {steps} steps of 8 x 64; of the "
        f"last tenth {len(rows):,} sequences of 64 are held out",
        data=_digest(np.frombuffer(text, np.uint8)),
        order=lambda seed, precision: gpt2.order_gpt2(
            text[:cut], size=size, batch_size=8, steps=steps, warmup=steps // 10, seed=seed, precision=precision
        ),
        model=lambda: gpt2.Gpt2(size),
        objective=gpt2.objective,
        optimizer=adamw,
        examples=examples,
        clip=1.0,
    )


def fashion_task(folder: Path, steps: int) -> Task:
    """A residual network with one block for each stage on the first 6,000 images of Fashion-MNIST."""
    train = read_images(folder).first(FASHION_TRAINED)
    test = read_images(folder, test=True).first(FASHION_HELD_OUT)
    layout = ResNetLayout(BasicBlock, (1, 1, 1, 1), 8)
    normalisation = Normalisation.of(train.images)
    return Task(
        name="fashion-mnist",
        what=f"a residual network of 9 convolutions, width 8, {FASHION_TRAINED:,} images, {steps} steps of 32; "
        f"{FASHION_HELD_OUT:,} test images are held out",
        data=_digest(train.images, train.labels, test.images, test.labels),
        order=lambda seed, precision: order_resnet(
            train.images, train.labels, model=layout, steps=steps, batch_size=32, seed=seed, precision=precision
        ),
        model=lambda: ResNet(layout, 1, 10),
        objective=ImageObjective(normalisation, 4, True),
        optimizer=_sgd,
        examples=_images(test.images, test.labels, normalisation),
    )


def adamw(model: nn.Module) -> torch.optim.Optimizer:
    """Return the ordinary form of the recipe gpt2's optimizer: only what has two dimensions or more decays."""
    groups: tuple[list[nn.Parameter], list[nn.Parameter]] = ([], [])
    for parameter in model.parameters():
        groups[parameter.dim() >= 2].append(parameter)
    return torch.optim.AdamW(
        [{"params": groups[0], "weight_decay": 0.0}, {"params": groups[1], "weight_decay": 0.01}], lr=1e-3
    )


def _sgd(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)


def _images(images: np.ndarray, labels: np.ndarray, prepare: Callable[[Tensor], Tensor]) -> Examples:
    pixels, classes = torch.from_numpy(images.copy()), torch.from_numpy(labels.copy())

    def examples(model: nn.Module) -> Iterator[tuple[Tensor, Tensor]]:
        for some, belonging in zip(torch.split(pixels, _AT_ONCE), torch.split(classes, _AT_ONCE), strict=True):
            yield model(prepare(some)), belonging

    return examples


def _digest(*arrays: np.ndarray) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.name} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
