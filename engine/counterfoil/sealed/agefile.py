"""What a file in the format of age is known by, and the library that reads and writes it.

The format: C2SP, "The age file encryption format" (age-encryption.org/v1). The library is pyrage, which is rage, the
implementation in Rust; it comes with the extra ``sealing``.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from pathlib import Path
from typing import Any

from counterfoil_core.base.errors import CounterfoilError, GivenFileError
from counterfoil_core.base.inputs import open_input
from counterfoil_core.base.sentence import say

SUFFIX = ".age"
"""How the name of a sealed file ends."""
MAGIC = b"age-encryption.org/v1\n"
ARMORED = b"-----BEGIN AGE ENCRYPTED FILE-----"
"""How the same begins as text; files are sealed as bytes, keys with a passphrase as text."""
MOST_HEADER_BYTES = 2**16
"""A header that names a judge has 120 bytes for each; more than this is not given to the library."""
_HEADER_END = b"\n--- "
_LIBRARY = "pyrage"


def name_within(name: str) -> str:
    """Return the name of what was sealed: that of the sealed file without ``.age``."""
    return name.removesuffix(SUFFIX) or name


def can_seal() -> bool:
    """Whether the library for sealed files is installed."""
    return importlib.util.find_spec(_LIBRARY) is not None


def library() -> Any:
    """Return the library; raises CounterfoilError where it is not installed."""
    try:
        return importlib.import_module(_LIBRARY)
    except ImportError as error:
        raise CounterfoilError(
            say("Sealed files need a library that is not installed: {0}.", _LIBRARY),
            remedy=say(
                "Install it: pip install 'counterfoil[sealing]'. The program age opens a sealed file too: {0}",
                "age --decrypt -i judge.key -o dispute.cfoil dispute.cfoil.age",
            ),
            detail=str(error),
        ) from error


def is_sealed(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a sealed one does; nothing of it is checked beyond that.

    Raises:
        GivenFileError: There is no such file, or it may not be read.
        ObstacleError: The system fails to read it.
    """
    with open_input(path, say("a file"), GivenFileError) as file:
        return file.read(len(MAGIC)) == MAGIC


def check_header(path: Path) -> None:
    """Check that a file has the header of a sealed one, of a size that a library may be given.

    Raises:
        GivenFileError: It has not; or there is no such file, or it may not be read.
    """
    with open_input(path, say("a sealed file"), GivenFileError) as file:
        head = file.read(MOST_HEADER_BYTES)
    if head.startswith(ARMORED):
        raise GivenFileError(
            say("{0} is a sealed file that was turned into text.", path.name),
            remedy=say("Open it with the program age, or ask for the file as it was sealed."),
        )
    if not head.startswith(MAGIC) or _HEADER_END not in head:
        raise GivenFileError(
            say("{0} is not a sealed file, or its header is damaged.", path.name), remedy=say("Ask for the file again.")
        )
