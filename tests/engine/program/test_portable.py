"""Operators that back ends define differently are captured as others; forward and backward pass come out the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.capture import capture
from counterfoil.program.tracing import PORTABLE
from counterfoil.program.update import Sgd
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.arithmetic.compute.operation import Operation, native
from counterfoil_core.operators.catalogue import is_allowed
from counterfoil_core.operators.node import TensorType

EDGES = [-40.0, -3.0 - 2**-20, -3.0, -3.0 + 2**-20, -1.0, -(2.0**-30), 0.0, 1.0, 3.0 - 2**-20, 3.0, 3.0 + 2**-20, 40.0]
FUNCTIONS = {
    "hardsigmoid": lambda x: (x + 3).clamp(0, 6) / 6,
    "hardswish": lambda x: x * (x + 3).clamp(0, 6) / 6,
    "hardswish_": lambda x: x * (x + 3).clamp(0, 6) / 6,
    "logsigmoid": lambda x: -torch.log1p(torch.exp(-x)),
    "l1_loss": lambda x: x.abs(),
}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(EDGES, dtype=torch.float32))


def applied(name: str, x: Tensor) -> Tensor:
    if name == "l1_loss":
        result: Tensor = torch.ops.aten.smooth_l1_loss(x, torch.zeros_like(x), 0, 0.0)
        return result
    if name == "hardswish_":
        called: Tensor = functional.hardswish(x * 1.0, inplace=True)
        return called
    called = getattr(functional, name)(x)
    return called


def test_none_of_them_is_on_the_allow_list() -> None:
    names = {f"aten.{operator._opname}.{operator._overloadname}" for operator in PORTABLE}
    assert {name for name in names if is_allowed(name)} == {"aten.smooth_l1_loss_backward.default"}


def at_kinks(name: str, x: Tensor, coefficients: Tensor, gradient: Tensor) -> Tensor:
    """The gradient; at 3 and -3, where clamp hands it on at either side, what the operators are documented to give."""
    if name == "l1_loss":
        return gradient
    inside = {
        "hardswish_": coefficients * (x > 0),
        "hardsigmoid": torch.zeros_like(x),
        "hardswish": coefficients * (x > 0),
        "logsigmoid": gradient,
    }[name]
    return torch.where(x.abs() == 3, inside, gradient)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_captured_step_computes_the_definition(name: str) -> None:
    coefficients = torch.arange(1.0, len(EDGES) + 1)

    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        return (applied(name, model.weight) * batch["c"]).sum()

    step = capture(Model(), objective, Sgd(), {"c": TensorType("float32", (1, len(EDGES)))})
    decomposed = {f"aten.{operator._opname}.{operator._overloadname}" for operator in PORTABLE}
    assert not {node.operator for node in step.program.nodes} & decomposed

    weight = torch.tensor(EDGES, dtype=torch.float64, requires_grad=True)
    expected = (FUNCTIONS[name](weight) * coefficients).sum()
    (gradient,) = torch.autograd.grad(expected, weight)
    gradient = at_kinks(name, weight.detach(), coefficients, gradient)
    scalars = {item.name: 2.0**-20 for item in step.program.inputs if item.kind == "scalar"}
    inputs = StepInputs(
        {n: tensor * 0 if ":" in n else tensor for n, tensor in step.initial_state.items()},
        {"c": coefficients[None]},
        scalars,
        Draws(0, 1),
    )
    values: dict[str, Tensor] = {}

    def keep(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = native(operation, args, kwargs)
        if operation.node.phase == "backward":
            values["gradient"] = result
        return result

    result = Interpreter(step.program, torch.device("cpu")).run(inputs, compute=keep)
    assert result.loss == pytest.approx(float(expected), rel=1e-13)
    assert torch.allclose(values["gradient"].reshape(-1), gradient, rtol=1e-13, atol=0)
