"""The views of a run: what their pictures mean, and that a step chosen in one is chosen in all."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QByteArray, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from counterfoil_app.driver.capture import wait_until
from counterfoil_app.looks.theme import ThemeChoice
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.step_data import StepFilter, StepState
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views import heatmap
from counterfoil_app.views.divergence import Shown
from counterfoil_app.views.parts import ElidedLabel
from support.docks import in_front
from support.fake_engine import TENSORS, FakeEngine
from support.reports import empty_table
from support.waiting import reached

MakeWindow = Callable[[FakeEngine], MainWindow]
LEFT = Qt.MouseButton.LeftButton
DISPUTED = 37
THEMES = [ThemeChoice.LIGHT, pytest.param(ThemeChoice.DARK, marks=pytest.mark.slow)]


@pytest.fixture
def replayed(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> Callable[[FakeEngine], MainWindow]:
    def run(engine: FakeEngine) -> MainWindow:
        window = window_of(engine)
        window.open_bundle(bundle)
        qtbot.waitUntil(reached(window, Phase.READY))
        window.commands["replay"].trigger()
        qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=20_000)
        return window

    return run


@pytest.fixture
def fresh(replayed: Callable[[FakeEngine], MainWindow]) -> MainWindow:
    """A window of the test's own, which changes more than is put back for the next one."""
    return replayed(FakeEngine(disputed=DISPUTED))


@pytest.fixture(scope="module")
def shared(shared_window_of: MakeWindow, tmp_path_factory: pytest.TempPathFactory) -> MainWindow:
    window = shared_window_of(FakeEngine(disputed=DISPUTED))
    path = tmp_path_factory.mktemp("bundle") / "honest.cfoil"
    path.touch()
    window.open_bundle(path)
    assert wait_until(reached(window, Phase.READY), 60.0)
    window.commands["replay"].trigger()
    assert wait_until(reached(window, Phase.CONCLUDED), 60.0)
    return window


@pytest.fixture
def window(shared: MainWindow) -> MainWindow:
    """The window that has replayed once for all, as it was then: its step, its rows, and the whole run."""
    shared.steps.show_only.setCurrentIndex(StepFilter.ALL)
    shared.session.select_step(DISPUTED)
    shared.divergence.show_plot(Shown.HEAT)
    shared.divergence.show_whole()
    return shared


def front(window: MainWindow, name: str, qtbot: QtBot) -> None:
    window.docks[name].raise_()
    qtbot.waitUntil(lambda: in_front(window.docks[name]))


# The strip


def strip_colour(window: MainWindow, step: int) -> str:
    strip = window.strip
    # Beside the mark of the selected step, at the top of the bar.
    return strip.grab().toImage().pixelColor(int(strip.place_of(step)) + 3, 12).name()


@pytest.mark.parametrize("theme", THEMES)
def test_strip_shows_the_disputed_step(window: MainWindow, theme: ThemeChoice) -> None:
    window.theme.choose(theme)
    tokens = window.theme.tokens
    assert strip_colour(window, DISPUTED) == tokens.differs
    assert strip_colour(window, DISPUTED - 1) == tokens.same
    assert strip_colour(window, 50) == tokens.same
    shapes = [state for _rectangle, state in window.strip.stretches()]
    assert shapes == [StepState.MATCH, StepState.MISMATCH, StepState.UNJUDGED, StepState.MATCH]


def test_one_mismatch_among_a_million_is_seen_and_hit(fresh: MainWindow, qtbot: QtBot) -> None:
    window = fresh
    data = window.session.step_data
    data.table = empty_table(1_000_000)
    data.states = np.full(data.count, StepState.MATCH, np.uint8)
    data.states[654_320] = StepState.MISMATCH
    shown = window.strip.stretches()
    assert [state for _rectangle, state in shown] == [StepState.MATCH, StepState.MISMATCH, StepState.MATCH]
    wrong = shown[1][0]
    assert wrong.width() >= 1
    chosen: list[int] = []
    window.session.step_selected.disconnect()
    window.session.step_selected.connect(chosen.append)
    window.session.selected_step = None
    qtbot.mouseClick(window.strip, LEFT, pos=QPoint(int(wrong.center().x()) + 1, 15))
    assert chosen == [654_321], "a click beside a mismatch one pixel wide finds it"


