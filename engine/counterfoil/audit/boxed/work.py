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

# What the tasks need is loaded before the box is closed.
import counterfoil_core.hearing.adjudicator
import counterfoil_core.hearing.session
import counterfoil_core.panel.panel
import counterfoil_core.signing.keys  # noqa: F401
from counterfoil.audit.boxed.answers import Answers
from counterfoil.audit.boxed.asking import Asking
from counterfoil.audit.boxed.messages import (
    Answer,
    Begin,
    Done,
    Failed,
    Failure,
    Loaded,
    Refused,
    Said,
    Stop,
    ToInside,
)
from counterfoil.audit.boxed.tasks import TASKS, Inside
from counterfoil.audit.parts.frames import receive, send
from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.talk.port import Call
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.trouble import obstacle_behind
from counterfoil_core.kernels.cache import lacking


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
        asking = Asking(_Line(questions, answers).ask, scratch)
        try:
            if lacking():
                asking.ask(Answers.compile)
            send(answers, Loaded())
            for value in _work(begin.task, Inside(cancel, asking, scratch)):
                send(answers, Said(value))
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

    def ask(self, question: Call) -> object:
        """Ask, and wait; raises the error with which it was refused."""
        send(self._answers, question)
        heard = self._heard.get()
        if isinstance(heard, Refused):
            raise heard.failure.error
        return heard.body


def _work(task: Call, inside: Inside) -> Iterator[Any]:
    yield from TASKS.read(task)(inside)
