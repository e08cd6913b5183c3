"""Writes files so that nobody ever finds half of one."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from counterfoil import CounterfoilError


def write_whole(target: Path, data: bytes) -> None:
    """Write a file so that under its name there is either all of it or what was there before.

    Raises:
        CounterfoilError: It cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
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
