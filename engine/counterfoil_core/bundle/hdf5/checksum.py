"""Bob Jenkins' lookup3 with start value 0: the checksum of HDF5's metadata, and the hash of its names.

``hashlittle`` of lookup3.c (public domain). Files with 100,000 objects are to open fast, so many byte strings are
hashed by what is compiled.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

_MASK = 0xFFFFFFFF
_BLOCK_BYTES = 12
FEW_BYTES = 2**20
"""So many bytes of a process are faster without what is compiled: they take a tenth of a second, and its libraries a
whole. Beyond them it is used for every string, however few come at a time."""
_SHORT_BYTES = 1024
"""As long as headers are. What they hash to is remembered: each part of an audit opens order and run again."""
_AT_ONCE = 4 * 2**20
"""So many bytes are joined at a time."""


def lookup3(data: bytes) -> int:
    """Return the lookup3 of some bytes, which must not be empty."""
    padded = data + bytes(-len(data) % _BLOCK_BYTES)
    words: tuple[int, ...] = struct.unpack(f"<{len(padded) // 4}I", padded)
    a = b = c = (0xDEADBEEF + len(data)) & _MASK
    mask = _MASK
    end = len(words) - 3
    for x, y, z in zip(words[0:end:3], words[1:end:3], words[2:end:3], strict=True):
        a += x
        b += y
        c = c + z & mask
        a = (a - c ^ (c << 4 | c >> 28)) & mask
        c += b
        b = (b - a ^ (a << 6 | a >> 26)) & mask
        a = a + c & mask
        c = (c - b ^ (b << 8 | b >> 24)) & mask
        b = b + a & mask
        a = (a - c ^ (c << 16 | c >> 16)) & mask
        c = c + b & mask
        b = (b - a ^ (a << 19 | a >> 13)) & mask
        a = a + c & mask
        c = (c - b ^ (b << 4 | b >> 28)) & mask
        b = b + a & mask
    a, b, c = a + words[end] & mask, b + words[end + 1] & mask, c + words[end + 2] & mask
    c = (c ^ b) - (b << 14 | b >> 18) & mask
    a = (a ^ c) - (c << 11 | c >> 21) & mask
    b = (b ^ a) - (a << 25 | a >> 7) & mask
    c = (c ^ b) - (b << 16 | b >> 16) & mask
    a = (a ^ c) - (c << 4 | c >> 28) & mask
    b = (b ^ a) - (a << 14 | a >> 18) & mask
    return (c ^ b) - (b << 24 | b >> 8) & mask


@lru_cache(maxsize=4096)
def _remembered(data: bytes) -> int:
    return lookup3(data)


class _Hasher:
    """What hashes the strings of this process: Python at first, what is compiled when they become many."""

    def __init__(self) -> None:
        self._bytes = 0

    def few(self, count: int) -> bool:
        """Whether so many more bytes are still few, which are counted then."""
        if self._bytes + count > FEW_BYTES:
            return False
        self._bytes += count
        return True


_hasher = _Hasher()


def lookup3_all(strings: Sequence[bytes]) -> list[int]:
    """Return the lookup3 of each of some byte strings, none of them empty."""
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    ends = np.cumsum(lengths)
    if not len(strings) or _hasher.few(int(ends[-1])):
        return [_remembered(data) if len(data) <= _SHORT_BYTES else lookup3(data) for data in strings]
    # Loaded only here: small files are read without it.
    from counterfoil_core.bundle.hdf5.checksumloops import hash_all

    found: list[int] = []
    while len(found) < len(strings):
        first = len(found)
        before = ends[first] - lengths[first]
        last = max(first + 1, int(np.searchsorted(ends, before + _AT_ONCE)))
        joined = np.frombuffer(b"".join(strings[first:last]), np.uint8)
        found += hash_all(joined, ends[first:last] - before).tolist()
    return found
