"""Loops that are gone through without training: the steps that were seen, and what gives them again."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from counterfoil.training.padding import _collated_pads
from counterfoil.training.scripts.rehearsal import PARTS, Rehearsal, RehearsalEnded
from counterfoil_core.base.errors import DataError


def optimizer(rate: float = 0.5) -> torch.optim.SGD:
    return torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=rate)


def seen(*steps: int, **constants: Any) -> Rehearsal:
    """Steps of so many batches; a batch is of two rows, numbered."""
    rehearsal, number, chosen = Rehearsal(len(steps)), 0, optimizer()
    for step, batches in enumerate(steps, start=1):
        for _ in range(batches):
            rehearsal.saw_batch({"x": torch.full((2,), number), **constants})
            number += 1
        chosen.param_groups[0]["lr"] = 1.0 / step
        if step < len(steps):
            rehearsal.saw_step(chosen)
        else:
            with pytest.raises(RehearsalEnded):
                rehearsal.saw_step(chosen)
    return rehearsal


def numbers(loader: DataLoader[Any]) -> list[int]:
    return [int(batch["x"][0]) for batch in loader]


def test_batches_come_again_epoch_after_epoch() -> None:
    loader, fixed = seen(2, 2, 1, 2, 1, flag=True).loader()
    assert fixed == {"flag": True}
    assert [numbers(loader), numbers(loader), numbers(loader)] == [[0, 1, 2, 3, 4], [5, 6, 7], [0, 1, 2, 3, 4]]
    assert [batch[PARTS].tolist() for batch in loader] == [[2.0, 2.0], [2.0, 2.0], [1.0, 1.0]]


def test_even_steps_need_not_say_how_many_batches_they_have() -> None:
    rehearsal = seen(2, 2)
    loader, _ = rehearsal.loader()
    assert (rehearsal.accumulate, rehearsal.is_even) == (2, True)
    assert [set(batch) for batch in loader] == [{"x"}] * 4


def test_the_learning_rates_come_again() -> None:
    other = optimizer(9.0)
    scheduler = seen(1, 1, 1).scheduler(other)
    rates = []
    for _ in range(3):
        rates.append(other.param_groups[0]["lr"])
        if len(rates) < 3:
            other.step()
            scheduler.step()
    assert rates == [1.0, 0.5, pytest.approx(1 / 3)]


def test_what_is_no_tensor_must_be_the_same_in_all_batches() -> None:
    rehearsal = seen(1, 1)
    rehearsal.steps[1].batches[0]["words"] = "other"  # type: ignore[index]
    with pytest.raises(DataError, match="Batch 1 of the script has another 'words'"):
        rehearsal.loader()


def test_the_loader_that_gave_the_batches_shows_what_they_are_padded_with() -> None:
    def collate(rows: list[torch.Tensor]) -> dict[str, torch.Tensor]:
        return {"x": nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-7)}

    own: Any = DataLoader([torch.arange(n) for n in range(1, 9)], batch_size=2, collate_fn=collate)  # type: ignore[arg-type]
    loader, _ = seen(1).loader(own)
    assert _collated_pads(loader)["x"].value == -7
    assert _collated_pads(seen(1).loader()[0]) == {}
