"""Stopping keeps what was judged: the replay goes on from there, at once or after the window was opened again."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from counterfoil import Outcome, SegmentRequest
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.process import ProcessEngine
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.progress import AwakeClock, RateMeter
from counterfoil_app.shell.window import MainWindow
from support.fake_engine import FakeEngine
from support.job_fixtures import once, trainer_key
from support.jobs import Job, digits_order, record_job
from support.waiting import reached

__all__ = ["once", "trainer_key"]
MakeWindow = Callable[[Engine], MainWindow]
LEFT = Qt.MouseButton.LeftButton
LONG = 40
"""Steps of a run whose replay does not end before its process is killed in the seventh."""


def stop_after(window: MainWindow, steps: int, engine: FakeEngine, qtbot: QtBot) -> None:
    """Replay, and stop when so many steps are there."""
    engine.halt = steps + 1
    window.commands["replay"].trigger()
    qtbot.waitUntil(lambda: window.session.steps.done == steps, timeout=60_000)
    window.commands["stop"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=60_000)
    engine.halt = None
    engine.gate.set()


def test_stop_offers_to_go_on(opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    window, session = opened, opened.session
    assert not window.commands["go_on"].isEnabled()
    stop_after(window, 12, engine, qtbot)
    assert session.report is not None
    assert session.report.outcome is Outcome.INCONCLUSIVE
    kept = session.kept
    assert kept is not None
    assert window.header.primary.shown is window.commands["go_on"]
    assert window.header.primary.text() == "Resume"
    assert window.commands["verdict"].isEnabled()
    assert window.commands["replay"].text() == "&Replay"
    assert (
        f"{kept.segments} of 12 segments with {kept.judged} judged steps, the last of them step {kept.step}."
        in window.header.sentence.text()
    )
    window.header.primary.click()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=60_000)
    assert [plan.resume for plan in engine.plans] == [False, True]
    assert session.report.outcome is Outcome.VERIFIED
    assert [row.step for row in session.steps.rows()] == list(range(1, 61)), "what was judged before is shown too"
    assert session.kept is None
    assert not window.commands["go_on"].isEnabled()
    assert window.commands["replay"].text() == "&Replay"


def test_start_anew_begins_at_the_beginning(opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    stop_after(opened, 12, engine, qtbot)
    opened.commands["replay"].trigger()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED), timeout=60_000)
    assert [plan.resume for plan in engine.plans] == [False, False]


def test_another_device_or_plan_has_progress_of_its_own(
    opened: MainWindow, engine: FakeEngine, qtbot: QtBot, bundle: Path
) -> None:
    window, session = opened, opened.session
    stop_after(window, 12, engine, qtbot)
    assert window.commands["go_on"].isEnabled()
    session.device = "cuda:0"
    assert not window.commands["go_on"].isEnabled()
    session.device = "cpu"
    qtbot.waitUntil(window.commands["go_on"].isEnabled)
    session.use_segments(SegmentRequest(count=2))
    assert not window.commands["go_on"].isEnabled()
    session.use_segments(SegmentRequest())
    qtbot.waitUntil(window.commands["go_on"].isEnabled)
    # The file is opened again: what is kept of it is found.
    window.open_bundle(bundle)
    assert not window.commands["go_on"].isEnabled()
    qtbot.waitUntil(window.commands["go_on"].isEnabled)
    assert session.phase is Phase.READY
    assert window.header.primary.shown is window.commands["go_on"]
    assert window.commands["replay"].isEnabled()
    assert "A replay was stopped." in window.header.sentence.text()


def test_time_left_does_not_count_what_an_earlier_replay_did(
    opened: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    stop_after(opened, 40, engine, qtbot)
    kept = opened.session.kept
    assert kept is not None
    engine.gate.clear()
    opened.commands["go_on"].trigger()
    qtbot.waitUntil(lambda: opened.session.steps.done >= kept.step, timeout=60_000)
    qtbot.wait(700)
    assert opened.session.progress.rate is None, "nothing new was replayed yet"
    engine.gate.set()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED), timeout=60_000)


def test_the_time_asleep_does_not_count() -> None:
    """Eight hours of sleep in the middle of a replay of one step a second, looked at thirty times a second."""

    def rate_after(sleep: float, clock: AwakeClock | None) -> float:
        meter, now, done = RateMeter(), 100.0, 0.0
        for look in range(300):
            now += sleep if look == 150 else 1 / 30
            done += 1 / 30
            if clock is not None:
                clock.look(now)
            meter.note(now if clock is None else clock.seconds, done)
        rate = meter.steps_per_second
        assert rate is not None
        return rate

    assert rate_after(8 * 3600, AwakeClock()) == pytest.approx(1.0, rel=0.02)
    assert rate_after(1 / 30, AwakeClock()) == pytest.approx(1.0, rel=0.02)
    assert rate_after(8 * 3600, None) < 0.001, "control: a clock that ran on"


@pytest.fixture(scope="module")
def job(trainer_key, tmp_path_factory: pytest.TempPathFactory) -> Job:
    return record_job(tmp_path_factory.mktemp("long"), digits_order(steps=LONG, checkpoint_every=2), trainer_key)


@pytest.mark.slow
def test_the_real_engine_dies_and_the_window_is_opened_again(window_of: MakeWindow, job: Job, qtbot: QtBot) -> None:
    engine = ProcessEngine()
    first = window_of(engine)
    first.open_bundle(job.run, job.order)
    qtbot.waitUntil(reached(first, Phase.READY), timeout=60_000)
    qtbot.waitUntil(lambda: not first.session.checking, timeout=60_000)
    first.commands["replay"].trigger()
    qtbot.waitUntil(lambda: first.session.steps.done >= 6, timeout=60_000)
    assert engine.process_id is not None
    os.kill(engine.process_id, signal.SIGKILL)
    qtbot.waitUntil(reached(first, Phase.FAILED), timeout=60_000)
    qtbot.waitUntil(first.commands["go_on"].isEnabled, timeout=60_000)
    assert first.header.primary.shown is first.commands["go_on"]
    first.session.shut_down()
    second = window_of(ProcessEngine())
    second.open_bundle(job.run, job.order)
    qtbot.waitUntil(second.commands["go_on"].isEnabled, timeout=60_000)
    kept = second.session.kept
    assert kept is not None
    second.commands["go_on"].trigger()
    qtbot.waitUntil(reached(second, Phase.CONCLUDED), timeout=120_000)
    report = second.session.report
    assert report is not None
    assert report.outcome is Outcome.VERIFIED, report.reason
    assert [row.step for row in second.session.steps.rows()] == list(range(1, LONG + 1))
    assert second.session.resumed_from == kept.step
