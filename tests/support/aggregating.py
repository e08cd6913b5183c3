"""Programs that begin with a rule of aggregation, whose shares are the arrays of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor, nn

from counterfoil.program.aggregation import AggregationRule
from counterfoil.program.capture import CapturedStep, capture
from counterfoil_core.arithmetic.beforehand import check_exact
from counterfoil_core.arithmetic.compute.interpreter import Draws, StepInputs
from counterfoil_core.arithmetic.grid.fingerprints import step_key
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision, Precision, exact_profile
from counterfoil_core.operators.node import TensorType

Shares = Mapping[str, Tensor]
"""The gradients of all shares by parameter."""
ROUNDED, EXACT = Precision(), ExactPrecision(24)
_RESULT = "result"


class Stacked(nn.Module):
    """A model with one parameter for the gradients of all shares, whose gradient is the array of the batch."""

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        super().__init__()
        for name, shape in shapes.items():
            self.register_parameter(name, nn.Parameter(torch.zeros(shape)))


def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    total = torch.zeros(())
    for name, parameter in model.named_parameters():
        total = total + (parameter * batch[name]).sum()
    return total


@dataclass(frozen=True)
class Prefix:
    """An update rule that only aggregates, and keeps what came of it."""

    rule: AggregationRule
    scalar_names: tuple[str, ...] = ("lr",)

    def scalars(self, step: int, lr: float) -> tuple[float, ...]:
        return (lr,)

    def slots(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        single = {name: parameter[0] for name, parameter in parameters.items()}
        results = {f"{_RESULT}:{name}": torch.zeros_like(one) for name, one in single.items()}
        return {**self.rule.slots(single), **results}

    def update(
        self,
        parameters: Mapping[str, Tensor],
        gradients: Mapping[str, Tensor],
        slots: Mapping[str, Tensor],
        scalars: Mapping[str, Tensor],
        at_slot: Callable[[str], None],
    ) -> dict[str, Tensor]:
        made = self.rule.aggregate(gradients, slots, at_slot)
        results = {f"{_RESULT}:{name}": gradient for name, gradient in made.gradients.items()}
        return {**parameters, **made.slots, **results}

    def describe(self) -> str:
        return self.rule.describe()


def captured(rule: AggregationRule, shares: Shares, precision: AnyPrecision) -> CapturedStep:
    """The program of a rule for shares of these shapes, captured once in a process."""
    shapes = {name: tuple(tensor.shape) for name, tensor in shares.items()}
    return _captured(rule, tuple(shapes.items()), precision)


@cache
def _captured(
    rule: AggregationRule, shapes: tuple[tuple[str, tuple[int, ...]], ...], precision: AnyPrecision
) -> CapturedStep:
    types = {name: TensorType("float32", shape) for name, shape in shapes}
    exact = exact_profile(precision)
    step = capture(Stacked(dict(shapes)), objective, Prefix(rule), types, exact=exact)
    if exact:
        check_exact(step.program, exact.bits)
    return step


def aggregated(rule: AggregationRule, steps: Sequence[Shares], precision: AnyPrecision) -> list[dict[str, Tensor]]:
    """What a rule makes of the shares of each step, by its program, recorded under a profile."""
    step = captured(rule, steps[0], precision)
    machine = open_machine("cpu", 1)
    interpreter = machine.interpreter(step.program, precision)
    state: Mapping[str, Tensor] = step.initial_state
    made = []
    with machine.kernels() as kernels:
        for number, shares in enumerate(steps, 1):
            rounder = arithmetic_of(precision).recorder(step.program, kernels)
            rounder.begin_step(step_key(Digest.of(b"aggregation"), number))
            inputs = StepInputs(state, shares, {"lr": 0.0}, Draws(0, number))
            state = interpreter.run(inputs, rounder=rounder).state
            made.append({name: state[f"{_RESULT}:{name}"] for name in shares})
    return made
