"""Processes that code of others starts, and what becomes of them: they are ended with what ran it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_SET_CHILD_SUBREAPER = 36
_PATIENCE = 5.0
"""Seconds in which a process that is killed is waited for."""


@contextmanager
def ended_afterwards() -> Iterator[None]:
    """End each process that was started in the block and still runs when it is left, and all that these started.

    On Linux, where this process becomes the parent of those whose own has ended; elsewhere they are left alone.
    """
    if sys.platform != "linux":
        yield
        return
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = children()
    try:
        yield
    finally:
        until = time.monotonic() + _PATIENCE
        # Whoever is killed leaves its own children to this process.
        while (left := children() - before) and time.monotonic() < until:
            for each in left:
                with suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)
                with suppress(ChildProcessError):  # somebody else here has waited for it
                    os.waitpid(each, 0)


def children(process: int | None = None) -> set[int]:
    """Return the ids of the processes that a process is the parent of, this one unless given (proc_pid_stat(5))."""
    found, wanted = set(), os.getpid() if process is None else process
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            _, parent = path.read_bytes().rpartition(b")")[2].split()[:2]
            if int(parent) == wanted:
                found.add(int(path.parent.name))
    return found
