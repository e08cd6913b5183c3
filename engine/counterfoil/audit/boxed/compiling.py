"""Compiles kernels ahead of their first use, in as many processes as there are cores.

What is compiled is kept for every later process (:mod:`counterfoil_core.kernels.cache`). The processes
(:mod:`counterfoil.audit.boxed.kernels`) say what parts there are; whichever is idle is told the next.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from counterfoil.talk.programs import program_command, program_environment
from counterfoil_core.base.cancel import CancelToken, check_cancelled
from counterfoil_core.base.errors import ObstacleError
from counterfoil_core.base.sentence import say

COMPILER = "counterfoil.audit.boxed.kernels"
MOST_PROCESSES = 4
"""Each loads for seconds and takes half a gigabyte; there are not so many parts that more would pay."""
_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Compiled:
    """How far it is.

    Attributes:
        done: Parts that are compiled.
        total: All parts.
        part: The last that was.
    """

    done: int
    total: int
    part: str


class _Shared:
    """What the processes have yet to do, and what they said."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[str] | None = None
        self.total = 0
        self.said: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def begin(self, parts: list[str]) -> None:
        """Take the parts from the process that names them first."""
        with self._lock:
            if self._waiting is None:
                self._waiting, self.total = deque(parts), len(parts)

    def take(self) -> str | None:
        """Return a part that nobody does; None where there is none."""
        with self._lock:
            return self._waiting.popleft() if self._waiting else None


def compile_kernels(processes: int | None = None, cancel: CancelToken | None = None) -> Iterator[Compiled]:
    """Compile all kernels that are not kept yet, and keep them; yields how far it is.

    Args:
        processes: How many do it at once; one for each core unless given.
        cancel: Stops it; what is compiled by then is kept.

    Raises:
        CancelledError: It was cancelled.
        ObstacleError: A process cannot be started, ended before all was done, or could not keep what it compiled.
    """
    cancel = cancel or CancelToken()
    count = processes or min(os.cpu_count() or 1, MOST_PROCESSES)
    shared = _Shared()
    with ExitStack() as started, cancel.looked_at():
        running = [_start(started) for _ in range(count)]
        for process in running:
            threading.Thread(target=_serve, args=(process, shared), daemon=True).start()
        done, ended = 0, 0
        while ended < count:
            check_cancelled()
            with suppress(queue.Empty):
                part = shared.said.get(timeout=_LOOK_SECONDS)
                if part is None:
                    ended += 1
                else:
                    done += 1
                    yield Compiled(done, shared.total, part)
        kept = [process.wait() == 0 for process in running]
    if not all(kept) or done < shared.total:
        raise ObstacleError(
            say("Kernels could not be compiled ahead, or not be kept."),
            remedy=say("Look at the room on the disk, and at NUMBA_CACHE_DIR, which names a folder for them. Without "
                       "it every process compiles what it needs."),
        )  # fmt: skip


def _start(started: ExitStack) -> subprocess.Popen[str]:
    try:
        process = subprocess.Popen(
            program_command(COMPILER),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env=program_environment(),
        )
    except OSError as error:
        raise ObstacleError(say("No process can be started to compile: {0}.", error.strerror or error)) from error
    started.callback(_end, process)
    return process


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _serve(process: subprocess.Popen[str], shared: _Shared) -> None:
    """Tell a process one part after the other, until there is none left or it ends."""
    assert process.stdin is not None
    assert process.stdout is not None
    # It ended: whoever waits sees by its exit code, or by what is not done.
    with suppress(OSError, ValueError):
        shared.begin(json.loads(process.stdout.readline()))
        while (part := shared.take()) is not None:
            process.stdin.write(f"{part}\n")
            process.stdin.flush()
            shared.said.put(json.loads(process.stdout.readline()))
    with suppress(OSError):
        process.stdin.close()
    process.wait()
    shared.said.put(None)
