"""The kernels of the exact profiles as they are compiled for CUDA devices, which takes none."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.triton_compiled import compiled, float64_instructions

_COMPILE = """
from counterfoil.definite import kernels_triton as kernels

lengths = dict.fromkeys(("groups", "terms", "r0", "k1", "r1"), "i32")
for rows, columns, high, wide in ((True, False, 1, 2048), (False, False, 8, 256), (False, True, 64, 32)):
    tile = {"rows": rows, "columns": columns, "high": high, "wide": wide}
    ptx(kernels._largest, {"x": "*i32", **lengths, "largest": "*i32"}, tile)
    words = {"largest": "*i32", "bits": "i32", "values": "*fp64", "exponents": "*i64", "flag": "*i32"}
    ptx(kernels._quantise, {"x": "*fp32", **lengths, **words}, tile)
sizes = dict.fromkeys(("rows", "columns", "row_step", "column_step"), "i32")
words = {"largest": "*i32", "bits": "i32", "planes": "*i8", "height": "i32", "width": "i32", "flag": "*i32"}
ptx(kernels._cut, {"x": "*fp32", **sizes, **words}, {"count": 3, "bias": 8256, "high": 16, "wide": 128})
sizes = dict.fromkeys(("height", "width", "rows", "columns"), "i32")
words = {"left": "*i32", "right": "*i32", "bits": "i32", "result": "*i32"}
for products in ("*i32", "*i64"):
    ptx(kernels._join, {"products": products, **sizes, **words}, {"count": 4, "high": 8, "wide": 256})
"""


@pytest.mark.slow
def test_subnormal_numbers_stay_and_nothing_is_fused(tmp_path: Path) -> None:
    ptx = compiled(_COMPILE, tmp_path)
    assert {"add", "sub", "mul"} <= float64_instructions(ptx)
    assert "cvt.rn.f32.f64" in ptx
    assert "ftz" not in ptx
    assert not float64_instructions(ptx) & {"fma", "mad"}
