"""Bob Jenkins' lookup3 with start value 0: the checksum of HDF5's metadata, and the hash of its names.

``hashlittle`` of lookup3.c (public domain), of many byte strings at once: files with 100,000 objects are to open fast.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_MASK = 0xFFFFFFFF
_BLOCK_BYTES = 12
_FEW = 24
"""Up to so many byte strings are faster one by one."""
_AT_ONCE = 4096
"""So many are taken together, so that their words stay in the processor's cache."""
_BYTES_AT_ONCE = 4 * 2**20
"""And fewer of long ones, which are copied."""

Words = NDArray[np.uint32]


def lookup3(data: bytes) -> int:
    """Return the lookup3 of some bytes, which must not be empty."""
    padded = data + bytes(-len(data) % _BLOCK_BYTES)
    words = struct.unpack(f"<{len(padded) // 4}I", padded)
    start = (0xDEADBEEF + len(data)) & _MASK
    return _finish(words, start, start, start)


def lookup3_all(strings: Sequence[bytes]) -> list[int]:
    """Return the lookup3 of each of some byte strings, none of them empty."""
    if len(strings) <= _FEW:
        return [lookup3(data) for data in strings]
    # The longest come first, so that those with a block left are always the first few.
    order = sorted(range(len(strings)), key=list(map(len, strings)).__getitem__, reverse=True)
    found = [0] * len(strings)
    first = 0
    while first < len(order):
        # The first is the longest of those that are left.
        count = max(_FEW, min(_AT_ONCE, _BYTES_AT_ONCE // len(strings[order[first]])))
        some = order[first : first + count]
        first += count
        for index, value in zip(some, _descending([strings[index] for index in some]), strict=True):
            found[index] = value
    return found


def _descending(strings: Sequence[bytes]) -> list[int]:
    """Return the lookup3 of each byte string, where none is longer than the one before."""
    sizes = list(map(len, strings))
    lengths = np.array(sizes, np.int64)
    blocks = -(-lengths // _BLOCK_BYTES)
    words = np.frombuffer(
        b"".join([data + bytes(-size % _BLOCK_BYTES) for data, size in zip(strings, sizes, strict=True)]), "<u4"
    )
    places = 3 * (np.cumsum(blocks) - blocks)
    a = (lengths + 0xDEADBEEF).astype(np.uint32)
    b, c = a.copy(), a.copy()
    last = blocks - 1
    # How many strings have more than n blocks before their last one, for each n.
    remaining = (len(strings) - np.searchsorted(last[::-1], np.arange(last[0]), side="right")).tolist()
    turns = sum(count > _FEW for count in remaining)
    for turn, count in enumerate(remaining[:turns]):
        at = places[:count] + 3 * turn
        _mix(a[:count], b[:count], c[:count], words[at], words[at + 1], words[at + 2])
    # A few long ones go on one by one; the others take their last block together.
    few = remaining[turns] if turns < len(remaining) else 0
    found = []
    for row in range(few):
        rest = words[places[row] + 3 * turns : places[row] + 3 * int(blocks[row])]
        found.append(_finish(rest.tolist(), int(a[row]), int(b[row]), int(c[row])))
    at = places[few:] + 3 * last[few:]
    ends: list[int] = _final(a[few:] + words[at], b[few:] + words[at + 1], c[few:] + words[at + 2]).tolist()
    return found + ends


def _finish(words: Sequence[int], a: int, b: int, c: int) -> int:
    """Take up the rest of one string, whose blocks have three words each."""
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


def _turn(value: Words, by: int) -> Words:
    turned = value << np.uint32(by)
    turned |= value >> np.uint32(32 - by)
    return turned


def _mix(a: Words, b: Words, c: Words, x: Words, y: Words, z: Words) -> None:
    """Take up one block of each string, in place."""
    a += x
    b += y
    c += z
    for one, two, three, by in ((a, b, c, 4), (b, c, a, 6), (c, a, b, 8), (a, b, c, 16), (b, c, a, 19), (c, a, b, 4)):
        one -= three
        one ^= _turn(three, by)
        three += two


def _final(a: Words, b: Words, c: Words) -> Words:
    """Return the hashes, once the last blocks are added."""
    for one, two, by in ((c, b, 14), (a, c, 11), (b, a, 25), (c, b, 16), (a, c, 4), (b, a, 14), (c, b, 24)):
        one ^= two
        one -= _turn(two, by)
    return c
