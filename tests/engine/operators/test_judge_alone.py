"""Who judges an element computes it alone: by no line of what computed it, and by the values of the page.

The import contracts say it of the modules; here the maker is broken or absent, and the judge says what it said before.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

import counterfoil_core.kernels.exact
from counterfoil_core.arithmetic.compute.operation import make_operation
from counterfoil_core.arithmetic.families.table import DEFINITIONS
from counterfoil_core.kernels.exact import draws as made_draws, sums as made_sums
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.kernels.exact.truth import nearest_single
from counterfoil_core.operators.draws.judge import drawn_element
from counterfoil_core.operators.facts import EXPONENTIAL, NORMAL, UNIFORM
from counterfoil_core.operators.judge import defined_output
from counterfoil_core.operators.judging.ieee import round_to
from counterfoil_core.operators.judging.quantisation import exponents_of, quantised, terms_bits
from counterfoil_core.operators.node import Node, TensorType
from counterfoil_core.operators.pointwise.judge.singles import FUNCTION_KINDS, value_of
from support.definite_calls import CALLS
from support.definite_reference import bits_of

VECTORS = Path(__file__).parents[2] / "vectors"


def load(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text())


def parsed(values: list[str]) -> list[float]:
    return [float.fromhex(value) if "x" in value else float(value) for value in values]


# The judge against the vectors, which a second implementation has too.


def test_quantisation_is_that_of_the_vectors() -> None:
    for case in load("exact_operations")["quantised"]:
        x = np.array(parsed(case["values"]), np.float32)
        exponent = exponents_of(x, range(x.ndim))
        assert int(exponent.item()) - case["bits"] == case["unit"]
        found = quantised(x, exponent, case["bits"])
        assert np.ldexp(found, -case["unit"]).tolist() == case["integers"]


def test_functions_are_those_of_the_vectors() -> None:
    for case in load("exact_operations")["functions"]:
        for argument, value in zip(parsed(case["arguments"]), parsed(case["values"]), strict=True):
            assert bits_of(np.array([value_of(case["kind"], argument)])) == bits_of(np.array([value]))


def test_draws_are_those_of_the_vectors() -> None:
    for operator, cases in load("draws").items():
        for case in cases:
            settings = {"seed": int(case["seed"]), "step": case["step"], "draw": case["draw"]}
            values = parsed(case["values"])
            assert [drawn_element(operator, index, **settings) for index in range(len(values))] == values


# Integers against fractions.


@given(
    st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=8),
    st.sampled_from([8, 13, 20, 24, 33, 51]),
    st.integers(0, 30),
)
def test_quantisation_is_that_of_fractions(values: list[float], bits: int, more: int) -> None:
    x = np.array(values, np.float32)
    largest = max(abs(Fraction(value)) for value in values)
    exponent = next(e for e in range(-148, 129) if Fraction(2) ** e > largest)
    assert exponents_of(x, (0,)).tolist() == [exponent]
    # Elements may share the exponent of larger ones that stand elsewhere.
    shared = min(exponent + more, 128)
    unit = Fraction(2) ** (shared - bits)
    expected = [round(Fraction(value) / unit) * unit for value in values]
    assert list(map(Fraction, quantised(x, np.array(shared), bits).tolist())) == expected


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 1 << 20, (1 << 20) + 1, 1 << 29])
def test_terms_keep_as_many_bits_as_the_page_says(count: int) -> None:
    expected = min(51, 53 - next(k for k in range(40) if 2**k >= count))
    assert terms_bits(count) == expected


@given(st.fractions(), st.integers(-200, 100))
def test_the_maker_rounds_fractions_as_the_judge_does(value: Fraction, exponent: int) -> None:
    """By way of float64 rounded to odd; the judge divides by the spacing."""
    scaled = value * Fraction(2) ** exponent
    assert nearest_single(scaled) + 0.0 == round_to(scaled, "float32") + 0.0
    held = Fraction(round_to(scaled, "float32")) if abs(scaled) < 2**127 else Fraction(1)
    # And halfway between two numbers.
    beside = Fraction(float(np.nextafter(np.float32(held), np.float32(np.inf))))
    assert nearest_single((held + beside) / 2) == round_to((held + beside) / 2, "float32")


# The maker is broken, or absent.


def calls() -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    """For each use of an operator, what computes a few elements of its first output by the judge."""
    for name, args in CALLS:
        operation = make_operation(Node(name, (), (), (TensorType("float32", ()),), 0, "", "forward"))
        rule = DEFINITIONS[operation.node.entry.kind]
        arguments = operation.named(args, {})
        results = rule(arguments, Profile(20))
        found = results if isinstance(results, (tuple, list)) else [results]
        types = tuple(None if x is None else TensorType("float32", tuple(x.shape)) for x in found)
        node, count = Node(name, (), (), types, 0, "", "forward"), found[0].numel()

        def judged(node: Node = node, arguments: dict[str, Any] = arguments, count: int = count) -> list[Any]:
            output = defined_output(node, arguments, 0, 20)
            return [output.element(index) for index in sorted({0, count // 2, count - 1})]

        yield name, judged

    def drawn() -> list[Any]:
        return [drawn_element(op, i, seed=5, step=2, draw=1) for op in (UNIFORM, NORMAL, EXPONENTIAL) for i in range(4)]

    yield "draws", drawn
    yield "functions", lambda: [value_of(kind, *[0.7] * (1 + (kind in ("pow", "atan2", "xlogy")))) for kind in ONES]


ONES = sorted(FUNCTION_KINDS - {"acosh"})


def broken(*_: Any, **__: Any) -> Any:
    raise RuntimeError("the maker is broken")


def test_the_judge_does_without_the_maker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every function and every constant number of the packages that compute is replaced."""
    judges = list(calls())
    before = [judged() for _, judged in judges]
    x = torch.randn(3, 4)
    assert made_sums.total(x).numel() == 1
    for package in (counterfoil_core.kernels.exact, counterfoil_core.arithmetic.compute):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if "triton" in found.name:
                continue
            module = importlib.import_module(found.name)
            for name, value in list(vars(module).items()):
                own = getattr(value, "__module__", "").startswith(
                    ("counterfoil_core.kernels.exact", "counterfoil_core.arithmetic.compute")
                )
                if isinstance(value, FunctionType) and own:
                    monkeypatch.setattr(module, name, broken)
                elif isinstance(value, int) and not isinstance(value, bool) and name.isupper():
                    monkeypatch.setattr(module, name, value + 3)
    assert [judged() for _, judged in judges] == before
    # Control: nothing of the maker works any more.
    with pytest.raises(RuntimeError, match="broken"):
        made_sums.total(x)
    with pytest.raises(RuntimeError, match="broken"):
        made_draws.normal(torch.arange(4))


