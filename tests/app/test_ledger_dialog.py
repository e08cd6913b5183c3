"""What a folder of verdicts says of trainers, in the window: runs, disputes, rates, and what does not count."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMenu, QTableView
from pytestqt.qtbot import QtBot

from counterfoil import CounterfoilError, RatePolicy, Role
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil_app.engine.process import ProcessEngine
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.ledger_dialog import LedgerDialog
from counterfoil_core.base.sentence import say
from counterfoil_core.statement.verdict import sign_verdict
from support.fake_engine import AUDITOR, FakeEngine
from support.ledgers import HONEST, LIAR, NEW, ledger_of
from support.reports import disputed_report, verified_report

FOLDER = Path("/verdicts")


@pytest.fixture
def dialog(window: MainWindow) -> LedgerDialog:
    window.key_book.trust(AUDITOR, Role.AUDITOR, "Ada", "a test", "2026-03-01")
    window.commands["ledger"].trigger()
    (found,) = window.findChildren(LedgerDialog)
    return found


def read(dialog: LedgerDialog, qtbot: QtBot, folder: Path = FOLDER) -> None:
    dialog.reading.choose(folder)
    qtbot.waitUntil(lambda: not dialog.reading.working)


def cells(model: Any) -> list[list[str]]:
    return [[model.index(row, place).data() for place in range(model.columnCount())] for row in range(model.rowCount())]


def table_in(dialog: LedgerDialog, place: int) -> QTableView:
    widget = dialog.tabs.widget(place)
    assert isinstance(widget, QTableView)
    return widget


def test_it_begins_empty_and_says_what_to_do(dialog: LedgerDialog, engine: FakeEngine) -> None:
    assert dialog.headline.text() == "What verdicts say of trainers"
    assert "Choose a folder" in dialog.sentence.text()
    assert "Ada" in dialog.notice.text()
    assert not dialog.tabs.isVisible()
    assert not dialog.start.isEnabled()
    assert engine.ledgers == []


def test_each_trainer_has_a_line_with_runs_and_the_proposed_rate(dialog: LedgerDialog, qtbot: QtBot) -> None:
    read(dialog, qtbot)
    assert dialog.headline.text() == "Runs were disputed"
    lines = cells(dialog.trainers)
    assert [line[0] for line in lines] == [HONEST[:12], LIAR[:12], NEW[:12]]
    assert [line[1:5] for line in lines] == [["2", "2", "0", "0"], ["2", "1", "1", "0"], ["1", "0", "0", "1"]]
    found = dialog.reading.found
    assert found is not None
    for line, record in zip(lines, found.trainers, strict=True):
        assert line[6] == f"{record.rate.chosen} of {record.rate.segments} segments"
    assert lines[1][6] == "100 of 100 segments", "after a dispute all of it"
    runs = cells(dialog.runs)
    assert [line[2:5] for line in runs] == [
        ["clean", "VERIFIED", "60 of 60 steps"],
        ["clean", "VERIFIED", "20 of 60 steps"],
    ]


def test_a_trainer_that_is_chosen_shows_its_disputes_and_the_reasons(dialog: LedgerDialog, qtbot: QtBot) -> None:
    read(dialog, qtbot)
    dialog.trainer_table.selectRow(1)
    assert [line[2] for line in cells(dialog.runs)] == ["disputed", "clean"]
    disputes = cells(dialog.disputes)
    assert [line[:2] for line in disputes] == [["DISPUTED", "37"], ["adjudicated: CONFIRMED", "36\u201338"]]
    assert [line[3] for line in disputes] == ["yes", "no"]
    assert disputes[0][4].startswith("Ada (")
    assert disputes[0][6] == "c-3.json"
    assert dialog.tabs.tabText(1) == "&Disputes (2)"
    found = dialog.reading.found
    assert found is not None
    assert all(translate(reason) in dialog.rate.text() for reason in found.trainers[1].rate.reasons)
    dialog.trainer_table.selectRow(0)
    assert cells(dialog.disputes) == []
    assert all(translate(reason) in dialog.rate.text() for reason in found.trainers[0].rate.reasons)


def test_what_does_not_count_stands_in_rows(dialog: LedgerDialog, qtbot: QtBot) -> None:
    read(dialog, qtbot)
    assert cells(dialog.not_counted) == [["below/damaged.json", "It is neither a verdict nor about one."]]
    assert dialog.tabs.tabText(3) == "&Not counted (1)"


def test_other_wishes_propose_other_rates_without_reading_anew(
    dialog: LedgerDialog, engine: FakeEngine, qtbot: QtBot
) -> None:
    read(dialog, qtbot)
    before = dialog.reading.found
    dialog.trainer_table.selectRow(1)
    dialog.segments.setValue(400)
    dialog.floor.setValue(20.0)
    dialog.clean_runs.setValue(1)
    qtbot.waitUntil(lambda: not dialog.reading.working)
    wished = RatePolicy(400, 0.01, 0.05, 0.2, 1)
    auditor = dialog.reading.auditors[0].key_id
    assert dialog.reading.found == ledger_of(wished, auditor) != before
    assert len(engine.ledgers) == 1
    assert cells(dialog.trainers)[1][6] != "100 of 100 segments"
    assert dialog.trainer_table.currentIndex().row() == 1, "the chosen trainer stays chosen"
    read(dialog, qtbot)
    assert engine.ledgers[-1].policy == wished


def test_an_auditor_that_is_left_out_does_not_count(dialog: LedgerDialog, engine: FakeEngine, qtbot: QtBot) -> None:
    read(dialog, qtbot)
    menu = dialog.auditors.menu()
    assert isinstance(menu, QMenu)
    (action,) = menu.actions()
    action.setChecked(False)
    qtbot.waitUntil(lambda: not dialog.reading.working)
    assert engine.ledgers[-1].keys == ()
    assert dialog.headline.text() == "Nothing counts"
    assert not dialog.trainer_table.isVisible()
    assert [line[1] for line in cells(dialog.not_counted)] == [
        "It is signed with none of the auditors' keys that were given."
    ] * 2
    assert dialog.tabs.currentIndex() == 3
    action.setChecked(True)
    qtbot.waitUntil(lambda: not dialog.reading.working)
    assert engine.ledgers[-1].keys == (AUDITOR,)
    assert dialog.headline.text() == "Runs were disputed"
    assert dialog.tabs.currentIndex() == 0


def test_who_knows_no_auditor_is_told_so(window: MainWindow, qtbot: QtBot) -> None:
    dialog = window.lookups.show_ledger()
    assert "no auditor's key" in dialog.notice.text()
    assert dialog.notice.property("tone") == "warn"
    assert not dialog.auditors.isEnabled()
    read(dialog, qtbot)
    assert dialog.headline.text() == "Nothing counts"


def test_an_empty_folder_and_one_that_cannot_be_read(dialog: LedgerDialog, engine: FakeEngine, qtbot: QtBot) -> None:
    read(dialog, qtbot, Path("/empty"))
    assert dialog.headline.text() == "Nothing counts"
    assert dialog.not_counted.rowCount() == 0
    engine.inspect_errors["locked"] = CounterfoilError(
        say("The folder {0} cannot be looked through: {1}.", "locked", "Permission denied")
    )
    read(dialog, qtbot, Path("/locked"))
    assert dialog.headline.text() == "Not read"
    assert "Permission denied" in dialog.sentence.text()
    assert not dialog.tabs.isVisible()


def test_it_says_how_far_it_is_and_can_be_stopped(dialog: LedgerDialog, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.gate.clear()
    dialog.reading.choose(FOLDER)
    qtbot.waitUntil(lambda: dialog.progress.value() == 333)
    assert dialog.progress.isVisible()
    assert "1 of 3 files" in dialog.sentence.text()
    dialog.stop.click()
    assert not dialog.reading.working
    assert "stopped" in dialog.sentence.text()
    qtbot.waitUntil(lambda: not engine_busy(dialog))


def engine_busy(dialog: LedgerDialog) -> bool:
    window = dialog.parent()
    assert isinstance(window, MainWindow)
    return window.session.busy


def test_the_folder_is_chosen_in_the_dialog_of_the_system(
    dialog: LedgerDialog, engine: FakeEngine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_given: str(FOLDER))
    qtbot.mouseClick(dialog.choose, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.reading.found is not None)
    assert engine.ledgers[0].folder == FOLDER


def test_it_reads_real_verdicts(window_of: Any, tmp_path: Path, qtbot: QtBot) -> None:
    auditor, stranger = key_from_seed(b"\1" * 32), key_from_seed(b"\2" * 32)
    folder = tmp_path / "verdicts"
    folder.mkdir()
    day = datetime(2026, 3, 1, tzinfo=UTC)
    for name, report, key in (
        ("good", verified_report(), auditor),
        ("bad", disputed_report(), auditor),
        ("theirs", verified_report(), stranger),
    ):
        (folder / f"{name}.json").write_bytes(sign_verdict(report, key, day))
    (folder / "junk.json").write_bytes(b"{")
    window = window_of(ProcessEngine())
    window.key_book.trust(auditor.public.public, Role.AUDITOR, "Ada", "a test", "2026-03-01")
    dialog = window.lookups.show_ledger()
    read(dialog, qtbot, folder)
    assert dialog.reading.failure is None
    ((trainer, *counts),) = [line[:5] for line in cells(dialog.trainers)]
    assert trainer == verified_report().trainer_key[:12]
    assert (int(counts[0]), int(counts[2]) >= 1) == (
        len({verified_report().run_root, disputed_report().run_root}),
        True,
    )
    assert {line[0] for line in cells(dialog.not_counted)} == {"theirs.json", "junk.json"}
    assert any("none of the auditors' keys" in line[1] for line in cells(dialog.not_counted))
