"""A small job of PyTorch's own objects, and an ordinary training loop over the same objects in float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import Optimizer
from torch.utils.data import TensorDataset

from counterfoil import CustomJob
from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.compute import interpreter
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from support.jobs import draw

STEPS, BATCH = 6, 4
X, Y = torch.from_numpy(draw((24, 5), 1)), torch.from_numpy(draw((24, 3), 2))
CLOSE = 1e-6


def network() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))


def objective(model: nn.Module, batch: Any) -> Tensor:
    x, y = batch
    return functional.mse_loss(model(x), y) * 4.0


def job(rule: Any, **settings: Any) -> CustomJob:
    model = settings.pop("model", None) or network()
    given = {"data": TensorDataset(X, Y), "steps": STEPS, "batch_size": BATCH, "checkpoint_every": STEPS, **settings}
    return CustomJob("A test", model, given.pop("objective", objective), rule(model), **given)


def losses_of(draft: OrderDraft) -> list[float]:
    """The losses of the order's program, in float64 with a state that stays float64."""
    runner = Interpreter(draft.program, torch.device("cpu"))
    state: dict[str, Tensor] = {
        name: torch.from_numpy(a).double() if a.dtype == np.float32 else torch.from_numpy(a)
        for name, a in draft.initial.items()
    }
    losses = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interpreter, "stored_tensor", lambda tensor, described: tensor)
        for step in range(len(draft.schedule)):
            scalars = dict(zip(draft.manifest.scalar_names, draft.scalars[step].tolist(), strict=True))
            batch = {n: torch.from_numpy(draft.data[n][draft.schedule[step]]) for n in draft.program.batch_names}
            result = runner.run(StepInputs(state, batch, scalars, Draws(0, step + 1)))
            state, losses = dict(result.state), [*losses, result.loss]
    return losses


def trained_by_torch(
    model: nn.Module,
    optimizer: Optimizer,
    batches: Iterator[Any],
    scheduler: Any = None,
    steps: int = STEPS,
    clip: float | None = None,
    loss_of: Callable[[nn.Module, Any], Tensor] = objective,
) -> list[float]:
    """An ordinary training loop, in float64."""
    model.double()
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        batch = next(batches)
        loss = loss_of(model, [part.double() for part in batch])
        loss.backward()
        losses.append(loss.item())
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
    return losses


def scheduled(draft: OrderDraft) -> Iterator[Any]:
    for rows in draft.schedule:
        yield X[rows], Y[rows]
