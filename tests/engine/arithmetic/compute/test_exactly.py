"""Operators of exact profiles: numbers are what the program says, whatever was computed before."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings, strategies as st
from torch import Tensor

from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.operation import make_operation
from counterfoil_core.arithmetic.families.pointwise import DEFINITIONS, OF_NUMBERS
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.operators.node import Node, TensorType, Value


def computed(name: str, *args: Any) -> Tensor:
    node = Node(name, (), (), (TensorType("float32", tuple(args[0].shape)),), 0, "", "forward")
    result = exactly(Profile(20))(make_operation(node), list(args), {})
    assert isinstance(result, Tensor)
    return result


@pytest.mark.parametrize("numbers", [(0.0, -0.0), (-0.0, 0.0)])
def test_zeros_keep_their_sign_whichever_came_first(numbers: tuple[float, float]) -> None:
    # They are equal, so a memory of numbers would hand on the one that a process met first, in any program.
    for number in numbers:
        for name, x, expected in (
            ("aten.mul.Tensor", torch.ones(3), number),
            ("aten.add.Tensor", torch.full((3,), -0.0), number),
        ):
            found = computed(name, x, number)
            assert [math.copysign(1.0, value) for value in found.tolist()] == [math.copysign(1.0, expected)] * 3


SHAPES = [(), (1,), (3,), (2, 3), (2, 1), (0, 3)]
NUMBERS: list[int | float] = [0.0, -0.0, 1, -3, 0.1, 1e300, math.inf, 2**60 + 1, 3]


def operands(shape: tuple[int, ...], value: Value) -> st.SearchStrategy[Any]:
    """A value of a program: float32 in order or not, or of integers; or a number in its place."""
    made = torch.arange(1.0, 1.0 + math.prod(shape)).reshape(shape) / 3
    turned = made.t().contiguous().t() if made.dim() == 2 else made
    return st.sampled_from([(value, made), (value, -turned), (value, made.to(torch.int64))])


@settings(max_examples=400)
@given(data=st.data())
def test_what_is_settled_of_an_operator_changes_no_bit(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(["add", "sub", "rsub", "mul", "div"]))
    first, second = (data.draw(st.sampled_from(SHAPES)) for _ in range(2))
    try:
        shape = np.broadcast_shapes(first, second)
    except ValueError:
        assume(False)
    one = data.draw(operands(first, Value(0)))
    with_number = data.draw(st.booleans())
    other = data.draw(st.sampled_from(NUMBERS).map(lambda n: (n, n)) if with_number else operands(second, Value(1)))
    assume(kind != "div" or all(not isinstance(x, Tensor) or x.dtype == torch.float32 for x in (one[1], other[1])))
    if not with_number and kind not in ("div",):
        # Of integers alone the results would be integers.
        assume(any(isinstance(x, Tensor) and x.dtype == torch.float32 for x in (one[1], other[1])))
    alpha = data.draw(st.sampled_from([1, -1])) if kind in ("add", "sub", "rsub") else 1
    kwargs = () if alpha == 1 else (("alpha", alpha),)
    said = TensorType("float32", tuple(one[1].shape) if with_number else shape)
    node = Node(f"aten.{kind}.Tensor", (one[0], other[0]), kwargs, (said,), 2, "", "forward")
    operation = make_operation(node)
    args, named = [one[1], other[1]], operation.named([one[1], other[1]], dict(kwargs))
    expected = DEFINITIONS["div"](named, Profile(20)) if kind == "div" else OF_NUMBERS[kind](named)
    compute = exactly(Profile(20))
    for _ in range(2):
        found = compute(operation, args.copy(), dict(kwargs))
        assert found.dtype == torch.float32
        assert found.shape == expected.shape
        assert found.contiguous().view(torch.int32).tolist() == expected.contiguous().view(torch.int32).tolist()
