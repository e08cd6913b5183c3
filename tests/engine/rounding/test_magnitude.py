"""Magnitudes: the compiled loops against plain torch, at every layout and number of threads."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from counterfoil.rounding.magnitude import along, energy, using
from counterfoil.rounding.workers import Workers

LAYOUTS = {
    "contiguous": lambda x: x,
    "last axes swapped": lambda x: x.transpose(-1, -2).contiguous().transpose(-1, -2),
    "strided": lambda x: torch.stack([x, x], -1)[..., 0],
}
SHAPES = [(7,), (5, 9), (9, 1), (1, 9), (3, 4, 5), (2, 3, 4, 5), (700, 600), (3, 40, 60, 60)]


def numbers(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_equals_torch(shape: tuple[int, ...], layout: str, threads: int) -> None:
    x = numbers(*shape)
    x = LAYOUTS[layout](x) if x.dim() > 1 else x
    workers = Workers(threads)
    with using(workers):
        for axis in range(-1, x.dim()):
            others = [other for other in range(x.dim()) if other != axis % x.dim()]
            magnitudes = x.abs().movedim(axis, 0).reshape(x.shape[axis], -1)
            found = along(x, axis)
            assert torch.equal(found.largest, magnitudes.amax(1))
            assert torch.allclose(found.total, magnitudes.sum(1), rtol=1e-13)
            assert torch.allclose(found.norm, magnitudes.square().sum(1).sqrt(), rtol=1e-13)
            assert torch.allclose(energy(x, axis), x.square().sum(axis), rtol=1e-13)
            assert energy(x, axis).shape == torch.Size([x.shape[other] for other in others])
    workers.close()


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("shape", [(6, 5), (400, 900), (2, 3, 4, 5)], ids=str)
def test_a_value_that_is_not_finite_is_not_lost(shape: tuple[int, ...], bad: float) -> None:
    x = numbers(*shape)
    x.view(-1)[-1] = bad
    workers = Workers(3)
    with using(workers):
        for axis in range(x.dim()):
            assert not math.isfinite(float(along(x, axis).largest.amax()))
            assert not math.isfinite(float(energy(x, axis).amax()))
    workers.close()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 4)], ids=str)
def test_empty_tensors(shape: tuple[int, ...]) -> None:
    x = torch.zeros(shape, dtype=torch.float64)
    for axis in range(x.dim()):
        assert along(x, axis).largest.shape == (shape[axis],)
        assert not along(x, axis).total.any()
        assert energy(x, axis).numel() == math.prod(n for other, n in enumerate(shape) if other != axis)
