"""Windows over one sequence are stored once, and train as their rows would."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset, TensorDataset

from counterfoil.training import custom
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft
from counterfoil.training.rows import Rows, read_rows
from counterfoil.training.windows import START, find_windows
from counterfoil_core.base.generators import finish
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.outcome import Outcome
from support.jobs import audited, record_run

BLOCK = 8
TEXT = np.random.default_rng(3).integers(0, 60, 400)


class Characters(Dataset[Any]):
    """Every window of a text and the one behind it, as minGPT gives them to a language model."""

    def __init__(self, text: Any = TEXT, stride: int = 1, ahead: int = 1) -> None:
        self.text, self.stride, self.ahead = text, stride, ahead

    def __len__(self) -> int:
        return (len(self.text) - BLOCK - self.ahead) // self.stride + 1

    def __getitem__(self, row: int) -> Any:
        first = row * self.stride
        return tuple(torch.tensor(self.text[first + n : first + n + BLOCK]) for n in (0, self.ahead))


def read(data: Any, rows: Any = None, checkpoints: int = 1) -> tuple[Rows, Rows, tuple[str, ...]]:
    chosen = np.arange(len(data)) if rows is None else np.array(rows)
    before = finish(read_rows(data, len(chosen), lambda count: chosen[:, None]))
    return before, *find_windows(before, checkpoints)


def assert_the_same(before: Rows, after: Rows) -> None:
    """Each row of the client's is what is gathered for it."""
    numbers = np.arange(len(next(iter(before.arrays.values()))))
    one, other = (
        rows.batch({name: torch.from_numpy(array[numbers]) for name, array in rows.arrays.items()})
        for rows in (before, after)
    )
    for mine, theirs in zip(one, other, strict=True):
        assert mine.dtype == theirs.dtype
        assert torch.equal(mine, theirs)


@pytest.mark.parametrize(("stride", "ahead"), [(1, 1), (2, 1), (3, 5), (1, 0)])
def test_rows_become_starts(stride: int, ahead: int) -> None:
    before, after, (note,) = read(Characters(stride=stride, ahead=ahead))
    assert list(after.arrays) == [START]
    assert len(after.arrays[START]) == len(before.arrays["item.0"])
    assert "are windows over one sequence of" in note
    assert_the_same(before, after)


def test_rows_that_are_drawn_here_and_there() -> None:
    """What lies between is not stored, and rows may come in any order."""
    rows = [*range(300, 330), *range(20, 60), *range(100, 110)]
    before, after, (note,) = read(Characters(), np.random.default_rng(1).permutation(rows))
    assert f"sequence of {80 + 3 * BLOCK:,} numbers" in note
    assert_the_same(before, after)


def test_tensors_that_were_unfolded() -> None:
    text = torch.from_numpy(TEXT)
    before, after, (note,) = read(TensorDataset(text[:-1].unfold(0, BLOCK, 1), text[1:].unfold(0, BLOCK, 1)))
    assert note
    assert_the_same(before, after)


def test_numbers_of_any_size_and_other_arrays() -> None:
    class Weighed(Characters):
        def __getitem__(self, row: int) -> Any:
            x, y = super().__getitem__(row)
            return {"x": x.int(), "weight": torch.tensor(float(row)), "y": y}

    before, after, _ = read(Weighed(TEXT * 1000 - 7))
    assert list(after.arrays) == ["weight", START]
    numbers = {name: torch.from_numpy(array[5:9]) for name, array in after.arrays.items()}
    assert after.batch(numbers)["x"].dtype == torch.int32
    assert after.batch(numbers)["y"].tolist() == before.arrays["y"][5:9].tolist()
    assert after.batch(numbers)["weight"].tolist() == [5.0, 6.0, 7.0, 8.0]


class OneIsOther(Characters):
    """One number of one row is another one."""

    def __getitem__(self, row: int) -> Any:
        x, y = super().__getitem__(row)
        return (x, y + (torch.arange(BLOCK) == 3)) if row == 200 else (x, y)


