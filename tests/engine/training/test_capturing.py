"""One program for each form of a batch: the losses are those of an ordinary loop over the same loader."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, TensorDataset

from counterfoil.program.update import Sgd
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft
from counterfoil.training.turns import Turn, TurnsJob, order_turns
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, DataError
from support.jobs import draw
from support.shapes import MIXED, WORDS, loader, objective, padded, sentences, shapes_job

CLOSE = 1e-5


def losses_of(draft: OrderDraft) -> list[float]:
    """The losses of the order's steps, unrounded."""
    runners = draft.programs.map(lambda program: Interpreter(program, torch.device("cpu")))
    state = {name: torch.from_numpy(array) for name, array in draft.initial.items()}
    losses = []
    for step, rows in enumerate(draft.schedule, start=1):
        scalars = dict(zip(draft.manifest.scalar_names, draft.scalars[step - 1].tolist(), strict=True))
        batch = {name: torch.from_numpy(draft.data[name][rows]) for name in draft.programs.of(step).batch_names}
        result = runners.of(step).run(StepInputs(state, batch, scalars, Draws(0, step)))
        state, losses = dict(result.state), [*losses, result.loss]
    return losses


def sgd(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def by_torch(model: nn.Module, steps: list[list[Any]], loss_of: Any) -> list[float]:
    """Train on these batches, gradients accumulated; returns the losses."""
    optimizer, losses = sgd(model), []
    for step in steps:
        optimizer.zero_grad()
        loss = sum(loss_of(model, batch) for batch in step) / len(step)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


class Small(nn.Module):
    """The mean over the words of a sentence."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.words = nn.Embedding(WORDS, 5)
        self.head = nn.Linear(5, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.words(tokens).mean(1))


def test_accumulated_batches_of_different_shapes() -> None:
    """A step of 4 x 3 and 4 x 5, and at the end of the epoch one of what is left."""
    data = loader(sentences(MIXED))
    model = Small()
    draft = order_custom(CustomJob("Parts", model, objective, sgd(model), data, 4, accumulate=2, last="keep"))
    assert draft.programs.pattern == ("4x3.4x5", "2x3")
    assert draft.schedule.shape == (4, 8)
    first, second, third = data
    assert losses_of(draft) == pytest.approx(by_torch(Small(), [[first, second], [third]] * 2, objective), rel=CLOSE)


def test_rows_of_a_dataset_in_a_shorter_last_batch() -> None:
    rows = TensorDataset(torch.from_numpy(draw((7, 4), 1)), torch.arange(7) % 3)
    model = nn.Linear(4, 3)

    def loss_of(model: nn.Module, batch: Any) -> Tensor:
        return functional.cross_entropy(model(batch[0]), batch[1])

    def data() -> DataLoader[Any]:
        return DataLoader(rows, 3, shuffle=True, generator=torch.Generator().manual_seed(1))

    before = [parameter.detach().clone() for parameter in model.parameters()]
    draft = order_custom(CustomJob("Rows", model, loss_of, sgd(model), data(), 6))
    assert draft.programs.pattern == ("3", "3", "1")
    assert draft.data["item.0"].shape == (7, 4), "each row once"
    assert draft.schedule[2].tolist()[1:] == [0, 0], "filled up with row 0"
    expected = nn.Linear(4, 3)
    with torch.no_grad():
        for parameter, value in zip(expected.parameters(), before, strict=True):
            parameter.copy_(value)
    batches = data()
    assert losses_of(draft) == pytest.approx(
        by_torch(expected, [[batch] for _ in range(2) for batch in batches], loss_of), rel=CLOSE
    )


def test_batches_of_rows_of_one_length_each() -> None:
    """A sampler that groups rows by their length needs no collation of its own; rows of two lengths are refused."""
    rows = [(torch.arange(1, n + 1), n % 3) for n in (3, 5, 3, 5)]
    model = Small()

    def loss_of(model: nn.Module, batch: Any) -> Tensor:
        return functional.cross_entropy(model(batch[0]), batch[1])

    def job(sampler: Any) -> CustomJob:
        return CustomJob("Groups", model, loss_of, sgd(model), DataLoader(rows, batch_sampler=sampler), 2)  # type: ignore[arg-type]

    groups = [[2, 0], [1, 3]]
    draft = order_custom(job(groups))
    assert draft.programs.pattern == ("2x3", "2x5")
    steps = [[batch] for batch in DataLoader(rows, batch_sampler=groups)]  # type: ignore[arg-type]
    assert losses_of(draft) == pytest.approx(by_torch(Small(), steps, loss_of), rel=CLOSE)
    with pytest.raises(
        DataError, match=r"Rows 0 and 1 of the job's data are in one batch, and 'item\.0' has"
    ) as refused:
        order_custom(job([[0, 1], [2, 3]]))
    assert "collate_fn pads" in refused.value.remedy


class Packed(nn.Module):
    """A recurrent network over packed sequences, words first, as their tutorial has it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.words = nn.Embedding(WORDS, 4)
        self.lstm = nn.LSTM(4, 5)
        self.head = nn.Linear(5, 3)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(self.words(tokens), lengths, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0])
        return self.head(states.sum(0) / lengths[:, None])