def test_strip_goes_by_keys(window: MainWindow, qtbot: QtBot) -> None:
    for key, expected in (
        (Qt.Key.Key_Home, 1),
        (Qt.Key.Key_Right, 2),
        (Qt.Key.Key_End, 60),
        (Qt.Key.Key_Right, 60),
        (Qt.Key.Key_Left, 59),
        (Qt.Key.Key_PageUp, 1),
    ):
        qtbot.keyClick(window.strip, key)
        assert window.session.selected_step == expected


# One step in all views


def selected_everywhere(window: MainWindow) -> set[object]:
    row = window.steps.table.currentIndex().row()
    found: set[object] = {
        window.session.selected_step,
        window.steps.model.step_of(row) if row >= 0 else None,
        window.steps.jump.value(),
    }
    found |= {markers.selected.value() for markers in window.divergence.markers}
    return found


def test_a_step_chosen_in_one_view_is_chosen_in_all(fresh: MainWindow, qtbot: QtBot) -> None:
    window = fresh
    assert selected_everywhere(window) == {DISPUTED}, "a dispute selects its step"

    window.steps.table.selectRow(9)
    assert selected_everywhere(window) == {10}

    qtbot.mouseClick(window.strip, LEFT, pos=QPoint(int(window.strip.place_of(20)), 15))
    assert selected_everywhere(window) == {20}

    front(window, "divergence", qtbot)
    view = window.divergence
    view.show_plot(Shown.LOSS)
    scene_point = view.curves.getViewBox().mapViewToScene(QPointF(30.1, 1.0))
    qtbot.mouseClick(view.canvas.viewport(), LEFT, pos=view.canvas.mapFromScene(scene_point))
    assert selected_everywhere(window) == {30}
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert selected_everywhere(window) == {29}

    front(window, "merkle", qtbot)
    window.merkle.table.selectRow(window.merkle.model.rowCount() - 1)
    assert selected_everywhere(window) == {DISPUTED}

    window.steps.jump.setValue(5)
    assert selected_everywhere(window) == {5}


def test_the_tree_marks_the_node_above_the_selected_step(window: MainWindow) -> None:
    def marked() -> list[str]:
        return [item.box.key for item in window.merkle.scene.boxes if item.marked]

    assert marked() == ["37-37"]
    window.session.select_step(3)
    assert marked() == ["0-31"]
    window.session.select_step(60)
    assert marked() == ["48-60"]


# Steps


def shown_steps(window: MainWindow) -> list[int]:
    model = window.steps.model
    return [model.step_of(row) for row in range(model.rowCount())]


def test_filters_of_the_table(replayed: Callable[[FakeEngine], MainWindow]) -> None:
    window = replayed(FakeEngine(disputed=DISPUTED, lying_log=9))
    box: QComboBox = window.steps.show_only
    box.setCurrentIndex(StepFilter.MISMATCHES)
    assert shown_steps(window) == [DISPUTED]
    assert window.steps.table.currentIndex().row() == 0, "the selected step stays selected"
    box.setCurrentIndex(StepFilter.SUSPICIOUS)
    assert shown_steps(window) == [9]
    assert not window.steps.table.currentIndex().isValid()
    box.setCurrentIndex(StepFilter.NOT_JUDGED)
    assert shown_steps(window) == [38, 39, 40], "replayed from a state that nobody agrees on"
    counts = [window.steps.model.index(row, column).data() for row in range(3) for column in (6, 7, 8)]
    assert counts == ["\u2013"] * 9, "the log is counted over matching steps, here as everywhere"
    box.setCurrentIndex(StepFilter.ALL)
    assert len(shown_steps(window)) == 60


