"""Messages between an audit and a worker process of its own, each with its length before it."""

from __future__ import annotations

from typing import BinaryIO, TypeVar

import msgspec

from counterfoil.frames import read_frame, write_frame

MOST_BYTES = 2**30
"""Of a message: a segment of a million steps takes some 200 MB."""
T = TypeVar("T")


class Start(msgspec.Struct, frozen=True, tag=True):
    """The first message to a worker: who it is, and what it is to open, a :class:`counterfoil.audit.parts.work.Task`.

    Attributes:
        worker: Its number.
        task: The task, encoded.
    """

    worker: int
    task: bytes


class Replay(msgspec.Struct, frozen=True, tag=True):
    """Replay a segment."""

    number: int


def send(stream: BinaryIO, message: msgspec.Struct) -> None:
    """Write a message; raises OSError or ValueError where nobody reads."""
    write_frame(stream, msgspec.msgpack.encode(message))


def receive(stream: BinaryIO, kind: type[T]) -> T | None:
    """Read a message; None where the stream ends, in the middle of one too.

    Args:
        stream: A buffered stream.
        kind: The type of the message, or a union of such.

    Raises:
        msgspec.MsgspecError: It is another one.
        ValueError: It is larger than any of ours.
    """
    body = read_frame(stream, MOST_BYTES)
    return None if body is None else msgspec.msgpack.decode(body, type=kind)
