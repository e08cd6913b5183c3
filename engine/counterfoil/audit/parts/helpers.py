"""Who replays segments for an audit, as it was asked for: opened here, and closed with the audit."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from counterfoil.audit.parts.crew import Crew, Parts
from counterfoil.audit.parts.frames import Task
from counterfoil.audit.parts.processes import Processes
from counterfoil.audit.parts.result import Identity, read_part
from counterfoil.audit.values.request import AuditRequest
from counterfoil.audit.values.workers import LocalWorkers, PartFiles, RayWorkers, ReplayedBy
from counterfoil.cancel import CancelToken

Helpers = Crew | Parts


@contextmanager
def open_helpers(
    request: AuditRequest, numbers: Sequence[int], identity: Identity, cancel: CancelToken | None
) -> Iterator[Helpers | None]:
    """Provide whoever the request names; None where the audit replays everything itself.

    Args:
        request: The audit.
        numbers: The segments that are still to be replayed.
        identity: What is audited.
        cancel: Looked at while the audit waits for them.

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
    by = ReplayedBy.PROCESS
    if isinstance(workers, RayWorkers):
        by = ReplayedBy.CLUSTER
        from counterfoil.audit.parts.rayexec import RayActors

        executor: RayActors | Processes = RayActors(
            workers.address, task_of(request, request.device, request.threads or 1), workers.count, len(numbers)
        )
    else:
        executor = Processes(local_tasks(request, workers, len(numbers)))
    try:
        yield Crew(executor, numbers, identity, cancel, by=by)
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
    run = os.path.abspath(request.run)
    data = None if request.data is None else os.path.abspath(request.data)
    return Task(run, data, device, threads, request.limits)
