"""What lies elsewhere: a file at an address, and a machine; and everything that Open takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from counterfoil import CancelToken, CounterfoilError
from counterfoil_app.engine.process import ProcessEngine
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell import places
from counterfoil_app.shell.places import PlaceDialog
from counterfoil_app.shell.window import MainWindow
from support.servers import serving

LEFT = Qt.MouseButton.LeftButton


def ask(window: MainWindow, name: str, text: str) -> PlaceDialog:
    window.commands[name].trigger()
    dialog = window.findChildren(PlaceDialog)[-1]
    assert not dialog.start.isEnabled()
    QTest.keyClicks(dialog.line, text)
    dialog.start.click()
    return dialog


def test_a_file_at_an_address_is_copied_and_opened(
    window: MainWindow, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    settings.folder = tmp_path
    (tmp_path / "run.cfoil").touch()
    ask(window, "open_address", "https://example.org/a/run.cfoil")
    qtbot.waitUntil(lambda: window.session.path == tmp_path / "run-2.cfoil")
    assert (tmp_path / "run-2.cfoil").read_bytes() == b"fetched"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("http://", "names no file"),
        ("ftp://example.org/run.cfoil", "is no address that is read"),
        ("run.cfoil", "is no address"),
        ("ssh://", "names no machine"),
    ],
)
@pytest.mark.parametrize("name", ["open_address", "connect"])
def test_what_is_no_address_ends_in_a_sentence(window: MainWindow, name: str, text: str, said: str) -> None:
    dialog = ask(window, name, text)
    assert said in dialog.said.text()
    assert "rite" in dialog.said.text() or "ive" in dialog.said.text(), "what to do"
    assert dialog.isVisible()
    dialog.close()


def test_a_window_on_another_machine_opens_once_that_is_reached(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(places, "_greet", lambda _far: None)
    monkeypatch.setattr(places, "_open_window", opened.append)
    ask(window, "connect", "ssh://ada@gpu.example.org")
    qtbot.waitUntil(lambda: opened == ["ssh://ada@gpu.example.org"])
    monkeypatch.setattr(places, "_greet", lambda far: far.place.no_such_thing)
    dialog = ask(window, "connect", "ssh://nowhere")
    qtbot.waitUntil(lambda: dialog.reaching.failure is not None)
    assert dialog.said.text()
    assert len(opened) == 1
    dialog.close()


def test_every_kind_of_file_is_opened_by_one_entry(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = {
        "witness.log": ("witness check", "log"),
        "facts.signed": ("verify", "file"),
        "a.answer": ("check-answer", "answer"),
    }
    for name, (command, option) in wanted.items():
        (tmp_path / name).touch()
        files = [str(tmp_path / name)]
        monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_args, files=files: (files, ""))
        window.commands["open"].trigger()
        qtbot.waitUntil(lambda: bool(window.jobs.open_dialogs))
        (dialog,) = window.jobs.open_dialogs
        assert dialog.plan.command == command
        assert files[0] in dialog.plan.value(option)
        dialog.close()


def test_of_a_folder_that_was_handed_over_all_files_are_used(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    folder = tmp_path / "handed over"
    folder.mkdir()
    for name in ("run.cfoil", "readme.txt"):
        (folder / name).touch()
    window.open_files([folder])
    qtbot.waitUntil(lambda: window.session.path == folder / "run.cfoil")
    qtbot.wait(50)
    assert "readme" not in window.shell.journal.text, "what nobody reads is passed over"


def test_the_engine_copies_what_a_server_has_and_says_what_it_has_not(tmp_path: Path) -> None:
    engine, target = ProcessEngine(), tmp_path / "copy"
    with serving(b"a run") as served:
        assert list(engine.fetch(served.url, target, CancelToken())) == [target]
        assert target.read_bytes() == b"a run"
    with pytest.raises(CounterfoilError) as gone:
        list(engine.fetch(served.url, tmp_path / "second", CancelToken()))
    assert str(gone.value)
    assert not (tmp_path / "second").exists()
    engine.close()
