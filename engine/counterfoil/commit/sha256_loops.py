"""The compiled loops over OpenSSL's functions, whose addresses must be known under these names before this is loaded.

Kept apart because numba takes a while to load, and because it keeps what it compiled for the next process only of
functions that stand by themselves.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

PREFIX = "counterfoil_"
"""What stands before the names of OpenSSL's functions."""

_word = numba.types.intp
_begin = numba.types.ExternalFunction(f"{PREFIX}SHA256_Init", numba.types.int32(_word))
_add = numba.types.ExternalFunction(f"{PREFIX}SHA256_Update", numba.types.int32(_word, _word, _word))
_end = numba.types.ExternalFunction(f"{PREFIX}SHA256_Final", numba.types.int32(_word, _word))
_STATE_WORDS = 32
"""A hash under way takes 112 bytes."""


@numba.njit(numba.types.void(_word, _word, _word, _word), nogil=True, cache=True)
def leaves_at(data: Any, count: Any, chunk_bytes: Any, target: Any) -> None:
    """Write the leaf hash of each chunk of ``count`` bytes; ``data`` and ``target`` are addresses."""
    state, prefix = np.empty(_STATE_WORDS, np.uint64), np.zeros(1, np.uint8)
    hashing, zero = state.ctypes.data, prefix.ctypes.data
    for start in range(0, count, chunk_bytes):
        _begin(hashing)
        _add(hashing, zero, 1)
        _add(hashing, data + start, min(chunk_bytes, count - start))
        _end(target, hashing)
        target += 32


@numba.njit(numba.types.void(numba.types.uint8[:, ::1]), nogil=True, cache=True)
def reduce(nodes: Any) -> None:
    """Replace leaf hashes by the nodes above them until the first row is the root."""
    state, prefix = np.empty(_STATE_WORDS, np.uint64), np.ones(1, np.uint8)
    hashing, one, at = state.ctypes.data, prefix.ctypes.data, nodes.ctypes.data
    count = nodes.shape[0]
    while count > 1:
        for pair in range(count // 2):
            _begin(hashing)
            _add(hashing, one, 1)
            _add(hashing, at + 64 * pair, 64)
            _end(at + 32 * pair, hashing)
        if count % 2:
            # A lone last node is promoted.
            nodes[count // 2] = nodes[count - 1]
        count = (count + 1) // 2
