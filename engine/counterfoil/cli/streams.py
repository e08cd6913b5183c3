"""The streams of a command's process, when whoever reads them has read enough, or there is no room for them."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Any


class _Kept(io.FileIO):
    """A stream of the process; what is written when nobody reads any more goes nowhere, and is no error."""

    trouble: OSError | None = None
    """Why the rest of what was printed is lost, other than that nobody reads it."""

    def write(self, data: Any) -> int:
        """Write bytes; returns how many were taken."""
        try:
            return super().write(data)
        except OSError as error:
            if not isinstance(error, BrokenPipeError):
                self.trouble = error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return len(data)


_KEPT: list[_Kept] = []
"""Streams of this process, standard output first."""


def outlive_readers() -> None:
    """Let this process go on when whoever reads its output has read enough (``counterfoil audit ... | head -1``).

    So it does where a disk is full, which :func:`lost_output` says in the end. A command's work is not in what it
    prints: it comes to its end and writes its files.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        try:
            descriptor = stream.fileno()
        except (AttributeError, OSError):
            # There is no stream, or it is no file of the system's: no pipe that could be closed.
            continue
        stream.flush()
        raw = _Kept(descriptor, "wb", closefd=False)
        _KEPT.append(raw)
        within: Any = io.BufferedWriter(raw) if isinstance(stream.buffer, io.BufferedWriter) else raw
        kept = io.TextIOWrapper(
            within, stream.encoding, stream.errors, None, stream.line_buffering, stream.write_through
        )
        setattr(sys, name, kept)


def lost_output() -> OSError | None:
    """Write out what is still to be printed; returns why some of it was lost, None where all is printed or unread."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # there is none, or it is closed
            stream.flush()
    return next((kept.trouble for kept in _KEPT if kept.trouble is not None), None)
