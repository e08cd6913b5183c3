"""What the system says about itself when it fails, told apart from what a file or a program does wrong.

A damaged file is refused. A disk that cannot be read, a network share that is gone, or a machine without memory says
nothing about the file, so it ends in an :class:`~counterfoil_core.base.errors.ObstacleError`.
"""

from __future__ import annotations

import errno

from counterfoil_core.base.errors import FileChangedError, FileReadError, MemoryShortageError
from counterfoil_core.base.sentence import say

_NAMES = (
    "EIO", "ENXIO", "ENODEV", "ENOTCONN", "ETIMEDOUT", "ESTALE", "EHOSTDOWN", "EHOSTUNREACH", "ENETDOWN", "ENETUNREACH",
    "ENETRESET", "ECONNRESET", "ECONNABORTED", "ECONNREFUSED", "EREMOTEIO", "ENOLINK", "ECOMM", "EPROTO", "ENOMEDIUM",
    "ESHUTDOWN", "EKEYEXPIRED", "EKEYREVOKED",
)  # fmt: skip
_OF_THE_SYSTEM = frozenset(getattr(errno, name) for name in _NAMES if hasattr(errno, name))
"""Error numbers that no content of a file brings about; others, such as EINVAL, follow from a damaged offset too."""


def read_failure(what: str, error: BaseException) -> FileReadError | MemoryShortageError | None:
    """Return the obstacle that an exception met while reading stands for; None when the file may be at fault.

    Args:
        what: What was being read, for the sentence.
        error: The exception.
    """
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return memory_shortage(f"{type(error).__name__} while reading {what}: {error}")
    if isinstance(error, OSError) and error.errno in _OF_THE_SYSTEM:
        return FileReadError(
            say("The system failed to read {0}, which says nothing about the file itself.", what),
            remedy=say("Check the disk or the network share, or copy the file to another disk, and start again."),
            detail=f"{type(error).__name__}: {error}",
        )
    return None


def file_changed(name: str, what: str) -> FileChangedError:
    """Return the error that says that a part of a file is no longer what was checked.

    Args:
        name: The file's name.
        what: The part.
    """
    return FileChangedError(
        say("The file {0} changed while it was read: {1} is not what it was before.", name, what),
        remedy=say("Copy the file to a place where nobody else writes to it, and start again with the copy."),
    )


def memory_shortage(detail: str) -> MemoryShortageError:
    """Return the error that says that this machine is short of memory."""
    return MemoryShortageError(
        say("This machine has too little memory left for the job."),
        remedy=say("Close other programs, use fewer threads or another device, or take a machine with more memory."),
        detail=detail,
    )
