"""The model of a step's time on cards that are not here: by what is counted, and by the data sheets."""

from __future__ import annotations

import pytest

pytest.importorskip("triton")

import torch
from benchmarks.measure import Values
from benchmarks.timemodel import CARDS, HOST, ORDINARY, TINY, OrdinaryLaunches, count, device_seconds, host_seconds
from torch import nn

from counterfoil.base.cards import GPUS
from counterfoil_core.program.estimate import product_flops

WORKLOAD = TINY["digits"][0].make()


@pytest.fixture(scope="module")
def counted() -> dict[str, Values]:
    return {profile: count(WORKLOAD, profile) for profile in (ORDINARY, "exact-13", "float64-24")}


def operations(values: Values) -> int:
    return sum(done for _, done in values["products"])


def test_all_ways_multiply_the_same(counted: dict[str, Values]) -> None:
    expected = product_flops(WORKLOAD.order(None).program)
    assert operations(counted["exact-13"]) == pytest.approx(4 * expected, rel=0.2), (
        "each digit by each, and zeros of strides"
    )
    assert operations(counted["float64-24"]) == pytest.approx(expected, rel=0.1)
    # torch's own step multiplies the gradient by the images, which nobody wants, or leaves it out.
    assert operations(counted[ORDINARY]) == pytest.approx(expected, rel=0.2)


def test_under_a_profile_more_is_moved(counted: dict[str, Values]) -> None:
    for profile in ("exact-13", "float64-24"):
        assert counted[profile]["others"] > counted[ORDINARY]["others"]


def test_a_layer_as_counted_by_hand() -> None:
    layer, rows = nn.Linear(5, 3, bias=False), torch.ones(2, 5)
    with OrdinaryLaunches() as counting:
        (layer(rows) * 2).sum()
    assert counting.found == [(4 * (10 + 15 + 6), 2 * 2 * 5 * 3), (4 * 12, 0), (4 * 7, 0)]


def test_a_launch_takes_its_bytes_or_its_products() -> None:
    card = GPUS["RTX 4090"]
    found = {"products": [[1_008_000, 1], [1, 660_600_000]], "others": 2_016_000, "launches": 3}
    assert device_seconds(card, "exact-13", found) == pytest.approx(2 * (1e-6 + 1e-6 + 2e-6))
    assert device_seconds(card, ORDINARY, found) == pytest.approx(2 * (1e-6 + 4e-6 + 2e-6), rel=1e-3)
    assert device_seconds(card, "float64-24", found) > 2 * 660.6e6 / 1.3e12
    assert host_seconds("exact-13", found) == pytest.approx(3 * HOST)
    assert host_seconds(ORDINARY, found) == 0


def test_the_cards_of_the_table_have_data_sheets() -> None:
    assert set(CARDS) <= set(GPUS)
