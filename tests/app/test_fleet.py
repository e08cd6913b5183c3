"""The plan of large runs in the window: table, plot and assumptions, with and without a measured step."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from counterfoil import GPUS, Estimate, FleetRequest, Plan, plan_fleet
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.language import Translations
from counterfoil_app.looks.theme import Theme, ThemeChoice
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.fleet_dialog import FleetDialog
from counterfoil_app.views.plan_dialog import PlanDialog

MEASURED = Plan(
    "cuda:0", 60, 12, 0.01, 1, 0.5, 0.1, 3, (), Estimate(10, 10, 10, 2 * 10**12, 10), "exact-13", 0.0
)  # fmt: skip


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    return Theme(qapp, ThemeChoice.LIGHT)


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    before, translations = QLocale(), Translations()
    translations.install("de")
    yield
    translations.remove()
    QLocale.setDefault(before)


def cells(dialog: FleetDialog) -> list[list[str]]:
    table = dialog.table
    return [
        [table.item(row, column).text() for column in range(table.columnCount())] for row in range(table.rowCount())
    ]


def choose(dialog: FleetDialog, name: str) -> None:
    dialog.source.setCurrentIndex(dialog.source.findData(name))
    dialog.source.activated.emit(dialog.source.currentIndex())


def test_it_shows_the_plan_of_the_engine(theme: Theme, qtbot: QtBot) -> None:
    dialog = FleetDialog(theme)
    qtbot.addWidget(dialog)
    fleet = plan_fleet(GPUS["H100"], FleetRequest())
    assert dialog.fleet == fleet
    shown = cells(dialog)
    assert len(shown) == len(fleet.rows)
    for line, row in zip(shown, fleet.rows, strict=True):
        assert line[5] == text.count(round(row.record_device_hours))
        assert (line[6] == "cannot be audited") == (not row.audited)
        assert (line[9] == text.count(round(row.sample_device_hours))) or not row.audited
    assert all(translate(line) in dialog.assumptions.text() for line in fleet.assumptions)
    assert fleet.notes
    assert all(translate(note) in dialog.meaning.text() for note in fleet.notes)
    assert dialog.meaning.property("tone") == "warn"


def test_the_plot_has_a_curve_for_each_profile_and_follows_the_theme(theme: Theme, qtbot: QtBot) -> None:
    dialog = FleetDialog(theme)
    qtbot.addWidget(dialog)
    assert dialog.fleet is not None
    curves = dialog.plot.curves
    assert len(curves) == 5 + 4, "ordinary training is recorded and not audited"
    assert curves["0 exact-13"] == [
        (row.parameters, row.record_device_hours) for row in dialog.fleet.rows if row.profile == "exact-13"
    ]
    theme.choose(ThemeChoice.DARK)
    assert dialog.plot.curves == curves
    theme.choose(ThemeChoice.LIGHT)


def test_what_is_chosen_changes_the_plan(theme: Theme, qtbot: QtBot) -> None:
    dialog = FleetDialog(theme)
    qtbot.addWidget(dialog)
    before = cells(dialog)
    dialog.devices.setValue(512)
    assert cells(dialog) != before
    dialog.devices.setValue(64)
    dialog.every.setValue(10)
    assert dialog.fleet == plan_fleet(GPUS["H100"], FleetRequest(checkpoint_every=10))
    choose(dialog, "RTX 4090")
    assert "exact-20 or exact-13" in dialog.meaning.text()


def test_many_devices_are_marked_as_waiting_for_hashing(theme: Theme, qtbot: QtBot) -> None:
    dialog = FleetDialog(theme)
    qtbot.addWidget(dialog)
    assert not any("hashing" in line[3] for line in cells(dialog))
    dialog.devices.setValue(100_000)
    assert any("hashing" in line[3] for line in cells(dialog))


def test_what_does_not_fit_together_is_said_with_what_to_do_and_shows_no_numbers(
    theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = FleetDialog(theme)
    qtbot.addWidget(dialog)
    dialog.tokens.addItem("1", 1.0)
    dialog.tokens.setCurrentIndex(dialog.tokens.count() - 1)
    dialog.tokens.activated.emit(0)
    assert dialog.meaning.property("tone") == "bad"
    assert "Give more tokens" in dialog.meaning.text()
    assert (cells(dialog), dialog.plot.curves, dialog.assumptions.text()) == ([], {}, "")


def test_a_measured_step_is_the_first_choice_and_data_sheets_stay(theme: Theme, qtbot: QtBot) -> None:
    dialog = FleetDialog(theme, {"cuda:0": MEASURED})
    qtbot.addWidget(dialog)
    assert dialog.source.currentText() == "cuda:0, as measured"
    assert {line[1] for line in cells(dialog)} == {"exact-13"}
    assert {line[2] for line in cells(dialog)} == {"4"}, "2e12 operations in half a second"
    assert {line[7] for line in cells(dialog)} == {"none"}
    choose(dialog, "H200")
    assert dialog.fleet is not None
    assert dialog.fleet.device == "H200"


def test_it_opens_from_the_menu_without_a_run_and_from_the_plan_with_what_was_measured(
    opened: MainWindow, qtbot: QtBot
) -> None:
    opened.commands["fleet"].trigger()
    alone = opened.findChild(FleetDialog)
    assert alone is not None
    assert alone.fleet is not None
    assert alone.fleet.device == "H100"
    alone.reject()
    opened.commands["plan"].trigger()
    plan = opened.findChild(PlanDialog)
    assert plan is not None
    plan.plans["cuda:0"] = MEASURED
    plan.larger.click()
    larger = plan.findChild(FleetDialog)
    assert larger is not None
    assert larger.source.currentText() == "cuda:0, as measured"
    larger.reject()
    plan.reject()


def test_german_headings_and_cells_have_their_room(theme: Theme, qtbot: QtBot, german: None) -> None:
    dialog = FleetDialog(theme)
    qtbot.addWidget(dialog)
    dialog.show()
    table, metrics = dialog.table, dialog.table.fontMetrics()
    for column in range(table.columnCount()):
        words = [table.item(row, column).text() for row in range(table.rowCount())]
        heading = table.horizontalHeaderItem(column)
        assert heading is not None
        for said in (*words, *heading.text().split("\n")):
            assert metrics.horizontalAdvance(said) <= table.columnWidth(column), said
    assert "Segmenten sind die Stichprobe" in dialog.meaning.text()
    assert "Nothing" not in dialog.assumptions.text()
    assert "Unter einem Profil" in dialog.assumptions.text()
