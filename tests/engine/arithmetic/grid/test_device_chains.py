"""Chains of an exact profile as one launch: the bits, fingerprints and errors of the operators one after the other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program.capture import capture
from counterfoil.program.update import AdamW
from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.arithmetic.grid import devicechains
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.grid.log import encode
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision, Precision
from counterfoil_core.kernels import devices
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.graph import Input, Program
from support.triton_device import DEVICES, ON_DEVICE

PRECISION = ExactPrecision(20)
KEY = 2**63 + 99
SHAPE = (37, 41)
"""1517 elements: no multiple of a block, and two of them."""
MANY, TRUTHS, SCALAR = TensorType("float32", SHAPE), TensorType("bool", SHAPE), TensorType("float32", ())
SPECIAL = [0.0, -0.0, 2.0**-149, -(2.0**-149), 2.0**-126, 1.0, -1.5, math.ldexp(2**24 - 1, 100), -(2.0**-80)]


class Builder:
    """Makes a program of operators one after the other."""

    def __init__(self) -> None:
        self.inputs = [Input("w", "state", MANY), Input("m", "state", MANY), Input("rate", "scalar", SCALAR)]
        self.nodes: list[Node] = []

    def __call__(self, operator: str, *args: Any, type: TensorType = MANY) -> Value:
        number = len(self.inputs) + len(self.nodes)
        self.nodes.append(Node(f"aten.{operator}", args, (), (type,), number, "w", "update"))
        return Value(number)


def every_operation() -> Program:
    """New states, a loss, and every operation that a chain on a device may have."""
    made = Builder()
    w, m, rate = Value(0), Value(1), Value(2)
    g = made("mul.Tensor", w, rate)
    decayed = made("sub.Tensor", w, made("mul.Tensor", g, 0.1))
    moment = made("add.Tensor", made("mul.Tensor", m, 0.9), g)
    root = made("sqrt.default", made("abs.default", moment))
    step = made("div.Tensor", moment, made("add.Tensor", root, 1e-8))
    by_number = made("div.Tensor", made("rsub.Scalar", step, 2.0), 3.0)
    turned = made("neg.default", made("sub.Tensor", by_number, 0.25))
    below = made("lt.Tensor", turned, w, type=TRUTHS)
    chosen = made("where.self", below, turned, decayed)
    beyond = made("ge.Scalar", m, 0.5, type=TRUTHS)
    masked = made("masked_fill.Scalar", chosen, beyond, -0.0)
    last = made("where.self", made("eq.Tensor", w, m, type=TRUTHS), masked, made("mul.Tensor", masked, masked))
    loss = made("sum.default", last, type=SCALAR)
    return Program(tuple(made.inputs), tuple(made.nodes), {"w": chosen, "m": moment}, loss)


def inputs(**changed: float) -> StepInputs:
    rng = np.random.default_rng(7)
    states = {}
    for name in ("w", "m"):
        numbers = (rng.standard_normal(SHAPE) * 2.0 ** rng.integers(-30, 30, SHAPE)).astype(np.float32)
        numbers.reshape(-1)[: len(SPECIAL)] = SPECIAL
        numbers.reshape(-1)[-1] = changed.get(name, 1.0)
        states[name] = torch.from_numpy(numbers)
    states["m"][3] = states["w"][3]
    return StepInputs(states, {}, {"rate": 0.3}, Draws(1, 1))


@pytest.fixture(params=DEVICES)
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    made = Kernels(torch.device(request.param), 1, run_ahead=True)
    yield made
    made.close()


def step(
    kernels: Kernels, given: StepInputs, program: Program, precision: AnyPrecision = PRECISION, logs: Any = None
) -> tuple[Any, Any, list[int]]:
    """Record a step, or with logs replay it."""
    run = devicechains.run_on_device
    if isinstance(precision, ExactPrecision):
        rules = devicechains.DEFINED
        computer = Interpreter(program, kernels.device, torch.float32, exactly(Profile(20)), run, rules)
    else:
        rules = devicechains.UNROUNDED
        computer = Interpreter(program, kernels.device, torch.float64, run_chain=run, rules=rules)
    rounder: Any
    if logs is None:
        rounder = arithmetic_of(precision).recorder(program, kernels)
        rounder.begin_step(KEY)
    else:
        rounder = arithmetic_of(precision).replayer(program, kernels)
        rounder.follow(KEY, logs)
    return computer.run(given, rounder=rounder), rounder, rounder.fingerprints.tolist()


def on_cpu(given: StepInputs, program: Program, precision: AnyPrecision = PRECISION) -> Any:
    ordinary = Kernels(torch.device("cpu"), 1, run_ahead=False)
    try:
        return step(ordinary, given, program, precision)
    finally:
        ordinary.close()


def reach(monkeypatch: pytest.MonkeyPatch) -> None:
    if not ON_DEVICE:
        monkeypatch.setattr(devices, "triton_reaches", lambda device: True)


def noted_launches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Note the arguments with which chains are launched from now on, which they still are."""
    launched: list[tuple[Any, ...]] = []
    kernel = devicechains.run

    def run(*arguments: Any) -> None:
        launched.append(arguments)
        kernel(*arguments)

    monkeypatch.setattr(devicechains, "run", run)
    return launched


