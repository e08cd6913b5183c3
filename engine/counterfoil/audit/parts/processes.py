"""Workers in processes of this machine, one for each device or for some of its cores."""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from counterfoil.audit.parts.partfile import Died, Message
from counterfoil.audit.parts.task import Task
from counterfoil.audit.parts.worker import WORK, Desk, take
from counterfoil.talk.port import Enclosure
from counterfoil.talk.process import Heard, Process, Start, Words, how_ended
from counterfoil.talk.table import WORKER
from counterfoil_core.base.errors import CounterfoilError, WorkerError
from counterfoil_core.base.sentence import say


class _Words(Words):
    def __init__(self, worker: int) -> None:
        self._worker = worker

    def unstarted(self, error: OSError) -> CounterfoilError:
        return WorkerError(
            say("No process can be started for worker {0}: {1}.", self._worker, error.strerror or error),
            remedy=say("Ask for fewer workers."),
        )


class Processes:
    """Workers in processes; each ends with this one.

    Args:
        tasks: What each worker opens.
        command: What starts a worker; that of this program unless given.
    """

    def __init__(self, tasks: Sequence[Task], command: Sequence[str] = ()) -> None:
        self._tasks = tasks
        self._command = command
        self._said: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._workers: dict[int, Process] = {}

    @property
    def count(self) -> int:
        """Number of workers."""
        return len(self._tasks)

    def process_id(self, worker: int) -> int:
        """The id of a worker's process."""
        return self._workers[worker].process_id

    def start(self, worker: int) -> None:
        """Start a process; raises WorkerError when the system has no room for one."""
        if worker in self._workers:
            self._workers.pop(worker).end(now=True)
            self._forget(worker)
        task = self._tasks[worker - 1]
        heard = partial(_hear, worker, self._said.put)
        process = self._workers[worker] = Process(WORKER, _Words(worker), Start(self._command), heard)
        cuda = "not closed with CUDA, whose driver needs more than files" if task.device.startswith("cuda") else ""
        process.enclose(Enclosure(task.files, open=cuda))
        process.send(WORK.call(Desk.open_run, (worker, task), {}))

    def give(self, worker: int, number: int) -> None:
        """Let a worker replay a segment."""
        # Where nobody reads any more, the thread that listens says so.
        self._workers[worker].send(WORK.call(Desk.replay, (number,), {}))

    def wait(self, seconds: float) -> list[Message]:
        """Return what the workers said."""
        said: list[Message] = []
        with suppress(queue.Empty):
            said.append(self._said.get(timeout=seconds))
            while True:
                said.append(self._said.get_nowait())
        return said

    def _forget(self, worker: int) -> None:
        """Drop what a process said that is gone: it is not the word of the next one."""
        for message in self.wait(0):
            if message.worker != worker:
                self._said.put(message)

    def close(self) -> None:
        """End the processes at once: they only read."""
        for process in self._workers.values():
            process.kill()
        for process in self._workers.values():
            process.end(now=True)
        self._workers.clear()


def _hear(worker: int, put: Callable[[Message], None], process: Process, said: Heard) -> None:
    """Hear a worker, in the thread that reads what it says; one that says what it may not is ended, which is told."""
    if isinstance(said, bytes):
        try:
            take(worker, put, said)
        except ValueError:
            process.kill()
        return
    if said is not None:  # too large
        process.kill()
    put(Died(worker, how_ended(process.wait())))
