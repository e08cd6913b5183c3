"""Who judges an operator is found by its family; the exact form of every rounded one agrees with torch in float64."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from counterfoil_core.operators import judge
from counterfoil_core.operators.catalogue import allowed_names, classify
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.judge import exact_kinds, exact_output
from counterfoil_core.operators.judging.numbers import NotExactError
from support.exact_forms import distances, off
from support.operator_calls import CALLS, OTHER_CALLS, Call, operation_of

EVERY = {**CALLS, **OTHER_CALLS}
CASES = [
    pytest.param(call, id=f"{call[0].removeprefix('aten.')}-{number}")
    for kind in sorted(EVERY)
    for number, call in enumerate(EVERY[kind])
]


def rounded_kinds() -> set[str]:
    entries = {classify(name, alpha=0.3) for name in allowed_names()}
    return {entry.kind for entry in entries if entry.operator_class is OperatorClass.ROUNDED}


def test_each_family_judges_what_it_declares_and_nobody_judges_twice() -> None:
    tables: dict[str, list[str]] = {}
    for family in judge._FAMILIES:
        name = family.__name__.split(".")[2]
        declared = {
            operator.kind for operator in importlib.import_module(f"counterfoil_core.operators.{name}.facts").FACTS
        }
        for table, judged in vars(family.JUDGE).items():
            assert set(judged) <= declared, (name, table)
            tables.setdefault(table, []).extend(judged)
    assert sorted(tables) == ["definitions", "exact_forms", "functions", "quantisations"]
    assert all(kinds and len(kinds) == len(set(kinds)) for kinds in tables.values())


def test_every_rounded_operator_has_an_exact_form() -> None:
    assert exact_kinds() >= rounded_kinds()


@pytest.mark.parametrize("call", CASES)
def test_agrees_with_torch_within_the_margin(call: Call) -> None:
    assert max(distances(call)) <= 0.25


@pytest.mark.parametrize("call", CASES)
def test_control_a_result_that_is_off_is_told_apart(call: Call) -> None:
    """Every element is moved by 2^-30 of its size, which is many tau wherever the element is not tiny."""
    assert max(distances(call, off)) > 1


def test_an_operator_without_an_exact_form_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    (call,) = OTHER_CALLS["erfc"]
    operation = operation_of(call)
    arguments = operation.named(list(call[1]), {})
    monkeypatch.delitem(judge._EXACT_FORMS, "erfc")
    with pytest.raises(NotExactError, match="nobody has written"):
        exact_output(operation.node, arguments, 0)


@pytest.mark.parametrize("call", CASES)
def test_the_cost_of_an_element_is_stated(call: Call) -> None:
    operation = operation_of(call)
    arguments = operation.named(list(call[1]), dict(call[2]))
    assert np.all(
        [
            exact_output(operation.node, arguments, position).cost >= 1
            for position, described in enumerate(operation.node.outputs)
            if described is not None and described.floating
        ]
    )
