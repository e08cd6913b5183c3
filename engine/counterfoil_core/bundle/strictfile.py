"""A file that may come from a stranger: opened once, its structure checked, and read through the same handle.

Nothing but this package reads it: no library parses a byte of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

import numpy as np

from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.dtypes import tensor_bytes
from counterfoil_core.base.errors import BundleError, CounterfoilError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.hdf5.format import DTYPES, DatasetInfo
from counterfoil_core.bundle.hdf5.source import ByteSource
from counterfoil_core.bundle.hdf5.walk import StoredDataset, walk
from counterfoil_core.bundle.kind import BUNDLE, FileKind, check_mark
from counterfoil_core.bundle.openfile import OpenFile
from counterfoil_core.bundle.steady import SteadyFile, bundle_errors
from counterfoil_core.commit.state import StreamedDigest, tensor_digest

BLOCK_BYTES = 8 * 2**20
"""How much of a long column is held in memory at a time."""

OnProgress = Callable[[int, int], None]
"""Called with what is done and the total."""


class CheckedFile:
    """An open file whose structure was checked; use it as a context manager, from one thread."""

    KIND: ClassVar[FileKind] = BUNDLE  #: What kind of file it must be.
    file: OpenFile  #: Its bytes.
    path: Path  #: Where the file lies.
    file_bytes: int  #: Its size.

    def __init__(self, file: OpenFile) -> None:
        """Check a file that is open for reading.

        Raises:
            BundleError: It is of another kind, or breaks a rule of docs/bundle-format.md.
            ObstacleError: It changed since it was hashed, or the system fails to read it.
        """
        self.file = file
        self.path = file.path
        self.file_bytes = file.size
        self._inventory = walk(ByteSource(file.read, file.size, file.ahead), self.KIND.name)
        check_mark(self._inventory.attributes, self.KIND)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a file for reading and check its structure.

        The file is not changed, and it is not locked.

        Raises:
            BundleError: The file is of another kind, or breaks a rule of docs/bundle-format.md.
            GivenFileError: There is no such file, or it may not be read.
            ObstacleError: It changed meanwhile, or the system fails to read it.
        """
        return cls.over(SteadyFile.open(path))

    @classmethod
    def over(cls, file: OpenFile) -> Self:
        """Check the structure of a file that is open, and is closed where that fails; raises as :meth:`open`."""
        try:
            return cls(file)
        except BundleError as error:
            # A file that is still being copied looks damaged.
            with file:
                file.stand_by(error)
            raise
        except BaseException:
            file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def stand_by(self, error: CounterfoilError) -> None:
        """Check that what was found in the file may be held against it; raises as :meth:`OpenFile.stand_by`."""
        self.file.stand_by(error)

    def close(self) -> None:
        """Close the file; calling it twice does no harm."""
        self.file.close()

    def _read(self, path: str, first: int | None = None, count: int = 0, into: Array | None = None) -> Array:
        """Read a dataset, or ``count`` rows of it from ``first``; ``into``, if given, takes the values as stored."""
        stored = self._stored(path)
        info, offset = stored
        shape = info.shape
        if first is not None:
            if not 0 <= first <= first + count <= shape[0]:
                raise BundleError(
                    say("{0} has {1} rows, and not those from {2} to {3}.", path, shape[0], first, first + count)
                )
            offset += first * row_bytes(info.dtype, shape)
            shape = (count, *shape[1:])
        with bundle_errors(path):
            # Zeros that nobody looks at take no memory.
            new = np.zeros if stored.left_out else np.empty
            array = new(shape, DTYPES[info.dtype]) if into is None else into
        if not stored.left_out:
            self.file.read_into(offset, bytes_of(array), path)
        elif into is not None:
            into.fill(0)
        if info.dtype == "bool":
            if array.size and int(array.max()) > 1:
                raise BundleError(say("{0} holds a truth value that is neither 0 nor 1.", path))
            return array.view(np.bool_)
        return array

    def _ahead(self, paths: Iterable[str]) -> None:
        """Take note that some datasets will be read one behind the other."""
        stored = [self._stored(path) for path in paths]
        self.file.ahead([(each.offset, each.info.data_bytes) for each in stored if not each.left_out])

    def _stored(self, path: str) -> StoredDataset:
        stored = self._inventory.find(path)
        if stored is None:
            raise BundleError(say("The {0} lacks {1}.", self.KIND.name, path))
        return stored

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
        with bundle_errors(path):
            array = np.empty(info.shape, DTYPES[info.dtype])
        digest = StreamedDigest(name, info.dtype, info.shape)
        for first, count in _row_blocks(info, cancel):
            digest.add(bytes_of(self._read(path, first, count, into=array[first : first + count])))
        return array.view(np.bool_) if info.dtype == "bool" else array, digest.finish()[0]


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
    return tensor_bytes(dtype, shape[1:])
