"""What a fingerprint tells about the values behind it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from counterfoil_core.arithmetic.grid.neighbours import Values, neighbours, on_grid, quanta
from counterfoil_core.judge import explain as module
from counterfoil_core.judge.explain import explain, mix, pair_or_triple, subsets, unmix
from counterfoil_core.kernels.cpu.rounding import CpuKernel, mix_values
from counterfoil_core.kernels.grid import Grid
from support import kernelrules as rules

GRID = Grid(exponent=0, significand_bits=24, guard_bits=8, margin_bits=44)
KEY = 0xC0FFEE1234567890
NONE = np.zeros(0, np.int64)
floats = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture
def kernel():
    return CpuKernel(1)


def tensor(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, count)


def fingerprint(values: np.ndarray) -> int:
    return int(mix_values(values, np.arange(len(values)), np.uint64(KEY)))


def explained(before: np.ndarray, after: np.ndarray, trainer: np.ndarray, logged: np.ndarray = NONE):
    """What the fingerprint tells when every unlogged element within twice the margin may be rounded either way."""
    difference = (fingerprint(trainer) - fingerprint(after)) % 2**64
    close = np.flatnonzero(np.abs(neighbours(before, after, GRID).distance) <= 2 * GRID.tau)
    return explain(before, after, GRID, KEY, difference, np.setdiff1d(close, logged))


def told(before: np.ndarray, after: np.ndarray, trainer: np.ndarray, logged: np.ndarray = NONE):
    return explained(before, after, trainer, logged).values


# The mixing function.


@given(st.lists(floats, min_size=1, max_size=20), st.integers(0, 2**64 - 1))
def test_it_is_that_of_the_kernel_and_can_be_undone(values, key):
    array = np.array(values)
    indices = np.arange(len(values), dtype=np.int64)
    terms = mix(array, indices, key)
    assert int(terms.sum(dtype=np.uint64)) == int(mix_values(array, indices, np.uint64(key)))
    assert unmix(terms, indices, key).tobytes() == array.tobytes()


# The neighbours.


@given(st.floats(-2.0, 2.0))
def test_neighbours_are_those_of_the_rational_reference(value):
    reference = rules.rounded(value, GRID)
    beside = neighbours(np.array([value]), np.array([reference.value]), GRID)
    assert beside.quantum[0] == float(rules.quantum(Fraction(value), GRID))
    assert bool(beside.distance[0] <= GRID.tau) == (reference.distance <= Fraction(GRID.tau))
    assert abs(beside.other[0] - reference.value) == beside.quantum[0]
    assert bool(beside.is_up[0]) == reference.is_up


@given(st.floats(-2.0, 2.0))
def test_a_rounded_value_is_on_the_grid_and_one_with_a_bit_more_is_not(value):
    rounded = rules.rounded(value, GRID).value
    assert on_grid(np.array([rounded]), GRID)[0]
    # Away from zero, since towards it the grid may be finer.
    between = rounded + np.copysign(quanta(np.array([rounded]), GRID)[0] / 2, rounded)
    assert not on_grid(np.array([between]), GRID)[0]


def test_what_no_rounding_gives_is_not_on_the_grid():
    values = np.array([np.nan, np.inf, -np.inf, -0.0, 4.0, 1e300, 5e-324, 0.1])
    assert on_grid(values, GRID).tolist() == [False] * 8
    assert on_grid(np.array([0.0, 3.0, -3.5, 2.0**-31]), GRID).tolist() == [True] * 4


# One element.


@settings(max_examples=30)
@given(st.integers(0, 4999), st.floats(-1.9, 1.9), st.integers(0, 50))
def test_any_single_value_is_recovered(index, value, seed):
    before = tensor(5000, seed)
    after = np.round(before * 2**23) / 2**23
    trainer = after.copy()
    trainer[index] = np.round(value * 2**23) / 2**23 + 0.0
    if trainer[index] == after[index]:
        return
    found = told(before, after, trainer)
    assert (found.indices.tolist(), found.values.tolist()) == ([index], [trainer[index]])


def test_random_bits_hardly_ever_look_like_a_value_of_the_grid():
    """The rate of false positives of a single element: far below one in a million elements."""
    bits = np.random.default_rng(1).integers(0, 2**64, 4_000_000, dtype=np.uint64)
    assert not on_grid(bits.view(np.float64), GRID).any()


def test_two_values_at_will_are_not_explained():
    before = tensor(5000)
    after = np.round(before * 2**23) / 2**23
    trainer = after.copy()
    trainer[[3, 4000]] = 0.5, -0.25
    assert told(before, after, trainer) is None


# Several elements close to a midpoint.


def close_to_midpoints(count: int, at: list[int], distance: float) -> tuple[np.ndarray, np.ndarray]:
    """Values of which some lie closely above a midpoint, and the same rounded."""
    sign = np.sign(tensor(count, 1))
    before = sign * (0.5 + np.round(np.abs(tensor(count)) * 2**18) / 2**20)
    before[at] += 2.0**-25 + distance
    after = np.array([rules.rounded(value, GRID).value for value in before])
    return before, after


@settings(max_examples=20)
@given(st.data())
def test_any_subset_of_unlogged_values_within_the_margin_is_found(data):
    at = list(range(10, 400, 13))
    flipped = sorted(data.draw(st.sets(st.sampled_from(at), min_size=1)))
    before, after = close_to_midpoints(500, at, GRID.tau / 8)
    trainer = after.copy()
    trainer[flipped] = neighbours(before, after, GRID).other[flipped]
    found = told(before, after, trainer)
    assert found.indices.tolist() == flipped
    assert (found.values == trainer[flipped]).all()


def test_logged_values_are_not_suspected():
    """Were the logged ones candidates too, there would be too many to try every subset."""
    at = list(range(400))
    before, after = close_to_midpoints(500, at, GRID.tau / 8)
    flipped = [7, 99, 140, 250]
    trainer = after.copy()
    trainer[flipped] = neighbours(before, after, GRID).other[flipped]
    assert told(before, after, trainer) is None
    logged = np.array([index for index in at if index % 11 and index not in flipped])
    assert told(before, after, trainer, logged).indices.tolist() == flipped


@pytest.mark.parametrize("flipped", [[5, 300], [5, 128, 300]])
def test_two_or_three_beyond_the_margin_are_found_among_many(flipped):
    at = list(range(0, 400))
    before, after = close_to_midpoints(1000, at, 16 * GRID.tau)
    trainer = after.copy()
    trainer[flipped] = neighbours(before, after, GRID).other[flipped]
    assert told(before, after, trainer).indices.tolist() == flipped


def test_four_beyond_the_margin_are_not_explained():
    before, after = close_to_midpoints(1000, list(range(0, 400)), 16 * GRID.tau)
    trainer = after.copy()
    flipped = [5, 100, 200, 300]
    trainer[flipped] = neighbours(before, after, GRID).other[flipped]
    assert told(before, after, trainer) is None


def test_searches_by_sum():
    numbers = np.random.default_rng(0).integers(0, 2**64, 40, dtype=np.uint64)
    for chosen in ([0], [39], [1, 2], [0, 5, 17, 22, 39], list(range(40))):
        total = int(numbers[chosen].sum(dtype=np.uint64))
        assert [found.tolist() for found in subsets(numbers, total)] == [chosen]
        small = pair_or_triple(numbers, total)
        assert (None if small is None else small.tolist()) == (chosen if len(chosen) in (2, 3) else None)
    assert subsets(numbers, 12345) == subsets(numbers[:0], 12345) == []
    assert len(subsets(np.array([3, 4, 4, 3], np.uint64), 7)) > 1
    # Two that differ in the second half alone.
    assert sorted(found.tolist() for found in subsets(np.array([1, 9, 4, 4], np.uint64), 4)) == [[2], [3]]
    assert pair_or_triple(numbers[:1], int(numbers[0])) is None


def test_a_tensor_of_one_element():
    one = np.array([0.5])
    assert told(one, one, np.array([0.25])).values.tolist() == [0.25]


def test_what_may_be_honest_rounding_comes_before_a_single_value_that_fits_by_chance(monkeypatch):
    """In a tensor of hundreds of millions of elements one of them may; believed, it would accuse."""
    before, after = close_to_midpoints(5000, [3, 90], 0.5 * GRID.tau)
    trainer = after.copy()
    trainer[[3, 90]] = neighbours(before, after, GRID).other[[3, 90]]
    by_chance = Values(np.array([7], np.int64), np.array([1.5]))
    monkeypatch.setattr(module, "_single", lambda *_: by_chance)
    assert told(before, after, trainer).indices.tolist() == [3, 90]
    # Control: where no honest rounding explains the difference, the single value does.
    trainer[500] += 1.0
    assert told(before, after, trainer) is by_chance


# Whether rounding is excluded.


def test_where_every_subset_was_tried_rounding_is_excluded():
    before, after = close_to_midpoints(5000, [3, 90], 0.5 * GRID.tau)
    trainer = after.copy()
    trainer[[7, 2000]] = 0.5, -0.25
    assert explained(before, after, trainer) == module.Explanation(None, True)
    # Control: with the two elements rounded to the other side it is what happened.
    trainer = after.copy()
    trainer[[3, 90]] = neighbours(before, after, GRID).other[[3, 90]]
    assert not explained(before, after, trainer).rounding_excluded


def test_where_there_are_too_many_to_try_it_is_not_excluded():
    many = list(range(0, 400))
    before, after = close_to_midpoints(5000, many, 0.5 * GRID.tau)
    trainer = after.copy()
    trainer[[700, 2000]] = 0.5, -0.25
    assert explained(before, after, trainer) == module.Explanation(None, False)
    # Control: the log mentions all but a few of them.
    assert explained(before, after, trainer, np.array(many[20:])).rounding_excluded
