"""Elementwise operations are IEEE 754's: the correctly rounded result, signed zeros and subnormals included."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from counterfoil_core.kernels.exact import elementwise
from counterfoil_core.operators.judging import ieee
from support.definite_reference import same_bits, wild

EDGES = [
    0.0, -0.0, 1.0, -1.0, 3.0, 1 + 2.0**-23, 1 - 2.0**-24, 1 / 3, 2.0**-149, -(2.0**-149), 2.0**-126,
    2.0**-127 + 2.0**-149, 2.0**-75, 2.0**64, -(2.0**100), 3.4028234663852886e38, 1.1754942106924411e-38,
    math.inf, -math.inf,
]  # fmt: skip
OPERATIONS: dict[str, tuple[Callable[..., Tensor], Callable[[float, float, str], float]]] = {
    "add": (elementwise.add, ieee.total),
    "subtract": (elementwise.subtract, lambda x, y, dtype: ieee.total(x, -y, dtype)),
    "multiply": (elementwise.multiply, ieee.product),
    "divide": (elementwise.divide, ieee.quotient),
}


def pairs() -> tuple[list[float], list[float]]:
    edges = [float(np.float32(x)) for x in EDGES]
    met = list(itertools.product(edges, edges))
    random = zip(wild((400,), 1, -80, 80).tolist(), wild((400,), 2, -80, 80).tolist(), strict=True)
    x, y = zip(*met, *random, strict=True)
    return list(x), list(y)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name: str) -> None:
    operation, reference = OPERATIONS[name]
    x, y = pairs()
    with np.errstate(all="ignore"):
        expected = torch.tensor([reference(a, b, "float32") for a, b in zip(x, y, strict=True)])
    found = operation(torch.tensor(x), torch.tensor(y))
    number = torch.isnan(expected)
    assert torch.equal(torch.isnan(found), number)
    assert same_bits(found[~number], expected[~number])


@pytest.mark.parametrize("divisor", [3.0, 7.0, 0.1, 1e-40])
def test_a_number_is_divided_by_and_not_multiplied_with(divisor: float) -> None:
    x = wild((10_001,), 3, -10, 10)
    single = float(np.float32(divisor))
    expected = torch.tensor([ieee.quotient(v, single, "float32") for v in x.tolist()])
    assert same_bits(elementwise.divide(x, divisor), expected)
    reciprocal = x * (torch.ones(()) / torch.tensor(divisor))
    assert not torch.equal(reciprocal, expected)  # control


def test_numbers_take_float32_first() -> None:
    x = wild((1001,), 4, -3, 3)
    assert same_bits(elementwise.multiply(x, 0.1), x * torch.tensor(0.1))
    assert same_bits(elementwise.subtract(1.0, x), torch.ones(1001) - x)


def test_float64_is_not_taken() -> None:
    with pytest.raises(AssertionError, match="float32"):
        elementwise.add(torch.ones(2), torch.ones(2, dtype=torch.float64))


@pytest.mark.parametrize(
    "value",
    [0.1, -1e-46, 2**24 + 1, 2**53 + 1, 2**60 + 2**36, 2**60 + 2**36 + 1, -(2**60) - 2**36 - 1, 2**62 - 1, -(2**63)],
)
def test_numbers_take_the_nearest_value(value: float) -> None:
    # 2^60 + 2^36 lies between two float32 numbers; one more than that is no float64 number.
    expected = ieee.convert_element(value, "float32")
    assert elementwise.number(value, torch.device("cpu")).item() == expected
