"""lookup3 of many byte strings at once, compiled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from counterfoil_core.kernels.cache import inlined, kernel

_MASK = np.uint64(0xFFFFFFFF)


@inlined
def _turned(value: np.uint64, by: int) -> np.uint64:
    """Turn the lower 32 bits to the left; there may be others above them."""
    return (value << np.uint64(by)) | (value >> np.uint64(32 - by))


@kernel(nogil=True, ahead=["(uint8[::1], int64[::1])"])
def hash_all(data: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
    """Return the lookup3 of byte strings that lie one behind the other; see :mod:`.bundle.hdf5.checksum`.

    Args:
        data: uint8: their bytes.
        ends: int64, ascending strictly: where each ends in ``data``.

    Returns:
        uint32: their hashes.
    """
    # With 64 bits and a mask, every sum and shift is what it is in Python.
    found = np.empty(ends.size, np.uint32)
    words = np.zeros(3, np.uint64)
    start = 0
    for row in range(ends.size):
        end = ends[row]
        a = np.uint64(0xDEADBEEF + end - start) & _MASK
        b, c = a, a
        while True:
            for word in range(3):
                value = np.uint64(0)
                for byte in range(4):
                    at = start + 4 * word + byte
                    if at < end:
                        value |= np.uint64(data[at]) << np.uint64(8 * byte)
                words[word] = value
            a, b, c = (a + words[0]) & _MASK, (b + words[1]) & _MASK, (c + words[2]) & _MASK
            start += 12
            if start >= end:
                break
            a = ((a - c) ^ _turned(c, 4)) & _MASK
            c = (c + b) & _MASK
            b = ((b - a) ^ _turned(a, 6)) & _MASK
            a = (a + c) & _MASK
            c = ((c - b) ^ _turned(b, 8)) & _MASK
            b = (b + a) & _MASK
            a = ((a - c) ^ _turned(c, 16)) & _MASK
            c = (c + b) & _MASK
            b = ((b - a) ^ _turned(a, 19)) & _MASK
            a = (a + c) & _MASK
            c = ((c - b) ^ _turned(b, 4)) & _MASK
            b = (b + a) & _MASK
        start = end
        c = ((c ^ b) - _turned(b, 14)) & _MASK
        a = ((a ^ c) - _turned(c, 11)) & _MASK
        b = ((b ^ a) - _turned(a, 25)) & _MASK
        c = ((c ^ b) - _turned(b, 16)) & _MASK
        a = ((a ^ c) - _turned(c, 4)) & _MASK
        b = ((b ^ a) - _turned(a, 14)) & _MASK
        found[row] = ((c ^ b) - _turned(b, 24)) & _MASK
    return found
