"""What stays on this machine for a report, a start without anything stored, and settings as a file."""

from __future__ import annotations

import json
import logging
import stat
import subprocess
import sys
from datetime import datetime, timedelta
from itertools import count
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QSettings
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from counterfoil.cli import main as command_line
from counterfoil_app import main
from counterfoil_app.desktop.startup import draw_in_software
from counterfoil_app.engine.worker import Failure
from counterfoil_app.model.journal import Journal, Kind
from counterfoil_app.model.settings import Settings, ThemeChoice
from counterfoil_app.model.settings_file import SettingsFileError, export_settings, read_settings, take
from counterfoil_app.shell import preferences, records
from counterfoil_app.shell.crash import ExceptionDialog, failure_of
from counterfoil_app.shell.preferences import PreferencesDialog
from counterfoil_app.shell.records import Records
from support.fake_engine import FakeEngine


def store(folder: Path, name: str) -> Settings:
    return Settings(QSettings(str(folder / f"{name}.ini"), QSettings.Format.IniFormat))


# The log and the reports


def test_the_log_is_written_line_by_line_for_this_user_alone(qapp: Any, tmp_path: Path) -> None:
    journal = Journal()
    kept = Records(journal, tmp_path / "window")
    journal.note(Kind.NOTE, "A run was opened.")
    journal.note(Kind.ERROR, "It \ud800 failed.", "one\ntwo")
    kept.close()
    journal.note(Kind.NOTE, "Nobody writes this.")
    lines = (tmp_path / "window" / records.LOG_NAME).read_text(encoding="utf-8").splitlines()
    assert [line.endswith("A run was opened.") for line in lines] == [True, False, False, False]
    assert [line.strip() for line in lines[2:]] == ["one", "two"]
    assert stat.S_IMODE((tmp_path / "window" / records.LOG_NAME).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "window").stat().st_mode) == 0o700


def test_the_log_rotates(qapp: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "LOG_BYTES", 1000)
    journal = Journal()
    kept = Records(journal, tmp_path)
    for number in range(200):
        journal.note(Kind.NOTE, f"Line {number} of many.")
    kept.close()
    logs = sorted(tmp_path.glob(f"{records.LOG_NAME}*"))
    assert len(logs) == 1 + records.LOG_FILES
    assert all(log.stat().st_size <= 1000 and stat.S_IMODE(log.stat().st_mode) == 0o600 for log in logs)
    assert "Line 199" in (tmp_path / records.LOG_NAME).read_text()


