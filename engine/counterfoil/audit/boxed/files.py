"""The files that a call names, for which a box is opened, and those in the folder that both sides share."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from counterfoil.base.seal import state_home
from counterfoil_core.base.errors import ObstacleError
from counterfoil_core.base.sentence import say

# Folders that a process in a box shares with whoever started it.

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


KEPT_NAME = "kept"
"""The progress whose capsule lies beside it, in the folder that both sides share."""
CAPSULE_NAME = "dispute.cfoil"
PART_NAME = "segments.part"
_OUTSIDE = "progress"
"""The field that names what the process in the box does not reach itself."""


def paths_in(value: Any) -> Iterator[Path]:
    """Yield the paths in a value, the place of progress apart."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from paths_in(each)
    elif is_dataclass(value):
        for field in fields(value):
            if field.name != _OUTSIDE:
                yield from paths_in(getattr(value, field.name))


def absolute(value: Any) -> Any:
    """Return the same with absolute paths."""
    if isinstance(value, Path):
        return Path(os.path.abspath(value))
    if isinstance(value, tuple):
        return tuple(map(absolute, value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: absolute(getattr(value, field.name)) for field in fields(value)})
    return value
