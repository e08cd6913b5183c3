"""Work on many files, each in a process of its own, which is forked from this one and closes a box for its file alone.

Starting a process and loading what it needs takes longer than to look at a file. A fork has it loaded. This process
reads none of the files, so that a fork has of a file no more than its own: one that takes it over answers for itself.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from counterfoil.sandbox import box
from counterfoil_core.base.cancel import CancelToken

MOST_BYTES = 2**18
"""Of what is said of a file."""
MOST_SECONDS = 120.0
"""How long a file may take."""
LOOK_SECONDS = 0.05
_PIECE_BYTES = 2**16
_MOST_DESCRIPTORS = 2**20


@dataclass
class _Fork:
    """A process at work."""

    path: Path  #: Its file.
    process: int  #: Its id.
    until: float  #: When it is ended.
    said: bytearray = field(default_factory=bytearray)  #: What it said so far.
    ended: bool = False  #: Whether it was ended from here.


def work_apart(
    paths: Sequence[Path], work: Callable[[Path], bytes], cancel: CancelToken, seconds: float = MOST_SECONDS
) -> Iterator[tuple[Path, bytes | None]]:
    """Do work on each file in a process of its own, as many side by side as there are processors.

    This process must have one thread, and must not have read a file of a stranger's.

    Args:
        paths: The files.
        work: What is done in the process of a file; it may read that and the installation, and write nothing.
        cancel: Looked at while the processes work.
        seconds: How long a file may take.

    Yields:
        A file, and what its process returned; None where it died, said too much, or took too long. Whoever takes over
        the process of a file says what it likes, of that file.

    Raises:
        CancelledError: ``cancel`` was set; all are ended.
    """
    at_once = len(os.sched_getaffinity(0))
    waiting, forks = iter(paths), dict[int, _Fork]()
    try:
        while True:
            cancel.check()
            while len(forks) < at_once and (path := next(waiting, None)) is not None:
                reading, process = _fork(path, work)
                forks[reading] = _Fork(path, process, time.monotonic() + seconds)
            if not forks:
                return
            for reading in select.select(list(forks), [], [], LOOK_SECONDS)[0]:
                fork, piece = forks[reading], os.read(reading, _PIECE_BYTES)
                fork.said += piece
                if piece and len(fork.said) <= MOST_BYTES:
                    continue
                del forks[reading]
                whole = _end(reading, fork, now=bool(piece))
                yield fork.path, bytes(fork.said) if whole else None
            for fork in forks.values():
                if time.monotonic() > fork.until and not fork.ended:
                    fork.ended = True
                    os.kill(fork.process, signal.SIGKILL)
    finally:
        for reading, fork in forks.items():
            _end(reading, fork, now=True)


def _fork(path: Path, work: Callable[[Path], bytes]) -> tuple[int, int]:
    """Start the process of a file; returns where it is read from, and its id."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return reading, process
    code = 1
    try:
        # What the other process hears and says is not for this one, nor what other forks say.
        os.dup2(writing, 3)
        os.closerange(4, _MOST_DESCRIPTORS)
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1):
            os.dup2(nothing, standard)
        os.close(nothing)
        box.enter([path])
        said = memoryview(work(path))
        while said:
            said = said[os.write(3, said) :]
        code = 0
    finally:
        os._exit(code)


def _end(reading: int, fork: _Fork, *, now: bool) -> bool:
    """Wait for the end of a process; returns whether it had done its work."""
    if now:
        os.kill(fork.process, signal.SIGKILL)
    os.close(reading)
    return os.waitpid(fork.process, 0)[1] == 0
