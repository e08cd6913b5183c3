"""The judge of operators that read and write at indices."""

from __future__ import annotations

import pytest
import torch

from counterfoil_core.operators.judge import defined_output
from counterfoil_core.operators.judging.numbers import NotExactError
from support.definite_calls import draw
from support.definite_reference import bits_of
from support.exact_forms import agrees, called, element_of
from support.operator_calls import Call, rows, t

MORE: list[Call] = [
    ("aten.embedding_dense_backward.default", [t(9, 21, 4), rows(9, 21, limit=5), 5, -1, True], {}),
    ("aten.index_put.default", [t(5, 4), [torch.tensor([3, 1])], t(2, 4, number=1), False], {}),
    ("aten.index_put.default", [t(5, 4), [t(5) > 0], t(4, number=1), True], {}),
]
"""Settings that tests/support/operator_calls.py has no call for."""


@pytest.mark.parametrize("call", [pytest.param(call, id=f"{call[0][5:]}-{i}") for i, call in enumerate(MORE)])
def test_other_settings_agree_with_torch_too(call: Call) -> None:
    assert agrees(call)


def test_which_of_several_writes_is_last_is_not_defined() -> None:
    base, where = t(5), torch.tensor([2, 2, 3])
    with pytest.raises(NotExactError, match="last"):
        element_of("aten.index_put.default", [base, [where], t(3, number=1)], 2)
    assert element_of("aten.index_put.default", [base, [where], t(3, number=1)], 3) == float(t(3, number=1)[2])


def test_values_that_no_sum_takes_are_left_out() -> None:
    """A source longer than its index: what is not added decides no exponent."""
    base, source, index = draw(3), torch.tensor([1.0, 2.0, 1e30]), torch.tensor([0, 0])
    node, arguments, outputs = called("aten.scatter_add.default", [base, 0, index, source], 20)
    element = defined_output(node, arguments, 0, 20).element
    assert outputs[0] is not None
    assert bits_of(torch.tensor([element(i) for i in range(3)])) == bits_of(outputs[0])
