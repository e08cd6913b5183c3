"""Under a profile by rows a token's result does not depend on other tokens, nor a sample's on other samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.program import rows
from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.update import Sgd
from counterfoil.program.update.rule import NothingTrained
from counterfoil_core.arithmetic.beforehand import beforehand, check_rows
from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.kernels import devices
from counterfoil_core.kernels.exact import digits
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.products import Form
from counterfoil_core.operators.facts import ROW_FREXP
from counterfoil_core.operators.node import TensorType, Value
from counterfoil_core.program.graph import Program
from support.jobs import draw

CPU = torch.device("cpu")
BY_ROWS, BY_MATRIX = ExactPrecision(20, rows=True), ExactPrecision(20)
LENGTH, WIDTH, HEADS = 21, 24, 3
Attend = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def by_library(query: Tensor, key: Tensor, value: Tensor, seen: Tensor) -> Tensor:
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)


def by_hand(query: Tensor, key: Tensor, value: Tensor, seen: Tensor) -> Tensor:
    scores = query @ key.transpose(-1, -2) * (1.0 / math.sqrt(query.shape[-1]))
    return functional.dropout(torch.softmax(scores.masked_fill(~seen, -math.inf), -1), 0.5, training=False) @ value


def by_columns(query: Tensor, key: Tensor, value: Tensor, seen: Tensor) -> Tensor:
    """The same transposed: values in front of the probabilities, keys in front of the queries."""
    scores = (key @ query.mT).mT * (1.0 / math.sqrt(query.shape[-1]))
    return (value.mT @ torch.softmax(scores.masked_fill(~seen, -math.inf), -1).mT).mT


class Block(nn.Module):
    """A block of a GPT-2, which writes the keys and values of its tokens to a cache of all places."""

    def __init__(self, attend: Attend, count: int) -> None:
        super().__init__()
        self.attend = attend
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.c_attn, self.c_proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.c_fc, self.c_out = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, HEADS, LENGTH, WIDTH // HEADS))
        self.register_buffer("answer", torch.zeros(1, count, WIDTH))
        for number, (name, parameter) in enumerate(self.named_parameters()):
            drawn = torch.from_numpy(draw(tuple(parameter.shape), number)) * (1.0 if "ln" in name else 0.3)
            parameter.requires_grad_(False).copy_(drawn)

    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        query, key, value = (
            part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
            # By the norm alone all tokens would be of one magnitude.
            for part in self.c_attn(self.ln_1(x) * x.abs().amax(-1, keepdim=True)).chunk(3, dim=-1)
        )
        self.keys, self.values = self.keys.index_copy(2, places, key), self.values.index_copy(2, places, value)
        seen = torch.arange(LENGTH) <= places[:, None]
        x = x + self.c_proj(self.attend(query, self.keys, self.values, seen).transpose(1, 2).flatten(-2))
        return x + self.c_out(functional.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


def kept(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    model.answer = model(batch["x"], batch["places"][0])
    return torch.zeros(())


@cache
def program_of(attend: Attend, count: int, rows: bool) -> CapturedStep:
    types = {"x": TensorType("float32", (1, count, WIDTH)), "places": TensorType("int64", (1, count))}
    return capture(Block(attend, count), kept, NothingTrained(), types, exact=ExactPrecision(20, rows))


def tokens() -> Tensor:
    """Tokens, the later the larger."""
    return torch.from_numpy(draw((LENGTH, WIDTH), 1)) * 2.0 ** (torch.arange(LENGTH)[:, None] // 3 - 6)


def answered(
    attend: Attend, precision: ExactPrecision, at_once: int, length: int = LENGTH, profile: Profile | None = None
) -> Tensor:
    """What a block makes of the first tokens, so many at once: float32 ``[length, WIDTH]``."""
    made, held, x = [], dict[str, Tensor](), tokens()
    for start in range(0, length, at_once):
        step = program_of(attend, min(at_once, length - start), precision.rows)
        places = torch.arange(start, min(start + at_once, length))
        batch = {"x": x[places][None], "places": places[None]}
        compute = exactly(profile or Profile.on(CPU, precision.bits))
        inputs = StepInputs({**step.initial_state, **held}, batch, {}, Draws(0, 1))
        found = Interpreter(step.program, CPU, torch.float32, compute).run(inputs).state
        held = {name: found[name] for name in ("keys", "values")}
        made.append(found["answer"][0])
    return torch.cat(made)


def different(one: Tensor, other: Tensor) -> int:
    assert torch.isfinite(one).all()
    return int((one.view(torch.int32) != other.view(torch.int32)).sum())


@pytest.mark.parametrize("attend", [by_library, by_hand, by_columns])
def test_tokens_one_by_one_in_chunks_and_without_those_to_come_give_the_same_bits(attend: Attend) -> None:
    whole = answered(attend, BY_ROWS, LENGTH)
    assert different(answered(attend, BY_ROWS, 1), whole) == 0
    assert different(answered(attend, BY_ROWS, 7), whole) == 0
    assert different(answered(attend, BY_ROWS, 13, 13), whole[:13]) == 0
    assert not torch.equal(whole, torch.zeros_like(whole))


@pytest.mark.parametrize("bits", [8, 13, 24])
def test_with_any_bits(bits: int) -> None:
    precision = ExactPrecision(bits, rows=True)
    assert different(answered(by_library, precision, 4), answered(by_library, precision, LENGTH)) == 0


@pytest.mark.skipif(torch.cuda.is_available(), reason="kernels are interpreted where there is no device")
def test_a_devices_kernels_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """By Triton's interpreter: the CPU's tensors take a device's way."""
    pytest.importorskip("triton")
    own = answered(by_library, BY_ROWS, LENGTH)
    monkeypatch.setattr(devices, "loops_reach", lambda _device: False)
    monkeypatch.setattr(devices, "triton_reaches", lambda _device: True)
    cores = Profile(BY_ROWS.bits, Form.TENSOR_CORES, Form.TENSOR_CORES, Form.TENSOR_CORES)
    for at_once in (LENGTH, 7):
        assert different(answered(by_library, BY_ROWS, at_once, profile=cores), own) == 0
    digits.forget()


