"""The compiled loops over OpenSSL's functions, whose addresses must be known under these names before this is loaded.

Kept apart because numba takes a while to load, and because it keeps what it compiled for the next process only of
functions that stand by themselves.
"""

from __future__ import annotations

from typing import Any

from counterfoil_core.kernels.cache import kernel, numba

PREFIX = "counterfoil_"
"""What stands before the names of OpenSSL's functions."""

ROOM_WORDS = 33
"""Words of 64 bits that a loop works in: a hash under way takes 112 bytes; the last has the prefix byte."""

_word: Any = numba.types.intp
_number: Any = numba.types.int32
_begin: Any = numba.types.ExternalFunction(f"{PREFIX}SHA256_Init", _number(_word))
_add: Any = numba.types.ExternalFunction(f"{PREFIX}SHA256_Update", _number(_word, _word, _word))
_end: Any = numba.types.ExternalFunction(f"{PREFIX}SHA256_Final", _number(_word, _word))
_PREFIX_AT = 8 * (ROOM_WORDS - 1)


# The room is the caller's: numba would free an array of its own as soon as its address is taken.
@kernel(numba.types.void(_word, _word, _word, _word, _word), nogil=True)
def leaves_at(data: Any, count: Any, chunk_bytes: Any, target: Any, room: Any) -> None:
    """Write the leaf hash of each chunk of ``count`` bytes; ``data``, ``target`` and ``room`` are addresses."""
    for start in range(0, count, chunk_bytes):
        _begin(room)
        _add(room, room + _PREFIX_AT, 1)
        _add(room, data + start, min(chunk_bytes, count - start))
        _end(target, room)
        target += 32


@kernel(numba.types.void(_word, numba.types.uint8[:, ::1], _word), nogil=True)
def reduce_at(at: Any, nodes: Any, room: Any) -> None:
    """Replace leaf hashes, which lie at the address ``at``, by the nodes above them until the first row is the root."""
    count = nodes.shape[0]
    while count > 1:
        for pair in range(count // 2):
            _begin(room)
            _add(room, room + _PREFIX_AT, 1)
            _add(room, at + 64 * pair, 64)
            _end(at + 32 * pair, room)
        if count % 2:
            # A lone last node is promoted.
            nodes[count // 2] = nodes[count - 1]
        count = (count + 1) // 2
