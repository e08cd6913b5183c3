"""The plan of inspections in the window: tables, plot and assumptions are those of the engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication, QTableWidget
from pytestqt.qtbot import QtBot

from counterfoil import GPUS, InspectionRequest, plan_inspections
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.language import Translations
from counterfoil_app.looks.theme import Theme, ThemeChoice
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.inspections_dialog import InspectionsDialog


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    return Theme(qapp, ThemeChoice.LIGHT)


@pytest.fixture
def dialog(theme: Theme, qtbot: QtBot) -> InspectionsDialog:
    dialog = InspectionsDialog(theme)
    qtbot.addWidget(dialog)
    return dialog


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    before, translations = QLocale(), Translations()
    translations.install("de")
    yield
    translations.remove()
    QLocale.setDefault(before)


def cells(table: QTableWidget) -> list[list[str]]:
    return [
        [table.item(row, column).text() for column in range(table.columnCount())] for row in range(table.rowCount())
    ]


def test_it_shows_the_plan_of_the_engine(dialog: InspectionsDialog) -> None:
    plan = plan_inspections()
    assert dialog.plan == plan
    for line, row in zip(cells(dialog.table), plan.rows, strict=True):
        assert line[:4] == [row.name, line[1], text.count(round(row.chip_days)), text.count(row.least_chips)]
        assert line[4:] == ["\u2013" if cell.a_year is None else text.count(cell.a_year) for cell in row.cells]
    assert cells(dialog.stretching)[3][0] == "20 %"
    assert cells(dialog.stretching)[3][-1] == f"{text.digits('87.33')} %"
    assert all(translate(line) in dialog.assumptions.text() for line in plan.assumptions)
    assert dialog.meaning.property("tone") == "info"


def test_what_is_chosen_changes_the_plan(dialog: InspectionsDialog) -> None:
    before = cells(dialog.table)
    dialog.samples.setValue(1000)
    assert dialog.plan == plan_inspections(InspectionRequest(samples=1000))
    assert cells(dialog.table) != before
    assert cells(dialog.table)[3][5] == f"{text.digits('95')} %"
    dialog.samples.setValue(0)
    dialog.run_days.setValue(100)
    dialog.period.setValue(10)
    dialog.snapshots.setValue(0.5)
    dialog.chip.setCurrentIndex(dialog.chip.findData(GPUS["B200"].bfloat16))
    dialog.chip.activated.emit(0)
    wanted = InspectionRequest(rate=GPUS["B200"].bfloat16, run_days=100.0, period_days=10.0, snapshots=0.5)
    assert dialog.plan == plan_inspections(wanted)


def test_what_does_not_fit_together_is_said_and_shows_no_numbers(dialog: InspectionsDialog) -> None:
    dialog.period.setValue(400)
    assert dialog.meaning.property("tone") == "bad"
    assert "no longer than the run" in dialog.meaning.text()
    assert (cells(dialog.table), cells(dialog.stretching), dialog.plot.curves) == ([], [], {})
    assert dialog.assumptions.text() == ""
    dialog.period.setValue(30)
    assert dialog.plan == plan_inspections()


def test_the_plot_has_the_numbers_and_follows_the_theme(dialog: InspectionsDialog, theme: Theme) -> None:
    plan, curves = plan_inspections(), dialog.plot.curves
    assert len(curves) == len(plan.rows) + len(plan.curves)
    assert curves["GPT-3"] == [(cell.chips, cell.a_year) for cell in plan.rows[0].cells]
    assert len(curves["Chinchilla-10T"]) == 1, "where the chips cannot carry it out there is no point"
    assert curves["20 % of the chips"] == [(point.factor, point.caught) for point in plan.curves[3].points]
    theme.choose(ThemeChoice.DARK)
    assert dialog.plot.curves == curves
    theme.choose(ThemeChoice.LIGHT)


def test_it_opens_from_the_menu(opened: MainWindow) -> None:
    opened.commands["inspections"].trigger()
    found = opened.findChild(InspectionsDialog)
    assert found is not None
    assert found.plan is not None
    found.reject()


def test_german_headings_and_cells_have_their_room(theme: Theme, german: None, qtbot: QtBot) -> None:
    dialog = InspectionsDialog(theme)
    qtbot.addWidget(dialog)
    dialog.show()
    for table in (dialog.table, dialog.stretching):
        for column in range(table.columnCount()):
            heading = table.horizontalHeaderItem(column)
            assert heading is not None
            for said in (*(row[column] for row in cells(table)), *heading.text().split("\n")):
                assert table.fontMetrics().horizontalAdvance(said) <= table.columnWidth(column), said
