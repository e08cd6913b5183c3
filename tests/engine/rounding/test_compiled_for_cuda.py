"""The rounding kernel as it is compiled for CUDA devices, which takes none: no product is fused with a sum."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

_COMPILE = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from counterfoil.rounding import kernel_triton as kernels

words = dict.fromkeys(("slot", "entries", "cursor"), "*i64")
constants = {"p": 24, "size": 2048}
def ptx(kernel, types, constants):
    source = ASTSource(kernel, signature={**types, **dict.fromkeys(constants, "constexpr")}, constexprs=constants)
    options = {"num_warps": 8, "enable_fp_fusion": False}
    print(triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options).asm["ptx"])

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
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    script = tmp_path / "compile.py"
    script.write_text(_COMPILE)
    done = subprocess.run(
        [sys.executable, script],
        env={**environment, "TRITON_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    found = set(re.findall(r"\b(\w+)\.(?:rn\.)?f64", done.stdout))
    assert {"add", "sub"} <= found
    assert not found & {"fma", "mad", "mul"}
