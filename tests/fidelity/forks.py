"""Forks of a process that has loaded everything: each runs one function in an empty folder, and within limits."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SAID = "said.txt"
FAILED = 99


@dataclass(frozen=True)
class Limits:
    """How long a fork may take.

    Attributes:
        processor: Seconds of the processor: what else the machine does makes no difference.
        wall: Seconds of the clock, for one that sleeps or waits.
    """

    processor: int
    wall: float


@dataclass(frozen=True)
class Ended:
    """How a fork ended.

    Attributes:
        code: Its exit code; less than zero is the signal that ended it.
        seconds: Seconds of the processor, those of its own children included.
        said: The end of what it printed.
    """

    code: int
    seconds: float
    said: str


def forked(function: Callable[[], None], folder: Path, limits: Limits) -> Ended:
    """Run a function in a fork, in an empty folder beneath ``folder``; whatever it started ends with it."""
    folder.mkdir(parents=True)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        _run(function, folder, limits)
    end = time.monotonic() + limits.wall
    while True:
        pid, status, used = os.wait4(child, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            _, status, used = os.wait4(child, 0)
            break
        time.sleep(0.005)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    said = (folder / SAID).read_text(encoding="utf-8", errors="replace")[-4000:] if (folder / SAID).exists() else ""
    code = os.waitstatus_to_exitcode(status)
    return Ended(code, used.ru_utime + used.ru_stime, said)


def _run(function: Callable[[], None], folder: Path, limits: Limits) -> None:
    code = FAILED
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (limits.processor, limits.processor + 5))
        work = folder / "work"
        work.mkdir()
        os.chdir(work)
        os.environ["TMPDIR"] = str(folder)
        with open(folder / SAID, "wb", buffering=0) as said, open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
        function()
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
