"""A worker in a process of its own, started by an audit."""

from __future__ import annotations

import os
import queue
import threading
from typing import BinaryIO

from counterfoil.audit.parts.frames import Replay, Start, Task, receive, send
from counterfoil.sandbox import box
from counterfoil.talk.frames import own_pipes


def main() -> None:
    """Replay what standard input asks for, until it ends; then, or when the audit is gone, end at once."""
    questions, answers = own_pipes()
    start = receive(questions, Start)
    if start is not None:
        _close_box(start.task)
        _serve(start, questions, answers)


def _close_box(task: Task) -> None:
    """Keep the run's program in, before anything is loaded that computes it: it reads these files, and writes none."""
    if task.device.startswith("cuda"):
        box.leave_open("not closed with CUDA, whose driver needs more than files")
    else:
        box.enter(filter(None, (task.run, task.data, task.order)))


def _serve(start: Start, questions: BinaryIO, answers: BinaryIO) -> None:
    asked: queue.SimpleQueue[int] = queue.SimpleQueue()

    def listen() -> None:
        while (question := receive(questions, Replay)) is not None:
            asked.put(question.number)
        os._exit(0)  # nobody waits for what is being computed

    threading.Thread(target=listen, daemon=True).start()
    # What takes seconds to load is loaded now that somebody listens.
    from counterfoil.audit.parts.partfile import Ready, SegmentDone, StepDone, Unable
    from counterfoil.audit.parts.workplace import open_workplace
    from counterfoil_core.base.errors import CounterfoilError

    worker = start.worker
    try:
        with open_workplace(start.task) as workplace:
            send(answers, Ready(worker, workplace.identity, workplace.place))
            while True:
                replaying = workplace.replay(asked.get())
                while True:
                    try:
                        send(answers, StepDone(worker, next(replaying)))
                    except StopIteration as end:
                        send(answers, SegmentDone(worker, end.value))
                        break
    except CounterfoilError as error:
        send(answers, Unable(worker, error.sentence))
