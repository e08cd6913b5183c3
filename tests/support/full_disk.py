"""Disks that are really full: a tmpfs of a given size, mounted in a namespace of one process, where that is allowed."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
_MOUNT = 'mount -t tmpfs -o size="$1" tmpfs "$2" && shift 2 && exec "$@"'


@functools.cache
def can_mount() -> bool:
    """Whether this user may mount a file system that only a process of its own sees."""
    if sys.platform != "linux" or shutil.which("unshare") is None or shutil.which("mount") is None:
        return False
    done = subprocess.run(on_disk("64k", Path("/mnt"), ["true"]), capture_output=True, check=False)
    return done.returncode == 0


def on_disk(size: str, folder: Path, command: list[str]) -> list[str]:
    """The command that runs another with an empty disk of a size mounted at a folder; nobody else sees the disk."""
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _MOUNT, "sh", size, str(folder), *command]


def run_code(code: str, *, size: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code with a disk of a size mounted at a folder; the tests' modules can be imported."""
    return subprocess.run(
        on_disk(size, folder, [sys.executable, "-c", code]),
        cwd=TESTS,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
