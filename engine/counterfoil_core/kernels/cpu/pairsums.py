"""Sums of float64 numbers that lie side by side, in compiled code: in pairs, in one order on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from counterfoil_core.kernels.cache import intrinsic, kernel, types

_CHUNK = 128
"""Terms that are added at once, in pairs; so are then the sums of chunks."""
_LEVELS = 64
ROOM = _CHUNK + _LEVELS
"""Numbers of the memory that :func:`total` works in."""


def additions(terms: int) -> int:
    """Return through how many additions a term of a sum passes at most."""
    if terms <= _CHUNK:
        return max(terms - 1, 0).bit_length()
    return additions(_CHUNK) + (-(-terms // _CHUNK) - 1).bit_length()


def _sum_of_chunk(typing_context: Any, address: Any) -> Any:
    """Add the 128 numbers at an address, a uint64: vectors of 8 in pairs, then the lanes in pairs."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector, index = ir.VectorType(ir.DoubleType(), 8), ir.IntType(32)
        pointer = builder.inttoptr(arguments[0], vector.as_pointer())
        sums = [builder.load(builder.gep(pointer, [index(n)]), align=8) for n in range(_CHUNK // 8)]
        while len(sums) > 1:
            half = len(sums) // 2
            sums = [builder.fadd(one, other) for one, other in zip(sums[:half], sums[half:], strict=True)]
        lanes = [builder.extract_element(sums[0], index(n)) for n in range(8)]
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = [builder.fadd(one, other) for one, other in zip(lanes[:half], lanes[half:], strict=True)]
        return lanes[0]

    return types.float64(types.uint64), build


_sum_chunk: Any = intrinsic(_sum_of_chunk)


@kernel(nogil=True, error_model="numpy")
def total(x: Any, room: Any) -> Any:
    """Sum of numbers: of chunks, whose sums are added in pairs. ``room`` ``[ROOM]`` is overwritten."""
    whole = x.size // _CHUNK
    left = x[whole * _CHUNK :]
    address = np.uint64(x.ctypes.data)
    if left.size:
        padded = room[:_CHUNK]
        for i in range(left.size):
            padded[i] = left[i]
        padded[left.size :] = 0.0
    if not whole:
        return _sum_chunk(np.uint64(room.ctypes.data)) if left.size else 0.0
    if whole == 1 and not left.size:
        return _sum_chunk(address)
    levels = room[_CHUNK:]
    count = whole + (1 if left.size else 0)
    for done in range(count):
        value = _sum_chunk(address + np.uint64(8 * _CHUNK * done) if done < whole else np.uint64(room.ctypes.data))
        level = 0
        while (done >> level) & 1:
            value = levels[level] + value
            level += 1
        levels[level] = value
    total, begun = 0.0, False
    for level in range(_LEVELS):
        if (count >> level) & 1:
            total = levels[level] + total if begun else levels[level]
            begun = True
    return total
