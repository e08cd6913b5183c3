"""The step table sorted, searched, frozen and copied; the plots' axes, marks and exports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QEvent, QItemSelectionModel, QObject, QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter, QStandardItemModel
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from counterfoil_app.driver.capture import wait_until
from counterfoil_app.model.divergence_table import DivergenceTable
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.step_data import StepFilter, StepState
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.axes import least_row
from counterfoil_app.views.curves import Series, View, moving_mean
from counterfoil_app.views.divergence import Shown
from counterfoil_app.views.steps import StepsModel
from counterfoil_app.views.tables import RecordView
from support.docks import in_front
from support.fake_engine import TENSORS, FakeEngine, digest
from support.waiting import reached

MakeWindow = Callable[[FakeEngine], MainWindow]
LEFT = Qt.MouseButton.LeftButton
DISPUTED = 37


def replayed(window: MainWindow, path: Path) -> MainWindow:
    path.touch()
    window.open_bundle(path)
    assert wait_until(reached(window, Phase.READY), 60.0)
    window.commands["replay"].trigger()
    assert wait_until(reached(window, Phase.CONCLUDED), 60.0)
    return window


@pytest.fixture(scope="module")
def shared(shared_window_of: MakeWindow, tmp_path_factory: pytest.TempPathFactory) -> MainWindow:
    return replayed(shared_window_of(FakeEngine(disputed=DISPUTED)), tmp_path_factory.mktemp("bundle") / "honest.cfoil")


@pytest.fixture
def window(shared: MainWindow, qtbot: QtBot) -> MainWindow:
    shared.steps.wanted.clear()
    shared.steps.show_only.setCurrentIndex(StepFilter.ALL)
    shared.steps.table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    shared.session.select_step(DISPUTED)
    shared.divergence.show_plot(Shown.LOSS)
    shared.divergence.logarithmic.setChecked(False)
    shared.divergence.smoothing[1].setChecked(True)
    shared.divergence.show_whole()
    shared.activateWindow()
    return shared


def front(window: MainWindow, name: str, qtbot: QtBot) -> None:
    window.docks[name].raise_()
    qtbot.waitUntil(lambda: in_front(window.docks[name]))


def shown_steps(window: MainWindow) -> list[int]:
    model = window.steps.model
    return [model.step_of(row) for row in range(model.rowCount())]


# The step table


def click_heading(window: MainWindow, column: int) -> None:
    frozen = window.steps.frozen
    header = frozen.horizontalHeader() if column == 0 else window.steps.table.horizontalHeader()
    window.steps.table.scrollTo(window.steps.model.index(0, column))
    middle = header.sectionViewportPosition(column) + header.sectionSize(column) // 2
    QTest.mouseClick(header.viewport(), LEFT, pos=QPoint(middle, header.height() // 2))


def test_a_click_on_a_heading_sorts(window: MainWindow, qtbot: QtBot) -> None:
    front(window, "steps", qtbot)
    losses = window.session.step_data.trainer_loss
    click_heading(window, 4)
    assert shown_steps(window) == (np.argsort(losses, kind="stable") + 1).tolist()
    assert window.session.selected_step == DISPUTED
    assert window.steps.model.step_of(window.steps.table.currentIndex().row()) == DISPUTED, "it stays selected"
    click_heading(window, 4)
    assert shown_steps(window) == (np.argsort(-losses, kind="stable") + 1).tolist()
    click_heading(window, 4)
    assert shown_steps(window) == list(range(1, 61)), "a third click brings the order of the steps back"
    click_heading(window, 1)
    click_heading(window, 1)
    assert shown_steps(window)[:4] == [DISPUTED, 38, 39, 40], "what matters most comes first"
    click_heading(window, 0)
    click_heading(window, 0)
    assert shown_steps(window) == list(range(60, 0, -1))
    leaves = [window.session.step_data.result(step).trainer_leaf.hex for step in range(1, 61)]
    click_heading(window, 2)
    assert shown_steps(window) == [step for _leaf, step in sorted(zip(leaves, range(1, 61), strict=True))]


def test_typing_a_condition_filters_and_a_mistake_is_said(window: MainWindow, qtbot: QtBot) -> None:
    front(window, "steps", qtbot)
    QTest.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.focusWidget() is window.steps.wanted
    QTest.keyClicks(window.steps.wanted, "corrections > 4 and step < 20")
    corrections = window.session.steps.column("corrections")
    expected = [step for step in range(1, 20) if corrections[step - 1] > 4]
    assert shown_steps(window) == expected
    assert 0 < len(expected) < 19
    QTest.keyClicks(window.steps.wanted, " and colour")
    assert window.steps.problem.isVisible()
    assert "There is no column colour" in window.steps.problem.text()
    assert shown_steps(window) == expected, "nothing changes"
    window.steps.wanted.clear()
    assert not window.steps.problem.isVisible()
    QTest.keyClicks(window.steps.wanted, "step > 1000")
    assert window.steps.empty.text() == "No step is meant by this search."


def test_words_of_a_condition_are_completed(window: MainWindow, qtbot: QtBot) -> None:
    front(window, "steps", qtbot)
    steps = window.steps
    steps.wanted.clear()
    steps.wanted.setFocus()
    QTest.keyClicks(steps.wanted, "loss > 1 and corr")
    popup = steps.completer.popup()
    qtbot.waitUntil(popup.isVisible)
    assert steps.completer.currentCompletion() == "loss > 1 and corrections"
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Return)
    assert steps.wanted.text() == "loss > 1 and corrections"
    for typed in ("#3e", "3eab", "12"):
        steps.wanted.clear()
        QTest.keyClicks(steps.wanted, typed)
        assert steps.completer.completionCount() == 0, "no word is being typed"


def test_a_search_is_kept_as_a_button(window: MainWindow, qtbot: QtBot) -> None:
    front(window, "steps", qtbot)
    steps = window.steps
    steps.wanted.clear()
    assert not steps.keep_search.isEnabled()
    steps.wanted.setText("corrections > 4 and step < 20")
    expected = shown_steps(window)
    steps.wanted.setText("colour > 4")
    assert not steps.keep_search.isEnabled(), "what is not understood cannot be kept"
    steps.wanted.setText("corrections > 4 and step < 20")
    steps.keep_search.trigger()
    assert window.settings.searches == ("corrections > 4 and step < 20",)
    steps.wanted.clear()
    chip = steps.searches.findChild(QPushButton)
    assert chip is not None
    QTest.mouseClick(chip, LEFT)
    assert shown_steps(window) == expected
    chip.setFocus()
    QTest.keyClick(chip, Qt.Key.Key_Delete)
    assert window.settings.searches == ()
    assert not steps.searches.isVisible()


def test_the_menu_of_a_row_shows_its_step_elsewhere(window: MainWindow, qtbot: QtBot) -> None:
    front(window, "steps", qtbot)
    show = window.steps.show_actions
    window.session.select_step(5)
    assert not show["dispute"].isEnabled(), "step 5 is not in dispute"
    for name in ("merkle", "divergence"):
        show[name].trigger()
        qtbot.waitUntil(lambda name=name: in_front(window.docks[name]))
        assert window.session.selected_step == 5
    window.session.select_step(DISPUTED)
    show["dispute"].trigger()
    qtbot.waitUntil(lambda: in_front(window.docks["dispute"]))


def test_a_hash_finds_its_step_on_either_side(window: MainWindow, qtbot: QtBot) -> None:
    front(window, "steps", qtbot)
    row = window.session.step_data.result(DISPUTED)
    for leaf in (row.trainer_leaf, row.replay_leaf):
        for length in (12, 64):
            window.steps.wanted.clear()
            QTest.keyClicks(window.steps.wanted, f"#{leaf.hex[:length]}")
            assert shown_steps(window) == [DISPUTED]


def test_a_sorted_table_follows_the_replay(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window = window_of(FakeEngine(disputed=DISPUTED))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.steps.table.horizontalHeader().setSortIndicator(5, Qt.SortOrder.DescendingOrder)
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    losses = window.session.step_data.replay_loss
    qtbot.waitUntil(lambda: shown_steps(window) == (np.argsort(-losses, kind="stable") + 1).tolist())


def test_the_steps_stay_in_view_when_the_table_is_scrolled(window: MainWindow, qtbot: QtBot) -> None:
    front(window, "steps", qtbot)
    steps = window.steps
    window.resize(900, 700)
    bar = steps.table.horizontalScrollBar()
    bar.setValue(bar.maximum())
    assert bar.maximum() > 100
    assert steps.table.columnViewportPosition(0) < 0, "the table's own first column is gone"
    assert steps.frozen.isVisible()
    assert steps.frozen.geometry().left() == 0
    assert steps.frozen.columnViewportPosition(0) == 0
    steps.table.verticalScrollBar().setValue(7)
    assert steps.frozen.rowAt(2) == steps.table.rowAt(2) == 7
    place = steps.frozen.visualRect(steps.model.index(9, 0)).center()
    QTest.mouseClick(steps.frozen.viewport(), LEFT, pos=place)
    assert window.session.selected_step == 10
    window.resize(1366, 768)


def test_chosen_lines_are_copied_with_whole_hashes(window: MainWindow, qtbot: QtBot) -> None:
    front(window, "steps", qtbot)
    table = window.steps.table
    table.setFocus()
    table.selectRow(9)
    QTest.keyClick(table, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = [line.split("\t") for line in QGuiApplication.clipboard().text().splitlines()]
    assert [line[0] for line in lines] == ["Step", "10", "11"]
    assert lines[1][2] == window.session.step_data.result(10).trainer_leaf.hex
    assert {len(line) for line in lines} == {12}
    table.clearSelection()
    table.selectRow(9)
    table.selectionModel().setCurrentIndex(window.steps.model.index(9, 2), QItemSelectionModel.SelectionFlag.NoUpdate)
    QTest.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == lines[1][2], "of one line, the cell"
    window.steps.copy_rows_action.trigger()
    assert QGuiApplication.clipboard().text().splitlines()[1].split("\t") == lines[1]


class Paints(QObject):
    """Counts what is painted."""

    def __init__(self, *watched: QWidget) -> None:
        super().__init__()
        self.counts = dict.fromkeys(watched, 0)
        for widget in watched:
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() is QEvent.Type.Paint:
            self.counts[cast("QWidget", watched)] += 1
        return False


def test_another_page_is_drawn_without_asking_for_cells(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    front(window, "steps", qtbot)
    window.session.select_step(1)
    steps = window.steps
    model, page = steps.model, steps.table.viewport()
    QApplication.processEvents()
    asked: list[int] = []
    made: list[int] = []
    data, record = StepsModel.data, StepsModel.record
    monkeypatch.setattr(StepsModel, "data", lambda self, *cell: asked.append(1) or data(self, *cell))
    monkeypatch.setattr(StepsModel, "record", lambda self, row: made.append(row) or record(self, row))
    paints = Paints(page, steps.table.horizontalHeader().viewport())
    model.forget_lines()
    window.session.select_step(60)
    qtbot.waitUntil(lambda: paints.counts[page] > 0)
    QApplication.processEvents()
    assert list(paints.counts.values()) == [1, 0], "a page is drawn once, and its headings stay"
    first, last = steps.table.rowAt(0), steps.table.rowAt(page.height() - 1)
    assert sorted(made) == list(range(first, (last if last >= 0 else 59) + 1)), "each line is worked out once"
    assert not asked, "a cell that is asked for each of its roles takes twice as long"


def test_plots_that_are_drawn_anew_are_painted_once(window: MainWindow, qtbot: QtBot) -> None:
    front(window, "divergence", qtbot)
    canvas = window.divergence.canvas.viewport()
    QApplication.processEvents()
    paints = Paints(canvas)
    window.divergence.redraw()
    qtbot.waitUntil(lambda: paints.counts[canvas] > 0)
    QApplication.processEvents()
    assert paints.counts[canvas] == 1


def inked(table: RecordView, column: int) -> list[int]:
    """Where from left to right something is written into a cell of the second row that is seen."""
    cell = QRect(
        table.columnViewportPosition(column), table.rowHeight(0), table.columnWidth(column), table.rowHeight(0)
    )
    image = table.viewport().grab(cell).toImage()
    places = range(image.width())
    return [x for x in places if any(image.pixelColor(x, y).lightness() < 160 for y in range(image.height()))]


def test_a_long_text_ends_in_its_column_and_a_number_at_its_end(window: MainWindow, qtbot: QtBot) -> None:
    front(window, "steps", qtbot)
    table, whole = window.steps.table, inked(window.steps.table, 2)
    usual = table.columnWidth(2)
    table.setColumnWidth(2, 40)
    assert 20 < max(inked(table, 2)) < 38 < 60 < max(whole)
    table.setColumnWidth(2, usual)
    loss = inked(table, 4)
    assert min(loss) > 8
    assert max(loss) >= table.columnWidth(4) - 6


def test_enter_on_a_mismatch_opens_the_dispute(window: MainWindow, qtbot: QtBot) -> None:
    front(window, "steps", qtbot)
    table = window.steps.table
    table.setFocus()
    table.selectRow(5)
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert not in_front(window.docks["dispute"])
    table.selectRow(DISPUTED - 1)
    QTest.keyClick(table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: in_front(window.docks["dispute"]))


# The strip


def test_the_strip_has_a_legend_of_what_it_shows(window: MainWindow) -> None:
    assert window.strip.legend() == [
        (StepState.MISMATCH, "mismatch: 1"),
        (StepState.UNJUDGED, "unjudged: 3"),
        (StepState.MATCH, "match: 56"),
    ]
    image = window.strip.grab().toImage()
    row = [image.pixelColor(x, image.height() - 9).name() for x in range(300)]
    tokens = window.theme.tokens
    assert row.index(tokens.differs) < row.index(tokens.same)


# The plots


def test_the_crosshair_leaves_with_the_mouse(window: MainWindow, qtbot: QtBot) -> None:
    front(window, "divergence", qtbot)
    view = window.divergence
    viewport = view.canvas.viewport()

    def points() -> bool:
        # Axes may still be laid out: where step 20 lies is asked each time.
        place = view.canvas.mapFromScene(view.curves.getViewBox().mapViewToScene(QPointF(20, 1.0)))
        QTest.mouseMove(viewport, place + QPoint(1, 1))
        QTest.mouseMove(viewport, place)
        return view.markers[1].crosshair.isVisible() and "Step 20" in view.readout.text()

    qtbot.waitUntil(points)
    QApplication.sendEvent(viewport, QEvent(QEvent.Type.Leave))
    assert not any(markers.crosshair.isVisible() for markers in view.markers)
    assert f"Step {DISPUTED}" in view.readout.text()


def test_axes_have_names(window: MainWindow) -> None:
    view = window.divergence
    found = {}
    for shown in (Shown.LOSS, Shown.APART, Shown.BYTES, Shown.ENTRIES):
        view.show_plot(shown)
        axes = [view.curves.getAxis(side) for side in ("left", "bottom")]
        assert all(axis.label.isVisible() for axis in axes)
        found[shown] = [axis.labelText for axis in axes]
    assert [left for left, _ in found.values()] == ["Loss", "Apart", "Bytes", "Number"]
    assert {bottom for _, bottom in found.values()} == {"Step"}


def test_bytes_and_counts_are_apart_and_have_their_units(window: MainWindow) -> None:
    view, axis = window.divergence, window.divergence.curves.getAxis("left")
    view.show_plot(Shown.BYTES)
    assert axis.tickStrings([0, 2_000], 1, 2_000) == ["0 kB", "2 kB"]
    assert axis.tickStrings([1_790, 1_795, 1_797.5], 1, 5) == ["1,790 B", "1,795 B", ""]
    assert np.array_equal(view.series[0].line.getData()[1], window.session.step_data.log_bytes)
    view.show_plot(Shown.ENTRIES)
    assert axis.tickStrings([0.0, np.log10(1001)], 1, 1) == ["0", "1,000"]


def test_the_loss_on_a_logarithmic_axis(window: MainWindow) -> None:
    view, losses = window.divergence, window.session.step_data.trainer_loss
    view.logarithmic.trigger()
    _, drawn = view.series[0].line.getData()
    assert np.allclose(drawn, np.log10(losses))
    axis = view.curves.getAxis("left")
    assert "0.5" in axis.tickStrings([np.log10(0.5)], 1, 1)
    for low, high, size in ((-0.4, 0.65, 90.0), (-6.0, 2.0, 90.0), (0.041, 0.057, 90.0)):
        ((_, values),) = axis.tickValues(low, high, size)
        assert len(values) >= 2
        assert np.diff(values).min() * size / (high - low) >= least_row(view.canvas.small), (
            "no number lies over another"
        )
    view.logarithmic.trigger()
    _, drawn = view.series[0].line.getData()
    assert np.array_equal(drawn, losses)


@pytest.mark.parametrize("size", [20.0, 45.0, 90.0, 300.0])
def test_no_number_of_an_axis_lies_over_another(window: MainWindow, size: float) -> None:
    axis = window.divergence.curves.getAxis("left")
    for low, high in ((-0.31, 0.29), (0.0, 3.2), (1.0, 1.001)):
        values = axis.tickValues(low, high, size)[0][1]
        pixels = np.diff(sorted(values)) * size / (high - low)
        assert (pixels >= least_row(window.divergence.canvas.small) - 1).all()


def test_the_losses_apart_have_a_plot_of_their_own(window: MainWindow) -> None:
    view, data = window.divergence, window.session.step_data
    view.show_plot(Shown.APART)
    steps, drawn = view.series[0].line.getData()
    assert np.allclose(drawn, data.replay_loss - data.trainer_loss)
    assert [int(step) for step, value in zip(steps, drawn, strict=True) if value != 0] == [37, 38, 39, 40]
    assert "replay minus trainer" in view.canvas.title.text
    view.logarithmic.trigger()
    assert "size of replay minus trainer" in view.canvas.title.text
    _, drawn = view.series[0].line.getData()
    assert np.isfinite(drawn).sum() == 4, "0 has no place on it"


def offered(window: MainWindow) -> list[Shown]:
    model = window.divergence.chooser.model()
    assert isinstance(model, QStandardItemModel)
    return [shown for shown in Shown if model.item(shown).isEnabled()]


def test_the_trainer_s_hashes_are_there_before_the_replay(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window = window_of(FakeEngine())
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    qtbot.waitUntil(lambda: window.session.steps.trainer_leaf(7) == digest("leaf 7"))
    model = window.steps.model
    assert [model.index(6, column).data() for column in (2, 3)] == [digest("leaf 7").short, ""]
    window.session.select_step(7)
    window.steps.copy_trainer_action.trigger()
    assert QGuiApplication.clipboard().text() == digest("leaf 7").hex
    assert not window.steps.copy_replay_action.isEnabled()


def test_plots_without_anything_to_show_are_not_offered(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window = window_of(FakeEngine(disputed=DISPUTED))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    front(window, "divergence", qtbot)
    view = window.divergence
    view.redraw()
    logged = [Shown.BYTES, Shown.ENTRIES]
    assert offered(window) == [Shown.LOSS, *logged], "nothing was replayed yet"
    assert view.shown is Shown.LOSS
    assert [plot.isVisible() for plot in (*view.plots, view.bar)] == [False, True, False]
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    qtbot.waitUntil(lambda: view.shown is Shown.HEAT)
    assert offered(window) == list(Shown)
    assert [plot.isVisible() for plot in (*view.plots, view.bar)] == [True, False, True], "one large one"
    view.show_plot(Shown.ENTRIES)
    assert view.chooser.currentIndex() == view.shown == Shown.ENTRIES
    window.session.step_data.table.column("log_bytes")[:] = 0
    view.redraw()
    assert offered(window) == [Shown.HEAT, Shown.LOSS, Shown.APART], "an exact profile has no log"
    assert view.shown is Shown.HEAT


def test_another_run_beside_it_is_read_at_the_same_step(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    view, losses = window.divergence, window.session.step_data.trainer_loss
    other = tmp_path / "other.cfoil"
    other.touch()
    with qtbot.waitSignal(view.other.changed):
        view.other.show(other)
    _, drawn = view.series[0].line.getData()
    assert np.array_equal(drawn, losses), "the engine that computes nothing says the same of every run"
    assert "other.cfoil" in view.canvas.title.text
    assert view.describe(20).count("(other.cfoil)") == 1
    view.without_other.trigger()
    assert "other.cfoil" not in view.canvas.title.text
    assert np.isnan(view.other.losses(60)).all()


def test_of_many_steps_every_peak_is_in_the_band() -> None:
    plot = pg.PlotItem()
    series = Series(plot)
    values = np.sin(np.arange(10_000) / 500) + np.tile([0.0, 0.1], 5_000)
    values[4321] = 7.0
    series.draw(values, View(1, 10_000, 400))
    steps, means = series.line.getData()
    assert len(steps) == 400
    assert np.nanmax(means) < 2, "a mean is no peak"
    assert series.band.boundingRect().bottom() == 7.0
    assert series.band.dataBounds(1) == (values.min(), 7.0)
    image = QImage(400, 100, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    series.colour("#ff0000")
    painter = QPainter(image)
    painter.scale(400 / 10_000, -100 / 9)
    painter.translate(0, -8)
    series.band.paint(painter)
    painter.end()
    column = round(4321 * 400 / 10_000)
    inked = [x for x in range(400) if image.pixelColor(x, 15).name() != "#ffffff"]
    assert inked
    assert all(abs(x - column) <= 2 for x in inked), "a few columns, where the step is"
    series.draw(values, View(4300, 4400, 400))
    assert series.band.dataBounds(1) == (None, None), "where every step has its place there is only the line"


def test_a_smoothed_curve_lies_on_the_plain_one(window: MainWindow) -> None:
    view, losses = window.divergence, window.session.step_data.trainer_loss
    trainer = view.series[0]
    assert not trainer.smooth.isVisible()
    view.smoothing[5].trigger()
    assert trainer.smooth.isVisible()
    _, smooth = trainer.smooth.getData()
    assert smooth[30] == pytest.approx(losses[28:33].mean())
    assert np.array_equal(trainer.line.getData()[1], losses), "no spike is smoothed away"
    assert trainer.line.opts["pen"].color().alpha() < 255 == trainer.smooth.opts["pen"].color().alpha()


@pytest.mark.parametrize("over", [1, 2, 5, 25])
def test_the_mean_is_that_of_the_steps_around(over: int) -> None:
    values = np.random.default_rng(over).normal(size=40)
    values[[3, 4, 20]] = np.nan
    found = moving_mean(values, over)
    for place in range(40):
        around = values[max(0, place - (over - 1) // 2) : place + over // 2 + 1]
        if np.isnan(values[place]):
            assert np.isnan(found[place])
        else:
            assert found[place] == pytest.approx(np.nanmean(around))


def test_no_spike_hides_behind_a_marker(window: MainWindow, qtbot: QtBot) -> None:
    view = window.divergence
    for markers in view.markers:
        for line in (markers.selected, markers.disputed, markers.crosshair):
            assert view.differences.image.zValue() < line.zValue() < view.series[1].line.zValue()
    front(window, "divergence", qtbot)
    view.redraw()
    losses = view.series[1].line.getData()[1]
    spike = view.curves.getViewBox().mapViewToScene(QPointF(DISPUTED, losses[DISPUTED - 1]))
    around = view.canvas.mapFromScene(QRectF(spike.x() - 4, spike.y() - 4, 9, 9)).boundingRect()
    image = view.canvas.grab().toImage().copy(around)
    found = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert window.theme.tokens.replay in found, "the curve is seen where the markers of the disputed step stand"


def test_an_all_equal_map_says_so(window_of: MakeWindow, tmp_path: Path, window: MainWindow) -> None:
    honest = replayed(window_of(FakeEngine()), tmp_path / "honest.cfoil")
    honest.divergence.show_plot(Shown.HEAT)
    assert honest.divergence.differences.equal.isVisible()
    assert honest.divergence.differences.equal.toPlainText() == f"0 of {len(TENSORS)} tensors differ"
    window.divergence.show_plot(Shown.HEAT)
    assert not window.divergence.differences.equal.isVisible()
    assert f"{len(TENSORS)} of {len(TENSORS)} tensors differ" in window.divergence.canvas.title.text


def test_no_map_says_that_nothing_differs_beside_a_dispute(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    view, session = window.divergence, window.session
    equal = DivergenceTable.of_columns(
        replace(session.divergence.columns(), differing=np.zeros(0, np.int64), values=np.zeros((len(TENSORS), 0)))
    )
    monkeypatch.setattr(session, "divergence", equal)
    view.show_plot(Shown.HEAT)
    said = view.differences.equal.toPlainText()
    assert said == "step 37 differs, and the stored states that were compared do not show it"
    assert said in view.canvas.title.text
    assert view.differences.equal.color.name() == window.theme.tokens.bad


def test_the_block_begins_at_the_disputed_step(window: MainWindow) -> None:
    view = window.divergence
    view.show_plot(Shown.HEAT)
    image = window.session.divergence.image(1, 60, 60, 5, DISPUTED)
    assert [int(step) for step in np.flatnonzero(image[0] > 0) + 1] == [37, 38, 39, 40]
    assert image[0, 35] == 0, "step 36 matches, and the state behind it with it"
    assert window.session.divergence.image(1, 60, 12, 5, DISPUTED)[0, 7] > 0, "where steps share a place, none is lost"
    assert "equal at step 36" in view.describe(36, 0)
    assert "at step 40" in view.describe(37, 0)


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_exported_plots_say_what_they_show(window: MainWindow, qtbot: QtBot, tmp_path: Path, kind: str) -> None:
    front(window, "divergence", qtbot)
    target = tmp_path / f"plots.{kind}"
    with qtbot.waitSignal(window.session.exports.finished):
        window.divergence.export.write(target)
    canvas = window.divergence.canvas.viewport()
    if kind == "svg":
        written = target.read_text()
        assert "honest.cfoil  ·  DISPUTED  ·  steps 1 to 60" in written
        assert f"run root {window.session.summary.run.run_root.hex}" in written
    else:
        image = QImage(str(target))
        band = image.height() - 2 * canvas.height()
        assert band >= 40
        inks = {image.pixelColor(x, y).name() for x in range(0, 600) for y in range(band)}
        assert window.theme.tokens.text in inks, "a title above the plots"


def test_a_plot_is_copied_as_it_is_exported(window: MainWindow, qtbot: QtBot) -> None:
    front(window, "divergence", qtbot)
    qtbot.keyClick(window.divergence, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    image = QGuiApplication.clipboard().image()
    canvas = window.divergence.canvas.viewport()
    assert image.width() == 2 * canvas.width()
    assert image.height() >= 2 * canvas.height() + 40
