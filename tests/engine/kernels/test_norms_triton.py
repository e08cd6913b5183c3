"""Norms on a CUDA device, and what scale rules ask of them: exact on whole numbers, as near as any order else."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from counterfoil_core.arithmetic.families import magnitude, norms
from counterfoil_core.kernels import devices
from counterfoil_core.kernels.cpu import norms as on_cpu
from counterfoil_core.kernels.cuda import norms as there
from support.triton_device import DEVICES, ON_DEVICE

pytestmark = pytest.mark.parametrize("device", DEVICES)
SHAPES = [(1, 1), (3, 16), (150, 4), (2, 2048), (37, 3)]
"""Rows, and their length; 16, 4 and 2048 have exact means."""


@pytest.fixture(autouse=True)
def reached(monkeypatch: pytest.MonkeyPatch) -> None:
    if not ON_DEVICE:
        monkeypatch.setattr(devices, "triton_reaches", lambda device: True)


def whole(*shape: int, seed: int = 1) -> Tensor:
    """Whole numbers: whatever the order, sums of them and of their products are exact."""
    return torch.randint(-8, 9, shape, generator=torch.Generator().manual_seed(seed)).double()


def moved(given: dict[str, Any], device: str) -> dict[str, Any]:
    return {name: one.to(device) if isinstance(one, Tensor) else one for name, one in given.items()}


@pytest.mark.parametrize("affine", [(True, True), (True, False), (False, False)])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_layer_norm_has_the_bits_of_its_form(device: str, shape: tuple[int, int], affine: tuple[bool, bool]) -> None:
    length = shape[1]
    x = whole(*shape) if length in (16, 4, 2048, 1) else torch.randn(*shape, dtype=torch.float64)
    weight, bias = (whole(length, seed=n) if there else None for n, there in enumerate(affine, 2))
    given = {"input": x, "normalized_shape": [length], "weight": weight, "bias": bias, "eps": 1e-5}
    found = there.layer_norm(moved(given, device))
    for one, expected in zip(found, on_cpu.layer_norm(given), strict=True):
        assert one.shape == expected.shape
        if length in (16, 4, 2048, 1):
            assert torch.equal(one.cpu(), expected)
        else:
            torch.testing.assert_close(one.cpu(), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_its_gradients_have_the_bits_of_theirs(device: str, shape: tuple[int, int], weighted: bool) -> None:
    rows, length = shape
    g, x = whole(*shape, seed=3), whole(*shape, seed=4)
    mean, rstd = whole(rows, 1, seed=5), torch.exp2(whole(rows, 1, seed=6).fmod(3))
    weight = whole(length, seed=7) if weighted else None
    given = {
        "grad_out": g, "input": x, "normalized_shape": [length], "mean": mean, "rstd": rstd, "weight": weight,
        "output_mask": [True, True, True],
    }  # fmt: skip
    expected = on_cpu.layer_norm_backward(given)
    for one, other in zip(there.layer_norm_backward(moved(given, device)), expected, strict=True):
        assert one is not None
        assert other is not None
        assert torch.equal(one.cpu(), other)
    few = there.layer_norm_backward(moved(given | {"output_mask": [False, True, False]}, device))
    assert [one is None for one in few] == [True, False, True]


def test_what_it_takes(device: str) -> None:
    x = torch.zeros(3, 4, dtype=torch.float64, device=device)
    given = {"input": x, "normalized_shape": [4], "weight": None, "bias": None, "eps": 1e-5}
    assert there.takes_layer_norm(given)
    assert not there.takes_layer_norm(given | {"input": x.float()})
    assert not there.takes_layer_norm(given | {"input": x[:0]})
    assert not there.takes_layer_norm(given | {"normalized_shape": [3]})
    assert not there.takes_layer_norm(given | {"weight": x[0].float()})
    assert not there.takes_layer_norm(given | {"input": x.new_empty(1).expand(there.MOST_ROWS + 1, 4)})


CHANNELS = [(4, 3, 4, 2), (64, 37), (2, 5, 512), (1, 2, 1, 1), (3, 70, 5)]
"""Inputs of batch norm; the channels of all but the last have exact means."""


def channels_of(x: Tensor) -> Any:
    lengths = norms._channels_there(x)
    assert lengths is not None
    return lengths


@pytest.mark.parametrize("tracked", [True, False])
@pytest.mark.parametrize("shape", CHANNELS)
def test_a_batch_norm_has_the_bits_of_its_form(device: str, shape: tuple[int, ...], tracked: bool) -> None:
    exact, channels = shape != CHANNELS[-1], shape[1]
    x = whole(*shape) if exact else torch.randn(*shape, dtype=torch.float64)
    weight, bias, mean, variance = (whole(channels, seed=n) for n in range(2, 6))
    running = {"running_mean": mean, "running_var": variance.abs()} if tracked else {}
    given = {"input": x, "weight": weight if tracked else None, "bias": bias, "momentum": 0.1, "eps": 1e-5, **running}
    found = there.batch_norm(moved(given, device), channels_of(x.to(device)))
    expected = on_cpu.batch_norm(given)
    assert len(found) == len(expected) == (5 if tracked else 3)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        if exact:
            assert torch.equal(one.cpu(), other)
        else:
            torch.testing.assert_close(one.cpu(), other, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("shape", CHANNELS)
def test_gradients_of_batch_norm_have_the_bits_of_theirs(device: str, shape: tuple[int, ...], weighted: bool) -> None:
    g, x = whole(*shape, seed=3), whole(*shape, seed=4)
    mean, rstd = whole(shape[1], seed=5), torch.exp2(whole(shape[1], seed=6).fmod(3))
    given = {
        "grad_out": g, "input": x, "save_mean": mean, "save_invstd": rstd, "train": True,
        "weight": whole(shape[1], seed=7) if weighted else None, "output_mask": [True, True, True],
    }  # fmt: skip
    lengths = channels_of(x.to(device))
    expected = on_cpu.batch_norm_backward(given)
    for one, other in zip(there.batch_norm_backward(moved(given, device), lengths), expected, strict=True):
        assert one is not None
        assert other is not None
        assert torch.equal(one.cpu(), other)
    few = there.batch_norm_backward(moved(given | {"output_mask": [False, True, False]}, device), lengths)
    assert [one is None for one in few] == [True, False, True]


def test_channels_are_left_to_the_form_where_the_bound_is_of_fewer_additions(device: str) -> None:
    """Of many terms in few axes, and of a few in one."""
    for shape, takes in (((64, 3, 8, 8), True), ((64, 3, 112, 112), False), ((1 << 15, 3), False), ((2, 3), True)):
        x = torch.empty(1, dtype=torch.float64, device=device).expand(shape)
        assert (norms._channels_there(x) is not None) == takes
    assert norms._channels_there(x.float()) is None


CUTS = [((5, 30), 0), ((300, 7), 1), ((3, 4, 6, 5), 1), ((1, 1), 0)]
"""A shape, and the axis whose positions have statistics."""


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("shape", "axis"), CUTS)
def test_sizes_of_norms(
    device: str, shape: tuple[int, ...], axis: int, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = torch.Generator().manual_seed(8)
    g, x = (torch.randn(shape, dtype=torch.float64, generator=random) * 3 for _ in range(2))
    mean, rstd = (torch.rand(shape[axis], dtype=torch.float64, generator=random) + 0.1 for _ in range(2))
    weight = mean - 0.7 if weighted else None
    tensors = [one if one is None else one.to(device) for one in (g, x, mean, rstd, weight)]
    terms = norms._norm_terms(tensors[1], axis, tensors[3], tensors[4])
    gradient = norms._gradient_sizes_there(tensors[0], tensors[1], axis, *tensors[2:])
    other = norms._gradient_sizes_there(tensors[0], tensors[1], axis, *tensors[2:], projects=False)
    assert gradient is not None
    assert other is not None
    if not ON_DEVICE:
        monkeypatch.setattr(devices, "triton_reaches", lambda device: False)
    expected = norms._norm_terms(x, axis, rstd, weight)
    assert [float(one) for one in terms] == pytest.approx([float(one) for one in expected], rel=1e-14)
    sides = [1] * len(shape)
    sides[axis] = -1
    sizes = magnitude.along(g, axis), magnitude.along(x - mean.reshape(sides), axis)
    length = x.numel() // shape[axis]
    for found, projects in ((gradient, True), (other, False)):
        wanted = norms._gradient_terms(*sizes, rstd, weight, length, projects=projects)
        total = float(g.abs().movedim(axis, 0).flatten(1).sum(1).max())
        assert [float(one) for one in found] == pytest.approx([*map(float, wanted), total], rel=1e-13)


def test_statistics_of_terms(device: str) -> None:
    """Columns of rows that are normalised by themselves."""
    g, x = (torch.randn(70, 5, dtype=torch.float64) for _ in range(2))
    mean, rstd = torch.rand(70, dtype=torch.float64), torch.rand(70, dtype=torch.float64)
    found = norms._gradient_sizes_there(
        *(one.to(device) for one in (g, x)), 1, mean.to(device), rstd.to(device), by_terms=True
    )
    assert found is not None
    normalised = (x - mean[:, None]) * rstd[:, None]
    expected = [0.0, float((g.norm(dim=0) * normalised.norm(dim=0)).max()), float(g.abs().sum(0).max())]
    assert [float(one) for one in found] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_what_is_not_finite_shows(device: str, bad: float) -> None:
    x = torch.ones(3, 40, dtype=torch.float64)
    x[1, 17] = -bad
    one, mean = x.new_ones(3), x.new_zeros(3)
    found = [float(f) for f in norms._norm_terms(x.to(device), 0, one.to(device), None)]
    assert not any(map(math.isfinite, found))
    sizes = norms._gradient_sizes_there(
        x.to(device), x.abs().nan_to_num(0, 0).to(device), 0, mean.to(device), one.to(device)
    )
    assert sizes is not None
    assert not any(math.isfinite(float(f)) for f in sizes)
