"""Examines this machine: asks each part of it, and makes its page of what was seen."""

from __future__ import annotations

import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from typing import IO, cast

from counterfoil.doctor.findings import MachinePage, facts_of
from counterfoil.doctor.looking import look_at_system
from counterfoil.doctor.seen import Broken, Loaded, Seen, SelfTest
from counterfoil.talk.frames import read_frame
from counterfoil.talk.messages import FormError, decode
from counterfoil.talk.programs import program_command, program_environment
from counterfoil_core.base.cancel import CancelToken, check_cancelled
from counterfoil_core.base.sentence import joined, say

FAMILIES = 4
"""How many self-tests there are for a device."""
DISPLAY = "counterfoil_app.desktop.display"
PROGRAMS = (("sandbox", "counterfoil.doctor.closing"), ("kernels", "counterfoil.doctor.probing"), ("display", DISPLAY))
"""The processes that look at a part, and the part that they look at."""
_LOOK_SECONDS = 0.1
_MOST_BYTES = 2**20
_LAST_LINES = 3


@dataclass(frozen=True)
class MachineProgress:
    """How far the examination is.

    Attributes:
        done: Parts that were looked at.
        total: All parts, as far as they are known.
        part: What it is at, in a few words.
    """

    done: int
    total: int
    part: str


def examine_machine(cancel: CancelToken | None = None) -> Iterator[MachineProgress | MachinePage]:
    """Look at this machine and test it; the last value is its page.

    It works, and says so, where torch, numba or Qt are missing or broken: what may end a process is looked at by
    another.

    Args:
        cancel: Ends it.

    Raises:
        CancelledError: It was cancelled.
    """
    cancel = cancel or CancelToken()
    total, done = 1 + len(PROGRAMS) + FAMILIES, 0
    yield MachineProgress(done, total, say("versions and folders"))
    seen: list[Seen] = [look_at_system()]
    titles = {"sandbox": say("sandbox"), "kernels": say("devices, kernels and self-tests"), "display": say("display")}
    with cancel.looked_at():
        for part, program in PROGRAMS:
            done += 1
            yield MachineProgress(done, total, titles[part])
            for each in _asked(part, program):
                seen.append(each)
                if isinstance(each, Loaded):
                    total += FAMILIES * (len(each.devices) - 1)
                if isinstance(each, SelfTest):
                    done += 1
                    yield MachineProgress(done, total, say("self-test of {0}", each.profile))
    yield MachinePage(facts_of(seen))


def _asked(part: str, program: str) -> Iterator[Seen]:
    """Yield what a process says of a part; raises CancelledError."""
    if program == DISPLAY and find_spec("counterfoil_app") is None:
        yield Broken(part, say("the window is not installed"), missing=True)
        return
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                program_command(program),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                # Else numpy starts threads when it is loaded, and the box binds none that were there before.
                env=program_environment(OPENBLAS_NUM_THREADS="1"),
            )
        except OSError as error:
            yield Broken(part, say("no process can be started: {0}", error.strerror or error))
            return
        try:
            yield from _said(process, part)
            code = process.wait()
        finally:
            process.kill()
            process.wait()
            cast("IO[bytes]", process.stdout).close()
        if code:
            errors.seek(0)
            last = errors.read(_MOST_BYTES).decode("utf-8", "replace").strip().splitlines()[-_LAST_LINES:]
            how = (
                say("its process was ended by signal {0}", -code)
                if code < 0
                else say("its process ended with {0}", code)
            )
            yield Broken(part, joined(how, " ".join(last), between=": "))


def _said(process: subprocess.Popen[bytes], part: str) -> Iterator[Seen]:
    said: SimpleQueue[bytes | None] = SimpleQueue()

    def hear() -> None:
        stream = cast("IO[bytes]", process.stdout)
        with suppress(OSError, ValueError):  # it is closed when nobody waits any more
            while (frame := read_frame(stream, _MOST_BYTES)) is not None:  # type: ignore[arg-type]
                said.put(frame)
        said.put(None)

    threading.Thread(target=hear, daemon=True).start()
    while True:
        check_cancelled()
        try:
            frame = said.get(timeout=_LOOK_SECONDS)
        except Empty:
            continue
        if frame is None:
            return
        try:
            yield decode(frame, Seen)
        except FormError as error:
            yield Broken(part, str(error))
            return
