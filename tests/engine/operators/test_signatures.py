"""Every operator of the allow-list has a signature that this torch gives, and all of its types are known."""

from __future__ import annotations

import pytest

from counterfoil.base.errors import ProgramError
from counterfoil.operators import signatures
from counterfoil.operators.catalogue import allowed_names
from counterfoil.operators.facts import UNIFORM
from counterfoil.operators.node import Node, TensorType, Value
from counterfoil.operators.signatures import check_arguments, defaults_of, overload, signature_of

X = TensorType("float32", (4,))


def test_every_type_of_every_operator_is_checked() -> None:
    known = {*signatures._CHECKS, "Device"}
    for name in allowed_names():
        assert {parameter.type for parameter in signature_of(name).parameters} <= known, name


def test_defaults_and_the_operator_of_our_own() -> None:
    assert defaults_of("aten.add.Tensor") == {"alpha": 1}
    assert [parameter.name for parameter in signature_of(UNIFORM).parameters] == ["size", "draw"]


def test_an_operator_that_this_torch_lacks() -> None:
    with pytest.raises(ProgramError, match=r"lacks the operator aten\.mm\.nothing"):
        overload("aten.mm.nothing")


@pytest.mark.parametrize("value", [float("inf"), float("-inf")])
def test_infinity_stands_where_it_has_a_meaning(value: float) -> None:
    check_arguments(Node("aten.masked_fill.Scalar", (Value(0), Value(1), value), (), (X,), 2, "", "forward"))
    check_arguments(Node("aten.clamp.default", (Value(0), None, value), (), (X,), 1, "", "forward"))
    with pytest.raises(ProgramError, match="'other' that is infinite"):
        check_arguments(Node("aten.mul.Tensor", (Value(0), value), (), (X,), 1, "", "forward"))


def test_a_truth_value_is_a_number_only_where_it_is_written_or_compared() -> None:
    check_arguments(Node("aten.full.default", ((4,), True), (), (TensorType("bool", (4,)),), 0, "", "forward"))
    with pytest.raises(ProgramError, match="'value' that is a truth value"):
        check_arguments(
            Node("aten.addcmul.default", (Value(0), Value(0), Value(0)), (("value", True),), (X,), 1, "", "forward")
        )
