"""What code of others starts ends with it, though it has left it behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import os, subprocess, sys
from counterfoil.base.descendants import children, ended_afterwards
kept = subprocess.Popen(["sleep", "60"])
with ended_afterwards():
    plain = subprocess.Popen(["sleep", "60"])
    # One in a session of its own whose parent has ended, as what is started in the background is.
    start = "import subprocess as s; nowhere = dict(stdout=s.DEVNULL, stderr=s.DEVNULL); "
    start += "print(s.Popen(['sleep', '60'], start_new_session=True, **nowhere).pid)"
    left = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=True).stdout
assert children() == {kept.pid}, children()
kept.kill()
print(plain.pid, left)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere they are left alone")
def test_what_was_started_ends() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", _PROGRAM], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    ids = done.stdout.split()
    assert len(ids) == 2
    assert not any(Path("/proc", each).exists() for each in ids)
    assert os.getpid() not in map(int, ids)
