"""Garbage is collected in the thread of the window alone."""

from __future__ import annotations

import gc
import threading

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from counterfoil_app.desktop import collector
from counterfoil_app.desktop.collector import Collector


class Cycle:
    """Notes in which thread it is collected."""

    def __init__(self, seen: list[str]) -> None:
        self.me = self
        self.seen = seen

    def __del__(self) -> None:
        self.seen.append(threading.current_thread().name)


def make_garbage(seen: list[str], count: int) -> None:
    for _ in range(count):
        Cycle(seen)


def test_what_another_thread_leaves_is_collected_in_this_one(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "LOOK_MILLISECONDS", 1)
    seen: list[str] = []
    gc.enable()
    control = threading.Thread(target=make_garbage, args=(seen, 200_000), name="another")
    control.start()
    control.join()
    assert "another" in seen, "Python collects wherever it is: else nothing would be shown"
    parent = QObject()
    collects = Collector(parent)
    try:
        assert not gc.isenabled()
        gc.collect()
        seen.clear()
        other = threading.Thread(target=make_garbage, args=(seen, 5_000), name="another")
        other.start()
        other.join()
        assert seen == []
        qtbot.waitUntil(lambda: len(seen) >= 5_000)
        assert set(seen) == {threading.main_thread().name}
    finally:
        collects.stop()
    assert gc.isenabled()
    gc.disable()
