"""The figures of docs/profiles.md that can be had in a moment are what the code gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from torch import Tensor

from counterfoil.base.profilecosts import LEARNT, PROFILE_COSTS, TIMED
from counterfoil.training.weights import nearly_normal
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.precision import PROFILES, Precision
from counterfoil_core.kernels.exact.limits import check_operands
from counterfoil_core.kernels.exact.products import Form, matmul

PAGE = (Path(__file__).parents[1] / "docs" / "profiles.md").read_text(encoding="utf-8")


def cells(line: str) -> list[str]:
    return [cell.strip(" `") for cell in line.strip("| \n").split("|")]


def test_the_errors_of_products() -> None:
    head, figures = re.findall(r"^(\| float32 .*)\n\|[-|]+\n(.*)$", PAGE, re.MULTILINE)[0]
    a, b = nearly_normal((256, 1024), 1.0, 0, 0), nearly_normal((1024, 256), 1.0, 0, 1)
    true = a.double() @ b.double()

    def error(found: Tensor) -> float:
        return float((found.double() - true).abs().max() / true.abs().max())

    for name, figure in zip(cells(head), cells(figures), strict=True):
        if name.startswith("exact-"):
            assert (
                f"{error(matmul(a, b, int(name.removeprefix('exact-')), Form.FLOAT64)):.1e}" == f"{float(figure):.1e}"
            )
        else:
            # These depend on the library's order of sums.
            dtype = getattr(torch, name)
            assert float(figure) / 2 < error(a.to(dtype) @ b.to(dtype)) < 2 * float(figure), name


def test_the_profiles_that_it_names_can_be_ordered() -> None:
    named = set(re.findall(r"`((?:exact|float)\w*-\w+)`", PAGE))
    assert {"float64-24", "exact-20", "exact-13", "float32-bfloat16"} <= named
    assert named <= set(PROFILES)


def rows_below(page: str, head: str) -> dict[str, list[str]]:
    """The rows of the table whose head begins so, by their first cell."""
    lines = page[page.index(f"| {head}") :].split("\n\n")[0].splitlines()
    return {row[0]: row[1:] for row in map(cells, lines)}


def test_the_window_shows_the_times_of_the_page() -> None:
    table = rows_below(PAGE, "step | `float64-24`")
    names = table["step"]
    measured = {name: cost for name, cost in PROFILE_COSTS.items() if cost.times}
    assert set(measured) == set(names)
    for name, cost in measured.items():
        assert list(cost.times) == [float(table[step][names.index(name)]) for step in TIMED]


def test_the_window_shows_the_losses_of_the_page_on_accuracy() -> None:
    page = (Path(__file__).parents[1] / "docs" / "accuracy.md").read_text(encoding="utf-8")
    rows = [cells(line) for line in page.splitlines() if line.startswith(f"| {LEARNT} |")]
    losses = {row[1]: float(row[4].partition(" ")[0]) for row in rows if row[1] in PROFILES}
    assert losses == {name: cost.loss_difference for name, cost in PROFILE_COSTS.items()}
    larger = rows_below(page, "arithmetic | loss | accuracy | mean differences")
    beyond = {name: larger[name][2] != "none" for name in PROFILE_COSTS}
    assert beyond == {name: cost.beyond_spread for name, cost in PROFILE_COSTS.items()}


def test_profiles_without_a_log_are_the_exact_ones() -> None:
    for name, cost in PROFILE_COSTS.items():
        assert cost.log is isinstance(PROFILES[name], Precision)


@pytest.mark.parametrize(("bits", "most"), [(20, 4_194_304), (13, 2**36), (24, 16_384)])
def test_the_longest_products(bits: int, most: int) -> None:
    sentences = " ".join(PAGE.split())
    assert any(f"{number} for `exact-{bits}`" in sentences for number in (f"{most:,}", f"2^{most.bit_length() - 1}"))
    check_operands(bits, bits, most)
    with pytest.raises(ProgramError):
        check_operands(bits, bits, most + 1)
