"""Honest programs are decided by rules alone: the library, which takes seconds to load, is asked about none of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.every_operator import every_operator

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.operators.node import Node, TensorType, Value
from counterfoil_core.program.graph import Input, Program
from counterfoil_core.program.resulttypes import undecided_operators

TESTS = Path(__file__).parents[2]
FILES = [
    *(TESTS / "engine" / "golden" / f"{name}.job.cfoil" for name in ("digits", "gpt2", "exact")),
    *(TESTS / "vectors" / f"{name}.cfoil" for name in ("convolution", "transformer", "exact", "shares", "turns")),
]


def programs(path: Path) -> tuple[list[Program], str]:
    """The programs of an order, and the compute dtype of its profile."""
    with BundleReader.open(path) as reader:
        contents = reader.check_order_contents()
        every = [*contents.programs.all, *(() if contents.updates is None else contents.updates.all)]
        return [Program.from_bytes(data) for data in every], reader.manifest.precision.compute


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_operator_of_an_order_is_left_to_the_library(path: Path) -> None:
    found, compute = programs(path)
    for program in found:
        assert [program.nodes[index].where for index in undecided_operators(program, compute)] == []
        assert undecided_operators(program, "float32" if compute == "float64" else "float64") == []


def test_no_operator_of_a_step_with_every_rounded_kind_is_left_to_the_library() -> None:
    (program,) = every_operator(2).programs.all
    assert [program.nodes[index].where for index in undecided_operators(program, "float64")] == []


def chained(*operators: str) -> Program:
    """A program of operators of one number each."""
    number = TensorType("float32", ())
    nodes = (
        Node(operator, (Value(place),), (), (number,), place + 1, "", "forward")
        for place, operator in enumerate(operators)
    )
    return Program((Input("x", "state", number),), tuple(nodes), {}, Value(len(operators)))


def test_one_stands_for_all_that_have_the_same_arguments() -> None:
    # No rule answers for what the catalogue does not list.
    assert undecided_operators(
        chained("aten.neg.default", "aten.erfinv.default", "aten.erfinv.default"), "float64"
    ) == [1]


def test_who_stops_gets_none() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        undecided_operators(chained("aten.neg.default"), "float64", cancel)
