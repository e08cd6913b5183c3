"""What scale rules ask of tensors on a CUDA device: the largest magnitudes exactly, sums as near as any order gives."""

from __future__ import annotations

import math

import pytest
import torch

from counterfoil_core.arithmetic.families import magnitude
from counterfoil_core.kernels import devices
from counterfoil_core.kernels.cuda.measures import largest_gate, largest_of_products, measures, top
from support.definite_reference import wild
from support.triton_device import DEVICES, ON_DEVICE

pytestmark = pytest.mark.parametrize("device", DEVICES)
CUTS = [(1, 1, 1, 1), (5, 1, 1, 3000), (1, 300, 70, 1), (3, 40, 5, 7), (7, 5, 130, 1)]
"""k0, r0, k1, r1."""


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("lengths", CUTS)
def test_every_cut_is_measured(device: str, lengths: tuple[int, ...], dtype: torch.dtype) -> None:
    x = wild(lengths, 3).to(dtype)
    wide = x.double().abs()
    found, tops = (one.cpu() for one in measures(x.to(device), lengths))
    assert torch.equal(found[0], wide.amax((1, 3)).view(-1))
    torch.testing.assert_close(found[1], wide.sum((1, 3)).view(-1), rtol=1e-13, atol=0.0)
    torch.testing.assert_close(found[2], wide.square().sum((1, 3)).view(-1), rtol=1e-13, atol=0.0)
    assert torch.equal(tops, found.amax(1))
    assert float(top(x.to(device))) == float(wide.max())


@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_what_is_not_finite_shows_in_its_group_alone(device: str, bad: float) -> None:
    x = torch.ones(3, 5000, dtype=torch.float64)
    x[1, 17] = -bad
    found, tops = (one.cpu() for one in measures(x.to(device), (3, 1, 1, 5000)))
    same = torch.isinf if math.isinf(bad) else torch.isnan
    assert same(found[:, 1]).all()
    assert found[:, [0, 2]].tolist() == [[1, 1], [5000, 5000], [5000, 5000]]
    assert same(tops).all()
    assert same(top(x.to(device)))


@pytest.mark.parametrize("turned", [False, True])
def test_rules_ask_the_kernel(device: str, turned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows, columns and channels of tensors that lie either way: as torch's operators give them."""
    if not ON_DEVICE:
        monkeypatch.setattr(devices, "loops_reach", lambda device: False)
    x = wild((4, 6, 50) if not turned else (4, 50, 6), 5).double().to(device)
    x = x.mT if turned else x

    def asked() -> list[torch.Tensor]:
        sizes = magnitude.matrix_sizes(x[1])
        found = [magnitude.energy(x, 1), magnitude.energy(x, 2), magnitude.energy(x[0], 0), sizes.rows.total]
        found += [sizes.columns.squares, magnitude.along(x, 2).largest, magnitude.along(x, 1).squares]
        found += [torch.tensor(float(magnitude.largest_energy(x, axis)), dtype=torch.float64) for axis in (1, 2)]
        return [one.cpu() for one in found]

    expected = asked()
    if not ON_DEVICE:
        monkeypatch.setattr(devices, "triton_reaches", lambda device: True)
    for one, other in zip(asked(), expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-13, atol=0.0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_gates(device: str, dtype: torch.dtype) -> None:
    random = torch.Generator().manual_seed(4)
    g, x = (torch.randn(3001, dtype=torch.float64, generator=random).to(dtype) for _ in range(2))
    wide, argument = g.double(), x.double().abs()
    expected = (wide.abs() * (1.0 + 0.4 * argument * (1.0 + 0.1 * argument * argument))).max()
    assert float(largest_gate(g.to(device), x.to(device), 0.4, 0.1)) == pytest.approx(float(expected), rel=1e-15)
    g[77] = math.nan
    assert math.isnan(float(largest_gate(g.to(device), x.to(device), 0.4, 0.1)))


@pytest.mark.parametrize("lengths", [(1, 1), (700, 3), (20, 1030)])
def test_products_of_one_batch_meet(device: str, lengths: tuple[int, int]) -> None:
    """The largest row of one matrix and the largest column of another are not multiplied."""
    random = torch.Generator().manual_seed(4)
    one, other = (torch.rand(5, length, dtype=torch.float64, generator=random) for length in lengths)
    one[2, -1], other[4, -1] = 3.0, 3.0
    found = largest_of_products(one.to(device), other.to(device))
    assert float(found) == float((one.amax(1) * other.amax(1)).max())
