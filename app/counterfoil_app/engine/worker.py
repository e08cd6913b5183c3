"""The one thread in which the window lets the engine work.

One thread, because the engine does one thing at a time: h5py holds a global lock, and torch's switches belong to the
process. Results are fetched by the window's timer; nothing here calls into Qt.
"""

from __future__ import annotations

import queue
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from counterfoil import CounterfoilError, GivenFileError, OrderError
from counterfoil.talk.failure import FaultError
from counterfoil_app.engine import strangers
from counterfoil_core.base.sentence import say


@dataclass(frozen=True)
class Failure:
    """Why a job failed, for people."""

    sentence: str  #: What happened and why.
    remedy: str  #: What to do next; may be empty.
    detail: str  #: What to copy into a report; may be empty.
    expected: bool  #: Whether the engine raised it on purpose; otherwise it is a fault of Counterfoil.
    #: What a file was given as that is not there, or is another one than was meant; of an order that was not written,
    #: the option that this is about; empty for other failures.
    role: str = ""

    @classmethod
    def of(cls, error: Exception) -> Failure:
        """Describe an exception; to be called while it is handled."""
        if isinstance(error, ReportedError):
            return error.failure
        trace = error.failure.detail if isinstance(error, FaultError) else traceback.format_exc()
        if isinstance(error, CounterfoilError):
            sentence, remedy = strangers.sentence(error.sentence), strangers.sentence(error.remedy)
            role: str = error.role if isinstance(error, GivenFileError) else ""
            if isinstance(error, OrderError):
                role = error.option
            return cls(sentence, remedy, strangers.lines(error.detail or trace), expected=True, role=role)
        what = str(error) if isinstance(error, FaultError) else f"{type(error).__name__}: {error}"
        sentence = say("Counterfoil itself failed: {0}.", what.rstrip(". "))
        remedy = say("Nothing was concluded. Please report this with the details below.")
        return cls(strangers.sentence(sentence), remedy, strangers.lines(trace), expected=False)


class SupportsEmit(Protocol):
    """A signal of Qt's, which this room does not know."""

    def emit(self, *values: object) -> None:
        """Tell whoever listens."""


class ReportedError(CounterfoilError):
    """A failure that was described where it happened, in another process."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.sentence, remedy=failure.remedy, detail=failure.detail)
        self.failure = failure


def attempt(work: Callable[[], object], failed: SupportsEmit) -> None:
    """Do something that may fail, and emit why it did if so."""
    try:
        work()
    except CounterfoilError as error:
        failed.emit(Failure.of(error))


@dataclass(frozen=True)
class JobResult:
    """A finished job: its number, and either what it returned or why it failed."""

    job: int
    value: object
    failure: Failure | None


Submit = Callable[[Callable[[], object], Callable[[JobResult], None]], int]
"""Lets the worker run a function, and hands its result over in the window's thread; returns the job's number."""


class Worker:
    """Runs jobs one after the other in a thread of its own.

    Results are kept until :meth:`poll` takes them. The thread starts with the first job.

    Args:
        farewell: Called in the thread when it ends.
    """

    def __init__(self, farewell: Callable[[], None]) -> None:
        self._farewell = farewell
        self._jobs: queue.SimpleQueue[tuple[int, Callable[[], object]] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[JobResult] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._last = 0
        self._open = 0

    @property
    def busy(self) -> bool:
        """Whether a result is still to come or to be taken."""
        return self._open > 0

    @property
    def has_let_go(self) -> bool:
        """Whether its thread has ended, and with it what the jobs held; also so before the first job."""
        return self._thread is None

    def submit(self, function: Callable[[], object]) -> int:
        """Queue a job and return its number."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="counterfoil-engine", daemon=True)
            self._thread.start()
        self._last += 1
        self._open += 1
        self._jobs.put((self._last, function))
        return self._last

    def poll(self) -> list[JobResult]:
        """Take the results that are ready, oldest first."""
        results = []
        while not self._results.empty():
            results.append(self._results.get())
        self._open -= len(results)
        return results

    def shut_down(self) -> None:
        """Let the queued jobs finish and end the thread; later jobs start a new one."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None

    def leave(self) -> threading.Thread | None:
        """End the thread as :meth:`shut_down`, and do not wait for it; returns it, for whoever waits later."""
        leaving, self._thread = self._thread, None
        if leaving is not None:
            self._jobs.put(None)
        return leaving

    def _run(self) -> None:
        while (item := self._jobs.get()) is not None:
            job, function = item
            try:
                result = JobResult(job, function(), None)
            except Exception as error:  # the window shows every failure; none may end the thread
                result = JobResult(job, None, Failure.of(error))
            self._results.put(result)
        self._farewell()
