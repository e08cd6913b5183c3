"""How many bits and terms exact arithmetic has room for: the limits of the exact profiles, as integers.

Every limit follows from shapes and the profile alone, so everybody who runs a program meets the same ones.
``docs/numerics.md``, "Exact profiles", has them, and ``docs/proofs.md``, "One rounding", proves what they are for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.precision import EXACT_BITS
from counterfoil_core.base.sentence import say

FLOAT64_BITS = 53
"""Integers up to 2^53 in magnitude are float64 numbers, 2^53 itself included."""
INT64_BITS = 62
"""An exact sum of products is at most 2^62 in magnitude, so that int64 holds it and each of its halves' sums."""
FEWEST_BITS, MOST_BITS = EXACT_BITS
"""The range of S: float32 operands have no more than 24 bits."""
MOST_SUM_BITS = 51
"""Most bits of a term: adding 1.5 * 2^52 units rounds numbers of up to 2^51 units to whole units."""
FEWEST_SUM_BITS = 24
"""Fewest bits of a term: below it a sum would hold less than its largest float32 term."""


def log2_ceiling(count: int) -> int:
    """Return ceil(log2 count); 0 for 0 and 1."""
    return max(count - 1, 0).bit_length()


def float64_block(bits: int) -> int:
    """Return how many products float64 adds exactly in any order, with operands of ``bits`` bits together."""
    return 1 << (FLOAT64_BITS - bits)


def check_operands(left_bits: int, right_bits: int, count: int) -> None:
    """Check that a sum of products fits into 62 bits.

    Args:
        left_bits: Bits of the one operand, 8 to 24.
        right_bits: Bits of the other.
        count: Products that are added to one element of the result, at most 2^(62 - left_bits - right_bits).

    Raises:
        ProgramError: There are more. Their bits are not made fewer behind the client's back.
    """
    for bits in (left_bits, right_bits):
        if not FEWEST_BITS <= bits <= MOST_BITS:
            raise ValueError(f"operands of {bits} bits; {FEWEST_BITS} to {MOST_BITS} are possible")
    longest = 1 << (INT64_BITS - left_bits - right_bits)
    if count > longest:
        raise ProgramError(
            say(
                "A product adds {0:,} terms to an element; with operands of {1} and {2} bits at most {3:,} are exact.",
                count,
                left_bits,
                right_bits,
                longest,
            ),
            remedy=say("Order a profile with fewer bits, or smaller batches."),
        )


def sum_bits(count: int) -> int:
    """Return b, the bits of the terms of a sum: 53 - ceil(log2 count), and at most 51.

    Args:
        count: Terms that are added to one element of the result, at most 2^29.

    Raises:
        ProgramError: Terms of 24 bits leave no room for that many.
    """
    bits = FLOAT64_BITS - log2_ceiling(count)
    if bits < FEWEST_SUM_BITS:
        raise ProgramError(
            say(
                "A sum has {0:,} terms; at most {1:,} can be added exactly.",
                count,
                1 << (FLOAT64_BITS - FEWEST_SUM_BITS),
            ),
            remedy=say("Sum over fewer elements at once, for instance over smaller batches."),
        )
    return min(bits, MOST_SUM_BITS)


def windows_over_one(kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> int:
    """Return how many windows an element is in at most."""
    return math.prod(-(-taps * math.gcd(s, d) // s) for taps, s, d in zip(kernel, stride, dilation, strict=True))
