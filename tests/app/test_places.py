"""What lies elsewhere: a file at an address, and a machine; and everything that Open takes."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from counterfoil import CancelToken, CounterfoilError
from counterfoil_app.engine.port import FetchProgress
from counterfoil_app.engine.process import ProcessEngine
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell import places
from counterfoil_app.shell.places import PlaceDialog
from counterfoil_app.shell.window import MainWindow
from support.fake_engine import FakeEngine
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


def test_it_says_how_much_of_a_file_has_come(
    window: MainWindow, engine: FakeEngine, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    settings.folder = tmp_path
    engine.gate.clear()
    dialog = ask(window, "open_address", "https://example.org/a/run.cfoil")
    assert dialog.bar.maximum() == 0, "nobody knows how far it is"
    qtbot.waitUntil(lambda: dialog.bar.value() == 250)
    assert (dialog.bar.maximum(), dialog.bar.text()) == (1000, "25 %: 256.0 KiB of 1.0 MiB")
    threads = threading.active_count()
    dialog.reject()
    qtbot.waitUntil(lambda: threading.active_count() < threads)
    assert not dialog.reaching.working
    assert not (tmp_path / "run.cfoil").exists()


def test_the_time_that_is_left_follows_from_the_speed(
    window: MainWindow, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    engine.gate.clear()
    dialog = ask(window, "open_address", "https://example.org/a/run.cfoil")
    qtbot.waitUntil(lambda: dialog.bar.value() == 250)
    begun, threads = time.monotonic(), threading.active_count()
    for seconds, done in ((1, 2**18), (3, 2**19)):
        monkeypatch.setattr(places, "time", SimpleNamespace(monotonic=lambda now=begun + seconds: now))
        dialog.reaching._show(FetchProgress(done, 2**20))
        dialog.reaching.changed.emit()
    assert dialog.bar.text().startswith("50 %: 512.0 KiB of 1.0 MiB, ")
    assert dialog.bar.text().endswith(" s left")
    dialog.reaching._show(FetchProgress(2**21, 0))
    dialog.reaching.changed.emit()
    assert (dialog.bar.maximum(), dialog.reaching.seconds_left) == (0, None), "a server need not say how much there is"
    dialog.reject()
    qtbot.waitUntil(lambda: threading.active_count() < threads)


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
    monkeypatch.setattr(places, "_greet", lambda _far: ())
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
        served.lie = lambda _, data: (time.sleep(0.4), data)[1]
        *told, last = engine.fetch(served.url, target, CancelToken())
        assert last == target
        assert target.read_bytes() == b"a run"
        assert told, "control: it took a while"
        assert {(type(one), one.total) for one in told} == {(FetchProgress, 5)}
    with pytest.raises(CounterfoilError) as gone:
        list(engine.fetch(served.url, tmp_path / "second", CancelToken()))
    assert str(gone.value)
    assert not (tmp_path / "second").exists()
    engine.close()
