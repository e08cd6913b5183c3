"""What carries the digits of exact products through a device's tensor cores: integers, or floating-point numbers. Pure.

A byte is a number of bfloat16, a product of two is one of float32, and so is every sum of them up to 2^24: both
carriers give the same integers, whatever the order of additions. Which is quicker says the card's data sheet.
"""

from __future__ import annotations

from enum import Enum

_FIRST = 8, 0
"""The first NVIDIA devices to whose tensor cores Triton gives bytes, or bfloat16."""
_OF_FEW_INTEGERS = frozenset({(10, 3)})
"""Devices that multiply bfloat16 several times as fast as int8: B300, which has an eighth of B200's int8 (its data
sheet), and no instruction for it among those of B200's tensor cores (PTX ISA, ``tcgen05.mma``, kind ``i8``)."""


class Carrier(Enum):
    """The type that tensor cores multiply."""

    INT8 = "int8"
    """Sums in int32."""
    BFLOAT16 = "bfloat16"
    """Sums in float32."""


def carrier_of(capability: tuple[int, int]) -> Carrier | None:
    """Return the quicker one of an NVIDIA device; None where Triton reaches neither.

    Args:
        capability: Its compute capability.
    """
    if capability < _FIRST:
        return None
    return Carrier.BFLOAT16 if capability in _OF_FEW_INTEGERS else Carrier.INT8
