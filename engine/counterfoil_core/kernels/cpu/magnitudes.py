"""The largest magnitude of float32 numbers and its exponent, inside compiled loops: by their bits, so exactly."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
from llvmlite import ir

from counterfoil_core.kernels.cache import intrinsic, kernel, types

# The bits of numbers, inside compiled loops and out of them.


@intrinsic
def as_bits(typing_context: Any, value: Any = None) -> Any:
    """Reinterpret a float64 as uint64, inside compiled code."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), build


@intrinsic
def as_float(typing_context: Any, value: Any = None) -> Any:
    """Reinterpret a uint64 as float64, inside compiled code."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), build


def float_of(bits: int) -> float:
    """Return the float64 with these bits, 0 to 2^64 - 1."""
    number: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return number


LEAST_EXPONENT = -148
"""E of the smallest subnormal number, and of zeros: of zeros and what is added to them the latter alone decides."""
INFINITE = 0x7F800000
"""The bits of infinity; those of NaN are greater."""


@kernel(nogil=True)
def largest_bits(bits: Any) -> Any:
    """The largest magnitude, as its bits, int32, of numbers by their bits: magnitudes are ordered as their bits are."""
    largest = np.int32(0)
    for i in range(bits.size):
        largest = max(largest, bits[i] & np.int32(0x7FFFFFFF))
    return largest


@kernel()
def exponent_above(largest: Any) -> Any:
    """E: the smallest integer with 2^E above the magnitude of these bits, which is finite."""
    rest = np.int64(largest)
    if rest >= 0x00800000:
        return (rest >> 23) - 126
    exponent = np.int64(LEAST_EXPONENT)
    while rest > 1:
        rest >>= 1
        exponent += 1
    return exponent


@kernel()
def magic_number(exponent: Any, bits: Any) -> Any:
    """1.5 * 2^52 units of 2^(E - bits): added to a float64 number of less than 2^E it rounds that to whole units."""
    return math.ldexp(1.5, exponent - bits + 52)
