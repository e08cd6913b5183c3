from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.philoxdraws import PhiloxDropout
from counterfoil.program.update import AdamW, Sgd, UpdateRule
from counterfoil.training.recipes import gpt2
from counterfoil.training.recipes.digits import DigitsNet
from counterfoil.training.weights import fan_in_uniform
from counterfoil_core.arithmetic.compute import interpreter
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs, all_finite
from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.compute.plan import Frame, Unit
from counterfoil_core.arithmetic.selftest import tiny_inputs, tiny_program
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, NonFiniteError, ProgramError
from counterfoil_core.kernels.exact.philox import uniform
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.graph import node_values
from support.jobs import capture_on, draw, replaced

CPU = torch.device("cpu")
Objective = Callable[[nn.Module, Mapping[str, Tensor]], Tensor]


# The interpreter without rounding is ordinary training in float64.


def in_float64(
    captured: CapturedStep, rule: UpdateRule, batches: list[dict[str, Tensor]], rate: float
) -> dict[str, Tensor]:
    """Run a program for some steps in float64 throughout: state is not rounded to float32 between steps."""
    running = Interpreter(captured.program, CPU)
    state = {
        name: tensor.double() if tensor.is_floating_point() else tensor
        for name, tensor in captured.initial_state.items()
    }
    with replaced(interpreter, "stored_tensor", lambda tensor, described: tensor):
        for step, batch in enumerate(batches, 1):
            scalars = dict(zip(rule.scalar_names, rule.scalars(step, rate), strict=True))
            state = running.run(StepInputs(state, batch, scalars, Draws(0, step))).state
    return state


def eagerly(
    model: nn.Module,
    objective: Objective,
    optimizer: torch.optim.Optimizer,
    batches: list[dict[str, Tensor]],
    clip: float | None,
) -> dict[str, Tensor]:
    for batch in batches:
        optimizer.zero_grad()
        objective(model, batch).backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
    return dict(model.state_dict())


