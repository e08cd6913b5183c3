"""The pure parts: rate, divergence levels, thinning, text."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil import DivergenceMeasured, TensorDivergence
from counterfoil_app import text
from counterfoil_app.divergence import EQUAL_WITHOUT_SCALE, DivergenceTable
from counterfoil_app.rate import RateMeter
from counterfoil_app.views.plots import CountAxis, PowerAxis, peaks


def measured(step: int, **differences: float) -> DivergenceMeasured:
    return DivergenceMeasured(
        step,
        tuple(
            TensorDivergence(name, (2,), int(value != 0), value, 0, value, (), 0.0, value)
            for name, value in sorted(differences.items())
        ),
    )


def test_rate_and_time_left() -> None:
    meter = RateMeter()
    assert meter.steps_per_second is None
    for second in range(5):
        meter.note(100.0 + second, 2.0 * second)
    assert meter.steps_per_second == pytest.approx(2.0)
    assert meter.seconds_left(20) == pytest.approx(6.0)
    meter.restart()
    assert meter.seconds_left(20) is None


def test_rate_follows_a_change_of_speed() -> None:
    meter = RateMeter()
    for second in range(100):
        meter.note(float(second), 10.0 * second)
    for second in range(100, 200):
        meter.note(float(second), 990.0 + (second - 99))
    assert meter.steps_per_second == pytest.approx(1.0)


def test_rate_is_unknown_while_nothing_moves() -> None:
    meter = RateMeter()
    meter.note(0.0, 3.0)
    meter.note(9.0, 3.0)
    assert meter.steps_per_second is None


def test_equal_tensors_are_drawn_below_all_others() -> None:
    table = DivergenceTable()
    table.add(measured(5, a=0.0, b=1e-6))
    table.add(measured(10, a=2e-3, b=0.0))
    levels, low, _high = table.levels()
    assert low == -7.0
    assert levels.tolist() == [[low, pytest.approx(math.log10(2e-3))], [pytest.approx(-6.0), low]]
    assert table.steps.tolist() == [5.0, 10.0]
    assert table.largest() == "a"


def test_equal_everywhere_has_a_level_too() -> None:
    table = DivergenceTable()
    table.add(measured(5, a=0.0))
    levels, low, _high = table.levels()
    assert (levels.tolist(), low, table.largest()) == ([[EQUAL_WITHOUT_SCALE]], EQUAL_WITHOUT_SCALE, None)


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_what_is_not_finite_is_shown_and_not_dropped(broken: float) -> None:
    table = DivergenceTable()
    table.add(measured(5, a=1e-3, b=broken))
    levels, _low, high = table.levels()
    assert levels[1, 0] == high
    assert levels[0, 0] < high
    assert table.largest() == "b"


def test_a_later_comparison_of_the_same_step_replaces_the_first() -> None:
    table = DivergenceTable()
    table.add(measured(5, a=0.0))
    table.add(measured(5, a=1.0))
    assert len(table) == 1
    assert table.largest() == "a"


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300), st.integers(1, 50))
def test_thinning_never_loses_the_spike(values: list[float], groups: int) -> None:
    array = np.array(values)
    kept, thinned = peaks(array, groups)
    assert len(thinned) <= max(groups, 1)
    assert thinned.max() == array.max()
    assert (array[kept] == thinned).all()
    assert (np.diff(kept) > 0).all()


def test_axis_labels_name_the_special_levels(qapp: object) -> None:
    axis = PowerAxis()
    axis.equal_level, axis.broken_level = -8.0, 1.0
    ((_spacing, ticks),) = axis.tickValues(-8.5, 1.5, 300)
    assert axis.tickStrings(ticks, 1, 1)[:3] == ["equal", "not finite", "1e-7"]
    counts = CountAxis()
    ((_spacing, ticks),) = counts.tickValues(-0.1, 3.1, 300)
    assert counts.tickStrings(ticks, 1, 1) == ["0", "1", "10", "100", "1,000"]


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.2, "0 s"), (59, "59 s"), (200, "3 min 20 s"), (7500, "2 h 05 min")]
)
def test_durations(seconds: float, expected: str) -> None:
    assert text.duration(seconds) == expected


def test_numbers_in_words() -> None:
    assert text.number(math.nan) == "not a number"
    assert text.loss(math.inf) == "infinite"
    assert text.loss(1.723) == "1.72300"
    assert text.shape(()) == "scalar"
    assert text.rate(0.25) == "4.0 s/step"
    assert text.rate(12.0) == "12.0 steps/s"
