"""Compiles kernels ahead of their first use, in as many processes as there are cores.

What is compiled is kept for every later process (:mod:`counterfoil_core.kernels.cache`). The processes
(:mod:`counterfoil.audit.boxed.kernels`) say what parts there are; whichever is idle is told the next.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial

from counterfoil.talk.failure import FaultError
from counterfoil.talk.port import Port
from counterfoil.talk.process import Process, Words
from counterfoil.talk.table import COMPILER
from counterfoil_core.base.cancel import CancelToken, check_cancelled
from counterfoil_core.base.errors import CounterfoilError, ObstacleError
from counterfoil_core.base.sentence import say

MOST_PROCESSES = 4
"""Each loads for seconds and takes half a gigabyte; there are not so many parts that more would pay."""
_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Compiled:
    """How far it is."""

    done: int  #: Parts that are compiled.
    total: int  #: All parts.
    part: str  #: The last that was.


@dataclass(frozen=True)
class Kernels:
    """What a process can compile."""

    parts: Mapping[str, Callable[[], object]]  #: What compiles each part, by its name.
    are_kept: Callable[[], bool]  #: Says whether all that was compiled could be kept.


def names(kernels: Kernels) -> tuple[str, ...]:
    """Return the names of all parts."""
    return tuple(kernels.parts)


def compile_part(kernels: Kernels, part: str) -> None:
    """Compile a part."""
    kernels.parts[part]()


def are_kept(kernels: Kernels) -> bool:
    """Return whether all that was compiled could be kept."""
    return kernels.are_kept()


COMPILES = Port[Kernels](names, compile_part, are_kept, given="kernels")
"""What a process that compiles may be asked."""


class _Words(Words):
    def unstarted(self, error: OSError) -> CounterfoilError:
        return ObstacleError(say("No process can be started to compile: {0}.", error.strerror or error))


class _Shared:
    """What the processes have yet to do, and what they said."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[str] | None = None
        self.total = 0
        self.said: queue.SimpleQueue[str | bool | Exception] = queue.SimpleQueue()
        """Each part that is compiled; whether all was kept where a process is done, or why it is not."""

    def begin(self, parts: tuple[str, ...]) -> None:
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
        FaultError: A process failed as it should not.
        ObstacleError: A process cannot be started, ended before all was done, or could not keep what it compiled.
    """
    cancel = cancel or CancelToken()
    count = processes or min(os.cpu_count() or 1, MOST_PROCESSES)
    shared = _Shared()
    with ExitStack() as started, cancel.looked_at():
        for _ in range(count):
            process = Process(COMPILER, _Words())
            started.callback(partial(process.end, now=True))
            threading.Thread(target=_serve, args=(process, shared), daemon=True).start()
        done, ended = 0, list[bool | Exception]()
        while len(ended) < count:
            check_cancelled()
            with suppress(queue.Empty):
                said = shared.said.get(timeout=_LOOK_SECONDS)
                if isinstance(said, str):
                    done += 1
                    yield Compiled(done, shared.total, said)
                else:
                    ended.append(said)
    faults = [each for each in ended if isinstance(each, FaultError)]
    if faults:
        raise faults[0]
    if any(each is not True for each in ended) or done < shared.total:
        raise ObstacleError(
            say("Kernels could not be compiled ahead, or not be kept."),
            detail="\n".join(str(each) for each in ended if isinstance(each, CounterfoilError)),
            remedy=say("Look at the room on the disk, and at NUMBA_CACHE_DIR, which names a folder for them. Without "
                       "it every process compiles what it needs."),
        )  # fmt: skip


def compile_where_possible(cancel: CancelToken | None = None) -> None:
    """Compile all kernels that are not kept yet; what fails costs time alone.

    Args:
        cancel: As for :func:`compile_kernels`.

    Raises:
        CancelledError: It was cancelled.
    """
    with suppress(ObstacleError, FaultError):
        for _ in compile_kernels(cancel=cancel):
            pass


def _serve(process: Process, shared: _Shared) -> None:
    """Tell a process one part after the other, until there is none left or it fails."""
    try:
        shared.begin(process.call(COMPILES, names))
        while (part := shared.take()) is not None:
            process.call(COMPILES, compile_part, part)
            shared.said.put(part)
        shared.said.put(process.call(COMPILES, are_kept))
    except (CounterfoilError, FaultError) as error:
        shared.said.put(error)
