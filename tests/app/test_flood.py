"""A run of 100,000 steps, and a million events, from an engine far faster than any real one."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from counterfoil import AuditRequest, CancelToken, Event, OperatorDone, StepReplayed
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.session import ROWS_PER_POLL
from counterfoil_app.shell.window import MainWindow
from support.fake_engine import FakeEngine
from support.waiting import reached

STEPS = 100_000
EVENTS = 1_000_000
MakeWindow = Callable[[FakeEngine], MainWindow]


def test_a_hundred_thousand_steps(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window = window_of(FakeEngine(steps=STEPS, disputed=70_001))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY), timeout=30_000)
    model = window.steps.model
    assert model.rowCount() == STEPS
    assert model.index(STEPS - 1, 1).data() == "not replayed"

    beats: list[int] = []
    heart = QTimer(window)
    heart.timeout.connect(lambda: beats.append(window.session.steps.done))
    heart.start(0)
    changes: list[int] = []
    model.dataChanged.connect(lambda first, last: changes.append(last.row() - first.row() + 1))
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=120_000)
    heart.stop()

    assert sum(changes) == STEPS, "every step is announced once, in ranges"
    assert max(changes) <= ROWS_PER_POLL, "no look takes more than its share"
    assert len(changes) < STEPS / 100, "steps are announced in ranges, not one by one"
    seen_while_running = {count for count in beats if 0 < count < STEPS}
    assert len(seen_while_running) >= STEPS // ROWS_PER_POLL // 2, "the event loop lived between the looks"

    assert [row + 1 for row in range(STEPS) if model.index(row, 1).data() == "mismatch"] == [70_001]
    window.steps.show_step(STEPS)
    assert window.steps.table.currentIndex().row() == STEPS - 1
    assert window.session.selected_step == STEPS
    view = window.divergence
    view.redraw()
    assert view.markers[0].selected.value() == STEPS
    drawn = [len(curve.getData()[0]) for curve in (view.trainer_loss, view.replay_loss, view.log_bytes)]
    assert max(drawn) <= 2 * view.heat.getViewBox().width(), "what is drawn depends on the pixels, not on the steps"
    values = view.replay_loss.getData()[1]
    assert np.nanmax(values) == max(row.replay_loss for row in window.session.steps.rows()), "the highest peak is kept"
    assert len(window.strip.stretches()) < 20, "equal neighbours are merged"


@dataclass
class ChattyEngine(FakeEngine):
    """Says a million times where a step stands."""

    def audit(self, plan: AuditRequest, cancel: CancelToken) -> Iterator[Event]:
        for event in super().audit(plan, cancel):
            if isinstance(event, StepReplayed) and event.row.step == 30:
                for done in range(EVENTS):
                    yield OperatorDone(30, done, EVENTS)
            yield event


def test_a_million_events_take_no_memory(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window = window_of(ChattyEngine())
    window.open_bundle(bundle)
    qtbot.waitUntil(lambda: window.session.phase is Phase.READY and not window.session.busy)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        window.commands["replay"].trigger()
        qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=300_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The events alone would take more than 100 MB if they were kept.
    assert peak - before < 16 * 2**20
    assert window.session.steps.done == 60
