"""A file of ours that may come from a stranger: opened once, its structure checked, and read through the same handle.

Nothing but this package reads it: no library parses a byte of it.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from counterfoil.bundle.hdf5.format import DTYPES, DatasetInfo
from counterfoil.bundle.hdf5.source import Source
from counterfoil.bundle.hdf5.walk import StoredDataset, walk
from counterfoil.bundle.kind import BUNDLE, FileKind, check_mark
from counterfoil.cancel import CancelToken
from counterfoil.commit.digest import Digest
from counterfoil.commit.state import StreamedDigest, tensor_digest
from counterfoil.errors import BundleError, FileChangedError
from counterfoil.obstacles import file_changed, read_failure

BLOCK_BYTES = 8 * 2**20
"""How much of a long column is held in memory at a time."""

Array = NDArray[Any]
Progress = Callable[[int, int], None]
"""Called with what is done and the total."""


class CheckedFile:
    """An open file whose structure was checked; use it as a context manager, from one thread.

    Attributes:
        KIND: What kind of file it must be.
        path: Where the file lies.
        file_bytes: Its size.
    """

    KIND: ClassVar[FileKind] = BUNDLE
    path: Path
    file_bytes: int

    def __init__(self, path: Path, handle: io.FileIO) -> None:
        """Check a file that is open for reading."""
        self.path = path
        self._handle = handle
        # Before anything is read: what is compared at the end.
        self._opened = os.fstat(handle.fileno())
        self.file_bytes = self._opened.st_size
        self._inventory = walk(Source(self._read_at, self.file_bytes), self.KIND.name)
        check_mark(self._inventory.attributes, self.KIND)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a file for reading and check its structure.

        The file is not changed, and it is not locked.

        Raises:
            BundleError: The file cannot be read, is of another kind, or breaks a rule of docs/bundle-format.md.
            ObstacleError: It changed meanwhile, or the system fails to read it.
        """
        path = Path(path)
        handle = _open_plain(path)
        opened = os.fstat(handle.fileno())
        try:
            return cls(path, handle)
        except BundleError as error:
            # A file that is still being copied looks damaged.
            with handle:
                if _looks(os.fstat(handle.fileno())) != _looks(opened):
                    raise file_changed(path.name, f"the {cls.KIND.name}") from error
            raise
        except BaseException:
            handle.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; calling it twice does no harm."""
        self._handle.close()

    def file_digest(self, cancel: CancelToken | None = None, progress: Progress | None = None) -> Digest:
        """Return the SHA-256 of the whole file, as it is open here.

        Raises:
            BundleError: The file cannot be read to its end.
            FileChangedError: It is not what it was when it was opened.
            CancelledError: The token was cancelled.
        """
        digest = self._hash(cancel, progress)
        self.check_unchanged()
        return digest

    def _hash(self, cancel: CancelToken | None = None, progress: Progress | None = None) -> Digest:
        digest = hashlib.sha256()
        buffer = memoryview(bytearray(BLOCK_BYTES))
        done = 0
        with reading(f"the {self.KIND.name}"):
            self._handle.seek(0)
        while True:
            if cancel:
                cancel.check()
            with reading(f"the {self.KIND.name}"):
                count = self._handle.readinto(buffer)
            if not count:
                break
            digest.update(buffer[:count])
            done += count
            if progress:
                progress(done, self.file_bytes)
        return Digest(digest.digest())

    def check_unchanged(self, digest: Digest | None = None) -> None:
        """Check that the open file is still what it was when it was opened.

        Size and times are compared. Where they differ and ``digest`` is given, the file is hashed again, so that one
        that was only touched or renamed passes.

        Args:
            digest: What :meth:`file_digest` gave for this open file.

        Raises:
            FileChangedError: It changed.
            FileReadError: The system cannot tell.
        """
        with reading(f"the {self.KIND.name}"):
            now = os.fstat(self._handle.fileno())
        same = _looks(now) == _looks(self._opened)
        if digest is not None and now.st_size == self.file_bytes:
            # The owner of a file can put its time of change back, but not the time at which it did so.
            same = (same and now.st_ctime_ns == self._opened.st_ctime_ns) or self._hash() == digest
        if not same:
            raise self.changed(f"the {self.KIND.name}")

    def changed(self, what: str) -> FileChangedError:
        """Return the error that says that a part of the file is no longer what was checked."""
        return file_changed(self.path.name, what)

    def _read(self, path: str, first: int | None = None, count: int = 0, into: Array | None = None) -> Array:
        """Read a dataset, or ``count`` rows of it from ``first``; ``into``, if given, takes the values as stored."""
        info, offset = self._stored(path)
        shape = info.shape
        if first is not None:
            if not 0 <= first <= first + count <= shape[0]:
                raise BundleError(f"{path} has {shape[0]} rows, and not those from {first} to {first + count}.")
            offset += first * row_bytes(info.dtype, shape)
            shape = (count, *shape[1:])
        with reading(path):
            array = np.empty(shape, DTYPES[info.dtype]) if into is None else into
            left = bytes_of(array)
            if left:
                self._handle.seek(offset)
            while left:
                done = self._handle.readinto(left)
                if not done:
                    raise self.changed(path)
                left = left[done:]
        if info.dtype == "bool":
            if array.size and int(array.max()) > 1:
                raise BundleError(f"{path} holds a truth value that is neither 0 nor 1.")
            return array.view(np.bool_)
        return array

    def _stored(self, path: str) -> StoredDataset:
        stored = self._inventory.find(path)
        if stored is None:
            raise BundleError(f"The {self.KIND.name} lacks {path}.")
        return stored

    def _read_at(self, offset: int, count: int) -> bytes:
        with reading(f"the structure of the {self.KIND.name}"):
            self._handle.seek(offset)
            return self._handle.read(count)

    def _pieces(self, path: str, cancel: CancelToken | None) -> Iterator[memoryview]:
        """Yield a dataset's bytes, little-endian and in C order, some rows at a time; raises CancelledError between."""
        info = self._stored(path).info
        if not info.shape:
            yield bytes_of(self._read(path))
            return
        for first, count in _row_blocks(info, cancel):
            yield bytes_of(self._read(path, first, count))

    def _load(self, name: str, path: str, cancel: CancelToken | None) -> tuple[Array, Digest]:
        """Read a dataset into memory, and digest as the tensor ``name`` the very bytes that are returned.

        Raises CancelledError between pieces.
        """
        info = self._stored(path).info
        if not info.shape:
            whole = self._read(path)
            return whole, tensor_digest(name, whole)
        with reading(path):
            array = np.empty(info.shape, DTYPES[info.dtype])
        digest = StreamedDigest(name, info.dtype, info.shape)
        for first, count in _row_blocks(info, cancel):
            digest.add(bytes_of(self._read(path, first, count, into=array[first : first + count])))
        return array.view(np.bool_) if info.dtype == "bool" else array, digest.finish()[0]


