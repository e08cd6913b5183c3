"""Rounders that run ahead of the device give what the ordinary ones give: logs, fingerprints, counts, state, errors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs, StepResult
from counterfoil_core.arithmetic.compute.operation import Operation, native
from counterfoil_core.arithmetic.grid.ahead import RecordingAhead, ReplayingAhead, UnroundedAhead
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.grid.log import SiteLog, encode
from counterfoil_core.arithmetic.grid.neighbours import Values
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.arithmetic.selftest import exact_inputs, exact_program, tiny_inputs, tiny_program
from counterfoil_core.base.errors import CounterfoilError, NonFiniteError
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision, Precision
from counterfoil_core.kernels import devices
from counterfoil_core.kernels.carriers import carrier_of
from counterfoil_core.kernels.cuda import exact
from counterfoil_core.kernels.exact import device_products
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.products import Form
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.graph import Input, Program
from support.triton_device import DEVICES, ON_DEVICE

PRECISION = Precision(margin_bits=34, proven=False)
KEY = 2**63 + 99


@pytest.fixture(params=DEVICES)
def both(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Kernels, Kernels]]:
    """Kernels of ordinary rounders, and of ones that run ahead."""
    device = torch.device(request.param)
    mark = request.node.get_closest_marker("ptx")
    if mark is not None:
        carrier = carrier_of(divmod(mark.args[0], 10))
        monkeypatch.setattr(device_products, "_carrier", lambda _device: carrier)
    made = Kernels(device, 1, run_ahead=False), Kernels(device, 1, run_ahead=True)
    yield made
    for kernels in made:
        kernels.close()


def floats(*shape: int) -> TensorType:
    return TensorType("float32", shape)


def masked_program() -> Program:
    """w' = w - the rows of w that are looked up; the loss adds logarithms of a softmax whose masked places are -inf."""
    table, rows, ids, scalar = floats(12, 8), floats(5, 8), TensorType("int64", (5,)), floats()
    mask = TensorType("bool", (5, 8))
    nodes = (
        Node("aten.embedding.default", (Value(0), Value(1)), (), (rows,), 3, "table", "forward"),
        Node("aten.masked_fill.Scalar", (Value(3), Value(2), -math.inf), (), (rows,), 4, "mask", "forward"),
        Node("aten._log_softmax.default", (Value(4), 1, False), (), (rows,), 5, "softmax", "forward"),
        Node("aten.masked_fill.Scalar", (Value(5), Value(2), 0.0), (), (rows,), 6, "mask", "forward"),
        Node("aten.sum.default", (Value(6),), (), (scalar,), 7, "", "forward"),
        Node(
            "aten.embedding_dense_backward.default",
            (Value(6), Value(1), 12, -1, False),
            (),
            (table,),
            8,
            "",
            "backward",
        ),
        Node("aten.sub.Tensor", (Value(0), Value(8)), (), (table,), 9, "w", "update"),
    )
    inputs = (Input("w", "state", table), Input("ids", "batch", ids), Input("mask", "batch", mask))
    return Program(inputs, nodes, {"w": Value(9)}, Value(7))


def masked_inputs(masked: bool = False, last: int = 11) -> StepInputs:
    table = torch.from_numpy(np.random.default_rng(3).standard_normal((12, 8)).astype(np.float32))
    mask = torch.zeros(5, 8, dtype=torch.bool)
    mask[1, 3] = masked
    return StepInputs({"w": table}, {"ids": torch.tensor([3, 0, 3, 7, last]), "mask": mask}, {}, Draws(1, 1))


def run(rounder: Any, program: Program, inputs: StepInputs, kernels: Kernels, compute: Any = None) -> StepResult:
    return Interpreter(program, kernels.device).run(inputs, rounder=rounder, compute=compute)


def record(kernels: Kernels, program: Program, inputs: StepInputs, **settings: Any) -> tuple[StepResult, Any]:
    rounder: Any = arithmetic_of(PRECISION).recorder(program, kernels)
    if settings:
        rounder = RecordingAhead(program, PRECISION, kernels, **settings)
    rounder.begin_step(KEY)
    return run(rounder, program, inputs, kernels), rounder


