"""The step table as CSV (RFC 4180), for a spreadsheet or a plot."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import fields
from enum import Enum
from itertools import islice

from counterfoil.base.wholefiles import whole_file
from counterfoil_core.base.sentence import say
from counterfoil_core.values.steptable import StepRow, StepTable

_ROWS_AT_ONCE = 1000


def write_steps_csv(steps: StepTable, path: str | os.PathLike[str]) -> None:
    """Write one line for each step that has a row, under a line with the names of :class:`StepRow`'s attributes.

    Digests are hexadecimal digits, and empty where there is none; losses and seconds are decimal text that reads back
    exactly.

    Raises:
        FileWriteError: The file cannot be written; one that lay there is still the same.
    """
    names = [column.name for column in fields(StepRow)]
    left = steps.rows()
    with whole_file(path, what=say("the table of steps")) as file:
        file.write(_lines([names]))
        while some := list(islice(left, _ROWS_AT_ONCE)):
            file.write(_lines([_text(getattr(row, name)) for name in names] for row in some))


def _lines(rows: Iterable[Sequence[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _text(value: object) -> str:
    return "" if value is None else str(value.value if isinstance(value, Enum) else value)
