"""Writes files so that nobody ever finds half of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from counterfoil import CounterfoilError


def write_whole(target: Path, data: bytes) -> None:
    """Write a file so that under its name there is either all of it or what was there before.

    Raises:
        CounterfoilError: It cannot be written.
    """

    def write(path: Path) -> None:
        path.write_bytes(data)

    write_with(target, write)


def write_with(target: Path, write: Callable[[Path], None]) -> None:
    """Let a function write a file, so that under its name there is either all of it or what was there before.

    Args:
        target: Where the file goes.
        write: Writes it to the path it is given; raises OSError.

    Raises:
        CounterfoilError: It cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        os.close(handle)
        try:
            write(Path(name))
            Path(name).chmod(0o644)
            Path(name).replace(target)
        except OSError:
            with suppress(FileNotFoundError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise CounterfoilError(
            f"The file {target} could not be written: {error.strerror or error}.",
            remedy="Choose another folder, or make room there.",
        ) from error
