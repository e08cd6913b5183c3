"""Parts of a page that are measured, and that a program replaces: what stands between two markers."""

from __future__ import annotations

from pathlib import Path

from counterfoil.base.errors import DataError
from counterfoil.base.wholefiles import write_whole

MEASURED = "measured"
"""The name of the only measured part of a page."""


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
