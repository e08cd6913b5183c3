"""Work is done piece by piece, with the event loop in between."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot
from tests.app.conftest import MakeWindow

from counterfoil_app.model.eventloop import INTERVAL_MILLISECONDS, DrawingQueue
from counterfoil_app.model.open_bundle import Phase
from support.fake_engine import FakeEngine
from support.waiting import reached


def test_each_piece_has_a_turn_of_its_own(qtbot: QtBot) -> None:
    drawing, done = DrawingQueue(), []
    beat = QTimer()
    beat.timeout.connect(lambda: done.append("beat"))
    beat.start(INTERVAL_MILLISECONDS)
    for name in "abc":
        drawing.soon(lambda name=name: done.append(name))  # type: ignore[misc]
    assert drawing.waiting
    assert done == []
    qtbot.waitUntil(lambda: not drawing.waiting)
    beat.stop()
    assert [name for name in done if name != "beat"] == ["a", "b", "c"]
    assert "beat" in done[done.index("a") : done.index("b")], "the event loop lives between them"
    assert "beat" in done[done.index("b") : done.index("c")]


def test_what_is_asked_for_twice_is_done_once(qtbot: QtBot) -> None:
    drawing, done = DrawingQueue(), []

    def work() -> None:
        done.append("work")
        if len(done) < 3:
            drawing.soon(work)  # asked for again while it is done: done again

    drawing.soon(work)
    drawing.soon(work)
    qtbot.waitUntil(lambda: not drawing.waiting)
    assert done == ["work"] * 3


def test_what_is_stopped_is_not_done(qtbot: QtBot) -> None:
    drawing, done = DrawingQueue(), []
    drawing.soon(lambda: done.append("work"))
    drawing.stop()
    assert not drawing.waiting
    qtbot.wait(10 * INTERVAL_MILLISECONDS)
    assert done == []


def test_a_failing_piece_does_not_keep_the_others(qtbot: QtBot) -> None:
    drawing, done = DrawingQueue(), []

    def fail() -> None:
        raise ValueError("a view broke")

    with qtbot.captureExceptions() as caught:
        drawing.soon(fail)
        drawing.soon(lambda: done.append("work"))
        qtbot.waitUntil(lambda: not drawing.waiting)
    assert [kind for kind, _, _ in caught] == [ValueError]
    assert done == ["work"]


def test_the_order_file_never_keeps_the_overview(
    window_of: MakeWindow, bundle: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    """Only what the client's file says of itself is waited for; its data may take long to read."""
    engine = FakeEngine()
    engine.checks_gate.clear()  # whoever reads more than the outline of a file waits here
    order = tmp_path / "job.cfoil"
    order.write_bytes(b"")
    window = window_of(engine)
    window.open_bundle(bundle, order)
    qtbot.waitUntil(reached(window, Phase.READY))
    assert window.session.client is not None
    assert window.session.checking
    engine.checks_gate.set()
    qtbot.waitUntil(lambda: not window.session.checking)
