"""Hundreds of files are handed to the window: it says how far it is, can be stopped, and leaves none out."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from counterfoil_app.shell.window import MainWindow
from support.fake_engine import FakeEngine

MANY = 1_200


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    made = [tmp_path / f"run-{number:04}.cfoil" for number in range(MANY)]
    for path in made:
        path.touch()
    return made


def look_at(window: MainWindow, engine: FakeEngine, qtbot: QtBot, paths: list[Path]) -> None:
    """Let some be looked at, and no more."""
    engine.looking_halt = 5
    engine.inspect_gate.clear()
    window.open_files(paths)
    qtbot.waitUntil(lambda: window.dropping.incoming.looked.done == 5)
    engine.looking_halt = None


def test_how_far_it_is_is_shown_and_nothing_is_left_out(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot, paths: list[Path]
) -> None:
    assert not window.incoming.isVisible()
    look_at(window, engine, qtbot, paths)
    shown = window.incoming
    assert shown.isVisible()
    assert "of 1,200 files looked at" in shown.headline.text()
    assert shown.newest.text().count("is a run.") == 4
    assert 0 < shown.bar.value() < MANY
    engine.looking_gate.set()
    qtbot.waitUntil(lambda: len(window.queue.entries) == MANY, timeout=30_000)
    assert [entry.path for entry in window.queue.entries] == paths, "in the order in which they were dropped"
    assert not shown.isVisible()


def test_it_is_stopped_and_uses_none(window: MainWindow, engine: FakeEngine, qtbot: QtBot, paths: list[Path]) -> None:
    look_at(window, engine, qtbot, paths)
    with qtbot.waitSignal(window.dropping.placed) as placed:
        window.incoming.cancel.click()
    assert placed.args == ["Stopped: none of the 1200 files is used."]
    assert not window.incoming.isVisible()
    engine.looking_gate.set()
    window.open_files(paths[:2])
    qtbot.waitUntil(lambda: len(window.queue.entries) == 2, timeout=30_000)


def test_what_comes_meanwhile_is_looked_at_next(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot, paths: list[Path]
) -> None:
    look_at(window, engine, qtbot, paths[:9])
    window.open_files(paths[20:23])
    engine.open_gates()
    qtbot.waitUntil(lambda: len(window.queue.entries) == 12, timeout=30_000)


def test_a_window_that_is_closed_looks_at_no_more(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot, paths: list[Path]
) -> None:
    look_at(window, engine, qtbot, paths)
    window.close()
    assert not window.dropping.incoming.working
    qtbot.waitUntil(lambda: not window.session.busy)
    assert not window.queue.entries