def words_first(rows: Any) -> Any:
    return (
        pad_sequence([tokens for tokens, _ in rows]),
        torch.tensor([len(tokens) for tokens, _ in rows]),
        torch.tensor([label for _, label in rows]),
    )


def test_packed_sequences_and_words_in_the_first_axis() -> None:
    """The lengths are data; a program for each padded length, and a row of the order for each batch."""

    def loss_of(model: nn.Module, batch: Any) -> Tensor:
        return functional.cross_entropy(model(batch[0], batch[1]), batch[2])

    data = loader(sentences((3, 2, 3, 1, 3, 3, 1, 2, 2, 1)), words_first)
    model = Packed()
    draft = order_custom(CustomJob("Packed", model, loss_of, sgd(model), data, 4))
    assert draft.programs.pattern == ("3x4", "3x4", "2x2")
    assert draft.data["item.0"].shape == (4, 3, 4)
    assert draft.schedule.shape == (4, 1)
    steps = [[batch] for batch in [*data, *data][:4]]
    assert losses_of(draft) == pytest.approx(by_torch(Packed(), steps, loss_of), rel=CLOSE)


def test_optimizers_that_take_turns_over_a_shorter_last_batch() -> None:
    def first(model: nn.Module, batch: Any) -> Tensor:
        return (model[0](batch[0]) - model[1](batch[0]).detach()).square().mean()

    def second(model: nn.Module, batch: Any) -> Tensor:
        return (model[1](batch[0]) - model[0](batch[0]).detach()).square().mean()

    model = nn.Sequential(nn.Linear(4, 2), nn.Linear(4, 2))
    data = DataLoader(TensorDataset(torch.from_numpy(draw((7, 4), 1))), 3)
    turns = (Turn("a", first, Sgd(), "0.*", 0.1), Turn("b", second, Sgd(), "1.*", 0.2))
    draft = order_turns(TurnsJob("Turns", model, turns, "a, b", data, 6))
    assert draft.programs.pattern == ("a.3", "b.3", "a.1", "b.3", "a.3", "b.1")
    assert draft.scalars[:, 0].tolist() == [0.1, 0.2] * 3
    rows = torch.from_numpy(draw((7, 4), 1))
    with torch.no_grad():
        expected = first(model, (rows[:3],)).item()
    assert losses_of(draft)[0] == pytest.approx(expected, rel=CLOSE)


def test_pieces_of_each_batch() -> None:
    data = loader(sentences(MIXED))
    model = Small()
    draft = order_custom(CustomJob("Pieces", model, objective, sgd(model), data, 3, micro_batches=2))

    def halves(batch: Any) -> list[Any]:
        half = len(batch["labels"]) // 2
        return [
            {name: rows[:half] for name, rows in batch.items()},
            {name: rows[half:] for name, rows in batch.items()},
        ]

    assert losses_of(draft) == pytest.approx(by_torch(Small(), [halves(b) for b in data], objective), rel=CLOSE)
    with pytest.raises(DataError, match="A batch of 2 rows cannot be split into 4 equal parts"):
        order_custom(CustomJob("Pieces", model, objective, sgd(model), data, 3, micro_batches=4))


def test_capturing_is_stopped_between_two_programs() -> None:
    cancel = CancelToken()
    drafting = shapes_job(loader(sentences(MIXED))).drafting(cancel=cancel)
    report = next(report for report in drafting if report.unit == "programs")
    assert (report.done, report.total) == (0, 3)
    cancel.cancel()
    with pytest.raises(CancelledError):
        next(drafting)


def test_equal_batches_have_one_program_and_their_arrays_as_they_came() -> None:
    draft = order_custom(shapes_job(loader(sentences((3,) * 8)), steps=2))
    assert not draft.programs.several
    assert draft.notes == ()
    assert np.array_equal(draft.data["tokens"][:4], padded(sentences((3,) * 8)[:4])["tokens"].numpy())
