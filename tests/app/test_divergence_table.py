"""The differences of all tensors over the steps, and how a long run is thinned out without losing a spike."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from counterfoil import DivergenceMeasured, TensorDivergence
from counterfoil_app.looks.theme import DARK, LIGHT, Tokens
from counterfoil_app.model.divergence_table import DivergenceTable, Scale, group_rows, module_and_tensor, thin_to_view
from counterfoil_app.views import heatmap


def largest(table: DivergenceTable) -> str | None:
    """Name of the tensor that ever differed most; None when all are equal."""
    values = table.columns().values
    return table.names[int(values.max(axis=1).argmax())] if values.size else None


def measured(step: int, **differences: float) -> DivergenceMeasured:
    return DivergenceMeasured(
        step,
        tuple(
            TensorDivergence(name, (2,), int(value != 0), value, 0, value, (), 0.0, value)
            for name, value in sorted(differences.items())
        ),
    )


def table(*items: DivergenceMeasured) -> DivergenceTable:
    result = DivergenceTable()
    for item in items:
        result.add(item)
    return result


def test_differences_are_found_by_step() -> None:
    found = table(measured(5, a=0.0, b=0.0), measured(10, a=2e-3, b=0.0), measured(15, a=0.0, b=0.0))
    assert found.steps.tolist() == [5, 10, 15]
    assert [found.at(step).tolist() for step in (5, 10, 15)] == [[0, 0], [2e-3, 0], [0, 0]]  # type: ignore[union-attr]
    assert found.at(7) is None
    assert largest(found) == "a"
    assert found.scale() == Scale(-5, -2)


def test_equal_everywhere_has_no_largest() -> None:
    found = table(measured(5, a=0.0))
    assert largest(found) is None
    assert found.image(1, 5, 5, 5).tolist() == [[0.0] * 5]


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_what_is_not_finite_is_shown_and_not_dropped(broken: float) -> None:
    found = table(measured(5, a=1e-3, b=broken))
    assert found.has_broken()
    assert np.isinf(found.at(5)[1])  # type: ignore[index]
    assert largest(found) == "b"
    assert found.scale().high == -3


def test_a_later_comparison_of_the_same_step_replaces_the_first() -> None:
    found = table(measured(5, a=1.0), measured(5, a=0.0))
    assert (len(found), largest(found)) == (1, None)
    found = table(measured(5, a=0.0), measured(5, a=1.0))
    assert (len(found), largest(found)) == (1, "a")


def test_a_checkpoint_covers_the_steps_before_it() -> None:
    found = table(measured(5, a=0.0), measured(10, a=1e-3), measured(20, a=0.0))
    image = found.image(1, 20, 20, 5)[0]
    assert image[:5].tolist() == [0.0] * 5
    assert image[5:10].tolist() == [1e-3] * 5
    assert np.isnan(image[10:15]).all(), "between steps 11 and 15 nothing was compared"
    assert image[15:].tolist() == [0.0] * 5


@given(st.integers(1, 400), st.integers(1, 60), st.integers(1, 7), st.data())
def test_thinning_keeps_the_largest_difference(count: int, columns: int, every: int, data: st.DataObject) -> None:
    spike = data.draw(st.integers(1, count))
    found = table(*(measured(n * every, a=float(n == spike)) for n in range(1, count + 1)))
    image = found.image(1, count * every, columns, every)
    assert image.shape == (1, min(columns, count * every))
    assert image.max() == 1.0
    begins = np.arange(image.shape[1]) * count * every // image.shape[1]
    place = int(np.searchsorted(begins, spike * every - 1, side="right")) - 1
    assert image[0, place] == 1.0, "the spike is where its step is"


def test_a_copy_does_not_follow() -> None:
    found = table(measured(5, a=1.0))
    before = found.copy()
    found.add(measured(5, a=0.0))
    assert (largest(before), largest(found)) == ("a", None)


def test_names_are_ordered_by_module() -> None:
    names = ("adam.exp_avg:head.weight", "blocks.0.bias", "head.weight")
    found = DivergenceTable()
    found.add(DivergenceMeasured(1, tuple(TensorDivergence(n, (), 0, 0.0, 0, 0.0, (), 0.0, 0.0) for n in names)))
    assert found.names == ("blocks.0.bias", "head.weight", "adam.exp_avg:head.weight")
    assert module_and_tensor(names[0]) == ("head", "weight (adam.exp_avg)")


@pytest.mark.parametrize("room", [1, 2, 3, 5, 8, 100])
def test_rows_are_grouped_to_the_room_there_is(room: int) -> None:
    names = (*(f"h.{block}.{part}.weight" for block in range(4) for part in ("attn", "mlp")), "wte.weight")
    groups = group_rows(names, room)
    assert 0 < len(groups) <= room
    assert [groups[0].begin, *[group.end for group in groups]] == [
        *[group.begin for group in groups],
        len(names),
    ], "the groups follow each other and leave nothing out"
    if room >= len(names):
        assert groups[0].label == "h.0.attn weight"
    if room == 5:
        assert [group.label for group in groups] == ["h.0", "h.1", "h.2", "h.3", "wte"]


@given(st.lists(st.floats(-1e6, 1e6) | st.just(math.nan), min_size=1, max_size=400), st.integers(1, 50), st.data())
def test_thinned_curves_keep_both_peaks(values: list[float], places: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(1, len(values)))
    last = data.draw(st.integers(first, len(values)))
    array = np.array(values)
    thinned = thin_to_view(array, first, last, places)
    seen = array[max(0, first - 2) : last + 1]
    columns = (thinned.steps, thinned.least, thinned.mean, thinned.most)
    assert {len(column) for column in columns} == {min(places, len(seen))}
    assert thinned.merged == (len(seen) > places)
    if np.isnan(seen).all():
        assert all(np.isnan(column).all() for column in columns[1:])
    else:
        assert (np.nanmin(thinned.least), np.nanmax(thinned.most)) == (np.nanmin(seen), np.nanmax(seen))
        known = ~np.isnan(thinned.mean)
        slack = 1e-9 * (1 + np.abs(thinned.mean[known]))
        assert (thinned.least[known] - slack <= thinned.mean[known]).all()
        assert (thinned.mean[known] <= thinned.most[known] + slack).all()
    assert (np.diff(thinned.steps) > 0).all()


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_tell_the_kinds_apart(tokens: Tokens) -> None:
    values = np.array([[math.nan, 0.0, 1e-8, 1e-3, math.inf]])
    pixels = heatmap.paint(values, Scale(-8, -3), tokens)[0]
    assert pixels[0, 3] == 0, "nothing was compared: nothing is drawn"
    drawn = {tuple(pixel) for pixel in pixels.tolist()}
    assert len(drawn) == 5
    brightness = pixels[2:4, :3].astype(float) @ [0.2126, 0.7152, 0.0722]
    assert abs(brightness[1] - brightness[0]) > 80, "large and small differ in brightness, not in hue alone"
