"""The bytes of a stored state in an unfinished recording: its tensors by name, little-endian, one after the other."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = Mapping[str, npt.NDArray[Any]]


def state_name(step: int) -> str:
    """Return the name of the file that holds the state after a step."""
    return f"state-{step:08d}"


def encode_state(state: Arrays) -> Iterator[memoryview]:
    """Yield the bytes of a state, tensor by tensor."""
    for name in sorted(state):
        array = state[name]
        yield np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).data


def read_state(file: io.BufferedReader[Any], initial: Arrays) -> dict[str, npt.NDArray[Any]] | None:
    """Read a state.

    Args:
        file: The file, at its beginning.
        initial: A state that says how it is laid out.

    Returns:
        The state; None where the file has another size than one has.

    Raises:
        OSError: The file cannot be read.
    """
    if os.fstat(file.fileno()).st_size != sum(array.nbytes for array in initial.values()):
        return None
    arrays = {}
    for name in sorted(initial):
        array = np.empty(initial[name].shape, initial[name].dtype.newbyteorder("<"))
        file.readinto(array.reshape(-1).view(np.uint8).data)
        arrays[name] = array.astype(initial[name].dtype, copy=False)
    return arrays
