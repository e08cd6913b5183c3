"""What a step takes, estimated: operations as torch counts them, memory as it is alive."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

from counterfoil_core.arithmetic.admission import check_types, read_program
from counterfoil_core.arithmetic.selftest import tiny_program
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, LimitError, ProgramError
from counterfoil_core.base.memory import memory_total
from counterfoil_core.base.precision import Precision
from counterfoil_core.operators.node import Argument, Node, TensorType, Value
from counterfoil_core.program import limits
from counterfoil_core.program.estimate import estimate, least_memory, node_flops
from counterfoil_core.program.graph import Input, Program
from counterfoil_core.program.limits import (
    LARGE,
    MAX_OPERATORS,
    Estimate,
    Limits,
    check_estimate,
    check_operators,
    limits_for,
)

M = 2**10


def node(operator: str, args: tuple[Argument, ...], *outputs: TensorType, first: int = 1) -> Node:
    return Node(operator, args, (), outputs, first, "", "forward")


def shape(*lengths: int) -> TensorType:
    return TensorType("float32", lengths)


def convolution(transposed: bool, stride: int, groups: int) -> list[Any]:
    weight = (6, 8 // groups, 3, 3) if transposed else (8, 6 // groups, 3, 3)
    return [(2, 6, 9, 9), weight, None, [stride] * 2, [1, 1], [1, 1], transposed, [0, 0], groups]


def counted(operator: str, args: list[Any]) -> tuple[int, int]:
    """Operations as torch counts them, and as they are estimated; tuples stand for tensors."""
    kind, overload = operator.split(".")[1:]
    function = getattr(getattr(torch.ops.aten, kind), overload)
    with FakeTensorMode(), FlopCounterMode(display=False) as counter:
        result = function(*(torch.empty(arg) if isinstance(arg, tuple) else arg for arg in args))
    outputs = result if isinstance(result, tuple) else (result,)
    types = [shape(*arg) for arg in args if isinstance(arg, tuple)]
    numbers = iter(range(len(types)))
    given = tuple(
        Value(next(numbers)) if isinstance(arg, tuple) else tuple(arg) if isinstance(arg, list) else arg for arg in args
    )
    made = tuple(None if out is None else shape(*out.shape) for out in outputs)
    return counter.get_total_flops(), node_flops(types, Node(operator, given, (), made, len(types), "", "forward"))


@pytest.mark.parametrize(
    ("operator", "args"),
    [
        ("aten.mm.default", [(3, 5), (5, 7)]),
        ("aten.addmm.default", [(7,), (3, 5), (5, 7)]),
        ("aten.bmm.default", [(4, 3, 5), (4, 5, 7)]),
        ("aten.baddbmm.default", [(4, 3, 7), (4, 3, 5), (4, 5, 7)]),
        ("aten.convolution.default", convolution(False, 1, 1)),
        ("aten.convolution.default", convolution(False, 2, 2)),
        ("aten.convolution.default", convolution(True, 2, 1)),
    ],
    ids=str,
)
def test_products_are_counted_as_torch_counts_them(operator: str, args: list[Any]) -> None:
    torchs, ours = counted(operator, args)
    assert torchs == ours > 0


def test_the_gradient_of_a_convolution_takes_two() -> None:
    x, weight, _, *rest = convolution(False, 1, 1)
    torchs, ours = counted(
        "aten.convolution_backward.default", [(2, 8, 9, 9), x, weight, [8], *rest, [True, True, True]]
    )
    assert ours == torchs


def program(*nodes: Node, given: TensorType) -> Program:
    return Program((Input("x", "state", given),), nodes, {}, Value(0))


def test_a_view_costs_nothing_until_it_must_be_copied() -> None:
    line, square = shape(M * M), shape(M, M)
    kept = program(node("aten.view.default", (Value(0), (M, M)), square), given=line)
    # As it is stored, and as it is computed with.
    assert estimate(kept).bytes == (4 + 8) * M * M
    assert estimate(kept, 4).bytes == 4 * M * M
    turned = node("aten.t.default", (Value(0),), square)
    copied = program(turned, node("aten.view.default", (Value(1), (M * M,)), line, first=2), given=square)
    assert estimate(copied).bytes == (4 + 2 * 8) * M * M


def test_an_expanded_number_may_be_copied_by_what_reads_it() -> None:
    wide = shape(M, M)
    expanded = node("aten.expand.default", (Value(0), (M, M)), wide)
    product = node("aten.mm.default", (Value(1), Value(1)), wide, first=2)
    found = estimate(program(expanded, product, given=shape(1, 1)))
    assert found.bytes == (4 + 8) + 3 * 8 * M * M
    assert found.flops == 2 * M**3


def test_memory_is_kept_while_a_view_of_it_lives() -> None:
    square = shape(M, M)
    nodes = (
        node("aten.exp.default", (Value(0),), square),
        node("aten.t.default", (Value(1),), square, first=2),
        node("aten.exp.default", (Value(0),), square, first=3),
        node("aten.add.Tensor", (Value(2), Value(3)), square, first=4),
    )
    # The input, the exponential behind the view and the other one, their sum, and a copy of the view.
    assert estimate(program(*nodes, given=square)).bytes >= 4 * 8 * M * M


def test_state_is_converted_where_it_is_used_and_stored_where_it_is_done_with() -> None:
    square = shape(M, M)
    nodes = (
        node("aten.exp.default", (Value(0),), square, first=2),
        node("aten.sum.default", (Value(2),), shape(), first=3),
        node("aten.exp.default", (Value(1),), square, first=4),
    )
    inputs = tuple(Input(name, "state", square) for name in ("weight", "weight:slot"))
    given = Program(inputs, nodes, {"weight": Value(2), "weight:slot": Value(4)}, Value(3))
    # Both as they were and the new weight as they are stored; the slot as it is computed with, and the new one.
    assert estimate(given).bytes == 3 * 4 * M * M + 2 * 8 * M * M + 8
    assert least_memory(given, 8) == 3 * 4 * M * M + 8 * M * M + 8


def test_what_is_needed_at_the_least() -> None:
    square, number = shape(M, M), shape()
    nodes = (
        node("aten.exp.default", (Value(0),), square),
        node("aten.t.default", (Value(1),), square, first=2),
        node("aten.exp.default", (Value(2),), square, first=3),
        node("aten.exp.default", (Value(3),), square, first=4),
        node("aten.sum.default", (Value(4),), number, first=5),
    )
    given = Program((Input("w", "state", square),), nodes, {}, Value(5))
    # The input as it is stored, and two at a time; a view costs nothing while what it shows is there.
    assert least_memory(given, 8) == (4 + 2 * 8) * M * M
    assert least_memory(given, 4) == (4 + 2 * 4) * M * M


def test_a_real_program_needs_at_least_what_is_certainly_alive() -> None:
    tiny = tiny_program()
    found = estimate(tiny)
    assert found.bytes >= least_memory(tiny, 8)
    assert (found.operators, found.tensors) == (7, 9)
    assert found.total_bytes >= found.bytes
    assert estimate(tiny, 4).bytes < found.bytes


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (Estimate(50_001, 1, 1, 1, 1), "50,001 operators; the limit is 50,000"),
        (Estimate(1, 200_001, 1, 1, 1), "200,001 values"),
        (Estimate(1, 1, 2**39, 1, 2**39), "512.0 GiB of memory; the limit is 256 GiB"),
        (Estimate(1, 1, 1, 10**16, 1), "1e+16 floating-point operations; the limit is 1e+15"),
    ],
    ids=["operators", "values", "memory", "operations"],
)
def test_what_is_larger_is_named_with_a_remedy(found: Estimate, sentence: str) -> None:
    with pytest.raises(LimitError) as caught:
        check_estimate(found, Limits())
    assert sentence in caught.value.sentence
    assert "--allow-large" in caught.value.remedy
    check_estimate(found, limits_for(True))


def test_a_step_is_compared_with_the_memory_that_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "memory_total", lambda: 2 * 2**30)
    found = Estimate(1, 1, 3 * 2**30, 1, 3 * 2**30)
    with pytest.raises(LimitError, match=r"about 3\.0 GiB of memory; the limit is 2 GiB"):
        check_estimate(found, limits_for(False))
    check_estimate(found, limits_for(True))
    monkeypatch.setattr(limits, "memory_total", lambda: None)
    assert limits_for(False) == Limits()


def test_the_largest_that_is_allowed() -> None:
    check_estimate(Estimate(50_000, 200_000, 2**38, 10**15, 2**60), Limits())
    assert limits_for(False) == Limits(bytes=min(2**38, memory_total() or math.inf))
    assert math.inf in (LARGE.bytes, LARGE.flops)
    with pytest.raises(ProgramError, match="the limit is 200000"):
        check_operators(MAX_OPERATORS + 1, LARGE)


def test_reading_and_checking_can_be_stopped() -> None:
    token = CancelToken()
    token.cancel()
    tiny = tiny_program()
    with pytest.raises(CancelledError):
        Program.from_bytes(tiny.to_bytes(), cancel=token)
    with pytest.raises(CancelledError):
        estimate(tiny, cancel=token)
    with pytest.raises(CancelledError):
        check_types(tiny, "float64", token)
    assert read_program(tiny.to_bytes(), Precision(), cancel=CancelToken()) == tiny
