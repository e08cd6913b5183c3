"""Kernels compiled ahead of time: what they may take of a device, what they may not do, and the page that says so."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("triton")

from ptx.ahead import BUDGETS, TARGETS, over_budget, refuse_inexact, uses
from ptx.program import Fault
from ptx.variants import Variant, variants

PAGE = Path(__file__).parents[2] / "docs" / "kernels.md"


@pytest.fixture(scope="module")
def every() -> list[Variant]:
    return variants()


def test_a_variant_of_each_kernel_is_within_its_budget(every: list[Variant]) -> None:
    assert over_budget(uses("sm_90", {variant.kernel: variant for variant in every}.values())) == []


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_all_variants_are_within_their_budgets(every: list[Variant], target: str) -> None:
    assert over_budget(uses(target, every)) == []


def test_the_page_has_every_kernel_its_variants_and_its_budget(every: list[Variant]) -> None:
    """Control for who adds a variant: ``python -m tests.ptx --write docs/kernels.md`` compiles the table anew."""
    text = PAGE.read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \|", text, re.M)
    counts = Counter(variant.kernel for variant in every)
    assert {name: (int(count), int(budget)) for name, count, budget in rows} == {
        name: (counts[name], BUDGETS[name]) for name in counts
    }
    assert f"| kernel | variants | budget | {' | '.join(TARGETS)} |" in text
    assert "spills" not in "".join(line for line in text.splitlines() if line.startswith("| `_"))


def test_every_kernel_of_the_package_has_variants(every: list[Variant]) -> None:
    """Functions that kernels call are no kernels: they are given no addresses to store at, and return something."""
    sources = (Path(__file__).parents[2] / "engine" / "counterfoil_core" / "kernels" / "cuda").glob("*.py")
    defined = [
        name
        for source in sources
        for name in re.findall(r"@triton\.jit\ndef (\w+)\([^)]*\) -> None:", source.read_text("utf-8"))
    ]
    assert sorted(defined) == sorted({variant.kernel for variant in every})


BODY = ".entry small()\n{\n.reg .b64 %rd<9>;\n.reg .b32 %r<9>;\nmov.b64 %rd1, 0;\nINSTRUCTION;\nret;\n}"


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        ("fma.rn.f64 %rd2, %rd1, %rd1, %rd1", "fused multiply-add"),
        ("add.rn.ftz.f32 %r2, %r1, %r1", "inexact arithmetic"),
        ("ex2.approx.f32 %r2, %r1", "inexact arithmetic"),
        ("wgmma.fence.sync.aligned", "opcode is not executed"),
    ],
)
def test_inexact_arithmetic_is_found_in_the_text(instruction: str, message: str) -> None:
    with pytest.raises(Fault, match=message):
        refuse_inexact(BODY.replace("INSTRUCTION", instruction))
    refuse_inexact(BODY.replace("INSTRUCTION", "add.rn.f64 %rd2, %rd1, %rd1"))