def test_where_every_step_was_judged_the_table_says_so(replayed: Callable[[FakeEngine], MainWindow]) -> None:
    window = replayed(FakeEngine())
    window.steps.show_only.setCurrentIndex(StepFilter.NOT_JUDGED)
    assert shown_steps(window) == []
    assert window.steps.empty.isVisibleTo(window.steps)
    assert window.steps.empty.text() == "Every step was judged."


def test_jumping_to_a_hidden_step_shows_it(window: MainWindow, qtbot: QtBot) -> None:
    window.steps.show_only.setCurrentIndex(StepFilter.MISMATCHES)
    window.steps.go_action.trigger()
    window.steps.jump.setValue(12)
    assert window.steps.model.filter is StepFilter.ALL
    assert window.session.selected_step == 12
    assert window.steps.model.step_of(window.steps.table.currentIndex().row()) == 12


def test_steps_of_a_sample(replayed: Callable[[FakeEngine], MainWindow]) -> None:
    window = replayed(FakeEngine(spans=((2, 3), (9, 9))))
    chosen = [*range(6, 16), *range(41, 46)]
    window.steps.show_only.setCurrentIndex(StepFilter.NOT_JUDGED)
    assert shown_steps(window) == [step for step in range(1, 61) if step not in chosen]
    assert window.steps.model.index(0, 1).data() == "not chosen"
    assert window.session.progress.total == len(chosen)
    states = [state for _rectangle, state in window.strip.stretches()]
    assert states == [StepState.LEFT_OUT, StepState.MATCH, StepState.LEFT_OUT, StepState.MATCH, StepState.LEFT_OUT]
    image = window.session.divergence.image(1, 60, 60, 5)
    assert [step for step in range(1, 61) if not np.isnan(image[0, step - 1])] == chosen
    assert "15 of 60 leaves match" in window.merkle.scene.boxes[0].box.look.word


def test_a_filter_follows_the_replay(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    engine = FakeEngine(disputed=DISPUTED)
    window = window_of(engine)
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.steps.show_only.setCurrentIndex(StepFilter.MISMATCHES)
    assert shown_steps(window) == []
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=20_000)
    qtbot.waitUntil(lambda: shown_steps(window) == [DISPUTED])
    window.commands["replay"].trigger()
    qtbot.waitUntil(lambda: shown_steps(window) == [])  # a new replay begins with nothing
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=20_000)


def test_hashes_are_copied(window: MainWindow, qtbot: QtBot) -> None:
    row = window.session.step_data.result(DISPUTED)
    window.steps.copy_trainer_action.trigger()
    assert QGuiApplication.clipboard().text() == row.trainer_leaf.hex
    window.steps.copy_replay_action.trigger()
    assert QGuiApplication.clipboard().text() == row.replay_leaf.hex != row.trainer_leaf.hex


def test_mismatches_are_gone_through(window: MainWindow) -> None:
    window.session.select_step(1)
    window.steps.next_action.trigger()
    assert window.session.selected_step == DISPUTED
    window.steps.next_action.trigger()
    assert window.session.selected_step == DISPUTED, "there is no further one"
    window.session.select_step(60)
    window.steps.previous_action.trigger()
    assert window.session.selected_step == DISPUTED


# Divergence


def heat_colour(window: MainWindow, step: int, row: int) -> str:
    view = window.divergence
    place = view.canvas.mapFromScene(view.heat.getViewBox().mapViewToScene(QPointF(step - 0.25, row + 0.25)))
    return view.canvas.grab().toImage().pixelColor(place).name()


@pytest.mark.parametrize("theme", THEMES)
def test_the_disputed_cell_of_the_heat_map_is_marked(window: MainWindow, qtbot: QtBot, theme: ThemeChoice) -> None:
    window.theme.choose(theme)
    front(window, "divergence", qtbot)
    window.divergence.redraw()
    tokens = window.theme.tokens
    ramp = heatmap.ramp(tokens, np.array([1.0, 0.0]))
    largest, smallest = (QColor(*(int(channel) for channel in colour)).name() for colour in ramp)
    assert heat_colour(window, 39, 0) == largest
    assert heat_colour(window, 39, len(TENSORS) - 1) == smallest
    for step in (20, 34, 42, 59):
        assert heat_colour(window, step, 0) == tokens.ok_tint, "equal"
    names = window.divergence.differences.names.groups
    assert [group.label for group in names][:2] == ["blocks.0.bn1 running_mean", "blocks.0.conv1 weight"]


