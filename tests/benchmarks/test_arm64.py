"""The script that sets up an emulated machine, as far as it can be tested without one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "packaging" / "arm64.sh"
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def test_an_unknown_action_says_what_there_is_and_what_it_needs() -> None:
    done = run("fly")
    assert done.returncode == 2
    for word in ("campaign", "setup", "root rights", "COUNTERFOIL_ARM64_ROOT", "QEMU_CPU", "GB of disk"):
        assert word in done.stderr


def test_without_root_rights_nothing_is_begun(tmp_path: Path) -> None:
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "id").write_text("#!/bin/sh\necho 1000\n")
    (binaries / "id").chmod(0o755)
    root = tmp_path / "root"
    done = run("setup", PATH=f"{binaries}:{os.environ['PATH']}", COUNTERFOIL_ARM64_ROOT=str(root))
    assert done.returncode == 1
    assert "root rights" in done.stderr
    assert "A further machine" in done.stderr
    assert not root.exists()
