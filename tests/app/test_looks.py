"""The window's own font, ticks, marks and folds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QFontInfo, QFontMetrics, QIcon, QImage
from PySide6.QtWidgets import QApplication, QCheckBox, QMessageBox, QProgressBar
from pytestqt.qtbot import QtBot

from counterfoil import CheckNumber, CounterfoilError
from counterfoil_app.driver.capture import wait_until
from counterfoil_app.looks import fonts, icons
from counterfoil_app.looks.theme import DARK, LIGHT, ThemeChoice, Tokens
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from support.fake_engine import FakeEngine
from support.waiting import reached

MakeWindow = Callable[[FakeEngine], MainWindow]
THEMES = Path(__file__).parents[2] / "resources" / "counterfoil_resources" / "themes"


@pytest.fixture(scope="module")
def window(shared_window_of: MakeWindow, tmp_path_factory: pytest.TempPathFactory) -> MainWindow:
    window = shared_window_of(FakeEngine(disputed=37))
    path = tmp_path_factory.mktemp("bundle") / "honest.cfoil"
    path.touch()
    window.open_bundle(path)
    assert wait_until(reached(window, Phase.READY), 60.0)
    window.commands["replay"].trigger()
    assert wait_until(reached(window, Phase.CONCLUDED), 60.0)
    return window


@pytest.fixture(scope="module", params=[ThemeChoice.LIGHT, pytest.param(ThemeChoice.DARK, marks=pytest.mark.slow)])
def tokens(window: MainWindow, request: pytest.FixtureRequest) -> Tokens:
    window.theme.choose(request.param)
    return window.theme.tokens


def colours(image: QImage) -> dict[str, int]:
    found: dict[str, int] = {}
    for y in range(image.height()):
        for x in range(image.width()):
            name = image.pixelColor(x, y).name()
            found[name] = found.get(name, 0) + 1
    return found


# The font


@pytest.mark.parametrize("family", [fonts.TEXT, fonts.MONO])
def test_text_of_13_pixels_stands_on_a_line_of_20(window: MainWindow, family: str) -> None:
    font = fonts.text_font() if family == fonts.TEXT else fonts.fixed_font()
    assert QFontInfo(font).family() == family, "the bundled font, and no substitute"
    assert QFontInfo(font).pixelSize() == 13
    assert QFontMetrics(font).lineSpacing() == 20
    for other in (window.header.sentence, window.steps.table, window.menuBar()):
        assert QFontInfo(other.font()).family() == fonts.TEXT


def test_digits_are_of_one_width_and_bold_is_drawn_bold(window: MainWindow) -> None:
    metrics = QFontMetrics(fonts.text_font())
    assert len({metrics.horizontalAdvance(digit) for digit in "0123456789"}) == 1
    for weight in (400, 600, 700):
        font = fonts.text_font()
        font.setWeight(font.Weight(weight))
        assert QFontInfo(font).weight() == weight, "a face of its own"


def test_a_damaged_font_is_told(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "TEXT", "Not installed")
    monkeypatch.setattr(fonts.QFontDatabase, "addApplicationFontFromData", lambda _data: -1)
    with pytest.raises(CounterfoilError, match=r"text-regular\.ttf cannot be loaded"):
        fonts.install_fonts()


# Marks


def test_a_checked_box_has_a_tick(window: MainWindow, qtbot: QtBot, tokens: Tokens) -> None:
    box = QCheckBox()
    qtbot.addWidget(box)
    box.show()
    assert tokens.on_accent not in colours(box.grab().toImage()) or tokens.on_accent == tokens.surface
    box.setChecked(True)
    found = colours(box.grab().toImage())
    assert found.get(tokens.accent, 0) > 40
    inside = box.grab(box.rect().adjusted(3, 5, -3, -5)).toImage()
    light = [colour for colour in colours(inside) if QColor(colour).lightnessF() != QColor(tokens.accent).lightnessF()]
    assert len(light) > 3, "the tick, with its soft edges"


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_pictures_of_the_style_sheet_have_the_themes_colours(theme: Tokens) -> None:
    tones = {"tick": theme.on_accent, "warning": theme.warn, "question": theme.info, "critical": theme.bad}
    for name, colour in {**tones, "information": theme.info}.items():
        assert f'stroke="{colour}"' in (THEMES / f"{theme.name}-{name}.svg").read_text()


def test_message_boxes_have_our_own_pictures(window: MainWindow, qtbot: QtBot, tokens: Tokens) -> None:
    box = QMessageBox(QMessageBox.Icon.Warning, "title", "text", QMessageBox.StandardButton.Ok, window)
    qtbot.addWidget(box)
    assert tokens.warn in colours(box.iconPixmap().toImage())
    assert box.button(QMessageBox.StandardButton.Ok).icon().isNull()


def test_a_selected_mismatch_still_looks_like_one(window: MainWindow, tokens: Tokens) -> None:
    window.docks["steps"].raise_()
    table = window.steps.table

    def colour(step: int) -> str:
        table.scrollTo(window.steps.model.index(step - 1, 0))
        place = table.visualRect(window.steps.model.index(step - 1, 4)).topLeft() + QPoint(2, 3)
        return table.viewport().grab().toImage().pixelColor(place).name()

    window.session.select_step(37)
    assert colour(37) == tokens.bad_selected
    window.session.select_step(36)
    assert colour(36) == tokens.selection
    assert colour(37) == tokens.bad_tint


# Folds, titles, progress


def test_a_selected_icon_keeps_its_colour(qapp: QApplication, tokens: Tokens) -> None:
    made = icons.icon("failed", tokens.bad)
    plain, selected = (made.pixmap(16, 16, mode).toImage() for mode in (QIcon.Mode.Normal, QIcon.Mode.Selected))
    assert selected == plain
    assert any(plain.pixelColor(x, y).name() == tokens.bad for x in range(16) for y in range(16))


def test_passed_checks_are_folded_and_unfolded(window: MainWindow, qtbot: QtBot) -> None:
    checks = window.checks.checks
    assert checks.passed.text().startswith("7 of 10 passed")
    shown = [number for number, row in checks.rows.items() if row.isVisibleTo(checks)]
    assert shown == [CheckNumber.ORDER, CheckNumber.REPLAY, CheckNumber.COVERAGE], (
        "what did not simply pass is never folded"
    )
    checks.passed.setFocus()
    qtbot.keyClick(checks.passed, Qt.Key.Key_Space)
    rows = [row for row in checks.rows.values() if row.isVisibleTo(checks)]
    assert len(rows) == 10
    QApplication.processEvents()
    gaps = {below.y() - above.geometry().bottom() - 1 for above, below in pairwise(rows)}
    assert gaps == {8}
    qtbot.keyClick(checks.passed, Qt.Key.Key_Space)
    assert len([row for row in checks.rows.values() if row.isVisibleTo(checks)]) == 3


def test_a_view_has_one_title(window: MainWindow, qtbot: QtBot) -> None:
    def titled() -> set[str]:
        return {name for name, dock in window.docks.items() if dock.titleBarWidget() is None}

    window.resize(1350, 700)
    window.desk.restore()
    qtbot.waitUntil(lambda: titled() == set())
    window.docks["log"].setFloating(True)
    qtbot.waitUntil(lambda: titled() == {"log"})
    window.docks["log"].setFloating(False)
    qtbot.waitUntil(lambda: titled() == set())


def test_there_is_one_picture_of_the_progress(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    engine = FakeEngine(halt=30)
    window = window_of(engine)
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(lambda: window.session.steps.done == 29 and "29 of 60 steps" in window.transport.progress.text())
    bars = [bar for bar in window.findChildren(QProgressBar) if bar.isVisible()]
    assert bars == [], "others are of what is asked for beside a replay"
    assert window.strip.isVisible()


def test_icons_go_with_the_text(qapp: QApplication) -> None:
    for percent, pixels in ((200, 32), (150, 24), (100, 16)):
        fonts.apply_text_size(qapp, percent)
        assert fonts.scale(16) == pixels