def test_control_by_matrix_they_do_not() -> None:
    whole = answered(by_library, BY_MATRIX, LENGTH)
    assert different(answered(by_library, BY_MATRIX, 1), whole) > whole.numel() / 2
    assert different(answered(by_library, BY_MATRIX, 7), whole) > whole.numel() / 2


@pytest.mark.parametrize(
    ("attend", "part", "instead"),
    [
        (by_hand, "_mixture", rows._by_rows(torch.ops.aten.bmm.default)),
        (by_hand, "_columns_too", rows._by_rows(torch.ops.aten.bmm.default)),
        (by_columns, "_is_softmax", lambda _given: False),
        (by_columns, "_is_repeated", lambda _given: False),
    ],
)
def test_control_neither_keys_nor_values_may_share_an_exponent(
    attend: Attend, part: str, instead: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of the left operand alone are not enough, and a weight is one matrix however often it is repeated."""
    monkeypatch.setattr(rows, part, instead)
    program_of.cache_clear()
    try:
        assert different(answered(attend, BY_ROWS, 1), answered(attend, BY_ROWS, LENGTH)) > 0
    finally:
        program_of.cache_clear()


class Mixed(nn.Module):
    """Convolutions, one of them transposed, in groups, and a product with a vector."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(2, 6, 3, padding=1), nn.Conv2d(6, 4, 3, stride=2, groups=2)
        self.third, self.last = nn.ConvTranspose2d(4, 3, 2), nn.Parameter(torch.zeros(27))
        for number, parameter in enumerate(self.parameters()):
            parameter.data.copy_(torch.from_numpy(draw(tuple(parameter.shape), number)))
        self.register_buffer("answer", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.tanh(self.third(torch.relu(self.second(torch.relu(self.first(x))))))
        return torch.mv(hidden.flatten(1), self.last)


def trained(count: int, x: Tensor, precision: ExactPrecision) -> tuple[Program, dict[str, Tensor]]:
    model = Mixed()
    model.answer = torch.zeros(count)

    def objective(module: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        module.answer = module(batch["x"])
        return module.answer.square().mean()

    step = capture(model, objective, Sgd(), {"x": TensorType("float32", (count, 2, 6, 6))}, exact=precision)
    beforehand(precision).check_program(step.program)
    compute = exactly(Profile.on(CPU, precision.bits))
    inputs = StepInputs(step.initial_state, {"x": x}, {"lr": 0.1}, Draws(0, 1))
    return step.program, Interpreter(step.program, CPU, torch.float32, compute).run(inputs).state


def test_a_sample_does_not_depend_on_others_and_its_step_is_the_same_training() -> None:
    x = torch.from_numpy(draw((3, 2, 6, 6), 9)) * torch.tensor([1.0, 2.0**5, 2.0**-7]).view(3, 1, 1, 1)
    _, together = trained(3, x, BY_ROWS)
    for number in range(3):
        _, alone = trained(1, x[number : number + 1], BY_ROWS)
        assert different(alone["answer"], together["answer"][number : number + 1]) == 0
    _, otherwise = trained(3, x, BY_MATRIX)
    assert different(otherwise["answer"], together["answer"]) > 0
    for name, tensor in together.items():
        torch.testing.assert_close(tensor, otherwise[name], rtol=1e-3, atol=1e-4)


def without_scales(program: Program, number: int) -> Program:
    """The program with what the rows of one product were before they were divided in their place, or their scales."""
    made = {node.first_value: node for node in program.nodes}
    nodes, found = list(program.nodes), 0
    for index, node in enumerate(nodes):
        fraction = made.get(node.args[0].number) if isinstance(node.args[0], Value) else None
        if fraction is not None and fraction.operator == "aten.view.default":
            fraction = made.get(fraction.args[0].number)
        if fraction is None or fraction.operator != ROW_FREXP or node.entry.kind == "view":
            continue
        found += 1
        if found > number:
            whole = fraction.args[0]
            if node.entry.kind == "convolution":  # of its samples as rows
                whole = made[whole.number].args[0]
            nodes[index] = replace(node, args=(whole, *node.args[1:]))
            return replace(program, nodes=tuple(nodes))
    raise AssertionError("there are fewer")


@pytest.mark.parametrize("number", range(4))
def test_a_program_with_one_product_that_is_not_by_rows_is_refused(number: int) -> None:
    program, _ = trained(2, torch.from_numpy(draw((2, 2, 6, 6), 9)), BY_ROWS)
    check_rows(program)
    with pytest.raises(ProgramError, match="takes rows that are not divided by their scales"):
        check_rows(without_scales(program, number))
    beforehand(BY_MATRIX).check_program(without_scales(program, number))


def test_a_program_by_matrix_is_refused_under_a_profile_by_rows() -> None:
    program, _ = trained(2, torch.from_numpy(draw((2, 2, 6, 6), 9)), BY_MATRIX)
    with pytest.raises(ProgramError, match="divided by their scales"):
        beforehand(BY_ROWS).check_program(program)
