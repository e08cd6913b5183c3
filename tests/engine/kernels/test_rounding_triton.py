"""The Triton kernel against the CPU kernel and exact rational arithmetic, bit by bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from counterfoil.kernels.cpu.rounding import CpuKernel
from counterfoil.kernels.cuda.rounding import BLOCK, TritonKernel
from counterfoil.kernels.grid import Grid
from counterfoil.kernels.result import Rounded
from support.rounding_reference import fingerprint, power, round_element
from support.triton_device import DEVICES

pytestmark = pytest.mark.parametrize("device", DEVICES)
KEY = 0xF123456789ABCDEF
STRANGE = [0.0, -0.0, 2.0**-149, -(2.0**-149), 2.0**-126, -(2.0**-127), math.inf, -math.inf, math.nan, -math.nan]
GRIDS = [
    Grid(exponent, p, guard, margin)
    for exponent, p, guard, margin in [
        (0, 24, 8, 44), (3, 24, 8, 36), (-140, 24, 8, 44), (100, 18, 8, 38), (-1, 8, 4, 16), (-32768, 24, 8, 44),
    ]
]  # fmt: skip


def equal(one: Rounded, two: Rounded) -> bool:
    return (
        one.indices.tolist() == two.indices.tolist()
        and one.ups.tolist() == two.ups.tolist()
        and (one.fingerprint, one.largest_exponent, one.largest) == (two.fingerprint, two.largest_exponent, two.largest)
    )


def around(grid: Grid, rng: np.random.Generator, count: int) -> np.ndarray:
    """Values around a grid: arbitrary ones, points, midpoints, their neighbours in float64, the ends of the margin."""
    smallest = max(grid.exponent - grid.guard_bits, -126) - grid.significand_bits + 1
    multiples = rng.integers(-(2 ** (grid.significand_bits + 2)), 2 ** (grid.significand_bits + 2), count)
    halves = rng.choice([0.0, 0.5], count)
    values = (multiples + halves) * float(power(smallest))
    kind = rng.integers(0, 6, count)
    shifted = np.nextafter(values, rng.choice([-np.inf, np.inf], count))
    shifted = np.where(kind == 1, shifted, values + rng.choice([-grid.tau, grid.tau], count))
    values = np.where(kind >= 2, values, shifted)
    values = np.where(kind == 3, np.nextafter(values + grid.tau, np.inf), values)
    values = np.where(kind == 4, rng.standard_normal(count) * float(power(max(grid.exponent, -200))), values)
    return np.where(kind == 5, rng.choice([0.0, -0.0, 5e-324, -(2.0**-1000)], count), values)


@pytest.mark.parametrize("grid", GRIDS)
def test_matches_the_cpu_kernel_and_rational_arithmetic(device: str, grid: Grid) -> None:
    values = around(grid, np.random.default_rng(grid.exponent + 40000), 400)
    on_cpu, here = values.copy(), torch.from_numpy(values.copy()).to(device)
    one = CpuKernel(1).round(on_cpu, grid, grid.tau, KEY)
    assert equal(one, TritonKernel().round(here, grid, grid.tau, KEY))
    assert here.cpu().numpy().tobytes() == on_cpu.tobytes()
    expected = [round_element(value, grid, grid.tau) for value in values.tolist()]
    assert [v.hex() for v in on_cpu.tolist()] == [e.value.hex() for e in expected]
    assert one.indices.tolist() == [i for i, e in enumerate(expected) if e.near]
    assert one.fingerprint == fingerprint([e.value for e in expected], KEY)
    assert grid.exponent == -32768 or len(one.indices) > 20


@pytest.mark.parametrize("room", [0, 3, 20, 1000])
def test_decisions_that_find_no_room_are_rounded_in_a_second_pass(device: str, room: int) -> None:
    grid = Grid(2, 24, 8, 36)
    values = np.random.default_rng(5).standard_normal(3 * BLOCK + 17)
    on_cpu, here = values.copy(), torch.from_numpy(values.copy()).to(device)
    one = CpuKernel(1).round(on_cpu, grid, grid.tau, KEY)
    assert 20 < len(one.indices) < 1000
    assert equal(one, TritonKernel(size=BLOCK, room=room).round(here, grid, grid.tau, KEY))
    assert here.cpu().numpy().tobytes() == on_cpu.tobytes()


def test_float32_values_round_as_their_float64_forms_do(device: str) -> None:
    grid = Grid(1, significand_bits=8, guard_bits=4, margin_bits=14)
    narrow = around(grid, np.random.default_rng(3), 300).astype(np.float32)
    on_cpu, here = narrow.astype(np.float64), torch.from_numpy(narrow.copy()).to(device)
    one = CpuKernel(1).round(on_cpu, grid, grid.tau, KEY)
    assert equal(one, TritonKernel().round(here, grid, grid.tau, KEY))
    assert here.double().cpu().numpy().tobytes() == on_cpu.tobytes()


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_values_that_are_not_finite_show_in_the_largest_exponent(device: str, bad: float) -> None:
    values = torch.tensor([1.0, bad, 2.0], dtype=torch.float64, device=device)
    assert TritonKernel().round(values, GRIDS[0], GRIDS[0].tau, KEY).largest_exponent == 1024


def test_an_empty_tensor(device: str) -> None:
    found = TritonKernel().round(torch.empty(0, dtype=torch.float64, device=device), GRIDS[0], GRIDS[0].tau, KEY)
    assert (len(found.indices), found.fingerprint, found.largest_exponent) == (0, 0, -1023)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_fingerprints_of_values_that_are_not_rounded(device: str, dtype: torch.dtype) -> None:
    for values in (STRANGE, STRANGE[:6], [1.5] * (BLOCK + 1)):
        tensor = torch.tensor(values, dtype=dtype)
        canonical = [math.nan if math.isnan(value) else value for value in tensor.tolist()]
        expected = fingerprint(canonical, KEY), all(map(math.isfinite, values))
        assert TritonKernel(size=BLOCK).fingerprint_finite(tensor.to(device), KEY) == expected


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_fingerprints_of_integers(device: str, dtype: torch.dtype) -> None:
    values = torch.tensor([0, -1, 5, torch.iinfo(dtype).min, torch.iinfo(dtype).max], dtype=dtype)
    expected = CpuKernel(1).fingerprint(values.long().numpy().view(np.uint64), KEY)
    assert TritonKernel().fingerprint(values.to(device), KEY) == expected
    values[2] += 1
    assert TritonKernel().fingerprint(values.to(device), KEY) != expected
