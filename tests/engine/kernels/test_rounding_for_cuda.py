"""The rounding kernel as it is compiled for CUDA devices, which takes none: no product is fused with a sum."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.triton_compiled import compiled, float64_instructions

_COMPILE = """
from counterfoil_core.kernels.cuda import rounding as kernels

words = dict.fromkeys(("slot", "entries", "cursor"), "*i64")
constants = {"p": 24, "size": 2048}
sizes = {"count": "i64", "capacity": "i64"}
ptx(kernels._round_block, {"values": "*fp64", **sizes, **words, "done": "*i64"}, {**constants, "again": False})
ptx(
    kernels._direct,
    {"values": "*fp32", "count": "i64", "entries": "*i64", "own": "*i64", "before": "*i64", "slot": "*i64"},
    {**constants, "margin": 44},
)
"""


@pytest.mark.slow
def test_float64_is_added_and_never_fused(tmp_path: Path) -> None:
    found = float64_instructions(compiled(_COMPILE, tmp_path))
    assert {"add", "sub"} <= found
    assert not found & {"fma", "mad", "mul"}
