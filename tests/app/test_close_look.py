"""A closer look into the disputed step: its rows as images, text and numbers, and a tensor of both sides."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from counterfoil import CounterfoilError
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.look import LookView, image_of
from counterfoil_app.views.look_tensor import ulp_bars
from counterfoil_core.base.sentence import say
from support.fake_engine import FakeEngine
from support.waiting import reached


@pytest.fixture
def look(opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> LookView:
    """The look of a window in which a run was replayed that is disputed at step 8."""
    engine.disputed = 8
    opened.commands["replay"].trigger()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))
    qtbot.waitUntil(lambda: opened.dispute.stack.currentIndex() == 1 and not opened.session.drawing.waiting)
    return opened.dispute.look


def cells(look: LookView) -> list[list[str]]:
    table = look.table.table
    return [
        [item.text() if (item := table.item(row, column)) else "" for column in range(table.columnCount())]
        for row in range(table.rowCount())
    ]


def test_nothing_is_read_before_it_is_wanted(look: LookView, engine: FakeEngine) -> None:
    assert engine.looks == []
    assert not look.rows.button.isChecked()
    assert not look.tensor.button.isChecked()


def test_rows_stand_beside_the_ordered_ones(look: LookView, engine: FakeEngine, qtbot: QtBot) -> None:
    look.rows.button.click()
    qtbot.waitUntil(lambda: look.rows_look.found is not None)
    assert [(asked.step, asked.part, asked.tensor) for asked in engine.looks] == [(8, "", "")]
    table = look.table.table
    heads = [item.text() if (item := table.horizontalHeaderItem(place)) else "" for place in range(table.columnCount())]
    assert heads == [
        "In the batch", "Row of the data", "images", "labels, ordered", "labels, read", "texts",
        "weights, ordered", "weights, read",
    ]  # fmt: skip
    first, second = cells(look)
    assert first == ["0", "17", "", "3", "\u2260 6", "hello", "0 1 2", "not known"]
    assert second[3:6] == ["7", "\u2260 2", "world"]
    picture = table.item(0, 2)
    assert picture is not None
    assert not picture.icon().isNull()
    said = look.table.said.text()
    assert "images: the trainer's fingerprint is that of the ordered rows." in said
    assert "labels: Every value x was read as 9 - x. A batch that is changed so has exactly the trainer's" in said
    assert "weights: Other rows were read than were ordered" in said
    assert "no values" in said, "that the run holds none is said plainly"
    assert "2 of 32 rows are shown" in said


def test_folding_and_unfolding_reads_nothing_again(look: LookView, engine: FakeEngine, qtbot: QtBot) -> None:
    look.rows.button.click()
    qtbot.waitUntil(lambda: look.rows_look.found is not None)
    look.rows.button.click()
    look.rows.button.click()
    assert len(engine.looks) == 1


def test_a_tensor_of_both_sides_is_shown_and_another_can_be_chosen(
    look: LookView, engine: FakeEngine, qtbot: QtBot
) -> None:
    look.tensor.button.click()
    qtbot.waitUntil(lambda: look.tensor_look.found is not None)
    (asked,) = engine.looks
    assert asked.step == 10, "the trainer's next stored state"
    assert asked.tensor == look.chosen.currentText()
    assert "elements would be others" in look.sides.said.text()
    assert look.sides.elements.rowCount() == 7
    assert "7 of 7 differing elements" in look.sides.above_elements.text()
    place = look.chosen.findText("head.bias")
    look.chosen.setCurrentIndex(place)
    look.chosen.activated.emit(place)
    qtbot.waitUntil(lambda: look.tensor_look.found is not None and look.tensor_look.found.name == "head.bias")
    assert engine.looks[-1].tensor == "head.bias"
    assert "of 10 elements" in look.sides.said.text()


def test_an_operator_is_shown_with_its_inputs(look: LookView, engine: FakeEngine, qtbot: QtBot) -> None:
    look.inputs.button.click()
    qtbot.waitUntil(lambda: look.inputs_look.found is not None)
    assert [(asked.step, asked.tensor) for asked in engine.looks] == [(8, "")]
    model = look.operator.model
    lines = [[model.index(row, column).data() for column in range(6)] for row in range(model.rowCount())]
    assert lines[0] == ["weight", "10 \u00d7 32", "float32", "-1", "0", "1"]
    assert lines[1] == ["stride", "", "", "", "", ""]
    assert model.index(1, 6).data() == "[1, 1]"
    assert lines[2][:3] == ["output of the replay", "scalar", "float32"]
    assert "Of the trainer's output the run holds a fingerprint and no values." in look.operator.said.text()


def test_a_look_can_be_stopped_and_wanted_again(look: LookView, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.gate.clear()
    look.rows.button.click()
    qtbot.waitUntil(lambda: look.rows_waiting.said.text() == "Looking for the rows that were read")
    look.rows_waiting.stop.click()
    engine.gate.set()
    assert not look.rows_look.working
    look.rows.button.click()
    look.rows.button.click()
    qtbot.waitUntil(lambda: look.rows_look.found is not None)


def test_why_it_cannot_be_shown_is_said(
    look: LookView, engine: FakeEngine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_asked: object) -> Iterator[object]:
        raise CounterfoilError(say("The file is gone."), remedy=say("Open it again."))
        yield

    monkeypatch.setattr(engine, "disputed_rows", fails)
    look.rows.button.click()
    qtbot.waitUntil(lambda: look.rows_look.failure is not None)
    assert look.rows_waiting.failed.text() == "The file is gone. Open it again."


def test_an_update_reads_no_rows(opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.disputed, engine.shares, engine.part = 8, 4, "update"
    opened.commands["replay"].trigger()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))
    qtbot.waitUntil(lambda: opened.dispute.look.tensor.isVisibleTo(opened.dispute))
    assert not opened.dispute.look.rows.isVisibleTo(opened.dispute)


def test_a_picture_has_the_pixels_of_its_row() -> None:
    grey = image_of(np.array([0.0, 16.0, 8.0, 4.0]), (2, 2), 0.0, 16.0)
    assert [grey.pixelColor(x, y).getRgb()[:3] for y in (0, 1) for x in (0, 1)] == [
        (0, 0, 0), (255, 255, 255), (128, 128, 128), (64, 64, 64),
    ]  # fmt: skip
    values = np.arange(12, dtype=np.float64)
    first = image_of(values, (3, 2, 2), 0.0, 11.0)  # channels before the sides
    last = image_of(values.reshape(3, 4).T.reshape(-1), (2, 2, 3), 0.0, 11.0)
    assert first == last
    assert first.pixelColor(1, 0).getRgb()[:3] == tuple(round(255 * value / 11) for value in (1, 5, 9))


def test_distances_are_named_by_their_powers() -> None:
    bars = ulp_bars([3, 0, 2, 1], "equal")
    assert [(bar.name, bar.counts, bar.below) for bar in bars] == [
        ("equal", (3,), "="), ("1", (0,), "2\u2070"), ("2\u20133", (2,), "2\u00b9"), ("4\u20137", (1,), "2\u00b2"),
    ]  # fmt: skip
