"""What the pages of measurements have in common: where it was measured, tables, and the parts that are written anew.

A measured part of a page stands between two markers; a program replaces what is between them. Prose is the page's own.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from counterfoil.base.wholefiles import write_whole
from counterfoil_core.base.errors import DataError

_Row = TypeVar("_Row")
MEASURED = "measured"
"""The name of the only measured part of a page."""


def machine_name(device: str = "cpu") -> str:
    """Return the name of the machine that measured, in words."""
    if device != "cpu":
        import torch

        return torch.cuda.get_device_name(device)
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return f"{line.split(':', 1)[1].strip()}, {os.cpu_count()} cores"
    except OSError:
        return f"{platform.machine()}, {os.cpu_count()} cores"
    return f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def today() -> str:
    """Return the day."""
    return datetime.now(UTC).date().isoformat()


def origin(threads: int | None = None, device: str = "cpu") -> str:
    """Say on what machine something was measured, with which versions, and when."""
    held = "" if threads is None else f", {threads} thread{'s' if threads > 1 else ''}"
    load = f", load {os.getloadavg()[0]:.1f} at the end" if hasattr(os, "getloadavg") else ""
    versions = f"torch {version('torch')}, Python {platform.python_version()}"
    return f"{machine_name(device)}{held}; {versions}, {today()}{load}."


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tabulated(rows: Iterable[_Row], columns: Mapping[str, str | Callable[[_Row], object]]) -> str:
    """Return a table of one kind of row as Markdown.

    Args:
        rows: What each line is of.
        columns: By head, what stands there: of the row, or a format of the values that a row names.
    """

    def cell(row: Any, column: str | Callable[[_Row], object]) -> str:
        return column.format(**row) if isinstance(column, str) else str(column(row))

    return markdown(list(columns), [[cell(row, column) for column in columns.values()] for row in rows])


def one_line(text: str) -> str:
    """Return a text as a cell of a table can have it."""
    return text.replace("\n", " ").replace("|", "/")


def paragraphs(*parts: str) -> str:
    """Return what there is of some parts, one below the other."""
    return "\n\n".join(filter(None, parts))


def size(count: float) -> str:
    """A number of bytes in words, in powers of 1000 as the paper has them."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}" if count < 999.5 * factor else f"{count / factor:,.0f} {unit}"
    return f"{count:.0f} bytes"


def duration(seconds: float) -> str:
    """A time in words."""
    if seconds != seconds:
        return "-"
    if seconds >= 120:
        return f"{seconds / 60:.3g} min"
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"


def markers(name: str) -> tuple[str, str]:
    """Return the two lines around the part of a name."""
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def between(page: str, name: str) -> str:
    """Return what stands between the markers of a name.

    Raises:
        DataError: The page does not have each of the two markers once, in order.
    """
    return _cut(page, name)[1]


def replaced_between(page: str, name: str, text: str) -> str:
    """Return the page with another text between the markers of a name.

    Raises:
        DataError: The page does not have each of the two markers once, in order.
    """
    before, _, after = _cut(page, name)
    begin, end = markers(name)
    return f"{before}{begin}\n{text.strip()}\n{end}{after}"


def write_between(page: Path, name: str, text: str) -> None:
    """Replace what stands between the markers of a page.

    Raises:
        DataError: The page does not have each of the two markers once, in order.
        FileWriteError: It cannot be written.
    """
    whole = replaced_between(page.read_text(encoding="utf-8"), name, text)
    write_whole(page, whole.encode(), what="the page")


def _cut(page: str, name: str) -> tuple[str, str, str]:
    begin, end = markers(name)
    before, _, rest = page.partition(begin)
    inside, _, after = rest.partition(end)
    if page.count(begin) != 1 or page.count(end) != 1 or end in before:
        raise DataError(
            f"The page does not have the lines {begin} and {end}, each once.",
            remedy="Put them where the measured part belongs.",
        )
    return before, inside.strip(), after
