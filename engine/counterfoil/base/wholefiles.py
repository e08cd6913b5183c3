"""The one way in which a file of the user's is written: whole, or not at all.

What is written goes to a temporary file beside its target, with a name of a fixed form. It is put in place when all of
it is on the disk: under the target's name there is either the new file or what was there before, whatever happens.
While a temporary file is written it is locked, so that one that nobody writes any more can be told apart and removed.
"""

from __future__ import annotations

import errno
import io
import logging
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from counterfoil.base.joberrors import TargetExistsError
from counterfoil_core.base.errors import FileWriteError
from counterfoil_core.base.sentence import say

if os.name == "posix":
    import fcntl

LEFTOVER_SECONDS = 24 * 60 * 60
"""Age from which a temporary file that nobody writes counts as left behind."""

_LOG = logging.getLogger("counterfoil")
_TOLD_BEFORE_PLACING: ContextVar[Callable[[Path, Path], None] | None] = ContextVar("told_before_placing", default=None)
_MARK_BYTES = 8
_MARK = re.compile(rf"[0-9a-f]{{{2 * _MARK_BYTES}}}")
_SUFFIX = ".part"
_COPIED = 2**20
"""Bytes that are copied at a time."""
_LONGEST_NAME = 255
_NO_LINKS = frozenset(
    getattr(errno, name) for name in ("EPERM", "ENOSYS", "EOPNOTSUPP", "ENOTSUP", "EMLINK") if hasattr(errno, name)
)
_UNITS = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))

_NO_ROOM = {
    "ENOSPC": say("the disk is full"),
    "EDQUOT": say("your quota of the disk is used up"),
    "EFBIG": say("the file is larger than is allowed there"),
}
_REASONS = {
    **_NO_ROOM,
    "EACCES": say("you do not have permission to write there"),
    "EPERM": say("the system does not allow it"),
    "EROFS": say("the disk is read-only"),
    "ENOENT": say("there is no such folder"),
    "ENOTDIR": say("there is no such folder"),
    "EISDIR": say("there is a folder of this name"),
    "ENAMETOOLONG": say("the name is too long"),
    "EIO": say("the disk reports an error"),
}
_WORDS = {getattr(errno, name): words for name, words in _REASONS.items() if hasattr(errno, name)}
_FULL = frozenset(getattr(errno, name) for name in _NO_ROOM if hasattr(errno, name))


class Placer(Protocol):
    """Puts in place what this process wrote, where it may not do so itself: it is in a box."""

    def staging(self, path: Path) -> Path | None:
        """Return the folder in which a file is written that is for ``path``; None where it is written beside it."""

    def place(self, part: Path, path: Path, what: str, replace: bool) -> None:
        """As :func:`put_in_place`, of what lies in such a folder: a file, or a folder of files."""

    def open_log(self, path: Path, new: bool) -> int:
        """As :func:`open_log`."""

    def remove_leftovers(self, path: Path) -> tuple[Path, ...]:
        """As :func:`remove_leftovers`."""


_placer: Placer | None = None


def place_by(placer: Placer) -> None:
    """Let somebody else put in place what this process writes, from now on."""
    global _placer
    _placer = placer


def write_whole(
    path: str | os.PathLike[str], data: bytes, *, what: str, mode: int = 0o666, replace: bool = True
) -> None:
    """Write a file, all of it or nothing.

    Args:
        path: Where it goes; a file that lies there stays until the new one is complete.
        data: What it holds.
        what: What it is, for the sentence when it fails: "the verdict".
        mode: Its permissions, less the process's mask.
        replace: Whether a file that lies there may be replaced.

    Raises:
        TargetExistsError: ``replace`` is false and something has the name already.
        FileWriteError: It cannot be written; nothing has changed.
    """
    check_room(Path(path).parent, len(data), what)
    with whole_file(path, what=what, mode=mode, replace=replace) as file:
        file.write(data)


