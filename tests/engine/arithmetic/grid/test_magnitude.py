"""Magnitudes: the compiled loops against plain torch, at every layout and number of threads."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.magnitude import (
    Vectors,
    along,
    channels,
    energy,
    largest,
    largest_column_total,
    largest_product,
    using,
)
from counterfoil_core.kernels.cpu.measures import SQUARES, TOTAL

LAYOUTS = {
    "contiguous": lambda x: x,
    "last axes swapped": lambda x: x.transpose(-1, -2).contiguous().transpose(-1, -2),
    "strided": lambda x: torch.stack([x, x], -1)[..., 0],
}
SHAPES = [(7,), (5, 9), (9, 1), (1, 9), (3, 4, 5), (2, 3, 4, 5), (700, 600), (3, 40, 60, 60)]


def numbers(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_equals_torch(shape: tuple[int, ...], layout: str, threads: int, dtype: torch.dtype) -> None:
    given = numbers(*shape).to(dtype)
    given = LAYOUTS[layout](given) if given.dim() > 1 else given
    x = given.double()  # whatever the dtype, magnitudes are added in float64
    with using(threads):
        for axis in range(-1, x.dim()):
            others = [other for other in range(x.dim()) if other != axis % x.dim()]
            magnitudes = x.abs().movedim(axis, 0).reshape(x.shape[axis], -1)
            found = along(given, axis)
            assert torch.equal(found.largest, magnitudes.amax(1))
            assert torch.allclose(found.total, magnitudes.sum(1), rtol=1e-13)
            assert torch.allclose(found.norm, magnitudes.square().sum(1).sqrt(), rtol=1e-13)
            assert torch.allclose(energy(given, axis), x.square().sum(axis), rtol=1e-13)
            assert energy(given, axis).shape == torch.Size([x.shape[other] for other in others])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_kind_of_sums_alone_is_what_all_together_give_and_the_others_are_no_numbers(
    shape: tuple[int, ...], threads: int, dtype: torch.dtype
) -> None:
    x = numbers(*shape).to(dtype)
    with using(threads):
        for axis in range(x.dim()):
            every = along(x, axis)
            totals, squares = along(x, axis, TOTAL), along(x, axis, SQUARES)
            assert isinstance(totals, Vectors)
            assert isinstance(squares, Vectors)
            assert torch.allclose(totals.total, every.total, rtol=1e-13)
            assert torch.allclose(squares.squares, every.squares, rtol=1e-13)
            assert totals.top(TOTAL) == float(totals.total.amax())
            assert squares.top(SQUARES) == float(squares.squares.amax())
            assert all(map(math.isnan, (totals.tops[0], totals.tops[2], *squares.tops[:2])))
            for missing in (totals.largest, totals.squares, squares.largest, squares.total):
                assert bool(missing.isnan().all())


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("shape", [(6, 5), (400, 900), (2, 3, 4, 5)], ids=str)
def test_a_value_that_is_not_finite_is_not_lost(shape: tuple[int, ...], bad: float) -> None:
    x = numbers(*shape)
    x.view(-1)[-1] = bad
    with using(3):
        for axis in range(x.dim()):
            assert not math.isfinite(float(along(x, axis).largest.amax()))
            assert not math.isfinite(float(energy(x, axis).amax()))
            for kind in (TOTAL, SQUARES):
                assert not math.isfinite(float(along(x, axis, kind).top(kind)))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 4)], ids=str)
def test_empty_tensors(shape: tuple[int, ...]) -> None:
    x = torch.zeros(shape, dtype=torch.float64)
    for axis in range(x.dim()):
        assert along(x, axis).largest.shape == (shape[axis],)
        assert not along(x, axis).total.any()
        assert energy(x, axis).numel() == math.prod(n for other, n in enumerate(shape) if other != axis)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("count", [5, 32768, 32769, 100_000])
def test_the_largest_is_found_wherever_it_lies(count: int, dtype: torch.dtype) -> None:
    for place in {0, count // 3, count // 2, count - 1}:
        x = torch.full((count,), 0.5, dtype=dtype)
        x[place] = -2.0
        with using(3):
            assert float(largest(x)) == 2.0
            assert float(largest_product(x, torch.ones_like(x), 0.25, 1.0)) == 3.0
            assert float(largest_product(torch.ones_like(x), x, 0.5, 0.25)) == 3.0


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_channels_are_measured_without_what_is_not_asked_for(
    shape: tuple[int, ...], threads: int, dtype: torch.dtype
) -> None:
    x = numbers(*shape).to(dtype)
    with using(threads):
        for axis in range(x.dim()):
            for given in (x, x.transpose(0, -1).contiguous().transpose(0, -1)):
                every, found = along(given, axis), channels(given, axis)
                assert torch.equal(found.largest, every.largest)
                assert torch.allclose(found.total, every.total, rtol=1e-13)
                assert torch.allclose(found.squares, every.squares, rtol=1e-13)
        for reduced in range(1, x.dim()):
            summed = x.double().abs().flatten(0, reduced - 1).sum(0).amax()
            total = largest_column_total(x, reduced)
            assert total is not None
            assert math.isclose(total, float(summed), rel_tol=1e-13)
            part = x.transpose(0, -1)
            assert part.is_contiguous() or largest_column_total(part, reduced) is None
