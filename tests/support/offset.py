"""Batch norm behind a linear layer on raw features: means that are thousands of deviations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from counterfoil.program.update import Sgd
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft
from counterfoil_core.base.precision import Precision
from support.jobs import classify

ROWS, FEATURES = 64, 16


class Normed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc, self.norm, self.out = nn.Linear(FEATURES, 32), nn.BatchNorm1d(32), nn.Linear(32, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(torch.relu(self.norm(self.fc(x))))


def offset_data(ratio: float) -> dict[str, Any]:
    """Features of deviation 1 and mean ``ratio`` or its negative."""
    rng = np.random.default_rng(0)
    signs = np.sign(rng.standard_normal(FEATURES))
    x = (rng.standard_normal((ROWS, FEATURES)) + ratio * signs).astype(np.float32)
    return {"x": x, "labels": rng.integers(0, 5, ROWS)}


def offset_order(
    ratio: float, precision: Precision | None = None, model: nn.Module | None = None, **settings: Any
) -> OrderDraft:
    """One step of SGD with the learning rate 1, so that the update is the gradient."""
    torch.manual_seed(0)
    job = CustomJob(
        "Raw features", model or Normed(), classify, Sgd(), offset_data(ratio), 1, ROWS, 1.0, precision=precision,
        schedule=np.arange(ROWS)[None], **settings,
    )  # fmt: skip
    return order_custom(job)


def gradients_of(model: nn.Module, data: Mapping[str, Any], dtype: torch.dtype) -> dict[str, Tensor]:
    """What torch's autograd gives, as float64."""
    x = torch.from_numpy(data["x"]).to(dtype)
    classify(model.to(dtype), {"x": x, "labels": torch.from_numpy(data["labels"])}).backward()
    return {name: p.grad.double() for name, p in model.named_parameters() if p.grad is not None}
