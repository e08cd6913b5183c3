"""Single elements in integers and fractions: they are what the tensor operations give, bit for bit, for every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.table import DEFINITIONS
from counterfoil_core.operators.judge import defined_output, single_kinds
from counterfoil_core.operators.judging.numbers import NotExactError
from counterfoil_core.operators.pointwise.judge.singles import FUNCTION_KINDS
from support.definite_calls import CALLS, draw, places
from support.definite_reference import bits_of, wild
from support.exact_forms import called, node_of

MOST = 60


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
    assert single_kinds() == DEFINITIONS.keys()


def test_operators_of_class_exact_have_elements_too() -> None:
    x, y = draw(5, 7), draw(7)
    node = node_of("aten.add.Tensor", [x + y])
    element = defined_output(node, {"self": x, "other": y, "alpha": 1}, 0, 20).element
    assert bits_of(torch.tensor([element(i) for i in range(35)])) == bits_of(x + y)


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
