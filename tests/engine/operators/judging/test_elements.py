"""Single elements in integers and fractions: they are what the tensor operations give, bit for bit, for every kind."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterfoil.arithmetic.compute.operation import make_operation
from counterfoil.arithmetic.exact.operators import Profile, kinds, rule_for
from counterfoil.kernels.exact.limits import sum_bits
from counterfoil.operators.judging import NotExactError, elements
from counterfoil.operators.judging.elements import defined_output
from counterfoil.operators.judging.functions import FUNCTION_KINDS, value_of
from counterfoil.operators.node import Node, TensorType
from support import definite_reference as reference
from support.definite_calls import CALLS, draw, places
from support.definite_reference import bits_of, wild

MOST = 60


def node_of(name: str, outputs: list[Tensor | None]) -> Node:
    types = tuple(
        None if x is None else TensorType(str(x.dtype).removeprefix("torch."), tuple(x.shape)) for x in outputs
    )
    return Node(name, (), (), types, 0, "", "forward")


def called(name: str, args: list[Any], bits: int) -> tuple[Node, dict[str, Any], list[Tensor | None]]:
    """The operator, its arguments by name, and what the tensor operation gives."""
    operation = make_operation(node_of(name, [torch.empty(())]))
    rule = rule_for(operation.node.entry.kind)
    assert rule is not None
    arguments = operation.named(args, {})
    found = rule(arguments, Profile(bits))
    outputs = list(found) if isinstance(found, (tuple, list)) else [found]
    return node_of(name, outputs), arguments, outputs


def some(count: int) -> list[int]:
    return sorted({int(i) for i in np.linspace(0, count - 1, min(count, MOST))})


@pytest.mark.parametrize("bits", [13, 20])
@pytest.mark.parametrize(("name", "args"), CALLS, ids=lambda value: value if isinstance(value, str) else "")
def test_the_tensor_operations_give_these(name: str, args: list[Any], bits: int) -> None:
    scaled = [x * wild(tuple(x.shape), 5, -6, 6).abs() if _may_be_scaled(name, x) else x for x in args]
    node, arguments, outputs = called(name, scaled, bits)
    for number, output in enumerate(outputs):
        if output is None:
            continue
        flat = output.reshape(-1)
        element = defined_output(node, arguments, number, bits).element
        chosen = some(len(flat))
        ours = torch.tensor([element(index) for index in chosen])
        assert bits_of(ours) == bits_of(flat[chosen])


def _may_be_scaled(name: str, x: Any) -> bool:
    """Over many powers of two, so that the bits that are lost show; functions stay where they are defined."""
    return isinstance(x, Tensor) and x.dim() > 0 and x.is_floating_point() and name.split(".")[1] not in FUNCTION_KINDS


def test_every_kind_has_elements() -> None:
    assert elements.kinds() == kinds()


def test_operators_of_class_exact_have_elements_too() -> None:
    x, y = draw(5, 7), draw(7)
    node = node_of("aten.add.Tensor", [x + y])
    element = defined_output(node, {"self": x, "other": y, "alpha": 1}, 0, 20).element
    assert bits_of(torch.tensor([element(i) for i in range(35)])) == bits_of(x + y)


@pytest.mark.parametrize("bits", [8, 13, 20, 24])
def test_products_are_those_of_fractions(bits: int) -> None:
    """The reference quantises and multiplies by itself, and so by other code than this module."""
    a, b = wild((4, 9), 1), wild((9, 3), 2)
    node = node_of("aten.mm.default", [torch.empty(4, 3)])
    element = defined_output(node, {"self": a, "mat2": b}, 0, bits).element
    expected = reference.matmul(a.numpy(), b.numpy(), bits)
    assert bits_of(torch.tensor([element(i) for i in range(12)])) == bits_of(expected)
    # Control: one bit of an operand more or less is another product.
    assert bits_of(
        torch.tensor([defined_output(node, {"self": a, "mat2": b}, 0, 7).element(i) for i in range(12)])
    ) != (bits_of(expected))


def test_sums_are_those_of_fractions() -> None:
    x = wild((6, 50), 3)
    node = node_of("aten.sum.dim_IntList", [torch.empty(6)])
    element = defined_output(node, {"self": x, "dim": [1]}, 0, 20).element
    expected = [reference.total(row, sum_bits(50)) for row in x.tolist()]
    assert bits_of(torch.tensor([element(i) for i in range(6)])) == bits_of(torch.tensor(expected))


SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    -2.0,
    0.5,
    -3.5,
    88.0,
    1e-45,
    -1e-45,
    1e-30,
    3.4e38,
    -3.4e38,
    math.inf,
    -math.inf,
    math.nan,
]
FUNCTIONS_OF_TWO = ("pow", "atan2", "xlogy")


@pytest.mark.parametrize("kind", sorted(FUNCTION_KINDS))
def test_functions_at_the_ends_of_their_range(kind: str) -> None:
    rule = rule_for(kind)
    assert rule is not None
    if kind in FUNCTIONS_OF_TWO:
        pairs = list(itertools.product(SPECIAL, repeat=2))
        first, second = (torch.tensor(column) for column in zip(*pairs, strict=True))
        found = rule({"self": first, "other": second, "exponent": second}, Profile(20))
        ours = torch.tensor([value_of(kind, *map(_single, pair)) for pair in pairs])
    else:
        found = rule({"self": torch.tensor(SPECIAL)}, Profile(20))
        ours = torch.tensor([value_of(kind, _single(x)) for x in SPECIAL])
    assert torch.equal(torch.isnan(ours), torch.isnan(found))
    ordinary = ~torch.isnan(ours)
    assert bits_of(ours[ordinary]) == bits_of(found[ordinary])


def _single(x: float) -> float:
    return float(np.float32(x))


def test_values_that_no_sum_takes_are_left_out() -> None:
    """A source longer than its index: what is not added decides no exponent."""
    base, source, index = draw(3), torch.tensor([1.0, 2.0, 1e30]), torch.tensor([0, 0])
    node, arguments, outputs = called("aten.scatter_add.default", [base, 0, index, source], 20)
    element = defined_output(node, arguments, 0, 20).element
    assert outputs[0] is not None
    assert bits_of(torch.tensor([element(i) for i in range(3)])) == bits_of(outputs[0])


def test_what_is_not_defined_says_so() -> None:
    x = draw(3, 4)
    image, kernel = draw(1, 2, 5, 5), draw(3, 2, 2, 2)
    settings = {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1], "transposed": False, "groups": 1}
    convolved = {"input": image, "weight": kernel, **settings}
    for name, arguments in (
        ("aten._softmax.default", {"self": x, "dim": 0, "half_to_float": False}),
        ("aten.mm.default", {"self": x / 0, "mat2": x.T}),
        ("aten.convolution.default", {**convolved, "bias": draw(3)}),
        ("aten.convolution_backward.default", {**convolved, "grad_output": image, "output_mask": [True, True, True]}),
        ("aten.index_add.default", {"self": x, "dim": 0, "index": places(3, 3), "source": x, "alpha": 2}),
    ):
        with pytest.raises(NotExactError):
            defined_output(node_of(name, [x]), arguments, 0, 20).element(0)
