"""Random numbers are an operator of Counterfoil's own: the check of types must not draw them, nor believe a lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterfoil_core.arithmetic.admission import read_program
from counterfoil_core.base.precision import Precision
from counterfoil_core.values.outcome import Outcome
from support.hostile_programs import order_of, single
from support.measured import command

GIGABYTES = [2**29]
"""Numbers of 4 GiB in float64, of 2 GiB as they are drawn."""


def test_the_check_takes_no_memory_for_the_numbers(tmp_path: Path) -> None:
    large = single("counterfoil.uniform", [GIGABYTES, 0], [("float32", GIGABYTES)])
    done = command("inspect", str(order_of(large, tmp_path / "large.cfoil")))
    # The program is sound; it does not fit this order's state, which is looked at last.
    assert "state tensors are not those" in done.said
    small = single("counterfoil.uniform", [[4], 0], [("float32", [4])])
    control = command("inspect", str(order_of(small, tmp_path / "small.cfoil")))
    assert (done.code, control.code) == (Outcome.REFUSED.exit_code,) * 2
    assert done.memory < control.memory + 64
    assert done.seconds < control.seconds + 5


@pytest.mark.sampled(1)
@pytest.mark.parametrize("declared", [("float32", [2, 2]), ("float32", [4]), ("bool", [4, 4]), ("float32", [4, 4, 1])])
def test_a_lie_about_the_numbers_is_refused(tmp_path: Path, declared: tuple[str, list[int]]) -> None:
    lie = single("counterfoil.uniform", [[4, 4], 0], [declared])
    done = command("inspect", str(order_of(lie, tmp_path / "lie.cfoil")))
    assert done.code == Outcome.REFUSED.exit_code
    assert "counterfoil.uniform (forward of layer) gives another shape or dtype than the program says" in done.said
    read_program(single("counterfoil.uniform", [[4, 4], 0], [("float32", [4, 4])]), Precision())
