"""Commands as a test asks them in its own process: how they end, and all that they say."""

from __future__ import annotations

from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from counterfoil.cli import main

BUG = "This is a bug"
"""What is said of everything that nobody expected."""


def asked(*arguments: str | Path) -> tuple[int, str]:
    """Run a command; returns its exit code, and what it printed on both streams."""
    with StringIO() as out, redirect_stdout(out), redirect_stderr(out):
        code = main([str(each) for each in arguments])
        return code, out.getvalue()
