"""The Triton kernel beside the CPU kernel: room for decisions, dtypes, nothing; test_rules.py has values."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from counterfoil_core.kernels.cpu.rounding import CpuKernel
from counterfoil_core.kernels.cuda.rounding import BLOCK, TritonKernel
from counterfoil_core.kernels.grid import Grid
from counterfoil_core.kernels.result import Rounded
from support.kernelrules import fingerprint
from support.triton_device import DEVICES

pytestmark = pytest.mark.parametrize("device", DEVICES)
KEY = 0xF123456789ABCDEF
STRANGE = [0.0, -0.0, 2.0**-149, -(2.0**-149), 2.0**-126, -(2.0**-127), math.inf, -math.inf, math.nan, -math.nan]
GRID = Grid(0, 24, 8, 44)


def equal(one: Rounded, two: Rounded) -> bool:
    return (
        one.indices.tolist() == two.indices.tolist()
        and one.ups.tolist() == two.ups.tolist()
        and (one.fingerprint, one.largest_exponent, one.largest) == (two.fingerprint, two.largest_exponent, two.largest)
    )


@pytest.mark.often
@pytest.mark.parametrize("room", [0, 3, 20, 1000])
def test_decisions_that_find_no_room_are_rounded_in_a_second_pass(device: str, room: int) -> None:
    grid = Grid(2, 24, 8, 36)
    values = np.random.default_rng(5).standard_normal(3 * BLOCK + 17)
    on_cpu, here = values.copy(), torch.from_numpy(values.copy()).to(device)
    one = CpuKernel(1).round(on_cpu, grid, grid.tau, KEY)
    assert 20 < len(one.indices) < 1000
    assert equal(one, TritonKernel(size=BLOCK, room=room).round(here, grid, grid.tau, KEY))
    assert here.cpu().numpy().tobytes() == on_cpu.tobytes()


def test_an_empty_tensor(device: str) -> None:
    found = TritonKernel().round(torch.empty(0, dtype=torch.float64, device=device), GRID, GRID.tau, KEY)
    assert (len(found.indices), found.fingerprint, found.largest_exponent) == (0, 0, -1023)


@pytest.mark.often
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
