"""What processes of this program say to each other: bytes with their length before them, through two pipes."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import BinaryIO

_LENGTH = struct.Struct("<I")
_PIECE = 2**20
"""Bytes that are read at once: a length that somebody only claims takes no memory."""


def own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return what a process is asked through and what it answers through, and keep both from everybody else.

    What a library prints would come between the answers: it goes where errors go. Neither is buffered, since a
    passphrase would stay in a buffer.
    """
    questions = os.fdopen(os.dup(0), "rb", 0)
    answers = os.fdopen(os.dup(1), "wb", 0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return questions, answers


def write_frame(stream: BinaryIO, body: bytes) -> None:
    """Write bytes with their length; raises OSError or ValueError where nobody reads."""
    head = _LENGTH.pack(len(body))
    for part in (head + body,) if len(body) < _PIECE else (head, body):
        left = memoryview(part)
        while left:
            left = left[stream.write(left) or 0 :]
    stream.flush()


def read_frame(
    stream: BinaryIO, most: int, begun: Callable[[], AbstractContextManager[None]] = nullcontext
) -> bytes | None:
    """Read what :func:`write_frame` wrote; None where the stream ends, in the middle of it too.

    Args:
        stream: Buffered or not.
        most: The most bytes.
        begun: Entered when the first byte is there, until the last is.

    Raises:
        ValueError: There are more.
    """
    first = stream.read(1)
    if not first:
        return None
    with begun():
        rest = _exactly(stream, _LENGTH.size - 1)
        if rest is None:
            return None
        (length,) = _LENGTH.unpack(first + rest)
        if length > most:
            raise ValueError(f"a message of {length} bytes, where {most} are allowed")
        return _exactly(stream, length)


def _exactly(stream: BinaryIO, count: int) -> bytes | None:
    body = bytearray()
    while len(body) < count:
        piece = stream.read(min(_PIECE, count - len(body)))
        if not piece:
            return None
        body += piece
    return bytes(body)
