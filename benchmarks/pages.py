"""What the pages of measurements have in common: the line that says where, and tables."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime

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


def markdown(heads: list[str], rows: list[list[str]]) -> str:
    """Return a table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
