"""From an exact value to float32, by one rounding: to nearest, ties to even, subnormals kept, every zero +0.

A value beyond float32's range becomes infinite, as IEEE 754 has it; whoever calls refuses it.
"""

from __future__ import annotations

import torch
from torch import Tensor

_MANTISSA_BITS = 52
_BIAS = 1023
_STICKY_BITS = 10
"""An integer of 62 bits without its last 10 bits is one of 52, which float64 holds."""
_WHOLE = 1 << 53


def power_of_two(exponents: Tensor) -> Tensor:
    """Return 2^e exactly, by its bits: a library's power function need not be exact.

    Args:
        exponents: int64, each in -1022 to 1023, any shape.

    Returns:
        float64, the same shape.
    """
    return ((exponents + _BIAS) << _MANTISSA_BITS).view(torch.float64)


def from_float64(exact: Tensor) -> Tensor:
    """Round exact values that float64 holds.

    Args:
        exact: float64, any shape.

    Returns:
        float32, the same shape.
    """
    return exact.to(torch.float32).add_(0.0)


def to_odd(integers: Tensor) -> Tensor:
    """Round integers to odd: what float64 cannot hold takes the neighbour whose last bit is one.

    A second rounding to at least two bits fewer then gives what a single one would (Boldo and Melquiond 2008).

    Args:
        integers: int64 of magnitude 2^62 at most, any shape.

    Returns:
        float64, the same shape.
    """
    shortened = integers >> _STICKY_BITS
    lost = (shortened << _STICKY_BITS) != integers
    odd = (shortened | lost.to(torch.int64)).to(torch.float64) * (1 << _STICKY_BITS)
    # Up to 2^53 the integer itself is a float64 number, and may be too small to lose ten bits.
    return torch.where(integers.abs() <= _WHOLE, integers.to(torch.float64), odd)


def from_int64(integers: Tensor, exponents: Tensor) -> Tensor:
    """Round ``integers * 2^exponents``, by way of float64 rounded to odd, so that only one rounding shows.

    Args:
        integers: int64 of magnitude 2^62 at most, any shape.
        exponents: int64 in -1000 to 900, of a shape that broadcasts to it.

    Returns:
        float32, the shape of ``integers``.
    """
    return from_float64(to_odd(integers) * power_of_two(exponents))
