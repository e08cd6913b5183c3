from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st
from torch import nn

from counterfoil.training.schedules import cosine, shuffled_epochs, warmup_linear
from counterfoil.training.weights import fan_in_uniform, nearly_normal
from counterfoil_core.base.errors import DataError


@given(st.integers(1, 60), st.integers(1, 20), st.integers(1, 40), st.integers(0, 2**64 - 1))
def test_an_epoch_visits_every_row_at_most_once(rows, batch_size, steps, seed):
    if rows < batch_size:
        with pytest.raises(DataError):
            shuffled_epochs(rows, batch_size, steps, seed)
        return
    schedule = shuffled_epochs(rows, batch_size, steps, seed)
    assert schedule.shape == (steps, batch_size)
    assert schedule.dtype == np.int64
    per_epoch = rows // batch_size
    for first in range(0, steps, per_epoch):
        epoch = schedule[first : first + per_epoch].flatten().tolist()
        assert len(set(epoch)) == len(epoch)
        assert all(0 <= row < rows for row in epoch)
    assert np.array_equal(schedule, shuffled_epochs(rows, batch_size, steps, seed))


def test_epochs_and_seeds_differ():
    one = shuffled_epochs(100, 100, 2, 1)
    assert sorted(one[0]) == sorted(one[1]) == list(range(100))
    assert not np.array_equal(one[0], one[1])
    assert not np.array_equal(one, shuffled_epochs(100, 100, 2, 2))
    # Longer schedules begin like shorter ones.
    assert np.array_equal(shuffled_epochs(100, 10, 30, 1)[:7], shuffled_epochs(100, 10, 7, 1))


def test_the_shuffle_is_even():
    """Each row comes first about equally often."""
    first = [int(shuffled_epochs(8, 8, 1, seed)[0, 0]) for seed in range(2000)]
    assert min(np.bincount(first, minlength=8)) > 2000 / 8 - 5 * math.sqrt(2000 / 8)


def test_cosine():
    rates = cosine(0.2, 4)
    assert rates == pytest.approx([0.2, 0.1 * (1 + math.sqrt(0.5)), 0.1, 0.1 * (1 - math.sqrt(0.5))])


@pytest.mark.parametrize(
    ("steps", "warmup", "expected"),
    [
        (6, 2, [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]),
        (3, 0, [1.0, 2 / 3, 1 / 3]),
        (2, 4, [0.25, 0.5]),
        (1, 1, [1.0]),
    ],
)
def test_warmup_and_linear_decay(steps, warmup, expected):
    assert warmup_linear(1.0, steps, warmup) == pytest.approx(expected)


def test_initial_weights_fill_their_range():
    model = nn.Sequential(nn.Conv2d(4, 50, 3), nn.BatchNorm2d(50), nn.Linear(100, 40))
    fan_in_uniform(model, 1)
    bound = 1 / math.sqrt(36)
    weight = model[0].weight.detach()
    assert bound * 0.98 < float(weight.abs().max()) <= bound
    assert abs(float(weight.mean())) < bound / 20
    assert float(model[2].bias.detach().abs().max()) <= 1 / math.sqrt(100)
    assert torch.equal(model[1].weight, torch.ones(50))
    # No two tensors share their numbers.
    assert not torch.equal(weight.flatten()[:40] / bound, model[2].weight.flatten()[:40] * 10)


def test_normal_numbers():
    drawn = nearly_normal((200, 100), 0.02, 3, 1).double()
    assert abs(float(drawn.mean())) < 0.02 * 4 / math.sqrt(20_000)
    assert float(drawn.std()) == pytest.approx(0.02, rel=0.02)
    assert 0.66 < float((drawn.abs() < 0.02).double().mean()) < 0.70
    assert not torch.equal(drawn, nearly_normal((200, 100), 0.02, 3, 2).double())
    assert not torch.equal(drawn, nearly_normal((200, 100), 0.02, 4, 1).double())
