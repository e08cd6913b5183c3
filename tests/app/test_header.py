"""The header: one height, one sentence, one button, and doors to what the outcome rests on."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from pytestqt.qtbot import QtBot
from tests.app.conftest import MakeWindow
from tests.app.test_nothing_misleads import idle

from counterfoil import Check, CheckNumber, CheckState
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.checks import Door
from counterfoil_app.views.header import ShortenedText
from counterfoil_core.base.sentence import say
from support.fake_engine import FakeEngine
from support.waiting import reached

LEFT = Qt.MouseButton.LeftButton


def test_the_sentence_is_held_to_its_lines_and_said_whole(qtbot: QtBot) -> None:
    text = ShortenedText(2)
    qtbot.addWidget(text)
    long = "A sentence that goes on and on. " * 20
    text.say(long)
    text.resize(300, text.sizeHint().height())
    lines = text.shown_lines
    assert len(lines) == 2
    assert lines[1].endswith("\u2026")
    assert long.startswith(lines[0])
    assert text.text() == long == text.toolTip()
    text.say("Short.")
    assert text.shown_lines == ["Short."], "control"


def test_the_doors_open_what_mends_each(opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    idle(opened, qtbot)
    doors, asked = opened.header.trust.doors, []
    opened.commands["compare"].triggered.connect(lambda: asked.append("order"))
    monkeypatch.setattr("counterfoil_app.shell.files.existing_file", lambda *_given, **_more: None)
    qtbot.mouseClick(doors[Door.ORDER], LEFT)
    assert asked == ["order"]
    qtbot.mouseClick(doors[Door.TRAINER], LEFT)
    qtbot.waitUntil(lambda: opened.run.trainer_key.name.isVisible())
    opened.commands["show_steps"].trigger()
    qtbot.mouseClick(doors[Door.MACHINE], LEFT)
    qtbot.waitUntil(lambda: opened.run.isVisible())


def test_in_a_narrow_window_doors_are_icons_that_are_still_called_something(opened: MainWindow, qtbot: QtBot) -> None:
    doors = opened.header.trust.doors.values()
    opened.resize(1366, 768)
    qtbot.waitUntil(lambda: all(door.text() for door in doors))
    opened.resize(700, 600)
    qtbot.waitUntil(lambda: not any(door.text() for door in doors))
    assert all(": " in door.accessibleName() for door in doors)


def test_the_place_of_a_dispute_stands_beside_the_outcome(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window = window_of(FakeEngine(disputed=37))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    assert window.header.where.text() == ""
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    assert window.header.where.text() == "at step 37 of 60"
    assert window.header.primary.shown is window.commands["hand_over"]


def test_what_fits_by_trial_is_said_as_such(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window = window_of(FakeEngine(disputed=37))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    before = window.header.sentence.text()
    window.header.tell_trial("labels: Every value x was read as 9 - x.")
    said = window.header.sentence.text()
    assert said == f"{before} Found by trial, unsigned: labels: Every value x was read as 9 - x."
    window.header.tell_trial("")
    assert window.header.sentence.text() == before


def test_what_was_written_is_shown_in_its_folder(
    opened: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: shown.append(url.toLocalFile()))
    assert not opened.reveal.isVisible()
    opened.commands["replay"].trigger()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))
    with qtbot.waitSignal(opened.session.exports.finished):
        opened.session.exports.table(opened.session.steps.snapshot(), tmp_path / "steps.csv")
    qtbot.waitUntil(opened.reveal.isVisible)
    assert str(tmp_path / "steps.csv") in opened.reveal.toolTip()
    qtbot.mouseClick(opened.reveal, LEFT)
    assert shown == [str(tmp_path)]


def test_hashing_is_said_in_the_header_with_the_time_that_is_left(
    opened: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, now = opened.session, [100.0]
    monkeypatch.setattr("counterfoil_app.views.header.time.monotonic", lambda: now[0])
    session.phase = Phase.REPLAYING
    for percent, expected in ((10, "Hashing the file: 10 %."), (20, "Hashing the file: 20 %. 16 s left")):
        said = say("Hashing the file: {0} %.", percent)
        session.checks[CheckNumber.FORMAT] = Check(CheckNumber.FORMAT, CheckState.RUNNING, said)
        session.checks_changed.emit()
        assert opened.header.sentence.text() == expected
        now[0] += 2.0
    session.checks[CheckNumber.FORMAT] = Check(CheckNumber.FORMAT, CheckState.PASSED)
    session.checks_changed.emit()
    assert opened.header.sentence.text() == "Checking the bundle and preparing the first step."
    session.phase = Phase.READY


def test_another_run_is_read_from_its_beginning(opened: MainWindow, bundle: Path, qtbot: QtBot) -> None:
    opened.resize(900, 500)
    opened.commands["show_run"].trigger()
    bar = opened.run.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())
    opened.open_bundle(bundle)
    qtbot.waitUntil(reached(opened, Phase.READY))
    assert bar.value() == 0
