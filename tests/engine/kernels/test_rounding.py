"""Both kernels against exact rational arithmetic, bit by bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from counterfoil.arithmetic.grid.fingerprinting import Kernels
from counterfoil.kernels.cpu.rounding import _CHUNK, PART, CpuKernel
from counterfoil.kernels.grid import Grid
from counterfoil.kernels.result import Rounded
from counterfoil.kernels.torch.rounding import TorchKernel
from support.rounding_reference import fingerprint, power, round_element

KEY = 0x0123456789ABCDEF
STRANGE = [0.0, -0.0, 2.0**-149, -(2.0**-149), 2.0**-126, -(2.0**-127), math.inf, -math.inf, math.nan]


def both(values: list[float] | np.ndarray, grid: Grid, tau: float) -> tuple[np.ndarray, Rounded]:
    """Round with both kernels, check that they agree, and return the common result."""
    on_cpu = np.array(values, np.float64)
    in_torch = torch.from_numpy(on_cpu.copy())
    one, two = CpuKernel(1).round(on_cpu, grid, tau, KEY), TorchKernel().round(in_torch, grid, tau, KEY)
    assert on_cpu.tobytes() == in_torch.numpy().tobytes()
    assert one.indices.tolist() == two.indices.tolist()
    assert one.ups.tolist() == two.ups.tolist()
    assert one.fingerprint == two.fingerprint
    assert one.largest_exponent == two.largest_exponent
    if np.isfinite(on_cpu).all():
        assert one.largest == two.largest == max(map(abs, on_cpu.tolist()), default=0.0)
    return on_cpu, one


def check(values: list[float], grid: Grid, tau: float) -> None:
    rounded, result = both(values, grid, tau)
    expected = [round_element(value, grid, tau) for value in values]
    assert [v.hex() for v in rounded.tolist()] == [e.value.hex() for e in expected]
    assert result.indices.tolist() == [i for i, e in enumerate(expected) if e.near]
    assert result.ups.tolist() == [e.up for e in expected if e.near]
    assert result.fingerprint == fingerprint([e.value for e in expected], KEY)


grids = st.builds(
    Grid,
    exponent=st.integers(-160, 100),
    significand_bits=st.sampled_from([8, *range(18, 25)]),
    guard_bits=st.integers(0, 12),
    margin_bits=st.integers(38, 50),
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[float], Grid]:
    """A grid and values around it: arbitrary ones, grid points, midpoints, and their neighbours in float64."""
    grid = draw(grids)
    smallest = max(grid.exponent - grid.guard_bits, -126) - grid.significand_bits + 1

    def one() -> float:
        kind = draw(st.sampled_from(["any", "point", "midpoint", "beside", "tiny", "zero"]))
        if kind == "zero":
            return draw(st.sampled_from([0.0, -0.0]))
        if kind == "tiny":
            return draw(st.floats(-(2.0**-1000), 2.0**-1000))
        if kind == "any":
            return draw(st.floats(-(2.0 ** (grid.exponent + 1)), 2.0 ** (grid.exponent + 1)))
        multiple = draw(st.integers(-(2 ** (grid.significand_bits + 2)), 2 ** (grid.significand_bits + 2)))
        value = float((multiple + (0 if kind == "point" else 0.5)) * power(smallest))
        if kind == "beside":
            for _ in range(draw(st.integers(1, 3))):
                value = math.nextafter(value, draw(st.sampled_from([-math.inf, math.inf])))
        return value

    return [one() for _ in range(draw(st.integers(0, 12)))], grid


@given(cases(), st.sampled_from([1.0, 0.25]))
@settings(max_examples=400, deadline=None)
def test_matches_rational_arithmetic(case: tuple[list[float], Grid], share: float) -> None:
    values, grid = case
    check(values, grid, grid.tau * share)


GRID = Grid(exponent=0, significand_bits=24, guard_bits=8, margin_bits=44)


def test_rounds_ties_to_even() -> None:
    u = 2.0**-23
    values = [1 + u / 2, 1 + 3 * u / 2, -1 - u / 2, -1 - 3 * u / 2]
    rounded, result = both(values, GRID, GRID.tau)
    assert rounded.tolist() == [1.0, 1 + 2 * u, -1.0, -1 - 2 * u]
    assert result.indices.tolist() == [0, 1, 2, 3]
    assert result.ups.tolist() == [False, True, True, False]


def test_negative_zero_and_vanishing_values_become_positive_zero() -> None:
    rounded, _ = both([-0.0, 0.0, -5e-324, -(2.0**-60)], GRID, GRID.tau)
    assert [v.hex() for v in rounded.tolist()] == ["0x0.0p+0"] * 4


@pytest.mark.parametrize("exponent", [-8, -1, 0, 1])
def test_grid_is_finer_below_a_power_of_two(exponent: int) -> None:
    below = 2.0**exponent * (1 - 2.0**-25)
    rounded, _ = both([below, 2.0**exponent], GRID, GRID.tau)
    # At or below the floor E - G the quantum stays; above it the lower binade has twice as many points.
    assert rounded.tolist() == [2.0**exponent, 2.0**exponent]
    representable = 2.0**exponent * (1 - 2.0**-24)
    kept, _ = both([representable], GRID, GRID.tau)
    assert (kept[0] == representable) == (exponent > -8)


def test_floor_keeps_the_quantum_of_the_scale() -> None:
    quantum = 2.0 ** (0 - 8 - 23)
    rounded, _ = both([quantum * 0.49, quantum * 0.51, quantum * 2.51], GRID, GRID.tau)
    assert rounded.tolist() == [0.0, quantum, 3 * quantum]


def test_float32_subnormals_are_the_finest_grid() -> None:
    grid = Grid(exponent=-140, significand_bits=24, guard_bits=8, margin_bits=44)
    rounded, _ = both([2.0**-149 * 1.4, 2.0**-149 * 0.6, 2.0**-149 * 0.4], grid, grid.tau)
    assert rounded.tolist() == [2.0**-149, 2.0**-149, 0.0]
    assert np.array_equal(rounded.astype(np.float32).astype(np.float64), rounded)


def test_empty_tensor() -> None:
    rounded, result = both([], GRID, GRID.tau)
    assert rounded.size == 0
    assert (len(result.indices), result.fingerprint) == (0, 0)


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_values_that_are_not_finite_show_in_the_largest_exponent(bad: float) -> None:
    _, result = both([1.0, bad, 2.0], GRID, GRID.tau)
    assert result.largest_exponent == 1024


def test_margin_is_inclusive_and_exact() -> None:
    midpoint = 1 + 2.0**-24
    values = [midpoint + GRID.tau, math.nextafter(midpoint + GRID.tau, 2), midpoint - GRID.tau]
    _, result = both(values, GRID, GRID.tau)
    assert result.indices.tolist() == [0, 2]


@pytest.mark.parametrize("size", [_CHUNK - 1, _CHUNK, _CHUNK + 1, 2 * PART - 1, 2 * PART, 4 * PART + 3])
def test_threads_and_slices_do_not_matter(size: int) -> None:
    values = np.random.default_rng(size).standard_normal(size)
    grid = Grid(exponent=2, significand_bits=24, guard_bits=8, margin_bits=36)
    single, parallel = values.copy(), values.copy()
    kernel = CpuKernel(3)
    one, many = CpuKernel(1).round(single, grid, grid.tau, KEY), kernel.round(parallel, grid, grid.tau, KEY)
    assert single.tobytes() == parallel.tobytes()
    assert one.indices.tolist() == many.indices.tolist()
    assert one.ups.tolist() == many.ups.tolist()
    assert (one.fingerprint, one.largest_exponent) == (many.fingerprint, many.largest_exponent)
    assert one.largest == many.largest == np.abs(single).max()
    if size > 4 * PART:
        assert len(one.indices) > 64


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_any_number_of_close_decisions_is_collected(share: float) -> None:
    rng = np.random.default_rng(3)
    multiples = rng.integers(-(2**20), 2**20, 3 * PART + 5).astype(np.float64)
    midpoints = np.flatnonzero(rng.random(multiples.size) < share)
    multiples[midpoints] += 0.5
    values, in_torch = multiples * 2.0**-23, torch.from_numpy(multiples * 2.0**-23)
    grid = Grid(exponent=8, significand_bits=24, guard_bits=8, margin_bits=44)
    found, expected = (
        CpuKernel(2).round(values, grid, grid.tau, KEY),
        TorchKernel().round(in_torch, grid, grid.tau, KEY),
    )
    assert found.indices.tolist() == midpoints.tolist() == expected.indices.tolist()
    assert found.ups.tolist() == expected.ups.tolist()
    assert (found.fingerprint, found.largest) == (expected.fingerprint, expected.largest)
    assert values.tobytes() == in_torch.numpy().tobytes()


@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=20),
    st.data(),
)
@settings(max_examples=100, deadline=None)
def test_fingerprint_tells_value_place_and_key(values: list[float], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(values) - 1))
    rounded, result = both(values, GRID, GRID.tau)
    changed = rounded.copy()
    changed[place] += 2.0**-20
    _, other = both(changed, GRID, GRID.tau)
    assert other.fingerprint != result.fingerprint
    again = np.array(values)
    assert CpuKernel(1).round(again, GRID, GRID.tau, KEY + 1).fingerprint != result.fingerprint


@given(st.lists(st.floats(-1000, 1000, width=32), max_size=12), st.integers(-12, 12))
@settings(max_examples=150, deadline=None)
def test_float32_values_round_as_their_float64_forms_do(values: list[float], exponent: int) -> None:
    grid = Grid(exponent, significand_bits=8, guard_bits=4, margin_bits=14)
    expected, wide = both(values, grid, grid.tau)
    narrow = np.array(values, np.float32)
    in_torch = torch.from_numpy(narrow.copy())
    one = CpuKernel(1).round(narrow, grid, grid.tau, KEY)
    two = TorchKernel().round(in_torch, grid, grid.tau, KEY)
    assert narrow.dtype == np.float32
    assert narrow.astype(np.float64).tobytes() == expected.tobytes() == in_torch.double().numpy().tobytes()
    for found in (one, two):
        assert found.indices.tolist() == wide.indices.tolist()
        assert found.ups.tolist() == wide.ups.tolist()
        assert (found.fingerprint, found.largest_exponent) == (wide.fingerprint, wide.largest_exponent)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.floats(width=32), st.sampled_from(STRANGE)), max_size=12), st.integers(0, 2**64 - 1))
def test_float32_fingerprints_are_those_of_their_float64_bits(values: list[float], key: int) -> None:
    canonical = [math.nan if math.isnan(value) else value for value in values]
    expected = fingerprint(canonical, key), all(map(math.isfinite, values))
    narrow = np.array(values, np.float32)
    for kind in (narrow, narrow.astype(np.float64)):
        assert CpuKernel(1).fingerprint_finite(kind, key) == expected
        assert TorchKernel().fingerprint_finite(torch.from_numpy(kind), key) == expected


@pytest.mark.parametrize("place", [0, _CHUNK, 2 * PART + 1, 4 * PART + 2])
@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_one_value_among_many_that_is_not_finite(place: int, bad: float) -> None:
    values = np.random.default_rng(place).standard_normal(4 * PART + 3).astype(np.float32)
    values[::5] *= np.float32(2.0**-140)  # subnormal numbers
    for finite in (True, False):
        values[place] = 2.0**-149 if finite else bad
        found = CpuKernel(3).fingerprint_finite(values, KEY)
        assert found == CpuKernel(1).fingerprint_finite(values.astype(np.float64), KEY)
        assert found == TorchKernel().fingerprint_finite(torch.from_numpy(values), KEY)
        assert found[1] == finite


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int32, torch.bool])
def test_every_dtype_and_stride_has_a_fingerprint(dtype: torch.dtype) -> None:
    values = torch.arange(-6, 6).to(dtype)
    kernels = Kernels(torch.device("cpu"), 1)
    found = [kernels.fingerprint(x, KEY) for x in (values[::2], values[::2].clone())]
    assert found[0] == found[1] != kernels.fingerprint(values[1::2], KEY)
    if dtype.is_floating_point:
        assert found[0] == fingerprint(values[::2].tolist(), KEY)
    kernels.close()


@pytest.mark.gpu
def test_cuda_kernel_equals_the_cpu_kernel() -> None:
    rng = np.random.default_rng(5)
    values = rng.standard_normal(100_003) * 2.0 ** rng.integers(-40, 2, 100_003)
    grid = Grid(exponent=3, significand_bits=24, guard_bits=8, margin_bits=38)
    on_cpu, on_gpu = values.copy(), torch.from_numpy(values).cuda()
    one, two = (
        CpuKernel(1).round(on_cpu, grid, grid.tau, KEY),
        TorchKernel().round(on_gpu, grid, grid.tau, KEY),
    )
    assert on_cpu.tobytes() == on_gpu.cpu().numpy().tobytes()
    assert one.indices.tolist() == two.indices.tolist()
    assert one.ups.tolist() == two.ups.tolist()
    assert one.fingerprint == two.fingerprint
