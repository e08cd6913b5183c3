"""The pure parts: rate, axis labels, text."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PySide6.QtCore import QLocale

from counterfoil_app.looks import text
from counterfoil_app.model.progress import RateMeter
from counterfoil_app.views.axes import NumberAxis


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


def test_axis_labels_are_counts(qapp: object) -> None:
    counts = NumberAxis()
    counts.show_values(counts=True)
    ((_spacing, ticks),) = counts.tickValues(-0.1, 3.1, 300)
    assert counts.tickStrings(ticks, 1, 1) == [QLocale().toString(n) for n in (0, 1, 10, 100, 1000)]


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.2, "0 s"), (59, "59 s"), (200, "3 min 20 s"), (7500, "2 h 05 min")]
)
def test_durations(seconds: float, expected: str) -> None:
    assert text.duration(seconds) == expected


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("2026-01-31T12:00:00Z", "2026-01-31 12:00:00 UTC"),
        ("2026-01-31T12:00:00+01:00", "2026-01-31T12:00:00+01:00"),
        ("yesterday", "yesterday"),
        ("", ""),
    ],
)
def test_a_time_is_written_for_people_and_nothing_else_is_touched(stamp: str, expected: str) -> None:
    assert text.moment(stamp) == expected


def test_numbers_in_words() -> None:
    assert text.number(math.nan) == "not a number"
    assert text.loss(math.inf) == "infinite"
    assert text.loss(1.723) == "1.72300"
    assert text.shape(()) == "scalar"
    assert text.rate(0.25) == "4.0 s/step"
    assert text.rate(12.0) == "12.0 steps/s"


@pytest.mark.parametrize("value", [0.1, 1 / 3, 2.0**-149, 3.4028234663852886e38, -0.0, 16777217.0])
def test_exact_text_names_the_float32_value(value: float) -> None:
    single = np.float32(value)
    shown = text.exact(float(single))
    assert np.float32(float(shown)).tobytes() == single.tobytes()
    assert len(shown.replace("-", "").replace(".", "").lstrip("0").split("e")[0]) <= 9
    assert float.fromhex(text.hexadecimal(float(single))) == float(single)


def test_leaves_in_words() -> None:
    assert [text.leaves(*span) for span in ((0, 0), (0, 7), (3, 3), (4, 7))] == [
        "initial state",
        "up to step 7",
        "step 3",
        "steps 4 to 7",
    ]
