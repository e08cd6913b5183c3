"""A dispute about a step that shares make shows its parts in a strip, the one that lies marked."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from counterfoil_app.looks import words
from counterfoil_app.looks.theme import Theme, Tone
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import ThemeChoice
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.comparison import compared_fields
from counterfoil_app.views.share_strip import ShareStrip
from support.fake_engine import FakeEngine
from support.waiting import reached


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(disputed=37, shares=8, part="share 5")


def replayed(window: MainWindow, qtbot: QtBot) -> ShareStrip:
    window.header.primary.click()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    qtbot.waitUntil(lambda: bool(window.dispute.shares.parts))
    return window.dispute.shares


def test_the_part_that_lies_is_marked_and_those_behind_it_are_not_judged(opened: MainWindow, qtbot: QtBot) -> None:
    strip = replayed(opened, qtbot)
    tones = [part.tone for part in strip.parts]
    assert tones == [*[Tone.OK] * 5, Tone.BAD, *[Tone.MUTED] * 4]
    assert strip.accessibleName() == "share 5: differs from what the trainer signed"
    assert "first in its share 5" in opened.dispute.headline.text()
    assert "What differs is share 5" in opened.header.sentence.text()
    strip.resize(700, strip.sizeHint().height())
    picture, cells = strip.grab().toImage(), strip.cells()
    inside = [picture.pixelColor(QPoint(int(cell.left()) + 4, int(cell.top()) + 4)) for cell in cells]
    assert len({colour.name() for colour in inside}) == 3
    tokens = opened.dispute.shares._theme.tokens
    assert inside[5].name() == QColor(tokens.tint(Tone.BAD)).name()


def test_the_order_says_how_steps_are_divided(opened: MainWindow) -> None:
    summary = opened.session.summary
    assert summary is not None
    lines = {line.name: line.ordered for line in compared_fields(summary, summary)}
    assert lines["Shares"] == "8 of 4 rows, added exactly"


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    return Theme(qapp, ThemeChoice.LIGHT)


@pytest.mark.parametrize(("part", "place"), [("combine", 8), ("update", 9)])
def test_combination_and_update_have_cells_of_their_own(
    theme: Theme, engine: FakeEngine, part: str, place: int, qtbot: QtBot
) -> None:
    engine.part = part
    strip = ShareStrip(theme)
    qtbot.addWidget(strip)
    strip.show_dispute(engine.dispute(3), 8)
    assert [number for number, each in enumerate(strip.parts) if each.tone is Tone.BAD] == [place]
    assert [words.step_part(each.name) for each in strip.parts[-2:]] == ["combination", "update"]


@pytest.mark.parametrize("shares", [1, 64, 1000])
def test_no_cell_leaves_the_strip(theme: Theme, engine: FakeEngine, shares: int, qtbot: QtBot) -> None:
    engine.part = "share 0"
    strip = ShareStrip(theme)
    qtbot.addWidget(strip)
    strip.resize(480, 30)
    strip.show_dispute(engine.dispute(3), shares)
    cells = strip.cells()
    assert len(cells) == shares + 2
    assert all(cell.left() >= 0 for cell in cells)
    assert cells[-1].right() <= max(480, shares + 200)
    assert not strip.grab().isNull()


def test_a_run_without_shares_shows_no_strip(theme: Theme, qtbot: QtBot) -> None:
    strip = ShareStrip(theme)
    qtbot.addWidget(strip)
    strip.show_dispute(FakeEngine(disputed=3).dispute(3), 0)
    assert not strip.parts
    assert strip.isHidden()