def farthest(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> float:
    """Largest difference, relative to the largest value of its tensor."""
    return max(
        float(
            (one[name].double() - other[name].double()).abs().max() / other[name].double().abs().max().clamp(min=1e-30)
        )
        for name in other
    )


def plain_digits(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    return functional.cross_entropy(model(batch["images"] * (1.0 / 16)), batch["labels"])


def digits_batches(count: int) -> list[dict[str, Tensor]]:
    labels = torch.arange(8)
    return [
        {
            "images": torch.from_numpy(np.floor(8 * draw((8, 1, 8, 8), i) + 8)).double(),
            "labels": (labels * (i + 1)) % 10,
        }
        for i in range(count)
    ]


@pytest.mark.parametrize(("momentum", "weight_decay"), [(0.9, 5e-4), (0.0, 0.0)])
def test_digits_network_with_sgd_equals_eager_float64(momentum, weight_decay):
    model = DigitsNet(4)
    fan_in_uniform(model, 1)
    twin = copy.deepcopy(model).double()
    rule = Sgd(momentum=momentum, weight_decay=weight_decay)
    types = {"images": TensorType("float32", (8, 1, 8, 8)), "labels": TensorType("int64", (8,))}
    captured = capture(model, plain_digits, rule, types)
    batches = digits_batches(4)
    optimizer = torch.optim.SGD(twin.parameters(), lr=0.1, momentum=momentum, weight_decay=weight_decay)
    expected = eagerly(twin, plain_digits, optimizer, batches, None)
    state = in_float64(captured, rule, batches, 0.1)
    assert farthest(state, expected) < 1e-12
    # Control: one step less is far away.
    assert farthest(in_float64(captured, rule, batches[:3], 0.1), expected) > 1e-6


@pytest.mark.parametrize("clip", [None, 0.5])
def test_gpt2_with_adamw_equals_eager_float64(clip):
    size = gpt2.Gpt2Size(layers=1, heads=2, width=16, context=6, dropout=0.0)
    model = gpt2.Gpt2(size)
    gpt2.initialise(model, 1, 2)
    twin = copy.deepcopy(model).double()
    decaying = {name for name, parameter in model.named_parameters() if parameter.dim() >= 2}
    rule = AdamW(weight_decay=0.1, decays=decaying.__contains__, clip_norm=clip)
    captured = capture(model, gpt2.objective, rule, {"tokens": TensorType("uint8", (3, 7))})
    batches = [{"tokens": ((torch.arange(21) * (i + 3)) % 256).reshape(3, 7).to(torch.uint8)} for i in range(3)]
    groups = [
        {"params": [p for n, p in twin.named_parameters() if (n in decaying) is decays], "weight_decay": 0.1 * decays}
        for decays in (True, False)
    ]
    optimizer = torch.optim.AdamW(groups, lr=0.01)
    expected = eagerly(twin, gpt2.objective, optimizer, batches, clip)
    assert farthest(in_float64(captured, rule, batches, 0.01), expected) < 1e-11


# Dropout.


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_dropout_keeps_the_share_that_it_should_and_scales_it(p):
    class Dropping(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(200, 100))
            self.register_buffer("kept", torch.zeros(200, 100))
            self.drop = nn.Dropout(p)

        def forward(self, x: Tensor) -> Tensor:
            y = self.drop(self.weight * x)
            self.kept = y.detach()
            return y

    captured = capture_on(Dropping(), (200, 100))
    inputs = StepInputs(captured.initial_state, {"x0": torch.ones(200, 100)}, {"lr": 0.1}, Draws(5, 1))
    interpreter = Interpreter(captured.program, CPU)
    kept = interpreter.run(inputs).state["kept"]
    factor = np.float32(1.0 / (1.0 - p))
    assert set(kept.unique().tolist()) == {0.0, float(factor)}
    share = float((kept != 0).double().mean())
    assert abs(share - (1 - p)) < 4 * (p * (1 - p) / 20_000) ** 0.5
    # The mask is Philox's, keyed by seed and step.
    expected = uniform((200, 100), seed=5, step=1, draw=0, dtype=torch.float64, device="cpu") < 1.0 - p
    assert torch.equal(kept != 0, expected)
    for other in (Draws(6, 1), Draws(5, 2)):
        assert not torch.equal(interpreter.run(replace(inputs, draws=other)).state["kept"], kept)


def test_dropout_in_evaluation_mode_is_the_identity():
    x = torch.ones(5)
    with PhiloxDropout():
        assert functional.dropout(x, 0.5, training=False) is x


def test_an_operator_that_this_torch_lacks():
    program = tiny_program()
    nodes = (replace(program.nodes[0], operator="aten.mm.from_the_future"), *program.nodes[1:])
    with pytest.raises(ProgramError, match="lacks the operator"):
        Interpreter(replace(program, nodes=nodes), CPU)


# Cancelling, progress, numbers that are none.


def test_cancel_between_operators():
    token = CancelToken()
    done = []

    def compute(operation, args, kwargs):
        done.append(operation.node.operator)
        if len(done) == 3:
            token.cancel()
        return native(operation, args, kwargs)

    with pytest.raises(CancelledError):
        Interpreter(tiny_program(), CPU).run(tiny_inputs(), compute=compute, cancel=token)
    assert len(done) == 3


def test_inputs_are_not_changed():
    inputs = tiny_inputs()
    before = {name: tensor.clone() for name, tensor in inputs.state.items()}
    Interpreter(tiny_program(), CPU).run(inputs)
    assert all(torch.equal(inputs.state[name], before[name]) for name in before)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e39])
def test_a_new_state_that_does_not_fit_float32_is_named(bad):
    inputs = tiny_inputs()
    w = inputs.state["w"].double()
    w[3, 4] = bad
    with pytest.raises(NonFiniteError, match="'w'"):
        Interpreter(tiny_program(), CPU).run(replace(inputs, state={**inputs.state, "w": w}))


def test_a_program_that_changes_nothing_returns_its_state():
    program = replace(tiny_program(), updates={})
    inputs = tiny_inputs()
    result = Interpreter(program, CPU).run(inputs)
    assert result.state["w"] is inputs.state["w"]


# When state is held in the compute dtype.


class _Watched:
    """A unit that notes which numbers hold a value when it is done."""

    def __init__(self, unit: Unit, held: list[set[int]]) -> None:
        self._unit = unit
        self._held = held
        self.end = unit.end

    def advance(self, frame: Frame) -> None:
        self._unit.advance(frame)
        self._held.append({number for number, value in enumerate(frame.values) if value is not None})


def test_state_is_converted_when_it_is_needed_and_stored_when_it_is_final():
    program = tiny_program()
    running = Interpreter(program, CPU)
    held: list[set[int]] = []
    running.__dict__["units"] = tuple(_Watched(unit, held) for unit in running.units)
    running.run(tiny_inputs())
    uses = [{value.number for value in node_values(node)} for node in program.nodes]
    for number, item in enumerate(program.inputs):
        first = min(index for index, used in enumerate(uses) if number in used)
        assert all(number not in values for values in held[:first]), item.name
    # Of the results only the loss is left among the values; every new state is stored already.
    assert held[-1] == {program.loss.number}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_one_element_that_is_not_finite_is_noticed(value):
    tensor = torch.zeros(1000)
    assert all_finite(tensor)
    assert all_finite(tensor[:0])
    tensor[777] = value
    assert not all_finite(tensor)
