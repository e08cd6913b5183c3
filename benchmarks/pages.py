"""What the pages of measurements have in common: the line that says where, and the part that a command replaces."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import torch

from counterfoil.benchmark.paper import machine_name


def origin(threads: int | None = None, device: str = "cpu") -> str:
    """Say on what machine something was measured, with which versions, and when."""
    held = "" if threads is None else f", {threads} thread{'s' if threads > 1 else ''}"
    load = f", load {os.getloadavg()[0]:.1f} at the end" if hasattr(os, "getloadavg") else ""
    today = datetime.now(UTC).date().isoformat()
    return (
        f"{machine_name(device)}{held}; torch {torch.__version__}, Python {platform.python_version()}, {today}{load}."
    )


def replace_part(page: Path, name: str, text: str) -> None:
    """Put a text between ``<!-- name: begin -->`` and ``<!-- name: end -->``.

    Raises:
        ValueError: The page has no such part.
    """
    start, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    whole = page.read_text(encoding="utf-8")
    if whole.count(start) != 1 or whole.count(end) != 1:
        raise ValueError(f"{page} needs one {start} and one {end}")
    before, rest = whole.split(start)
    after = rest.split(end)[1]
    page.write_text(f"{before}{start}\n{text.strip()}\n{end}{after}", encoding="utf-8")


def markdown(heads: list[str], rows: list[list[str]]) -> str:
    """Return a table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
