"""Opening what the user names as a file: never a pipe that waits for ever, never more bytes than a thing can have.

Whatever is read whole goes through :func:`read_input`; what is read in pieces is opened by :func:`open_input`.
"""

from __future__ import annotations

import errno
import io
import os
import stat

from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.obstacles import read_failure
from counterfoil_core.base.sentence import say

_KINDS = (
    (stat.S_ISDIR, say("a folder")),
    (stat.S_ISFIFO, say("a pipe")),
    (stat.S_ISSOCK, say("a socket")),
    (stat.S_ISCHR, say("a device")),
    (stat.S_ISBLK, say("a device")),
)
# Opening a pipe for reading waits for a writer otherwise, and reading some files of the system waits for news. A
# terminal that is opened must not become that of the process. Windows has none of these, and reads text unless told.
_FLAGS = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"):
    _FLAGS |= getattr(os, _name, 0)


class NotAFileError(OSError):
    """What stands under a name is something else than a regular file; ``strerror`` says what."""


def open_plain(path: str | os.PathLike[str]) -> io.FileIO:
    """Open a regular file for reading, unbuffered, and never wait.

    Raises:
        OSError: There is none, it is something else (NotAFileError), or it cannot be opened.
        ValueError: The path holds a zero byte.
    """
    # Before it is opened: opening a device can do something by itself, such as rewinding a tape.
    _check_regular(os.stat(path).st_mode)
    handle = os.open(path, _FLAGS)
    try:
        # And after: another one may lie there by now.
        _check_regular(os.fstat(handle).st_mode)
        return io.FileIO(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def open_input(
    path: str | os.PathLike[str], what: str, error: type[CounterfoilError], *, most: int | None = None, remedy: str = ""
) -> io.FileIO:
    """Open a regular file that somebody named, unbuffered.

    Args:
        path: Where it should lie.
        what: What it should be, for the sentence, for instance ``the verdict``.
        error: The class of the error when it cannot be used.
        most: The most bytes that it may have.
        remedy: What to advise then.

    Raises:
        CounterfoilError: Of the class ``error``: there is no such file, it is no file, it is too large, or may not be
            read.
        ObstacleError: The system fails to read it.
    """
    name = os.fspath(path)
    try:
        file = open_plain(path)
    except FileNotFoundError as missing:
        raise error(say("There is no file {0}.", name), remedy=remedy, detail=str(missing)) from missing
    except NotAFileError as other:
        raise error(
            say("{0} is {1}, where {2} should be.", name, other.strerror, what),
            remedy=remedy or say("Give the name of a file."),
        ) from other
    except (OSError, ValueError) as failure:
        raise _unreadable(name, what, error, failure) from failure
    size = os.fstat(file.fileno()).st_size
    if most is not None and size > most:
        file.close()
        raise _too_large(name, what, error, most, remedy)
    return file


def read_input(
    path: str | os.PathLike[str], what: str, error: type[CounterfoilError], *, most: int, remedy: str = ""
) -> bytes:
    """Read a regular file whole.

    Args:
        path: Where it should lie.
        what: What it should be, for the sentence, for instance ``the verdict``.
        error: The class of the error when it cannot be used.
        most: The most bytes that it may have.
        remedy: What to advise then.

    Raises:
        CounterfoilError, ObstacleError: As :func:`open_input`; also where the file grows beyond ``most`` as it is
            read.
    """
    name = os.fspath(path)
    with open_input(path, what, error, most=most, remedy=remedy) as file:
        try:
            # Not by its size: a file of the system says 0 and goes on, and one may grow.
            with io.BufferedReader(file) as buffered:
                data = buffered.read(most + 1)
            if data is None:  # a file of the system that would be waited for
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        except (OSError, MemoryError) as failure:
            raise _unreadable(name, what, error, failure) from failure
    if len(data) > most:
        raise _too_large(name, what, error, most, remedy)
    return data


def _check_regular(mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = next((kind for matches, kind in _KINDS if matches(mode)), say("no file"))
        raise NotAFileError(errno.EINVAL, kind)


def _unreadable(
    name: str, what: str, error: type[CounterfoilError], failure: OSError | ValueError | MemoryError
) -> CounterfoilError:
    obstacle = read_failure(name, failure)
    if obstacle is not None:
        return obstacle
    why = getattr(failure, "strerror", None) or failure
    return error(
        say("{0} cannot be read as {1}: {2}.", name, what, why),
        remedy=say("Check that you have permission to read it."),
        detail=repr(failure),
    )


def _too_large(name: str, what: str, error: type[CounterfoilError], most: int, remedy: str) -> CounterfoilError:
    return error(
        say("{0} is larger than {1}, too large for {2}.", name, _size(most), what),
        remedy=remedy or say("Give the name of the right file."),
    )


def _size(count: int) -> str:
    for power, unit in ((30, "GB"), (20, "MB"), (10, "kB")):
        if count >= 2**power:
            return say("{0:.3g} {1}", count / 2**power, unit)
    return say("{0} bytes", count)
