"""What the signer and its client say to each other: frames of a kind, a length and so many bytes, over two pipes."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from counterfoil.base.joberrors import SignerError
from counterfoil_core.base.sentence import say

MAX_STATEMENT_BYTES = 48 * 2**20
"""A verdict has kilobytes; in base64 this fits into the 64 MiB that a reader of verdicts takes."""
MAX_ANSWER_BYTES = 2 * MAX_STATEMENT_BYTES
MAX_PASSPHRASE_BYTES = 4096
_LENGTH_BYTES = 4


class FrameKind(Enum):
    """What a frame is; the value is its first byte."""

    PASSPHRASE = b"P"
    """To the signer, first, if it is to come this way: UTF-8; empty for none."""
    STATEMENT = b"S"
    """To the signer: the canonical JSON of an in-toto statement."""
    READY = b"R"
    """From the signer, first: the public key as PEM."""
    ENVELOPE = b"E"
    """From the signer: a DSSE envelope around the last statement."""
    FAILURE = b"F"
    """From the signer: why not, as a JSON object of texts: error, sentence, remedy."""


MOST = {
    FrameKind.PASSPHRASE: MAX_PASSPHRASE_BYTES,
    FrameKind.STATEMENT: MAX_STATEMENT_BYTES,
    FrameKind.READY: 4096,
    FrameKind.ENVELOPE: MAX_ANSWER_BYTES,
    FrameKind.FAILURE: 2**16,
}
"""Most bytes in a frame of each kind."""


class Pipe(Protocol):
    """One end of a pipe, unbuffered: a call may take or give fewer bytes than were asked for."""

    def read(self, size: int, /) -> bytes | None:
        """Read at most ``size`` bytes; none at the end."""

    def write(self, data: memoryview, /) -> int | None:
        """Write some of the bytes, and say how many."""


def send_frame(pipe: Pipe, kind: FrameKind, body: bytes) -> None:
    """Write a frame.

    Args:
        pipe: Where it goes.
        kind: What it is.
        body: What it holds.

    Raises:
        SignerError: It is longer than its kind allows.
        OSError: Nobody reads the pipe any more.
    """
    if len(body) > MOST[kind]:
        raise SignerError(say("There are {0} bytes to sign; the signer takes {1}.", len(body), MOST[kind]))
    left = memoryview(kind.value + len(body).to_bytes(_LENGTH_BYTES, "big") + body)
    while left:
        left = left[pipe.write(left) or 0 :]


def receive_kind(pipe: Pipe) -> FrameKind | None:
    """Wait for a frame and read its kind; None when the other side has closed the pipe; raises SignerError."""
    first = pipe.read(1)
    if not first:
        return None
    try:
        return FrameKind(first)
    except ValueError as error:
        raise SignerError(say("What came through the signer's pipe is not a frame.")) from error


def receive_body(pipe: Pipe, kind: FrameKind) -> bytes:
    """Read the rest of a frame.

    Raises:
        SignerError: It says that it is longer than its kind allows, or it ends too early.
    """
    length = int.from_bytes(_exactly(pipe, _LENGTH_BYTES), "big")
    if length > MOST[kind]:
        raise SignerError(
            say("A frame of {0} bytes came through the signer's pipe; {1} are allowed.", length, MOST[kind])
        )
    return _exactly(pipe, length)


def _exactly(pipe: Pipe, count: int) -> bytes:
    pieces = []
    while count:
        piece = pipe.read(min(count, 2**20))
        if not piece:
            raise SignerError(say("A frame in the signer's pipe ends too early."))
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)
