"""The rules that say what each operator gives, held to the library on tensors without memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from counterfoil_core.arithmetic.compute.metatypes import check_by_library
from counterfoil_core.base.dtypes import STATE_DTYPES
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.operators.catalogue import allowed_names
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.operators.results import SHAPE_RULES
from counterfoil_core.operators.shaperules import Results
from counterfoil_core.operators.signatures import check_arguments, check_pieces, signature_of
from counterfoil_core.operators.uses import undefined_use
from counterfoil_core.program.graph import MAX_ELEMENTS, Input, Program
from counterfoil_core.program.resulttypes import gives_what_it_declares, results_by_rule
from support.shape_calls import ShapeCall, examples, f, i, variants

WITHOUT_RULE: frozenset[str] = frozenset()
"""Operators that have none: this list can only shrink."""
QUICK, MANY = 2, 150
"""Calls of an operator that chance makes of its examples."""
EXAMPLES = examples()


def by_rule(call: ShapeCall, compute: str) -> tuple[Node, list[TensorType]] | None:
    """The node of a call that declares what its rule says, and the types of its values; None where none knows.

    A call that is refused before anybody asks a rule is none.
    """
    node, types = call.node()
    count = signature_of(node.operator).results
    # What makes a tensor is told the dtype that its output declares.
    for dtype in STATE_DTYPES:
        asked = replace(node, outputs=(TensorType(dtype, ()),) * (count or 1))
        made = results_by_rule(asked, types, compute) if fits(asked, check_arguments) else None
        outputs = None if made is None else declared(made, compute)
        if outputs is not None:
            node = replace(node, outputs=outputs)
            whole = fits(node, check_arguments) and fits(node, check_pieces, types)
            return (node, types) if whole and undefined_use(node, types) is None else None
    return None


def fits(node: Node, check: Callable[..., None], *more: Any) -> bool:
    """Whether a reader of programs passes a node."""
    try:
        check(node, *more)
    except ProgramError:
        return False
    return True


def declared(made: Results, compute: str) -> tuple[TensorType | None, ...] | None:
    """What a program declares of results; None where no program can."""
    found = []
    for result in made:
        if result is not None and (result.floating and result.dtype != compute):
            return None
        if result is not None and (min(result.shape, default=0) < 0 or math.prod(result.shape) > MAX_ELEMENTS):
            return None
        found.append(
            None if result is None else TensorType("float32" if result.floating else result.dtype, result.shape)
        )
    return tuple(found)


def library_takes(node: Node, types: list[TensorType], compute: str) -> str | None:
    """Why the library refuses a node, or gives something else; None where it does not."""
    loss = TensorType("float32", ())
    inputs = tuple(Input(f"x{number}", "state", item) for number, item in enumerate(types))
    shifted = replace(node, first_value=len(types) + 1)
    program = Program((*inputs, Input("loss", "state", loss)), (shifted,), {}, Value(len(types)))
    try:
        check_by_library(program, compute, [0])
    except ProgramError as error:
        return f"{error} {error.detail}"
    return None


def test_which_operators_have_no_rule() -> None:
    assert frozenset(allowed_names()) - SHAPE_RULES.keys() == WITHOUT_RULE
    assert SHAPE_RULES.keys() <= frozenset(allowed_names()) <= EXAMPLES.keys()


@pytest.mark.parametrize("name", sorted(SHAPE_RULES))
def test_what_a_rule_passes_the_library_takes_and_gives(name: str) -> None:
    """So what the library refuses no rule passes."""
    held_to_the_library(name, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SHAPE_RULES))
def test_what_a_rule_passes_of_many_calls_the_library_takes_and_gives(name: str) -> None:
    held_to_the_library(name, MANY)


def held_to_the_library(name: str, count: int) -> None:
    passed = 0
    for compute in ("float64", "float32"):
        for call in variants(EXAMPLES[name], f"{name} {compute}", count):
            found = by_rule(call, compute)
            if found is not None:
                passed += 1
                assert library_takes(*found, compute) is None, (call, found[0].outputs)
                lie = replace(found[0], outputs=tuple(map(other, found[0].outputs)))
                assert gives_what_it_declares(*found, compute)
                assert not gives_what_it_declares(lie, found[1], compute)
    assert passed > 1


def other(described: TensorType | None) -> TensorType | None:
    """Another type than an output has."""
    return None if described is None else replace(described, shape=(*described.shape, 2))


def test_control_a_rule_that_passes_too_much_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SHAPE_RULES, "aten.mm.default", lambda arguments: [arguments["self"]])
    with pytest.raises(AssertionError):
        held_to_the_library("aten.mm.default", QUICK)


@pytest.mark.parametrize(
    "call",
    [
        ShapeCall("aten.mm.default", (f(3, 4), f(5, 4))),
        ShapeCall("aten.add.Tensor", (f(3, 4), f(3))),
        ShapeCall("aten.add.Tensor", (i(3), i(3)), (("alpha", 0.5),)),
        ShapeCall("aten.view.default", (f(3, 4), (5, -1))),
        ShapeCall("aten.expand.default", (f(3, 4), (3, 5))),
        ShapeCall("aten.sum.dim_IntList", (f(3, 4), (0, -2))),
        ShapeCall("aten.cat.default", ((f(3, 4), f(3, 5)), 0)),
        ShapeCall("aten.select.int", (f(3, 4), 0, 3)),
        ShapeCall("aten.gather.default", (f(3, 4), 0, f(3, 4))),
        ShapeCall("aten.convolution.default", (f(2, 4, 2), f(6, 4, 3), None, (1,), (0,), (1,), False, (0,), 1)),
        ShapeCall("aten.native_layer_norm.default", (f(5, 6), (5,), None, None, 1e-5)),
        ShapeCall("aten._softmax.default", (f(3, 4), 2, False)),
    ],
    ids=lambda call: call.operator,
)
def test_wrong_calls_are_refused_by_the_library_and_passed_by_no_rule(call: ShapeCall) -> None:
    node, types = call.node()
    assert by_rule(call, "float64") is None
    assert library_takes(node, types, "float64") is not None


def test_numbers_without_an_end_are_no_trouble() -> None:
    long = 2**40
    for name, args in (
        ("aten.convolution.default", (f(1, 1, 2**36), f(1, 1, 2), None, (1,), (long,), (long,), False, (0,), 1)),
        ("aten.constant_pad_nd.default", (f(2), (long, long))),
        ("aten.repeat.default", (f(2), (long, long))),
        ("aten.arange.start_step", (0, 2**63 - 1, 1)),
        ("aten.pixel_shuffle.default", (f(2, 8, 3, 3), long)),
    ):
        assert by_rule(ShapeCall(name, args), "float64") is None
