"""Workers on a Ray cluster: one actor each, which opens the run on its own machine.

Ray comes with ``pip install counterfoil[cluster]``. What goes to an actor and comes back are bytes of the messages that
worker processes send too, read as strictly. That guards against a worker that lies or is broken. It guards against no
machine that was taken over, since Ray unpickles whatever comes from one before anything of it is seen here
(docs/cluster.md, "What is trusted").
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import chdir, contextmanager, suppress
from dataclasses import replace
from typing import Any

from counterfoil.audit.parts.partfile import Died, Message, StepDone
from counterfoil.audit.parts.task import Task
from counterfoil.audit.parts.worker import WORK, Desk, take
from counterfoil.talk.failure import Failure
from counterfoil.talk.messages import FormError, decode, encode
from counterfoil.talk.port import Call, Item, Raised
from counterfoil.talk.table import WORKER
from counterfoil_core.base.errors import CounterfoilError, WorkerError
from counterfoil_core.base.sentence import Sentence, say

KNOCK_SECONDS = 5.0
"""How long a cluster may take to answer at all."""


class Actor:
    """What runs on a machine of the cluster: a worker."""

    def __init__(self) -> None:
        self._desk = Desk()

    def carry_out(self, call: bytes) -> bytes:
        """Carry out a call of :data:`WORK`; returns what a process says at its end."""
        asked: Call = decode(call, Call)
        try:
            brought = WORK.read(asked)(self._desk)
            *_, last = brought if WORK.form(asked.name).yields else (brought,)
        except CounterfoilError as error:
            return encode([Raised(asked.number, Failure.of(error))])
        return encode([Item(asked.number, last)])


class RayActors:
    """Workers that are actors of a Ray cluster.

    Args:
        address: The cluster's; ``auto`` for the one that this machine belongs to.
        task: What each worker opens; the paths are those of its machine.
        count: How many workers; None for one on each free CPU, or on each GPU where the task's device is one.
        most: Not more than so many.

    Raises:
        WorkerError: Ray is not installed, the cluster cannot be reached, or it has nothing free.
    """

    def __init__(self, address: str, task: Task, count: int | None, most: int) -> None:
        self._ray = _ray()
        self._began = not self._ray.is_initialized()
        if self._began:
            self._connect(address)
        gpu = task.device.startswith("cuda")
        # Ray shows an actor its own GPU and no other, under the number 0.
        self._task = replace(task, device="cuda:0") if gpu else task
        self._needs = {"num_cpus": task.threads or 1, "num_gpus": int(gpu)}
        free = self._ray.cluster_resources()
        room = int(free.get("GPU", 0)) if gpu else int(free.get("CPU", 0)) // (task.threads or 1)
        self.count = min(count or room, most)
        if self.count < 1:
            self.close()
            raise WorkerError(
                say("The cluster has no {0} for a worker.", "GPU" if gpu else "CPU"),
                remedy=say("Name another device, or start machines for it."),
            )
        self._actors: dict[int, Any] = {}
        self._asked: dict[Any, int] = {}

    def start(self, worker: int) -> None:
        """Ask the cluster for an actor; it starts where there is room."""
        kind = self._ray.remote(**self._needs, max_restarts=0, max_task_retries=0)(Actor)
        self._actors[worker] = kind.remote()
        self._ask(worker, WORK.call(Desk.open_run, (worker, self._task), {}))

    def give(self, worker: int, number: int) -> None:
        """Let a worker replay a segment."""
        self._ask(worker, WORK.call(Desk.replay, (number,), {}))

    def wait(self, seconds: float) -> list[Message]:
        """Return what the workers said."""
        if not self._asked:
            time.sleep(seconds)
            return []
        asked = list(self._asked)
        done, _ = self._ray.wait(asked, num_returns=len(asked), timeout=seconds)
        return [self._answer(answer, self._asked.pop(answer)) for answer in done]

    def close(self) -> None:
        """End the actors, and leave the cluster unless somebody else had joined it."""
        for actor in getattr(self, "_actors", {}).values():
            with suppress(Exception):  # one that is gone already
                self._ray.kill(actor)
        self._actors = {}
        if self._began:
            self._ray.shutdown()
            self._began = False

    def _ask(self, worker: int, call: Call) -> None:
        self._asked[self._actors[worker].carry_out.remote(encode(call))] = worker

    def _connect(self, address: str) -> None:
        try:
            _knock(address)
            # Ray lets the workers import from the folder that one is in here, where files of strangers lie.
            with _own_signals(), chdir(os.path.abspath(os.sep)):
                self._ray.init(address=address, log_to_driver=False, logging_level="ERROR", configure_logging=False)
        except (ConnectionError, OSError, RuntimeError, ValueError, AssertionError) as error:
            raise WorkerError(
                say("The Ray cluster {0} cannot be reached.", address),
                remedy=say("Start one with: ray start --head, or give the address of another."),
                detail=str(error),
            ) from error

    def _answer(self, answer: Any, worker: int) -> Message:
        try:
            data = self._ray.get(answer)
        except Exception as error:  # the actor or its machine is gone, or Ray cannot read what it said
            return Died(worker, _end_of(error, self._ray.exceptions))
        return read_answer(data, worker)


def read_answer(data: object, worker: int) -> Message:
    """Read what an actor said; one that says anything but the answer to what it was asked is as good as dead."""
    said: list[Message] = []
    try:
        if type(data) is not bytes or len(data) > WORKER.says:
            raise FormError("no message")
        take(worker, said.append, data)
    except ValueError:
        return Died(worker, "an answer that is no message")
    return said[0] if len(said) == 1 and not isinstance(said[0], StepDone) else Died(worker, "another answer")


def _end_of(error: Exception, exceptions: Any) -> Sentence:
    """How an actor ended, as Ray says it; an error of another class comes from the actor's machine."""
    if isinstance(error, getattr(exceptions, "OutOfMemoryError", ())):
        return say("its machine is short of memory")
    if getattr(exceptions, type(error).__name__, None) is type(error):
        return say("Ray lost it or its machine")
    return say("an error that is none of Ray's")


def _knock(address: str) -> None:
    """Look whether anybody listens at ``host:port``: Ray itself tries for minutes; raises OSError or ValueError."""
    _, _, place = address.rpartition("://")
    host, colon, port = place.rpartition(":")
    if colon:
        socket.create_connection((host.strip("[]"), int(port)), KNOCK_SECONDS).close()


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep what a request to end does here: Ray would let it end the process in the middle of anything."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise WorkerError(
            say("Ray is not installed."),
            remedy=say("Install it here and on the machines: pip install counterfoil[cluster]"),
        ) from error
    return ray
