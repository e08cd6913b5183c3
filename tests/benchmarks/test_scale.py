"""What the laboratory says of shares among devices: its model of the exchange, and what it compares with."""

from __future__ import annotations

import pytest
import torch
from benchmarks.scale import NETWORKS, SMALL, draft, float_sum, many_devices, parameters_of, plainly

from counterfoil.training import execution


def test_the_model_of_the_exchange_is_a_ring_that_sends_eight_bytes_a_parameter() -> None:
    fast, slow = NETWORKS
    assert fast.seconds(8e9, 512) == pytest.approx(2 * 8 * 8e9 / 50e9, rel=0.01)
    assert slow.seconds(124e6, 1) == 0
    assert many_devices().count("\n") == 1 + 4


def test_what_is_added_up_is_every_parameter_and_the_loss() -> None:
    whole, divided = draft(SMALL, 8), draft(SMALL, 8, shares=4)
    assert whole.manifest.shares is None
    trained = sum(array.size for name, array in divided.initial.items() if ":" not in name and array.dtype == "float32")
    assert parameters_of(divided) == trained + 1


def test_the_plain_sum_is_that_of_floats_and_the_exact_one_comes_back() -> None:
    exact, shares = execution.__dict__["combine"], [{"x": torch.tensor([float(number)])} for number in range(3)]
    with plainly():
        assert execution.__dict__["combine"] is not exact
    assert float_sum(shares, ["x"])["x"].tolist() == [3.0]
    assert execution.__dict__["combine"] is exact
