"""Adversarial training: each batch is attacked by projected gradient descent before it is learned.

    cd examples/literature
    counterfoil order --from adversarial:make_job --out adversarial.cfoil

The inner maximisation and the outer minimisation are those of Madry et al. 2018, "Towards Deep Learning Models
Resistant to Adversarial Attacks" (ICLR, arXiv 1706.06083), equation 2.1 and section 2.1: a random start within the
ball, and so many steps along the sign of the gradient, each projected back onto the ball.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil import CustomJob
from counterfoil_resources.digits import load_digits

RADIUS = 0.15
"""How far an attacked pixel may lie from the image's, of a range of 1: the ball of the maximum norm."""
STRIDE = 0.06
"""How far one step of the attack goes."""
ATTACK_STEPS = 4


class Network(nn.Module):
    """A small convolutional network without running statistics: the attack runs it, and must leave no trace in it."""

    def __init__(self, width: int = 12, classes: int = 10) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, width, 3, padding=1)
        self.second = nn.Conv2d(width, 2 * width, 3, stride=2, padding=1)
        self.head = nn.Linear(2 * width * 16, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Map images ``[N, 1, 8, 8]`` in [0, 1] to logits ``[N, classes]``."""
        x = functional.relu(self.first(images))
        x = functional.relu(self.second(x))
        logits: Tensor = self.head(x.flatten(1))
        return logits


def attacked(model: nn.Module, images: Tensor, labels: Tensor, steps: int) -> Tensor:
    """Return images within :data:`RADIUS` of the given ones, moved to where the loss is higher.

    Args:
        model: Maps images to logits.
        images: float32 ``[N, 1, 8, 8]`` in [0, 1].
        labels: int64 ``[N]``.
        steps: Gradients that are taken; with none the images are only moved at random.
    """
    moved = images + RADIUS * (2 * torch.rand(images.shape) - 1)
    for _ in range(steps):
        moved = moved.detach().requires_grad_()
        loss = functional.cross_entropy(model(moved), labels)
        (slope,) = torch.autograd.grad(loss, moved)
        moved = moved + STRIDE * slope.sign()
        moved = torch.minimum(torch.maximum(moved, images - RADIUS), images + RADIUS).clamp(0, 1)
    return moved.detach()


def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """The loss on the attacked images."""
    images = batch["images"].to(torch.float32)[:, None] * (1 / 16)
    labels = batch["labels"]
    return functional.cross_entropy(model(attacked(model, images, labels, ATTACK_STEPS)), labels)


def make_job(steps: int = 20) -> CustomJob:
    """The job, of so many steps."""
    torch.manual_seed(0)
    images, labels = load_digits()
    model = Network()
    return CustomJob(
        title="Handwritten digits, trained against attacks (PGD)",
        model=model,
        objective=objective,
        rule=torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
        data={"images": images, "labels": labels},
        steps=steps,
        batch_size=32,
        seed=1,
        checkpoint_every=5,
    )
