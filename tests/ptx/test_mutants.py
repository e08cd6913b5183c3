"""Small wrong changes of the kernels' source, each of which the kernels' tests find on the machine."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

ROOT = Path(__file__).parents[2]
TESTS = {
    "rounding": ["test_rounding_triton.py", "test_rules.py", "../arithmetic/grid/test_rounder_ahead.py"],
    "exact": ["test_exact_triton.py", "test_rules.py"],
    "chains": ["../arithmetic/grid/test_device_chains.py"],
    "measures": ["test_measures_triton.py"],
    "norms": ["test_norms_triton.py"],
    "products": ["test_carriers.py", "test_exact_triton.py"],
    "philox": ["test_exact_triton.py"],
    "sha256": ["../commit/test_statedigest.py"],
}
"""Where a module's kernels are tested, beside ``tests/engine/kernels``."""
MUTANTS = {
    "a block's end": ("rounding", "inside = index < end", "inside = index <= end"),
    "room for the last decision": ("rounding", "(start + found <= capacity)", "(start + found < capacity)"),
    "a decision's place": ("rounding", "place = start + tl.cumsum(near.to(tl.int64), 0) - 1",
                           "place = start + tl.cumsum(near.to(tl.int64), 0)"),
    "up and down": ("rounding", "index * 2 + (remainder < 0.0)", "index * 2 + (remainder > 0.0)"),
    "the end of tau": ("rounding", "(tl.abs(remainder) >= half - tau)", "(tl.abs(remainder) > half - tau)"),
    "a maximum by the last block": ("rounding", 'tl.atomic_max(slot + _TOP, tl.max(after, 0), sem="relaxed")',
                                    "tl.store(slot + _TOP, tl.max(after, 0))"),
    "a bit of the grid": ("rounding", "(exponent + (53 - p))", "(exponent + (52 - p))"),
    "decisions without room count": ("rounding", "if (found > 0) & fits:", "if found > 0:"),
    "the grid of every block": ("rounding", "first = block == 0", "first = block == 1"),
    "an E that is given": ("rounding", "(given - own <= 1) & (own - given <= 1)", "(given - own <= 1)"),
    "infinities are no numbers": ("rounding", "tl.where(magnitude > _INFINITY", "tl.where(magnitude >= _INFINITY"),
    "a shift of the fingerprint": ("rounding", "z ^ (z >> 29)", "z ^ (z >> 28)"),
    "the end of two tau": ("rounding", "tl.abs(rest) <= twice)", "tl.abs(rest) < twice)"),
    "where a log is looked at": ("rounding", "(count - 1) * stride + 1, 0)", "count * stride + 1, 0)"),
    "a direction that is taken": ("rounding", "((entry & 1) != is_up)", "((entry & 1) == is_up)"),
    "what a direction gains": ("rounding", "turned, gained - lost, 0", "turned, lost - gained, 0"),
    "the root of a scale": ("rounding", "made = tl.sqrt(a)", "made = a"),
    "an exponent": ("exact", ">> 52) - (_BIAS - 1), _LEAST)", ">> 52) - _BIAS, _LEAST)"),
    "the last term": ("exact", "inside = (across < groups) & (along < terms)",
                      "inside = (across < groups) & (along <= terms)"),
    "sums of the last block": ("exact", "tl.atomic_add(totals + group, tl.sum(integers, 0 if columns else 1)",
                               "tl.store(totals + group, tl.sum(integers, 0 if columns else 1)"),
    "room for doubts": ("exact", "(place <= room)", "(place <= room + 1)"),
    "the sign of zero": ("exact", "tl.where(pattern == _LEAST_INTEGER, 0, pattern)", "pattern"),
    "what a subnormal loses": ("products", "((short << shift) != total)", "((short << shift) > total)"),
    "what a large sum loses": ("products", "((total & 0x3FFF) != 0).to(tl.int64)", "((total & 0) != 0).to(tl.int64)"),
    "the exponent of a product": ("products", "field - 126)", "field - 125)"),
    "a second factor": ("products", "tl.fma(x * first, second, _MAGIC)", "tl.fma(x * first, second * 0 + 1.0, _MAGIC)"),
    "a carry to the next digit": ("products", "128 * (256**number - 1) // 255", "128 * (256**number - 1) // 256"),
    "products of digits": ("products", "p1 = tl.dot(x1, y0, p1", "p1 = tl.dot(x0, y0, p1"),
    "terms beyond the end": ("products", "y = tl.load(p, mask=k < left", "y = tl.load(p, mask=k <= left"),
    "the order of four": ("products", "tl.join(tl.join(y0, y2), tl.join(y1, y3))",
                          "tl.join(tl.join(y0, y1), tl.join(y2, y3))"),
    "sums beyond int32": ("products", "        total += more", "        total = more"),
    "terms of three digits that float32 adds": ("products", "BFLOAT16, 3): 3 << 7", "BFLOAT16, 3): 5 << 7"),
    "terms of two digits that float32 adds": ("products", "BFLOAT16, 2): 1 << 10", "BFLOAT16, 2): 1 << 11"),
    "a digit as its carrier has it": ("products", "digit.to(tl.float32).to(tl.bfloat16)",
                                      "(z >> (8 * number)).to(tl.int8).to(tl.float32).to(tl.bfloat16)"),
    "rows beyond the end": ("products", "mask=inside_a & inside_b)", "mask=inside_b)"),
    "where a window looks": ("products", "n * of_n + k * of_k + offset", "n * of_n + k * of_k"),
    "all terms of a sum": ("exact", "        total += tl.sum(integers, 0 if columns else 1)",
                           "        total = tl.sum(integers, 0 if columns else 1)"),
    "the exponent of a sum": ("exact", "pattern = tl.maximum(pattern, tl.max(found, 0 if columns else 1))",
                              "pattern = tl.max(found, 0 if columns else 1)"),
    "a row that is not finite": ("exact", "_exponent(tl.minimum(pattern, _INFINITE))",
                                 "_exponent(tl.minimum(pattern, _INFINITE - 1))"),
    "the power of a row": ("exact", "(exponent + (_BIAS - 1)) << 52", "(exponent + _BIAS) << 52"),
    "the rest of a row": ("exact", "terms if largest is None else wide, wide)", "wide, wide)"),
    "the zero of a function": ("exact", "tl.store(result + index, found + 0.0", "tl.store(result + index, found"),
    "measures of all terms": ("measures", "squares += tl.sum(value * value", "squares = tl.sum(value * value"),
    "the largest of all terms": ("measures", "largest = tl.maximum(largest, tl.max(bits, 0 if columns else 1))",
                          "largest = tl.max(bits, 0 if columns else 1)"),
    "the cubic of a gate": ("measures", "(1.0 + tl.load(cubic)", "(1.0 - tl.load(cubic)"),
    "columns of the same matrix": ("measures", "second + number * columns + index", "second + index"),
    "the mean of a row": ("norms", "mean = total / count", "mean = total"),
    "what lies beside a row": ("norms", "tl.where(inside, centred * centred, 0.0)", "centred * centred"),
    "rows that are not there": ("norms", "(down < rows) & (across < length)", "(across < length)"),
    "the mean of a channel": ("norms", "- tl.expand_dims(mean, 0 if columns else 1)\n        value = value *",
                              "- 0.0 * tl.expand_dims(mean, 0 if columns else 1)\n        value = value *"),
    "an unbiased variance": ("norms", "variance * tl.load(correction)", "variance"),
    "a projection on a channel": ("norms", "projected * rstd * rstd / count", "projected * rstd / count"),
    "a projection on a row": ("norms", "- normalised * slope)", "- normalised * share)"),
    "columns of all rows": ("norms", "products += tl.sum(", "products = tl.sum("),
    "the length of a projection": ("norms", "* tl.sqrt(both) * tl.load(share)", "* tl.sqrt(both)"),
    "statistics of terms": ("norms", "tl.load(means + term,", "tl.load(means + term * 0,"),
    "a selection": ("chains", "tl.where(a != 0, values[code[k][2]], values[code[k][3]])",
                    "tl.where(a == 0, values[code[k][2]], values[code[k][3]])"),
    "an operand that is spread": ("chains", "whole % inners[k]", "whole % overs[k]"),
    "a number of a chain": ("chains", "made = tl.load(scalars[code[k][2]]) - a",
                            "made = a - tl.load(scalars[code[k][2]])"),
    "elements beyond a chain's end": ("chains", "total_of(tl.where(inside, terms, 0))", "total_of(terms)"),
    "what a chain stores is looked at": ("chains", "tl.atomic_max(tops[code[k][3]], tl.max(top, 0)",
                                         "tl.atomic_max(tops[0], tl.max(top * 0, 0)"),
    "a round of a draw": ("philox", "high1 ^ c1 ^ k0", "high1 ^ c1 ^ k1"),
    "the last byte of a chunk": ("sha256", "(place <= length)", "(place < length)"),
    "a turn": ("sha256", "(_turned(e, 6)", "(_turned(e, 7)"),
    "chunks that are not there": ("sha256", "tl.load(lengths + number, mask=inside, other=0)",
                                  "tl.load(lengths + number)"),
}  # fmt: skip


