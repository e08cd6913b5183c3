"""The grid that values are rounded to, and when a decision is logged.

Paper: Srivastava, Arora, Boneh (NeurIPS 2024), sections 4 and 5; the grid with guard bits and the absolute margin are
Counterfoil's own (docs/numerics.md). For an output tensor with scale S and E = floor(log2 S), an element y with
e = floor(log2 |y|) has

    quantum  u = 2^(max(e, E - G, -126) - p + 1): with p = 24 never below 2^-149, float32's subnormal spacing
    rounded  r = the multiple of u nearest to y, ties to even; -0 becomes +0
    logged   when y lies within tau = 2^(E - m) of the midpoint between two neighbouring grid points

The grid depends on E alone, so rounding is one monotone function, also across powers of two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from counterfoil_core.base.precision import Precision

SMALLEST_EXPONENT = -126
"""float32's and bfloat16's smallest normal number is 2^-126; below it the quantum no longer shrinks."""
LARGEST_EXPONENT = 127
"""Values of 2^128 and above do not fit float32."""
ZERO_SCALE = -32768
"""Stands for E when the scale is zero, so that every element is zero."""
FLOAT64_BIAS = 1023

OMISSION_SHARE = 4
"""An own value within tau / 4 of a midpoint must be in the trainer's log."""
CALIBRATED_STEERABLE = 1 / 16
"""Within a calibrated margin honest hardware hardly ever differs by more than tau / 16."""
PROVEN_STEERABLE = 3 / 4
"""By proof it never differs by more than 3/4 of the smallest tau that the error bound allows (docs/numerics.md)."""
ACCEPTANCE_FACTOR = 2
"""A logged direction is taken only when the own value lies within 2 tau of the midpoint."""

SCALE_TOLERANCE = 2.0**-10
"""Honest machines compute the scale of equal tensors alike within this share: it is a sum of magnitudes, or a norm."""


@dataclass(frozen=True)
class Grid:
    """The grid of one tensor."""

    exponent: int  #: E, or ZERO_SCALE.
    significand_bits: int  #: p.
    guard_bits: int  #: G.
    margin_bits: int  #: m.

    @classmethod
    def of(cls, exponent: int, precision: Precision, margin_bits: int) -> Grid:
        """The grid of a precision profile for a scale exponent."""
        return cls(exponent, precision.significand_bits, precision.guard_bits, margin_bits)

    @cached_property
    def floor_exponent(self) -> int:
        """Below this exponent the quantum no longer shrinks with the element."""
        return max(self.exponent - self.guard_bits, SMALLEST_EXPONENT)

    @cached_property
    def floor_biased(self) -> int:
        """The same with float64's bias."""
        return self.floor_exponent + FLOAT64_BIAS

    @cached_property
    def tau(self) -> float:
        """The margin; 0 when it underflows float64."""
        return math.ldexp(1.0, self.exponent - self.margin_bits)


def scale_exponent(scale: float) -> int | None:
    """Return E = floor(log2 S), ZERO_SCALE for S = 0, or None when S is not finite or beyond float32's range."""
    if not math.isfinite(scale):
        return None
    if scale == 0.0:
        return ZERO_SCALE
    exponent = math.frexp(scale)[1] - 1
    return exponent if exponent <= LARGEST_EXPONENT else None


def is_explained(exponent: int, scale: float) -> bool:
    """Return whether an honest machine may have ``exponent`` where this one computed ``scale``.

    Exponents of honest machines differ only where the scale lies at a power of two.

    Args:
        exponent: The trainer's E, or ZERO_SCALE.
        scale: The own S, finite.
    """
    if ZERO_SCALE in (exponent, scale_exponent(scale)):
        return exponent == scale_exponent(scale)
    low, high = scale * (1 - SCALE_TOLERANCE), scale * (1 + SCALE_TOLERANCE)
    return math.frexp(low)[1] - 1 <= exponent <= math.frexp(high)[1] - 1
