"""Ctrl-C in the terminal that started the window."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from counterfoil_app.desktop.interrupts import STOPPED, Interrupts
from counterfoil_app.model.session import Phase
from support.fake_engine import FakeEngine
from support.waiting import reached

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a process does not send itself Ctrl-C there")


@pytest.fixture
def python_has_it() -> Any:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_it_closes_the_window(window_of: Any, qtbot: QtBot, python_has_it: None) -> None:
    window = window_of(FakeEngine())
    window.show()
    interrupts = Interrupts(window)
    press()
    qtbot.waitUntil(lambda: not window.isVisible())
    interrupts.uninstall()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_it_asks_while_something_runs_and_ends_it_when_pressed_again(
    window_of: Any, qtbot: QtBot, bundle: Path, python_has_it: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = FakeEngine()
    engine.halt = 12
    window = window_of(engine)
    window.show()
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(lambda: window.session.running)
    ended: list[int] = []
    monkeypatch.setattr(QApplication, "exit", staticmethod(ended.append))
    interrupts = Interrupts(window)
    press()
    qtbot.waitUntil(lambda: window.findChild(QMessageBox, "stop-question") is not None)
    assert window.isVisible()
    assert not ended
    press()
    qtbot.waitUntil(lambda: ended == [STOPPED])
    interrupts.uninstall()


def test_where_it_is_ignored_it_stays_so(window_of: Any) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        interrupts = Interrupts(window_of(FakeEngine()))
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        interrupts.uninstall()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_process_of_the_program_leaves_it_to_whoever_started_it() -> None:
    from counterfoil.talk.programs import program_command

    command = program_command("counterfoil.audit.boxed.inside")
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    try:
        for _ in range(20):
            if Path(f"/proc/{process.pid}/status").exists() and ignored(process.pid):
                break
            threading.Event().wait(0.1)
        assert ignored(process.pid)
        process.send_signal(signal.SIGINT)
    finally:
        _, said = process.communicate()
    assert (process.returncode, said) == (0, b"")


def ignored(pid: int) -> bool:
    (line,) = (one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith("SigIgn"))
    return bool(int(line.split()[1], 16) >> (signal.SIGINT - 1) & 1)
