"""A private key that stays unlocked for a while after it signed: for how long, where that lies, and what ends it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from counterfoil_app.model import unlocked_keys
from counterfoil_app.model.jobs import JOBS
from counterfoil_app.model.settings import Settings
from counterfoil_app.model.unlocked_keys import UnlockedKeys
from counterfoil_app.shell.preferences import PreferencesDialog
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.job_dialog import JobDialog
from support.fake_engine import FakeEngine

KEY = Path("/keys/auditor.pem")
SECRET = "four secret words here"


@pytest.fixture
def kept(qapp: QApplication, settings: Settings) -> UnlockedKeys:
    settings.key_minutes = 5
    unlocked = UnlockedKeys(settings)
    unlocked.keep(KEY, SECRET)
    return unlocked


def test_a_key_is_locked_after_each_use_unless_it_is_wanted_otherwise(settings: Settings) -> None:
    unlocked = UnlockedKeys(settings)
    unlocked.keep(KEY, SECRET)
    assert (settings.key_minutes, unlocked.any, unlocked.passphrase_of(KEY)) == (0, False, None)


def test_it_is_unlocked_for_so_long_as_is_said(kept: UnlockedKeys, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept.passphrase_of(KEY) == SECRET
    assert kept.passphrase_of(KEY.with_name("other.pem")) is None, "another key has its own"
    now = time.time()
    monkeypatch.setattr(unlocked_keys.time, "time", lambda: now + 290)
    assert kept.passphrase_of(KEY) == SECRET
    kept.keep(KEY, SECRET)
    monkeypatch.setattr(unlocked_keys.time, "time", lambda: now + 580)
    assert kept.passphrase_of(KEY) == SECRET, "counted from its last use"
    monkeypatch.setattr(unlocked_keys.time, "time", lambda: now + 600)
    assert kept.passphrase_of(KEY) is None, "a timer would not have run while the computer slept"
    assert not kept.any


def test_the_time_ends_by_itself(kept: UnlockedKeys, qtbot: QtBot) -> None:
    kept._end.start(1)
    with qtbot.waitSignal(kept.changed):
        pass
    assert not kept.any


def test_preferences_lock_at_once_and_write_no_passphrase(window: MainWindow, settings: Settings, qtbot: QtBot) -> None:
    settings.key_minutes = 30
    window.unlocked.keep(KEY, SECRET)
    lock = window.commands["lock_keys"]
    assert lock.isEnabled()
    settings.store.sync()
    folder = settings.config_folder
    written = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"key_minutes" in written
    assert SECRET.encode() not in written
    dialog = PreferencesDialog(settings, window.session, window)
    dialog.stored.connect(window.shell._take_settings)
    assert dialog.key_minutes.value() == 30
    dialog.key_minutes.setValue(0)
    qtbot.mouseClick(dialog.ok, Qt.MouseButton.LeftButton)
    assert (settings.key_minutes, window.unlocked.any, lock.isEnabled()) == (0, False, False)


def test_the_entry_of_the_menu_and_the_end_of_the_window_lock(window: MainWindow, settings: Settings) -> None:
    settings.key_minutes = 30
    for end in (window.commands["lock_keys"].trigger, window.close):
        window.unlocked.keep(KEY, SECRET)
        assert window.unlocked.passphrase_of(KEY) == SECRET
        end()
        assert window.unlocked.passphrase_of(KEY) is None


def test_a_second_job_asks_for_no_passphrase(
    window: MainWindow, engine: FakeEngine, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    settings.key_minutes = 10
    order, key = tmp_path / "job.cfoil", tmp_path / "client.pem"
    for path in (order, key):
        path.touch()

    def signed(typed: str) -> JobDialog:
        dialog = window.jobs.show(next(job for job in JOBS if job.name == "sign_order"), order=order)
        line = dialog.fields.controls["key"]
        assert isinstance(line, QLineEdit)
        line.setText(str(key))
        QTest.keyClicks(dialog.passphrase, typed)
        hint = dialog.passphrase.placeholderText()
        dialog.start.click()
        qtbot.waitUntil(lambda: dialog.run.result is not None)
        dialog.close()
        return hint

    hints = [signed(SECRET), signed("")]
    assert hints == ["empty if the key has none", "unlocked: nothing to type"]
    assert [passphrase for _arguments, passphrase in engine.commands] == [SECRET, SECRET]
    engine.command_code = 2
    window.unlocked.lock()
    signed("a wrong one")
    assert not window.unlocked.any, "what did not end well need not have been right"
