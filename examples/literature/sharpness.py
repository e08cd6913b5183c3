"""Sharpness-aware minimisation: the gradient of a step is taken where the loss is highest nearby.

    cd examples/literature
    counterfoil order --from sharpness:make_job --out sharpness.cfoil

Foret et al. 2021, "Sharpness-Aware Minimization for Efficiently Improving Generalization" (ICLR, arXiv 2010.01412),
algorithm 1: a first gradient says where within a ball around the weights the loss rises most; the gradient there,
taken as a constant move away from the weights, is what the optimizer gets. Published implementations are optimizers
with a closure, which no order takes; here both gradients are in the objective, and any optimizer may follow.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from counterfoil import CustomJob
from counterfoil_resources.digits import load_digits

RADIUS = 0.05
"""How far the weights are moved, by the Euclidean norm over all of them (rho in the paper)."""
SMALL = 1e-12
"""Added to the norm of the first gradient, which may be zero."""


class Network(nn.Module):
    """A perceptron with layer normalisation."""

    def __init__(self, width: int = 48, classes: int = 10) -> None:
        super().__init__()
        self.first = nn.Linear(64, width)
        self.norm = nn.LayerNorm(width)
        self.second = nn.Linear(width, width)
        self.head = nn.Linear(width, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Map images ``[N, 64]`` in [0, 1] to logits ``[N, classes]``."""
        x = functional.gelu(self.norm(self.first(images)))
        logits: Tensor = self.head(functional.gelu(self.second(x)))
        return logits


def moved_weights(model: nn.Module, images: Tensor, labels: Tensor) -> dict[str, Tensor]:
    """Return the weights moved by :data:`RADIUS` along the gradient of the loss.

    The move is a constant: what is differentiated by the moved weights is differentiated by the weights.
    """
    weights = dict(model.named_parameters())
    first = torch.autograd.grad(functional.cross_entropy(model(images), labels), list(weights.values()))
    norm = torch.stack([slope.square().sum() for slope in first]).sum().sqrt()
    scale = (RADIUS / (norm + SMALL)).detach()
    return {name: weight + scale * slope.detach() for (name, weight), slope in zip(weights.items(), first, strict=True)}


def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """The loss at the moved weights."""
    images = batch["images"].to(torch.float32).flatten(1) * (1 / 16)
    labels = batch["labels"]
    there = moved_weights(model, images, labels)
    return functional.cross_entropy(functional_call(model, there, (images,)), labels)


def make_job(steps: int = 20) -> CustomJob:
    """The job, of so many steps."""
    torch.manual_seed(0)
    images, labels = load_digits()
    model = Network()
    return CustomJob(
        title="Handwritten digits, sharpness-aware",
        model=model,
        objective=objective,
        rule=torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4),
        data={"images": images, "labels": labels},
        steps=steps,
        batch_size=32,
        seed=1,
        checkpoint_every=5,
    )
