"""Folders that a process in a box shares with whoever started it."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

from counterfoil.base.seal import state_home
from counterfoil_core.base.errors import ObstacleError
from counterfoil_core.base.sentence import say

LEFTOVER_SECONDS = 7 * 24 * 60 * 60
"""Age from which a folder counts as left behind by a process that was killed."""


def make_scratch() -> Path:
    """Make a folder of this user alone, beside the progress of audits, or where the system has temporary files.

    Folders that killed processes left there a week ago are removed.

    Raises:
        ObstacleError: There is no such place.
    """
    home = state_home() / "boxes"
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder in home.iterdir():
            if time.time() - folder.stat().st_mtime > LEFTOVER_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
        return Path(tempfile.mkdtemp(dir=home))
    except OSError:
        pass
    try:
        return Path(tempfile.mkdtemp())
    except OSError as error:
        raise ObstacleError(
            say("There is no folder for the temporary files of a replay: {0}.", error.strerror or error),
            remedy=say("Set TMPDIR to a folder that can be written and has room."),
        ) from error


def remove_scratch(folder: Path) -> None:
    """Remove it with all that is in it."""
    shutil.rmtree(folder, ignore_errors=True)