def test_the_loss_of_the_replay_has_its_spike(window: MainWindow) -> None:
    window.divergence.show_plot(Shown.LOSS)
    trainer, replay, _ = window.divergence.series
    (steps, ours), (_, theirs) = replay.line.getData(), trainer.line.getData()
    apart = [int(step) for step, one, other in zip(steps, ours, theirs, strict=True) if one != other]
    assert apart == [37, 38, 39, 40]


def test_another_plot_shows_the_same_steps(window: MainWindow, qtbot: QtBot) -> None:
    front(window, "divergence", qtbot)
    view = window.divergence
    qtbot.keyClick(view, Qt.Key.Key_Plus)
    ranges = []
    for shown in Shown:
        view.show_plot(shown)
        ranges.append(view.plot.getViewBox().viewRange()[0])
    assert ranges[0][1] - ranges[0][0] < 40
    assert ranges == [pytest.approx(ranges[0])] * len(Shown)
    assert ranges[0][0] < DISPUTED < ranges[0][1]
    window.session.select_step(1)
    assert view.view_range()[0] <= 1, "a step that is selected elsewhere comes into view"
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert view.view_range() == (1, 60)


def test_the_crosshair_reads_values(window: MainWindow, qtbot: QtBot) -> None:
    front(window, "divergence", qtbot)
    view = window.divergence
    view.redraw()
    view.point_at(view.heat.getViewBox().mapViewToScene(QPointF(38.1, 1.5)))
    assert view.markers[0].crosshair.isVisible()
    assert view.markers[0].crosshair.value() == 38
    text = view.readout.text()
    assert "Step 38" in text
    assert "unjudged" in text
    assert "blocks.0.conv1.weight: 0.0001 at step 40" in text
    view.point_at(QPointF(-5, -5))
    assert not any(markers.crosshair.isVisible() for markers in view.markers)
    assert "Step 37" in view.readout.text(), "away from the plots it reads the selected step"


