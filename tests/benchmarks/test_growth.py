"""Slopes of curves are those of the powers that they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.growth import panels, table
from benchmarks.plots import Bars, Curve, draw_bars, draw_panels


@pytest.mark.parametrize("power", [0.0, 1.0, 2.5])
def test_the_slope_is_the_power(power: float) -> None:
    curve = Curve("a", tuple((x, 3 * x**power) for x in (1.0, 2.0, 8.0, 64.0)))
    assert curve.slope == pytest.approx(power, abs=1e-9)
    assert curve.fitted()[-1] == pytest.approx((64.0, 3 * 64.0**power))


def test_what_was_measured_is_in_the_table_and_in_the_picture(tmp_path: Path) -> None:
    found = {"depth": {"times": {"recorded": [[1, 10.0], [2, 20.0]]}, "log": {"entries": [[5, 1], [50, 10]]}}}
    lines = table(found).splitlines()
    assert len(lines) == 4
    assert all(line.endswith("| 1.00 |") for line in lines[2:])
    assert [panel.x for panel in panels(found)] == ["layers", "values rounded in a step"]
    draw_panels(panels(found), tmp_path / "panels.png")
    draw_bars([Bars("a", {"x": 1.0, "y": 2.0}), Bars("b", {"x": 3.0, "y": 1.0})], "times", tmp_path / "bars.png")
    for name in ("panels.png", "bars.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
