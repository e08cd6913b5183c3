"""Plain words first, exact ones under details; numbers in the convention of the language."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QApplication, QLabel, QTableWidget
from pytestqt.qtbot import QtBot

from counterfoil import Outcome
from counterfoil_app.looks import text, words
from counterfoil_app.looks.language import Translations
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.plan_dialog import PlanDialog
from counterfoil_core.base.precision import ExactPrecision, Precision
from support.fake_engine import FakeEngine
from support.waiting import reached

MakeWindow = Callable[[FakeEngine], MainWindow]


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    before, translations = QLocale(), Translations()
    translations.install("de")
    yield
    translations.remove()
    QLocale.setDefault(before)


def texts(top: object) -> set[str]:
    return {part.text() for part in top.findChildren(QLabel)}  # type: ignore[attr-defined]


def test_margins_stand_under_details(opened: MainWindow) -> None:
    shown = [*texts(opened.checks), *texts(opened.run)]
    assert "float64 -> 24 significand bits, 8 guard bits" in shown
    exact = {one for one in shown if "2^(E-44)" in one}
    assert exact == {"float64 -> 24 significand bits, 8 guard bits, margin 2^(E-44)"}, "once, in all its detail"


@pytest.mark.parametrize(
    ("precision", "short", "whole"),
    [
        (Precision(), "float64 -> 24 significand bits, 8 guard bits", ", proven margins"),
        (ExactPrecision(20), "exact, operands of products of 20 bits", ""),
        (
            Precision(proven=False, margins=(("mm", 40),)),
            "float64 -> 24 significand bits, 8 guard bits",
            ", margin 2^(E-44), 1 operator kinds calibrated",
        ),
    ],
)
def test_a_profile_in_few_words_and_in_all(precision: Precision | ExactPrecision, short: str, whole: str) -> None:
    assert words.precision(precision.describe()) == short
    assert words.precision(precision.describe(), exactly=True) == short + whole
    assert words.precision(str(precision.describe())) == short + whole, "a text of unknown make stays whole"


def test_a_verified_run_came_out_as_it_was_signed(opened: MainWindow, qtbot: QtBot) -> None:
    opened.commands["replay"].trigger()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))
    report = opened.session.report
    assert report is not None
    assert report.outcome is Outcome.VERIFIED
    assert "every one came out exactly as the trainer signed it" in opened.header.sentence.text()


def test_plans_say_what_is_meant_by_their_chances(opened: MainWindow, qtbot: QtBot) -> None:
    opened.commands["plan"].trigger()
    dialog = opened.findChild(PlanDialog)
    assert dialog is not None
    qtbot.mouseClick(dialog.measure, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.table.rowCount() == 3)
    table: QTableWidget = dialog.table
    heads = [table.horizontalHeaderItem(column).text().replace("\n", " ") for column in range(4)]
    assert heads[0] == "Chance to find a bad run"
    assert heads[3] == "Chance that a bad run passes"
    assert [table.item(row, 3).text() for row in range(3)] == ["40 %", "1 %", "0 %"]
    dialog.reject()
    assert opened.divergence.whole.text() == "Reset zoom"


@pytest.mark.usefixtures("german")
def test_numbers_have_the_decimal_point_of_the_language() -> None:
    assert text.number(0.125) == "0,125"
    assert text.loss(1.5) == "1,50000"
    assert text.exact(0.1) == "0,1"
    assert text.number(float("nan")) == "keine Zahl"
    assert text.hexadecimal(1.5) == "0x1.8p+0", "exact notation is the same everywhere"


def test_the_german_window_has_no_english_decimals(
    settings: Settings, window_of: MakeWindow, bundle: Path, qtbot: QtBot
) -> None:
    settings.language = "de"
    window = window_of(FakeEngine(disputed=37))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    model = window.steps.model
    losses = [model.index(row, column).data() for row in range(60) for column in (4, 5, 11)]
    losses += [window.dispute.elements.index(row, column).data() for row in range(4) for column in (1, 2)]
    assert not [loss for loss in losses if "." in loss]
    assert len([loss for loss in losses if "," in loss]) > 150
    assert "0,779831" in window.divergence.describe(37)
    assert list(window.divergence.curves.getAxis("left").tickStrings([0.5], 1, 0.5)) == ["0,5"]
