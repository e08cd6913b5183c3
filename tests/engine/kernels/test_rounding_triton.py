"""The Triton kernel beside the CPU kernel: room for decisions, dtypes, nothing; test_rules.py has values."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from counterfoil_core.kernels.cpu.rounding import CpuKernel
from counterfoil_core.kernels.cuda.rounding import BLOCK, SLOTS, Directions, GridChoice, Pass, Slot, TritonKernel
from counterfoil_core.kernels.devicenumber import DeviceNumber
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


@pytest.mark.parametrize("logged", [1, 33, 700, 3000])
def test_directions_of_a_log(device: str, logged: int) -> None:
    """Of few elements in many blocks, and of more than a program looks at at once: as each by itself."""
    count, grid = 3000, Grid(2, 24, 8, 30)
    random = np.random.default_rng(logged)
    values = random.standard_normal(count)
    indices = np.sort(random.choice(count, logged, replace=False))
    ups = random.random(logged) < 0.5
    near = values.copy()
    # Half of them lie on a midpoint, a quarter 2 tau from one, the others wherever they are.
    quantum = 2.0 ** (np.maximum(np.frexp(values)[1] - 1, grid.floor_biased - 1023) - 23)
    middles = np.floor(values / quantum) * quantum + quantum / 2
    near[indices[::2]] = middles[indices[::2]]
    near[indices[1::4]] = middles[indices[1::4]] + 2 * grid.tau
    plain = near.copy()
    CpuKernel(1).round(plain, grid, grid.tau, KEY)
    expected = plain.copy()
    remainder = near - plain
    turns = (np.abs(quantum / 2 - np.abs(remainder)) <= 2 * grid.tau)[indices] & (ups != (remainder < 0)[indices])
    turned = indices[turns]
    expected[turned] = (plain + np.copysign(quantum, remainder))[turned]
    assert logged == 1 or 0 < turns.sum() < logged
    slot = torch.zeros(SLOTS, dtype=torch.int64)
    slot[Slot.KEY], slot[Slot.GIVEN] = int(np.uint64(KEY).astype(np.int64)), 2
    slot, flat = slot.to(device), torch.from_numpy(near.copy()).to(device)
    own, before = (torch.zeros(logged, dtype=torch.int64, device=device) for _ in range(2))
    log = torch.from_numpy(indices * 2 + ups).to(device)
    # 4.5, which is root of 9 times 1.5: its E is 2.
    nine = torch.tensor(9.0, dtype=torch.float64, device=device)
    scale = DeviceNumber.read(nine).sqrt() * (DeviceNumber.read(nine) / 6)
    choice = GridChoice(scale, 8, 30, Directions(log, own, before, 30))
    cursor, entries = (torch.zeros(n, dtype=torch.int64, device=device) for n in (1, 2 * count))
    Pass(24, 32).round(flat, slot, entries, cursor, choice=choice)
    assert flat.cpu().numpy().tobytes() == expected.tobytes()
    assert own.cpu().numpy().tobytes() == near[indices].tobytes()
    assert before.cpu().numpy().tobytes() == plain[indices].tobytes()
    told = slot.cpu().numpy()
    assert told[Slot.FINGERPRINT] == np.uint64(fingerprint(expected.tolist(), KEY)).astype(np.int64)
    assert (told[Slot.SCALE : Slot.SCALE + 1].view(np.float64)[0], told[Slot.EXPONENT]) == (float(scale), 2)
    assert float(scale) == 4.5
