"""What is measured: a training step as ordered, and the same step as ordinary eager training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.capture import capture
from counterfoil.program.passes import Objective
from counterfoil.program.update import Sgd
from counterfoil.training.images import Labels, Pixels
from counterfoil.training.order import OrderDraft, draft_order
from counterfoil.training.recipes import gpt2
from counterfoil.training.recipes.digits import DigitsNet, Residual, order_digits
from counterfoil.training.recipes.resnet import LAYOUTS, ResNet, ResNetLayout
from counterfoil.training.schedules import cosine, shuffled_epochs
from counterfoil.training.tokens import Tokens
from counterfoil.training.weights import Weights, fan_in_uniform
from counterfoil_core.base.precision import AnyPrecision, exact_profile
from counterfoil_core.operators.node import TensorType
from counterfoil_resources.digits import load_digits

EagerStep = Callable[[], float]
Loss = Callable[[], Tensor]
STEPS = 2
CPU = torch.device("cpu")


class Ordered(Protocol):
    """Makes the order of a workload."""

    def __call__(self, precision: AnyPrecision | None, steps: int = ..., /) -> OrderDraft:
        """Return an order of so many steps in a precision profile; None for the recipe's own."""


@dataclass(frozen=True)
class Workload:
    """One training step in two forms."""

    name: str  #: What it is, for the table.
    #: Returns the order whose first step is executed, in a precision profile; None for the recipe's own.
    order: Ordered
    #: Returns ordinary eager training of the same model, batch and optimizer: in a dtype, on a device. bfloat16 stands
    #: for torch's autocast to it, with weights in float32.
    eager: Callable[[torch.dtype, torch.device], EagerStep]


def weight_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype of weights and inputs of eager training in a dtype."""
    return torch.float32 if dtype is torch.bfloat16 else dtype


def eager_step(
    optimizer: torch.optim.Optimizer,
    loss: Loss,
    dtype: torch.dtype = torch.float32,
    device: torch.device = CPU,
    *,
    clip: float | None = None,
) -> EagerStep:
    """Return one step of ordinary training, which gives the loss.

    Args:
        optimizer: Its parameters lie on the device.
        loss: Computes the loss.
        dtype: What is computed in; bfloat16 by autocast.
        device: Where.
        clip: The largest joint norm of the gradients, or None.
    """

    def step() -> float:
        optimizer.zero_grad()
        with torch.autocast(device.type, torch.bfloat16, enabled=dtype is torch.bfloat16):
            value = loss()
        value.backward()  # type: ignore[no-untyped-call]
        if clip is not None:
            nn.utils.clip_grad_norm_((p for group in optimizer.param_groups for p in group["params"]), clip)
        optimizer.step()
        return value.item()

    return step


def sgd(model: nn.Module, rate: float = 0.1) -> torch.optim.Optimizer:
    """The optimizer of the networks for images."""
    return torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9, weight_decay=5e-4)


def _eager_images(
    make: Callable[[], nn.Module], images: Tensor, labels: Tensor, dtype: torch.dtype, device: torch.device
) -> EagerStep:
    """Ordinary training of a network on images that are scaled already."""
    model = make().to(device, weight_dtype(dtype))
    x, y = images.to(device, weight_dtype(dtype)), labels.to(device)
    return eager_step(sgd(model), lambda: functional.cross_entropy(model(x), y), dtype, device)


def digits() -> Workload:
    """The recipe digits-cnn as the demonstration orders it."""
    images, labels = load_digits()
    first = torch.from_numpy(images[:32])[:, None] / 16, torch.from_numpy(labels[:32])

    def order(precision: AnyPrecision | None, steps: int = 4) -> OrderDraft:
        return order_digits(images, labels, steps=steps, precision=precision)

    return Workload("digits-cnn, width 16, batch 32", order, partial(_eager_images, lambda: DigitsNet(16), *first))


def _objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    return functional.cross_entropy(model(batch["images"].to(torch.float32) * (1 / 256)), batch["labels"])


def _images(name: str, make: Callable[[], nn.Module], images: Pixels, labels: Labels) -> Workload:
    """A network on made-up images in one batch."""
    batch = len(images)
    types = {"images": TensorType("uint8", images.shape), "labels": TensorType("int64", (batch,))}
    objective: Objective = _objective

    def order(precision: AnyPrecision | None, steps: int = STEPS) -> OrderDraft:
        rule = Sgd(momentum=0.9, weight_decay=5e-4)
        return draft_order(
            title=name,
            recipe="benchmark",
            captured=capture(make(), objective, rule, types, exact=exact_profile(precision)),
            rule=rule,
            learning_rates=cosine(0.1, steps),
            schedule=shuffled_epochs(batch, batch, steps, 0),
            data={"images": images, "labels": labels},
            seed=0,
            precision=precision,
        )

    return Workload(name, order, partial(_eager_images, make, torch.from_numpy(images) / 256, torch.from_numpy(labels)))


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

    def make() -> nn.Module:
        model = WideNet()
        fan_in_uniform(model, 0)
        return model

    name = "residual CNN, 64 to 256 channels, 32x32, batch 16"
    return _images(name, make, images, rng.integers(0, 10, 16))


class ThinFilters(nn.Module):
    """Convolutions of one row and of one column, of which libraries have algorithms of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.along = nn.Conv2d(3, 8, (1, 7), padding=(0, 3))
        self.down = nn.Conv2d(8, 8, (5, 1), stride=(2, 1), padding=(2, 0), groups=2)
        self.head = nn.Linear(8, 10)

    def forward(self, images: Tensor) -> Tensor:
        """Map ``[N, 3, 16, 16]`` to ``[N, 10]``."""
        logits: Tensor = self.head(functional.relu(self.down(functional.relu(self.along(images)))).mean((2, 3)))
        return logits


