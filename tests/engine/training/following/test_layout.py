"""How what a script's steps brought along is laid out: rows once, shorter steps filled up."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from counterfoil.training.following.layout import Layout, Made, plan_of
from counterfoil.training.following.rows import Pool
from counterfoil_core.base.errors import DataError


def _made(pool: Pool, *tensors: torch.Tensor, variant: int = 0, numbers: tuple[float, ...] = ()) -> Made:
    return Made(variant, tuple(pool.put(tensor, "a tensor") for tensor in tensors), numbers, (), ())


def test_rows_are_kept_once_and_a_shorter_step_is_filled_up_with_its_first() -> None:
    pool = Pool()
    rows, labels = torch.arange(12.0).reshape(4, 3), torch.tensor([5, 6, 7, 8])
    first = _made(pool, rows[[0, 1, 2]], labels[[0, 1, 2]])
    again = _made(pool, rows[[2, 0, 3]], labels[[2, 0, 3]])
    short = _made(pool, rows[[1]], labels[[1]], variant=1)
    plans = [plan_of([first, again]), plan_of([short])]
    assert [plan.rows for plan in plans] == [3, 1]
    layout = Layout.of(plans)
    schedule, data = layout.scheduled([first, short, again], plans, pool)
    assert layout.width == 3
    np.testing.assert_array_equal(schedule, [[0, 1, 2], [1, 1, 1], [2, 0, 3]])
    np.testing.assert_array_equal(data["input.1"], rows.numpy())
    np.testing.assert_array_equal(data["input.2"], labels.numpy())


def test_what_is_the_same_each_time_is_no_data_and_what_varies_without_rows_is_whole() -> None:
    pool = Pool()
    mask = torch.ones(2, 2)
    steps = [_made(pool, torch.tensor(float(n)), mask, torch.full((3,), n), numbers=(0.5, n / 2)) for n in range(2)]
    plan = plan_of(steps)
    assert plan.varying == (0, 2)
    assert plan.rows is None
    assert plan.numbered == {1: "number.1"}
    schedule, data = Layout.of([plan]).scheduled(steps, [plan], pool)
    np.testing.assert_array_equal(schedule, [[0], [1]])
    np.testing.assert_array_equal(data["input.1"], np.array([0.0, 1.0], np.float32))
    np.testing.assert_array_equal(data["input.2"], [[0, 0, 0], [1, 1, 1]])


def test_steps_that_read_nothing_have_a_schedule_all_the_same() -> None:
    steps = [Made(0, (), (), (), ())] * 2
    schedule, data = Layout.of([plan_of(steps)]).scheduled(steps, [plan_of(steps)], Pool())
    assert schedule.shape == (2, 1)
    assert list(data) == ["nothing"]


@pytest.mark.parametrize("dtype", [torch.bool, torch.bfloat16, torch.int16])
def test_dtypes_that_an_order_does_not_hold_are_kept_in_wider_ones(dtype: torch.dtype) -> None:
    pool = Pool()
    given = torch.tensor([[0, 1], [1, 1]]).to(dtype)
    kept = pool.tensor(pool.put(given, "a tensor"))
    assert torch.equal(torch.from_numpy(kept).to(dtype), given)


def test_numbers_of_twice_the_precision_are_refused_where_they_are_many() -> None:
    with pytest.raises(DataError, match="float64"):
        Pool().put(torch.zeros(3, dtype=torch.float64), "a tensor of the script")
    assert Pool().put(torch.tensor(0.1, dtype=torch.float64), "a number").kind == ("float32", ())
