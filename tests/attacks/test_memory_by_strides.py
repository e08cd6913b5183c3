"""Memory reached by strides: no program may name it, and no capture lets a tensor be left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from counterfoil.cli import main
from counterfoil.program.moves import MOVES
from counterfoil_core.arithmetic.admission import read_program
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.precision import Precision
from counterfoil_core.operators.catalogue import allowed_names
from counterfoil_core.values.outcome import Outcome
from support.hostile_programs import order_of, single

X = {"value": 0}
A = ("float32", [4, 4])
FAR = 2**40
PROGRAMS: dict[str, bytes] = {
    "inside": single("aten.as_strided.default", [X, [4], [1], 0], [("float32", [4])], A),
    "behind the tensor": single("aten.as_strided.default", [X, [4], [1], FAR], [("float32", [4])], A),
    "far strides": single("aten.as_strided.default", [X, [4], [FAR], 0], [("float32", [4])], A),
    "a copy": single("aten.as_strided_copy.default", [X, [4], [1], FAR], [("float32", [4])], A),
    "a write": single("aten.as_strided_scatter.default", [X, X, [4, 4], [4, 1], FAR], [A], A),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_order_that_names_memory_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["inspect", str(order_of(PROGRAMS[name], tmp_path / "strides.cfoil"))])
    said = " ".join("".join(capsys.readouterr()).split())
    assert code == Outcome.REFUSED.exit_code
    assert "as_strided" in said
    assert "This is a bug" not in said


def test_no_operator_of_the_list_takes_an_offset_in_memory() -> None:
    assert not [name for name in allowed_names() if "strided" in name or "storage" in name or "set_" in name]
    # The one with strides takes them as a description that nothing follows.
    with pytest.raises(ProgramError, match="argument 'stride'"):
        read_program(single("aten._reshape_alias.default", [X, [16], [-1]], [("float32", [16])], A), Precision())


MEMORY = torch.arange(20.0)
STRAY: dict[str, tuple[Tensor, Any, Any, int | None]] = {
    "behind the end": (MEMORY[2:10], (3, 4), (5, 1), 2),
    "one behind the end": (MEMORY[:19], (20,), (1,), 0),
    "before the beginning": (MEMORY[5:], (3,), (1,), 0),
    "between columns": (MEMORY.reshape(4, 5)[:, :2], (8,), (1,), 0),
    "backwards": (MEMORY, (3,), (-1,), 5),
    "of an expanded tensor": (MEMORY[:4].expand(5, 4), (20,), (1,), 0),
    "far": (MEMORY, (2, 2), (FAR, 1), 0),
}


@pytest.mark.parametrize("name", STRAY)
def test_strides_that_leave_a_tensor_are_refused_at_capture(name: str) -> None:
    x, size, stride, offset = STRAY[name]
    with pytest.raises(ProgramError, match="reach beyond its own elements"):
        MOVES[torch.ops.aten.as_strided.default](x, size, stride, offset)
    with pytest.raises(ProgramError, match="reach beyond its own elements"):
        MOVES[torch.ops.aten.as_strided_scatter.default](x, torch.zeros(size), size, stride, offset)


def test_control_strides_inside_are_the_librarys() -> None:
    for size, stride, offset in [((3, 4), (5, 1), 2), ((20,), (1,), 0), ((4, 4, 2), (4, 1, 3), 0), ((2, 3), (0, 7), 5)]:
        read = MOVES[torch.ops.aten.as_strided.default](MEMORY, size, stride, offset)
        assert torch.equal(read, MEMORY.as_strided(size, stride, offset))