ALONE = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[:2] in [["counterfoil_core", room] for room in ("arithmetic", "kernels")]:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import torch
from counterfoil_core.judge import exactelements
from counterfoil_core.operators.draws.judge import drawn_element
from counterfoil_core.operators.judge import defined_output
from counterfoil_core.program.graph import Node, TensorType
node = Node("aten.index_add.default", (), (), (TensorType("float32", (2,)),), 0, "", "forward")
arguments = dict(self=torch.zeros(2), dim=0, index=torch.tensor([1, 1]), source=torch.tensor([1e-8, 3e-17]), alpha=1)
element = defined_output(node, arguments, 0, 20).element
print(element(0), element(1), drawn_element("counterfoil.uniform", 0, seed=1, step=1, draw=0))
try:
    import counterfoil_core.kernels.exact
except ModuleNotFoundError:
    print("absent")
"""


@pytest.mark.slow
def test_the_judge_works_where_the_maker_is_not_installed() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    zero, added, drawn, absent = done.stdout.split()
    assert (float(zero), absent) == (0.0, "absent")
    assert float(added) == float(np.float32(np.float64(np.float32(1e-8)) + np.float64(np.float32(3e-17))))
    assert float(drawn) == drawn_element(UNIFORM, 0, seed=1, step=1, draw=0)
