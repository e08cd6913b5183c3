"""The action table: each row says what its action is called, and when it can be done."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from counterfoil_app.looks.theme import DARK, LIGHT
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import ThemeChoice
from counterfoil_app.shell.actions import ActionTable, Face, Row
from counterfoil_app.shell.window import MainWindow
from support.fake_engine import FakeEngine
from support.waiting import reached

ALWAYS = {
    "about", "add_to_queue", "connect", "copy", "copy_log", "help", "keys",
    "layout", "open", "open_address", "preferences", "quit", "select_all", "shortcuts",
}  # fmt: skip
SAMPLES = {"honest_sample", "tampered_sample"}
CAN_BE_DONE = {
    Phase.EMPTY: ALWAYS | SAMPLES | {"ledger"},
    Phase.READY: ALWAYS
    | SAMPLES
    | {"clear_recent", "compare", "copy_link", "facts", "home", "ledger", "locate", "plan", "replay", "rules"},
    Phase.REPLAYING: ALWAYS | {"clear_recent", "copy_link", "home", "pause", "stop"},
    Phase.PAUSED: ALWAYS | {"clear_recent", "copy_link", "go_on", "home", "stop"},
    Phase.CONCLUDED: ALWAYS
    | SAMPLES
    | {
        "clear_recent", "compare", "copy_link", "facts", "home", "ledger", "locate", "plan", "replay", "rules", "table",
        "verdict",
    },
}  # fmt: skip
NAMES = {
    *ALWAYS, *SAMPLES, "capsule", "clear_recent", "compare", "conclude", "copy_link",
    "data",
    "drop_order", "facts", "go_on", "home", "ledger", "locate", "pause", "plan",
    "redo_layout", "replay", "rules", "start_queue", "stop", "stop_queue", "table", "undo_layout", "verdict",
}  # fmt: skip


def can_be_done(window: MainWindow) -> set[str]:
    return {name for name in NAMES if window.commands[name].isEnabled()}


def test_what_can_be_done_follows_the_session(
    window: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot
) -> None:
    session = window.session
    assert can_be_done(window) == CAN_BE_DONE[Phase.EMPTY]
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    qtbot.waitUntil(lambda: not session.checking)
    assert can_be_done(window) == CAN_BE_DONE[Phase.READY]
    engine.halt = 4
    window.commands["replay"].trigger()
    qtbot.waitUntil(lambda: session.steps.done >= 3)
    assert can_be_done(window) - {"table"} == CAN_BE_DONE[Phase.REPLAYING]
    window.commands["pause"].trigger()
    assert can_be_done(window) - {"table"} == CAN_BE_DONE[Phase.PAUSED]
    assert window.commands["pause"].text() == "&Pause", "no action becomes another"
    window.commands["go_on"].trigger()
    engine.open_gates()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=20_000)
    assert can_be_done(window) == CAN_BE_DONE[Phase.CONCLUDED]


def test_no_name_stands_twice(window: MainWindow) -> None:
    row = Row("open", Face("&Open"), lambda: None)
    with pytest.raises(ValueError, match="same name"):
        ActionTable([row, row], window.session, window.theme, window)
    with pytest.raises(KeyError):
        window.commands["no such action"]


def test_icons_follow_what_an_action_is_and_the_theme(window: MainWindow) -> None:
    paused = False

    def face(_session: object) -> Face:
        return Face("&Go on", "replay") if paused else Face("&Pause", "pause", "Let it wait.")

    window.theme.choose(ThemeChoice.LIGHT)
    table = ActionTable([Row("x", face, lambda: None)], window.session, window.theme, window)

    def picture() -> tuple[bytes, str]:
        image = table["x"].icon().pixmap(32, 32).toImage()
        colours = [image.pixelColor(x, y) for x in range(32) for y in range(32)]
        inks = {colour.name() for colour in colours if colour.alpha() == 255}
        return bytes(image.constBits()), max(inks, key=lambda ink: ink in (LIGHT.text, DARK.text))

    waits, ink = picture()
    assert ink == LIGHT.text
    assert (table["x"].toolTip(), table["x"].statusTip()) == ("Let it wait.", "Let it wait.")
    paused = True
    table.refresh()
    goes_on, _ink = picture()
    assert goes_on != waits, "the icon is that of what it does now"
    assert (table["x"].toolTip(), table["x"].statusTip()) == ("Go on", "")
    window.theme.choose(ThemeChoice.DARK)
    assert picture()[1] == DARK.text
