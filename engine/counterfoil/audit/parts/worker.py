"""A worker in a process of its own, started by an audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from counterfoil.audit.parts.partfile import Message, Ready, SegmentDone, StepDone, Unable
from counterfoil.audit.parts.task import Task
from counterfoil.talk.line import Line
from counterfoil.talk.messages import decode
from counterfoil.talk.port import Call, Delivery, Port, Raised
from counterfoil.talk.table import WORKER

if TYPE_CHECKING:
    from counterfoil.audit.parts.workplace import Workplace


class Desk:
    """What a worker has opened, and replays."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._worker = 0
        self._workplace: Workplace | None = None

    def open_run(self, worker: int, task: Task) -> Ready:
        """Open a run, as the worker of a number; see :func:`counterfoil.audit.parts.workplace.open_workplace`."""
        from counterfoil.audit.parts.workplace import open_workplace  # takes seconds to load, behind the box

        self._worker = worker
        self._workplace = self._stack.enter_context(open_workplace(task))
        return Ready(worker, self._workplace.identity, self._workplace.place)

    def replay(self, number: int) -> Iterator[StepDone | SegmentDone]:
        """Replay a segment; yields each step that is done, and at the end what was found."""
        assert self._workplace is not None, "it was opened first"
        replaying = self._workplace.replay(number)
        while True:
            try:
                yield StepDone(self._worker, next(replaying))
            except StopIteration as end:
                yield SegmentDone(self._worker, end.value)
                return


WORK = Port[Desk](Desk.open_run, Desk.replay)
"""What a worker may be asked."""


def take(worker: int, put: Callable[[Message], None], said: bytes) -> None:
    """Put what a worker said, of itself; raises ValueError for what none says."""
    for message in decode(said, Delivery):
        if isinstance(message, Call) or (isinstance(message, Raised) and not message.failure.name):
            raise ValueError("no message of a worker")
        if isinstance(message, Raised):
            put(Unable(worker, message.failure.sentence))
            continue
        found: Ready | StepDone | SegmentDone | None = decode(message.value, Ready | StepDone | SegmentDone | None)
        if found is not None and found.worker == worker:
            put(found)


def main() -> None:
    """Replay what is asked for; end at once when the audit is gone."""
    line = Line(WORKER, WORK)
    if line.enclosed() is not None:
        line.serve(Desk())
