"""Attention with a mask of minus infinity, which operators bring to the softmax in one way or another."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.update import Sgd
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft
from support.jobs import classify, draw

INF = float("inf")
TIME, WIDTH = 6, 8
MASKED_DATA = {"x": draw((24, TIME, WIDTH), 2), "labels": np.arange(24, dtype=np.int64) % 5}
Masking = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Attention weights from queries, keys and a mask that is 0 or minus infinity."""


def divided(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax((q @ k.transpose(1, 2) + mask) / math.sqrt(WIDTH), -1)


def divided_by_a_tensor(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    # The divisor is a constant: its gradient would be 0 * infinity, in torch as well.
    return torch.softmax((q @ k.transpose(1, 2) + mask) / (k.detach().abs().sum((1, 2), keepdim=True) + 1), -1)


def baddbmm(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    base = mask.expand(len(q), -1, -1)
    return torch.softmax(torch.baddbmm(base, q, k.transpose(1, 2), alpha=1 / math.sqrt(WIDTH)), -1)


def added_with_alpha(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(torch.add(mask, q @ k.transpose(1, 2), alpha=1 / math.sqrt(WIDTH)), -1)


def log_softmax(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    return torch.log_softmax(q @ k.transpose(1, 2) + mask, -1).exp()


def logsumexp(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    scores = q @ k.transpose(1, 2) + mask
    return torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))


def softmax_along_the_first_axis(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(k @ q.transpose(1, 2) + mask.t(), 1).transpose(1, 2)


def product(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    # The mask arises within an operator, from an infinity that one of its arguments holds.
    return torch.softmax(torch.addcmul(q @ k.transpose(1, 2), mask, torch.ones(TIME, TIME), value=0.5), -1)


def interpolated(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    scores = q @ k.transpose(1, 2)
    return torch.softmax(torch.where(mask == 0, scores, torch.sqrt(-mask).neg()), -1)


def scaled_dot_product(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    identity = torch.eye(TIME).expand(len(q), -1, -1)
    return functional.scaled_dot_product_attention(q, k, identity, attn_mask=mask)


PATHS: dict[str, Masking] = {
    f.__name__: f
    for f in (
        divided, divided_by_a_tensor, baddbmm, added_with_alpha, log_softmax, logsumexp, softmax_along_the_first_axis,
        product, interpolated, scaled_dot_product,
    )
}  # fmt: skip


class Masked(nn.Module):
    def __init__(self, masking: Masking) -> None:
        super().__init__()
        self.query, self.key, self.head = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 5)
        self.masking = masking

    def forward(self, x: Tensor) -> Tensor:
        mask = torch.full((TIME, TIME), -INF).triu(1)
        return self.head((self.masking(self.query(x), self.key(x), mask) @ x).mean(1))


def masked_order(masking: Masking, **settings: Any) -> OrderDraft:
    torch.manual_seed(0)
    chosen = {"steps": 2, "batch_size": 8, "learning_rate": 0.1} | settings
    return order_custom(CustomJob("A masked model", Masked(masking), classify, Sgd(), MASKED_DATA, **chosen))
