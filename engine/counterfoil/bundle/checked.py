"""A file of ours that may come from a stranger: opened once, checked by the guard, and read through the same handle."""

from __future__ import annotations

import hashlib
import math
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from counterfoil.bundle._hdf5 import DTYPES, FAILURES, FILE_TYPES, access_properties, h5d, h5f, h5s, reading
from counterfoil.bundle.guard import BUNDLE, HEADER_BYTES, FileKind, check_file, check_header
from counterfoil.cancel import CancelToken
from counterfoil.commit.digest import Digest
from counterfoil.errors import BundleError

BLOCK_BYTES = 8 * 2**20
"""How much of a long column is held in memory at a time."""

Array = NDArray[Any]
Progress = Callable[[int, int], None]
"""Called with what is done and the total."""


class CheckedFile:
    """An open file that passed the guard; use it as a context manager, from one thread.

    Attributes:
        KIND: What kind of file it must be.
        path: Where the file lies.
        file_bytes: Its size.
    """

    KIND: ClassVar[FileKind] = BUNDLE
    path: Path
    file_bytes: int

    def __init__(self, path: Path, handle: BinaryIO, file: Any, file_bytes: int) -> None:
        """Check an open file. ``handle`` and ``file`` are the same file, open for reading twice."""
        self.path = path
        self.file_bytes = file_bytes
        self._handle = handle
        self._file = file
        self._inventory = check_file(file, file_bytes, kind=self.KIND)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a file for reading and check its structure.

        The file is not changed, and it is not locked.

        Raises:
            BundleError: The file cannot be read, is of another kind, or breaks a rule of docs/bundle-format.md.
        """
        path = Path(path)
        handle = _open_plain(path)
        try:
            file_bytes = os.fstat(handle.fileno()).st_size
            with reading("the start of the file"):
                check_header(handle.read(HEADER_BYTES), cls.KIND)
            with reading(f"the structure of the {cls.KIND.name}"):
                properties = access_properties()
                file = h5f.open(os.fsencode(path), h5f.ACC_RDONLY, properties)
            try:
                if not os.path.samestat(os.fstat(handle.fileno()), os.fstat(file.get_vfd_handle(properties))):
                    raise BundleError("The file was replaced by another one while it was opened.")
                return cls(path, handle, file, file_bytes)
            except BaseException:
                _close_file(file)
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
        _close_file(self._file)
        self._handle.close()

    def file_digest(self, cancel: CancelToken | None = None, progress: Progress | None = None) -> Digest:
        """Return the SHA-256 of the whole file, as it is open here.

        Raises:
            BundleError: The file cannot be read to its end.
            CancelledError: The token was cancelled.
        """
        digest = hashlib.sha256()
        buffer = memoryview(bytearray(BLOCK_BYTES))
        done = 0
        with reading(f"the {self.KIND.name}"):
            self._handle.seek(0)
        while True:
            if cancel:
                cancel.check()
            with reading(f"the {self.KIND.name}"):
                count = self._handle.readinto(buffer)  # type: ignore[attr-defined]
            if not count:
                break
            digest.update(buffer[:count])
            done += count
            if progress:
                progress(done, self.file_bytes)
        return Digest(digest.digest())

    def _read(self, path: str, first: int | None = None, count: int = 0) -> Array:
        """Read a dataset, or ``count`` rows of it from ``first``."""
        info = self._inventory.datasets.get(path)
        if info is None:
            raise BundleError(f"The {self.KIND.name} lacks {path}.")
        shape = info.shape if first is None else (count, *info.shape[1:])
        with reading(path):
            dataset = h5d.open(self._file, path.encode())
            space = dataset.get_space()
            if space.get_simple_extent_dims() != info.shape:
                raise BundleError(f"{path} changed its shape while the file was open.")
            array = np.empty(shape, DTYPES[info.dtype])
            if array.size and first is None:
                dataset.read(h5s.ALL, h5s.ALL, array, FILE_TYPES[info.dtype])
            elif array.size:
                space.select_hyperslab((first, *(0 for _ in shape[1:])), shape)
                dataset.read(h5s.create_simple(shape), space, array, FILE_TYPES[info.dtype])
        if info.dtype == "bool":
            if array.size and int(array.max()) > 1:
                raise BundleError(f"{path} holds a truth value that is neither 0 nor 1.")
            return array.view(np.bool_)
        return array

    def _pieces(self, path: str, cancel: CancelToken | None) -> Iterator[memoryview]:
        """Yield a dataset's bytes, little-endian and in C order, some rows at a time; raises CancelledError between."""
        info = self._inventory.datasets[path]
        if not info.shape:
            yield bytes_of(self._read(path))
            return
        rows = max(1, BLOCK_BYTES // max(1, row_bytes(info.dtype, info.shape)))
        for first in range(0, info.shape[0], rows):
            if cancel:
                cancel.check()
            yield bytes_of(self._read(path, first, min(rows, info.shape[0] - first)))


def bytes_of(array: Array) -> memoryview:
    """Return the bytes of an array that was read, as they lie in the file."""
    return array.reshape(-1).view(np.uint8).data


def row_bytes(dtype: str, shape: tuple[int, ...]) -> int:
    """Return the size of one row, which is one index of the first axis."""
    return DTYPES[dtype].itemsize * math.prod(shape[1:])


def _open_plain(path: Path) -> BinaryIO:
    """Open a regular file; opening a pipe or a device could wait for ever."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise BundleError(f"{path.name} is not a file.")
        return path.open("rb")
    except FileNotFoundError as error:
        raise BundleError(f"There is no file {path}.", detail=str(error)) from error
    except (OSError, ValueError) as error:
        raise BundleError(f"{path} cannot be read.", remedy="Check that you may read it.", detail=str(error)) from error


def _close_file(file: Any) -> None:
    # Closing a file that was only read loses nothing; on a damaged one libhdf5 may complain once more.
    with suppress(*FAILURES):
        file.close()
