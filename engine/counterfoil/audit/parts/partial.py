"""Replays segments for another audit to take, and writes what came out into a file: no verdict, and no accusation."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

from counterfoil.audit.parts.helpers import task_of
from counterfoil.audit.parts.partfile import Part, write_part
from counterfoil.audit.parts.workplace import open_workplace
from counterfoil.audit.values.plan import PlanProgress
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError
from counterfoil_core.hearing.result import SegmentResult
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.sampling import planned_steps


def replay_part(request: AuditRequest, path: Path, cancel: CancelToken) -> Generator[PlanProgress, None, Part]:
    """Replay the segments that a request names, and write them into a part file.

    What is done when it is stopped is written too.

    Args:
        request: The audit; its order, keys and heads are not looked at, since whoever merges the parts compares these.
        path: The part file.
        cancel: Stops it.

    Yields:
        Steps that are done, and how many there will be.

    Raises:
        CounterfoilError: As :func:`counterfoil.audit.parts.workplace.open_workplace`, and FileWriteError.
        DataError: The run has no such segments.
    """
    found: list[SegmentResult] = []
    with open_workplace(task_of(request, request.device, request.threads), cancel) as workplace:
        extent = workplace.opened.reader.extent
        sample = request.segments.resolve(extent, workplace.identity.run_root)
        done, planned = 0, planned_steps(extent, sample)
        yield PlanProgress(0, planned)
        try:
            for number in sample.numbers():
                replaying = workplace.replay(number)
                while True:
                    try:
                        next(replaying)
                    except StopIteration as end:
                        found.append(end.value)
                        break
                    done += 1
                    yield PlanProgress(done, planned)
        except CancelledError:
            if not found:
                raise
        part = Part(workplace.identity, workplace.place, tuple(found))
    write_part(part, path)
    return part
