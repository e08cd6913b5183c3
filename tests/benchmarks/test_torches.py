"""The script that makes an environment for each version of torch, as far as it can be tested without any."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from benchmarks.cross_pages import FEWER, NATIVE

SCRIPT = Path(__file__).parents[2] / "packaging" / "torches.sh"
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", str(SCRIPT), *arguments], capture_output=True, text=True, check=False)


def test_an_unknown_action_says_what_there_is_and_what_it_needs() -> None:
    done = run("fly")
    assert done.returncode == 2
    for word in ("campaign", "setup", "COUNTERFOIL_TORCHES_ROOT", "COUNTERFOIL_TORCHES_FOLDER", "GB of disk"):
        assert word in done.stderr


def test_an_unknown_machine_is_refused_with_the_names_of_those_there_are() -> None:
    done = run("setup", "torch-1.0")
    assert done.returncode == 2
    for name in (NATIVE, *FEWER, "torch-2.11", "torch-2.15-python-3.13"):
        assert name in done.stderr
