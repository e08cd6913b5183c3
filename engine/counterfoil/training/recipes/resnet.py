"""``resnet18``, ``resnet34``, ``resnet50``: residual networks (He et al. 2016) for small images such as CIFAR-10's.

Tensor names are torchvision's. The stem is the one that CIFAR-10 needs: a 3x3 convolution of stride 1 and no max pool,
in the place of a 7x7 convolution and a pool that would leave little of 32x32 pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.update import Sgd
from counterfoil.training.capture import capture_step
from counterfoil.training.division import WHOLE, Division
from counterfoil.training.images import (
    ImageObjective,
    Labels,
    Normalisation,
    Pixels,
    check_settings,
    image_batch,
    with_channels,
)
from counterfoil.training.order import OrderDraft, draft_order
from counterfoil.training.schedules import cosine, shuffled_epochs
from counterfoil.training.weights import he_uniform
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.precision import AnyPrecision, exact_profile

WIDTH = 64
"""Channels of the first stage; each of the other three doubles them."""


class BasicBlock(nn.Module):
    """Two 3x3 convolutions around a skip connection."""

    expansion = 1

    def __init__(self, channels_in: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, width, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = _downsample(channels_in, width, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``[N, channels_in, H, W]`` to ``[N, width, H / stride, W / stride]``."""
        y = functional.relu(self.bn1(self.conv1(x)))
        return functional.relu(self.bn2(self.conv2(y)) + self.downsample(x))


