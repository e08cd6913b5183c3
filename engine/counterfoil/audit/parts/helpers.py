"""Who replays segments for an audit, as it was asked for: opened here, and closed with the audit."""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

from counterfoil.audit.parts.crew import PATIENCE, Crew, Parts
from counterfoil.audit.parts.executor import Executor
from counterfoil.audit.parts.partfile import Died, Message, read_part
from counterfoil.audit.parts.task import Task
from counterfoil.audit.parts.worker import WORK, Desk, take
from counterfoil.talk.port import Enclosure
from counterfoil.talk.process import Heard, Process, Start, Words, how_ended
from counterfoil.talk.table import WORKER
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CounterfoilError, WorkerError
from counterfoil_core.base.sentence import say
from counterfoil_core.hearing.result import Identity
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.workers import Followed, LocalWorkers, PartFiles, RayWorkers, ReplayedBy

# Workers in processes of this machine, one for each device or for some of its cores.


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


Helpers = Crew | Parts
Executors = Callable[[AuditRequest, int], Executor]
"""Makes what runs the workers of an audit, for so many segments."""


def executor_of(request: AuditRequest, segments: int) -> Executor:
    """Return what runs the workers that a request names, for so many segments; raises WorkerError."""
    workers = request.workers
    if isinstance(workers, RayWorkers):
        from counterfoil.audit.parts.rayexec import RayActors

        return RayActors(
            workers.address, task_of(request, request.device, request.threads or 1), workers.count, segments
        )
    assert isinstance(workers, LocalWorkers), "part files are no workers"
    return Processes(local_tasks(request, workers, segments))


@contextmanager
def open_helpers(
    request: AuditRequest,
    numbers: Sequence[int],
    identity: Identity,
    cancel: CancelToken | None,
    executors: Executors = executor_of,
    patience: float = PATIENCE,
) -> Iterator[Helpers | None]:
    """Provide whoever the request names; None where the audit replays everything itself.

    Args:
        request: The audit.
        numbers: The segments that are still to be replayed.
        identity: What is audited.
        cancel: Looked at while the audit waits for them.
        executors: Makes what runs workers.
        patience: Seconds that a step can take at the most.

    Raises:
        PartError: A part file is none, or another audit's.
        WorkerError: No worker can be started.
    """
    workers = request.workers
    if workers is None or not numbers:
        yield None
        return
    if isinstance(workers, PartFiles):
        yield Parts([(path.name, read_part(path)) for path in workers.paths], identity)
        return
    if isinstance(workers, Followed):
        part = read_part(workers.path)
        # Nobody knew file and run root while the run was recorded; each leaf is compared with that of the run anyhow.
        of_run = replace(part, identity=replace(part.identity, file=identity.file, run_root=identity.run_root))
        yield Parts([(workers.path.name, of_run)], identity, ReplayedBy.AUDIT)
        return
    by = ReplayedBy.CLUSTER if isinstance(workers, RayWorkers) else ReplayedBy.PROCESS
    executor = executors(request, len(numbers))
    try:
        yield Crew(executor, numbers, identity, cancel, by=by, patience=patience)
    finally:
        executor.close()


def local_tasks(request: AuditRequest, workers: LocalWorkers, segments: int) -> list[Task]:
    """Return what each process opens; there are no more of them than segments.

    The cores are divided among them unless the request names a number of threads for each.
    """
    count = max(1, min(workers.count, segments))
    devices = workers.devices or (request.device,)
    threads = request.threads or max(1, (os.cpu_count() or 1) // count)
    return [task_of(request, devices[number % len(devices)], threads) for number in range(count)]


def task_of(request: AuditRequest, device: str, threads: int | None) -> Task:
    """Return what a worker opens for an audit."""
    run = os.path.abspath(request.file)
    data = None if request.data is None else os.path.abspath(request.data)
    order = None if request.order is None else os.path.abspath(request.order)
    return Task(run, data, device, threads, request.limits, order)
