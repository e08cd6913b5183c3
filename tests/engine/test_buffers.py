"""Memory of large results is used again, and never while somebody reads it."""

from __future__ import annotations

import gc

import pytest
import torch

from counterfoil.definite import elementwise
from counterfoil.buffers import Arena

LARGE = (1024, 512)


def address(x: torch.Tensor) -> int:
    return x.untyped_storage().data_ptr()


def test_what_nobody_reads_serves_the_next() -> None:
    pool = Pool()
    x = pool.empty(LARGE)
    place = address(x)
    assert (x.shape, x.dtype, x.is_contiguous(), pool.kept) == (LARGE, torch.float32, True, 0)
    del x
    assert pool.kept == 4 * 1024 * 512
    other = pool.empty((512, 1024), torch.int32)
    assert (address(other), pool.kept) == (place, 0)


@pytest.mark.parametrize(
    "reader",
    [
        lambda x: x[3:5],
        lambda x: x.t(),
        lambda x: x.view(-1)[7:],
        lambda x: x.numpy(),
        lambda x: x.numpy()[1:2],
        lambda x: x.detach(),
        lambda x: x.view(torch.int32),
        lambda x: x.untyped_storage(),
    ],
)
def test_a_view_keeps_it(reader: object) -> None:
    pool = Pool()
    x = pool.empty(LARGE)
    place, view = address(x), reader(x)  # type: ignore[operator]
    del x
    gc.collect()
    assert pool.kept == 0
    assert address(pool.empty(LARGE)) != place
    pool = Pool()
    del view
    gc.collect()


def test_small_results_and_much_memory() -> None:
    pool = Pool(most=3 * 4 * 1024 * 512)
    small = pool.empty((10, 10))
    del small
    assert pool.kept == 0
    several = [pool.empty(LARGE) for _ in range(5)]
    assert len({address(x) for x in several}) == 5
    several.clear()
    assert pool.kept == 3 * 4 * 1024 * 512


def test_elementwise_results_are_the_librarys() -> None:
    """Of all strides and broadcasts, large and small."""
    x, y = torch.randn(700, 600), torch.randn(700, 600)
    cases = [(x, y), (x, y[0]), (x[:, :1], y[:1]), (x.t(), y.t()), (x, torch.tensor(3.0)), (x[::2], y[1::2]), (x[0], y)]
    for rule, function in (
        (elementwise.add, torch.add),
        (elementwise.subtract, torch.sub),
        (elementwise.multiply, torch.mul),
        (elementwise.divide, torch.div),
    ):
        for a, b in cases:
            results = [rule(a, b) for _ in range(3)]
            assert all(torch.equal(found, function(a, b)) for found in results)
            assert len({address(found) for found in results}) == 3
