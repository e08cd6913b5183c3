"""Elements of a disputed operator's output: their exact values, and what conforming machines may make of them.

A conforming machine's value lies within the bound B of the exact one (:mod:`counterfoil_core.arithmetic.grid.margin`).
So its rounded value is one of the grid points between those to which the ends of that interval round: nearly always a
single one, two where the exact value lies within B of the midpoint between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from counterfoil_core.arithmetic.grid.neighbours import neighbours
from counterfoil_core.base.dtypes import FLOAT_FORMATS
from counterfoil_core.base.sentence import Sentence
from counterfoil_core.kernels.grid import SMALLEST_EXPONENT, Grid
from counterfoil_core.operators.judging.numbers import MP, Number
from counterfoil_core.operators.node import Node
from counterfoil_core.values.dispute import DisputedElement, Finding, Right

SHOWN_ELEMENTS = 8
_PRECISION = 400
"""Working precision in bits: far beyond what separates a value from a midpoint."""
_DIGITS = 25
_HARMLESS_BITS = 7
"""An error of 2^-7 of the finest quantum there is decides nothing."""


def tolerance(error: float, grid: Grid) -> float:
    """Return the error beyond which a machine's arithmetic is off: the bound, or what no rounding decision hangs on.

    The bound shrinks with the tensor's scale down to nothing, below what float64 can compute to, but the quantum stops
    at float32's subnormal spacing. Without a floor, a lie about a tensor of tiny numbers would look like a broken
    machine.
    """
    finest = SMALLEST_EXPONENT - grid.significand_bits + 1
    return max(error, math.ldexp(1.0, finest - _HARMLESS_BITS))


def _difference(value: float, exact: Number) -> Number:
    """Return the distance of a value from the exact one: none where both are the same infinity."""
    return MP.mpf(0) if MP.isinf(exact) and exact == value else abs(MP.mpf(value) - exact)


def midpoint_distance(exact: Number, grid: Grid) -> Number:
    """Return the distance of an exact value from the nearest midpoint between grid points; infinities have none."""
    if MP.isinf(exact):
        return MP.inf
    with MP.workprec(_PRECISION):
        quantum = _quantum(exact, grid)
        steps = exact / quantum
        return abs(steps - MP.floor(steps) - 0.5) * quantum


def rounded_between(exact: Number, bound: float, grid: Grid) -> tuple[float, float]:
    """Return the least and the largest grid point to which a value within ``bound`` of the exact one may be rounded.

    Infinities stay.
    """
    if MP.isinf(exact):
        return float(exact), float(exact)
    with MP.workprec(_PRECISION):
        low, high = exact - bound, exact + bound
        below, above = _quantum(low, grid), _quantum(high, grid)
        # Ties count as rounded away from the exact value, so that the range is not too small.
        return float(MP.ceil(low / below - 0.5) * below) + 0.0, float(MP.floor(high / above + 0.5) * above) + 0.0


def is_defined(own: float, exact: Number, compute: str) -> bool:
    """Return whether a value of an operator of class exact is the defined one: the exact value rounded once, to even.

    The signs of zeros are not looked at.

    Args:
        own: This machine's value.
        exact: The exact value; may be infinite, or not a number.
        compute: Name of the compute dtype.
    """
    if MP.isnan(exact):
        return math.isnan(own)
    if MP.isinf(exact):
        return own == float(exact)
    held = FLOAT_FORMATS[compute]
    smallest = held.smallest_exponent
    with MP.workprec(_PRECISION):
        exponent = max(MP.frexp(exact)[1] - 1, smallest) if exact else smallest
        quantum = MP.ldexp(1, int(exponent) - held.significand_bits + 1)
        rounded = MP.nint(exact / quantum) * quantum
        beyond = abs(rounded) >= MP.ldexp(1, held.largest_exponent + 1)
        return own == (math.copysign(math.inf, rounded) if beyond else float(rounded))


def _quantum(exact: Number, grid: Grid) -> Number:
    exponent = MP.frexp(exact)[1] - 1 if exact else SMALLEST_EXPONENT
    return MP.ldexp(1, int(max(exponent, grid.floor_exponent)) - grid.significand_bits + 1)


@dataclass(frozen=True)
class Elements:
    """Elements of one operator's output, recomputed exactly."""

    node: Node  #: The operator.
    shape: tuple[int, ...]  #: Shape of the output.
    grid: Grid  #: The grid that was used.
    bound: float  #: How far a conforming machine's value may lie from the exact one.
    #: Whether the margin is so large that a conforming trainer's log holds every decision that another conforming
    #: machine could take otherwise.
    proven: bool
    indices: npt.NDArray[np.int64]  #: int64 ``[k]``: flat C-order indices.
    exact: list[Number]  #: The exact values, k of them.
    computed: npt.NDArray[np.float64]  #: float64 ``[k]``: this machine's values before rounding.
    #: float64 ``[k]``: the same after rounding, the trainer's logged directions applied.
    replay: npt.NDArray[np.float64]
    #: float64 ``[k]``: the trainer's values; None when the fingerprint does not tell which elements differ.
    trainer: npt.NDArray[np.float64] | None
    against_log: bool  #: Whether the trainer's values contradict the directions in its own log.
    #: How many elements of the output may have been rounded to the other side by a conforming machine, where nothing
    #: tells whether they were.
    open: int
    total: int  #: Number of elements of the output.

    @cached_property
    def errors(self) -> list[float]:
        """Distance of this machine's values from the exact ones, in units of the bound."""
        with MP.workprec(_PRECISION):
            pairs = zip(self.computed.tolist(), self.exact, strict=True)
            return [float(_difference(value, exact) / self.bound) for value, exact in pairs]

    @cached_property
    def midpoints(self) -> list[float]:
        """Distance of the exact values from the nearest midpoint, in units of the bound."""
        with MP.workprec(_PRECISION):
            return [float(midpoint_distance(exact, self.grid) / self.bound) for exact in self.exact]

    @property
    def off(self) -> bool:
        """Whether this machine's arithmetic is off: farther from the exact values than any conforming machine."""
        return max(self.errors) > 1

    @cached_property
    def conforming(self) -> bool:
        """Whether the trainer's values are known, and a conforming machine can have each of them."""
        if self.trainer is None:
            return False
        ranges = (rounded_between(exact, self.bound, self.grid) for exact in self.exact)
        return all(low <= value <= high for value, (low, high) in zip(self.trainer.tolist(), ranges, strict=True))

    def finding(self, right: Right, sentence: Sentence) -> Finding:
        """Return a finding that shows the most telling of these elements."""
        # Where it is not known which elements differ, the worst of this machine's own come first.
        order = range(len(self.indices))
        chosen = sorted(order, key=lambda i: -self.errors[i])[:SHOWN_ELEMENTS] if self.off else order[:SHOWN_ELEMENTS]
        quanta = neighbours(self.computed, self.replay, self.grid).quantum
        with MP.workprec(_PRECISION):
            shown = tuple(
                DisputedElement(
                    index=tuple(int(part) for part in np.unravel_index(int(self.indices[i]), self.shape)),
                    exact=MP.nstr(self.exact[i], _DIGITS),
                    exact_nearest=float(self.exact[i]),
                    computed=float(self.computed[i]),
                    replay=float(self.replay[i]),
                    trainer=None if self.trainer is None else float(self.trainer[i]),
                    quantum=float(quanta[i]),
                    error=self.errors[i],
                    midpoint=self.midpoints[i],
                )
                for i in sorted(chosen)
            )
        return Finding(right, sentence, shown, len(self.indices), self.total, self.grid.tau, self.bound)
