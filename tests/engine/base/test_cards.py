from __future__ import annotations

import re
from fractions import Fraction

import pytest

from counterfoil.base.cards import AMD, CUDA, float64_advice, float64_note, float64_share
from counterfoil_core.base.precision import PROFILES

DATA_CENTRE = [(8, 0), (9, 0), (10, 0)]
GEFORCE = [(7, 5), (8, 6), (8, 9), (12, 0)]
"""RTX 20, 30, 40 and 50."""


@pytest.mark.parametrize("capability", DATA_CENTRE)
def test_cards_of_data_centres_compute_float64_at_half_the_rate(capability: tuple[int, int]) -> None:
    assert float64_share(capability) == Fraction(1, 2)
    assert float64_advice("card", float64_share(capability), "float64") == ""


@pytest.mark.parametrize("capability", [*GEFORCE, (10, 3)])
def test_cards_for_games_and_blackwell_ultra_have_next_to_no_float64(capability: tuple[int, int]) -> None:
    share = float64_share(capability)
    assert share in (Fraction(1, 32), Fraction(1, 64))
    advice = float64_advice("RTX", share, "float64")
    assert advice.startswith(f"RTX has little float64, 1/{1 / share} of the rate")
    assert re.findall(r"exact-\d+", advice) == ["exact-20", "exact-13"]


def test_the_profiles_that_are_recommended_can_be_ordered_and_compute_without_float64() -> None:
    for name in re.findall(r"exact-\d+", float64_advice("RTX", Fraction(1, 64), "float64")):
        assert PROFILES[name].compute != "float64"


@pytest.mark.parametrize("name", ["exact-20", "exact-13", "float32-bfloat16"])
def test_profiles_that_compute_without_float64_are_not_told_off(name: str) -> None:
    assert float64_advice("RTX", Fraction(1, 64), PROFILES[name].compute) == ""
    assert float64_advice("RTX", Fraction(1, 64), PROFILES["float64-24"].compute)  # control


def test_amd_is_known_by_its_architecture_and_not_by_the_capability_that_torch_gives() -> None:
    assert float64_share((9, 4), "gfx942:sramecc+:xnack-") == Fraction(1, 2)
    assert float64_share((9, 0), "gfx90a:sramecc+:xnack-") == 1
    assert float64_share((10, 3), "gfx1030") == Fraction(1, 16), "and not what CUDA's 10.3 has"
    assert float64_share((11, 0), "gfx1100") == Fraction(1, 32)
    assert float64_share((9, 0), "NVIDIA H100 80GB HBM3") == Fraction(1, 2), "torch names NVIDIA's cards there"


def test_what_no_table_has_is_not_known_and_nobody_is_told_off_for_it() -> None:
    assert float64_share((99, 0)) is None
    assert float64_share((12, 0), "gfx1201") is None
    assert float64_advice("card", None, "float64") == ""
    assert "measure" in float64_note(None)


def test_a_device_without_float64_is_told_apart_from_one_that_is_slow_in_it() -> None:
    assert float64_advice("Apple M4", Fraction(0), "float64").startswith("Apple M4 has no float64")
    assert float64_note(Fraction(0)) == "no float64"


def test_every_share_in_the_tables_is_one_that_hardware_has() -> None:
    assert {1 / share for share in (*CUDA.values(), *AMD.values())} <= {1, 2, 16, 32, 64}
