"""The step table as CSV (RFC 4180), for a spreadsheet or a plot."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import fields
from enum import Enum

from counterfoil.audit.events import StepRow
from counterfoil.errors import FileWriteError


def write_steps_csv(rows: Sequence[StepRow], path: str | os.PathLike[str]) -> None:
    """Write one line per step, under a line with the names of :class:`StepRow`'s attributes.

    Digests are hexadecimal digits, and empty where there is none; losses and seconds are decimal text that reads back
    exactly.

    Raises:
        FileWriteError: The file cannot be written.
    """
    names = [column.name for column in fields(StepRow)]
    try:
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(names)
            writer.writerows([_text(getattr(row, name)) for name in names] for row in rows)
    except OSError as error:
        raise FileWriteError(
            f"The step table {os.fspath(path)} cannot be written: {error.strerror or error}.",
            remedy="Choose another folder, or make room.",
        ) from error


def _text(value: object) -> str:
    return "" if value is None else str(value.value if isinstance(value, Enum) else value)
