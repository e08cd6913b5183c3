"""Where a script asks for the truth of a value that nobody knows: it goes on with no, and a copy of it with yes.

The copy is a forked process that follows the script for two more steps and tells what these were. Where they are those
of the script itself the answer made no difference; else the training hangs on a value, and an order cannot say how.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256

from counterfoil.training.following.layout import Made

STEPS = 2
"""So many steps are compared."""
_SECONDS = 120.0
"""So long a copy may take for them."""
_MOST = 1 << 20


@dataclass(frozen=True)
class Told:
    """What a copy told.

    Attributes:
        steps: Digests of its steps.
        ended: How it ended before it had made as many as are compared; empty if it did not.
    """

    steps: tuple[str, ...]
    ended: str


@dataclass(frozen=True)
class Copy:
    """A copy of the script that was answered yes.

    Attributes:
        place: File and line of the question.
        begins: How many steps were made before.
        process: Its process.
        pipe: What it tells is read there.
    """

    place: str
    begins: int
    process: int
    pipe: int

    def told(self) -> Told | None:
        """Return what it told; None where it told nothing in time."""
        found, until = b"", time.monotonic() + _SECONDS
        try:
            while len(found) < _MOST:
                ready, _, _ = select.select([self.pipe], [], [], max(0.0, until - time.monotonic()))
                piece = os.read(self.pipe, 65536) if ready else b""
                if not piece:
                    break
                found += piece
            told = json.loads(found)
            return Told(tuple(map(str, told["steps"])), str(told["ended"]))
        except (ValueError, KeyError, TypeError):
            return None
        finally:
            self.end()

    def end(self) -> None:
        """End the process."""
        with suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.pipe)


class Inside:
    """The copy's own side: tells what its steps were, and ends.

    Args:
        pipe: Is written to.
        begins: How many steps were made before.
    """

    def __init__(self, pipe: int, begins: int) -> None:
        self._pipe = pipe
        self._begins = begins

    def tell(self, made: Sequence[Made], keys: Sequence[str], ended: str = "") -> None:
        """End the process once as many steps were made as are compared, or the script has ended."""
        steps = [digest(step, keys) for step in made[self._begins : self._begins + STEPS]]
        if len(steps) < STEPS and not ended:
            return
        os.write(self._pipe, json.dumps({"steps": steps, "ended": ended if len(steps) < STEPS else ""}).encode())
        os._exit(0)


def fork(place: str, begins: int) -> Copy | Inside | None:
    """Make a copy of the script; None where this system cannot.

    Args:
        place: File and line of the question.
        begins: How many steps were made before.

    Returns:
        The copy, to the script itself; the copy's own side, to the copy.
    """
    if not hasattr(os, "fork"):
        return None
    sys.stdout.flush()
    sys.stderr.flush()
    reads, writes = os.pipe()
    process = os.fork()
    if process:
        os.close(writes)
        return Copy(place, begins, process, reads)
    os.close(reads)
    # Nothing of it is shown, whatever stands for its output.
    nothing = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stdout = sys.stderr = nothing
    os.dup2(nothing.fileno(), 1)
    os.dup2(nothing.fileno(), 2)
    return Inside(writes, begins)


def digest(step: Made, keys: Sequence[str]) -> str:
    """Return what tells two steps of a script and of its copy apart: program, tensors brought along, numbers, calls.

    Args:
        step: The step.
        keys: What tells the script's different steps apart.
    """
    brought = [(item.kind, item.rows) for item in step.brought]
    return sha256(repr((keys[step.variant], brought, step.numbers, step.rates)).encode()).hexdigest()