def copy_whole(
    source: str | os.PathLike[str], path: str | os.PathLike[str], *, what: str, replace: bool = True
) -> None:
    """Copy a file, all of it or nothing.

    Args:
        source: The file.
        path: Where the copy goes; a file that lies there stays until the copy is complete.
        what: What it is, for the sentence when it fails.
        replace: Whether a file that lies there may be replaced.

    Raises:
        TargetExistsError, FileWriteError: As :func:`write_whole`; FileWriteError also where the source cannot be read.
    """
    with write_errors(Path(source), what):
        file = open(source, "rb")  # noqa: SIM115 - closed below
    with file:
        check_room(Path(path).parent, os.fstat(file.fileno()).st_size, what)
        with whole_file(path, what=what, replace=replace) as copy:
            shutil.copyfileobj(file, copy, _COPIED)


@contextmanager
def whole_file(
    path: str | os.PathLike[str], *, what: str, mode: int = 0o666, replace: bool = True
) -> Iterator[BinaryIO]:
    """Write a file piece by piece; it lies under its name when the block is left without an exception.

    What the file's ``write`` is given is written at once and whole.

    Args:
        path: Where it goes; a file that lies there stays until the block is left.
        what: What it is, for the sentence when it fails.
        mode: Its permissions, less the process's mask.
        replace: Whether a file that lies there may be replaced.

    Yields:
        The file, open for writing.

    Raises:
        TargetExistsError, FileWriteError: As :func:`write_whole`.
    """
    path = Path(path)
    check_target(path, what=what, replace=replace)
    remove_leftovers(path)
    part = part_path(path)
    with write_errors(path, what):
        file = _Part(part, mode, path, what)
    try:
        with file:
            yield file
            with write_errors(path, what):
                os.fsync(file.fileno())
        put_in_place(part, path, what=what, replace=replace)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise


class _Part(io.FileIO):
    """A new temporary file, locked; not buffered, so that what fails fails where it is written."""

    def __init__(self, part: Path, mode: int, path: Path, what: str) -> None:
        super().__init__(part, "xb", opener=lambda name, flags: os.open(name, flags, mode))
        lock(self.fileno())
        self._path = path
        self._what = what

    def write(self, data: Any, /) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        with write_errors(self._path, self._what):
            while rest:
                rest = rest[super().write(rest) :]
        return size


def open_log(path: Path, *, new: bool) -> int:
    """Open a file that grows while it is read; returns the descriptor, for writing at its end.

    Args:
        path: The file.
        new: Whether there must be none.

    Raises:
        OSError: It cannot be opened; FileExistsError where there is one.
    """
    if _placer is not None:
        return _placer.open_log(path, new)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_EXCL if new else 0), 0o666)


@contextmanager
def claim_file(path: Path) -> Iterator[None]:
    """Let nobody else who claims a file write it while the block runs.

    A locked file ``.NAME.claim`` beside it says so; one that a killed process left behind claims nothing. Where none
    can be made, in a folder that cannot be written, nothing is claimed: the writing says what is wrong.

    Raises:
        FileWriteError: Another process is going to write the file.
    """
    try:
        claim, handle = _claim(path)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):
            claim.unlink(missing_ok=True)
        os.close(handle)


