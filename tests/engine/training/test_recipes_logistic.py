"""Logistic regression: the table, the loss, record and replay, bad input."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from counterfoil.training.recipes import logistic
from counterfoil.training.recipes.logistic import Table, objective, order_logistic, read_table, synthetic_table
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic.otherwise.perturbation import PERTURBATIONS
from counterfoil_core.base.errors import DataError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.events import DisputeLocated
from counterfoil_core.values.outcome import Outcome
from support.jobs import Job, audited, record_job

SMALL = {"steps": 4, "batch_size": 64, "checkpoint_every": 2}


@pytest.fixture(scope="module")
def table() -> Table:
    return synthetic_table(1000, 30, 5)


@pytest.fixture(scope="module")
def job(tmp_path_factory, trainer_key, table) -> Job:
    draft = order_logistic(table.features, table.labels, momentum=0.5, weight_decay=0.01, **SMALL)
    return record_job(tmp_path_factory.mktemp("logistic"), draft, trainer_key)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("perturbation", PERTURBATIONS)
def test_replay_is_bit_exact_on_other_hardware(job, perturbation):
    report = audited(job.run, job.order, perturbation=perturbation).report
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert (report.contradictions, report.omissions) == (0, 0)


def test_control_flipped_labels_are_disputed_at_their_step(tmp_path, trainer_key, table):
    draft = order_logistic(table.features, table.labels, **SMALL)
    job = record_job(tmp_path, draft, trainer_key, tamper=LabelFlip(3, classes=2))
    result = audited(job.run, job.order)
    assert result.report.outcome is Outcome.DISPUTED
    assert result.of(DisputeLocated)[0].dispute.step == 3


def test_it_learns(tmp_path, trainer_key, table):
    job = record_job(tmp_path, order_logistic(table.features, table.labels, steps=60, batch_size=100), trainer_key)
    with BundleReader.open(job.run) as reader:
        losses = [record.loss for record in reader.step_records()[1:]]
    assert losses[0] == pytest.approx(np.log(2.0))
    assert np.mean(losses[-10:]) < 0.45


class Given(nn.Module):
    """A model whose logits are given."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


def test_the_loss_is_binary_cross_entropy_with_logits():
    logits = torch.linspace(-60, 60, 481, dtype=torch.float64).requires_grad_()
    for label in (0, 1):
        labels = torch.full((481,), label)
        ours = objective(Given(), {"features": logits[:, None], "labels": labels})
        theirs = functional.binary_cross_entropy_with_logits(logits, labels.double())
        assert torch.isclose(ours, theirs, rtol=1e-14, atol=0.0)
        gradients = [torch.autograd.grad(loss, logits)[0] for loss in (ours, theirs)]
        assert torch.allclose(*gradients, rtol=1e-12, atol=1e-18)


def test_control_softplus_as_it_is_by_default_would_be_another_loss(monkeypatch):
    monkeypatch.setattr(logistic, "_SOFTPLUS_EXACT", 20.0)
    logits = torch.tensor([20.5], dtype=torch.float64)
    ours = objective(Given(), {"features": logits[:, None], "labels": torch.ones(1)})
    theirs = functional.binary_cross_entropy_with_logits(logits, torch.ones(1).double())
    assert not torch.isclose(ours, theirs, rtol=0.1, atol=0.0)


def test_a_made_up_table():
    rows = 2 * logistic._BLOCK + 100
    table = synthetic_table(rows, 20, 9)
    assert table.features.shape == (rows, 20)
    assert table.features.dtype == np.float32
    assert -1 <= table.features.min() < -0.99
    assert 0.99 < table.features.max() < 1
    assert abs(float(table.features.mean())) < 0.01
    assert 0.45 < table.labels.mean() < 0.55
    again, other = synthetic_table(rows, 20, 9), synthetic_table(rows, 20, 10)
    assert np.array_equal(again.features, table.features)
    assert np.array_equal(again.labels, table.labels)
    assert not np.array_equal(other.features, table.features)
    # No block repeats another.
    assert len(np.unique(table.features[:, :3], axis=0)) > 0.999 * rows
    # A plane tells the classes apart, but for the labels that were turned round.
    plane = np.linalg.lstsq(table.features.astype(np.float64), table.labels * 2.0 - 1, rcond=None)[0]
    right = np.mean((table.features @ plane > 0) == table.labels)
    assert 0.92 < right < 0.98


