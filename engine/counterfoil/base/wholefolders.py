"""A folder that is written whole, or not at all: its files go into a temporary one beside it, which then gets its name.

A process that is killed leaves the temporary folder behind, under a name of the form that
:func:`counterfoil.base.wholefiles.part_path` gives.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from counterfoil.base.joberrors import TargetExistsError
from counterfoil.base.wholefiles import part_path, put_in_place, write_errors
from counterfoil_core.base.sentence import say


def check_new_folder(path: Path, what: str) -> None:
    """Check that a folder can be made, before work that would be lost; an empty one may be there.

    Args:
        path: The folder.
        what: What it is, for the sentence.

    Raises:
        TargetExistsError: Something else has the name.
        FileWriteError: The folder around it does not exist, or cannot be read.
    """
    with write_errors(path, what):
        if not os.path.lexists(path):
            if not os.access(path.parent, os.R_OK):
                os.listdir(path.parent)  # which says why not
            return
        if not path.is_symlink() and path.is_dir() and not any(path.iterdir()):
            return
    raise TargetExistsError(
        say("{0:capital} cannot be written to {1}: there is something of this name.", what, path),
        remedy=say("Give the name of a new folder."),
    )


@contextmanager
def whole_folder(path: Path, *, what: str) -> Iterator[Path]:
    """Make a folder; it has its name when the block is left without an exception, and is gone if it is left by one.

    Args:
        path: The folder.
        what: What it is, for the sentence when it fails.

    Yields:
        The temporary folder, in which the block puts the files, each whole and on the disk.

    Raises:
        TargetExistsError, FileWriteError: As :func:`check_new_folder`; also where the system does not let it.
    """
    check_new_folder(path, what)
    part = part_path(path)
    with write_errors(path, what):
        part.mkdir()
    try:
        yield part
        put_in_place(part, path, what=what)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
