"""Runs the command line in a process of its own, and measures it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

_CHILD = """
import resource, sys
from counterfoil.cli import main
code = main()
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


@dataclass(frozen=True)
class Interrupted:
    """How a command ended that was interrupted: exit code, what it said, and the processor seconds it still took."""

    code: int
    said: str
    seconds: float


def interrupted(*arguments: str, after: float) -> Interrupted:
    """Run a command, and interrupt it as Ctrl-C does when it has taken ``after`` processor seconds. Needs Linux."""
    process = subprocess.Popen(
        [sys.executable, "-c", _CHILD, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        while process.poll() is None and _processor_seconds(process.pid) < after:
            time.sleep(0.01)
        assert process.poll() is None, process.communicate()
        begun = _processor_seconds(process.pid)
        process.send_signal(signal.SIGINT)
        # Its times can be read until it is waited for.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        ended = _processor_seconds(process.pid)
        out, err = process.communicate(timeout=60)
        return Interrupted(process.returncode, out + err, ended - begun)
    finally:
        process.kill()


def _processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
