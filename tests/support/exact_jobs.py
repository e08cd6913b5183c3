"""Small jobs under exact profiles whose programs are single operations as they are captured, and trainers who cheat."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import torch
from torch import Tensor, nn

from counterfoil.program.capture import capture
from counterfoil.program.update import Sgd
from counterfoil.training.order import OrderDraft, draft_order
from counterfoil.training.schedules import shuffled_epochs
from counterfoil_core.base.precision import ExactPrecision
from support.jobs import draw, types

ROWS, INPUTS, HIDDEN, CLASSES = 40, 12, 6, 5


class Plain(nn.Module):
    """Two products of matrices with an exponential between them, and an embedding of the labels for the target."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Parameter(torch.from_numpy(draw((INPUTS, HIDDEN), 1)) * 0.5)
        self.second = nn.Parameter(torch.from_numpy(draw((HIDDEN, CLASSES), 2)) * 0.5)
        self.target = nn.Parameter(torch.from_numpy(draw((CLASSES, CLASSES), 3)))

    def forward(self, x: Tensor, labels: Tensor) -> Tensor:
        hidden = torch.exp(x @ self.first)
        return hidden @ self.second - nn.functional.embedding(labels, self.target)


def _loss(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    difference = model(batch["x"], batch["labels"])
    return (difference * difference).sum()


@cache
def plain_order(bits: int = 20, *, steps: int = 5, seed: int = 3) -> OrderDraft:
    """An order of :class:`Plain`."""
    data = {"x": draw((ROWS, INPUTS), 4), "labels": (torch.arange(ROWS) * 7 % CLASSES).numpy()}
    rule = Sgd()
    return draft_order(
        title="An exact model of a test",
        recipe="own",
        captured=capture(Plain(), _loss, rule, types(data, 8)),
        rule=rule,
        learning_rates=[0.01] * steps,
        schedule=shuffled_epochs(ROWS, 8, steps, seed),
        data=data,
        seed=seed,
        precision=ExactPrecision(bits),
        checkpoint_every=2,
    )
