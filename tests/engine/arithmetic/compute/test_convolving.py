"""Convolutions in compiled loops: the library's values within the bounds, term by term, on any number of threads."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.compute.plan import Prepared
from counterfoil_core.arithmetic.families.table import LOOPS
from counterfoil_core.kernels.cpu import convolutionloops, convolutiontables
from counterfoil_core.kernels.cpu.convolutiontables import Geometry
from counterfoil_core.kernels.cpu.tiles import COLUMNS, LANES
from counterfoil_core.operators import sums
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.graph import Input, Program
from support.error_bounds import allowances, described, worst
from support.operator_calls import (
    ATEN,
    Call,
    listed,
    operation_of,
    t,
)

CPU = torch.device("cpu")
Settings = tuple[Sequence[int], Sequence[int], Sequence[int], int]
Shapes = tuple[tuple[int, ...], tuple[int, ...], Settings]
"""The input's, the weight's; stride, padding, dilation and groups."""
PLAIN: Settings = ([1, 1], [1, 1], [1, 1], 1)
SHAPES: list[Shapes] = [
    ((5, 3, 8, 8), (6, 3, 3, 3), PLAIN),
    ((4, 16, 4, 4), (9, 16, 3, 3), PLAIN),
    ((3, 4, 8, 8), (5, 4, 1, 1), ([2, 2], [0, 0], [1, 1], 1)),
    ((3, 4, 8, 8), (5, 4, 3, 3), ([2, 2], [1, 1], [1, 1], 1)),
    ((2, 3, 7, 9), (5, 3, 3, 2), ([2, 3], [1, 0], [1, 2], 1)),
    ((2, 3, 9, 7), (5, 3, 2, 2), ([3, 3], [0, 1], [1, 1], 1)),
    ((2, 8, 5, 5), (8, 1, 3, 3), ([1, 1], [1, 1], [1, 1], 8)),
    ((2, 6, 6, 5), (9, 2, 3, 1), ([1, 2], [2, 1], [2, 1], 3)),
    ((2, 8, 5, 5), (4, 8, 5, 5), ([1, 1], [0, 0], [1, 1], 1)),
    ((2, 3, 5, 5), (4, 3, 1, 1), ([4, 4], [3, 3], [1, 1], 1)),
    ((2, 3, 2, 2), (4, 3, 3, 3), ([1, 1], [4, 5], [1, 1], 1)),
    ((2, 40, 5, 5), (7, 40, 3, 3), PLAIN),
    ((70, 5, 1, 1), (3, 5, 1, 1), ([1, 1], [0, 0], [1, 1], 1)),
    ((1, 1, 1, 1), (1, 1, 1, 1), ([1, 1], [0, 0], [1, 1], 1)),
    ((2, 2, 33, 6), (3, 2, 3, 3), PLAIN),
    ((3, 4, 7), (6, 2, 3), ([2], [2], [2], 2)),
    ((2, 5, 40), (3, 5, 4), ([1], [0], [3], 1)),
    ((2, 4, 5, 6, 7), (6, 2, 3, 2, 1), ([2, 1, 3], [2, 1, 0], [1, 2, 1], 2)),
    ((300, 2, 4, 4), (3, 2, 3, 3), PLAIN),
    ((9, 2, 25, 25), (3, 2, 3, 3), PLAIN),
]
IDS = [f"{len(x) - 2}d-{number}" for number, (x, _, _) in enumerate(SHAPES)]
MASKS = [list(mask) for mask in itertools.product((False, True), repeat=3) if any(mask)]


def numbers(shape: Sequence[int], number: int, *, whole: bool) -> Tensor:
    """Numbers of a shape; whole ones are so small that no sum of products of them is rounded."""
    x = t(*shape, number=number)
    return (x * 100).round() if whole else x


def forward(shapes: Shapes, *, whole: bool = False, bias: bool = True) -> Call:
    x, weight, (stride, padding, dilation, groups) = shapes
    added = numbers(weight[:1], 3, whole=whole) if bias else None
    given = [numbers(x, 1, whole=whole), numbers(weight, 2, whole=whole), added]
    return "aten.convolution.default", [*given, stride, padding, dilation, False, [0] * len(stride), groups], {}


def backward(shapes: Shapes, *, whole: bool = False, mask: list[bool] | None = None) -> Call:
    x, weight, bias, *settings = forward(shapes, whole=whole)[1]
    g = numbers(ATEN.convolution.default(x, weight, bias, *settings).shape, 4, whole=whole)
    return "aten.convolution_backward.default", [g, x, weight, [len(weight)], *settings, mask or [True] * 3], {}


CALLS = [make(shapes) for shapes in SHAPES for make in (forward, backward)]
CALL_IDS = [f"{kind}-{name}" for name in IDS for kind in ("forward", "backward")]


def looped(call: Call) -> list[Any]:
    found = LOOPS[call[0]](operation_of(call).named(list(call[1]), dict(call[2])))
    assert found is not None, "the loops take it"
    return listed(found)


def by_library(call: Call) -> list[Any]:
    return listed(operation_of(call).function(*call[1]))


@contextmanager
def threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def compare(call: Call, found: list[Any], expected: list[Any]) -> None:
    """Both are computed within the bound, so that twice it lies between them at most."""
    arguments = operation_of(call).named(list(call[1]), dict(call[2]))
    for one, other, allowed in zip(found, expected, allowances(call, arguments, expected), strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.shape == other.shape
            assert one.is_contiguous()
            assert allowed is not None
            assert float((one - other).abs().max()) <= 2 * allowed


@pytest.mark.parametrize("call", CALLS, ids=CALL_IDS)
def test_the_values_of_the_library(call: Call) -> None:
    given = [argument.clone() if isinstance(argument, Tensor) else argument for argument in call[1]]
    compare(call, looped(call), by_library(call))
    for argument, before in zip(call[1], given, strict=True):
        assert not isinstance(argument, Tensor) or torch.equal(argument, before)


@pytest.mark.parametrize("shapes", SHAPES, ids=IDS)
@pytest.mark.parametrize("make", [forward, backward])
def test_every_term_is_added_once(make: Callable[..., Call], shapes: Shapes) -> None:
    # Sums of products of whole numbers are exact in any order.
    call = make(shapes, whole=True)
    for one, other in zip(looped(call), by_library(call), strict=True):
        assert torch.equal(one, other)


def test_every_term_is_added_once_whatever_the_shapes() -> None:
    draw = random.Random(29)
    seen = 0
    while seen < 60:
        axes = draw.choice([1, 2, 2, 2, 3])
        groups = draw.choice([1, 1, 1, 2, 3])
        kernel, stride, dilation = ([draw.randint(1, 3) for _ in range(axes)] for _ in range(3))
        padding = [draw.randint(0, 3) for _ in range(axes)]
        sizes = [draw.randint(1, 11) for _ in range(axes)]
        spread = ((k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True))
        if any(n + 2 * p < reach for n, p, reach in zip(sizes, padding, spread, strict=True)):
            continue
        taken, made = draw.randint(1, 5), draw.randint(1, 6)
        shapes = (
            (draw.randint(1, 5), groups * taken, *sizes),
            (groups * made, taken, *kernel),
            (stride, padding, dilation, groups),
        )
        for make in (forward, backward):
            call = make(shapes, whole=True)
            for one, other in zip(looped(call), by_library(call), strict=True):
                assert torch.equal(one, other), shapes
        seen += 1


@pytest.mark.parametrize("number", [0, 3, 4, 6])
@pytest.mark.parametrize("make", [forward, backward])
def test_exact_values_are_within_the_bound(make: Callable[..., Call], number: int) -> None:
    call = make(SHAPES[number])
    share, seen = worst(call, looped(call))
    assert seen > 10
    assert share <= 1.0


def test_an_infinity_reaches_no_more_than_it_does_in_the_library() -> None:
    name, args, kwargs = backward(((2, 2, 4, 6), (3, 2, 3, 3), ([1, 1], [0, 0], [1, 1], 1)))
    args[1][0, 1, 2, 5] = math.inf
    call = name, args, kwargs
    for one, other in zip(looped(call), by_library(call), strict=True):
        assert torch.equal(one.isfinite(), other.isfinite())
        assert torch.equal(one.isnan(), other.isnan())
    assert not bool(looped(call)[1].isfinite().all())


@pytest.mark.parametrize("mask", MASKS)
def test_only_what_is_asked_for(mask: list[bool]) -> None:
    found = looped(backward(SHAPES[0], mask=mask))
    assert [one is not None for one in found] == mask
    for one, other in zip(found, looped(backward(SHAPES[0])), strict=True):
        assert one is None or torch.equal(one, other)


@pytest.mark.parametrize("make", [forward, backward])
def test_strides_are_no_part_of_a_value(make: Callable[..., Call]) -> None:
    name, args, kwargs = make(SHAPES[4])

    def channels_last(x: Any) -> Any:
        return x.contiguous(memory_format=torch.channels_last) if isinstance(x, Tensor) and x.dim() == 4 else x

    def spaced(x: Any) -> Any:
        return x.repeat_interleave(2, -1)[..., ::2] if isinstance(x, Tensor) else x

    for changed in (channels_last, spaced):
        found = looped((name, [changed(x) for x in args], kwargs))
        for one, other in zip(found, looped((name, args, kwargs)), strict=True):
            assert torch.equal(one, other)


@pytest.mark.parametrize("make", [forward, backward])
def test_threads_change_no_bit(make: Callable[..., Call]) -> None:
    call = make(((7, 12, 12, 12), (16, 12, 3, 3), PLAIN))
    alone = looped(call)
    for count in (2, 3):
        with threads(count):
            for one, other in zip(looped(call), alone, strict=True):
                assert torch.equal(one, other)


def test_a_long_gradient_by_the_weight_is_summed_in_parts() -> None:
    # 2^53 + 1 is 2^53: ones that are added to it one by one are lost, those of another part are not.
    count = 3000
    x = torch.ones(count, 1, 1, dtype=torch.float64)
    x[0] = 2.0**53
    g = torch.ones(count, 1, 1, dtype=torch.float64)
    weight = torch.ones(1, 1, 1, dtype=torch.float64)
    arguments = [g, x, weight, [0], [1], [0], [1], False, [0], 1, [False, True, False]]
    call: Call = ("aten.convolution_backward.default", arguments, {})
    named = operation_of(call).named(arguments, {})
    parts = sums.WeightParts(named)
    assert parts.samples < count
    total = float(looped(call)[1])
    assert total >= 2.0**53 + (count - parts.samples)


@pytest.mark.parametrize("lengths", [(5, 3, 3), (300, 4, 4), (3, 50, 60), (1, 1, 1), (5000, 1, 1)])
def test_a_gradient_by_the_weight_passes_no_more_additions_than_its_bound_counts(lengths: tuple[int, ...]) -> None:
    batch, height, width = lengths
    parts = sums.WeightParts(
        {"transposed": False, "grad_output": torch.empty(batch, 2, height, width), "input": torch.empty(batch, 2, 1, 1)}
    )
    # All terms of a part in any order, the first of which is a product, and then the parts.
    of_part = min(parts.samples, batch) * height * width
    assert of_part + -(-batch // parts.samples) - 1 <= parts.terms


def test_other_arguments_are_left_to_the_library() -> None:
    def left(call: Call, changes: dict[str, Any]) -> bool:
        name, args, kwargs = call
        return LOOPS[name]({**operation_of(call).named(list(args), dict(kwargs)), **changes}) is None

    call = forward(SHAPES[0])
    assert not left(call, {})
    for changes in (
        {"input": call[1][0].float()},
        {"input": torch.zeros(0, 3, 8, 8).double()},
        {"input": t(5, 2, 8, 8)},
        {"input": t(3, 8)},
        {"input": t(5, 3, 2, 8), "padding": [0, 0]},
        {"weight": t(6, 3, 3)},
        {"bias": t(5)},
        {"groups": 2},
        {"transposed": True},
        {"stride": [1, 1, 1]},
    ):
        assert left(call, changes), changes
    call = backward(SHAPES[0])
    assert not left(call, {})
    for changes in (
        {"grad_output": t(5, 6, 8, 7)},
        {"grad_output": t(5, 6, 8, 8).float()},
        {"input": t(5, 3, 8, 9)},
        {"weight": t(6, 2, 3, 3)},
        {"transposed": True},
    ):
        assert left(call, changes), changes


def test_rows_of_a_large_sample_are_parts() -> None:
    call = backward(((1, 1, 130, 131), (2, 1, 3, 3), PLAIN))
    compare(call, looped(call), by_library(call))
    named = operation_of(call).named(list(call[1]), {})
    assert sums.WeightParts(named).rows < 130


def test_a_program_is_computed_by_them(monkeypatch: pytest.MonkeyPatch) -> None:
    call = forward(SHAPES[0], bias=False)
    x, weight, *rest = call[1]
    seen: list[str] = []
    real = convolutionloops.Convolution.output
    monkeypatch.setattr(
        convolutionloops.Convolution, "output", lambda self, *given: (seen.append("output"), real(self, *given))[1]
    )
    assert torch.equal(native(operation_of(call), list(call[1]), {}), looped(call)[0])
    assert len(seen) == 2
    inputs = (Input("x", "batch", described(x)), Input("w", "batch", described(weight)))
    outputs = (TensorType("float32", (5, 6, 8, 8)),)
    node = Node(call[0], (Value(0), Value(1), *rest), (), outputs, 2, "", "forward")
    Prepared(0, Program(inputs, (node,), {}, Value(2)), CPU, torch.float64).check({0: x, 1: weight})
    assert len(seen) == 3


@pytest.mark.parametrize("shapes", SHAPES, ids=IDS)
def test_vectors_hold_every_result_once(shapes: Shapes) -> None:
    x, weight, (stride, padding, dilation, groups) = shapes
    found = convolutionloops._convolution_of(x, weight, tuple(stride), tuple(padding), tuple(dilation), groups)
    assert found is not None
    geometry: Geometry = found._geometry
    for plan, results in (
        (convolutiontables.forward(geometry, x[0]), math.prod(geometry.outputs)),
        (convolutiontables.by_input(geometry, x[0]), math.prod(geometry.inputs)),
    ):
        places: list[int] = []
        for _, _, first, count, step, of_sample in plan.phases.tolist():
            assert count % COLUMNS == 0
            for _, place, many in plan.vectors[first : first + of_sample].tolist():
                assert many <= LANES
                places += range(place, place + many * step, step)
        assert len(set(places)) == len(places)
        assert set(places) == set(range(results)) or (plan.leaves and set(places) < set(range(results)))


def test_control_a_term_that_is_left_out_is_seen() -> None:
    call = backward(SHAPES[0])
    found = looped(call)
    found[1][0, 0, 0, 0] -= 1e-9
    with pytest.raises(AssertionError):
        compare(call, found, by_library(call))