def shaken(operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Other hardware: elements differ by less than the margin, so that some fall on the other side."""
    result = native(operation, args, kwargs)
    if operation.node.entry.operator_class is not OperatorClass.ROUNDED:
        return result
    noise = np.random.default_rng(result.numel()).uniform(-1, 1, tuple(result.shape)) * 2.0**-35
    return result + result.abs().amax() * torch.from_numpy(np.asarray(noise)).to(result.device)


def same(one: StepResult, two: StepResult) -> bool:
    return one.loss == two.loss and all(torch.equal(one.state[name], two.state[name]) for name in one.state)


def test_a_recording_is_the_same(both: tuple[Kernels, Kernels]) -> None:
    program, inputs = tiny_program(), tiny_inputs()
    one, ordinary = record(both[0], program, inputs)
    two, ahead = record(both[1], program, inputs)
    assert isinstance(ordinary, RecordingRounder)
    assert isinstance(ahead, RecordingAhead)
    assert not ahead.waits
    assert same(one, two)
    assert encode(ordinary.logs) == encode(ahead.logs)
    assert sum(len(log.indices) for log in ahead.logs) > 10
    assert ordinary.fingerprints.tolist() == ahead.fingerprints.tolist()
    # Control: one bit of an input is seen in all of them.
    changed = inputs.state["x"].clone()
    changed.view(torch.int32)[3, 5] ^= 1
    ahead.begin_step(KEY)
    other = run(ahead, program, replace(inputs, state={**inputs.state, "x": changed}), both[1])
    assert not same(one, other)
    assert ordinary.fingerprints.tolist() != ahead.fingerprints.tolist()


def turned(logs: list[SiteLog]) -> list[SiteLog]:
    return [SiteLog(log.exponent, log.indices, ~log.ups) for log in logs]


def thinned(logs: list[SiteLog]) -> list[SiteLog]:
    return [SiteLog(log.exponent, log.indices[::2], log.ups[::2]) for log in logs]


def invented(logs: list[SiteLog]) -> list[SiteLog]:
    """Entries for values far from any midpoint, and for some that are close already."""
    found = []
    for log in logs:
        indices = np.union1d(
            log.indices, np.arange(0, 1 if log.exponent < -1000 else 40, 3)[: max(len(log.indices), 1)]
        )
        found.append(SiteLog(log.exponent, indices, np.resize([True, False], len(indices))))
    return found


def raised(logs: list[SiteLog], by: int) -> list[SiteLog]:
    return [SiteLog(log.exponent + by, log.indices, log.ups) for log in logs]


LOGS = {
    "honest": lambda logs: logs,
    "turned": turned,
    "thinned": thinned,
    "invented": invented,
    "one more": lambda logs: raised(logs, 1),
    "two less": lambda logs: raised(logs, -2),
    "empty": lambda logs: [SiteLog(log.exponent, log.indices[:0], log.ups[:0]) for log in logs],
}


@pytest.mark.parametrize("name", LOGS)
def test_a_replay_is_the_same_whatever_the_log_says(both: tuple[Kernels, Kernels], name: str) -> None:
    program, inputs = tiny_program(), tiny_inputs()
    _, recorded = record(both[0], program, inputs)
    logs = LOGS[name](recorded.logs)
    found = []
    for kernels in both:
        rounder: Any = arithmetic_of(PRECISION).replayer(program, kernels)
        rounder.follow(KEY, logs)
        result = run(rounder, program, inputs, kernels, shaken)
        found.append((result, rounder))
    (one, ordinary), (two, ahead) = found
    assert isinstance(ahead, ReplayingAhead)
    assert not ahead.waits
    assert same(one, two)
    assert ordinary.counts == ahead.counts
    assert ordinary.fingerprints.tolist() == ahead.fingerprints.tolist()
    total = sum(ahead.counts[1:], ahead.counts[0])
    expected = {
        "honest": total.contradictions == total.omissions == 0,
        "turned": total.corrections > 10,
        "thinned": total.omissions > 0,
        "invented": total.contradictions > 0,
        "one more": total.contradictions > 0,
        "two less": total.contradictions > 0,
        "empty": total.omissions > 0,
    }
    assert expected[name]
    if name == "honest":
        assert total.corrections > 0
        assert ahead.fingerprints.tolist() == recorded.fingerprints.tolist()
    if name == "turned":
        assert ahead.fingerprints.tolist() != recorded.fingerprints.tolist()


def test_values_that_are_forced_are_for_the_ordinary_rounder(both: tuple[Kernels, Kernels]) -> None:
    program, inputs = tiny_program(), tiny_inputs()
    _, recorded = record(both[0], program, inputs)
    forced = {0: Values(np.array([2]), np.array([0.5]))}
    found = []
    for kernels in both:
        rounder: Any = arithmetic_of(PRECISION).replayer(program, kernels)
        rounder.follow(KEY, recorded.logs, forced)
        found.append((run(rounder, program, inputs, kernels).loss, rounder.fingerprints.tolist(), rounder.counts))
    assert found[0] == found[1]
    assert found[0][1] != recorded.fingerprints.tolist()


def test_where_decisions_find_no_room_the_step_is_computed_again(both: tuple[Kernels, Kernels]) -> None:
    program, inputs = tiny_program(), tiny_inputs()
    one, ordinary = record(both[0], program, inputs)
    two, ahead = record(both[1], program, inputs, room=7)
    assert ahead.waits
    for _ in range(2):
        assert same(one, two)
        assert encode(ordinary.logs) == encode(ahead.logs)
        assert ordinary.fingerprints.tolist() == ahead.fingerprints.tolist()
        ahead.begin_step(KEY)
        # There is room in the next step.
        assert not ahead.waits
        two = run(ahead, program, inputs, both[1])
    assert not ahead.waits


def test_infinities_that_an_argument_holds_pass(both: tuple[Kernels, Kernels]) -> None:
    program = masked_program()
    for masked in (False, True):
        inputs = masked_inputs(masked)
        one, ordinary = record(both[0], program, inputs)
        two, ahead = record(both[1], program, inputs)
        assert ahead.waits == masked
        assert same(one, two)
        assert encode(ordinary.logs) == encode(ahead.logs)
        assert ordinary.fingerprints.tolist() == ahead.fingerprints.tolist()


def failure(kernels: Kernels, program: Program, inputs: StepInputs) -> tuple[str, str, type]:
    with pytest.raises(CounterfoilError) as caught:
        record(kernels, program, inputs)
    return caught.value.sentence, caught.value.detail, type(caught.value)


@pytest.mark.parametrize("bad", [math.nan, math.inf, 2.0**100])
def test_an_error_names_the_operator_that_it_begins_with(both: tuple[Kernels, Kernels], bad: float) -> None:
    inputs = tiny_inputs()
    x: Tensor = inputs.state["x"].clone()
    x[1, 2] = bad
    w = torch.full_like(inputs.state["w"], 2.0**60) if math.isfinite(bad) else inputs.state["w"]
    spoiled = replace(inputs, state={"w": w, "x": x})
    assert failure(both[0], tiny_program(), spoiled) == failure(both[1], tiny_program(), spoiled)


@pytest.mark.parametrize("last", [12, -1, 2**40])
def test_an_index_outside_is_the_same_error(both: tuple[Kernels, Kernels], last: int) -> None:
    inputs = masked_inputs(last=last)
    assert failure(both[0], masked_program(), inputs) == failure(both[1], masked_program(), inputs)


def test_a_state_that_does_not_fit_float32_is_the_same_error(both: tuple[Kernels, Kernels]) -> None:
    """No rounded value is too large here, but a difference of exact operators is."""
    inputs = masked_inputs()
    w = inputs.state["w"].clone()
    w[5] = torch.finfo(torch.float32).max
    program = masked_program()
    nodes = (*program.nodes, Node("aten.add.Tensor", (Value(9), Value(9)), (), (floats(12, 8),), 10, "w", "update"))
    grown = replace(program, nodes=nodes, updates={"w": Value(10)})
    spoiled = replace(inputs, state={"w": w})
    assert failure(both[0], grown, spoiled) == failure(both[1], grown, spoiled)


@pytest.mark.often
def test_an_exact_step_is_the_same(both: tuple[Kernels, Kernels]) -> None:
    program, precision = exact_program(), ExactPrecision(20)
    found = []
    for kernels in both:
        rounder: Any = arithmetic_of(precision).recorder(program, kernels)
        rounder.begin_step(KEY)
        compute = exactly(Profile(precision.bits))
        result = Interpreter(program, kernels.device, torch.float32, compute).run(exact_inputs(), rounder=rounder)
        found.append((result, rounder))
    assert isinstance(found[1][1], UnroundedAhead)
    assert not found[1][1].waits
    assert same(found[0][0], found[1][0])
    assert found[0][1].fingerprints.tolist() == found[1][1].fingerprints.tolist()


@pytest.fixture
def in_kernels(request: pytest.FixtureRequest) -> Any:
    """What computes an operator in the kernels of the device: before compute capability 8.0 in those of digits."""
    mark = request.node.get_closest_marker("ptx")
    capability = 10 * torch.cuda.get_device_capability(0)[0] if ON_DEVICE else mark.args[0] if mark else 80
    form = Form.TENSOR_CORES if capability >= 80 else Form.KARATSUBA
    batches = Form.TENSOR_CORES if capability >= 80 else Form.FLOAT64
    return exactly(Profile(20, form, batches, form))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("bad", [1.0, math.inf, math.nan])
def test_an_exact_step_in_the_devices_kernels_is_the_same(
    both: tuple[Kernels, Kernels], in_kernels: Any, bad: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for what is not finite either: such a step is computed again, and ends in the same error."""
    program, precision, inputs = exact_program(), ExactPrecision(20), exact_inputs()
    x = inputs.state["x"].clone()
    x[1, 7, 5, 2] *= bad
    inputs = replace(inputs, state={**inputs.state, "x": x})
    found: list[Any] = []
    for kernels in both:
        if kernels.run_ahead:
            monkeypatch.setattr(devices, "loops_reach", lambda device: False)
            monkeypatch.setattr(devices, "triton_reaches", lambda device: True)
        rounder: Any = arithmetic_of(precision).recorder(program, kernels)
        rounder.begin_step(KEY)
        interpreter = Interpreter(program, kernels.device, torch.float32, in_kernels)
        try:
            found.append((interpreter.run(inputs, rounder=rounder), rounder.fingerprints.tolist()))
        except NonFiniteError as error:
            found.append((error.sentence, error.remedy))
        assert getattr(rounder, "waits", True) == (not kernels.run_ahead or bad != 1.0)
    if bad != 1.0:
        assert "added or multiplied exactly" in found[0][0]
        assert found[0] == found[1]
        return
    assert same(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]


class Waits(TorchDispatchMode):
    """Notes what makes the host wait for a CUDA device: results whose size or value it asks for."""

    ASKING = frozenset({"_local_scalar_dense", "nonzero", "bincount", "is_nonzero", "masked_select", "_unique2"})

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name in self.ASKING:
            self.noted.append(name)
        return func(*args, **(kwargs or {}))


@pytest.mark.skipif(ON_DEVICE, reason="tests/engine/kernels/test_exact_triton.py asks the device")
def test_an_exact_step_waits_for_functions_alone(
    both: tuple[Kernels, Kernels], in_kernels: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "loops_reach", lambda device: False)
    program, precision = exact_program(), ExactPrecision(20)
    monkeypatch.setattr(devices, "triton_reaches", lambda device: True)
    brought: list[int] = []

    def bracket(*arguments: Any) -> Any:
        brought.append(1)
        return kernel(*arguments)

    kernel = exact.bracket
    monkeypatch.setattr(exact, "bracket", bracket)
    found = []
    for kernels in both:
        rounder: Any = arithmetic_of(precision).recorder(program, kernels)
        rounder.begin_step(KEY)
        interpreter = Interpreter(program, kernels.device, torch.float32, in_kernels)
        with Waits() as waits:
            interpreter.run(exact_inputs(), rounder=rounder)
        found.append(waits.noted)
    assert found[1] == []
    assert found[0].count("_local_scalar_dense") > 5  # control
    # In each step tanh and exp bring what is doubtful, from a device by a copy.
    assert len(brought) == 4


@pytest.mark.parametrize("precision", [PRECISION, ExactPrecision(20)])
def test_closer_looks_are_for_the_ordinary_rounders(both: tuple[Kernels, Kernels], precision: AnyPrecision) -> None:
    program = tiny_program()
    rounder = arithmetic_of(precision).replayer(program, both[1], observe=0)
    assert type(rounder) is type(arithmetic_of(precision).replayer(program, both[0], observe=0))
