"""The judge of operators over axes."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from counterfoil_core.kernels.exact.limits import sum_bits
from counterfoil_core.operators.judge import defined_output
from counterfoil_core.operators.judging.numbers import NotExactError
from support import definite_reference as reference
from support.definite_reference import bits_of, wild
from support.exact_forms import agrees, element_of, node_of
from support.operator_calls import Call, t


def masked(*shape: int) -> Tensor:
    return t(*shape).masked_fill(t(*shape, number=1) > 0.3, -math.inf)


MORE: list[Call] = [
    ("aten._safe_softmax.default", [masked(4, 9), -1], {}),
    ("aten._softmax.default", [masked(4, 9), 0, False], {}),
    ("aten.logsumexp.default", [t(4, 9), [0, 1], True], {}),
    ("aten._softmax.default", [t(), 0, False], {}),
    *[("aten.linalg_vector_norm.default", [t(5, 40), order, [0]], {}) for order in (0, 1, 3, 0.5, math.inf, -math.inf)],
    ("aten.sum.dim_IntList", [t(3, 4, 5), [1], True], {}),
    ("aten.cumsum.default", [t(3, 4, 5), -2], {}),
    ("aten.var.correction", [t(3, 4, 5), [0, 2]], {"correction": 0.5}),
]
"""Settings that tests/support/operator_calls.py has no call for."""


@pytest.mark.parametrize("call", [pytest.param(call, id=f"{call[0][5:]}-{i}") for i, call in enumerate(MORE)])
def test_other_settings_agree_with_torch_too(call: Call) -> None:
    assert agrees(call)


def test_a_sum_over_something_infinite_has_no_exact_value() -> None:
    with pytest.raises(NotExactError, match="infinite"):
        element_of("aten.sum.default", [torch.tensor([1.0, math.inf]).double()], 0)


def test_sums_are_those_of_fractions() -> None:
    x = wild((6, 50), 3)
    node = node_of("aten.sum.dim_IntList", [torch.empty(6)])
    element = defined_output(node, {"self": x, "dim": [1]}, 0, 20).element
    expected = [reference.total(row, sum_bits(50)) for row in x.tolist()]
    assert bits_of(torch.tensor([element(i) for i in range(6)])) == bits_of(torch.tensor(expected))
