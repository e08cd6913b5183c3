from __future__ import annotations

from fractions import Fraction

import pytest

from counterfoil.audit.values.rates import (
    RECOMPUTED,
    WAYS,
    product_seconds,
    sweep_seconds,
    token_seconds,
    useful_rate,
    with_products,
)
from counterfoil.audit.values.transformer import Transformer
from counterfoil.base.cards import EFFICIENCY, GPUS
from counterfoil_core.base.precision import PROFILES, ExactPrecision

H100 = GPUS["H100"]
MODEL = Transformer.of(8e9, 4096)


@pytest.mark.parametrize("name", [name for name in WAYS if name.startswith("exact")])
def test_an_exact_profile_takes_the_int8_products_of_its_digits(name: str) -> None:
    digit_count = pytest.importorskip("counterfoil_core.kernels.cuda.products", exc_type=ImportError).digit_count
    profile = PROFILES[name]
    assert isinstance(profile, ExactPrecision)
    assert WAYS[name].products == digit_count(profile.bits) ** 2, "each digit by each"


def test_every_way_but_ordinary_training_is_a_profile_that_can_be_ordered() -> None:
    assert [name for name in WAYS if name not in PROFILES] == ["bfloat16"]
    assert [name for name, way in WAYS.items() if not way.audited] == ["bfloat16"]
    for name, way in WAYS.items():
        if way.audited:
            assert bool(way.log_bits) == (not isinstance(PROFILES[name], ExactPrecision))


def test_the_products_of_a_token_take_their_share_of_the_published_rate() -> None:
    expected = 4 * MODEL.flops / (EFFICIENCY * 1979e12)
    assert product_seconds(H100, WAYS["exact-13"], MODEL) == pytest.approx(expected)
    assert product_seconds(H100, with_products(WAYS["exact-13"], 2), MODEL) == pytest.approx(expected / 2)


def test_the_time_of_a_token_is_its_products_and_its_sweeps_twice_forward() -> None:
    for way in WAYS.values():
        parts = product_seconds(H100, way, MODEL) + sweep_seconds(H100, way, MODEL)
        assert token_seconds(H100, way, MODEL) == pytest.approx(RECOMPUTED * parts)
        assert useful_rate(H100, way, MODEL) < getattr(H100, way.rate)


def test_more_memory_bandwidth_shortens_the_sweeps_alone() -> None:
    h200, way = GPUS["H200"], WAYS["exact-13"]
    assert product_seconds(h200, way, MODEL) == product_seconds(H100, way, MODEL)
    assert sweep_seconds(h200, way, MODEL) == pytest.approx(sweep_seconds(H100, way, MODEL) * 3.35 / 4.8)


def test_ordinary_training_moves_nothing_beside_its_products() -> None:
    assert sweep_seconds(H100, WAYS["bfloat16"], MODEL) == 0
    assert sweep_seconds(H100, WAYS["exact-13"], MODEL) > 0  # control


def test_a_longer_context_costs_sweeps_since_attention_is_a_tensor() -> None:
    short = Transformer.of(8e9, 1024)
    way = WAYS["exact-13"]
    assert sweep_seconds(H100, way, MODEL) > 1.5 * sweep_seconds(H100, way, short)


@pytest.mark.parametrize("name", ["RTX 4090", "RTX 5090"])
def test_on_cards_with_little_float64_exact_profiles_are_many_times_as_fast(name: str) -> None:
    gpu = GPUS[name]
    assert gpu.float64_share == Fraction(1, 64)
    assert gpu.float64 == pytest.approx(gpu.float32 / 64, rel=0.01)
    assert useful_rate(gpu, WAYS["exact-20"], MODEL) > 5 * useful_rate(gpu, WAYS["float64-24"], MODEL)
