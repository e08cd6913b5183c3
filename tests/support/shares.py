"""Steps in float64 without any rounding, as one program or as shares that are added in float64."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.compute.interpreter import Interpreter, StepInputs
from counterfoil_core.arithmetic.compute.operation import Operation, native
from counterfoil_core.operators.node import Value
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.program.graph import Program

State = Mapping[str, Tensor]


@dataclass(frozen=True)
class Unrounded:
    """What a program gave: floating-point tensors are float64."""

    loss: float
    state: State
    combined: State


def unrounded(program: Program, inputs: StepInputs) -> Unrounded:
    """Execute a program in float64 and keep its results as they were computed, before they are stored."""
    given = {"state": inputs.state, "batch": inputs.batch, "combined": inputs.combined}
    values: dict[int, Tensor] = {
        number: given[item.kind][item.name] for number, item in enumerate(program.inputs) if item.kind != "scalar"
    }

    def compute(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = native(operation, args, kwargs)
        outputs = [result] if isinstance(result, Tensor) else result
        values.update({operation.node.first_value + place: output for place, output in enumerate(outputs)})
        return result

    Interpreter(program, torch.device("cpu")).run(inputs, compute=compute)

    def value(of: Value) -> Tensor:
        found = values[of.number]
        return found.double().clone() if found.is_floating_point() else found.clone()

    return Unrounded(
        float(value(program.loss)),
        {**inputs.state, **{name: value(of) for name, of in program.updates.items()}},
        {name: value(of) for name, of in program.combined.items()},
    )


def loaded(draft: OrderDraft) -> LoadedOrder:
    """The order of a draft, ready to be executed."""
    return LoadedOrder(
        draft.manifest, draft.programs, draft.initial, draft.schedule, draft.scalars, draft.data, draft.updates
    )


def trained(draft: OrderDraft, steps: int | None = None) -> list[Unrounded]:
    """Every step of an order, or the first ones, unrounded; where they have shares these are added, or stacked."""
    order, shares = loaded(draft), draft.manifest.shares
    state: State = order.initial
    found = []
    for step in range(1, (steps or draft.manifest.steps) + 1):
        program = order.programs.of(step)
        if shares is None:
            made = unrounded(program, order.inputs(step, state))
        else:
            assert order.updates is not None
            given = [unrounded(program, order.share_inputs(step, share, state)) for share in range(shares.count)]
            side_by_side = {name: torch.stack([each.combined[name] for each in given]) for name in program.combined}
            combined = {name: each.sum(0) for name, each in side_by_side.items()} if shares.sums else side_by_side
            made = unrounded(order.updates.of(step), order.update_inputs(step, state, combined))
            changed = {name: given[0].state[name] for name in program.updates}
            made = Unrounded(made.loss, {**made.state, **changed}, combined)
        state = made.state
        found.append(made)
    return found


def furthest(one: State, other: State) -> float:
    """How far tensors are apart at most, each relative to its largest element."""
    assert one.keys() == other.keys()
    apart = [
        float((one[name].double() - other[name].double()).abs().max() / other[name].double().abs().max().clamp(1e-12))
        for name in one
        if one[name].numel()
    ]
    return max(apart)
