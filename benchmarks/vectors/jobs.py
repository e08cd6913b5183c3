"""The jobs of the vectors: tiny models, with data and weights from Philox."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.capture import capture
from counterfoil.program.update import Adam, Sgd, UpdateRule
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft, draft_order
from counterfoil.training.schedules import shuffled_epochs
from counterfoil.training.turns import Turn, TurnsJob, order_turns
from counterfoil.training.weights import fan_in_uniform
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision, Precision, exact_profile
from counterfoil_core.base.stoprule import StopRule
from counterfoil_core.kernels.exact.philox import uniform
from counterfoil_core.operators.node import TensorType

Array = npt.NDArray[Any]
SEED = 2026
STEPS = 3
_ROWS = 12
_BATCH = 4
_CLASSES = 3
_TOKENS = 11
_WIDTH = 8
_HEADS = 2
_LENGTH = 5


class ConvolutionNet(nn.Module):
    """Convolution with padding, batch norm, a convolution of one element with stride 2, mean, linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(3)
        self.point = nn.Conv2d(3, 4, 1, stride=2)
        self.head = nn.Linear(4, _CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits ``[N, classes]`` for images ``[N, 1, 6, 6]``."""
        x = functional.relu(self.norm(self.conv(x)))
        logits: Tensor = self.head(self.point(x).mean((2, 3)))
        return logits


class Transformer(nn.Module):
    """One block: embedding, dropout, causal attention of two heads, layer norm, GELU.

    Args:
        gelu: Its form: ``none`` for that with erf, or ``tanh``.
    """

    def __init__(self, gelu: str) -> None:
        super().__init__()
        self.gelu = gelu
        self.embedding = nn.Embedding(_TOKENS, _WIDTH)
        self.attention = nn.Linear(_WIDTH, 3 * _WIDTH)
        self.norm = nn.LayerNorm(_WIDTH)
        self.head = nn.Linear(_WIDTH, _TOKENS, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits ``[N, length, tokens]`` for tokens ``[N, length]``."""
        n, length = tokens.shape
        x = functional.dropout(self.embedding(tokens), 0.125)
        parts = self.attention(x).split(_WIDTH, dim=2)
        q, k, v = (part.view(n, length, _HEADS, _WIDTH // _HEADS).transpose(1, 2) for part in parts)
        scores = q @ k.transpose(2, 3) * (1.0 / math.sqrt(_WIDTH // _HEADS))
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        weights = functional.dropout(scores.masked_fill(later, -math.inf).softmax(-1), 0.125)
        x = x + (weights @ v).transpose(1, 2).reshape(n, length, _WIDTH)
        logits: Tensor = self.head(functional.gelu(self.norm(x), approximate=self.gelu))
        return logits


def _draw(shape: tuple[int, ...], number: int) -> Array:
    drawn: Array = uniform(shape, seed=SEED, step=0, draw=number, dtype=torch.float32, device="cpu").numpy()
    return drawn


def _order(
    title: str,
    model: nn.Module,
    objective: Callable[[nn.Module, Mapping[str, Tensor]], Tensor],
    data: Mapping[str, Array],
    rule: UpdateRule,
    precision: AnyPrecision,
) -> OrderDraft:
    fan_in_uniform(model, SEED)
    types = {name: TensorType(array.dtype.name, (_BATCH, *array.shape[1:])) for name, array in data.items()}
    return draft_order(
        title=title,
        recipe="vectors",
        captured=capture(model, objective, rule, types, exact=exact_profile(precision)),
        rule=rule,
        learning_rates=[0.0625 / step for step in range(1, STEPS + 1)],
        schedule=shuffled_epochs(_ROWS, _BATCH, STEPS, SEED),
        data=data,
        seed=SEED,
        precision=precision,
        checkpoint_every=4,
        commit_every=2,
    )


def convolution_order() -> OrderDraft:
    """Cross entropy of :class:`ConvolutionNet` under SGD with momentum and weight decay; calibrated margins.

    The margin is the widest there is, so that many decisions are logged.
    """
    return _convolution_order(Precision(margin_bits=Precision().margin_range[0], proven=False))


def exact_order() -> OrderDraft:
    """The same job under an exact profile: its operators are decomposed into single operations, and there is no log."""
    return _convolution_order(ExactPrecision(13))


def _convolution_order(precision: AnyPrecision) -> OrderDraft:
    data = {"images": _draw((_ROWS, 1, 6, 6), 100), "labels": (_draw((_ROWS,), 101) * _CLASSES).astype(np.int64)}
    return _order(
        "Convolutions, batch norm, cross entropy and SGD",
        ConvolutionNet(),
        lambda model, batch: functional.cross_entropy(model(batch["images"]), batch["labels"]),
        data,
        Sgd(momentum=0.875, weight_decay=2.0**-10),
        precision,
    )


def shares_order() -> OrderDraft:
    """Three shares of four rows, with batch norm and dropout, under an exact profile."""
    data = {"rows": _draw((_ROWS, 5), 107), "labels": (_draw((_ROWS,), 108) * _CLASSES).astype(np.int64)}
    model = nn.Sequential(
        nn.Linear(5, 4, bias=False), nn.BatchNorm1d(4), nn.Dropout(0.25), nn.ReLU(), nn.Linear(4, _CLASSES)
    )
    fan_in_uniform(model, SEED)
    rule = Sgd(momentum=0.875)
    return order_custom(
        CustomJob(
            "Linear layers in three shares",
            model,
            lambda m, batch: functional.cross_entropy(m(batch["rows"]), batch["labels"]),
            rule,
            data,
            STEPS,
            batch_size=_ROWS,
            learning_rate=0.0625,
            seed=SEED,
            precision=ExactPrecision(13),
            checkpoint_every=4,
            shares=3,
        )
    )


def stopped_order() -> OrderDraft:
    """Cross entropy of a linear layer whose learning rate is soon too high, so that the order's rule ends the run."""
    data = {"rows": _draw((_ROWS, 5), 105), "labels": (_draw((_ROWS,), 106) * _CLASSES).astype(np.int64)}
    model = nn.Linear(5, _CLASSES)
    fan_in_uniform(model, SEED)
    rule, rates = Sgd(), [0.5, 0.5, 64.0, 0.25, 0.25, 0.25, 0.25, 0.25]
    draft = draft_order(
        title="A linear layer that stops early",
        recipe="vectors",
        captured=capture(
            model,
            lambda m, batch: functional.cross_entropy(m(batch["rows"]), batch["labels"]),
            rule,
            {name: TensorType(array.dtype.name, (_ROWS, *array.shape[1:])) for name, array in data.items()},
        ),
        rule=rule,
        learning_rates=rates,
        schedule=shuffled_epochs(_ROWS, _ROWS, len(rates), SEED),
        data=data,
        seed=SEED,
        checkpoint_every=4,
        commit_every=2,
    )
    return draft.stopping_early(StopRule(2, 2.0**-10))


class Adversaries(nn.Module):
    """A generator of rows and a discriminator of made rows from others, of one layer each but for the first's ReLU."""

    def __init__(self) -> None:
        super().__init__()
        self.generator = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 6))
        self.discriminator = nn.Linear(6, 2)


def turns_order() -> OrderDraft:
    """Two optimizers that take turns on :class:`Adversaries`: the discriminator's has two steps to the other's one."""
    data = {
        "rows": _draw((_ROWS, 6), 103),
        "noise": _draw((_ROWS, 4), 104),
        "real": np.ones(_ROWS, np.int64),
        "made": np.zeros(_ROWS, np.int64),
    }

    def tell_apart(model: Any, batch: Mapping[str, Tensor]) -> Tensor:
        made = model.generator(batch["noise"]).detach()
        real = functional.cross_entropy(model.discriminator(batch["rows"]), batch["real"])
        return real + functional.cross_entropy(model.discriminator(made), batch["made"])

    def deceive(model: Any, batch: Mapping[str, Tensor]) -> Tensor:
        return functional.cross_entropy(model.discriminator(model.generator(batch["noise"])), batch["real"])

    model = Adversaries()
    fan_in_uniform(model, SEED)
    return order_turns(
        TurnsJob(
            title="Two networks against each other, Adam and SGD in turns",
            model=model,
            turns=(
                Turn("d", tell_apart, Adam(), "discriminator.*", [0.0625, 0.03125, 0.015625]),
                Turn("g", deceive, Sgd(momentum=0.875), "generator.*", [0.0625]),
            ),
            pattern="d, d, g",
            data=data,
            steps=4,
            batch_size=_BATCH,
            schedule=shuffled_epochs(_ROWS, _BATCH, 4, SEED),
            seed=SEED,
            commit_every=2,
            checkpoint_every=4,
        )
    )


def transformer_order() -> OrderDraft:
    """Cross entropy of :class:`Transformer` under Adam; dropout draws, proven margins."""
    return _transformer_order(Precision(), "none")


def rows_order() -> OrderDraft:
    """The same job exact by rows, with GELU in its tanh form."""
    return _transformer_order(ExactPrecision(20, rows=True), "tanh")


def _transformer_order(precision: AnyPrecision, gelu: str) -> OrderDraft:
    data = {"tokens": (_draw((_ROWS, _LENGTH + 1), 102) * _TOKENS).astype(np.int64)}

    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        tokens = batch["tokens"]
        logits = model(tokens[:, :-1])
        return functional.cross_entropy(logits.reshape(-1, _TOKENS), tokens[:, 1:].reshape(-1))

    return _order(
        "Attention, layer norm, GELU, dropout and Adam", Transformer(gelu), objective, data, Adam(), precision
    )
