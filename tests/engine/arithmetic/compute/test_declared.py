"""What an operator gives is compared with what is declared, by rules and by the library, before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from counterfoil_core.arithmetic.admission import check_types
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.arithmetic.compute.metatypes import check_by_library
from counterfoil_core.arithmetic.selftest import tiny_inputs, tiny_program
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.graph import Input, Program
from counterfoil_core.program.resulttypes import undecided_operators

CPU = torch.device("cpu")


def by_rules(program: Program) -> None:
    """Check as an admission does: the library is asked about the rest."""
    check_types(program, "float64")


def by_library(program: Program) -> None:
    """Ask the library about every operator."""
    check_by_library(program, "float64", range(len(program.nodes)))


Check = Callable[[Program], None]
BOTH: Any = pytest.mark.parametrize("check", [by_rules, by_library])


def with_outputs(index: int, *types: TensorType | None) -> Program:
    program = tiny_program()
    nodes = list(program.nodes)
    nodes[index] = replace(nodes[index], outputs=types)
    return replace(program, nodes=tuple(nodes))


@BOTH
def test_the_check_accepts_the_good_program(check: Check) -> None:
    check(tiny_program())


@pytest.mark.parametrize(
    ("index", "wrong", "sentence"),
    [
        (0, (TensorType("float32", (16, 25)),), "aten.mm.default (forward of layer) gives another shape or dtype"),
        (0, (TensorType("int64", (16, 24)),), "aten.mm.default (forward of layer) gives another shape or dtype"),
        (1, (TensorType("float32", ()),), "aten.tanh.default (forward of activation) gives another shape"),
    ],
)
@BOTH
def test_the_check_finds_wrong_declarations(check: Check, index: int, wrong: Any, sentence: str) -> None:
    program = with_outputs(index, *wrong)
    with pytest.raises(ProgramError) as caught:
        check(program)
    assert sentence in str(caught.value)
    # The real run finds it too.
    with pytest.raises(ProgramError):
        Interpreter(program, CPU).run(tiny_inputs())


@BOTH
def test_the_check_finds_arguments_that_an_operator_rejects(check: Check) -> None:
    program = tiny_program()
    nodes = (replace(program.nodes[0], args=(Value(0), Value(1))), *program.nodes[1:])
    with pytest.raises(ProgramError, match=r"aten\.mm\.default \(forward of layer\) cannot be computed"):
        check(replace(program, nodes=nodes))


@BOTH
def test_the_check_finds_a_wrong_number_of_outputs(check: Check) -> None:
    two = TensorType("float32", (24, 16))
    with pytest.raises(ProgramError, match="has 1 outputs, not 2"):
        check(with_outputs(6, two, two))


@pytest.mark.parametrize("kwargs", [(("surprise", 1),), (("out", Value(0)),)])
@BOTH
def test_the_check_finds_unknown_keywords(check: Check, kwargs: Any) -> None:
    program = tiny_program()
    nodes = (replace(program.nodes[0], kwargs=kwargs), *program.nodes[1:])
    with pytest.raises(ProgramError):
        check(replace(program, nodes=nodes))


@BOTH
def test_a_boolean_index_whose_shape_depends_on_values_is_refused(check: Check) -> None:
    x, mask, number = TensorType("float32", (4,)), TensorType("bool", (4,)), TensorType("float32", ())
    program = Program(
        (Input("x", "state", x),),
        (
            Node("aten.gt.Scalar", (Value(0), 0), (), (mask,), 1, "", "forward"),
            Node("aten.index.Tensor", (Value(0), (Value(1),)), (), (x,), 2, "", "forward"),
            Node("aten.sum.default", (Value(2),), (), (number,), 3, "", "forward"),
        ),
        {},
        Value(3),
    )
    with pytest.raises(ProgramError, match=r"aten\.index\.Tensor"):
        check(program)


def test_an_honest_program_is_decided_by_rules_alone() -> None:
    assert undecided_operators(tiny_program(), "float64") == []
    assert undecided_operators(with_outputs(0, TensorType("float32", (16, 25))), "float64") == [0, 1], (
        "and who takes it"
    )
