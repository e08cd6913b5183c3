"""An inspection answers before anything heavy is loaded: neither torch nor what compiles kernels."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.hostile_programs import order_of, single

GOLDEN = Path(__file__).parents[1] / "golden"
HEAVY = ("torch", "torch._dynamo", "torch._subclasses.fake_tensor", "numba")
INSPECT = """
import json, sys
from counterfoil.cli import main
sys.argv = ["counterfoil", "inspect", *sys.argv[1:], "--json"]
try:
    main()
finally:
    print("LOADED", json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def inspected(*paths: Path) -> tuple[dict[int, str], set[str]]:
    """The state of each check of an inspection in a process of its own, and which of the heavy modules it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", INSPECT, *map(str, paths)], capture_output=True, text=True, check=False
    )
    loaded = next(line for line in done.stderr.splitlines() if line.startswith("LOADED "))
    checks = {check["number"]: check["state"] for check in json.loads(done.stdout)["checks"]}
    return checks, set(json.loads(loaded.removeprefix("LOADED "))) & set(HEAVY)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["digits", "gpt2", "exact"])
def test_an_honest_run_is_inspected_without_them(name: str) -> None:
    checks, loaded = inspected(GOLDEN / f"{name}.run.cfoil", Path("--order"), GOLDEN / f"{name}.job.cfoil")
    assert all(checks[number] == "passed" for number in range(1, 7))
    assert loaded == set()


@pytest.mark.slow
def test_control_what_no_rule_decides_the_library_is_asked(tmp_path: Path) -> None:
    wrong = single("aten.mm.default", [{"value": 0}, {"value": 0}], [("float32", [2, 3])], ("float32", [2, 3]))
    checks, loaded = inspected(order_of(wrong, tmp_path / "wrong.cfoil"))
    assert checks[4] == "failed"
    assert "torch" in loaded
