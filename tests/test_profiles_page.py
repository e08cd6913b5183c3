"""The figures of docs/profiles.md that can be had in a moment are what the code gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from torch import Tensor

from counterfoil.base.errors import ProgramError
from counterfoil.base.precision import PROFILES
from counterfoil.kernels.exact.limits import check_operands
from counterfoil.kernels.exact.products import Form, matmul
from counterfoil.training.initial import nearly_normal

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


@pytest.mark.parametrize(("bits", "most"), [(20, 4_194_304), (13, 2**36), (24, 16_384)])
def test_the_longest_products(bits: int, most: int) -> None:
    sentences = " ".join(PAGE.split())
    assert any(f"{number} for `exact-{bits}`" in sentences for number in (f"{most:,}", f"2^{most.bit_length() - 1}"))
    check_operands(bits, bits, most)
    with pytest.raises(ProgramError):
        check_operands(bits, bits, most + 1)
