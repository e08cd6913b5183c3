"""Lets a process of its own carry out ``counterfoil order``, and says what that tells.

The command may run a client's own code, which may leave anything behind in its process: it is used for one order, and
reads no file of a stranger's. To stop means to ask it, and to end it where it does not listen; an order file is written
whole or not at all.
"""

from __future__ import annotations

import os
import queue
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from counterfoil.base.joberrors import OrderError
from counterfoil.cli.telling import OrderEvent, OrderProgress, OrderWritten
from counterfoil.talk.frames import read_frame, write_frame
from counterfoil.talk.messages import FormError, decode, encode
from counterfoil.talk.programs import program_command, program_environment
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, CounterfoilError
from counterfoil_core.base.sentence import say

PROGRAM = "counterfoil.cli.orderprogram"
LOOK_SECONDS = 0.05
"""How often is looked whether to stop."""
FAREWELL_SECONDS = 3.0
"""How long the process may take to end when it was asked to."""
MAX_BYTES = 2**24


@dataclass(frozen=True)
class OrderAsked:
    """What the process is to do: the arguments of ``counterfoil order``, and the folder to do it in, or none."""

    arguments: tuple[str, ...]
    folder: str


@dataclass(frozen=True)
class OrderFailed:
    """Why no order was written.

    Attributes:
        sentence: What happened and why.
        remedy: What to do next; may be empty.
        detail: For a report.
        option: The name of the option that it is about; empty where it is about none.
        stopped: Whether it was stopped.
    """

    sentence: str
    remedy: str
    detail: str
    option: str
    stopped: bool


Said = OrderProgress | OrderWritten | OrderFailed


def make_order(arguments: Sequence[str], folder: Path | None, cancel: CancelToken) -> Iterator[OrderEvent]:
    """Write an order as ``counterfoil order`` does, in a process of its own.

    Args:
        arguments: The arguments of ``counterfoil order``.
        folder: The folder to run it in; None for the present one.
        cancel: Looked at all the time.

    Yields:
        OrderProgress now and then, and at the end OrderWritten.

    Raises:
        OrderError: No order was written; says which option that is about, where it is about one.
        CancelledError: ``cancel`` was set.
        CounterfoilError: The process cannot be started, or ended before its work was done.
    """
    try:
        process = subprocess.Popen(
            program_command(PROGRAM),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            env=program_environment(),
        )
    except OSError as error:
        raise CounterfoilError(
            say("The process that writes orders cannot be started: {0}.", error.strerror or error),
            remedy=say("Close other programs, and try again."),
        ) from error
    said: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    listener = threading.Thread(target=_listen, args=(cast("BinaryIO", process.stdout), said), daemon=True)
    listener.start()
    try:
        with suppress(OSError):  # where it has ended already, what it said tells why
            asked = OrderAsked(tuple(arguments), "" if folder is None else os.fspath(folder))
            write_frame(cast("BinaryIO", process.stdin), encode(asked))
        yield from _heard(process, said, cancel)
    finally:
        _end(process)
        listener.join()


def _listen(answers: BinaryIO, said: queue.SimpleQueue[bytes | None]) -> None:
    with answers, suppress(OSError, ValueError):
        while (frame := read_frame(answers, MAX_BYTES)) is not None:
            said.put(frame)
    said.put(None)


def _heard(
    process: subprocess.Popen[bytes], said: queue.SimpleQueue[bytes | None], cancel: CancelToken
) -> Iterator[OrderEvent]:
    while True:
        cancel.check()
        try:
            frame = said.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            continue
        if frame is None:
            raise CounterfoilError(
                say("The process that writes orders ended with code {0} before its work was done.", process.wait()),
                remedy=say("Most often the machine ran out of memory. Close other programs, and try again."),
            )
        try:
            message: Said = decode(frame, Said)
        except FormError as error:
            raise CounterfoilError(
                say("What the process that writes orders said cannot be read."),
                remedy=say("The code that was ordered may have written into its pipe. Look at what it does."),
                detail=str(error),
            ) from error
        if isinstance(message, OrderFailed):
            if message.stopped:
                raise CancelledError(message.sentence)
            raise OrderError(
                say("{0}", message.sentence),
                remedy=say("{0}", message.remedy) if message.remedy else "",
                detail=message.detail,
                option=message.option,
            )
        yield message
        if isinstance(message, OrderWritten):
            return


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        cast("BinaryIO", process.stdin).close()  # which asks it to stop
    try:
        process.wait(FAREWELL_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