def test_where_nothing_can_be_written_the_window_goes_on(qapp: Any, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    journal = Journal()
    kept = Records(journal, file / "below")
    journal.note(Kind.NOTE, "A run was opened.")
    assert kept.keep(Failure("sentence", "", "detail", expected=False)) is None
    kept.close()


def test_a_report_holds_what_happened_versions_and_the_last_lines(qapp: Any, tmp_path: Path) -> None:
    journal = Journal()
    journal.note(Kind.NOTE, "A run was opened.")
    kept = Records(journal, tmp_path)
    try:
        raise ZeroDivisionError("by \x1b[31mzero")
    except ZeroDivisionError as error:
        path = kept.keep(failure_of(error))
    kept.close()
    assert path is not None
    text = path.read_text()
    assert "ZeroDivisionError" in text
    assert "Counterfoil: " in text
    assert "A run was opened." in text
    assert "\x1b" not in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_oldest_reports_go(qapp: Any, tmp_path: Path) -> None:
    moments = (datetime(2026, 1, 1) + timedelta(seconds=number) for number in count())
    kept = Records(Journal(), tmp_path, now=lambda: next(moments))
    made = [kept.keep(Failure(f"Error {number}", "", "", expected=False)) for number in range(records.MOST_REPORTS + 5)]
    kept.close()
    assert sorted(tmp_path.glob("error-*.txt")) == made[5:]


def test_an_unexpected_error_is_shown_with_the_file_that_holds_it(window_of: Any, qtbot: QtBot, tmp_path: Path) -> None:
    window = window_of(FakeEngine())
    window.shell.keep_records(tmp_path / "kept")
    window.shell.show_exception(Failure("It failed.", "", "Traceback: here", expected=False))
    dialog = window.findChild(ExceptionDialog)
    (path,) = (tmp_path / "kept").glob("error-*.txt")
    assert dialog.kept.text() == f"Nothing was sent. The details are kept on this machine: {path}"
    assert "Traceback: here" in path.read_text()
    window.shell.show_exception(Failure("It failed again.", "", "Traceback: there", expected=False))
    assert len(list((tmp_path / "kept").glob("error-*.txt"))) == 2
    dialog.reject()


def test_the_log_of_the_command_line_is_left_alone(qapp: Any, tmp_path: Path) -> None:
    before = [*logging.getLogger("counterfoil").handlers], [*logging.getLogger().handlers]
    kept = Records(Journal(), tmp_path)
    kept.close()
    assert ([*logging.getLogger("counterfoil").handlers], [*logging.getLogger().handlers]) == before
    assert not any(isinstance(each, RotatingFileHandler) for each in logging.getLogger("counterfoil.window").handlers)


ENDED = """
import os, sys
from pathlib import Path
from counterfoil_app.model.journal import Journal
from counterfoil_app.shell.records import Records
kept = Records(Journal(), Path(sys.argv[1]))
print(kept.watch_faults())
if sys.argv[2] == "abort":
    os.abort()
kept.close()
"""


def test_where_a_signal_ended_the_window_is_kept_and_said_at_the_next_start(
    window_of: Any, qtbot: QtBot, tmp_path: Path
) -> None:
    def start(how: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", "-c", ENDED, str(tmp_path / "kept"), how]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert start("well").returncode == 0
    assert not (tmp_path / "kept" / records.FAULTS_NAME).exists()
    assert start("abort").returncode < 0
    assert "Fatal Python error: Aborted" in (tmp_path / "kept" / records.FAULTS_NAME).read_text()
    window = window_of(FakeEngine())
    window.shell.keep_records(tmp_path / "kept")
    (report,) = (tmp_path / "kept").glob("error-*.txt")
    assert "Fatal Python error: Aborted" in report.read_text()
    assert any(str(report) in entry.message for entry in window.shell.journal)
    assert start("well").stdout.strip() == "None"


# Safe mode


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, qapp: Any) -> list[dict[str, Any]]:
    """What a start of the window asked for, without its event loop; the user's store lies in the test's folder."""
    seen: list[dict[str, Any]] = []
    made = main.make_window

    def make(**given: Any) -> Any:
        window = made(**{**given, "engine": FakeEngine()})
        seen.append({**given, "window": window})
        return window

    monkeypatch.setattr(main, "make_window", make)
    monkeypatch.setattr(main, "spare_the_collector", lambda: None)
    monkeypatch.setattr(main, "records_folder", lambda: tmp_path / "records")
    monkeypatch.setattr(QApplication, "exec", staticmethod(lambda: 0))
    monkeypatch.setattr(
        Settings, "_stored", staticmethod(lambda: QSettings(str(tmp_path / "user.ini"), QSettings.Format.IniFormat))
    )
    return seen


@pytest.mark.parametrize("safe", [False, True])
def test_safe_mode_starts_without_anything_that_is_stored(
    safe: bool, started: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("QT_OPENGL", "QT_XCB_GL_INTEGRATION", "LIBGL_ALWAYS_SOFTWARE"):
        monkeypatch.delenv(name, raising=False)
    stored = store(tmp_path, "user")
    stored.theme = ThemeChoice.DARK
    stored.auditor_name = "Ada"
    stored.store.sync()
    (tmp_path / "cases.json").write_text("damaged")
    drawn: list[bool] = []
    monkeypatch.setattr(main.startup, "draw_in_software", lambda environment: drawn.append(True))
    assert command_line(["gui", *(["--safe-mode"] if safe else [])]) == 0
    (start,) = started
    window, settings = start["window"], start["settings"]
    try:
        assert (settings.auditor_name == "") is safe
        assert (settings.theme is ThemeChoice.SYSTEM) is safe
        assert (settings.config_folder == tmp_path) is not safe
        assert any("Safe mode" in entry.message for entry in window.shell.journal) is safe
        assert drawn == [True] * safe
        settings.auditor_name = "Grace"
        settings.store.sync()
        assert store(tmp_path, "user").auditor_name == ("Ada" if safe else "Grace")
    finally:
        window.shell.close()
        window.session.shut_down()
        window.deleteLater()
        # At once: a timer of its that comes later would begin a job anew.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert (tmp_path / "records" / records.LOG_NAME).is_file()


def test_drawing_in_software_is_asked_of_qt_and_mesa() -> None:
    environment: dict[str, str] = {}
    draw_in_software(environment)
    assert environment == {"QT_OPENGL": "software", "QT_XCB_GL_INTEGRATION": "none", "LIBGL_ALWAYS_SOFTWARE": "1"}


# Settings as a file


def test_settings_come_back_from_their_file(qapp: Any, tmp_path: Path) -> None:
    settings = store(tmp_path, "one")
    settings.theme, settings.language, settings.text_percent = ThemeChoice.DARK, "de", 150
    settings.threads, settings.workers, settings.notify = 3, 4, False
    settings.auditor_name, settings.searches = "Ada Lovelace \u00e9", ("match:no",)
    settings.key_file = tmp_path / "key.pem"
    data = export_settings(settings)
    assert b"key.pem" not in data
    other = store(tmp_path, "two")
    take(read_settings(data), other)
    assert export_settings(other) == data
    assert export_settings(store(tmp_path, "three")) != data


FINE = json.loads(
    """{"counterfoil_settings": 1, "theme": "dark", "language": "", "text_percent": 100, "device": "cuda:0",
    "threads": null, "workers": 1, "stay_awake": true, "notify": true, "auditor_name": "", "searches": []}"""
)


@pytest.mark.parametrize(
    "change",
    [
        {"theme": "pink"}, {"theme": None}, {"language": "../x"}, {"text_percent": 110}, {"device": "mps"},
        {"threads": 0}, {"threads": 10**9}, {"threads": True}, {"workers": "4"}, {"workers": 65}, {"notify": 1},
        {"auditor_name": "a" * 401}, {"searches": ["x"] * 9}, {"searches": "x"}, {"unknown": 1},
        {"counterfoil_settings": 2},
    ],
    ids=str,
)  # fmt: skip
def test_a_file_with_a_value_that_no_setting_has_is_refused_whole(change: dict[str, Any]) -> None:
    assert read_settings(json.dumps(FINE).encode()).device == "cuda:0"
    with pytest.raises(SettingsFileError, match="no settings that can be used"):
        read_settings(json.dumps({**FINE, **change}).encode())


@pytest.mark.parametrize("field", FINE)
def test_a_file_without_one_of_the_settings_is_refused(field: str) -> None:
    with pytest.raises(SettingsFileError):
        read_settings(json.dumps({name: value for name, value in FINE.items() if name != field}).encode())


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b'{"theme": "dark", "theme": "dark"}', b" " * 70_000])
def test_what_is_no_settings_file_is_refused(data: bytes) -> None:
    with pytest.raises(SettingsFileError):
        read_settings(data)


def test_the_preferences_export_and_import(
    window_of: Any, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    window = window_of(FakeEngine())
    path = tmp_path / "taken.json"
    monkeypatch.setattr(preferences, "new_file", lambda *given, **named: path)
    monkeypatch.setattr(preferences, "existing_file", lambda *given, **named: path)
    settings.auditor_name = "Ada"
    dialog = PreferencesDialog(settings, window.session, window)
    dialog.hand_on.click()
    held = json.loads(path.read_text())
    assert held["auditor_name"] == "Ada"
    path.write_text(json.dumps({**held, "theme": "pink"}))
    dialog.bring.click()
    assert "no settings that can be used" in dialog.hint.text()
    path.write_text(json.dumps({**held, "theme": "dark", "workers": 7, "auditor_name": "Grace", "device": "cuda:7"}))
    dialog.bring.click()
    assert dialog.workers.value() == 7
    assert settings.workers == 1
    dialog.ok.click()
    assert (settings.workers, settings.theme, settings.auditor_name) == (7, ThemeChoice.DARK, "Grace")
    assert settings.device != "cuda:7"
