"""What a file of rows holds, and where such rows stand in an array; docs/locate.md."""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from counterfoil_core.base.arrays import Array
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import GivenFileError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say

MOST_ROW_BYTES = 2**28
"""Bytes of a file of rows that is read."""


def read_rows(path: Path) -> Array:
    """Read a ``.npy`` file, format 1.0 or 2.0, strictly: what it claims to hold is what it holds, and numbers alone.

    Raises:
        GivenFileError: It is no such file, or longer than ``MOST_ROW_BYTES``.
    """
    data = read_input(path, say("a file of rows"), GivenFileError, most=MOST_ROW_BYTES)
    stream = io.BytesIO(data)
    try:
        version = npy.read_magic(stream)
        header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = header(stream)
        if version not in ((1, 0), (2, 0)) or fortran or dtype.kind not in "biuf":
            raise ValueError("another version, order or kind of elements")
        if math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
            raise ValueError("another size than the header says")
        return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape)
    except Exception as error:  # numpy parses a header as Python, and lets errors of the tokenizer through
        raise GivenFileError(
            say("{0} is no .npy file of numbers.", path.name),
            remedy=say("Write the row with numpy.save, in C order, in dtype and shape as the order has it."),
            detail=str(error),
        ) from error


def fit_rows(given: Array, dtype: str, shape: tuple[int, ...]) -> Array | None:
    """Return rows as they would stand in an array, ``[rows, *shape]``; None where they are of another dtype or shape.

    Args:
        given: One row, or rows along the first axis.
        dtype: Dtype name of the array.
        shape: Shape of a row of it.
    """
    if given.dtype.name != dtype or shape not in (given.shape, given.shape[1:]):
        return None
    return given.reshape(-1, *shape) if given.shape[1:] == shape and given.ndim == len(shape) + 1 else given[None]


def row_bytes(rows: Array) -> npt.NDArray[np.uint8]:
    """Return the little-endian bytes of each row in C order: uint8 ``[rows, bytes]``."""
    little = np.ascontiguousarray(rows.astype(rows.dtype.newbyteorder("<"), copy=False))
    return little.reshape(len(rows), -1).view(np.uint8) if little.size else np.zeros((len(rows), 0), np.uint8)


def digests_of(rows: Array) -> list[Digest]:
    """Return the SHA-256 of the little-endian bytes of each row."""
    return [Digest.of(row.tobytes()) for row in row_bytes(rows)]


def places_of(pieces: Iterator[Array], wanted: Sequence[Digest]) -> list[tuple[int, ...]]:
    """Find where rows stand in an array.

    Args:
        pieces: The array's rows in order, some at a time: ``[rows, *shape]``.
        wanted: SHA-256 of the bytes of each row that is looked for.

    Returns:
        For each its places, from 0, ascending.
    """
    places: dict[bytes, list[int]] = {digest.value: [] for digest in wanted}
    first = 0
    for piece in pieces:
        rows = row_bytes(piece)
        width = rows.shape[1]
        data = rows.reshape(-1).data if rows.size else memoryview(b"")
        for number in range(len(rows)):
            found = places.get(hashlib.sha256(data[number * width : (number + 1) * width]).digest())
            if found is not None:
                found.append(first + number)
        first += len(rows)
    return [tuple(places[digest.value]) for digest in wanted]
