"""A replay with workers, as the window shows it."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from counterfoil import Device, LocalWorkers, WorkerState
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.workers import WorkersDialog
from support.fake_engine import FakeEngine
from support.waiting import reached

CREW = (
    WorkerState(1, "node-1", "cuda:0", segment=4, segments=3, steps=17, seconds=10.0),
    WorkerState(2, "node-1", "cuda:1", segments=2, steps=10, seconds=10.0),
    WorkerState(3),
    WorkerState(4, trouble="No CUDA device can be used on this machine."),
)


def test_the_header_says_what_each_does(opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.crew = CREW
    opened.session.workers = 4
    engine.halt = 12
    opened.commands["replay"].trigger()
    qtbot.waitUntil(lambda: opened.session.steps.done == 11)
    assert engine.plans[-1].workers == LocalWorkers(4)
    shown = opened.transport.progress
    assert "1 of 4 workers" in shown.text()
    assert opened.session.progress.done == 27, "steps of segments that are not whole count too"
    assert shown.toolTip().split("\n") == [
        "1: segment 4; 3 segments, 1.7 steps/s",
        "2: waiting; 2 segments, 1.0 steps/s",
        "3: opening the run",
        "4: No CUDA device can be used on this machine.",
    ]
    engine.gate.set()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))


def test_of_two_gpus_both_are_offered_and_workers_take_them_in_turn(
    opened: MainWindow, engine: FakeEngine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    cards = Device("cuda:0", "NVIDIA H200", ""), Device("cuda:1", "NVIDIA L4", "")
    monkeypatch.setattr(FakeEngine, "devices", lambda _self: (Device("cpu", "CPU", ""), *cards))
    with qtbot.waitSignal(opened.session.devices_changed):
        opened.session.look_for_devices()
    offered = [action.text() for action in opened.menus.device_menu.actions()]
    assert offered[1:] == ["cuda:0: NVIDIA H200", "cuda:1: NVIDIA L4"]
    opened.session.workers = 4
    for device, in_turn in (("cuda:1", ("cuda:1", "cuda:0")), ("cpu", ())):
        next(action for action in opened.menus.device_menu.actions() if action.text().startswith(device)).trigger()
        assert opened.session.device == device
        opened.commands["replay"].trigger()
        qtbot.waitUntil(reached(opened, Phase.CONCLUDED))
        assert (engine.plans[-1].device, engine.plans[-1].workers) == (device, LocalWorkers(4, in_turn))


def test_a_replay_without_workers_shows_none(opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.crew = CREW
    engine.halt = 12
    opened.commands["replay"].trigger()
    qtbot.waitUntil(lambda: opened.session.steps.done == 11)
    assert engine.plans[-1].workers is None
    assert "workers" not in opened.transport.progress.text()
    assert not opened.transport.progress.toolTip()
    engine.gate.set()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))


def test_a_table_says_where_each_is_and_how_fast(opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    assert not opened.commands["workers"].isEnabled()
    engine.crew = CREW
    opened.session.workers = 4
    engine.halt = 12
    opened.commands["replay"].trigger()
    qtbot.waitUntil(lambda: opened.session.steps.done == 11)
    opened.commands["workers"].trigger()
    (dialog,) = opened.findChildren(WorkersDialog)
    model = dialog.workers.model
    lines = [[model.index(row, column).data() for column in range(model.columnCount())] for row in range(4)]
    assert lines == [
        ["1", "node-1", "cuda:0", "4", "3", "17", "1.7 steps/s"],
        ["2", "node-1", "cuda:1", "waiting", "2", "10", "1.0 steps/s"],
        ["3", "not ready", "", "opening the run", "0", "0", ""],
        ["4", "not ready", "", "No CUDA device can be used on this machine.", "0", "0", ""],
    ]
    assert dialog.workers.together.text() == "1 of 4 workers replay; together 27 steps, 2.7 steps/s."
    engine.gate.set()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))
    assert model.rowCount() == 4, "what each did stays in view"
