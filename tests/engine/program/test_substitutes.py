"""Functions that look at values are captured by others that do not: torch's loss and gradients, whatever the values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from counterfoil.program.capture import capture
from counterfoil.program.update import Sgd
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.base.errors import NonFiniteError, ProgramError
from counterfoil_core.operators.node import TensorType
from support.jobs import draw

Objective = Callable[[nn.Module, Mapping[str, Tensor]], Tensor]
Batch = Mapping[str, Tensor]


def own(model: nn.Module) -> nn.Module:
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.copy_(torch.from_numpy(draw(tuple(parameter.shape), number)) * 0.7)
    return model


def both(model: nn.Module, objective: Objective, *batches: Batch) -> list[str]:
    """Capture on the first batch's types, and compare loss and gradients with torch's on each; the operators."""
    types = {n: TensorType(str(t.dtype).removeprefix("torch."), tuple(t.shape)) for n, t in batches[0].items()}
    step = capture(own(model), objective, Sgd(), types)
    for batch in batches:
        inputs = StepInputs(step.initial_state, batch, {"lr": 1.0}, Draws(0, 1))
        result = Interpreter(step.program, torch.device("cpu")).run(inputs)
        model.double().zero_grad()
        loss = objective(model, {n: t.double() if t.is_floating_point() else t for n, t in batch.items()})
        loss.backward()
        assert result.loss == pytest.approx(loss.item(), rel=1e-9)
        for name, parameter in model.named_parameters():
            got = step.initial_state[name].double() - result.state[name].double()
            torch.testing.assert_close(got, parameter.grad, rtol=1e-5, atol=2e-7)
        model.float()
    return [node.operator for node in step.program.nodes]


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


# CTC.


def ctc(**settings: Any) -> Objective:
    def objective(model: nn.Module, batch: Batch) -> Tensor:
        scores = model(batch["x"]).log_softmax(-1).transpose(0, 1)
        return functional.ctc_loss(scores, batch["labels"], batch["times"], batch["lengths"], **settings).sum()

    return objective


def speech(seed: int, times: list[int], lengths: list[int]) -> Batch:
    labels = torch.from_numpy(np.random.default_rng(seed).integers(1, 5, (3, 3)))
    # Twice the same label needs a blank between.
    labels[0, 1] = labels[0, 0]
    return {
        "x": numbers(3, 5, 4, seed=seed),
        "labels": labels,
        "times": torch.tensor(times),
        "lengths": torch.tensor(lengths),
    }


def test_ctc_with_lengths_of_the_batch() -> None:
    batches = [speech(1, [5, 4, 3], [3, 2, 1]), speech(2, [3, 5, 5], [0, 3, 1])]
    assert "aten._ctc_loss.default" not in both(nn.Linear(4, 6), ctc(reduction="sum", blank=5), *batches)


def test_ctc_of_targets_that_a_mask_selects() -> None:
    def objective(model: nn.Module, batch: Batch) -> Tensor:
        scores = model(batch["x"]).log_softmax(-1).transpose(0, 1)
        mask = batch["labels"] != -100
        return functional.ctc_loss(scores, batch["labels"].masked_select(mask), batch["times"], mask.sum(-1))

    def padded(batch: Batch) -> Batch:
        beyond = torch.arange(3) >= batch["lengths"][:, None]
        return {name: t.masked_fill(beyond, -100) if name == "labels" else t for name, t in batch.items()}

    both(nn.Linear(4, 6), objective, padded(speech(1, [5, 4, 3], [3, 2, 1])), padded(speech(2, [4, 5, 5], [1, 3, 1])))
    with pytest.raises(ProgramError, match="The elements that a mask selects are used by sum"):
        both(
            nn.Linear(4, 6), lambda m, b: b["x"][:, :, 0].masked_select(b["x"][:, :, 1] > 0).sum(), speech(1, [5], [3])
        )


def test_a_target_that_is_too_long_for_ctc() -> None:
    impossible = speech(1, [5, 2, 5], [3, 3, 2])
    both(nn.Linear(4, 6), ctc(zero_infinity=True), speech(3, [5, 5, 5], [2, 3, 3]), impossible)
    with pytest.raises(NonFiniteError, match="The loss is infinite"):
        both(nn.Linear(4, 6), ctc(), speech(3, [5, 5, 5], [2, 3, 3]), impossible)


# Packed sequences.


class Reader(nn.Module):
    def __init__(self, kind: type[nn.RNNBase], *, ordered: bool = True, **settings: Any) -> None:
        super().__init__()
        self.embed = nn.Embedding(9, 3)
        self.recurrent = kind(3, 4, batch_first=True, **settings)
        self.ordered = ordered

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(self.embed(x), lengths, batch_first=True, enforce_sorted=self.ordered)
        out, end = self.recurrent(packed)
        padded, counts = pad_packed_sequence(out, batch_first=True, padding_value=0.5, total_length=5)
        ends = end if isinstance(end, tuple) else (end,)
        weights = torch.arange(padded.numel()).reshape(padded.shape).remainder(5).to(padded.dtype)
        return (padded * weights).sum() + sum(e.square().sum() for e in ends) + 0.0 * counts.sum()


def sentences(seed: int, *lengths: int) -> Batch:
    return {
        "x": torch.from_numpy(np.random.default_rng(seed).integers(0, 9, (len(lengths), 4))),
        "lengths": torch.tensor(lengths),
    }


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "model",
    [
        Reader(nn.LSTM, bidirectional=True),
        Reader(nn.LSTM, proj_size=2, bias=False),
        Reader(nn.GRU, ordered=False),
        Reader(nn.RNN, nonlinearity="relu"),
    ],
    ids=["lstm", "projected", "gru", "rnn"],
)
def test_packed_sequences_with_lengths_of_the_batch(model: Reader) -> None:
    batches = [sentences(1, 4, 3, 3, 1), sentences(2, 3, 3, 2, 2)]
    if not model.ordered:
        batches.append(sentences(3, 1, 4, 2, 3))
    both(model, lambda model, batch: model(batch["x"], batch["lengths"]), *batches)


def test_rows_of_a_packed_sequence_are_read_row_by_row_or_not_at_all() -> None:
    class Packed(nn.Module):
        def __init__(self, loss: Callable[[Tensor], Tensor]) -> None:
            super().__init__()
            self.embed, self.recurrent, self.loss = nn.Embedding(9, 3), nn.GRU(3, 4), loss

        def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
            tokens = pack_padded_sequence(x, lengths, batch_first=True)
            packed = PackedSequence(self.embed(tokens.data), tokens.batch_sizes)
            out = self.recurrent(packed)[0]
            return self.loss(out.data) + pad_packed_sequence(out, total_length=5)[0].sum()

    both(
        Packed(lambda rows: torch.zeros(())),
        lambda m, b: m(b["x"], b["lengths"]),
        sentences(1, 4, 3, 3, 1),
        sentences(2, 4, 3, 3, 2),
    )
    with pytest.raises(ProgramError, match="The rows of a packed sequence are used by mean"):
        both(Packed(torch.mean), lambda m, b: m(b["x"], b["lengths"]), sentences(1, 4, 3, 3, 1))


# Groups of rows, masks, and what is assumed.


def test_products_of_groups_and_whole_numbers_that_are_counted() -> None:
    class Experts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.router, self.weight = nn.Linear(3, 4), nn.Parameter(torch.zeros(4, 3, 5))

        def forward(self, x: Tensor) -> Tensor:
            chosen = self.router(x).softmax(-1)
            share, expert = chosen.topk(1)
            order = expert[:, 0].argsort()
            ends = torch.histc(expert.float(), 4, 0, 3).cumsum(0).to(torch.int32)
            grouped = torch.nn.functional.grouped_mm if torch.compiler.is_exporting() else _grouped
            return (grouped(x[order], self.weight, ends) * share[order]).square().sum()

    both(Experts(), lambda m, b: m(b["x"]), {"x": numbers(7, 3)}, {"x": numbers(7, 3, seed=1) - 1})


def _grouped(rows: Tensor, weight: Tensor, ends: Tensor) -> Tensor:
    if torch.overrides._get_current_function_mode() is not None:
        return torch._grouped_mm(rows, weight, offs=ends)
    parts = torch.tensor_split(rows, ends[:-1].to(torch.int64))
    return torch.cat([part @ matrix for part, matrix in zip(parts, weight, strict=True)])


def test_a_write_to_places_that_a_mask_of_the_batch_chooses() -> None:
    class Masking(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.own = nn.Linear(3, 5), nn.Parameter(torch.zeros(5))

        def forward(self, x: Tensor, mask: Tensor) -> Tensor:
            h = self.inner(x)
            h[mask] = self.own
            h[:, 0][~mask] = 0.25
            return h.square().sum()

    def batch(seed: int) -> Batch:
        return {"x": numbers(6, 3, seed=seed), "mask": (numbers(6, seed=seed + 9) > 0).to(torch.uint8)}

    both(
        Masking(),
        lambda m, b: m(b["x"], b["mask"] != 0),
        batch(0),
        batch(1),
        {**batch(2), "mask": torch.zeros(6, dtype=torch.uint8)},
    )


def test_what_a_capture_assumes_ends_training_where_it_does_not_hold() -> None:
    class Careful(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(3, 4)

        def forward(self, x: Tensor, labels: Tensor) -> Tensor:
            h = self.inner(x)
            if not torch.isfinite(h).all() or torch.isnan(x).any():
                h = h.clamp(-1.0, 1.0)
            counted = (labels >= 0).nonzero()
            chosen = h.gather(0, counted.expand(-1, h.shape[1]))
            return functional.cross_entropy(chosen, labels.gather(0, counted[:, 0]))

    def batch(*labels: int) -> Batch:
        return {"x": numbers(4, 3), "labels": torch.tensor(labels)}

    def objective(model: nn.Module, given: Batch) -> Tensor:
        return model(given["x"], given["labels"])

    both(Careful(), objective, batch(0, 3, 1, 1), batch(2, 2, 0, 3))
    with pytest.raises(NonFiniteError, match="The loss is infinite"):
        both(Careful(), objective, batch(0, 3, 1, 1), batch(2, -100, 0, 3))


# Integers of rounded constants.


def test_integers_of_rounded_constants_are_decided_at_capture() -> None:
    class Buckets(nn.Module):
        """The relative positions of T5, whose logarithm of zero is left out afterwards."""

        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Embedding(8, 2)

        def forward(self, x: Tensor) -> Tensor:
            distance = torch.arange(40)
            large = 4 + (torch.log(distance.float() / 4) / 2.302585 * 4).to(torch.int64)
            bucket = torch.where(distance < 4, distance, torch.clamp(large, max=7))
            return (self.weight(bucket) * x).square().sum()

    operators = both(Buckets(), lambda m, b: m(b["x"]), {"x": numbers(40, 2)})
    assert "aten.log.default" not in operators
