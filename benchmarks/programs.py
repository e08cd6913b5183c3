"""How the laboratory starts a process of its own: as one of its commands, wherever it is begun."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The source tree."""


def command(*arguments: str) -> list[str]:
    """Return the command that starts a process of the laboratory; its environment is :func:`environment`.

    Args:
        arguments: What ``python -m benchmarks`` takes.
    """
    return [sys.executable, "-m", "benchmarks", *arguments]


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment, in which the laboratory is found, with variables added."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path, **more}
