"""Which rows of a client's data an order holds, and how they are numbered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, DistributedSampler, TensorDataset

from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.rows import Rows, read_rows
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.generators import finish

READ: list[int] = []


class Windows(Dataset[Any]):
    """Every window of a text and the one behind it, as language models are given them."""

    def __len__(self) -> int:
        return 1000

    def __getitem__(self, row: int) -> Any:
        READ.append(row)
        return torch.arange(row, row + 5), torch.arange(row + 1, row + 6)


class Augmented(Dataset[Any]):
    """Rows that are drawn anew each time."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, row: int) -> Any:
        return torch.full((3,), float(row)) + torch.rand(3), row % 2


def read(data: Any, schedule: Any = ((7, 3), (3, 9)), **given: Any) -> Rows:
    return finish(read_rows(data, len(schedule), lambda count: np.array(schedule, np.int64), **given))


def test_rows_that_no_step_reads_are_neither_read_nor_kept() -> None:
    READ.clear()
    rows = read(Windows())
    assert set(READ) == {3, 7, 9}
    assert rows.arrays["item.0"].tolist() == [list(range(n, n + 5)) for n in (3, 7, 9)]
    assert rows.schedule is not None
    assert rows.schedule.tolist() == [[1, 0], [0, 2]]


def test_a_loader_keeps_what_it_draws() -> None:
    loader = DataLoader(Windows(), 4, shuffle=True, generator=torch.Generator().manual_seed(5))
    rows = read(loader, ((0, 0),) * 3)
    assert len(rows.arrays["item.0"]) == 12
    batches = [batch[0] for _, batch in zip(range(3), loader, strict=False)]
    loader.generator.manual_seed(5)
    batches = [batch[0] for _, batch in zip(range(3), loader, strict=False)]
    assert [rows.arrays["item.0"][step].tolist() for step in rows.schedule] == [b.tolist() for b in batches]


def test_tensors_are_kept_as_far_as_they_are_read() -> None:
    rows = read(TensorDataset(torch.arange(20.0)))
    assert rows.arrays["item.0"].tolist() == [3.0, 7.0, 9.0]


def test_arrays_by_name_are_kept_whole() -> None:
    rows = read({"x": np.arange(20, dtype=np.float32)})
    assert len(rows.arrays["x"]) == 20
    assert rows.schedule is None


def test_all_rows_keep_their_numbers() -> None:
    schedule = np.random.default_rng(1).permutation(20).reshape(5, 4)
    rows = read(TensorDataset(torch.arange(20.0)), schedule)
    assert rows.schedule is not None
    assert np.array_equal(rows.schedule, schedule)


@pytest.mark.parametrize("row", [-1, 1000])
def test_a_row_that_is_not_there(row: int) -> None:
    with pytest.raises(DataError, match=f"names row {row}"):
        read(Windows(), ((1, row),))


class TestDrawnAtRandom:
    def test_rows_that_are_read_again_are_asked_about(self) -> None:
        with pytest.raises(DataError, match="each time it is read") as asked:
            read(Augmented(), ((0, 1), (1, 2)))
        assert "keep='batches'" in asked.value.remedy

    def test_rows_that_are_read_once_are_not(self) -> None:
        assert len(read(Augmented(), ((0, 1), (2, 3))).arrays["item.0"]) == 4

    def test_each_drawn_once(self) -> None:
        assert len(read(Augmented(), ((0, 1), (1, 2)), keep="rows").arrays["item.0"]) == 3

    def test_batches_as_they_are_drawn(self) -> None:
        rows = read(Augmented(), ((0, 1), (1, 2)), keep="batches")
        drawn = rows.arrays["item.0"]
        assert rows.schedule is not None
        assert rows.schedule.tolist() == [[0, 1], [2, 3]]
        assert np.floor(drawn[:, 0]).tolist() == [0, 1, 1, 2]
        assert not np.array_equal(drawn[1], drawn[2])

    def test_batches_of_a_loader(self) -> None:
        torch.manual_seed(3)
        rows = read(DataLoader(Augmented(), 4), ((0, 0),) * 4, keep="batches")
        torch.manual_seed(3)
        loader = DataLoader(Augmented(), 4)
        expected = [batch for _ in range(2) for batch in loader]
        assert rows.arrays["item.0"].tolist() == torch.cat([x for x, _ in expected]).tolist()

    def test_neither(self) -> None:
        with pytest.raises(DataError, match="keep is 'epochs'"):
            read(Augmented(), keep="epochs")


def test_a_loader_of_one_process_of_several() -> None:
    data = TensorDataset(torch.arange(20.0))
    with pytest.raises(DataError, match="one process of 2") as refused:
        read(DataLoader(data, 2, sampler=DistributedSampler(data, num_replicas=2, rank=0)))
    assert "batch size of all processes together" in refused.value.remedy
    assert read(DataLoader(data, 2, sampler=DistributedSampler(data, num_replicas=1, rank=0))).arrays


class Rotary(nn.Module):
    """Keeps the sines of the first length that it meets, and counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(5, 2)
        self.sines: Tensor | None = None
        self.by_length: dict[int, Tensor] = {}

    def forward(self, x: Tensor) -> Tensor:
        if self.sines is None:
            self.sines = torch.arange(x.shape[-1]).float().sin()
            self.by_length[x.shape[-1]] = self.sines
        return self.linear(x.float() * self.sines)


def test_a_model_is_left_as_it_was() -> None:
    model = Rotary()
    lengths, weight = model.by_length, model.linear.weight
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    data = TensorDataset(torch.randn(8, 5), torch.arange(8) % 2)

    def objective(model: nn.Module, batch: Any) -> Tensor:
        return nn.functional.cross_entropy(model(batch[0]), batch[1])

    order_custom(CustomJob("rotary", model, objective, optimizer, data, 2, 4))
    assert model.sines is None
    assert model.by_length is lengths
    assert lengths == {}
    assert model.linear.weight is weight
    assert objective(model, data[:4]).isfinite()
    assert type(model.sines) is Tensor
