"""A run that its order's rule ended early is shown as so many of the ordered steps, wherever steps are said."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pytestqt.qtbot import QtBot

from counterfoil_app.looks import words
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.export import Unsigned
from counterfoil_app.verdict.matter import matter_of
from counterfoil_app.views.comparison import compared_fields
from counterfoil_app.views.plan_dialog import PlanDialog
from support.fake_engine import FakeEngine
from support.waiting import reached

RULE = "ends early if the loss has not fallen by 0.01 in 10 steps"


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(ordered=100)


def test_what_is_seen_before_the_replay(opened: MainWindow, qtbot: QtBot) -> None:
    summary = opened.session.summary
    assert summary is not None
    assert "60 of 100 ordered steps" in opened.header.sentence.text()
    lines = {line.name: line for line in compared_fields(summary, summary)}
    assert (lines["Steps"].ordered, lines["Steps"].run, lines["Steps"].same) == ("100", "60 of 100 ordered", None)
    assert (lines["Early stopping"].ordered, lines["Early stopping"].same) == (RULE, True)
    assert RULE in [field.value for field in opened.run._option_fields(summary) if field.name == "Early stopping"]
    dialog = PlanDialog(opened.session, opened)
    qtbot.addWidget(dialog)
    assert dialog._steps == 60


def test_what_is_seen_after_it(opened: MainWindow, qtbot: QtBot) -> None:
    opened.header.primary.click()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))
    report = opened.session.report
    assert report is not None
    assert report.headline == "VERIFIED for 60 of 100 ordered steps"
    assert opened.header.outcome.text() == "VERIFIED, 60 of 100 ordered steps"
    assert words.judged_steps(report) == "100 ordered, 60 recorded, 60 judged"
    matter = matter_of(Unsigned.of(FakeEngine(), report, datetime(2026, 1, 31, tzinfo=UTC)).said)
    assert "found: VERIFIED, 60 of 100 ordered steps." in matter.sentence
    assert [field.value for field in matter.fields if field.name == "Steps"] == ["100 ordered, 60 recorded, 60 judged"]
