"""What kernels written in Triton become for a CUDA device, which takes none: their instructions, as PTX text."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

_BEGINNING = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

def ptx(kernel, types, constants):
    source = ASTSource(kernel, signature={**types, **dict.fromkeys(constants, "constexpr")}, constexprs=constants)
    options = {"num_warps": 8, "enable_fp_fusion": False}
    print(triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options).asm["ptx"])
"""


def compiled(script: str, folder: Path) -> str:
    """Return what a script prints that calls ``ptx(kernel, types, constants)``, in a process without the interpreter.

    Args:
        script: Its lines.
        folder: Where it may write.
    """
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    path = folder / "compile.py"
    path.write_text(_BEGINNING + script)
    return subprocess.run(
        [sys.executable, path],
        env={**environment, "TRITON_CACHE_DIR": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def float64_instructions(ptx: str) -> set[str]:
    """Return the names of the instructions that compute in float64."""
    return set(re.findall(r"\b(\w+)\.(?:rn\.)?f64", ptx))