def thin_filters(batch: int) -> Workload:
    """Filters of 1 x 7 and 5 x 1."""
    return _small_images(f"1 x 7 and 5 x 1 filters, batch {batch}", ThinFilters, batch)


class Dropped(nn.Module):
    """A hidden layer of which each step leaves out some."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(3 * 16 * 16, 64)
        self.head = nn.Linear(64, 10)

    def forward(self, images: Tensor) -> Tensor:
        """Map ``[N, 3, 16, 16]`` to ``[N, 10]``."""
        kept = functional.dropout(functional.relu(self.hidden(images.flatten(1))), 0.3)
        logits: Tensor = self.head(kept)
        return logits


def dropped(batch: int) -> Workload:
    """Dropout between two layers."""
    return _small_images(f"dropout, batch {batch}", Dropped, batch)


def _small_images(name: str, model: Callable[[], nn.Module], batch: int) -> Workload:
    rng = np.random.default_rng(0)

    def make() -> nn.Module:
        torch.manual_seed(0)
        return model()

    images = rng.integers(0, 256, (batch, 3, 16, 16)).astype(np.uint8)
    return _images(name, make, images, rng.integers(0, 10, batch))


class LargeImageResNet(ResNet):
    """A residual network with the stem of He et al. 2016, for images of 224x224: a 7x7 convolution and a max pool.

    Tensor names are torchvision's.
    """

    def __init__(self, layout: ResNetLayout, classes: int) -> None:
        super().__init__(layout, 3, classes)
        self.conv1 = nn.Conv2d(3, layout.width, 7, stride=2, padding=3, bias=False)

    def forward(self, images: Tensor) -> Tensor:
        """Map images ``[N, 3, H, W]`` to logits ``[N, classes]``."""
        x = functional.max_pool2d(functional.relu(self.bn1(self.conv1(images))), 3, 2, 1)
        for stage in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = stage(x)
        logits: Tensor = self.fc(x.mean((2, 3)))
        return logits


def resnet50(batch: int, side: int = 224, layout: ResNetLayout = LAYOUTS["resnet50"], classes: int = 1000) -> Workload:
    """ResNet-50 as for ImageNet, on made-up images; weights are drawn by torch."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (batch, 3, side, side), dtype=np.uint8)

    def make() -> nn.Module:
        torch.manual_seed(0)
        return LargeImageResNet(layout, classes)

    kind = "ResNet-50" if layout is LAYOUTS["resnet50"] else f"small ResNet of width {layout.width}"
    return _images(f"{kind}, {side}x{side}, batch {batch}", make, images, rng.integers(0, classes, batch))


