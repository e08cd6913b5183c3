"""What the interpreter computes itself: conversions, divisions of integers, and whoever asks for them."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from benchmarks.imitations import IMITATIONS
from torch import Tensor

from counterfoil_core.arithmetic.admission import check_types
from counterfoil_core.arithmetic.compute.definitions import to_dtype
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.arithmetic.otherwise.perturbation import perturb
from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.kernels.exact.refusals import Noted, note_refusals
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.graph import Input, Program
from support.exact_calls import Call, digest

LIMITS = {torch.int64: (-(2**63), 2**63 - 1), torch.int32: (-(2**31), 2**31 - 1), torch.uint8: (0, 255)}


@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize("source", [torch.float64, torch.float32])
def test_conversions_stop_at_the_ends(source: torch.dtype, dtype: torch.dtype) -> None:
    low, high = LIMITS[dtype]
    x = torch.tensor([math.nan, math.inf, -math.inf, 1e30, -1e30, -0.9, 1.9, -1.9, float(high + 1)], dtype=source)
    assert to_dtype(x, dtype).tolist() == [0, high, low, high, low, 0, 1, max(low, -1), high]
    assert to_dtype(torch.tensor(math.nan, dtype=source), torch.bool)


def program(operator: str, dtype: str, kwargs: dict[str, Any] | None = None) -> Program:
    """An operator of two batches of integers, and a loss that follows from it."""
    described = TensorType(dtype, (4,))
    nodes = (
        Node(operator, (Value(0), Value(1)), tuple((kwargs or {}).items()), (described,), 2, "", "forward"),
        Node("aten.sum.default", (Value(2),), (), (TensorType("int64", ()),), 3, "", "forward"),
        Node("aten._to_copy.default", (Value(3),), _to_float(), (TensorType("float32", ()),), 4, "", "forward"),
    )
    return Program((Input("a", "batch", described), Input("b", "batch", described)), nodes, {}, Value(4))


def _to_float() -> tuple[tuple[str, Any], ...]:
    from counterfoil_core.operators.node import Keyword

    return (("dtype", Keyword("dtype", "float32")),)


DIVISIONS = [
    ("aten.div.Tensor_mode", {"rounding_mode": "floor"}),
    ("aten.div.Tensor_mode", {"rounding_mode": "trunc"}),
    ("aten.fmod.Tensor", {}),
    ("aten.remainder.Tensor", {}),
]


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
@pytest.mark.parametrize(("operator", "kwargs"), DIVISIONS)
def test_an_integer_divided_by_zero_is_refused_in_words(operator: str, kwargs: dict[str, Any], dtype: str) -> None:
    checked = Program.from_bytes(program(operator, dtype, kwargs).to_bytes())
    interpreter = Interpreter(checked, torch.device("cpu"))
    check_types(checked, "float64")
    a, b = (torch.tensor(values, dtype=getattr(torch, dtype)) for values in ([7, 1, 2, 3], [2, 1, 0, 1]))
    with pytest.raises(NonFiniteError, match="divides an integer by zero"):
        interpreter.run(StepInputs({}, {"a": a, "b": b}, {}, Draws(0, 1)))
    # Control: without the zero it is computed.
    interpreter.run(StepInputs({}, {"a": a, "b": b.clamp(min=1)}, {}, Draws(0, 1)))
    # Where nobody waits for a device it is noted, and nothing is divided by zero.
    for divisor, wrong in ((b, True), (b.clamp(min=1), False)):
        noted = Noted()
        with note_refusals(noted):
            Call(operator, [a, divisor], dict(kwargs)).run()
        assert [bool(flag) for flag in noted.raised()] == [wrong]


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
@pytest.mark.parametrize(("operator", "kwargs"), DIVISIONS)
def test_the_smallest_integer_divided_by_minus_one_wraps(
    operator: str, kwargs: dict[str, Any], dtype: torch.dtype
) -> None:
    low = torch.iinfo(dtype).min
    args: list[Tensor] = [torch.tensor([low, low, 7], dtype=dtype), torch.tensor([-1, 1, -1], dtype=dtype)]
    (result,) = Call(operator, args, dict(kwargs)).run()[3]
    assert result.tolist() == ([low, low, -7] if "div" in operator else [0, 0, 0])


@pytest.mark.parametrize("name", IMITATIONS)
def test_other_machines_are_imitated_with_the_same_definitions(name: str) -> None:
    zeros = torch.tensor([0.0, -0.0, -1.0, 2.5] * 9, dtype=torch.float64)
    for call in (
        Call("aten.relu.default", [zeros * -1.0]),
        Call("aten.div.Scalar_mode", [zeros * 49, 49.0], {"rounding_mode": "trunc"}),
        Call("aten._to_copy.default", [zeros * 1e300], {"dtype": torch.int64}),
    ):
        operation, args, kwargs, (expected,) = call.run()
        assert digest(perturb(name)(operation, args, kwargs).numpy()) == digest(expected.numpy())
        assert digest(native(operation, args, kwargs).numpy()) == digest(expected.numpy())


def test_a_selection_has_one_zero_and_arguments_are_not_changed() -> None:
    x = torch.full((40_000,), -0.0, dtype=torch.float64)
    for name in ("relu", "hardtanh"):
        (result,) = Call(f"aten.{name}.default", [x]).run()[3]
        assert not result.signbit().any()
    assert x.signbit().all()
    # Control: the library keeps the sign that it happens to find.
    assert torch.relu(x).signbit().any()


@pytest.mark.parametrize("source", [torch.float64, torch.int64])
def test_a_copy_has_the_type_and_shape_of_its_target_and_nothing_of_the_memory_behind_it(source: torch.dtype) -> None:
    # As a tensor of a state is that was read from a file in one piece.
    target = torch.zeros(1000, dtype=torch.float64)[10:16].view(3, 2).t()
    row = torch.tensor([3, -0.0, 5], dtype=torch.float64).to(source)
    (result,) = Call("aten.copy.default", [target, row]).run()[3]
    expected = torch.ops.aten.copy.default(target, row)
    assert digest(result.contiguous().numpy()) == digest(expected.contiguous().numpy())
    assert (result.dtype, result.shape) == (target.dtype, target.shape)
    assert result.untyped_storage().nbytes() == target.numel() * 8
    # Control: the library keeps all that lies behind the target.
    assert expected.untyped_storage().nbytes() == 8000
