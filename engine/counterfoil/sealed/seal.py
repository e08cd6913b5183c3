"""Seals a file for judges: whole, or not at all."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from counterfoil.base.wholefiles import check_room, whole_file
from counterfoil.sealed.agefile import library
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import GivenFileError, KeyFileError
from counterfoil_core.base.inputs import open_input
from counterfoil_core.base.sentence import say

OnProgress = Callable[[int, int], None]
"""Called with the bytes that are done, and all of them."""


def check_recipients(recipients: Sequence[str]) -> list[Any]:
    """Read judges' public keys as the library has them, before work that would be lost.

    Raises:
        KeyFileError: One is damaged.
        CounterfoilError: The library is not installed.
    """
    age = library()
    try:
        return [age.x25519.Recipient.from_str(text) for text in recipients]
    except age.RecipientError as error:
        raise KeyFileError(
            say("A public sealing key is damaged: its checksum does not fit."),
            remedy=say("Ask the judge for it again."),
        ) from error


def seal_file(
    source: Path,
    target: Path,
    recipients: Sequence[str],
    *,
    replace: bool = True,
    cancel: CancelToken | None = None,
    progress: OnProgress | None = None,
) -> None:
    """Seal a file for judges.

    Args:
        source: What is sealed.
        target: Where the sealed file goes; a file that lies there stays until the new one is complete.
        recipients: The judges' public keys, one at least, of :func:`counterfoil.sealed.recipients.read_recipients`.
        replace: Whether a file that lies there may be replaced.
        cancel: Looked at between pieces.
        progress: Told how much is done.

    Raises:
        KeyFileError: A recipient is none.
        CounterfoilError: The library is not installed.
        TargetExistsError, FileWriteError: It cannot be written.
        GivenFileError, ObstacleError: The source cannot be read.
        CancelledError: The token was cancelled.
    """
    if not recipients:
        raise ValueError("a file is sealed for somebody")
    keys = check_recipients(recipients)
    what = say("the sealed file")
    with open_input(source, say("a file to seal"), GivenFileError) as file:
        size = os.fstat(file.fileno()).st_size
        check_room(target.parent, size, what)
        with (
            whole_file(target, what=what, replace=replace) as sealed,
            pass_errors(Told(file, size, cancel, progress), Kept(sealed)) as (reading, writing),
        ):
            library().encrypt_io(reading, writing, keys)


@contextmanager
def pass_errors(reading: Told, writing: Kept) -> Iterator[tuple[Told, Kept]]:
    """Let an error of the files pass through the library, which makes another of it."""
    try:
        yield reading, writing
    except Exception as error:
        failure = reading.failure or writing.failure
        if failure is None or failure is error:
            raise
        raise failure from None


class Kept(io.RawIOBase):
    """A file as the library writes it; keeps what fails.

    Args:
        file: What is written.
    """

    def __init__(self, file: BinaryIO | io.BufferedIOBase) -> None:
        super().__init__()
        self._file = file
        self.failure: Exception | None = None

    def writable(self) -> bool:
        """Return that it is."""
        return True

    def write(self, data: Any, /) -> int:
        """Write a piece."""
        try:
            return self._file.write(data)
        except Exception as error:
            self.failure = error
            raise


class Told(io.RawIOBase):
    """A file as the library reads it: it stops when it is to, says how far it is, and keeps what fails.

    Args:
        file: What is read.
        size: Its bytes.
        cancel: Looked at before each piece.
        progress: Told how much is done.
    """

    def __init__(
        self, file: io.FileIO, size: int, cancel: CancelToken | None = None, progress: OnProgress | None = None
    ) -> None:
        super().__init__()
        self._file = file
        self._size = size
        self._cancel = cancel
        self._progress = progress
        self._done = 0
        self.failure: Exception | None = None

    def readable(self) -> bool:
        """Return that it is."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """Read a piece; raises CancelledError."""
        try:
            if self._cancel is not None:
                self._cancel.check()
            data = self._file.read(size)
        except Exception as error:
            self.failure = error
            raise
        self._done += len(data)
        if self._progress is not None:
            self._progress(self._done, self._size)
        return data
