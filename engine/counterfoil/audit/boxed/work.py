"""What the process in the box does: one task, whose values it hands out as they come."""

from __future__ import annotations

import os
import queue
import signal
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from counterfoil.audit.adjudicator import AdjudicationFinished, AdjudicationStarted, adjudicate
from counterfoil.audit.boxed.asking import Ask, Asking
from counterfoil.audit.boxed.messages import (
    CAPSULE_NAME,
    PART_NAME,
    AdjudicationTask,
    Answer,
    AuditTask,
    Begin,
    CapsuleStarted,
    Compile,
    Done,
    Failed,
    Failure,
    Finished,
    Loaded,
    PanelTask,
    PartTask,
    PlanTask,
    Question,
    Refused,
    Said,
    Stop,
    ToInside,
)
from counterfoil.audit.panel import run_panel
from counterfoil.audit.parts.frames import receive, send
from counterfoil.audit.parts.partial import replay_part
from counterfoil.audit.session import run_audit
from counterfoil.audit.timing import plan_audit
from counterfoil.audit.values.events import AuditFinished
from counterfoil.audit.values.request import AuditRequest
from counterfoil.audit.values.workers import LocalWorkers, PartFiles, RayWorkers, Workers
from counterfoil.base.cancel import CancelToken
from counterfoil.base.errors import CounterfoilError
from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.base.trouble import obstacle_behind
from counterfoil.bundle.capsulewriter import write_capsule
from counterfoil.kernels.cache import lacking
from counterfoil.signing.keys import PublicKey


def serve(questions: BinaryIO, answers: BinaryIO, scratch: Path) -> None:
    """Do what the next message says, and say what comes of it.

    Args:
        questions: Where messages come from.
        answers: Where they go.
        scratch: The folder that both sides share.
    """
    begin = receive(questions, Begin)
    if begin is None:
        return
    with cancel_on_interrupt([signal.SIGTERM]) as cancel:
        line = _Line(questions, answers)
        try:
            if lacking():
                line.ask(Compile())
            send(answers, Loaded())
            for value in _work(begin.task, line.ask, scratch, cancel):
                send(answers, Said(type(value).__name__, value))
            send(answers, Done())
        except CounterfoilError as error:
            send(answers, Failed(Failure.of(error)))
        except Exception as error:
            found = obstacle_behind(error)
            bug = Failure("", f"{type(error).__name__}: {error}", "", traceback.format_exc())
            send(answers, Failed(bug if found is None else Failure.of(found)))


class _Line:
    """Listens in a thread of its own: to answers, and to the wish to stop."""

    def __init__(self, questions: BinaryIO, answers: BinaryIO) -> None:
        self._questions = questions
        self._answers = answers
        self._heard: queue.SimpleQueue[Answer | Refused] = queue.SimpleQueue()
        self._asking = threading.get_ident()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while (message := receive(self._questions, ToInside)) is not None:
            if isinstance(message, Stop):
                signal.pthread_kill(self._asking, signal.SIGTERM)
            else:
                self._heard.put(message)
        os._exit(0)  # nobody waits for what is being computed

    def ask(self, question: Question) -> object:
        """Ask, and wait; raises the error with which it was refused."""
        send(self._answers, question)
        heard = self._heard.get()
        if isinstance(heard, Refused):
            raise heard.failure.error
        return heard.body


def _work(task: object, ask: Ask, scratch: Path, cancel: CancelToken) -> Iterator[object]:
    match task:
        case AuditTask():
            yield from _audit(task, ask, scratch, cancel)
        case PartTask():
            yield from _part(task, scratch, cancel)
        case AdjudicationTask():
            yield from _adjudicate(task, cancel)
        case PlanTask():
            yield from plan_audit(
                task.run, data=task.data, bad_fraction=task.bad_fraction, device=task.device, threads=task.threads,
                cancel=cancel, limits=task.limits,
            )  # fmt: skip
        case PanelTask():
            yield from run_panel(
                task.runs, order=task.order, data=task.data, device=task.device, threads=task.threads, cancel=cancel,
                limits=task.limits,
            )  # fmt: skip


def _audit(task: AuditTask, ask: Ask, scratch: Path, cancel: CancelToken) -> Iterator[object]:
    for event in run_audit(_request(task), cancel, Asking(ask, scratch)):
        if not isinstance(event, AuditFinished):
            yield event
            continue
        failure = None
        if task.capsule and event.evidence is not None:
            try:
                write_capsule(event.evidence, scratch / CAPSULE_NAME)
            except CounterfoilError as error:
                failure = Failure.of(error)
        yield Finished(event.report, event.kept, event.problem, event.interrupted, event.evidence is not None, failure)


def _part(task: PartTask, scratch: Path, cancel: CancelToken) -> Iterator[object]:
    request = AuditRequest(
        Path(task.run),
        device=task.device,
        threads=task.threads,
        data=_path(task.data),
        segments=task.segments,
        limits=task.limits,
    )
    yield from replay_part(request, scratch / PART_NAME, cancel)


def _adjudicate(task: AdjudicationTask, cancel: CancelToken) -> Iterator[object]:
    for event in adjudicate(
        task.capsule,
        order=task.order,
        trainer_key=_key(task.trainer_key),
        client_key=_key(task.client_key),
        device=task.device,
        threads=task.threads,
        cancel=cancel,
        limits=task.limits,
    ):
        if isinstance(event, AdjudicationStarted):
            yield CapsuleStarted(event.first, event.last)
        else:
            yield event.report if isinstance(event, AdjudicationFinished) else event


def _request(task: AuditTask) -> AuditRequest:
    # Who started this process runs the workers, and knows how many they are and where.
    workers: dict[str, Workers | None] = {
        "": None,
        "processes": LocalWorkers(1),
        "cluster": RayWorkers(""),
        "parts": PartFiles(tuple(map(Path, task.parts))),
    }
    return AuditRequest(
        run=Path(task.run),
        order=_path(task.order),
        device=task.device,
        threads=task.threads,
        continue_after_dispute=task.continue_after_dispute,
        trainer_key=_key(task.trainer_key),
        data=_path(task.data),
        segments=task.segments,
        heads=_path(task.heads),
        limits=task.limits,
        progress=_path(task.progress),
        resume=task.resume,
        begin=task.begin,
        retain=True,  # whoever started this process removes it
        workers=workers[task.workers],
        recheck=task.recheck,
        client_key=_key(task.client_key),
    )


def _path(name: str | None) -> Path | None:
    return None if name is None else Path(name)


def _key(pem: str) -> Any:
    return PublicKey.from_pem(pem.encode()) if pem else None
