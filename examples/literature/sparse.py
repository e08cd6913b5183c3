"""A sparse network: most weights are zero from the first step to the last, by masks that the order holds.

    cd examples/literature
    counterfoil order --from sparse:make_job --out sparse.cfoil

Pruning by magnitude (Han et al. 2015, "Learning both Weights and Connections for Efficient Neural Networks", NIPS,
arXiv 1506.02626), with training of what is left (Frankle and Carbin 2019, "The Lottery Ticket Hypothesis", ICLR, arXiv
1803.03635). The masks are buffers: state of the order that no step changes. Each is multiplied with its weights in the
forward pass, and so with their gradients in the backward pass.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil import CustomJob
from counterfoil_resources.digits import load_digits

KEPT = 0.1
"""The share of the weights of each matrix that is not zero."""


class Masked(nn.Module):
    """A product with a matrix of which only some elements are there."""

    mask: Tensor

    def __init__(self, inputs: int, outputs: int, kept: float) -> None:
        super().__init__()
        dense = nn.Linear(inputs, outputs)
        size = dense.weight.detach().abs().flatten()
        smallest = size.sort(descending=True).values[max(1, round(kept * size.numel())) - 1]
        self.register_buffer("mask", (dense.weight.detach().abs() >= smallest).float())
        self.weight = nn.Parameter(dense.weight.detach() * self.mask)
        self.bias = dense.bias

    def forward(self, x: Tensor) -> Tensor:
        """Map ``[N, inputs]`` to ``[N, outputs]``."""
        return functional.linear(x, self.weight * self.mask, self.bias)


def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """The cross entropy."""
    images = batch["images"].to(torch.float32).flatten(1) * (1 / 16)
    return functional.cross_entropy(model(images), batch["labels"])


def make_job(steps: int = 20, kept: float = KEPT) -> CustomJob:
    """The job, of so many steps."""
    torch.manual_seed(0)
    images, labels = load_digits()
    model = nn.Sequential(
        Masked(64, 96, kept), nn.ReLU(), Masked(96, 96, kept), nn.ReLU(), nn.Linear(96, 10)
    )  # fmt: skip
    return CustomJob(
        title="Handwritten digits, nine of ten weights left out",
        model=model,
        objective=objective,
        rule=torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4),
        data={"images": images, "labels": labels},
        steps=steps,
        batch_size=32,
        seed=1,
        checkpoint_every=5,
    )
