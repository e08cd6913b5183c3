"""Writes an HDF5 file: to a temporary file beside its target, renamed into place when it is complete."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

import numpy as np

from counterfoil.base.wholefiles import check_room, check_target, lock, part_path, put_in_place, remove_leftovers
from counterfoil.bundle._hdf5 import (
    FAILURES,
    FILE_TYPES,
    access_properties,
    h5a,
    h5d,
    h5f,
    h5g,
    h5p,
    h5s,
    h5t,
    hdf5_write_errors,
)
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.hdf5.format import DTYPES, MOST_ZEROS
from counterfoil_core.bundle.kind import FORMAT_ATTRIBUTE, FORMAT_BYTES, FileKind
from counterfoil_core.bundle.schema import check_name

_LEAST_ZEROS = 4096
"""A tensor of fewer bytes is stored whatever it holds: its description takes a part of that."""
_ZEROS_AT_ONCE = 2**16


class FileWriter(ABC):
    """A file being written; use it as a context manager, which aborts when an exception passes.

    Until :meth:`close`, nothing lies under the target's name. Every method raises FileWriteError when the disk is full
    or cannot be written.
    """

    KIND: ClassVar[FileKind]  #: What kind of file it is.
    path: Path  #: Where it will lie.

    def __init__(self, path: Path, temporary: Path, file: Any) -> None:
        """Take over an empty HDF5 file; made by :meth:`create`."""
        self.path = path
        self._temporary = temporary
        self._file: Any = file
        self._columns: dict[str, Any] = {}

    @classmethod
    def create(cls, path: str | os.PathLike[str]) -> Self:
        """Start a file that will lie at ``path``; a file that lies there stays until :meth:`close`.

        Raises:
            FileWriteError: The folder does not exist or cannot be written to.
        """
        path = Path(path)
        what = cls.KIND.definite
        check_target(path, what=what)
        remove_leftovers(path)
        temporary = part_path(path)
        try:
            with hdf5_write_errors(path, what):
                properties = h5p.create(h5p.FILE_CREATE)
                # Nothing in a bundle keeps the time: the same contents give the same file.
                properties.set_obj_track_times(False)
                file = h5f.create(os.fsencode(temporary), h5f.ACC_EXCL, properties, access_properties())
        except BaseException:  # on a full disk the file may be there already, with nothing in it
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        writer = cls(path, temporary, file)
        try:
            with writer._writing():
                lock(file.get_vfd_handle(access_properties()))
                kind = h5t.TypeID.copy(h5t.C_S1)
                kind.set_size(FORMAT_BYTES)
                attribute = h5a.create(file, FORMAT_ATTRIBUTE, kind, h5s.create(h5s.SCALAR))
                attribute.write(np.array(cls.KIND.mark, f"S{FORMAT_BYTES}"))
        except BaseException:
            writer.abort()
            raise
        return writer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is None:
            return
        if kind is None:
            self.close()
        else:
            self.abort()

    def close(self) -> None:
        """Put the finished file in place: write everything out, wait for the disk, and rename.

        Raises:
            FileWriteError: The disk is full, or the target cannot be replaced; nothing new lies there then.
            BundleError: Something that belongs into the file was not written.
        """
        try:
            self._check_complete()
            with self._writing():
                h5f.flush(self._file)
                self._columns.clear()
                self._file.close()
                with self._temporary.open("rb+") as handle:
                    os.fsync(handle.fileno())
            put_in_place(self._temporary, self.path, what=self._what)
            self._file = None
        except BaseException:
            self.abort()
            raise

    @abstractmethod
    def _check_complete(self) -> None:
        """Raise BundleError when something that belongs into the file is missing."""

    def abort(self) -> None:
        """Give the file up and remove the temporary file."""
        if self._file is not None:
            # On a full disk the writing that closing does would fail too, and libhdf5 crashes the process at its exit
            # when a file could not be closed. What is being removed can as well be written to nowhere.
            with suppress(*FAILURES):
                _redirect_to_nowhere(self._file.get_vfd_handle(access_properties()))
                self._columns.clear()
                self._file.close()
            self._file = None
        with suppress(OSError):
            self._temporary.unlink(missing_ok=True)

    # Writing.

    @property
    def _what(self) -> str:
        return self.KIND.definite

    def _writing(self) -> AbstractContextManager[None]:
        return hdf5_write_errors(self.path, self._what)

    def _check_room(self, needed_bytes: int) -> None:
        """Raise FileWriteError when the disk has less room than what will be written."""
        check_room(self.path.parent, needed_bytes, self._what)

    def _group(self, path: str) -> None:
        with self._writing():
            properties = h5p.create(h5p.GROUP_CREATE)
            properties.set_obj_track_times(False)
            h5g.create(self._file, path.encode(), gcpl=properties)

    def _create(self, path: str, dtype: str, shape: tuple[int, ...], *, stored: bool = True) -> Any:
        """Create a contiguous dataset whose room is taken at once; or one without room, which reads as zeros."""
        with self._writing():
            properties = h5p.create(h5p.DATASET_CREATE)
            properties.set_layout(h5d.CONTIGUOUS)
            properties.set_alloc_time(h5d.ALLOC_TIME_EARLY if stored else h5d.ALLOC_TIME_LATE)
            properties.set_fill_time(h5d.FILL_TIME_NEVER if stored else h5d.FILL_TIME_IFSET)
            properties.set_obj_track_times(False)
            space = h5s.create_simple(shape) if shape else h5s.create(h5s.SCALAR)
            return h5d.create(self._file, path.encode(), FILE_TYPES[dtype], space, properties)

    def _tensors(self, group: str, state: Mapping[str, Array]) -> None:
        """Write the tensors of a state into a group; those that are all zeros are left out where that is allowed."""
        zeros = zero_tensors(state)
        for name, array in state.items():
            path = f"{group}/{check_name(name)}"
            if name in zeros:
                self._create(path, array.dtype.name, array.shape, stored=False)
            else:
                self._array(path, array, array.dtype.name, array.shape)

    def _array(self, path: str, array: Array, dtype: str, shape: tuple[int, ...]) -> None:
        check_fits(path, array, dtype, shape)
        dataset = self._create(path, dtype, shape)
        if array.size:
            plain = array.view(np.uint8) if dtype == "bool" else array
            with self._writing():
                # HDF5 wants C order; reshape keeps zero-dimensional arrays so, which ascontiguousarray does not.
                buffer = np.ascontiguousarray(plain, DTYPES[dtype]).reshape(shape)
                dataset.write(h5s.ALL, h5s.ALL, buffer, FILE_TYPES[dtype])

    def _bytes(self, path: str, data: bytes) -> None:
        self._array(path, np.frombuffer(data, np.uint8), "uint8", (len(data),))

    def _rows(self, path: str, first: int, rows: Array) -> None:
        dataset = self._columns[path]
        with self._writing():
            space = dataset.get_space()
            if rows.shape[1:] != space.get_simple_extent_dims()[1:]:
                raise BundleError(
                    say("A row of {0} has the shape {1}, which does not fit.", path, list(rows.shape[1:]))
                )
            if not rows.size:
                return
            space.select_hyperslab((first, *(0 for _ in rows.shape[1:])), rows.shape)
            dtype = rows.dtype.name
            plain = np.ascontiguousarray(rows, DTYPES[dtype])
            dataset.write(h5s.create_simple(rows.shape), space, plain, FILE_TYPES[dtype])


def check_fits(path: str, array: Array, dtype: str, shape: tuple[int, ...]) -> None:
    """Check that an array is what belongs at a place of the file.

    Args:
        path: The place, for the sentence.
        array: What goes there.
        dtype: The dtype that belongs there.
        shape: The shape.

    Raises:
        BundleError: It has another dtype or shape.
    """
    if array.dtype.name != dtype or array.shape != shape:
        raise BundleError(
            say(
                "{0} should have the dtype {1} and the shape {2}; it has {3} and {4}.",
                path,
                dtype,
                list(shape),
                array.dtype.name,
                list(array.shape),
            )
        )


def zero_tensors(state: Mapping[str, Array]) -> frozenset[str]:
    """Return which tensors of a state a file does not hold: those whose bits are all zero, as optimizers begin with.

    None, if there would be more of them than a reader takes from a file of the size of the others.
    """
    zeros = frozenset(name for name, array in state.items() if array.nbytes >= _LEAST_ZEROS and _is_zero(array))
    total, without = sum(array.nbytes for array in state.values()), sum(state[name].nbytes for name in zeros)
    return zeros if without <= MOST_ZEROS * (total - without) else frozenset()


def held_bytes(state: Mapping[str, Array]) -> int:
    """Return how many bytes of the tensors of a state a file holds."""
    zeros = zero_tensors(state)
    return sum(array.nbytes for name, array in state.items() if name not in zeros)


def _is_zero(array: Array) -> bool:
    """Whether all bits are zero: minus zero is another number."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    zeros = memoryview(bytes(min(len(data), _ZEROS_AT_ONCE)))
    # Comparing bytes is as fast as memory, and ends at the first that differs.
    pieces = (data[start : start + _ZEROS_AT_ONCE] for start in range(0, len(data), _ZEROS_AT_ONCE))
    return all(piece == zeros[: len(piece)] for piece in pieces)


def _redirect_to_nowhere(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    try:
        os.dup2(nowhere, descriptor)
    finally:
        os.close(nowhere)
