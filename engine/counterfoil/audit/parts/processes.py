"""Workers in processes of this machine, one for each device or for some of its cores."""

from __future__ import annotations

import queue
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, cast

from counterfoil.audit.parts.frames import Replay, Start, Task, receive, send
from counterfoil.audit.parts.partfile import Died, Message, Said
from counterfoil.talk.programs import program_command, program_environment
from counterfoil_core.base.errors import WorkerError
from counterfoil_core.base.sentence import say

_WORKER = "counterfoil.audit.parts.worker"


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    reader: threading.Thread


class Processes:
    """Workers in processes; each ends with this one.

    Args:
        tasks: What each worker opens.
        command: What starts a worker; that of this program unless given.
    """

    def __init__(self, tasks: Sequence[Task], command: Sequence[str] = ()) -> None:
        self._tasks = tasks
        self._command = command or program_command(_WORKER)
        self._said: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._workers: dict[int, _Worker] = {}

    @property
    def count(self) -> int:
        """Number of workers."""
        return len(self._tasks)

    def process_id(self, worker: int) -> int:
        """The id of a worker's process."""
        return self._workers[worker].process.pid

    def start(self, worker: int) -> None:
        """Start a process; raises WorkerError when the system has no room for one."""
        if worker in self._workers:
            _end(self._workers.pop(worker))
            self._forget(worker)
        try:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                env=program_environment(),
            )
        except OSError as error:
            raise WorkerError(
                say("No process can be started for worker {0}: {1}.", worker, error.strerror or error),
                remedy=say("Ask for fewer workers."),
            ) from error
        reader = threading.Thread(target=self._listen, args=(worker, process), daemon=True)
        self._workers[worker] = _Worker(process, reader)
        self._send(worker, Start(worker, self._tasks[worker - 1]))
        reader.start()

    def give(self, worker: int, number: int) -> None:
        """Let a worker replay a segment."""
        self._send(worker, Replay(number))

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
        with suppress(queue.Empty):
            waiting = []
            try:
                while True:
                    waiting.append(self._said.get_nowait())
            finally:
                for message in waiting:
                    if message.worker != worker:
                        self._said.put(message)

    def close(self) -> None:
        """End the processes at once: they only read."""
        for one in self._workers.values():
            one.process.kill()
        for one in self._workers.values():
            _end(one)
        self._workers.clear()

    def _send(self, worker: int, message: Start | Replay) -> None:
        # Where nobody reads any more, the thread that listens says so.
        with suppress(OSError, ValueError):
            send(cast("BinaryIO", self._workers[worker].process.stdin), message)

    def _listen(self, worker: int, process: subprocess.Popen[bytes]) -> None:
        answers = cast("BinaryIO", process.stdout)
        try:
            while (message := receive(answers, Said)) is not None:
                if message.worker == worker:
                    self._said.put(message)
        except (OSError, ValueError):
            process.kill()
        self._said.put(Died(worker, how_ended(process.wait())))


def _end(one: _Worker) -> None:
    one.process.kill()
    one.process.wait()
    one.reader.join()
    for pipe in (one.process.stdin, one.process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def how_ended(code: int) -> str:
    """Say how a process ended, in a few words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
