"""The kernels of the exact profiles as they are compiled for CUDA devices, which takes none."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.triton_compiled import compiled, float64_instructions

_COMPILE = """
from counterfoil_core.kernels.cuda import exact as kernels

def numbers(names, ones=()):
    # Types of numbers; those that are 1 are compiled in, and so arrive as constants.
    return {name: "i32" for name in names if name not in ones}, dict.fromkeys(ones, 1)

names = ("groups", "terms", "r0", "k1", "r1")
for ones, rows, columns, high, wide in (
    (("groups", "r0", "k1"), True, False, 1, 2048), ((), False, False, 8, 256), (("r1",), False, True, 64, 32),
    (("terms", "r0", "k1", "r1"), True, False, 2048, 1),
):
    lengths, given = numbers(names, ones)
    tile = {**given, "rows": rows, "columns": columns, "high": high, "wide": wide}
    ptx(kernels._largest, {"x": "*i32", **lengths, "largest": "*i32"}, tile)
    words = {"largest": "*i32", "bits": "i32", "values": "*fp64", "exponents": "*i64", "flag": "*i32"}
    ptx(kernels._quantise, {"x": "*fp32", **lengths, **words}, tile)
    ptx(kernels._sum, {"x": "*fp32", **lengths, "largest": "*i32", "bits": "i32", "totals": "*i64"}, tile)
words = {"totals": "*i64", "groups": "i32", "largest": "*i32", "bits": "i32", "result": "*i32", "flag": "*i32"}
ptx(kernels._round_sums, words, {"size": 2048})
words = {"values": "*fp64", "low": "*fp64", "high": "*fp64", "result": "*i32", "report": "*i64", "room": "i32"}
for ones in ((), ("count",)):
    sizes, given = numbers(("count",), ones)
    ptx(kernels._bracket, {**words, **sizes}, {**given, "size": 2048})
"""


@pytest.mark.slow
def test_subnormal_numbers_stay_and_nothing_is_fused(tmp_path: Path) -> None:
    ptx = compiled(_COMPILE, tmp_path)
    assert {"add", "sub", "mul"} <= float64_instructions(ptx)
    assert "cvt.rn.f32.f64" in ptx
    assert "ftz" not in ptx
    assert not float64_instructions(ptx) & {"fma", "mad"}
