"""Rows and batches of several shapes in arrays of one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from counterfoil.training.tables import Table
from counterfoil_core.base.errors import DataError


def table(*items: Any, batched: bool = True, expected: int | None = None) -> Table:
    made = Table(len(items) if expected is None else expected, batched=batched)
    for item in items:
        made.put(item)
    return made


def test_batches_lie_one_behind_the_other_with_zeros_beyond_their_ends() -> None:
    made = table({"x": torch.ones(2, 3)}, {"x": 2 * torch.ones(1, 5)}, {"x": 3 * torch.ones(2, 3)})
    assert made.arrays["x"].tolist() == [
        [1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [2, 2, 2, 2, 2], [3, 3, 3, 0, 0], [3, 3, 3, 0, 0]
    ]  # fmt: skip
    assert made.kinds == [{"x": (2, 3)}, {"x": (1, 5)}]
    assert made.kind_of == [0, 1, 0]
    assert not made.whole


def test_rows_that_grow_all_the_time() -> None:
    drawn = [np.arange(1, n + 1) for n in range(1, 60)]
    array = table(*drawn, batched=False, expected=3).arrays["item"]
    assert array.shape == (59, 59)
    for number, row in enumerate(drawn):
        assert array[number, : len(row)].tolist() == row.tolist()
        assert not array[number, len(row) :].any()


def test_a_batch_whose_axes_are_no_rows_is_a_row_of_its_own() -> None:
    first = {"x": torch.ones(3, 2), "lengths": torch.tensor([3, 1])}
    second = {"x": 2 * torch.ones(1, 4), "lengths": torch.tensor([1, 1, 1, 1])}
    made = table(first, second)
    assert made.whole
    assert made.arrays["x"].shape == (2, 3, 4)
    assert made.arrays["lengths"].tolist() == [[3, 1, 0, 0], [1, 1, 1, 1]]
    assert made.kinds[1] == {"x": (1, 4), "lengths": (4,)}


def test_that_may_show_late() -> None:
    """A batch of as many words as rows looks like rows, until one comes that does not."""
    first, second = ({"x": torch.full((n, 2), n), "lengths": torch.arange(2)} for n in (2, 3))
    late, at_once = table(first, first, second), table(second, first, first)
    assert late.whole
    assert np.array_equal(late.arrays["x"], at_once.arrays["x"][[1, 2, 0]])
    assert np.array_equal(late.arrays["lengths"], at_once.arrays["lengths"])


def test_numbers_of_a_batch() -> None:
    made = table({"x": torch.ones(2, 3), "scale": 0.5}, {"x": torch.ones(2, 3), "scale": 0.25})
    assert made.arrays["scale"].tolist() == [0.5, 0.25]


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ({"x": torch.ones(2, 3, 1)}, "Batch 1 of the job's data has float32 of 3 axes for 'x'; batch 0 has"),
        ({"x": torch.ones(2, 3).int()}, "has int32 of 2 axes for 'x'"),
        ({"y": torch.ones(2, 3)}, "does not have 'x'"),
        ({"x": torch.ones(2, 3), "y": torch.ones(2)}, "has 'y'; batch 0 does not"),
    ],
)  # fmt: skip
def test_a_batch_of_another_structure(second: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        table({"x": torch.ones(2, 3)}, second)


def test_a_packed_sequence_is_no_rows() -> None:
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(3), torch.ones(2)])
    with pytest.raises(DataError, match="'item' in the job's data is a packed sequence") as refused:
        table(packed)
    assert "pack_padded_sequence in the model" in refused.value.remedy
