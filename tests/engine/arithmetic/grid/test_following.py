"""Logged directions applied to single values: the compiled rule against the judge's in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil_core.arithmetic.grid.directions import apply_directions
from counterfoil_core.arithmetic.grid.neighbours import neighbours
from counterfoil_core.kernels.cpu.rounding import CpuKernel
from counterfoil_core.kernels.grid import ACCEPTANCE_FACTOR, Grid
from counterfoil_core.kernels.result import Counts

GRIDS = [Grid(0, 24, 8, 44), Grid(7, 18, 8, 38), Grid(-130, 24, 8, 44), Grid(120, 8, 4, 14), Grid(-32768, 24, 8, 44)]


def values_around(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    """Midpoints, values beside them by up to 4 tau, arbitrary ones, tiny ones, zeros and infinities."""
    exponents = rng.integers(max(grid.exponent, -126) - 12, max(grid.exponent, -126) + 1, 400)
    quanta = np.ldexp(1.0, np.maximum(exponents, grid.floor_exponent) - grid.significand_bits + 1)
    multiples = np.floor(np.ldexp(1.0 + rng.random(400), exponents) / quanta) + 0.5
    midpoints = multiples * quanta * rng.choice([-1.0, 1.0], 400)
    beside = midpoints + grid.tau * rng.uniform(-4, 4, 400)
    strange = [0.0, -0.0, 5e-324, -(2.0**-1030), np.inf, -np.inf]
    return np.concatenate([midpoints, beside, rng.standard_normal(50) * quanta[:50], strange])


@pytest.mark.parametrize("share", [0.0, 1 / 16, 3 / 4])
@pytest.mark.parametrize("grid", GRIDS)
def test_directions_and_counts_are_those_of_the_neighbours(grid: Grid, share: float) -> None:
    rng = np.random.default_rng(grid.exponent + 40000)
    own = values_around(grid, rng)
    rounded = own.copy()
    CpuKernel(1).round(rounded, grid, grid.tau, 1)
    rounded[np.isinf(own)] = own[np.isinf(own)]
    ups = rng.random(own.size) < 0.5
    beside = neighbours(own, rounded, grid)
    accepted = beside.distance <= ACCEPTANCE_FACTOR * grid.tau
    expected = np.where(accepted & (ups != beside.is_up), beside.other, rounded) + 0.0
    steerable, ties, differs = (
        accepted & (beside.distance > share * grid.tau),
        beside.distance == 0,
        expected != rounded,
    )
    counts, after, changed = apply_directions(own, rounded, ups, grid, share)
    assert after.tobytes() == expected.tobytes()
    assert changed.tolist() == differs.tolist()
    assert counts == Counts(
        entries=own.size,
        corrections=int(differs.sum()),
        contradictions=int((~accepted).sum()),
        steerable=int(steerable.sum()),
        steered=int((steerable & differs).sum()),
        ties=int(ties.sum()),
        broken_ties=int((ties & differs).sum()),
    )
    if grid.exponent > -32768:
        assert counts.ties > 300
        assert counts.corrections > 100
        assert counts.contradictions > 50
