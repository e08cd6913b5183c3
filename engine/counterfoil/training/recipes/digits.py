"""``digits-cnn``: a small residual network on 8x8 images of handwritten digits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.update import Sgd
from counterfoil.training.capture import capture_step
from counterfoil.training.division import WHOLE, Division
from counterfoil.training.images import random_crop
from counterfoil.training.order import OrderDraft, draft_order
from counterfoil.training.schedules import cosine, shuffled_epochs
from counterfoil.training.weights import fan_in_uniform
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.precision import AnyPrecision, exact_profile
from counterfoil_core.operators.node import TensorType

RECIPE = "digits-cnn"
SIDE = 8
CLASSES = 10
LEVELS = 16
"""Pixels lie in 0 to 16."""
SHIFT = 1
"""Each image is shifted by up to so many pixels either way."""


class Residual(nn.Module):
    """Two convolutions with batch norm around a skip connection (He et al. 2016)."""

    def __init__(self, channels_in: int, channels_out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels_out)
        self.conv2 = nn.Conv2d(channels_out, channels_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels_out)
        self.skip: nn.Module = nn.Identity()
        if stride != 1 or channels_in != channels_out:
            self.skip = nn.Conv2d(channels_in, channels_out, 1, stride=stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``[N, channels_in, H, W]`` to ``[N, channels_out, H / stride, W / stride]``."""
        y = functional.relu(self.bn1(self.conv1(x)))
        return functional.relu(self.bn2(self.conv2(y)) + self.skip(x))


class DigitsNet(nn.Module):
    """The network: a stem, two residual blocks, global average pooling, a linear layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(width)
        self.block1 = Residual(width, width, 1)
        self.block2 = Residual(width, 2 * width, 2)
        self.head = nn.Linear(2 * width, CLASSES)

    def forward(self, images: Tensor) -> Tensor:
        """Map images ``[N, 1, 8, 8]`` to logits ``[N, 10]``."""
        x = functional.relu(self.bn(self.stem(images)))
        x = self.block2(self.block1(x))
        logits: Tensor = self.head(x.mean((2, 3)))
        return logits


def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """Cross entropy on shifted images."""
    images = random_crop(batch["images"].to(torch.float32) * (1.0 / LEVELS), SHIFT)
    return functional.cross_entropy(model(images[:, None]), batch["labels"])


def order_digits(
    images: npt.NDArray[np.uint8],
    labels: npt.NDArray[np.int64],
    *,
    steps: int = 60,
    batch_size: int = 32,
    width: int = 16,
    learning_rate: float = 0.1,
    seed: int = 0,
    commit_every: int = 1,
    checkpoint_every: int = 5,
    precision: AnyPrecision | None = None,
    division: Division = WHOLE,
) -> OrderDraft:
    """Draft an order that trains :class:`DigitsNet` with SGD, momentum 0.9, weight decay 5e-4, cosine schedule.

    Args:
        images: uint8 ``[n, 8, 8]``, pixels 0 to 16.
        labels: int64 ``[n]``, 0 to 9.
        steps: Training steps.
        batch_size: Images per step.
        width: Channels of the first block.
        learning_rate: First learning rate.
        seed: Seed of initial weights, shuffling and shifts.
        commit_every: A state is digested every so many steps.
        checkpoint_every: A state is stored every so many steps.
        precision: The precision profile.
        division: How a step is divided into shares and micro-batches; by default it is not.

    Raises:
        DataError: Images or labels have another shape, dtype or range.
    """
    if images.dtype != np.uint8 or images.ndim != 3 or images.shape[1:] != (SIDE, SIDE):
        raise DataError(f"The images must be uint8 of shape (n, 8, 8), not {images.dtype} of shape {images.shape}.")
    if labels.dtype != np.int64 or labels.shape != images.shape[:1]:
        raise DataError(f"There must be one int64 label for each image, not {labels.dtype} of shape {labels.shape}.")
    if labels.size and not (labels.min() >= 0 and labels.max() < CLASSES):
        raise DataError("A label lies outside 0 to 9.")
    schedule = shuffled_epochs(len(images), batch_size, steps, seed)
    model = DigitsNet(width)
    fan_in_uniform(model, seed)
    rule = division.updating(Sgd(momentum=0.9, weight_decay=5e-4))
    batch = {
        "images": TensorType("uint8", (batch_size, SIDE, SIDE)),
        "labels": TensorType("int64", (batch_size,)),
    }
    return draft_order(
        title="Handwritten digits, small residual network",
        recipe=RECIPE,
        captured=capture_step(model, objective, rule, batch, division, exact=exact_profile(precision)),
        rule=rule,
        learning_rates=cosine(learning_rate, steps),
        schedule=schedule,
        data={"images": images, "labels": labels},
        seed=seed,
        precision=precision,
        commit_every=commit_every,
        checkpoint_every=checkpoint_every,
    )
