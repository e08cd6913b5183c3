"""The engine and the command line work where no Qt is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ORDER = str(Path(__file__).parent / "engine" / "golden" / "digits.job.cfoil")
# A finder that hides Qt, and whatever lets Qt in, from the process.
BLOCKER = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"PySide6", "shiboken6", "pyqtgraph", "qtpy", "PyQt6"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocker())
"""


def run_without_qt(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKER + code],
        cwd=folder,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )


def commands(*lines: tuple[str, ...]) -> str:
    """Code that runs command lines one after another, up to the first that fails."""
    return f"""
from counterfoil.cli import main
for line in {lines!r}:
    code = main(list(line))
    if code:
        sys.exit(code)
"""


def test_the_blocker_blocks(tmp_path: Path) -> None:
    assert "No module named 'PySide6'" in run_without_qt("import PySide6.QtCore", tmp_path).stderr


def test_help(tmp_path: Path) -> None:
    names = ("order", "train", "inspect", "audit", "verify", "keygen", "gui", "demo")
    done = run_without_qt(commands(*((name, "--help") for name in names)), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    usages = [line.strip() for line in done.stdout.splitlines() if "Usage:" in line]
    assert [usage.split()[2] for usage in usages] == list(names)


def test_every_public_name_can_be_had_then_train_and_audit(tmp_path: Path) -> None:
    """In one process, which imports everything once."""
    code = """
import counterfoil
for name in counterfoil.__all__:
    getattr(counterfoil, name)
"""
    code += commands(
        ("keygen", "key.pem", "--no-passphrase"),
        ("train", ORDER, "--out", "run.cfoil", "--key", "key.pem"),
        ("audit", "run.cfoil", "--order", ORDER),
    )
    done = run_without_qt(code, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "VERIFIED" in done.stdout


@pytest.mark.parametrize("name", ["gui", "demo"])
def test_the_window_is_missed_in_a_sentence(name: str, tmp_path: Path) -> None:
    done = run_without_qt(commands((name,)), tmp_path)
    assert done.returncode == 4
    assert "is not installed" in done.stderr
    assert "pip install" in done.stderr
    assert "Traceback" not in done.stderr