def test_a_table_as_wide_as_that_of_the_comparison_is_captured():
    """A view of one row, so that its width needs no memory."""
    row = synthetic_table(1, 1024, 0)
    features = np.broadcast_to(row.features, (4096, 1024))
    draft = order_logistic(features, np.arange(4096) % 2, steps=4, batch_size=1024)
    assert {name: array.size for name, array in draft.initial.items()} == {"weight": 1024, "bias": 1}


def test_a_table_from_a_file(tmp_path, table):
    path = tmp_path / "table.npz"
    np.savez(path, features=table.features.astype(np.float64), labels=table.labels.astype(bool))
    found = read_table(path)
    assert found.features.dtype == np.float32
    assert np.array_equal(found.features, table.features)
    assert np.array_equal(found.labels, table.labels)


def saved(**arrays):
    return lambda path: np.savez(path, **arrays)


ONES = np.ones((4, 2))
TWO = np.array([0, 1, 0, 1])


@pytest.mark.parametrize(
    ("write", "word"),
    [
        (lambda path: None, "There is no file"),
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: path.write_bytes(b""), "not a table"),
        (lambda path: path.write_bytes(b"1,2,3\n" * 99), "not a table"),
        (lambda path: path.write_bytes(b"PK\x03\x04" + bytes(99)), "not a table"),
        (lambda path: np.save(path.open("wb"), ONES), "one array"),
        (saved(features=ONES), "no array labels"),
        (saved(x=ONES), "no array features and no array labels"),
        (saved(features=ONES, labels=np.array([{}] * 4)), "not a table"),
        (saved(features=ONES[0], labels=TWO), "shape (2,)"),
        (saved(features=ONES.astype(int), labels=TWO), "int64"),
        (saved(features=ONES[:0], labels=TWO[:0]), "shape (0, 2)"),
        (saved(features=ONES, labels=TWO[:3]), "(3,)"),
        (saved(features=ONES, labels=TWO * 0.5), "float64"),
    ],
)
def test_a_wrong_file_is_a_sentence(tmp_path, write, word):
    path = tmp_path / "table.npz"
    write(path)
    with pytest.raises(DataError) as caught:
        read_table(path)
    assert word in caught.value.sentence
    assert str(path) in caught.value.sentence


def test_a_damaged_file_is_a_sentence_wherever_the_damage_is(tmp_path):
    path = tmp_path / "table.npz"
    np.savez_compressed(path, features=ONES, labels=TWO)
    good = path.read_bytes()
    for place in range(len(good)):
        path.write_bytes(good[:place] + bytes([good[place] ^ 0x24]) + good[place + 1 :])
        try:
            found = read_table(path)
        except DataError:
            continue
        assert np.array_equal(found.features, ONES)  # a field that nobody reads
        path.write_bytes(good[:place])
        with pytest.raises(DataError):
            read_table(path)


def infinite() -> np.ndarray:
    features = np.zeros((5000, 2), np.float32)
    features[4321, 1] = np.inf
    return features


@pytest.mark.parametrize(
    ("features", "labels", "word"),
    [
        (ONES, TWO, "float64"),
        (ONES.astype(np.float32)[0], TWO[:2], "(n, d)"),
        (ONES.astype(np.float32), TWO[:3], "(3,)"),
        (ONES.astype(np.float32), TWO * 2, "neither 0 nor 1"),
        (ONES.astype(np.float32), TWO, "too few for a batch of 1024"),
        (infinite(), np.zeros(5000, np.int64), "Row 4321"),
    ],
)
def test_bad_input_is_a_sentence(features, labels, word):
    with pytest.raises(DataError) as caught:
        order_logistic(features, labels)
    assert word in caught.value.sentence


@pytest.mark.parametrize(("rows", "features"), [(0, 5), (5, 0), (-1, 5), (5, 2**28 + 1)])
def test_an_impossible_table_is_a_sentence(rows, features):
    with pytest.raises(DataError, match="cannot be made"):
        synthetic_table(rows, features, 0)