@pytest.mark.parametrize("kind", ["png", "svg", "csv"])
def test_plots_are_exported(window: MainWindow, qtbot: QtBot, tmp_path: Path, kind: str) -> None:
    front(window, "divergence", qtbot)
    target = tmp_path / f"plots.{kind}"
    with qtbot.waitSignal(window.session.exports.finished, timeout=20_000):
        window.divergence.export.write(target)
    if kind == "png":
        image = QImage(str(target))
        assert image.width() == 2 * window.divergence.canvas.viewport().width()
        assert len({image.pixelColor(x, image.height() // 4).name() for x in range(0, image.width(), 3)}) > 3
    elif kind == "svg":
        assert QSvgRenderer(QByteArray(target.read_bytes())).isValid()
        assert b"<path" in target.read_bytes() or b"<polyline" in target.read_bytes()
    else:
        lines = list(csv.DictReader(io.StringIO(target.read_text())))
        assert [int(line["step"]) for line in lines] == list(range(1, 61))
        assert [line["step"] for line in lines if line["state"] == "mismatch"] == ["37"]
        data = window.session.step_data
        assert [float(line["trainer_loss"]) for line in lines] == data.trainer_loss.tolist()
        assert float(lines[39]["blocks.0.bn1.running_mean"]) == 1e-3
        assert lines[38]["blocks.0.bn1.running_mean"] == ""
        assert lines[36]["corrections"] == "", "the log of a step that parted says nothing of the trainer"


def test_an_unwritable_place_ends_in_a_sentence(fresh: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    window = fresh
    with qtbot.waitSignal(window.session.failed) as caught:
        window.divergence.export.write(tmp_path / "missing" / "plots.csv")
    assert "cannot be written" in caught.args[0].sentence


# Merkle


def test_the_search_is_drawn_in_words(window: MainWindow) -> None:
    view = window.merkle
    boxes = {item.box.key: item.box for item in view.scene.boxes}
    assert boxes["0-60"].look.word == "different"
    assert boxes["0-31"].look.word == "equal"
    assert boxes["48-60"].look.word == "not compared"
    assert boxes["37-37"].title == "Step 37"
    assert [boxes[key].look.word for key in ("state", "tensor", "chunk")] == ["different"] * 3
    assert boxes["elements"].look.word == "40 differ"
    assert len(boxes["elements"].lines) == 4
    compared = [item for item in view.scene.boxes if item.box.badge]
    assert view.model.rowCount() == len(compared) == 10
    assert view.conclusion.text().startswith("10 comparisons")


def test_boxes_are_chosen_by_keys_and_show_whole_hashes(window: MainWindow, qtbot: QtBot) -> None:
    front(window, "merkle", qtbot)
    view = window.merkle
    for _ in range(3):
        qtbot.keyClick(view.scene, Qt.Key.Key_Down)
    chosen = [item.box.key for item in view.scene.boxes if item.isSelected()]
    assert chosen == ["32-60"]
    dispute = window.session.dispute
    assert dispute is not None
    hashes = {child.whole for child in view.findChildren(ElidedLabel)}
    expected = next(item for item in dispute.path if (item.first_leaf, item.last_leaf) == (32, 60))
    assert {expected.trainer.hex, expected.replay.hex} <= hashes


def test_another_tensor_below_the_leaf(fresh: MainWindow) -> None:
    window = fresh
    view = window.merkle
    view.tensor.setCurrentText("head.weight")
    assert next(item.box.title for item in view.scene.boxes if item.box.key == "tensor") == "head.weight"


def test_before_a_dispute_the_way_to_the_selected_step_is_drawn(
    replayed: Callable[[FakeEngine], MainWindow],
) -> None:
    window = replayed(FakeEngine())
    window.session.select_step(3)
    assert window.merkle.scene.boxes[-1].box.title == "Step 3"
    assert {item.box.look.word for item in window.merkle.scene.boxes} == {"all leaves match", "the leaf matches"}
    assert window.merkle.model.rowCount() == 0


# Dispute


def test_values_are_shown_in_decimal_and_exactly(window: MainWindow) -> None:
    view = window.dispute
    elements = view.elements
    equal = [elements.index(row, 4).data() for row in range(elements.rowCount())]
    assert equal.count("different") == 4
    row = equal.index("different")
    dispute = window.session.dispute
    assert dispute is not None
    assert dispute.tensors[0].detail is not None
    element = dispute.tensors[0].detail.elements[row]
    assert np.float32(elements.index(row, 1).data()) == np.float32(element.trainer)
    assert float.fromhex(elements.index(row, 5).data()) == element.trainer
    assert float.fromhex(elements.index(row, 6).data()) == element.replay
    assert element.replay - element.trainer == pytest.approx(2.0**-12, rel=1e-3)
    assert math.isclose(int(elements.index(row, 3).data().replace(",", "")), element.ulps)
    view.table.selectRow(1)
    assert "blocks.0.conv1.weight" in view.above_elements.text()


def test_the_disputed_operator_is_marked_among_its_neighbours(window: MainWindow) -> None:
    model = window.dispute.operators
    marked = [
        model.index(row, 0).data()
        for row in range(model.rowCount())
        if model.index(row, 0).data(Qt.ItemDataRole.BackgroundRole) == QColor(window.theme.tokens.bad_tint)
    ]
    assert marked == ["55"]
    words = [model.index(row, 1).data() for row in range(model.rowCount())]
    place = words.index("first to differ")
    assert set(words[:place]) == {"equal", "not rounded"}
    assert set(words[place + 1 :]) == {"different", "not rounded"}