def test_every_operation_has_the_bits_of_the_cpu(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    program = every_operation()
    expected, _, fingerprints = on_cpu(inputs(), program)
    reach(monkeypatch)
    launched = noted_launches(monkeypatch)
    found, rounder, same = step(kernels, inputs(), program)
    assert not rounder.waits
    assert len(launched) == 1, "all of it is one chain"
    names = {one[0] for one in launched[0][0]}
    assert names >= {"ADD_S", "DIV", "DIV_S", "SUB_FROM_S", "SQRT", "NEG", "ABS", "WHERE", "LT", "LE", "EQ", "SITE"}
    for name in expected.state:
        assert torch.equal(found.state[name].cpu().view(torch.int32), expected.state[name].view(torch.int32)), name
    assert found.loss == expected.loss
    assert same == fingerprints


def spread_operands() -> Program:
    """Rows and columns times a number each, a vector that is added, a mask of rows, and single operators."""
    made = Builder()
    w, m = Value(0), Value(1)
    columns, rows = TensorType("float32", SHAPE[1:]), TensorType("float32", (SHAPE[0], 1))
    of_row = made("amax.default", w, (1,), True, type=rows)
    of_column = made("amax.default", m, (0,), False, type=columns)
    scaled = made("mul.Tensor", made("mul.Tensor", w, of_row), of_column)
    chosen = made("lt.Scalar", of_row, 1.0, type=TensorType("bool", rows.shape))
    masked = made("masked_fill.Scalar", made("sub.Tensor", of_column, scaled), chosen, 0.25)
    alone = made("div.Tensor", m, of_row)
    loss = made("sum.default", made("sum.dim_IntList", masked, (0,), False, type=columns), type=SCALAR)
    return Program(tuple(made.inputs), tuple(made.nodes), {"w": masked, "m": alone}, loss)


@pytest.mark.parametrize("precision", [PRECISION, Precision(margin_bits=34, proven=False)], ids=["exact", "rounded"])
def test_operands_that_are_spread_over_a_chain(
    kernels: Kernels, precision: AnyPrecision, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, given = spread_operands(), inputs()
    for state in given.state.values():
        state.clamp_(-(2.0**30), 2.0**30)
    expected, _, fingerprints = on_cpu(given, program, precision)
    reach(monkeypatch)
    launched = noted_launches(monkeypatch)
    found, rounder, same = step(kernels, given, program, precision)
    assert not rounder.waits
    if precision is PRECISION:
        by_row, by_column = (SHAPE[1], 1), (math.prod(SHAPE), SHAPE[1])
        assert sorted((one[3] for one in launched), key=len) == [
            [(1, 1)],
            [(1, 1), by_row],
            [(1, 1), by_row, by_column, by_row],
        ]
    for name in expected.state:
        assert torch.equal(found.state[name].cpu().view(torch.int32), expected.state[name].view(torch.int32)), name
    assert found.loss == expected.loss
    assert same == fingerprints


def test_what_lies_between_rounding_sites_is_one_launch(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under a profile with a log: state is read and written as it is stored, float32, and everything else float64."""
    precision = Precision(margin_bits=34, proven=False)
    program = every_operation()
    expected, ordinary, fingerprints = on_cpu(inputs(), program, precision)
    reach(monkeypatch)
    launched: list[Any] = []

    def run(*arguments: Any) -> None:
        launched.append(arguments)
        kernel(*arguments)

    kernel = devicechains.run
    monkeypatch.setattr(devicechains, "run", run)
    for logs in (None, ordinary.logs):
        launched.clear()
        found, rounder, same = step(kernels, inputs(), program, precision, logs)
        assert not rounder.waits
        assert len(launched) > 1
        assert {one[-1] for one in launched} == {torch.float64}
        assert {name for one in launched for name, *_ in one[0]} >= {"WIDEN", "NARROW", "ADD", "STORE"}
        for name in expected.state:
            assert torch.equal(found.state[name].cpu().view(torch.int32), expected.state[name].view(torch.int32)), name
        assert found.loss == expected.loss
        assert same == fingerprints
        if logs is None:
            assert encode(rounder.logs) == encode(ordinary.logs)
        else:
            assert not any(counts.contradictions or counts.omissions for counts in rounder.counts)


@pytest.mark.parametrize("name", ["w", "m"])
def test_what_is_not_finite_ends_in_the_same_error(
    kernels: Kernels, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = every_operation()
    for bad in (math.inf, math.nan):
        with pytest.raises(NonFiniteError) as expected:
            on_cpu(inputs(**{name: bad}), program)
        reach(monkeypatch)
        with pytest.raises(NonFiniteError) as found:
            step(kernels, inputs(**{name: bad}), program)
        assert found.value.sentence == expected.value.sentence
        monkeypatch.undo()


def test_a_state_beyond_float32_is_found_though_no_site_is(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum of finite numbers, rounded by nobody: the launch that stores it looks at it."""
    made = Builder()
    doubled = made("add.Tensor", made("mul.Tensor", Value(0), 2.0), Value(0))
    loss = made("sum.default", Value(1), type=SCALAR)
    program = Program(tuple(made.inputs), tuple(made.nodes), {"w": doubled}, loss)
    given = inputs(w=math.ldexp(2**24 - 1, 104))
    with pytest.raises(NonFiniteError) as expected:
        on_cpu(given, program)
    reach(monkeypatch)
    with pytest.raises(NonFiniteError) as found:
        step(kernels, given, program)
    assert found.value.sentence == expected.value.sentence
    found, _, _ = step(kernels, replace(given, state=inputs().state), program)
    assert torch.isfinite(found.state["w"]).all()


class Attentive(nn.Module):
    """Attention over what a linear layer and a layer norm give."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.norm = nn.LayerNorm(8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.last = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        """Compute ``[N, 3]`` of ``[N, T, 6]``."""
        x = self.norm(self.first(x))
        return self.last((x + self.attention(x, x, x, need_weights=False)[0]).mean(1))


def loss_of(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    return functional.cross_entropy(model(batch["x"]), batch["y"])


@pytest.mark.skipif(ON_DEVICE, reason="kernels are interpreted where there is no device")
def test_a_training_step_by_rows_has_the_bits_of_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a device does to a step, by Triton's interpreter: rows, products, sums and chains."""
    precision, types = (
        ExactPrecision(20, rows=True),
        {"x": TensorType("float32", (2, 5, 6)), "y": TensorType("int64", (2,))},
    )
    torch.manual_seed(0)
    program = capture(Attentive(), loss_of, AdamW(clip_norm=1.0), types, exact=precision).program
    floats = {item.name: torch.rand(item.type.shape) for item in program.inputs if item.type.dtype == "float32"}
    state = {item.name: floats.get(item.name, torch.ones(item.type.shape, dtype=torch.int64))
             for item in program.inputs if item.kind == "state"}  # fmt: skip
    numbers = {item.name: 0.125 for item in program.inputs if item.kind == "scalar"}
    given = StepInputs(state, {"x": floats["x"], "y": torch.tensor([2, 0])}, numbers, Draws(1, 1))
    expected, _, fingerprints = on_cpu(given, program, precision)
    reach(monkeypatch)
    monkeypatch.setattr(devices, "loops_reach", lambda _device: False)
    chains: list[Any] = []
    kernel = devicechains.run
    monkeypatch.setattr(devicechains, "run", lambda *arguments: chains.append(arguments[3]) or kernel(*arguments))
    there = Kernels(torch.device("cpu"), 1, run_ahead=True)
    found, rounder, same = step(there, given, program, precision)
    there.close()
    assert not rounder.waits
    assert any(one != (1, 1) for spreads in chains for one in spreads)
    for name, tensor in expected.state.items():
        assert torch.equal(found.state[name].view(torch.uint8), tensor.view(torch.uint8)), name
    assert found.loss == expected.loss
    assert same == fingerprints