def test_what_does_not_save_half_or_is_not_so_bit_for_bit_stays_as_it_is() -> None:
    for data, checkpoints in (
        (OneIsOther(ahead=3), 1),
        (Characters(stride=BLOCK, ahead=3), 1),
        (Characters(ahead=3), 100),
        (TensorDataset(torch.randint(0, 9, (50, BLOCK), generator=torch.Generator().manual_seed(1))), 1),
        (TensorDataset(torch.ones(50, BLOCK, dtype=torch.int64)), 1),
        (TensorDataset(torch.rand(50, BLOCK)), 1),
    ):
        before, after, notes = read(data, checkpoints=checkpoints)
        assert after is before
        assert notes == ()


@pytest.mark.parametrize(("ahead", "said"), [(0, "equals"), (1, "is one ahead of")])
def test_batches_as_they_come_hold_what_is_twice_in_them_once(ahead: int, said: str) -> None:
    def collate(rows: Any) -> Any:
        return {"x": torch.stack([x for x, _ in rows]), "y": torch.stack([y for _, y in rows])}

    data = DataLoader(Characters(stride=BLOCK, ahead=ahead), 5, collate_fn=collate)  # type: ignore[arg-type]
    before = finish(read_rows(data, 4, lambda count: np.zeros((1, 1), np.int64)))
    after, (note,) = find_windows(before, 1)
    assert note == f"y {said} x in all rows, and is not stored beside it."
    assert {name: array.shape for name, array in after.arrays.items()} == {"x": (20, BLOCK + ahead)}
    given = after.batch({"x": torch.from_numpy(after.arrays["x"])})
    assert all(np.array_equal(given[name].numpy(), before.arrays[name]) for name in "xy")


def test_arrays_that_the_client_names_stay_as_they_are() -> None:
    rows = np.arange(40).reshape(10, 4)
    given = finish(read_rows({"x": rows, "y": rows.copy()}, 2, lambda count: np.zeros((1, 1), np.int64)))
    assert find_windows(given, 1) == (given, ())


def small_gpt() -> nn.Module:
    torch.manual_seed(2)
    return nn.Sequential(nn.Embedding(60, 6), nn.Tanh(), nn.Linear(6, 60))


def loss_fn(model: nn.Module, batch: Any) -> Tensor:
    return functional.cross_entropy(model(batch[0]).flatten(0, 1), batch[1].flatten())


def order(steps: int = 11) -> OrderDraft:
    model = small_gpt()
    data = DataLoader(Characters(), 37, shuffle=True, generator=torch.Generator().manual_seed(1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    return order_custom(CustomJob("Characters", model, loss_fn, optimizer, data, steps, checkpoint_every=steps))


def test_a_run_trains_the_same_and_is_verified(
    tmp_path: Path, trainer_key: SigningKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last batch of an epoch has 22 rows: the starts are cut as rows would be."""
    paths = {}
    for name in ("windows", "rows"):
        draft = order()
        assert draft.programs.several
        paths[name] = tmp_path / f"{name}.cfoil", tmp_path / f"{name}.run.cfoil"
        draft.write(paths[name][0], trial=False)
        record_run(*paths[name], trainer_key)
        monkeypatch.setattr(custom, "find_windows", lambda rows, checkpoints: (rows, ()))
    with BundleReader.open(paths["windows"][1]) as one, BundleReader.open(paths["rows"][1]) as other:
        assert one.losses().tolist() == other.losses().tolist()
        last, rows = one.checkpoint(11), other.checkpoint(11)
        assert last.keys() - rows.keys() == {"constant.1"}
        assert all(np.array_equal(last[name], rows[name]) for name in rows)
        assert last["constant.1"].dtype == np.uint8
        assert one.manifest.module is not None
        assert one.manifest.module.unsaved == ("constant.1",)
        assert set(one.manifest.data) == {START}
    report = audited(paths["windows"][1], paths["windows"][0]).report
    assert report.outcome is Outcome.VERIFIED, report.reason
    sizes = [os.path.getsize(paths[name][0]) for name in ("windows", "rows")]
    assert sizes[1] - sizes[0] > 370 * 2 * BLOCK * 8 / 2
