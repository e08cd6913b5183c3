"""Balanced digits: integers as sums of small ones, which int8 and float32 multiply and add exactly.

With digits of d bits the base is ``2^(d + 1)`` and a digit lies in ``-2^d`` to ``2^d``; n of them hold every integer of
magnitude ``2^(n (d + 1) - 1)`` at most. Six bits (base 128) are what an int8 operator takes: 6, 13, 20 and 27 bits
are one to four digits. They leave room even in processors that have no 8-bit dot product: these multiply unsigned by
signed numbers and add two such products in 16 bits, with saturation, and ``2 * (64 + 128) * 64 < 2^15``.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

INT8_DIGIT_BITS = 6
"""Bits of a digit for int8 operators."""
INT8_BLOCK = 1 << 17
"""Products of such digits that int32 adds: 2^17 * 64 * (64 + 128) < 2^31, where an operand is shifted to unsigned."""

INT16_DIGIT_BITS = 10
"""Bits of a digit for loops over int16, which add in int64 what is too long for int32."""

KARATSUBA_BLOCK = 1 << 15
"""The same where operands are sums of two digits, -128 to 127: 2^15 * 128 * (128 + 128) < 2^31."""


def digit_count(bits: int, digit_bits: int = INT8_DIGIT_BITS) -> int:
    """Return how many digits an integer of magnitude ``2^bits`` at most takes."""
    return -(-(bits + 1) // (digit_bits + 1))


def float32_block(digit_bits: int) -> int:
    """Return how many products of digits float32 adds exactly in any order: 2^(24 - 2 d)."""
    return 1 << (24 - 2 * digit_bits)


def split(integers: Tensor, bits: int, digit_bits: int = INT8_DIGIT_BITS) -> list[Tensor]:
    """Return the digits of integers, the lowest first.

    Args:
        integers: int32 or int64, of magnitude ``2^bits`` at most.
        bits: Which.
        digit_bits: d, 1 to 11.

    Returns:
        Tensors of that shape and dtype, each of magnitude ``2^d`` at most.
    """
    half = 1 << digit_bits
    digits = []
    for _ in range(digit_count(bits, digit_bits) - 1):
        lowest = ((integers + half) & (2 * half - 1)) - half
        digits.append(lowest)
        integers = (integers - lowest) >> (digit_bits + 1)
    return [*digits, integers]


def recombine(levels: Sequence[Tensor], digit_bits: int = INT8_DIGIT_BITS) -> Tensor:
    """Return ``sum over c of levels[c] * 2^(c (d + 1))``, int64.

    Args:
        levels: Of one shape, integers in int64, int32 or float32, the lowest first.
        digit_bits: d.
    """
    total = levels[-1].to(torch.int64)
    for level in reversed(levels[:-1]):
        total = (total << (digit_bits + 1)) + level.to(torch.int64)
    return total


# What was cut into digits, for the second product that it occurs in: weights, activations and gradients have two. An
# entry belongs to one value and dies with it, with a change of it in place that torch knows of, with its second use,
# and with forget, which whoever runs a program calls before each step: within a step no value changes.

_Made = TypeVar("_Made")


@dataclass(frozen=True)
class _Entry:
    owner: weakref.ref[Tensor]
    version: int
    made: Any


_entries: dict[Hashable, _Entry] = {}


def forget() -> None:
    """Forget everything."""
    _entries.clear()


def kept() -> int:
    """Return how many are kept."""
    return len(_entries)


def once(x: Tensor, how: Hashable, make: Callable[[], _Made]) -> _Made:
    """Return what ``make`` makes of a tensor; of the same values with the same ``how`` it is made once for two uses.

    Args:
        x: The tensor, contiguous; another view of the same memory is the same tensor.
        how: What else the result depends on.
        make: Makes it.
    """
    owner = x if x._base is None else x._base
    key = id(owner), x.storage_offset(), tuple(x.shape), how
    entry = _entries.pop(key, None)
    if entry is not None and entry.owner() is owner and entry.version == owner._version:
        return cast(_Made, entry.made)
    made = make()
    _entries[key] = _Entry(weakref.ref(owner, lambda _: _entries.pop(key, None)), owner._version, made)
    return made
