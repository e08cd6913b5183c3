"""What kernels take of devices that nobody has here: compiled ahead of time, registers and spilled bytes by target.

What Triton compiles it keeps by its source, and what the assembler says of a program is kept beside that: a table that
is made again takes what has changed.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import get_ptxas, sm_arch_from_capability

from counterfoil_core.kernels.carriers import carrier_of

from .driver import compiled_for
from .machine import INSTRUCTIONS
from .program import Fault, Program
from .variants import Variant, variants

TARGETS = {
    **{f"sm_{sm}": GPUTarget("cuda", sm, 32) for sm in (75, 80, 86, 89, 90, 100, 103, 120)},
    "gfx90a": GPUTarget("hip", "gfx90a", 64), "gfx942": GPUTarget("hip", "gfx942", 64),
    "gfx1100": GPUTarget("hip", "gfx1100", 32),
}  # fmt: skip
BUDGETS = {
    "_round_block": 176, "_fingerprint_block": 96, "_leaves": 128,
    "_largest": 64, "_quantise": 96, "_sum": 96, "_round_sums": 64, "_row_frexp": 96, "_bracket": 96,
    "_multiply": 255, "_convolve": 255, "_fill": 64,
    "_run_chain": 128, "_sum_whole": 128, "_sure": 96, "_top": 64, "_measure": 128,
    "_largest_gate": 96, "_largest_of_products": 64, "_layer_norm": 128, "_layer_norm_gradient": 128,
    "_layer_norm_columns": 128, "_batch_norm": 128, "_batch_norm_gradient": 128, "_norm_sizes": 128,
    "_gradient_sizes": 128,
}  # fmt: skip
"""Registers of a thread that a kernel may take, by its name; none may spill."""
OF_TENSOR_CORES = frozenset({"_multiply", "_convolve"})
"""Kernels that are launched on devices of NVIDIA from sm_80 on alone, each with its carrier."""
OF_NORMS = ("_layer_norm", "_layer_norm_gradient", "_batch_norm", "_batch_norm_gradient")
OF_QUOTIENTS = frozenset({"_sure", "_norm_sizes", "_gradient_sizes", *OF_NORMS})
"""Kernels with quotients or roots of float64 numbers."""
_BEGIN, _END = "<!-- python -m tests.ptx -->\n", "<!-- end -->\n"


class Use(NamedTuple):
    """What a compiled kernel takes."""

    registers: int
    """Of a thread."""
    spilled: int
    """Bytes or registers of a thread that lie in memory."""


def refuse_inexact(text: str) -> None:
    """Refuse PTX that the machine would not execute: arithmetic that is not IEEE 754's, or what it does not know.

    Raises:
        Fault: There is some.
    """
    for block in Program(text).blocks:
        for one in block:
            if one.opcode not in {*INSTRUCTIONS, "bra", "ret"}:
                raise Fault(f"opcode is not executed on the machine: {one.text}")
            if one.opcode in ("fma", "mad") and one.type == "f64":
                raise Fault(f"fused multiply-add: {one.text}")


def use(variant: Variant, name: str) -> Use:
    """Return what a variant takes on a target.

    Raises:
        Fault: Its float64 arithmetic is fused, or not IEEE 754's.
        subprocess.CalledProcessError: The assembler refuses what Triton made.
    """
    target = TARGETS[name]
    compiled = variant.compiled(target)
    if target.backend == "hip":
        text = compiled.asm["amdgcn"]
        # A quotient and a root of float64 numbers are made of such operations there, and exact all the same.
        if not _divides(variant) and (fused := re.search(r"v_(?:pk_)?(?:fma|fmac|mad)_f64.*", text)):
            raise Fault(f"{variant.kernel}: fused multiply-add: {fused[0]}")
        registers, spilled = (
            max(map(int, re.findall(rf"\.{kind}:\s+(\d+)", text))) for kind in ("vgpr_count", "vgpr_spill_count")
        )
        return Use(registers, spilled)
    refuse_inexact(compiled.asm["ptx"])
    said = _assembled(compiled.asm["ptx"], target)
    registers = re.search(r"Used (\d+) registers", said)
    spills = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", said)
    assert registers is not None
    assert spills is not None
    return Use(int(registers[1]), int(spills[1]) + int(spills[2]))


def _assembled(text: str, target: GPUTarget) -> str:
    """Return what NVIDIA's assembler says of a program, as Triton calls it; kept, since it takes most of the time."""
    assembler = get_ptxas(target.arch)
    words = [assembler.path, "-lineinfo", "--fmad=false", "-v", "--regAllocOptLevel=2"]
    words.append(f"--gpu-name={sm_arch_from_capability(target.arch)}")
    name = hashlib.sha256("\n".join([assembler.version, *words, text]).encode()).hexdigest()
    kept = Path(triton.knobs.cache.dir) / "assembled" / name
    if kept.exists():
        return kept.read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.ptx"
        path.write_text(text, "utf-8")
        words += [str(path), "-o", str(Path(folder) / "kernel.o")]
        said = subprocess.run(words, check=True, capture_output=True, text=True).stderr
        kept.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(said, "utf-8")
        path.replace(kept.with_suffix(f".{os.getpid()}"))
    kept.with_suffix(f".{os.getpid()}").replace(kept)
    return said


