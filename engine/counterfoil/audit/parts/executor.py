"""Where workers run: one interface, and the workers that run in this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack
from typing import Protocol

from counterfoil.audit.parts.result import Identity, Message, Ready, SegmentDone, SegmentResult, StepDone, Unable
from counterfoil.audit.values.workers import Place
from counterfoil.errors import CounterfoilError


class Executor(Protocol):
    """Workers, numbered from 1. A worker has one segment at a time."""

    @property
    def count(self) -> int:
        """Number of workers."""

    def start(self, worker: int) -> None:
        """Start a worker, or start it again; it says Ready, Unable or Died later. Raises WorkerError."""

    def give(self, worker: int, number: int) -> None:
        """Let a worker that is ready replay a segment."""

    def wait(self, seconds: float) -> list[Message]:
        """Return what the workers said, in the order in which each said it; after ``seconds`` at the latest."""

    def close(self) -> None:
        """End all workers, whatever they do; calling it twice does no harm."""


class Bench(Protocol):
    """A run that is open for the replay of its segments (:class:`counterfoil.audit.parts.work.Workplace`)."""

    @property
    def identity(self) -> Identity:
        """What is open."""

    @property
    def place(self) -> Place:
        """Where."""

    def replay(self, number: int, /) -> Generator[int, None, SegmentResult]:
        """Replay a segment; yields each step that is done."""


class InProcess:
    """One worker, in this process: it works while somebody waits for it.

    Args:
        open_bench: Opens the run.
    """

    count = 1

    def __init__(self, open_bench: Callable[[], AbstractContextManager[Bench]]) -> None:
        self._open = open_bench
        self._stack = ExitStack()
        self._bench: Bench | None = None
        self._said: deque[Message] = deque()
        self._at: Generator[int, None, SegmentResult] | None = None

    def start(self, worker: int) -> None:
        """Open the run."""
        self._stack.close()
        try:
            self._bench = self._stack.enter_context(self._open())
            self._said.append(Ready(worker, self._bench.identity, self._bench.place))
        except CounterfoilError as error:
            self._said.append(Unable.because(worker, error))

    def give(self, worker: int, number: int) -> None:
        """Take a segment on."""
        assert self._bench is not None
        self._at = self._bench.replay(number)

    def wait(self, seconds: float) -> list[Message]:
        """Replay a step, if there is one to replay; raises what the replay raises."""
        if not self._said and self._at is not None:
            try:
                self._said.append(StepDone(1, next(self._at)))
            except StopIteration as end:
                self._at = None
                self._said.append(SegmentDone(1, end.value))
        said, self._said = list(self._said), deque()
        return said

    def close(self) -> None:
        """Close the run."""
        self._at = None
        self._stack.close()
