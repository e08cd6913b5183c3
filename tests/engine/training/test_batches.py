"""What the end of a DataLoader's epoch becomes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from counterfoil.training.batches import Batches, steps_of
from counterfoil_core.base.errors import DataError


def read(loader: DataLoader[Any], steps: int, *, accumulate: int = 1, last: Any = None) -> list[list[list[int]]]:
    found = steps_of(loader, steps, Batches(accumulate, last))
    return [[part[0].tolist() for part in step] for step in found]


def loader(rows: int = 7, **settings: Any) -> DataLoader[Any]:
    return DataLoader(TensorDataset(torch.arange(rows)), **({"batch_size": 3} | settings))


def test_a_shorter_batch_is_kept_or_dropped() -> None:
    kept = [[[0, 1, 2]], [[3, 4, 5]], [[6]], [[0, 1, 2]]]
    assert read(loader(), 4) == read(loader(), 4, last="keep") == kept
    assert read(loader(), 3, last="drop") == [[[0, 1, 2]], [[3, 4, 5]], [[0, 1, 2]]]


def test_only_the_last_of_an_epoch_is_dropped() -> None:
    """Batches of a sampler of one's own have as many rows as it likes."""
    sampler = [[0, 1, 2], [3], [4, 5, 6], [1, 2]]
    found = read(DataLoader(TensorDataset(torch.arange(7)), batch_sampler=sampler), 4, last="drop")
    assert found == [[[0, 1, 2]], [[3]], [[4, 5, 6]], [[0, 1, 2]]]


def test_batches_too_few_for_a_step() -> None:
    assert read(loader(), 2, accumulate=2, last="drop") == [[[0, 1, 2], [3, 4, 5]]] * 2
    assert read(loader(), 3, accumulate=2, last="keep") == [
        [[0, 1, 2], [3, 4, 5]], [[6]], [[0, 1, 2], [3, 4, 5]]
    ]  # fmt: skip
    with pytest.raises(DataError, match="ends with 1 of the 2 batches of a step") as asked:
        read(loader(), 2, accumulate=2)
    assert "last='keep'" in asked.value.remedy
    assert read(loader(), 1, accumulate=2) == [[[0, 1, 2], [3, 4, 5]]]


def test_no_more_is_read_than_is_needed() -> None:
    drawn = []

    class Data(TensorDataset):
        def __getitem__(self, row: int) -> Any:
            drawn.append(row)
            return super().__getitem__(row)

    read(DataLoader(Data(torch.arange(9)), 3), 2)
    assert drawn == list(range(6))


def test_what_the_loader_raises_names_its_batch() -> None:
    def fails(rows: list[Any]) -> Any:
        if rows[0][0] >= 3:
            raise OSError("no such file")
        return torch.utils.data.default_collate(rows)

    with pytest.raises(DataError, match="Batch 1 of the job's DataLoader cannot be read: OSError: no such file"):
        read(loader(collate_fn=fails), 2)


def test_a_loader_without_batches() -> None:
    with pytest.raises(DataError, match="gives no batches"):
        read(loader(rows=2, drop_last=True), 1)
