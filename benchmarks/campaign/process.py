"""Processes that do tasks: one that hangs or dies takes one task with it.

Each does what its standard input asks for, a line of JSON for each task, and answers each with a line.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import counterfoil
from benchmarks.campaign.task import Ended, Found, LeftOutError, Result, Task
from benchmarks.programs import environment
from counterfoil_core.base.errors import CounterfoilError

Answers = queue.Queue[tuple["Process", Result | None]]
"""What processes answer; None when one ended."""
Do = Callable[[str, str], Found]
"""Does the task of a part and a name."""


class Process:
    """A process that does one task after the other.

    Args:
        command: Starts it.
        variables: What it has in its environment beside what this process has.
        log: A file that takes what it prints.
        answers: Where its answers go.
    """

    def __init__(self, command: Sequence[str], variables: Mapping[str, str], log: Path, answers: Answers) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log: IO[str] = log.open("a", encoding="utf-8")
        self._child = subprocess.Popen(
            command,
            env=environment(**variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
            # What it starts ends with it, and Ctrl-C is for the process that watches.
            start_new_session=True,
        )
        self._answers = answers
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.variables = variables
        self.task: Task | None = None
        """What it does."""
        self.begun = 0.0
        """When it began that, by the monotonic clock."""

    def _read(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            value = json.loads(line)
            self._answers.put((self, Result(**{**value, "outcome": Ended(value["outcome"])})))
        self._answers.put((self, None))

    def begin(self, task: Task) -> None:
        """Ask for a task."""
        assert self._child.stdin is not None
        self.task, self.begun = task, time.monotonic()
        with suppress(BrokenPipeError):  # it has ended, which its reader says
            self._child.stdin.write(json.dumps(task.key) + "\n")
            self._child.stdin.flush()

    @property
    def seconds(self) -> float:
        """How long it has been at its task."""
        return time.monotonic() - self.begun

    def end(self) -> None:
        """End it, and all that it started."""
        if os.name == "posix":
            with suppress(ProcessLookupError):  # it has ended
                os.killpg(self._child.pid, signal.SIGKILL)
        else:
            self._child.kill()
        self._child.wait()
        self._reader.join()
        for stream in (self._child.stdin, self._child.stdout, self._log):
            assert stream is not None
            with suppress(BrokenPipeError):  # of a task that it never read
                stream.close()


def ended_early(task: Task, outcome: Ended, seconds: float, said: str) -> Result:
    """Return the result of a task that gave none."""
    return _dated(Result(task.part, task.name, outcome, said, round(seconds, 2)))


def _dated(result: Result) -> Result:
    date = datetime.now(UTC).date().isoformat()
    return replace(result, counterfoil=counterfoil.__version__, date=date)


def perform(do: Do, part: str, name: str) -> Result:
    """Do a task in this process; whatever goes wrong is its result."""
    import torch

    begun = time.perf_counter()
    try:
        found = do(part, name)
        result = Result(part, name, Ended.DONE, found.said, 0.0, found.values, list(found.strange))
    except LeftOutError as error:
        result = Result(part, name, Ended.LEFT_OUT, error.sentence, 0.0)
    except Exception as error:
        said = error.sentence if isinstance(error, CounterfoilError) else f"{type(error).__name__}: {error}"
        detail = "".join(traceback.format_exc()[-3000:])
        result = Result(part, name, Ended.FAILED, said[:1000], 0.0, detail=detail)
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return _dated(replace(result, seconds=round(time.perf_counter() - begun, 2), torch=str(torch.__version__)))


def serve(do: Do) -> None:
    """Do the tasks that standard input names: what a process of a campaign is."""
    # What libraries print goes to the log.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        part, name = json.loads(line)
        print(f"== {part}, {name}", file=sys.stderr, flush=True)
        print(json.dumps(asdict(perform(do, part, name))), file=answers, flush=True)
