"""Every operator of the allow-list has a signature that this torch gives, and all of its types are known."""

from __future__ import annotations

import pytest

from counterfoil_core.base.errors import ProgramError
from counterfoil_core.operators import signatures
from counterfoil_core.operators.catalogue import allowed_names
from counterfoil_core.operators.facts import UNIFORM
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.operators.schemas import SCHEMAS
from counterfoil_core.operators.signatures import Parameter, check_arguments, defaults_of, overload, signature_of

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


@pytest.mark.parametrize("name", allowed_names())
def test_what_is_read_from_the_table_of_schemas_is_what_the_library_declares(name: str) -> None:
    schema = overload(name)._schema
    assert name in SCHEMAS
    signature = signature_of(name)
    lists = any(str(result.type) == "List[Tensor]" for result in schema.returns)
    assert signature.results == (None if lists else len(schema.returns))
    for parameter, own in zip(signature.parameters, schema.arguments, strict=True):
        kind = str(own.real_type)
        optional = kind.startswith("Optional[")
        assert parameter == Parameter(
            own.name,
            kind.removeprefix("Optional[").removesuffix("]") if optional else kind,
            own.N,
            optional,
            not own.has_default_value(),
            own.kwarg_only,
        )
    defaults = {own.name: own.default_value for own in schema.arguments if own.has_default_value()}
    # 1, 1.0 and True are not the same here.
    assert [(key, repr(value)) for key, value in defaults_of(name).items()] == [
        (key, repr(value)) for key, value in defaults.items()
    ]


def test_the_table_holds_the_allow_list_and_nothing_else() -> None:
    assert SCHEMAS.keys() == set(allowed_names())


def test_control_another_schema_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCHEMAS, "aten.mm.default", "aten::mm(Tensor self, Tensor? mat2) -> Tensor")
    for read in (signatures._declared, signature_of, defaults_of):
        read.cache_clear()
    try:
        with pytest.raises(AssertionError):
            test_what_is_read_from_the_table_of_schemas_is_what_the_library_declares("aten.mm.default")
    finally:
        for read in (signatures._declared, signature_of, defaults_of):
            read.cache_clear()
