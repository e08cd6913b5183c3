"""What a file of rows holds, and which of the rows that the schedule names a program reads; docs/locate.md."""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from counterfoil.base.arrays import Array
from counterfoil.base.digest import Digest
from counterfoil.base.errors import GivenFileError
from counterfoil.base.inputs import read_input
from counterfoil.base.sentence import say
from counterfoil.operators.node import Node, Value
from counterfoil.program.graph import Program

MOST_ROW_BYTES = 2**28
"""Bytes of a file of rows that is read."""
_PICKS = frozenset(("narrow", "split", "split_with_sizes", "index_select", "unbind", "gather", "unfold", "diagonal"))
"""Operators that read some rows of a batch when they go along the first axis; which is not followed."""
_SCATTERED = frozenset(("index", "take", "masked_select", "embedding", "as_strided"))
"""Operators that read elements of which it is not followed where they stand."""


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
    except (ValueError, OverflowError) as error:
        raise GivenFileError(
            say("{0} is no .npy file of numbers.", path.name),
            remedy=say("Write the row with numpy.save, in C order, in dtype and shape as the order has it."),
            detail=str(error),
        ) from error


def fitting(given: Array, dtype: str, shape: tuple[int, ...]) -> Array | None:
    """Return rows as they would stand in an array, ``[rows, *shape]``; None where they are of another dtype or shape.

    Args:
        given: One row, or rows along the first axis.
        dtype: Dtype name of the array.
        shape: Shape of a row of it.
    """
    if given.dtype.name != dtype or shape not in (given.shape, given.shape[1:]):
        return None
    return given.reshape(-1, *shape) if given.shape[1:] == shape and given.ndim == len(shape) + 1 else given[None]


def packed(rows: Array) -> npt.NDArray[np.uint8]:
    """Return the little-endian bytes of each row in C order: uint8 ``[rows, bytes]``."""
    little = np.ascontiguousarray(rows.astype(rows.dtype.newbyteorder("<"), copy=False))
    return little.reshape(len(rows), -1).view(np.uint8) if little.size else np.zeros((len(rows), 0), np.uint8)


def digests_of(rows: Array) -> list[Digest]:
    """Return the SHA-256 of the little-endian bytes of each row."""
    return [Digest.of(row.tobytes()) for row in packed(rows)]


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
        rows = packed(piece)
        width = rows.shape[1]
        data = rows.reshape(-1).data if rows.size else memoryview(b"")
        for number in range(len(rows)):
            found = places.get(hashlib.sha256(data[number * width : (number + 1) * width]).digest())
            if found is not None:
                found.append(first + number)
        first += len(rows)
    return [tuple(places[digest.value]) for digest in wanted]


def positions_read(program: Program) -> dict[str, npt.NDArray[np.bool_]] | None:
    """Say which of the rows that the schedule names for a step its program reads; the others fill a shorter batch up.

    A program that is captured for a shorter batch first cuts the rows of the step to those that its batch has, by
    slices along the first axis (docs/bundle-format.md, section 14).

    Args:
        program: The program of a step, or of a share of one.

    Returns:
        By the name of each data array that it reads: bool ``[rows]``. None where that cannot be told, since it picks
        rows in another way than by slices with fixed ends.
    """
    uses: dict[int, list[Node]] = {}
    for node in program.nodes:
        for number in set(_values((node.args, [item for _, item in node.kwargs]))):
            uses.setdefault(number, []).append(node)
    kept = {value.number for value in program.results} | {program.loss.number}
    found: dict[str, npt.NDArray[np.bool_]] = {}
    for number, given in enumerate(program.inputs):
        if given.kind == "batch":
            read = np.zeros(given.type.shape[0], np.bool_)
            if not _mark(number, np.arange(len(read)), len(given.type.shape), read, uses, kept):
                return None
            found[given.name] = found[given.name] | read if given.name in found else read
    return found


def _mark(
    number: int,
    rows: npt.NDArray[np.int64],
    axes: int,
    read: npt.NDArray[np.bool_],
    uses: Mapping[int, Sequence[Node]],
    kept: set[int],
) -> bool:
    """Mark the rows that are read of a value of some axes that holds ``rows``; False where it cannot be told."""
    waiting = [(number, rows)]  # no recursion: a stranger's program may slice what it sliced any number of times
    while waiting:
        number, rows = waiting.pop()
        if number in kept:
            read[rows] = True
        for node in uses.get(number, ()):
            name = node.operator.split(".")[1]
            along = node.args[1] if len(node.args) > 1 else 0
            first = type(along) is not int or along % axes == 0
            if node.args[:1] != (Value(number),):
                read[rows] = True  # beside another value
            elif name in _SCATTERED or (first and name in _PICKS):
                return False
            elif name == "slice":
                ends = [*node.args[2:], None, None, None][:3]
                if node.kwargs or type(along) is not int or not all(end is None or type(end) is int for end in ends):
                    return False
                # Along another axis rows become shorter, and stay as many.
                waiting.append((node.first_value, rows[slice(*ends)] if first else rows))
            elif name == "select" and first:
                if len(node.args) < 3 or type(node.args[2]) is not int:
                    return False
                read[rows[node.args[2]]] = True
            else:
                read[rows] = True
    return True


def _values(item: Any) -> Iterator[int]:
    """The numbers of the values among arguments, also those within lists."""
    if isinstance(item, Value):
        yield item.number
    elif isinstance(item, (tuple, list)):
        for each in item:
            yield from _values(each)
