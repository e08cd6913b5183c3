"""What processes of this program say to each other: bytes with their length before them, through two pipes."""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

_LENGTH = struct.Struct("<I")
_PIECE = 2**20
"""Bytes that are read at once: a length that somebody only claims takes no memory."""


def own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return what a process is asked through and what it answers through, and keep both from everybody else.

    What a library prints would come between the answers: it goes where errors go.
    """
    questions = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return questions, answers


def write_frame(stream: BinaryIO, body: bytes) -> None:
    """Write bytes with their length; raises OSError or ValueError where nobody reads."""
    stream.write(_LENGTH.pack(len(body)))
    stream.write(body)
    stream.flush()


def read_frame(stream: BinaryIO, most: int) -> bytes | None:
    """Read what :func:`write_frame` wrote; None where the stream ends, in the middle of it too.

    Args:
        stream: A buffered stream.
        most: The most bytes.

    Raises:
        ValueError: There are more.
    """
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > most:
        raise ValueError("a message that is too large")
    body = bytearray()
    while len(body) < length:
        piece = stream.read(min(_PIECE, length - len(body)))
        if not piece:
            return None
        body += piece
    return bytes(body)
