"""Float32 numbers in half the bits: the nearest bfloat16 or float16, ties to even (IEEE 754, section 4.3.1)."""

from __future__ import annotations

import numpy as np

from counterfoil_core.base.arrays import Array

FLOATS = ("F32", "F16", "BF16")
"""Dtypes of safetensors in which a float32 tensor may be delivered."""


def cast(values: Array, dtype: str) -> Array:
    """Return what float32 ``values`` become in a dtype of :data:`FLOATS`, as the float32 numbers that these are.

    Numbers beyond the largest become infinite, as in every conversion; each NaN becomes the same one.
    """
    if dtype == "F16":
        with np.errstate(over="ignore", under="ignore"):
            values = values.astype(np.float16).astype(np.float32)
    elif dtype == "BF16":
        bits = values.view(np.uint32)
        # Half of what is cut off, less one if what stays is even: a tie goes up only to an even number.
        rounded = (bits + (0x7FFF + ((bits >> 16) & 1)).astype(np.uint32)) & np.uint32(0xFFFF0000)
        values = np.where(np.isnan(values), np.float32(np.nan), rounded.view(np.float32))
    return one_nan(values)


def widened(stored: Array, dtype: str) -> Array:
    """Return numbers as they are stored (:data:`counterfoil.delivery.tensorfile.DTYPES`) as float32, which is exact."""
    if dtype == "F16":
        return one_nan(stored.view(np.float16).astype(np.float32))
    if dtype == "BF16":
        return one_nan((stored.astype(np.uint32) << np.uint32(16)).view(np.float32))
    return stored


def one_nan(values: Array) -> Array:
    """Return float32 values with one NaN instead of the many."""
    nan = np.isnan(values)
    return np.where(nan, np.float32(np.nan), values) if nan.any() else values
