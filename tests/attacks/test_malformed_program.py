"""Programs whose arguments and outputs are not what their operators take and give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from counterfoil.cli import main
from counterfoil_core.arithmetic.admission import read_program
from counterfoil_core.base.precision import Precision
from counterfoil_core.values.outcome import Outcome
from support.hostile_programs import order_of, single

X = {"value": 0}
A = ("float32", [4, 4])
IMAGE = ("float32", [1, 1, 4, 4])
CASES: dict[str, tuple[bytes, str]] = {
    "no output of a rounded operator": (single("aten.exp.default", [X], [], A), "has 0 outputs, not 1"),
    "no output of an exact operator": (single("aten.neg.default", [X], [], A), "has 0 outputs, not 1"),
    "no output of a comparison": (single("aten.eq.Tensor", [X, X], [], A), "has 0 outputs, not 1"),
    "an output that is not computed": (single("aten.full.default", [[4, 4], 1], [None], A), "is not computed"),
    "a comparison of no tensor": (single("aten.eq.Tensor", [1, 2], [("bool", [])], A), "'self' that is not a tensor"),
    "a comparison of nothing": (single("aten.eq.Scalar", [], [("bool", [4, 4])], A), "lacks the argument 'self'"),
    "a scatter of one tensor": (single("aten.select_scatter.default", [X], [A], A), "lacks the argument 'src'"),
    "text for a size": (single("counterfoil.uniform", ["ab", 1], [A], A), "'size' that is not a list of integers"),
    "a number for a size": (single("counterfoil.uniform", [4, 1], [A], A), "'size' that is not a list of integers"),
    "nothing for a length": (single("counterfoil.uniform", [[None], 1], [A], A), "'size' that is not an integer"),
    "a negative size": (single("counterfoil.uniform", [[-4, -4], 1], [A], A), "another shape or dtype"),
    "random numbers without a place": (single("counterfoil.uniform", [[4, 4], 1], [], A), "has 0 outputs, not 1"),
    "an argument that there is not": (
        single("counterfoil.uniform", [[4, 4], 1], [A], A, out=X), "'out' by name, which it lacks",
    ),
    "a tensor by name": (
        single("aten.exp.default", [], [A], A, self=X), "'self' by name, not by position",
    ),
    "a device": (single("aten.full.default", [[4, 4], 1], [A], A, device="cuda:0"), "'device' that cannot be given"),
    "a truth value for an axis": (
        single("aten.unsqueeze.default", [X, True], [("float32", [4, 1, 4])], A), "'dim' that is not an integer",
    ),
    "an axis of 64 bits": (
        single("aten.sum.dim_IntList", [X, [{"int": str(2**63)}]], [("float32", [4])], A), "it must lie in -16 to 15",
    ),
    "a fraction for an axis": (
        single("aten.sum.dim_IntList", [X, [{"float": "0x1.8000000000000p+0"}]], [("float32", [4])], A),
        "'dim' that is not an integer",
    ),
    "a number that is none": (
        single("aten.add.Tensor", [X, X], [A], A, alpha={"float": "nan"}), "'alpha' that is not a number",
    ),
    "a stride of zero": (
        single("aten.avg_pool2d.default", [X, [2, 2], [0, 0]], [IMAGE], IMAGE), "'stride' that is 0; it must lie in 1",
    ),
    "no groups": (
        single("aten.convolution.default", [X, X, None, [1], [0], [1], False, [0], 0], [IMAGE], IMAGE),
        "'groups' that is 0; it must lie in 1",
    ),
    "a reduction that there is not": (single("aten.mse_loss.default", [X, X, 9], [("float32", [])], A), "is 9;"),
    "a way of rounding that there is not": (
        single("aten.div.Tensor_mode", [X, X], [A], A, rounding_mode="up"), "is not one of floor, trunc",
    ),
    "a scatter of products": (
        single("aten.scatter_reduce.two", [X, 0, {"value": 1}, X, "prod"], [A], A, ("int64", [4, 4])),
        "is not one of amax, amin",
    ),
    "pieces that nobody counts": (
        single("aten.split.Tensor", [X, 1], [("float32", [1])], ("float32", [2**36])), f"1 outputs, not {2**36}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_is_refused_with_operator_and_argument(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, sentence = CASES[name]
    code = main(["inspect", str(order_of(program, tmp_path / "malformed.cfoil"))])
    said = " ".join("".join(capsys.readouterr()).split())
    assert code == Outcome.REFUSED.exit_code
    assert sentence in said, said
    assert "(forward of layer)" in said
    assert "This is a bug" not in said


SOUND: list[tuple[str, list[Any], list[Any], Any]] = [
    ("aten.exp.default", [X], [A], A),
    ("aten.unsqueeze.default", [X, 1], [("float32", [4, 1, 4])], A),
    ("aten.scatter_reduce.two", [X, 0, {"value": 1}, X, "amax"], [A], (A, ("int64", [4, 4]))),
    ("aten.sum.dim_IntList", [X, [-1]], [("float32", [4])], A),
    ("aten.eq.Scalar", [X, 2], [("bool", [4, 4])], A),
    ("aten.avg_pool2d.default", [X, [2, 2], [2, 2]], [("float32", [1, 1, 2, 2])], IMAGE),
    ("aten.split.Tensor", [X, 2], [("float32", [2, 4]), ("float32", [2, 4])], A),
]


@pytest.mark.parametrize(("operator", "args", "outputs", "given"), SOUND)
def test_the_same_without_the_fault_is_accepted(operator: str, args: list[Any], outputs: list[Any], given: Any) -> None:
    inputs = given if isinstance(given[0], tuple) else (given,)
    read_program(single(operator, args, outputs, *inputs), Precision())
