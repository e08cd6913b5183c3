"""The dtypes of values, by numpy's names: which may stand where, how large they are, and what they can hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

CODES = {
    "float32": "<f4",
    "float64": "<f8",
    "int64": "<i8",
    "int32": "<i4",
    "uint8": "|u1",
    "uint32": "<u4",
    "uint64": "<u8",
    "bool": "|b1",
}
"""Numpy's code of every dtype that a file holds, as it is stored and hashed: little-endian."""
ITEM_BYTES = {name: int(code[2:]) for name, code in CODES.items()}
"""Bytes of an element."""
STATE_DTYPES = ("float32", "int64", "int32", "uint8", "bool")
"""Dtypes of state tensors and of a program's values; floating-point state is always stored as float32, and in a program
``float32`` stands for the order's compute dtype."""
DATA_DTYPES = STATE_DTYPES[:-1]
"""Dtypes of data arrays."""
TENSOR_DTYPES = (*STATE_DTYPES, "float64")
"""Dtypes that have a tensor digest; float64 is for the per-step scalars of an order."""
INTEGER_RANGES = {"int64": (-(2**63), 2**63 - 1), "int32": (-(2**31), 2**31 - 1), "uint8": (0, 255)}
"""Smallest and largest number of each integer dtype of a program."""


@dataclass(frozen=True)
class FloatFormat:
    """A binary floating-point format (IEEE 754-2019, table 3.5)."""

    significand_bits: int  #: p, with the leading bit.
    smallest_exponent: int  #: Exponent of the smallest normal number.
    largest_exponent: int  #: Exponent of the largest numbers.


FLOAT_FORMATS = {"float64": FloatFormat(53, -1022, 1023), "float32": FloatFormat(24, -126, 127)}
"""The formats of the floating dtypes, which are the compute dtypes."""


def tensor_bytes(dtype: str, shape: Sequence[int]) -> int:
    """Return the size in bytes of a tensor's elements."""
    return math.prod(shape) * ITEM_BYTES[dtype]
