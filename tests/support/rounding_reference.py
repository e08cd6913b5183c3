"""The rounding of docs/numerics.md in exact rational arithmetic, element by element: slow and plain."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from fractions import Fraction

from counterfoil.kernels.grid import Grid

MASK64 = 2**64 - 1


def floor_log2(value: Fraction) -> int:
    """floor(log2 value) of a positive fraction."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= value else exponent - 1


def power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def quantum(y: Fraction, grid: Grid) -> Fraction:
    floor = grid.exponent - grid.guard_bits
    exponent = max(floor_log2(abs(y)), floor) if y else floor
    return power(max(exponent, -126) - grid.significand_bits + 1)


@dataclass(frozen=True)
class Reference:
    """One rounded element: its value, whether it is close to a midpoint, and whether it went up."""

    value: float
    near: bool
    up: bool


def round_element(y: float, grid: Grid, tau: float) -> Reference:
    exact = Fraction(y)
    u = quantum(exact, grid)
    down = (exact / u).__floor__() * u
    up = down if down == exact else down + u
    midpoint = down + u / 2
    if exact == down or exact < midpoint:
        rounded = down
    elif exact > midpoint:
        rounded = up
    else:
        rounded = down if (down / u) % 2 == 0 else up
    # The nearest midpoint lies half a quantum from the rounded value, on the side of the exact one.
    distance = u / 2 - abs(exact - rounded)
    return Reference(float(rounded) + 0.0, distance <= Fraction(tau), rounded > exact)


def fingerprint(values: list[float], key: int) -> int:
    """The fingerprint of docs/bundle-format.md."""
    total = 0
    for index, value in enumerate(values):
        (bits,) = struct.unpack("<Q", struct.pack("<d", value))
        z = ((bits ^ key) + (index + 1) * 0x9E3779B97F4A7C15) & MASK64
        z = ((z ^ (z >> 32)) * 0xBF58476D1CE4E5B9) & MASK64
        total += z ^ (z >> 29)
    return total & MASK64
