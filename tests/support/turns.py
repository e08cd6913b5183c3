"""Small jobs in which optimizers take turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from counterfoil.program.update import Adam, Sgd
from counterfoil.training.order import OrderDraft
from counterfoil.training.tamper import Tamper
from counterfoil.training.turns import Turn, TurnsJob, order_turns
from counterfoil_core.arithmetic.compute.interpreter import StepInputs
from counterfoil_core.base.precision import AnyPrecision
from support.jobs import draw

ROWS = 40
D_RATE, G_RATE = 1e-2, 2e-2


class Gan(nn.Module):
    """Both halves of a generative adversarial network; the generator normalises over the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.generator = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 6))
        self.discriminator = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))


def judged(logits: Tensor, real: bool) -> Tensor:
    return binary_cross_entropy_with_logits(logits, torch.full_like(logits, float(real)))


def tell_apart(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """The discriminator's loss."""
    made = model.generator(batch["noise"]).detach()
    return judged(model.discriminator(batch["x"]), real=True) + judged(model.discriminator(made), real=False)


def deceive(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """The generator's loss, which reads no real data."""
    return judged(model.discriminator(model.generator(batch["noise"])), real=True)


def gan_job(**settings: Any) -> TurnsJob:
    """Seven steps, two of the discriminator to one of the generator; states are stored in the middle of rounds."""
    torch.manual_seed(0)
    chosen: dict[str, Any] = {
        "title": "A network against another",
        "model": Gan(),
        "turns": (
            Turn("d", tell_apart, Adam(betas=(0.5, 0.999)), "discriminator.*", D_RATE),
            Turn("g", deceive, Sgd(momentum=0.9), "generator.*", G_RATE),
        ),
        "pattern": "d, d, g",
        "data": {"x": draw((ROWS, 6), 1), "noise": draw((ROWS, 4), 2)},
        "steps": 7,
        "batch_size": 8,
        "checkpoint_every": 2,
        "seed": 5,
    }
    return TurnsJob(**{**chosen, **settings})


def gan_order(precision: AnyPrecision | None = None, **often: int) -> OrderDraft:
    """The order of :func:`gan_job`; ``often`` says how often states are digested and stored."""
    made = _gan_draft(precision)
    return replace(made, manifest=replace(made.manifest, **often))


@cache
def _gan_draft(precision: AnyPrecision | None) -> OrderDraft:
    return order_turns(gan_job(precision=precision))


class Mirror(nn.Module):
    """Two layers that add up: what trains one of them has the operators of what trains the other."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(6, 3)
        self.b = nn.Linear(6, 3)


@cache
def mirror_order(precision: AnyPrecision | None = None, **settings: Any) -> OrderDraft:
    """Two programs that only differ in which layer they train."""
    torch.manual_seed(1)

    def first(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        return (model.a(batch["x"]) + model.b(batch["x"]).detach()).square().mean()

    def second(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        return (model.b(batch["x"]) + model.a(batch["x"]).detach()).square().mean()

    turns = (Turn("a", first, Sgd(momentum=0.9), "a.*", 0.1), Turn("b", second, Sgd(momentum=0.9), "b.*", 0.1))
    chosen = {"steps": 4, "batch_size": 8, "checkpoint_every": 2} | settings
    data = {"x": draw((ROWS, 6), 1)}
    return order_turns(TurnsJob("Mirror", Mirror(), turns, ("a", "b"), data, precision=precision, **chosen))


def with_pattern(draft: OrderDraft, *names: str) -> OrderDraft:
    """The order with another pattern."""
    programs = replace(draft.programs, pattern=names)
    manifest = replace(draft.manifest, programs=replace(draft.manifest.programs, pattern=names))
    return replace(draft, programs=programs, manifest=manifest)


def bent_weight(step: int, name: str) -> Tamper:
    """Flip the last bit of a value of the state in memory, right before a step."""

    def bend(inputs: StepInputs) -> StepInputs:
        if inputs.draws.step != step:
            return inputs
        tensor = inputs.state[name].clone()
        tensor.view(torch.int32).view(-1)[0] ^= 1
        return replace(inputs, state={**inputs.state, name: tensor})

    return bend


def ordinary(job: TurnsJob, schedule: np.ndarray, names: str) -> tuple[list[float], dict[str, Tensor]]:
    """Train as torch does, with an optimizer of torch for each half; returns losses, parameters and buffers."""
    model = job.model
    optimizers = {
        "d": torch.optim.Adam(model.discriminator.parameters(), lr=D_RATE, betas=(0.5, 0.999)),
        "g": torch.optim.SGD(model.generator.parameters(), lr=G_RATE, momentum=0.9),
    }
    objectives = {turn.name: turn.objective for turn in job.turns}
    losses = []
    for name, rows in zip(names, schedule, strict=True):
        model.zero_grad()
        loss = objectives[name](model, {key: torch.from_numpy(array[rows]) for key, array in job.data.items()})
        loss.backward()
        optimizers[name].step()
        losses.append(float(loss.detach()))
    return losses, dict(model.state_dict())
