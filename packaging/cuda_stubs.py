"""CUDA's libraries as stubs, for a torch that is built for CUDA on a machine that has none of it.

``python cuda_stubs.py TORCH_LIB FOLDER`` makes a library of each name with every symbol that torch's libraries want of
it. Each aborts when called; on a CPU nothing calls them. Versioned symbols name their library themselves; the others
are known by how they begin.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

COMPILER = os.environ.get("CC", "aarch64-linux-gnu-gcc")
NEEDING = ("torch_cuda", "torch_python", "torch_cpu", "torch_nvshmem", "torch_cuda_linalg", "c10_cuda")
PREFIXES = {
    "libcublas.so.13": "cublas(?!Lt)",
    "libcublasLt.so.13": "cublasLt",
    "libcudnn.so.9": "cudnn",
    "libcufft.so.12": "cufft",
    "libcufile.so.0": "cuFile",
    "libcurand.so.10": "curand",
    "libcusolver.so.12": "cusolver",
    "libcusparse.so.12": "cusparse(?!Lt)",
    "libcusparseLt.so.0": "cusparseLt",
    "libnccl.so.2": "nccl",
    "libnvrtc.so.13": "nvrtc",
    "libnvshmem_host.so.3": "nvshmem",
}
"""The libraries that torch 2.11 to 2.13 for CUDA 13 is linked with, and how their symbols begin."""


def undefined(library: Path) -> list[str]:
    """Return the symbols that a library wants of others, as nm names them."""
    done = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True)
    return [line.split()[-1] for line in done.stdout.splitlines()]


def wanted(libraries: list[Path]) -> tuple[dict[str, set[str]], set[str]]:
    """Return the wanted symbols by version, and those without one."""
    versioned: dict[str, set[str]] = defaultdict(set)
    plain = set()
    for symbol in (symbol for library in libraries for symbol in undefined(library)):
        name, _, version = symbol.partition("@")
        if version:
            versioned[version.lstrip("@")].add(name)
        else:
            plain.add(name)
    return versioned, plain


def make(path: Path, version: str, versioned: set[str], plain: set[str]) -> None:
    """Compile a library of functions that abort."""
    source, script = path.with_suffix(".c"), path.with_suffix(".map")
    body = "".join(f"int {symbol}(void) {{ abort(); }}\n" for symbol in sorted(versioned | plain))
    source.write_text(f"extern void abort(void);\n{body}")
    command = [COMPILER, "-shared", "-fPIC", "-w", "-O1", "-o", path, source, f"-Wl,-soname,{path.name}"]
    if versioned:
        script.write_text(f"{version} {{ global: {' '.join(f'{symbol};' for symbol in sorted(versioned))} }};\n")
        command.append(f"-Wl,--version-script={script}")
    subprocess.run(command, check=True)
    source.unlink()
    script.unlink(missing_ok=True)


def main() -> None:
    """Make all of them."""
    torch, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    libraries = [torch / f"lib{name}.so" for name in NEEDING]
    versioned, plain = wanted([library for library in libraries if library.exists()])
    for name, prefix in PREFIXES.items():
        version = "NVSHMEM" if "nvshmem" in name else name
        symbols = versioned.get(version, set())
        make(folder / name, version, symbols, {symbol for symbol in plain if re.match(prefix, symbol)} - symbols)


if __name__ == "__main__":
    main()
