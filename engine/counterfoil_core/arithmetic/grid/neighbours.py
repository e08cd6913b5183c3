"""Single elements and the two grid points beside them, in numpy: for disputes. No kernel computes with this.

It says again what :func:`counterfoil_core.kernels.cpu.rounding.directed_element` says, and shares no code with it: who
judges an element takes nothing but the grid's definition from whoever rounded it. A test holds both equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterfoil_core.kernels.grid import Grid

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Values:
    """Values of single elements of one rounding site."""

    indices: npt.NDArray[np.int64]  #: int64 ``[k]``, ascending: flat C-order indices.
    values: FloatArray  #: float64 ``[k]``.


@dataclass(frozen=True)
class Neighbours:
    """Where values lie between two neighbouring grid points; infinite ones are on no grid, far from any midpoint."""

    quantum: FloatArray  #: float64 ``[k]``: distance of the two.
    #: float64 ``[k]``: distance of the value from the midpoint between them; infinite for an infinite value.
    distance: FloatArray
    other: FloatArray  #: float64 ``[k]``: the one that the value was not rounded to; an infinite value itself.
    is_up: BoolArray  #: bool ``[k]``: whether the value was rounded up.


def quanta(values: FloatArray, grid: Grid) -> FloatArray:
    """Return the quantum of the grid at each value, float64 ``[k]``."""
    # Zero and infinities have no exponent of their own.
    own = np.where((values == 0.0) | np.isinf(values), grid.floor_exponent, np.frexp(values)[1] - 1)
    exponent = np.maximum(own, grid.floor_exponent)
    return np.asarray(np.ldexp(1.0, exponent - grid.significand_bits + 1), np.float64)


def neighbours(values: FloatArray, rounded: FloatArray, grid: Grid) -> Neighbours:
    """Return the neighbours of values on a grid.

    Args:
        values: float64 ``[k]``: before rounding.
        rounded: float64 ``[k]``: the same, rounded to the grid.
        grid: The grid.
    """
    quantum = quanta(values, grid)
    infinite = np.isinf(values)
    remainder = np.subtract(values, rounded, out=np.zeros_like(values), where=~infinite)
    # The midpoint lies on the side of the remainder; its neighbours are the rounded value and the next on that side.
    return Neighbours(
        quantum=quantum,
        distance=np.where(infinite, np.inf, quantum / 2 - np.abs(remainder)),
        other=rounded + np.where(infinite, 0.0, np.copysign(quantum, remainder)) + 0.0,
        is_up=remainder < 0,
    )


def on_grid(values: FloatArray, grid: Grid) -> BoolArray:
    """Return whether values are such as rounding to the grid gives: finite, multiples of the quantum, no -0."""
    with np.errstate(all="ignore"):
        plausible = np.isfinite(values) & (np.abs(values) < np.ldexp(1.0, grid.exponent + 2))
        some = np.where(plausible, values, 0.0)
        steps = some / quanta(some, grid)
        return np.asarray(plausible & (steps == np.rint(steps)) & ~((values == 0) & np.signbit(values)))
