"""The streams of a command's process, when whoever reads them has read enough."""

from __future__ import annotations

import io
import os
import sys
from typing import Any


class _Kept(io.FileIO):
    """A stream of the process; what is written when nobody reads any more goes nowhere, and is no error."""

    def write(self, data: Any) -> int:
        """Write bytes; returns how many were taken."""
        try:
            return super().write(data)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return len(data)


def outlive_readers() -> None:
    """Let this process go on when whoever reads its output has read enough (``counterfoil audit ... | head -1``).

    A command's work is not in what it prints: it comes to its end, writes its files and has its exit code.
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
        within: Any = io.BufferedWriter(raw) if isinstance(stream.buffer, io.BufferedWriter) else raw
        kept = io.TextIOWrapper(
            within, stream.encoding, stream.errors, None, stream.line_buffering, stream.write_through
        )
        setattr(sys, name, kept)
