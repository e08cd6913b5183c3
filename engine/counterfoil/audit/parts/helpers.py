"""Who replays segments for an audit, as it was asked for: opened here, and closed with the audit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from counterfoil.audit.parts.crew import PATIENCE, Crew, Parts
from counterfoil.audit.parts.executor import Executor
from counterfoil.audit.parts.partfile import read_part
from counterfoil.audit.parts.processes import Processes
from counterfoil.audit.parts.task import Task
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.hearing.result import Identity
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.workers import Followed, LocalWorkers, PartFiles, RayWorkers, ReplayedBy

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
