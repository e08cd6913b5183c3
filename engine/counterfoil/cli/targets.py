"""Files that a command is going to write."""

from __future__ import annotations

from pathlib import Path

from counterfoil.base import wholefiles
from counterfoil.cli import terminal
from counterfoil.cli.terminal import markup
from counterfoil_core.base.errors import FileWriteError


def check_writable(path: Path, force: bool) -> None:
    """Refuse a file that cannot be written, before hours of work rather than after."""
    wholefiles.check_target(path, what="the file")
    if path.exists() and not force:
        raise FileWriteError(f"{path} exists already.", remedy="Choose another name, or add --force to replace it.")
    for part in wholefiles.remove_leftovers(path):
        terminal.console(stderr=True).print(
            f"Removed {markup(str(part))}, which a stopped process left behind.", soft_wrap=True
        )
