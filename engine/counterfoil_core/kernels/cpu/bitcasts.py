"""The bits of numbers, inside compiled loops and out of them."""

from __future__ import annotations

import struct
from typing import Any

from llvmlite import ir

from counterfoil_core.kernels.cache import intrinsic, types


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
