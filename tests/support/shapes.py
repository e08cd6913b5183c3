"""Small jobs whose batches have several shapes: rows padded to the longest of their batch, and a shorter last batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader

from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft
from counterfoil_core.base.precision import AnyPrecision

PAD, WORDS, CLASSES = 0, 11, 3
ROWS, BATCH, EPOCHS = 10, 4, 2
Row = tuple[Tensor, int]


def sentences(lengths: Sequence[int] = (3, 5, 3, 5, 4, 4, 5, 3, 5, 5)) -> list[Row]:
    """Rows of these lengths, each with a class."""
    drawn = torch.Generator().manual_seed(3)
    return [(torch.randint(1, WORDS, (n,), generator=drawn), number % CLASSES) for number, n in enumerate(lengths)]


def padded(rows: list[Row]) -> dict[str, Tensor]:
    """A collation that pads to the longest of a batch."""
    tokens = pad_sequence([tokens for tokens, _ in rows], batch_first=True, padding_value=PAD)
    return {"tokens": tokens, "labels": torch.tensor([label for _, label in rows])}


def loader(rows: Sequence[Row] | None = None, collate: Any = padded, **settings: Any) -> DataLoader[Any]:
    """A loader of sentences in a fixed order, in which the last batch of an epoch is shorter."""
    chosen: dict[str, Any] = {"batch_size": BATCH, "collate_fn": collate} | settings
    return DataLoader(sentences() if rows is None else rows, **chosen)  # type: ignore[arg-type]


class Reader(nn.Module):
    """Means over the words of a sentence, padding left out, with a batch normalisation; or over all places."""

    def __init__(self, *, masked: bool = True) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, 6)
        self.norm = nn.BatchNorm1d(6)
        self.head = nn.Linear(6, CLASSES)
        self.masked = masked

    def forward(self, tokens: Tensor) -> Tensor:
        """Scores of the classes."""
        inside = (tokens != PAD)[..., None].float() if self.masked else torch.ones(*tokens.shape, 1)
        means = (self.words(tokens) * inside).sum(1) / inside.sum(1)
        return self.head(self.norm(means).tanh())


def objective(model: nn.Module, batch: Any) -> Tensor:
    """The loss of a batch."""
    return functional.cross_entropy(model(batch["tokens"]), batch["labels"])


def optimizer_of(model: nn.Module) -> tuple[torch.optim.Optimizer, lr_scheduler.LRScheduler]:
    """An optimizer whose bias corrections and whose scheduler count all steps."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    return optimizer, lr_scheduler.ExponentialLR(optimizer, 0.9)


def shapes_job(data: DataLoader[Any] | None = None, model: nn.Module | None = None, **settings: Any) -> CustomJob:
    """Six steps; unless ``data`` is given the batches of an epoch are 4 x 5, 4 x 5 and 2 x 5."""
    torch.manual_seed(1)
    model = model or Reader()
    optimizer, scheduler = optimizer_of(model)
    chosen: dict[str, Any] = {"steps": 6, "scheduler": scheduler, "checkpoint_every": 2, "seed": 5} | settings
    return CustomJob("Sentences", model, objective, optimizer, loader() if data is None else data, **chosen)


MIXED = (3, 3, 2, 3, 5, 4, 5, 5, 3, 3)
"""Lengths whose batches are 4 x 3, 4 x 5 and 2 x 3."""


@cache
def shapes_order(precision: AnyPrecision | None = None) -> OrderDraft:
    """The order of six steps with batches of 4 x 3, 4 x 5 and 2 x 3."""
    return order_custom(shapes_job(loader(sentences(MIXED)), precision=precision))


def trained_by_torch(
    data: DataLoader[Any],
    model: nn.Module,
    steps: int,
    loss_of: Callable[[nn.Module, Any], Tensor] = objective,
) -> list[float]:
    """Train as an ordinary loop does; returns the losses."""
    optimizer, scheduler = optimizer_of(model)
    losses: list[float] = []
    while True:
        for batch in data:
            loss = loss_of(model, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
            if len(losses) == steps:
                return losses
