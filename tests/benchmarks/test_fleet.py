"""The pages of the model: they hold what it gives, and it gives what OPEN-1B published."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.fleet import (
    OPEN_1B_GPUS,
    OPEN_8B_PARAMETERS,
    OPEN_MAIN_BATCH,
    PAGE,
    PRICE_PAGE,
    check_table,
    draw,
    open_1b_steps,
    open_seconds,
    price_table,
    scale_page,
)
from benchmarks.pages import between

from counterfoil.audit.values.fleet import FleetRequest, plan_fleet
from counterfoil.audit.values.rates import GPUS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("page", "part", "made"),
    [(PAGE, "fleet", scale_page), (PAGE, "open-1b", check_table), (PRICE_PAGE, "h100-model", price_table)],
)
def test_a_page_holds_what_the_model_gives(page, part, made):
    assert between((ROOT / page).read_text(encoding="utf-8"), part) == made()


def test_the_sums_give_what_open_1b_published():
    assert open_1b_steps() == pytest.approx(80_957, abs=1)
    assert open_seconds(OPEN_8B_PARAMETERS, OPEN_MAIN_BATCH, OPEN_1B_GPUS) == pytest.approx(94, rel=0.01)


def test_every_assumption_of_the_plan_is_on_the_page():
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    for line in plan_fleet(GPUS["H100"], FleetRequest()).assumptions:
        assert str(line) in page


def test_the_picture_is_drawn(tmp_path):
    draw(tmp_path / "scale.png")
    assert (tmp_path / "scale.png").stat().st_size > 10_000
