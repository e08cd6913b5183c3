"""Stacking of layers: a network that grows, layer by layer, in one order and over two.

    cd examples/literature
    counterfoil order --from stacking:make_job --out stacking.cfoil

**By turns**, in one order: each layer has an optimizer, a classifier of its own on top, and its turn; the layers below
are constants in its steps. Bengio et al. 2007, "Greedy Layer-Wise Training of Deep Networks" (NIPS), in the supervised
form of Belilovsky et al. 2019, "Greedy Layerwise Learning Can Scale to ImageNet" (ICML, arXiv 1812.11446).

**Progressively**, over two orders: a shallow network is trained, its layer is copied on top of itself, and the deeper
network is trained on. Gong et al. 2019, "Efficient Training of BERT by Progressively Stacking" (ICML), algorithm 1.

    counterfoil order --from stacking:make_shallow --out shallow.cfoil
    counterfoil train shallow.cfoil --out shallow-run.cfoil --key trainer.pem
    counterfoil export shallow-run.cfoil --safetensors shallow
    counterfoil order --from stacking:make_deep --out deep.cfoil
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from counterfoil import CustomJob, Turn, TurnsJob
from counterfoil_resources.digits import load_digits

WIDTH, CLASSES = 32, 10
SHALLOW = Path("shallow/model.safetensors")
"""What `counterfoil export` wrote of the shallow network's run."""


def pixels(batch: Mapping[str, Tensor]) -> Tensor:
    """The images as float32 ``[N, 64]`` in [0, 1]."""
    return batch["images"].to(torch.float32).flatten(1) * (1 / 16)


class Layer(nn.Module):
    """A residual layer: normalisation, a product, a rectifier, and what came in."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.dense = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``[N, WIDTH]`` to ``[N, WIDTH]``."""
        return x + functional.relu(self.dense(self.norm(x)))


class Greedy(nn.Module):
    """Layers of which each has a classifier of its own; the first stands on a product of the pixels."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Linear(64, WIDTH), Layer()) if number == 0 else Layer() for number in range(depth)
        )
        self.heads = nn.ModuleList(nn.Linear(WIDTH, CLASSES) for _ in range(depth))


def greedy(number: int) -> Callable[[Any, Mapping[str, Tensor]], Tensor]:
    """Return the objective of a layer: its classifier's loss, on what the layers below it give."""

    def objective(model: Any, batch: Mapping[str, Tensor]) -> Tensor:
        x = pixels(batch)
        with torch.no_grad():
            for below in model.layers[:number]:
                x = below(x)
        return functional.cross_entropy(model.heads[number](model.layers[number](x)), batch["labels"])

    return objective


def make_job(steps: int = 18, depth: int = 3) -> TurnsJob:
    """Greedy stacking: each layer has its share of the steps, the lowest first."""
    torch.manual_seed(0)
    images, labels = load_digits()
    model = Greedy(depth)
    turns = []
    for number in range(depth):
        trained = [*model.layers[number].parameters(), *model.heads[number].parameters()]
        turns.append(Turn(f"layer{number}", greedy(number), torch.optim.SGD(trained, lr=0.1, momentum=0.9)))
    return TurnsJob(
        title="Handwritten digits, layer by layer",
        model=model,
        turns=turns,
        pattern=[turns[step * depth // steps].name for step in range(steps)],
        data={"images": images, "labels": labels},
        steps=steps,
        batch_size=32,
        seed=1,
        checkpoint_every=6,
    )


class Stack(nn.Module):
    """A product of the pixels, layers of one shape, and a classifier."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.stem = nn.Linear(64, WIDTH)
        self.layers = nn.Sequential(*(Layer() for _ in range(depth)))
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, images: Tensor) -> Tensor:
        """Map ``[N, 64]`` to logits ``[N, CLASSES]``."""
        logits: Tensor = self.head(self.layers(self.stem(images)))
        return logits


def doubled(weights: Mapping[str, Tensor], depth: int) -> dict[str, Tensor]:
    """Return the weights of a stack twice as deep: layer i is a copy of layer i, and so is layer depth + i."""
    grown = dict(weights)
    for name, value in weights.items():
        kind, _, rest = name.partition(".")
        if kind == "layers":
            number, _, inner = rest.partition(".")
            grown[f"layers.{int(number) + depth}.{inner}"] = value
    return grown


def _stack_job(title: str, model: Stack, steps: int) -> CustomJob:
    images, labels = load_digits()
    return CustomJob(
        title=title,
        model=model,
        objective=lambda model, batch: functional.cross_entropy(model(pixels(batch)), batch["labels"]),
        rule=torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
        data={"images": images, "labels": labels},
        steps=steps,
        batch_size=32,
        seed=1,
        checkpoint_every=5,
    )


def make_shallow(steps: int = 20) -> CustomJob:
    """The shallow network's job, of so many steps."""
    torch.manual_seed(0)
    return _stack_job("Handwritten digits, one layer", Stack(1), steps)


def make_deep(steps: int = 20, shallow: Mapping[str, Tensor] | None = None) -> CustomJob:
    """The job of the network that is twice as deep; it begins with the shallow one's weights, its layer copied.

    Args:
        steps: Steps.
        shallow: The weights; :data:`SHALLOW` unless given.
    """
    model = Stack(2)
    model.load_state_dict(doubled(load_file(SHALLOW) if shallow is None else shallow, 1))
    return _stack_job("Handwritten digits, the layer stacked", model, steps)
