"""Trains a task from a seed under one arithmetic; only the arithmetic differs.

Ordered arithmetics interpret the order's program under a precision profile. Eager ones are ordinary PyTorch with
``torch.optim``, from the same weights, on the same rows in the same order, with the same learning rates, augmentation
and dropout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache

import torch
from torch import Tensor, nn

from benchmarks.accuracy.tasks import Task, held_out
from counterfoil.program import philoxdraws
from counterfoil.training import images
from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.beforehand import check_exact
from counterfoil_core.arithmetic.compute.interpreter import StepInputs
from counterfoil_core.arithmetic.grid.fingerprints import step_key
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.base.precision import PROFILES, AnyPrecision, ExactPrecision, Precision, is_exact
from counterfoil_core.kernels.cpu.philox import uniform
from counterfoil_core.order.executable import step_inputs


@dataclass(frozen=True)
class Trained:
    """What a training gave."""

    losses: tuple[float, ...]  #: The loss of every step.
    held_out_loss: float  #: Mean loss on the held-out examples.
    held_out_accuracy: float  #: How many of 100 held-out examples the model gets right.


Arithmetic = Callable[[Task, int, Machine], Trained]


def ordered(precision: AnyPrecision) -> Arithmetic:
    """Return the training of an order as a trainer's machine does it, without what only a recording needs."""
    exact = is_exact(precision)

    def train(task: Task, seed: int, machine: Machine) -> Trained:
        order = _drafted(task, seed, exact)
        if isinstance(precision, ExactPrecision):
            check_exact(order.program, precision.bits)
        order = replace(order, manifest=replace(order.manifest, precision=precision))
        return _interpreted(task, order, precision, machine)

    return train


def _interpreted(task: Task, order: OrderDraft, precision: AnyPrecision, machine: Machine) -> Trained:
    interpreter = machine.interpreter(order.program, precision)
    state: Mapping[str, Tensor] = _initial(order)
    losses = []
    with machine.kernels() as kernels:
        # Exact results are not rounded to a grid.
        grid = RecordingRounder(order.program, precision, kernels) if isinstance(precision, Precision) else None
        for step in range(1, order.manifest.steps + 1):
            if grid is not None:
                grid.begin_step(step_key(order.manifest.digest, step))
            result = interpreter.run(_inputs(order, step, state), rounder=grid)
            state = result.state
            losses.append(result.loss)
    return _result(task, _loaded(task, state), losses)


def eager(*, autocast: torch.dtype | None = None, ulps: int = 0) -> Arithmetic:
    """Return ordinary PyTorch training in float32.

    Args:
        autocast: The lower dtype in which torch's autocast computes what it holds safe.
        ulps: By how many float32 numbers each initial parameter is moved upwards.
    """

    def train(task: Task, seed: int, machine: Machine) -> Trained:
        return _result(task, *train_eagerly(task, seed, autocast=autocast, ulps=ulps))

    return train


def train_eagerly(
    task: Task, seed: int, *, autocast: torch.dtype | None = None, ulps: int = 0
) -> tuple[nn.Module, list[float]]:
    """Train as :func:`eager` says; returns the model and the loss of each step."""
    order = _drafted(task, seed, False)
    model = _loaded(task, _initial(order)).train()
    with torch.no_grad():
        for parameter in model.parameters():
            for _ in range(ulps):
                parameter.copy_(torch.nextafter(parameter, torch.tensor(torch.inf)))
    optimizer = task.optimizer(model)
    losses = []
    for step in range(1, order.manifest.steps + 1):
        inputs = _inputs(order, step, {})
        for group in optimizer.param_groups:
            group["lr"] = inputs.scalars["lr"]
        optimizer.zero_grad()
        lower = nullcontext() if autocast is None else torch.autocast("cpu", autocast)
        with drawing(seed, step), lower:
            loss = task.objective(model, inputs.batch)
        loss.backward()  # type: ignore[no-untyped-call]
        if task.clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), task.clip)
        optimizer.step()
        losses.append(loss.item())
    return model, losses


REFERENCE = "float32"
ARITHMETICS: dict[str, Arithmetic] = {
    REFERENCE: eager(),
    "float32, weights one ulp up": eager(ulps=1),
    "bfloat16 autocast": eager(autocast=torch.bfloat16),
    **{name: ordered(precision) for name, precision in PROFILES.items()},
}
"""The reference, two others that ordinary PyTorch has, and all precision profiles."""


@lru_cache(maxsize=2)
def _drafted(task: Task, seed: int, exact: bool) -> OrderDraft:
    """The order in one of the two ways in which a step is captured: that takes as long as several steps."""
    return task.order(seed, ExactPrecision(20) if exact else Precision())


def _initial(order: OrderDraft) -> dict[str, Tensor]:
    return {name: torch.from_numpy(array.copy()) for name, array in order.initial.items()}


def _inputs(order: OrderDraft, step: int, state: Mapping[str, Tensor]) -> StepInputs:
    return step_inputs(order.manifest, step, state, order.schedule[step - 1], order.scalars[step - 1], order.data)


def _loaded(task: Task, state: Mapping[str, Tensor]) -> nn.Module:
    model = task.model()
    model.load_state_dict({name: state[name] for name in model.state_dict()})
    return model


def _result(task: Task, model: nn.Module, losses: list[float]) -> Trained:
    return Trained(tuple(losses), *held_out(task, model))


@contextmanager
def drawing(seed: int, step: int) -> Iterator[None]:
    """Let eager training draw the numbers that the ordered step draws."""
    count = iter(range(1_000_000))

    def draw(size: tuple[int, ...]) -> Tensor:
        return uniform(tuple(size), seed=seed, step=step, draw=next(count), dtype=torch.float32, device="cpu")

    places = (images, philoxdraws)
    before = [place.uniform for place in places]
    for place in places:
        place.uniform = draw  # type: ignore[attr-defined]
    try:
        with philoxdraws.PhiloxDropout():
            yield
    finally:
        for place, old in zip(places, before, strict=True):
            place.uniform = old  # type: ignore[attr-defined]
