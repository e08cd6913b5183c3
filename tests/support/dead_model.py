"""A model with tensors of which there is nothing to say: zero as a whole, without elements, or tiny."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.update import Sgd
from counterfoil.training.order import OrderDraft
from support.jobs import classify, draw, own_order


class Dead(nn.Module):
    """Gradients that are zero as a whole, outputs without elements, and numbers whose margin underflows float64."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.norm = nn.Linear(12, 8), nn.Linear(8, 10), nn.BatchNorm1d(8)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.first(x)
        norm = self.norm
        normal = functional.batch_norm(hidden, norm.running_mean, norm.running_var, norm.weight, norm.bias, False)
        tiny = torch.exp(-hidden.abs() * 10 - 720)
        return self.second(normal) * 0.0 + self.second(tiny) + self.second.bias


def dead() -> OrderDraft:
    data = {"x": draw((32, 12), 1), "labels": np.arange(32, dtype=np.int64) % 10}
    return own_order(Dead(), classify, data, rule=Sgd())
