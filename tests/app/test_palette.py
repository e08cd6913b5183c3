"""The palette finds what the window has, and does it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from tests.app.conftest import MakeWindow

from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.palette import Entry, Palette, fitting
from support.fake_engine import FakeEngine
from support.waiting import reached


def typed(window: MainWindow, words: str) -> Palette:
    palette = window.finding.find()
    QTest.keyClicks(palette.line, words)
    return palette


def names(palette: Palette) -> list[str]:
    return [entry.name for entry in palette.model.records]


def test_names_that_begin_so_come_first_and_every_word_counts() -> None:
    entries = [
        Entry(name, kind, lambda: None) for name, kind in (("Undo layout", "View"), ("Layout", "View"), ("Log", ""))
    ]
    assert [one.name for one in fitting(entries, "lay")] == ["Layout", "Undo layout"]
    assert [one.name for one in fitting(entries, "VIEW undo")] == ["Undo layout"]
    assert fitting(entries, "no such") == []
    assert len(fitting(entries, "")) == 3


def test_a_command_is_found_with_its_keys_and_given(opened: MainWindow, qtbot: QtBot) -> None:
    palette = typed(opened, "merkle")
    assert names(palette)[0] == "Merkle"
    assert palette.model.records[0].keys == "Ctrl+4"
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: opened.merkle.isVisible())
    assert "Pause" not in names(typed(opened, "pause")), "what cannot be done now is not offered"


def test_a_step_is_reached_by_its_number(opened: MainWindow, qtbot: QtBot) -> None:
    palette = typed(opened, "step 41")
    assert names(palette)[0] == "Step 41 of 60"
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    assert opened.session.selected_step == 41
    assert not any(name.startswith("Step 61") for name in names(typed(opened, "61")))


def test_arrows_choose_while_typing_and_escape_does_nothing(opened: MainWindow, qtbot: QtBot) -> None:
    palette = typed(opened, "view")
    second = palette.model.records[1]
    QTest.keyClick(palette.line, Qt.Key.Key_Down)
    assert palette.model.records[palette.table.currentIndex().row()] is second
    assert palette.line.text() == "view"
    QTest.keyClick(palette.line, Qt.Key.Key_Escape)
    assert not palette.isVisible()


def test_checks_tensors_and_cases_are_found(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window = window_of(FakeEngine(disputed=37))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    assert window.session.dispute is not None
    tensor = window.session.dispute.tensors[1].name
    kinds = {entry.name: entry.kind for entry in typed(window, "").model.records}
    palette = typed(window, tensor)
    assert palette.model.records[0].kind == "Tensor"
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    assert window.dispute.look.chosen.currentText() == tensor
    assert {entry.kind for entry in typed(window, "merkle leaf").model.records} == {"Check"}
    assert any(entry.kind == "Case" for entry in typed(window, bundle.name).model.records)
    assert "Tensor" not in kinds.values() or len(kinds) <= 60


def test_what_nothing_is_called_is_said(opened: MainWindow) -> None:
    palette = typed(opened, "no such thing")
    assert palette.none.isVisible()
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    assert palette.isVisible(), "nothing is done"
