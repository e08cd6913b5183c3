"""Logged directions, applied to the values of a machine of one's own, and what they show; compiled, pure."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from counterfoil.definite.bitcasts import as_bits, as_float
from counterfoil.rounding.counts import Counts
from counterfoil.rounding.grid import ACCEPTANCE_FACTOR, FLOAT64_BIAS, Grid

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


def judged(
    own: FloatArray, rounded: FloatArray, ups: BoolArray, grid: Grid, steerable_share: float
) -> tuple[Counts, FloatArray, BoolArray]:
    """Apply logged directions to single values, and count what they show.

    Args:
        own: float64 ``[k]``: the own values before rounding, none of them NaN.
        rounded: float64 ``[k]``: the same, rounded.
        ups: bool ``[k]``: the trainer's directions.
        grid: The grid.
        steerable_share: The share of tau beyond which conforming values round to the same side.

    Returns:
        The counts; float64 ``[k]``: the values in the trainer's direction where the own value lies within 2 tau of the
        midpoint, else the own rounding; bool ``[k]``: where these differ from the own rounding.
    """
    after, changed = np.empty_like(own), np.empty(len(own), np.bool_)
    tau = grid.tau
    found = _judge(
        own, rounded, ups, grid.floor_exponent + FLOAT64_BIAS, grid.significand_bits,
        ACCEPTANCE_FACTOR * tau, steerable_share * tau, after, changed,
    )  # fmt: skip
    return Counts(len(own), *found[:2], 0, *found[2:]), after, changed


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _judge(
    own: Any,
    rounded: Any,
    ups: Any,
    floor_biased: int,
    significand_bits: int,
    acceptable: float,
    honest: float,
    after: Any,
    changed: Any,
) -> tuple[int, int, int, int, int, int]:
    corrections = contradictions = steerable = steered = ties = broken = 0
    for i in range(own.size):
        value, here = own[i], rounded[i]
        other, distance, up = here, math.inf, False
        # Infinite values are on no grid, and far from any midpoint.
        if not math.isinf(value):
            # Zeros and subnormal numbers have the smallest exponent there is, far below any floor.
            exponent = max(np.int64(as_bits(value) >> np.uint64(52)) & 0x7FF, floor_biased)
            quantum = as_float(np.uint64(exponent - significand_bits + 1) << np.uint64(52))
            # The midpoint lies on the side of the remainder; its neighbours are the rounded value and the next on that
            # side.
            remainder = value - here
            distance = quantum / 2 - abs(remainder)
            other = here + math.copysign(quantum, remainder)
            up = remainder < 0.0
        # A logged value lay within tau of the midpoint, and this machine's lies within 3/4 tau of that: less than 2 tau
        # in all.
        accepted = distance <= acceptable
        result = (other if accepted and ups[i] != up else here) + 0.0
        differs = result != here
        # Further from the midpoint than conforming values differ, both round to the same side: a direction that is
        # another one was chosen.
        chosen = accepted and distance > honest
        tie = distance == 0.0
        after[i] = result
        changed[i] = differs
        corrections += differs
        contradictions += not accepted
        steerable += chosen
        steered += chosen and differs
        ties += tie
        broken += tie and differs
    return corrections, contradictions, steerable, steered, ties, broken