def _claim(path: Path) -> tuple[Path, int]:
    claim = path.with_name(f"{_part_stem(path)}claim")
    while True:
        handle = os.open(claim, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        if not lock(handle):
            os.close(handle)
            raise FileWriteError(
                say("Another process is going to write {0}.", path),
                remedy=say("Wait until it has ended, or give another name."),
            )
        # Whoever had the claim before may have removed its name between the two calls.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), claim.lstat()):
                return claim, handle
        os.close(handle)


def same_file(first: Path, second: Path) -> bool:
    """Whether two names are those of one file, links and second names included, or would be once it exists."""
    try:
        return first.samefile(second)
    except OSError:  # one of them does not exist
        return os.path.normcase(os.path.realpath(first)) == os.path.normcase(os.path.realpath(second))


def check_apart(targets: Sequence[Path], inputs: Sequence[Path]) -> None:
    """Check that no file is written over one that is read, and no two into one.

    Raises:
        FileWriteError: Two of them are the same file.
    """
    for number, target in enumerate(targets):
        for source in inputs:
            if same_file(target, source):
                raise FileWriteError(
                    say("{0} would be written over {1}, which is read.", target, source),
                    remedy=say("Choose another name."),
                )
        if any(same_file(target, other) for other in targets[:number]):
            raise FileWriteError(
                say("Two files would both be written to {0}.", target), remedy=say("Choose another name.")
            )


# For those who write a file by other means: the same names, the same checks, the same sentences.


def check_target(path: Path, *, what: str, replace: bool = True) -> None:
    """Check that a file can be written, before work that would be lost.

    Args:
        path: Where a file is to go.
        what: What it is, for the sentence.
        replace: Whether a file that lies there may be replaced.

    Raises:
        TargetExistsError, FileWriteError: As :func:`write_whole`, for what can be known without writing.
    """
    with write_errors(path, what):
        if not stat.S_ISDIR(path.parent.stat().st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(path.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        try:
            found = path.stat()
        except FileNotFoundError:
            return
    if stat.S_ISDIR(found.st_mode):
        reason = say("that is a folder")
    elif not stat.S_ISREG(found.st_mode):
        reason = say("that is not a regular file")
    elif not replace:
        raise _exists(path, what)
    else:
        return
    raise FileWriteError(
        say("{0:capital} cannot be written to {1}: {2}.", what, path, reason), remedy=say("Give the name of a file.")
    )


def check_room(folder: str | os.PathLike[str], needed_bytes: int, what: str) -> None:
    """Check that a disk has room, before work that would be lost.

    Args:
        folder: A folder on the disk; one that does not exist, or a disk that does not say, is left to the writing.
        needed_bytes: How much will be written.
        what: What will be written, for the sentence.

    Raises:
        FileWriteError: There is too little room.
    """
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return
    # Some network drives say that they hold nothing at all.
    if usage.total and usage.free < needed_bytes:
        raise FileWriteError(
            say(
                "There is no room for {0} in {1}: it needs {2}, and {3} are free.",
                what,
                folder,
                _size(needed_bytes),
                _size(usage.free),
            ),
            remedy=say("Make room there, or choose another folder."),
        )


def part_path(path: Path) -> Path:
    """Return a new name for the temporary file of ``path``: ``.NAME.HEX.part`` beside it, or in its staging folder."""
    name = f"{_part_stem(path)}{secrets.token_hex(_MARK_BYTES)}{_SUFFIX}"
    folder = None if _placer is None else _placer.staging(path)
    return path.with_name(name) if folder is None else folder / name


def lock(descriptor: int) -> bool:
    """Mark an open file as being written, until it is closed; returns False when somebody else has marked it.

    On systems without such locks, and on network drives that know none, it does nothing and returns True.
    """
    if os.name == "posix":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
    return True


@contextmanager
def notice_placements(tell: Callable[[Path, Path], None]) -> Iterator[None]:
    """Tell of each file that is put in place within the block, before it has its name: the part, and the target.

    What is noted of a file after it has its name is lost where the process is killed between the two.
    """
    token = _TOLD_BEFORE_PLACING.set(tell)
    try:
        yield
    finally:
        _TOLD_BEFORE_PLACING.reset(token)


def put_in_place(part: Path, path: Path, *, what: str, replace: bool = True) -> None:
    """Give a temporary file, closed and on the disk, the name of its target, and wait until the name is on the disk.

    Args:
        part: The temporary file, on the disk of its target; or a folder, which may replace an empty one.
        path: The target.
        what: What it is, for the sentence.
        replace: Whether a file that lies there may be replaced.

    Raises:
        TargetExistsError: ``replace`` is false and something has the name already.
        FileWriteError: The system does not let it; the temporary file is still there.
    """
    tell = _TOLD_BEFORE_PLACING.get()
    if tell is not None:
        tell(part, path)
    if _placer is not None and _placer.staging(path) is not None:
        _placer.place(part, path, what, replace)
        return
    with write_errors(path, what):
        if stat.S_ISDIR(part.lstat().st_mode):
            sync_folder(part)
            with suppress(FileNotFoundError):
                path.rmdir()  # an empty one, whose place this takes
            part.rename(path)
        elif replace:
            part.replace(path)
        else:
            try:
                _place_new(part, path)
            except FileExistsError as error:
                raise _exists(path, what) from error
        sync_folder(path.parent)


def _place_new(part: Path, path: Path) -> None:
    """Rename without replacing; raises FileExistsError."""
    if os.name != "posix":
        part.rename(path)
        return
    try:
        os.link(part, path, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without links: who creates the name owns it, and may replace what lies there.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        part.replace(path)
    else:
        part.unlink()


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power loss, where the folder can be opened.

    Not on Windows, nor where a user may write into a folder and not read it: the file lies there, whole.
    """
    if os.name == "posix":
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_folder(folder: Path) -> None:
    """Remove an empty folder; one in which a process in a box writes stays, empty, until the process has ended.

    Raises:
        OSError: There is something in it, or the system does not let it.
    """
    if _placer is None:
        folder.rmdir()
    elif any(folder.iterdir()):
        raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))


def remove_leftovers(path: Path) -> tuple[Path, ...]:
    """Remove temporary files of a target that a killed process left behind more than a day ago.

    Only ordinary files of this user with exactly the name that :func:`part_path` gives are touched, and none that is
    being written.

    Returns:
        Those that were removed.
    """
    if _placer is not None:
        return _placer.remove_leftovers(path)
    stem = _part_stem(path)
    removed = []
    try:
        names = [entry.name for entry in os.scandir(path.parent) if entry.name.startswith(stem)]
    except OSError:
        return ()
    for name in sorted(names):
        if name.endswith(_SUFFIX) and _MARK.fullmatch(name[len(stem) : -len(_SUFFIX)]):
            part = path.with_name(name)
            with suppress(OSError):
                if _remove_leftover(part):
                    removed.append(part)
                    _LOG.info("removed %s, left behind by a process that was stopped", part)
    return tuple(removed)


def _remove_leftover(part: Path) -> bool:
    if not _is_leftover(part.lstat()):
        return False
    if os.name != "posix":
        # A file that is open cannot be removed here.
        part.unlink()
        return True
    handle = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not _is_leftover(os.fstat(handle)):
            return False
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        part.unlink()
    finally:
        os.close(handle)
    return True


def _is_leftover(found: os.stat_result) -> bool:
    ours = os.name != "posix" or found.st_uid == os.geteuid()
    return stat.S_ISREG(found.st_mode) and ours and time.time() - found.st_mtime > LEFTOVER_SECONDS


@contextmanager
def write_errors(path: Path, what: str) -> Iterator[None]:
    """Turn what the operating system raises inside the block into a FileWriteError of one sentence."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise write_error(path, what, error) from error


def write_error(path: Path, what: str, error: BaseException) -> FileWriteError:
    """Return the error that says why a file cannot be written.

    Args:
        path: The file.
        what: What it is: "the verdict".
        error: What was raised; only its number is shown, and its text goes into the detail.
    """
    number = error.errno if isinstance(error, OSError) else None
    words = _WORDS.get(number, "") if number is not None else ""
    if not words and number is not None:
        words = os.strerror(number)
    if number in _FULL:
        remedy = say("Make room there, or choose another folder.")
    elif number in (errno.ENOENT, errno.ENOTDIR):
        remedy = say("Make the folder, or choose another.")
    else:
        remedy = say("Choose another folder, or another name.")
    return FileWriteError(
        say("{0:capital} cannot be written to {1}: {2}.", what, path, words or say("the system failed")),
        remedy=remedy,
        detail=f"{type(error).__name__}: {error}",
    )


def _exists(path: Path, what: str) -> TargetExistsError:
    return TargetExistsError(
        say("{0:capital} cannot be written to {1}: there is a file of this name.", what, path),
        remedy=say("Choose another name."),
    )


def _part_stem(path: Path) -> str:
    """Return what the names of all temporary files of a target begin with, cut to what a file's name can hold."""
    room = _LONGEST_NAME - len(f"..{_SUFFIX}") - 2 * _MARK_BYTES
    name = os.fsencode(path.name)
    return f".{path.name if len(name) <= room else name[:room].decode('utf-8', 'ignore')}."


def _size(size: int) -> str:
    for unit, factor in _UNITS:
        if size >= factor:
            return say("{0:.1f} {1}", size / factor, unit)
    return say("{0} bytes", size)
