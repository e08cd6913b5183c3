"""Runs the command line in a process of its own, and measures it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

_CHILD = """
import resource, sys
from counterfoil.cli import main
code = main(sys.argv[1:])
print("memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


@dataclass(frozen=True)
class Measured:
    """What a command did: exit code, what it said, processor seconds, and the most memory it had, in MiB."""

    code: int
    said: str
    seconds: float
    memory: int


def command(*arguments: str) -> Measured:
    """Run a command to its end."""
    before = os.times()
    done = subprocess.run([sys.executable, "-c", _CHILD, *arguments], capture_output=True, text=True, check=False)
    after = os.times()
    said = done.stdout + done.stderr
    used = after.children_user + after.children_system - before.children_user - before.children_system
    unit = 1 if sys.platform == "darwin" else 1024
    return Measured(done.returncode, said, used, int(said.rsplit("memory", 1)[1]) * unit >> 20)


def interrupted(*arguments: str, after: float) -> tuple[int, float]:
    """Run a command, interrupt it as Ctrl-C does, and return its exit code and how long it then went on."""
    process = subprocess.Popen(
        [sys.executable, "-c", _CHILD, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        time.sleep(after)
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        process.communicate(timeout=60)
        return process.returncode, time.monotonic() - begun
    finally:
        process.kill()