class Bottleneck(nn.Module):
    """A 3x3 convolution between two 1x1 ones, around a skip connection; the stride is the 3x3's, as in torchvision."""

    expansion = 4

    def __init__(self, channels_in: int, width: int, stride: int) -> None:
        super().__init__()
        channels_out = width * self.expansion
        self.conv1 = nn.Conv2d(channels_in, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, channels_out, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(channels_out)
        self.downsample = _downsample(channels_in, channels_out, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``[N, channels_in, H, W]`` to ``[N, 4 width, H / stride, W / stride]``."""
        y = functional.relu(self.bn1(self.conv1(x)))
        y = functional.relu(self.bn2(self.conv2(y)))
        return functional.relu(self.bn3(self.conv3(y)) + self.downsample(x))


def _downsample(channels_in: int, channels_out: int, stride: int) -> nn.Module:
    if stride == 1 and channels_in == channels_out:
        return nn.Identity()
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_out, 1, stride=stride, bias=False), nn.BatchNorm2d(channels_out)
    )


@dataclass(frozen=True)
class ResNetLayout:
    """What makes one residual network different from another."""

    block: type[BasicBlock] | type[Bottleneck]  #: The kind of block.
    depths: tuple[int, int, int, int]  #: Blocks in each of the four stages.
    width: int = WIDTH  #: Channels of the first stage.


LAYOUTS = MappingProxyType(
    {
        "resnet18": ResNetLayout(BasicBlock, (2, 2, 2, 2)),
        "resnet34": ResNetLayout(BasicBlock, (3, 4, 6, 3)),
        "resnet50": ResNetLayout(Bottleneck, (3, 4, 6, 3)),
    }
)
"""Layouts by the name of the model (He et al. 2016, table 1)."""


class ResNet(nn.Module):
    """A residual network: the stem, four stages of blocks, global average pooling, a linear layer."""

    def __init__(self, layout: ResNetLayout, channels: int, classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, layout.width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(layout.width)
        self._channels = layout.width
        self.layer1 = self._stage(layout.block, layout.width, layout.depths[0], 1)
        self.layer2 = self._stage(layout.block, 2 * layout.width, layout.depths[1], 2)
        self.layer3 = self._stage(layout.block, 4 * layout.width, layout.depths[2], 2)
        self.layer4 = self._stage(layout.block, 8 * layout.width, layout.depths[3], 2)
        self.fc = nn.Linear(self._channels, classes)

    def _stage(self, block: type[BasicBlock] | type[Bottleneck], width: int, depth: int, stride: int) -> nn.Sequential:
        blocks = []
        for index in range(depth):
            blocks.append(block(self._channels, width, stride if index == 0 else 1))
            self._channels = width * block.expansion
        return nn.Sequential(*blocks)

    def forward(self, images: Tensor) -> Tensor:
        """Map images ``[N, C, H, W]`` to logits ``[N, classes]``."""
        x = functional.relu(self.bn1(self.conv1(images)))
        for stage in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = stage(x)
        logits: Tensor = self.fc(x.mean((2, 3)))
        return logits


def order_resnet(
    images: Pixels,
    labels: Labels,
    *,
    model: str | ResNetLayout = "resnet50",
    classes: int = 10,
    steps: int = 1000,
    batch_size: int = 64,
    learning_rate: float = 0.1,
    weight_decay: float = 5e-4,
    crop_padding: int = 4,
    flip: bool = True,
    seed: int = 0,
    commit_every: int = 1,
    checkpoint_every: int = 100,
    precision: AnyPrecision | None = None,
    division: Division = WHOLE,
) -> OrderDraft:
    """Draft an order that trains a residual network with SGD, momentum 0.9, and a cosine schedule.

    Args:
        images: uint8 ``[n, H, W]`` or ``[n, C, H, W]``, of any size; CIFAR-10's are ``[50000, 3, 32, 32]``.
        labels: int64 ``[n]``, 0 to ``classes - 1``.
        model: ``resnet18``, ``resnet34`` or ``resnet50``, or a layout of one's own.
        classes: Number of classes.
        steps: Training steps.
        batch_size: Images per step.
        learning_rate: First learning rate; falls to 0.
        weight_decay: L2 penalty of every parameter.
        crop_padding: Border of the random crop, in pixels; 0 for no crop.
        flip: Whether images are mirrored at random.
        seed: Seed of initial weights, shuffling and augmentation.
        commit_every: A state is digested every so many steps.
        checkpoint_every: A state is stored every so many steps.
        precision: The precision profile.
        division: How a step is divided into shares and micro-batches; by default it is not.

    Raises:
        DataError: Images, labels or settings cannot be used, or there is no such model.
    """
    name, layout = _layout(model)
    pixels = with_channels(images, labels, classes)
    check_settings(batch_size, steps, crop_padding)
    _check_statistics(pixels.shape[2:], division.rows_at_once(batch_size))
    network = ResNet(layout, pixels.shape[1], classes)
    he_uniform(network, seed)
    rule = division.updating(Sgd(momentum=0.9, weight_decay=weight_decay))
    objective = ImageObjective(Normalisation.of(pixels), crop_padding, flip)
    batch = image_batch(pixels, batch_size)
    return draft_order(
        title=f"{name.replace('resnet', 'ResNet-')} on {len(pixels)} images of {'x'.join(map(str, pixels.shape[1:]))}",
        recipe=name,
        captured=capture_step(network, objective, rule, batch, division, exact=exact_profile(precision)),
        rule=rule,
        learning_rates=cosine(learning_rate, steps),
        schedule=shuffled_epochs(len(pixels), batch_size, steps, seed),
        data={"images": pixels, "labels": labels},
        seed=seed,
        precision=precision,
        commit_every=commit_every,
        checkpoint_every=checkpoint_every,
    )


def _layout(model: str | ResNetLayout) -> tuple[str, ResNetLayout]:
    if isinstance(model, ResNetLayout):
        return "resnet", model
    if model not in LAYOUTS:
        raise DataError(f"There is no recipe for {model!r}.", remedy=f"Choose one of {', '.join(LAYOUTS)}.")
    return model, LAYOUTS[model]


def _check_statistics(size: Sequence[int], batch_size: int) -> None:
    # The last stage sees an eighth of each side; batch norm needs two values to have a variance.
    if batch_size * torch.Size(-(-length // 8) for length in size).numel() < 2:
        raise DataError(
            f"Batch norm cannot be trained on one image of {size[0]}x{size[1]} pixels at a time.",
            remedy="Choose a batch of 2 or more.",
        )
