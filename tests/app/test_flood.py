"""A run of very many steps, and very many events, from an engine far faster than any real one."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from counterfoil import AuditRequest, CancelToken, Event, OperatorDone, StepReplayed
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.session import ROWS_PER_POLL
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.divergence import Shown
from support.fake_engine import FakeEngine
from support.waiting import reached

EVENTS = 300_000
MakeWindow = Callable[[FakeEngine], MainWindow]


# A hundred thousand take the same ways as ten thousand, ten times as long.
@pytest.mark.parametrize("count", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_tens_of_thousands_of_steps(count: int, window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    disputed = count * 7 // 10 + 1
    window = window_of(FakeEngine(steps=count, disputed=disputed))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY), timeout=30_000)
    model = window.steps.model
    assert model.rowCount() == count
    assert model.index(count - 1, 1).data() == "not replayed"

    beats: list[int] = []
    heart = QTimer(window)
    heart.timeout.connect(lambda: beats.append(window.session.steps.done))
    heart.start(0)
    changes: list[int] = []
    model.dataChanged.connect(lambda first, last: changes.append(last.row() - first.row() + 1))
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=120_000)
    heart.stop()

    assert sum(changes) == count, "every step is announced once, in ranges"
    assert max(changes) <= ROWS_PER_POLL, "no look takes more than its share"
    assert len(changes) < count / 100, "steps are announced in ranges, not one by one"
    seen_while_running = {done for done in beats if 0 < done < count}
    assert len(seen_while_running) >= count // ROWS_PER_POLL // 2, "the event loop lived between the looks"

    assert [row + 1 for row in range(count) if model.index(row, 1).data() == "mismatch"] == [disputed]
    window.steps.show_step(count)
    assert window.steps.table.currentIndex().row() == count - 1
    assert window.session.selected_step == count
    view = window.divergence
    view.redraw()
    assert view.markers[0].selected.value() == count
    view.show_plot(Shown.LOSS)
    drawn = [len(curve.line.getData()[0]) for curve in view.series]
    assert max(drawn) <= 2 * view.curves.getViewBox().width(), "what is drawn depends on the pixels, not on the steps"
    highest = view.series[1].band.boundingRect().bottom()
    assert highest == max(row.replay_loss for row in window.session.steps.rows()), "the highest peak is kept"
    assert len(window.strip.stretches()) < 20, "equal neighbours are merged"


@dataclass
class ChattyEngine(FakeEngine):
    """Says again and again where a step stands."""

    def audit(self, plan: AuditRequest, cancel: CancelToken) -> Iterator[Event]:
        for event in super().audit(plan, cancel):
            if isinstance(event, StepReplayed) and event.row.step == 30:
                for done in range(EVENTS):
                    yield OperatorDone(30, done, EVENTS)
            yield event


@pytest.mark.slow
def test_hundreds_of_thousands_of_events_take_no_memory(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
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
    # The events alone would take more than 30 MB if they were kept.
    assert peak - before < 16 * 2**20
    assert window.session.steps.done == 60
