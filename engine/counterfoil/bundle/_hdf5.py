"""The only module that imports h5py, with what the writer needs of it: settings, types, and errors in our own words.

h5py only writes. What is read may come from a stranger, and goes to :mod:`counterfoil_core.bundle.hdf5` alone. It is
used through its low-level interface, so that nothing is converted on the way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# libhdf5 reads both when it is loaded, so they come before the import. "::" forbids loading filter plugins from the
# disk. File locks are of no use for files that are renamed into place when complete, and fail on some network drives.
os.environ["HDF5_PLUGIN_PRELOAD"] = "::"
os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")

from h5py import h5a, h5d, h5f, h5g, h5p, h5s, h5t

from counterfoil.base.wholefiles import write_error

__all__ = [
    "FAILURES",
    "FILE_TYPES",
    "access_properties",
    "h5a",
    "h5d",
    "h5f",
    "h5g",
    "h5p",
    "h5s",
    "h5t",
    "hdf5_write_errors",
]

FAILURES = (OSError, RuntimeError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError, MemoryError)
"""What h5py raises on full disks and wrong arguments."""

FILE_TYPES = {
    "float32": h5t.IEEE_F32LE,
    "float64": h5t.IEEE_F64LE,
    "int64": h5t.STD_I64LE,
    "int32": h5t.STD_I32LE,
    "uint8": h5t.STD_U8LE,
    "uint32": h5t.STD_U32LE,
    "uint64": h5t.STD_U64LE,
    "bool": h5t.STD_B8LE,
}
"""The HDF5 type of each numpy dtype name. A truth value is a bit field of 8 bits, 0 or 1, so that it is no integer."""


@contextmanager
def hdf5_write_errors(path: Path, what: str) -> Iterator[None]:
    """Turn everything that h5py and the operating system raise while writing into a FileWriteError.

    HDF5's own text, which has pointers and names of temporary files, goes into the detail alone.
    """
    try:
        yield
    except FAILURES as error:
        raise write_error(path, what, error) from error


def access_properties() -> h5p.PropFAID:
    """Return file access properties: one plain file, no locks, and closing the file closes all that is open in it."""
    properties = h5p.create(h5p.FILE_ACCESS)
    properties.set_fapl_sec2()
    properties.set_fclose_degree(h5f.CLOSE_STRONG)
    properties.set_libver_bounds(h5f.LIBVER_V110, h5f.LIBVER_V110)
    properties.set_file_locking(False, True)
    # Without this buffer a small write reaches the disk when it is made, and not when the dataset is closed, where an
    # error could not be reported.
    properties.set_sieve_buf_size(0)
    return properties
