"""The two theorems of docs/proofs.md."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from counterfoil_core.kernels.cpu.rounding import CpuKernel
from counterfoil_core.kernels.grid import Grid

KERNEL = CpuKernel(1)


def on_grid(values: np.ndarray, grid: Grid) -> np.ndarray:
    rounded = values.copy()
    KERNEL.round(rounded, grid, grid.tau, 0)
    return rounded


@given(st.integers(-40, 40), st.integers(18, 24), st.integers(0, 8), st.integers(0, 2**32))
@settings(max_examples=60)
def test_sums_of_grid_values_are_exact_in_any_order(exponent: int, p: int, guard: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = Grid(exponent, p, guard, p + guard + 2)
    spread = rng.standard_normal(4000) * 2.0 ** rng.integers(-30, 1, 4000)
    values = on_grid(spread / np.abs(spread).max() * 2.0**exponent * 1.99, grid)
    exact = math.fsum(values)
    for _ in range(3):
        rng.shuffle(values)
        total = 0.0
        for value in values.tolist():
            total += value
        assert total == exact
        assert float(np.sum(values)) == exact


def test_sums_of_other_values_do_depend_on_the_order() -> None:
    rng = np.random.default_rng(1)
    values = rng.standard_normal(4000)
    totals = set()
    for _ in range(5):
        rng.shuffle(values)
        total = 0.0
        for value in values.tolist():
            total += value
        totals.add(total)
    assert len(totals) > 1


def test_beyond_the_bound_sums_may_round() -> None:
    grid = Grid(0, 24, 8, 44)
    quantum = 2.0 ** (0 - 8 - 24 + 1)
    at_bound = 2.0**53 * quantum
    assert on_grid(np.array([quantum, 1.0]), grid).tolist() == [quantum, 1.0]
    assert at_bound + quantum == at_bound, "one more than 2^53 quanta cannot be told from 2^53"


def gamma(n: int) -> Fraction:
    unit = Fraction(n, 2**53)
    return unit / (1 - unit)


@given(st.integers(0, 2**32), st.sampled_from([3, 50, 700]), st.sampled_from([0, 20, 40]))
@settings(max_examples=60)
def test_a_large_enough_margin_makes_replay_identical(seed: int, n: int, cancellation: int) -> None:
    """Dot products in two orders: with tau from the bound, the auditor always lands on the trainer's value."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal(n), rng.standard_normal(n)
    if cancellation:
        a = np.concatenate([a, -a * (1 + 2.0**-cancellation)])
        b = np.concatenate([b, b])
    terms = [Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    size = sum(abs(term) for term in terms)
    exact = sum(terms)
    forwards, backwards = float(np.dot(a, b)), _dot(a[::-1].tolist(), b[::-1].tolist())
    # gamma over one rounding more: the product's own.
    bound = gamma(len(terms) + 1) * size
    assert abs(Fraction(forwards) - exact) <= bound
    assert abs(Fraction(backwards) - exact) <= bound
    exponent = math.frexp(float(size))[1] - 1
    # The smallest margin exponent whose tau is at least twice the bound.
    margin_bits = exponent - (math.frexp(float(2 * bound))[1])
    grid = Grid(exponent, 24, 8, margin_bits)
    assert Fraction(grid.tau) >= 2 * bound
    trainer, auditor = np.array([forwards]), np.array([backwards])
    log = KERNEL.round(trainer, grid, grid.tau, 0)
    KERNEL.round(auditor, grid, grid.tau, 0)
    if not len(log.indices):
        assert auditor[0] == trainer[0]
    else:
        assert abs(backwards - forwards) <= grid.tau


def _dot(a: list[float], b: list[float]) -> float:
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


@pytest.mark.parametrize("p", [18, 24])
def test_a_value_is_never_close_to_two_midpoints(p: int) -> None:
    grid = Grid(0, p, 8, p + 8 + 2)
    smallest = 2.0 ** (0 - 8 - p + 1)
    assert 2 * grid.tau < smallest / 2