def _divides(variant: Variant) -> bool:
    """Whether a variant has a quotient or a root of float64 numbers."""
    formula = str(variant.source.constants)
    return variant.kernel in OF_QUOTIENTS or (
        variant.kernel == "_round_block" and ("SQRT" in formula or "DIV" in formula)
    )


def uses(name: str, some: Iterable[Variant]) -> dict[str, Use]:
    """Return the most that each kernel's variants take on a target, by the kernel's name."""
    with compiled_for(90):
        return most([(variant.kernel, use(variant, name)) for variant in some if is_launched(variant, name)])


def most(found: Iterable[tuple[str, Use]]) -> dict[str, Use]:
    """Return the most of what was found, by the kernel's name."""
    largest: dict[str, Use] = {}
    for kernel, one in found:
        before = largest.get(kernel, Use(0, 0))
        largest[kernel] = Use(max(one.registers, before.registers), max(one.spilled, before.spilled))
    return largest


def is_launched(variant: Variant, name: str) -> bool:
    """Whether a variant is launched on devices of a target: one for tensor cores has their carrier."""
    target = TARGETS[name]
    if variant.kernel not in OF_TENSOR_CORES:
        return True
    carrier = carrier_of(divmod(target.arch, 10)) if target.backend == "cuda" else None
    return carrier is not None and carrier.value == variant.constant("carrier")


def over_budget(found: dict[str, Use]) -> list[str]:
    """Return sentences on the kernels that take more than they may."""
    return [
        f"{kernel} takes {one.registers} registers of {BUDGETS.get(kernel, 0)}, and spills {one.spilled}"
        for kernel, one in found.items()
        if one.registers > BUDGETS.get(kernel, 0) or one.spilled
    ]


def table(page: str, kernels: Collection[str]) -> str:
    """Compile kernels for every target, a process for each core, and return the table of ``docs/kernels.md``.

    Args:
        page: The page as it is, which has the rows of other kernels.
        kernels: Names of kernels.
    """
    every = variants()
    counts = Counter(variant.kernel for variant in every)
    asked = [
        (name, number)
        for name in TARGETS
        for number, variant in enumerate(every)
        if variant.kernel in kernels and is_launched(variant, name)
    ]
    found: dict[str, list[tuple[str, Use]]] = {name: [] for name in TARGETS}
    # What is to be compiled cannot be sent: a fork has it.
    with multiprocessing.get_context("fork").Pool(initializer=_take, initargs=(every,)) as pool:
        for done, (name, kernel, one) in enumerate(pool.imap_unordered(_use_of, asked, chunksize=4), 1):
            found[name].append((kernel, one))
            if done % 50 == 0:
                print(f"{done} of {len(asked)}", file=sys.stderr, flush=True)
    columns = [most(of_one) for of_one in found.values()]
    lines = [
        f"Triton {triton.__version__} compiled {len(every)} variants; most registers of a thread:",
        "",
        f"| kernel | variants | budget | {' | '.join(TARGETS)} |",
        "|---|" + "---|" * (2 + len(columns)),
    ]
    for kernel in sorted(counts):
        cells = [_cell(column.get(kernel)) for column in columns] if kernel in kernels else _cells_of(page, kernel)
        lines.append(f"| `{kernel}` | {counts[kernel]} | {BUDGETS.get(kernel, 'none')} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


_every: Sequence[Variant] = ()
"""What a process of the table compiles."""


def _take(every: Sequence[Variant]) -> None:
    global _every
    _every = every


def _use_of(asked: tuple[str, int]) -> tuple[str, str, Use]:
    name, number = asked
    with compiled_for(90):
        return name, _every[number].kernel, use(_every[number], name)


def _cells_of(page: str, kernel: str) -> list[str]:
    """The cells of a kernel's row, by its page; question marks where it has no such row."""
    row = re.search(rf"^\| `{kernel}` \| \d+ \| \d+ \|(.*)\|$", page, re.M)
    cells = [cell.strip() for cell in row[1].split("|")] if row else []
    return cells if len(cells) == len(TARGETS) else ["?"] * len(TARGETS)


def _cell(one: Use | None) -> str:
    if one is None:
        return "-"
    return f"{one.registers}, spills {one.spilled}" if one.spilled else str(one.registers)


def write(page: Path, text: str) -> None:
    """Put the table between its marks of a page."""
    before, rest = page.read_text("utf-8").split(_BEGIN)
    page.write_text(before + _BEGIN + text + _END + rest.split(_END, 1)[1], "utf-8")
