"""The judge of pointwise operators."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch

from counterfoil_core.arithmetic.families.table import DEFINITIONS
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.operators.judging.numbers import NotExactError
from counterfoil_core.operators.pointwise.judge.singles import FUNCTION_KINDS, value_of
from support.definite_reference import bits_of
from support.exact_forms import agrees, element_of
from support.operator_calls import ATEN, Call, t

X, G = t(4, 30) * 3, t(4, 30, number=1)
MORE: list[Call] = [
    ("aten.gelu.default", [X * 4], {"approximate": "tanh"}),
    ("aten.gelu_backward.default", [G, X * 4], {"approximate": "tanh"}),
    ("aten.softplus.default", [X * 9, 0.7, 10], {}),
    ("aten.softplus_backward.default", [G, X * 9, 0.7, 10], {}),
    ("aten.elu.default", [X, 0.7, 1.3, 0.9], {}),
    ("aten.celu.default", [X, 0.7], {}),
    ("aten.elu_backward.default", [G, 0.7, 1.3, 0.9, False, X], {}),
    ("aten.elu_backward.default", [G, 0.7, 1.3, 0.9, True, ATEN.elu.default(X, 0.7, 1.3, 0.9)], {}),
    ("aten.logit.default", [t(40).abs(), 0.1], {}),
    ("aten.logit_backward.default", [t(40), t(40, number=1).abs() * 3, 0.1], {}),
    ("aten.glu.default", [t(6, 4, 3), 1], {}),
    ("aten.glu_backward.default", [t(6, 2, 3), t(6, 4, 3, number=1), 1], {}),
    ("aten.add.Tensor", [t(5, 1), t(7, number=1)], {"alpha": 0.3}),
    ("aten.pow.Tensor_Scalar", [t(40), 3], {}),
    ("aten.pow.Tensor_Scalar", [t(40), 2], {}),
    ("aten.xlogy.Tensor", [t(40).relu(), t(40, number=1).abs()], {}),
]
"""Settings that tests/support/operator_calls.py has no call for."""


@pytest.mark.parametrize("call", [pytest.param(call, id=f"{call[0][5:]}-{i}") for i, call in enumerate(MORE)])
def test_other_settings_agree_with_torch_too(call: Call) -> None:
    assert agrees(call)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("aten.reciprocal.default", [0.0]),
        ("aten.log.default", [0.0]),
        ("aten.log.default", [-1.0]),
        ("aten.logit.default", [1.0]),
        ("aten.pow.Tensor_Scalar", [-2.0, 0.5]),
        ("aten.atanh.default", [1.0]),
        ("aten.sin.default", [math.inf]),
    ],
)
def test_a_result_that_is_no_finite_number_is_no_exact_value(name: str, args: list[Any]) -> None:
    x = torch.tensor([args[0]]).double()
    with pytest.raises(NotExactError, match="infinite"):
        element_of(name, [x, *args[1:]], 0)


def test_an_infinity_that_an_argument_holds_is_a_value() -> None:
    assert element_of("aten.exp.default", [torch.tensor([math.inf]).double()], 0) == math.inf
    masked = torch.tensor([[1.0, -math.inf], [0.0, 2.0]]).double()
    assert element_of("aten.div.Tensor", [masked, torch.full((2, 2), 4.0).double()], 1) == -math.inf
    assert element_of("aten.div.Tensor", [masked, torch.full((2, 2), 4.0).double()], 3) == 0.5


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
    rule = DEFINITIONS[kind]
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