def gpt2_of_size(size: gpt2.Gpt2Size, batch: int) -> Workload:
    """A GPT-2 of any size on made-up bytes."""
    rng = np.random.default_rng(0)
    text = rng.integers(0, 256, 4 * batch * (size.context + 1)).astype(np.uint8)
    rows = torch.from_numpy(text.reshape(-1, size.context + 1)[:batch])

    def order(precision: AnyPrecision | None, steps: int = STEPS) -> OrderDraft:
        return gpt2.order_gpt2(text.tobytes(), size=size, batch_size=batch, steps=steps, precision=precision)

    def eager(dtype: torch.dtype, device: torch.device) -> EagerStep:
        model = gpt2.Gpt2(size)
        gpt2.initialise(model, size.layers, 0)
        return _eager_gpt2(model, rows, 1e-3, dtype, device)

    name = f"gpt2, {size.layers} layers, width {size.width}, sequence {size.context}, batch {batch}"
    return Workload(name, order, eager)


def _eager_gpt2(model: gpt2.Gpt2, rows: Tensor, rate: float, dtype: torch.dtype, device: torch.device) -> EagerStep:
    model.to(device, weight_dtype(dtype))
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    batch = {"tokens": rows.to(device)}

    def loss() -> Tensor:
        # The model makes its causal mask where torch makes tensors.
        with nullcontext() if device.type == "cpu" else device:
            return gpt2.objective(model, batch)

    return eager_step(optimizer, loss, dtype, device, clip=1.0)


def small_gpt2() -> Workload:
    """The recipe gpt2 at its default size."""
    return gpt2_of_size(gpt2.Gpt2Size(), 8)


def wide_gpt2() -> Workload:
    """Layers of GPT-2 124M's width, two of them."""
    return gpt2_of_size(gpt2.Gpt2Size(layers=2, heads=12, width=768, context=64), 8)


def public_gpt2(batch: int, sequence: int, size: gpt2.Gpt2Size = gpt2.SIZES["124M"]) -> Workload:
    """A GPT-2 of the size of public weights, on made-up tokens, as in fine-tuning: a low learning rate.

    Its weights are drawn by torch: the recipe's own way, the same on every machine, takes minutes at this size.
    """
    numbers = np.random.default_rng(0).integers(0, size.vocabulary, batch * (sequence + 1)).astype(np.int32)

    def model() -> gpt2.Gpt2:
        torch.manual_seed(0)
        made = gpt2.Gpt2(size)
        for parameter in made.parameters():
            nn.init.normal_(parameter, std=gpt2.DEVIATION)
        return made

    def order(precision: AnyPrecision | None, steps: int = STEPS) -> OrderDraft:
        tensors = {name: parameter.detach() for name, parameter in model().named_parameters()}
        return gpt2.order_gpt2(
            Tokens(numbers, size.vocabulary, Path("made up")),
            size=size,
            weights=Weights(Path("made up"), tensors),
            sequence=sequence,
            batch_size=batch,
            steps=steps,
            learning_rate=5e-5,
            precision=precision,
        )

    def eager(dtype: torch.dtype, device: torch.device) -> EagerStep:
        return _eager_gpt2(model(), torch.from_numpy(numbers.reshape(batch, -1)), 5e-5, dtype, device)

    parameters = "124M" if size is gpt2.SIZES["124M"] else f"of {size.layers} layers of width {size.width}"
    return Workload(f"GPT-2 {parameters}, sequence {sequence}, batch {batch}", order, eager)


WORKLOADS: dict[str, Callable[[], Workload]] = {
    "digits": digits,
    "wide-cnn": wide_cnn,
    "gpt2": small_gpt2,
    "wide-gpt2": wide_gpt2,
}
"""Steps that a small machine can do, by name."""
