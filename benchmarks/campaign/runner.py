"""Does the tasks that are left, within a time, in processes; keeps each result as it comes."""

from __future__ import annotations

import math
import os
import queue
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from benchmarks.campaign.process import Answers, Process, ended_early
from benchmarks.campaign.store import Store
from benchmarks.campaign.task import Ended, Result, Task
from benchmarks.pages import duration
from counterfoil_core.base.cancel import CancelToken

Say = Callable[[str], None]
_LOOK_SECONDS = 0.2
_SETTLED = (Ended.DONE,)
"""Outcomes after which a task is not done again."""


@dataclass(frozen=True)
class Summary:
    """What a run came to."""

    results: Sequence[Result]  #: Every result that is kept, of earlier runs too, in the order of the tasks.
    undone: Sequence[Task]  #: Tasks that have no result, for want of time or because the run was stopped.

    @property
    def strange(self) -> list[str]:
        """A sentence for each thing that should not be so: what was found, and what failed."""
        found = [sentence for result in self.results for sentence in result.strange]
        failed = [
            f"{result.part}, {result.task}: {result.outcome.value}: {result.said}"
            for result in self.results
            if result.outcome in (Ended.FAILED, Ended.TIMED_OUT)
        ]
        return [*found, *failed]


def run(
    wanted: Sequence[Task],
    store: Store,
    command: Sequence[str],
    *,
    minutes: float = math.inf,
    workers: int = 1,
    say: Say = print,
    cancel: CancelToken | None = None,
) -> Summary:
    """Do what is not done yet.

    Tasks that failed or were ended come once more, after those that were never tried. What is timed has the machine to
    itself; the rest is done in several processes at a time.

    Args:
        wanted: The tasks, the most valuable first.
        store: Keeps their results.
        command: Starts a process that does tasks (:func:`benchmarks.campaign.process.serve`).
        minutes: No task goes on longer than this.
        workers: Processes at a time.
        say: Takes a line for each task.
        cancel: Looked at all the while; what runs is ended, and what is done is kept.

    Raises:
        FileWriteError: A result cannot be kept.
    """
    before = store.results()
    _Run(store, command, minutes, workers, say, cancel or CancelToken()).do(
        [task for task in wanted if task.key not in before]
        + [task for task in wanted if task.key in before and before[task.key].outcome not in _SETTLED],
        len(wanted),
    )
    results = store.results()
    return Summary(
        results=[results[task.key] for task in wanted if task.key in results],
        undone=[task for task in wanted if task.key not in results],
    )


class _Run:
    """One run: what is left, which process does what, and how the time goes."""

    def __init__(
        self, store: Store, command: Sequence[str], minutes: float, workers: int, say: Say, cancel: CancelToken
    ) -> None:
        self._store = store
        self._command = command
        self._workers = workers
        self._say = say
        self._cancel = cancel
        self._begun = time.monotonic()
        self._until = self._begun + 60 * minutes
        self._answers: Answers = queue.Queue()
        self._processes: list[Process] = []
        self._left: list[Task] = []
        self._numbers = count()
        self._expected = self._taken = 0.0
        """Expected seconds of the tasks that ended, and what they took."""

    def do(self, left: Sequence[Task], wanted: int) -> None:
        """Do tasks until none is left or the time is over."""
        self._left, self._wanted = list(left), wanted
        if wanted > len(left):
            self._say(f"{wanted - len(left)} of {wanted} tasks are done already.")
        try:
            while not self._cancel.cancelled:
                self._assign()
                if not self._busy:
                    break
                self._hear()
                self._end_what_takes_too_long()
        finally:
            for process in self._processes:
                process.end()

    @property
    def _busy(self) -> list[Process]:
        return [process for process in self._processes if process.task is not None]

    def _seconds_left(self) -> float:
        return self._until - time.monotonic()

    def _expects(self, task: Task) -> float:
        """How long a task will take, as those that ended say of our expectations."""
        pace = self._taken / self._expected if self._expected else 1.0
        return task.seconds * min(max(pace, 0.1), 4.0)

    def _assign(self) -> None:
        while self._left:
            busy = self._busy
            if any(process.task is not None and process.task.alone for process in busy):
                return
            fits = [task for task in self._left if self._expects(task) <= self._seconds_left()]
            if not fits or (fits[0].alone and busy) or len(busy) >= self._workers:
                return
            self._left.remove(fits[0])
            self._free_process(fits[0].variables).begin(fits[0])

    def _free_process(self, variables: Mapping[str, str]) -> Process:
        """A process with such an environment that does nothing; others that do nothing end, to hold no memory."""
        for process in [one for one in self._processes if one.task is None]:
            if process.variables == variables:
                return process
            self._drop(process)
        log = self._store.folder / "logs" / f"{os.getpid()}-{next(self._numbers)}.txt"
        process = Process(self._command, variables, log, self._answers)
        self._processes.append(process)
        return process

    def _hear(self) -> None:
        """Take one answer, or none after a while."""
        try:
            process, result = self._answers.get(timeout=_LOOK_SECONDS)
        except queue.Empty:
            return
        if process not in self._processes:  # it was ended before
            return
        task, seconds = process.task, process.seconds
        if result is None:
            self._drop(process)
            if task is None:
                return
            result = ended_early(task, Ended.FAILED, seconds, "Its process ended: the folder 'logs' has what it said.")
        elif result.outcome is Ended.FAILED:
            # An error on a GPU may leave it useless to the process that made it.
            self._drop(process)
        assert task is not None
        process.task = None
        self._expected += task.seconds
        self._taken += seconds
        self._keep(result)

    def _end_what_takes_too_long(self) -> None:
        for process in self._busy:
            task = process.task
            assert task is not None
            if process.seconds > task.limit:
                self._drop(process)
                said = f"It took more than {duration(task.limit)}."
                self._keep(ended_early(task, Ended.TIMED_OUT, process.seconds, said))
            elif self._seconds_left() <= 0:
                self._drop(process)
                self._say(f"{task.part}, {task.name}: ended, the time is over")

    def _drop(self, process: Process) -> None:
        self._processes.remove(process)
        process.end()

    def _keep(self, result: Result) -> None:
        self._store.keep(result)
        waiting = len(self._left) + len(self._busy)
        share = sum(map(self._expects, self._left)) / self._workers
        alone = sum(self._expects(task) for task in self._left if task.alone)
        about = min(max(share, alone), max(self._seconds_left(), 0.0))
        mark = "" if result.outcome is Ended.DONE else f"{result.outcome.value}: "
        of = "" if math.isinf(self._until) else f" of {duration(self._until - self._begun)}"
        left = f"about {duration(about)} left{of}" if waiting else "nothing is left"
        self._say(
            f"{self._wanted - waiting}/{self._wanted} {result.part}, {result.task}: {mark}{result.said} "
            f"({duration(result.seconds)}; {left})"
        )
        for sentence in result.strange:
            self._say(f"  NOT EXPECTED: {sentence}")
