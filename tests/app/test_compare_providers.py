"""The runs of several providers beside each other: where they part, and who is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from counterfoil import CounterfoilError, PanelOutcome
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.providers import ABSENT, ResultMatrix
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.providers import ProvidersDialog
from counterfoil_core.base.sentence import say
from support.fake_engine import FakeEngine
from support.waiting import reached

RUNS = [Path(f"/providers/{name}.cfoil") for name in ("aurora", "lying-boreas", "broken-cirrus", "delta")]


def page(window: MainWindow, *runs: Path) -> ProvidersDialog:
    window.commands["compare_providers"].trigger()
    (dialog,) = window.findChildren(ProvidersDialog)
    dialog.comparison.add(runs)
    return dialog


def compared(window: MainWindow, qtbot: QtBot, *runs: Path) -> ProvidersDialog:
    dialog = page(window, *runs)
    dialog.start.click()
    qtbot.waitUntil(lambda: not dialog.comparison.working)
    return dialog


def test_the_first_click_shows_where_they_part_and_accuses_nobody(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    dialog = compared(window, qtbot, *RUNS)
    assert dialog.headline.text() == "They part at step 30"
    assert "Up to step 29 the results of aurora.cfoil, delta.cfoil and of lying-boreas.cfoil are the same." in (
        dialog.sentence.text()
    )
    assert "broken-cirrus.cfoil" in dialog.sentence.text()
    assert "Nobody is accused yet" in dialog.sentence.text()
    assert [dialog.model.index(row, 1).data() for row in range(4)] == [
        "not replayed", "not replayed", "took no part", "not replayed",
    ]  # fmt: skip
    assert dialog.start.text() == "Re&play step 30"
    assert not engine.comparisons[-1].replay
    assert dialog.matrix.step == 30
    assert dialog.said.text() == "lying-boreas.cfoil, step 30: another result, B."
    assert not dialog.ruling_table.isVisible()


def test_the_second_click_replays_it_and_says_who_is_right(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    dialog = compared(window, qtbot, *RUNS)
    dialog.start.click()
    qtbot.waitUntil(lambda: dialog.comparison.report is not None)
    assert engine.comparisons[-1].replay
    assert dialog.headline.text() == "EXPOSED: a run is not what was ordered"
    assert "Not what was ordered: lying-boreas.cfoil." in dialog.sentence.text()
    assert "The first such step is step 30 of lying-boreas.cfoil." in dialog.sentence.text()
    assert [dialog.model.index(row, 1).data() for row in range(4)] == [
        "right where they part", "not what was ordered", "took no part", "right where they part",
    ]  # fmt: skip
    assert dialog.rulings.index(0, 0).data() == "lying-boreas.cfoil"
    assert dialog.rulings.index(0, 2).data() == "not what was ordered"
    assert dialog.finding.isVisible()
    assert dialog.said.text() == "lying-boreas.cfoil, step 30: not what was ordered."


def test_runs_that_agree_are_not_called_verified(window: MainWindow, qtbot: QtBot) -> None:
    dialog = compared(window, qtbot, RUNS[0], RUNS[3])
    assert dialog.comparison.report is not None
    assert dialog.comparison.report.outcome is PanelOutcome.AGREED
    assert "AGREED" in dialog.headline.text()
    assert "nothing was replayed to show that" in dialog.sentence.text()
    assert dialog.said.text() == "No step differs."


def test_a_replay_can_be_stopped_and_what_was_compared_stays(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    dialog = compared(window, qtbot, *RUNS)
    engine.gate.clear()
    dialog.start.click()
    qtbot.waitUntil(lambda: dialog.comparison.working and dialog.progress.isVisible())
    assert dialog.matrix.isVisible(), "the matrix stays while the files are read once more"
    dialog.stop.click()
    engine.gate.set()
    assert not dialog.comparison.working
    assert dialog.headline.text() == "They part at step 30"
    assert dialog.comparison.report is None


def test_another_run_forgets_what_was_found_without_it(window: MainWindow, qtbot: QtBot) -> None:
    dialog = compared(window, qtbot, *RUNS[:2])
    dialog.comparison.add([RUNS[3]])
    assert dialog.comparison.compared is None
    assert dialog.start.text() == "&Compare"
    dialog.table.selectRow(1)
    dialog.remove.click()
    assert dialog.comparison.runs == [RUNS[0], RUNS[3]]


def test_one_run_is_compared_with_nothing(window: MainWindow) -> None:
    dialog = page(window, RUNS[0])
    assert not dialog.start.isEnabled()
    assert "Add the runs" in dialog.sentence.text()


def test_the_open_run_and_its_order_are_taken_along(opened: MainWindow, bundle: Path, tmp_path: Path) -> None:
    opened.session.order = tmp_path / "job.cfoil"
    dialog = page(opened)
    assert dialog.comparison.runs == [bundle]
    assert dialog.notice.text() == "They are compared with the order job.cfoil."


def test_keys_go_from_difference_to_difference(window: MainWindow, qtbot: QtBot) -> None:
    dialog = compared(window, qtbot, *RUNS)
    for key, step in ((Qt.Key.Key_Home, 1), (Qt.Key.Key_N, 30), (Qt.Key.Key_N, 31), (Qt.Key.Key_Left, 30)):
        qtbot.keyClick(dialog.matrix, key)
        assert dialog.matrix.step == step
    qtbot.keyClick(dialog.matrix, Qt.Key.Key_P)
    assert dialog.matrix.step == 30, "no step before it differs"
    qtbot.keyClick(dialog.matrix, Qt.Key.Key_Up)
    assert dialog.said.text() == "aurora.cfoil, step 30: result A, that of the largest group."
    qtbot.keyClick(dialog.matrix, Qt.Key.Key_Down)
    qtbot.keyClick(dialog.matrix, Qt.Key.Key_Down)
    assert dialog.said.text() == "broken-cirrus.cfoil has no step 30."
    assert dialog.table.currentIndex().row() == 2, "the table shows the same provider"


def test_a_click_chooses_the_step_under_it(window: MainWindow, qtbot: QtBot) -> None:
    dialog = compared(window, qtbot, *RUNS)
    row = dialog.matrix.row_at(1)
    place = QPoint(int(dialog.matrix.place_of(45)), int(row.center().y()))
    qtbot.mouseClick(dialog.matrix, Qt.MouseButton.LeftButton, pos=place)
    assert (dialog.matrix.step, dialog.matrix.provider) == (45, 1)


def test_a_run_is_audited_by_itself_from_there(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    run = tmp_path / "lying.cfoil"
    run.touch()
    dialog = compared(window, qtbot, RUNS[0], run)
    dialog.table.selectRow(1)
    dialog.audit.click()
    qtbot.waitUntil(reached(window, Phase.READY))
    assert window.session.path == run


def test_why_it_failed_is_said(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_asked: object) -> object:
        raise CounterfoilError(say("Give two runs of the same order, or more."))

    monkeypatch.setattr(engine, "compare_providers", fails)
    dialog = compared(window, qtbot, *RUNS)
    assert dialog.headline.text() == "Not compared"
    assert "Give two runs of the same order, or more." in dialog.sentence.text()
    assert not dialog.choose_data.isVisible()


def test_a_hundred_thousand_steps_keep_the_one_that_differs() -> None:
    lone = bytearray(100_001)
    lone[77_777] = 3
    matrix = ResultMatrix([bytes(100_001), bytes(lone), b"", bytes(50_001)])
    thin = matrix.thinned(800)
    assert thin.shape == (4, 800)
    assert thin[1].max() == 3
    assert (thin[1] > 0).sum() == 1
    assert (thin[2] == ABSENT).all()
    assert (thin[3] == 0).sum() == 400
    assert matrix.next_apart(0, 1) == 77_777
    assert matrix.next_apart(77_777, 1) is None
