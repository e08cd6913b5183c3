"""Logged directions applied to single values: the compiled rule against the judge's in numpy and Triton's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from counterfoil.arithmetic.grid.following import judged
from counterfoil.arithmetic.grid.neighbours import neighbours
from counterfoil.kernels.counts import Counts
from counterfoil.kernels.cpu.rounding import CpuKernel, mix_values
from counterfoil.kernels.grid import ACCEPTANCE_FACTOR, Grid

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
    counts, after, changed = judged(own, rounded, ups, grid, share)
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


@pytest.mark.parametrize("item", [torch.float64, torch.float32])
@pytest.mark.parametrize("grid", GRIDS)
def test_triton_takes_the_same_directions(grid: Grid, item: torch.dtype) -> None:
    pytest.importorskip("triton")
    from counterfoil.kernels.cuda.rounding import SLOTS, Pass, Slot
    from support.triton_device import ON_DEVICE

    device = "cuda:0" if ON_DEVICE else "cpu"
    rng = np.random.default_rng(grid.exponent + 50000)
    own = values_around(grid, rng)
    # At the ends of what is accepted, and one number beyond.
    ends = own[:400] + rng.choice([-1.0, 1.0], 400) * ACCEPTANCE_FACTOR * grid.tau
    own = np.concatenate([own, ends, np.nextafter(ends, np.inf), np.nextafter(ends, -np.inf)])
    rounded = own.copy()
    CpuKernel(1).round(rounded, grid, grid.tau, 1)
    rounded[np.isinf(own)] = own[np.isinf(own)]
    fits = rounded == torch.from_numpy(rounded).to(item).double().numpy()
    own, rounded = own[fits], rounded[fits]
    ups, key = rng.random(own.size) < 0.5, 0xF123456789ABCDEF
    _, after, changed = judged(own, rounded, ups, grid, 0.75)
    slot = torch.zeros(SLOTS, dtype=torch.int64, device=device)
    slot[Slot.KEY], slot[Slot.FLOOR] = key - 2**64, grid.floor_biased
    slot[Slot.EXPONENT] = grid.exponent
    values = torch.from_numpy(rounded.copy()).to(item).to(device)
    entries = torch.from_numpy(2 * np.arange(own.size) + ups).to(device)
    before = torch.zeros(own.size, dtype=torch.int64, device=device)
    passes = Pass(grid.significand_bits)
    passes.direct(values, entries, torch.from_numpy(own.view(np.int64)).to(device), before, slot, grid.margin_bits)
    assert values.double().cpu().numpy().tobytes() == after.tobytes()
    finite = np.isfinite(own)
    assert before.cpu().numpy().view(np.float64)[finite].tobytes() == rounded[finite].tobytes()
    where = changed.nonzero()[0]
    gained, lost = (int(mix_values(one[where], where, np.uint64(key))) for one in (after, rounded))
    assert int(slot[Slot.FINGERPRINT]) % 2**64 == (gained - lost) % 2**64
    assert grid.exponent == -32768 or changed.sum() > (30 if item is torch.float64 else 0)
