"""Batches of more shapes than an order has programs are padded as their collation pads, where no loss changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from counterfoil.training import padding
from counterfoil.training.custom import order_custom
from counterfoil.training.padding import Pad, fit_batches
from counterfoil.training.rows import read_rows
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.generators import finish
from support.jobs import draw
from support.shapes import PAD, Reader, loader, objective, padded, sentences, shapes_job, trained_by_torch

LENGTHS = (2, 3, 4, 3, 5, 4, 6, 5, 7, 6, 8, 7, 4, 3, 4, 4)
"""Batches of 4, the longest of which have 4, 6, 8 and 4 words."""


@pytest.fixture(autouse=True)
def few_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(padding, "MAX_PROGRAMS", 2)
    monkeypatch.setattr(padding, "PADDED_PROGRAMS", 2)


def fit(data: DataLoader[Any], *, pad: Any = None, model: nn.Module | None = None, steps: int = 4) -> Any:
    torch.manual_seed(1)
    rows = finish(read_rows(data, steps, lambda count: np.zeros((1, 1), np.int64)))
    assert rows.schedule is not None
    return rows, *fit_batches(rows, model or Reader(), objective, data, pad, rows.schedule)


def test_lengths_are_padded_as_the_collation_pads_and_that_is_said() -> None:
    before, after, (note,) = fit(loader(sentences(LENGTHS)))
    assert [kind["tokens"] for kind in before.forms.kinds] == [(4, 4), (4, 6), (4, 8)]
    assert list(after.forms.names.values()) == ["4x6", "4x8"]
    assert "3 shapes, more than the 2 programs of an order" in note
    assert "the next multiple of 3, as collate_fn pads (tokens with 0), which makes 2 programs" in note
    assert np.array_equal(before.arrays["tokens"], after.arrays["tokens"]), "it pads with 0"


def with_nines(rows: Any) -> Any:
    tokens = pad_sequence([tokens for tokens, _ in rows], batch_first=True, padding_value=9)
    return {"tokens": tokens, "labels": torch.tensor([label for _, label in rows])}


class WithoutNines(Reader):
    def forward(self, tokens: Tensor) -> Tensor:
        inside = (tokens != 9)[..., None].float()
        return self.head(((self.words(tokens) * inside).sum(1) / inside.sum(1)).tanh())


def fewer_words(lengths: Any) -> Any:
    return [(tokens.clamp(max=8), label) for tokens, label in sentences(lengths)]


def test_another_number() -> None:
    _, after, (note,) = fit(loader(fewer_words(LENGTHS), with_nines), model=WithoutNines())
    assert "tokens with 9" in note
    assert (after.arrays["tokens"][:4, 4:6] == 9).all()
    assert not after.arrays["tokens"][:4, 6:].any(), "beyond the batch's end nothing is read"


def from_the_left(rows: Any) -> Any:
    longest = max(len(tokens) for tokens, _ in rows)
    tokens = [nn.functional.pad(tokens, (longest - len(tokens), 0)) for tokens, _ in rows]
    return {"tokens": torch.stack(tokens), "labels": torch.tensor([label for _, label in rows])}


def test_from_the_left() -> None:
    before, after, _ = fit(loader(sentences(LENGTHS), from_the_left))
    assert np.array_equal(after.arrays["tokens"][:4, 2:6], before.arrays["tokens"][:4, :4])
    assert (after.arrays["tokens"][:4, :2] == PAD).all()


def test_a_loss_that_would_change_is_refused() -> None:
    with pytest.raises(DataError, match=r"the loss of a batch changes by 0\.\d+ of itself") as refused:
        fit(loader(sentences(LENGTHS)), model=Reader(masked=False))
    assert "pad={'tokens': 0}" in refused.value.remedy


def test_what_the_client_says_is_done_and_the_change_said() -> None:
    _, after, (note,) = fit(loader(sentences(LENGTHS)), model=Reader(masked=False), pad={"tokens": 3})
    assert (after.arrays["tokens"][:4, 4:6] == 3).all()
    assert "as collate_fn pads" not in note
    assert float(note.split("change by ")[1].split()[0]) > 1e-3


def test_a_collation_that_shows_nothing_is_asked_about() -> None:
    def of_whole_batches(rows: Any) -> Any:
        assert len(rows) == 4
        return padded(rows)

    with pytest.raises(DataError, match="how 'tokens' would be padded to fewer lengths cannot be told") as asked:
        fit(loader(sentences(LENGTHS), of_whole_batches))
    assert "pad={'tokens': 0}" in asked.value.remedy
    _, _, (note,) = fit(loader(sentences(LENGTHS), of_whole_batches), pad={"tokens": 0})
    assert "2 programs" in note


def masked(rows: Any, *, left: bool = False, longest_first: bool = False) -> Any:
    """A collation for masked language models: tokens are masked at random, and most labels are left out."""
    tokens = [tokens for tokens, _ in rows]
    tokens = sorted(tokens, key=len, reverse=True) if longest_first else tokens
    longest = max(map(len, tokens))

    def filled(rows: list[Tensor], value: int) -> Tensor:
        pads = [((longest - len(row), 0) if left else (0, longest - len(row))) for row in rows]
        return torch.stack([nn.functional.pad(row, pad, value=value) for row, pad in zip(rows, pads, strict=True)])

    chosen = [torch.rand(len(row)) < 0.3 for row in tokens]
    return {
        "tokens": filled([row.where(~mask, torch.tensor(10)) for row, mask in zip(tokens, chosen, strict=True)], 9),
        "mask": filled([torch.ones_like(row) for row in tokens], 0),
        "labels": filled([torch.full_like(row, -100) for row in tokens], -100),
    }


@pytest.mark.parametrize("left", [False, True])
def test_a_collation_that_draws_at_random(left: bool) -> None:
    """What is padded shows beside what is drawn, and the side of labels that look alike on both from other arrays."""
    torch.manual_seed(2)
    found = padding._collated_pads(loader(sentences((2, 9, 5, 7)), lambda rows: masked(rows, left=left)))
    assert found == {"tokens": Pad(9.0, left), "mask": Pad(0.0, left), "labels": Pad(-100.0, left)}


def test_a_collation_that_puts_the_longest_first() -> None:
    found = padding._collated_pads(loader(sentences((2, 9, 5, 7)), lambda rows: masked(rows, longest_first=True)))
    assert found["mask"] == Pad(0.0)


def test_batches_of_too_many_sizes() -> None:
    data = DataLoader(sentences(LENGTHS), batch_sampler=[[0, 1], [2], [3, 4, 5], [6, 7]], collate_fn=padded)
    with pytest.raises(DataError, match="come in 4 forms") as refused:
        fit(data)
    assert "as many rows each" in refused.value.remedy


def test_rows_of_a_dataset_that_batches_share() -> None:
    """Rows of one length lie in batches of several sizes, padded once from what they were."""
    rows = [{"x": torch.from_numpy(draw((n, 2), n))} for n in (3, 3, 3, 5, 5, 8)]
    data = DataLoader(rows, batch_sampler=[[0, 1], [2, 0], [3, 4], [5, 5]])  # type: ignore[arg-type]
    read = finish(read_rows(data, 4, lambda count: np.zeros((1, 1), np.int64)))
    assert read.forms is not None
    assert read.schedule is not None
    left = padding._padded(read, read.forms, 5, {"x": Pad(7.0, left=True)}, read.schedule)["x"]
    for number in range(3):
        assert (left[number, :2] == 7).all()
        assert np.array_equal(left[number, 2:5], rows[number]["x"].numpy())


def test_the_losses_of_an_order_are_those_of_the_loop() -> None:
    """Recorded nowhere: the first step of each program is tried, and its loss is that of an ordinary loop."""
    data = loader(sentences(LENGTHS))
    torch.manual_seed(1)
    losses = trained_by_torch(data, Reader(), 1)
    draft = order_custom(shapes_job(data, steps=4))
    assert draft.programs.pattern == ("4x6", "4x6", "4x8")
    *_, trial = draft.try_first_step()
    assert trial.loss == pytest.approx(losses[0], rel=1e-5)
    assert len(draft.notes) == 1


def test_generators_and_model_are_left_alone() -> None:
    model = Reader()
    model.train()
    torch.manual_seed(4)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    data = loader(sentences(LENGTHS), lambda rows: (torch.rand(3), padded(rows))[1])
    rows = finish(read_rows(data, 4, lambda count: np.zeros((1, 1), np.int64)))
    assert rows.schedule is not None
    drawn = torch.get_rng_state()
    fit_batches(rows, model, objective, data, None, rows.schedule)
    assert torch.equal(torch.get_rng_state(), drawn)
    assert model.training
    assert model.norm.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
