"""Operators of exact profiles: numbers are what the program says, whatever was computed before."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from counterfoil.arithmetic.compute.exactly import exactly
from counterfoil.arithmetic.compute.operation import make_operation
from counterfoil.kernels.exact.forms import Profile
from counterfoil.operators.node import Node, TensorType


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