def settled_digest(path: str | os.PathLike[str], before: os.stat_result | None) -> Digest | None:
    """Return the SHA-256 of a file that could not be opened as one of ours.

    Args:
        path: The file.
        before: What :func:`os.stat` said of it before that; None when it said nothing.

    Returns:
        None when there is no file that can be read, or it changed since then: a verdict must not name another file
        than the one that was looked at.
    """
    try:
        digest, after = Digest.of_file(path), os.stat(path)
    except (OSError, ValueError):
        return None
    same = before is not None and os.path.samestat(before, after) and _looks(before) == _looks(after)
    return digest if same else None


def stat_of(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Return what the system says of a file; None when it says nothing."""
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def _looks(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def _row_blocks(info: DatasetInfo, cancel: CancelToken | None) -> Iterator[tuple[int, int]]:
    """Yield first row and number of rows of pieces that fit in a block; raises CancelledError between them."""
    rows = max(1, BLOCK_BYTES // max(1, row_bytes(info.dtype, info.shape)))
    for first in range(0, info.shape[0], rows):
        if cancel:
            cancel.check()
        yield first, min(rows, info.shape[0] - first)


def bytes_of(array: Array) -> memoryview:
    """Return the bytes of an array that was read, as they lie in the file."""
    return array.reshape(-1).view(np.uint8).data


def row_bytes(dtype: str, shape: tuple[int, ...]) -> int:
    """Return the size of one row, which is one index of the first axis."""
    return DTYPES[dtype].itemsize * math.prod(shape[1:])


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn what a damaged or closed file gives into a BundleError, and failures of the system into an ObstacleError."""
    try:
        yield
    except (OSError, ValueError, MemoryError) as error:
        obstacle = read_failure(what, error)
        if obstacle is not None:
            raise obstacle from error
        raise BundleError(
            f"Reading {what} failed: the file is damaged.",
            remedy="Ask for the file again.",
            detail=f"{type(error).__name__}: {error}",
        ) from error


def _open_plain(path: Path) -> io.FileIO:
    """Open a regular file; opening a pipe or a device could wait for ever."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise BundleError(f"{path.name} is not a file.")
        return path.open("rb", buffering=0)
    except FileNotFoundError as error:
        raise BundleError(f"There is no file {path}.", detail=str(error)) from error
    except (OSError, ValueError) as error:
        obstacle = read_failure(str(path), error)
        if obstacle is not None:
            raise obstacle from error
        raise BundleError(f"{path} cannot be read.", remedy="Check that you may read it.", detail=str(error)) from error
