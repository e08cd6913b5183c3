"""``vgg11``: VGG-11 (Simonyan and Zisserman 2015, configuration A), in two layouts.

* ``torchvision``: torchvision's, with adaptive pooling to 7x7 and a classifier of 4096 units with dropout; 128.8
  million parameters with 10 classes.
* ``small``: the layout of the zero-knowledge comparisons on CIFAR-10 (zkCNN, Liu et al. 2021; Kaizen, Abbaszadeh et al.
  2024), whose classifier has 512 units and no dropout; 9.75 million parameters with 10 classes.

Tensor names are torchvision's in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from torch import Tensor, nn

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

RECIPE = "vgg11"
STAGES = ((64,), (128,), (256, 256), (512, 512), (512, 512))
"""Channels of the convolutions between the five max pools."""


@dataclass(frozen=True)
class VggLayout:
    """What makes one VGG different from another."""

    hidden: int  #: Units of both hidden layers of the classifier.
    pooled: int  #: Height and width to which features are pooled before the classifier.
    dropout: float | None  #: Dropout after each hidden layer; None for none in the network.
    stages: tuple[tuple[int, ...], ...] = STAGES  #: Channels of the convolutions between the max pools.


LAYOUTS = MappingProxyType({"torchvision": VggLayout(4096, 7, 0.5), "small": VggLayout(512, 1, None)})
"""Layouts by name."""


class Vgg(nn.Module):
    """A VGG: convolutions and max pools, adaptive average pooling, a classifier of three linear layers."""

    def __init__(self, layout: VggLayout, channels: int, classes: int) -> None:
        super().__init__()
        features: list[nn.Module] = []
        for stage in layout.stages:
            for width in stage:
                features += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU()]
                channels = width
            features.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*features)
        self.avgpool = nn.AdaptiveAvgPool2d(layout.pooled)
        self.classifier = nn.Sequential(
            *self._hidden(channels * layout.pooled**2, layout),
            *self._hidden(layout.hidden, layout),
            nn.Linear(layout.hidden, classes),
        )

    @staticmethod
    def _hidden(size_in: int, layout: VggLayout) -> list[nn.Module]:
        layers: list[nn.Module] = [nn.Linear(size_in, layout.hidden), nn.ReLU()]
        return layers if layout.dropout is None else [*layers, nn.Dropout(layout.dropout)]

    def forward(self, images: Tensor) -> Tensor:
        """Map images ``[N, C, H, W]`` to logits ``[N, classes]``."""
        features = self.avgpool(self.features(images))
        logits: Tensor = self.classifier(features.flatten(1))
        return logits


def order_vgg(
    images: Pixels,
    labels: Labels,
    *,
    layout: str | VggLayout = "small",
    classes: int = 10,
    steps: int = 1000,
    batch_size: int = 16,
    learning_rate: float = 0.01,
    weight_decay: float = 5e-4,
    crop_padding: int = 4,
    flip: bool = True,
    seed: int = 0,
    commit_every: int = 1,
    checkpoint_every: int = 100,
    precision: AnyPrecision | None = None,
    division: Division = WHOLE,
) -> OrderDraft:
    """Draft an order that trains VGG-11 with SGD, momentum 0.9, and a cosine schedule.

    Args:
        images: uint8 ``[n, H, W]`` or ``[n, C, H, W]``, at least 32 pixels high and wide.
        labels: int64 ``[n]``, 0 to ``classes - 1``.
        layout: ``torchvision`` or ``small``, or a layout of one's own.
        classes: Number of classes.
        steps: Training steps.
        batch_size: Images per step; 16 is that of the comparison with Kaizen.
        learning_rate: First learning rate; falls to 0.
        weight_decay: L2 penalty of every parameter.
        crop_padding: Border of the random crop, in pixels; 0 for no crop.
        flip: Whether images are mirrored at random.
        seed: Seed of initial weights, shuffling, augmentation and dropout.
        commit_every: A state is digested every so many steps.
        checkpoint_every: A state is stored every so many steps.
        precision: The precision profile.
        division: How a step is divided into shares and micro-batches; by default it is not.

    Raises:
        DataError: Images, labels or settings cannot be used, or there is no such layout.
    """
    if isinstance(layout, str) and layout not in LAYOUTS:
        raise DataError(f"There is no layout {layout!r} of VGG-11.", remedy=f"Choose one of {', '.join(LAYOUTS)}.")
    chosen = LAYOUTS[layout] if isinstance(layout, str) else layout
    pixels = with_channels(images, labels, classes)
    check_settings(batch_size, steps, crop_padding)
    side = 2 ** len(chosen.stages)
    if min(pixels.shape[2:]) < side:
        raise DataError(
            f"VGG-11 halves its images {len(chosen.stages)} times, so those of {pixels.shape[2]}x{pixels.shape[3]} "
            f"pixels are too small for it.",
            remedy=f"Use images of at least {side}x{side} pixels, such as CIFAR-10's, or order a ResNet.",
        )
    network = Vgg(chosen, pixels.shape[1], classes)
    he_uniform(network, seed)
    rule = division.updating(Sgd(momentum=0.9, weight_decay=weight_decay))
    objective = ImageObjective(Normalisation.of(pixels), crop_padding, flip)
    batch = image_batch(pixels, batch_size)
    return draft_order(
        title=f"VGG-11 on {len(pixels)} images of {'x'.join(map(str, pixels.shape[1:]))}",
        recipe=RECIPE,
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