def run(folder: Path, kernels: str, text: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a module on the machine, with another text in its place."""
    path = folder / f"{kernels}.py"
    path.write_text(text, "utf-8")
    files = [ROOT / "tests" / "engine" / "kernels" / name for name in TESTS[kernels]]
    environment = {
        **os.environ, "MUTANT_OF": f"counterfoil_core.kernels.cuda.{kernels}", "MUTANT": str(path),
        "TRITON_CACHE_DIR": str(folder / "cache"),
    }  # fmt: skip
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "ptx.mutant",
        "-p",
        "no:cacheprovider",
        "-k",
        "sm_90" if kernels == "products" else "sm_75",
    ]
    return subprocess.run([*words, *files], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def source(kernels: str) -> str:
    spec = importlib.util.find_spec(f"counterfoil_core.kernels.cuda.{kernels}")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text("utf-8")


def test_each_mutant_changes_something() -> None:
    assert all(old in source(kernels) for kernels, old, _ in MUTANTS.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_killed(name: str, tmp_path: Path) -> None:
    kernels, old, new = MUTANTS[name]
    found = run(tmp_path, kernels, source(kernels).replace(old, new, 1))
    assert found.returncode == 1, found.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kernels", TESTS)
def test_control_no_change_is_no_mutant(kernels: str, tmp_path: Path) -> None:
    found = run(tmp_path, kernels, source(kernels))
    assert found.returncode == 0, found.stdout
