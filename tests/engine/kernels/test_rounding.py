"""Rounding on the CPU and in torch's operators: threads, parts, room, dtypes; values are in test_rules.py."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.kernels.cpu.rounding import _CHUNK, PART, CpuKernel, Unrounded
from counterfoil_core.kernels.grid import Grid
from counterfoil_core.kernels.result import Rounded
from counterfoil_core.kernels.torch.rounding import TorchKernel
from support.kernelrules import fingerprint

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


GRID = Grid(exponent=0, significand_bits=24, guard_bits=8, margin_bits=44)


def test_empty_tensor() -> None:
    rounded, result = both([], GRID, GRID.tau)
    assert rounded.size == 0
    assert (len(result.indices), result.fingerprint) == (0, 0)


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


@given(
    lengths=st.lists(st.sampled_from([0, 1, 5, 16, _CHUNK - 1, _CHUNK + 3, PART - 1, 2 * PART + 7]), max_size=6),
    share=st.sampled_from([0.0, 0.01, 1.0]),
    threads=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_several_at_once_are_what_each_is_alone(lengths: list[int], share: float, threads: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    kernel = CpuKernel(threads)
    arrays, alone, tasks, expected = [], [], [], []
    for length in lengths:
        dtype = rng.choice([np.float32, np.float64])
        grid = Grid(int(rng.integers(-3, 4)), int(rng.choice([8, 24])), 8, int(rng.integers(34, 40)))
        values = rng.standard_normal(length)
        # Exact midpoints: all of them are more than there is room for at first.
        close = rng.random(length) < share
        values[close] = (rng.integers(1, 100, int(close.sum())) * 2 + 1) * 2.0 ** (-grid.significand_bits)
        values[rng.random(length) < 0.001] = rng.choice(STRANGE)
        arrays.append(values.astype(dtype))
        alone.append(arrays[-1].copy())
        key = int(rng.integers(0, 2**63))
        tasks.append(Unrounded(arrays[-1].ctypes.data, length, arrays[-1].itemsize, grid, grid.tau, key))
        expected.append(kernel.round(alone[-1], grid, grid.tau, key))
    found = kernel.round_several(tasks)
    assert [array.tobytes() for array in arrays] == [array.tobytes() for array in alone]
    for one, other in zip(found, expected, strict=True):
        assert one.indices.tolist() == other.indices.tolist()
        assert one.ups.tolist() == other.ups.tolist()
        assert (one.fingerprint, one.largest_exponent) == (other.fingerprint, other.largest_exponent)
        assert one.largest == other.largest or other.largest_exponent > 1023


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


@pytest.mark.parametrize("size", [1, 15, 16, 17, _CHUNK + 17])
def test_where_every_decision_is_close_those_of_zeros_are_and_no_infinity_is(size: int) -> None:
    rng = np.random.default_rng(size)
    values = rng.standard_normal(size) * np.exp2(rng.integers(-150, 100, size))
    places = rng.random(size) < 0.5
    values[places] = rng.choice(np.array(STRANGE), np.count_nonzero(places))
    _, result = both(values, GRID, 2.0**1000)
    assert result.indices.tolist() == np.flatnonzero(np.isfinite(values)).tolist()


@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=20),
    st.data(),
)
@settings(max_examples=100)
def test_fingerprint_tells_value_place_and_key(values: list[float], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(values) - 1))
    rounded, result = both(values, GRID, GRID.tau)
    changed = rounded.copy()
    changed[place] += 2.0**-20
    _, other = both(changed, GRID, GRID.tau)
    assert other.fingerprint != result.fingerprint
    again = np.array(values)
    assert CpuKernel(1).round(again, GRID, GRID.tau, KEY + 1).fingerprint != result.fingerprint


@settings(max_examples=100)
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
