"""Messages between an audit and a worker process of its own, each with its length before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, BinaryIO

from counterfoil.talk.frames import read_frame, write_frame
from counterfoil.talk.messages import decode, encode
from counterfoil_core.program.limits import Limits

MOST_BYTES = 2**30
"""Of a message: a segment of a million steps takes some 200 MB."""


@dataclass(frozen=True)
class Task:
    """What a worker is to open.

    Attributes:
        run: The run's file, as the worker's machine names it.
        data: The data file, for an order that keeps data outside.
        device: ``cpu`` or ``cuda:0``.
        threads: Threads on the CPU; None for torch's choice.
        limits: How large the program may be that is replayed.
        order: The client's order file, which a run may leave its initial weights to; it is not read for others.
    """

    run: str
    data: str | None = None
    device: str = "cpu"
    threads: int | None = None
    limits: Limits = field(default_factory=Limits)
    order: str | None = None


@dataclass(frozen=True)
class Start:
    """The first message to a worker.

    Attributes:
        worker: Its number.
        task: What it is to open.
    """

    worker: int
    task: Task


@dataclass(frozen=True)
class Replay:
    """Replay a segment."""

    number: int


def send(stream: BinaryIO, message: object) -> None:
    """Write a message; raises OSError or ValueError where nobody reads."""
    write_frame(stream, encode(message))


def receive(stream: BinaryIO, kind: Any) -> Any:
    """Read a message; None where the stream ends, in the middle of one too.

    Args:
        stream: A buffered stream.
        kind: The type of the message, or a union of such.

    Raises:
        ValueError: It is another one, or larger than any of ours.
    """
    body = read_frame(stream, MOST_BYTES)
    return None if body is None else decode(body, kind)
