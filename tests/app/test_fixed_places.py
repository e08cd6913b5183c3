"""A button keeps its place and its meaning while things load: a click does what was aimed at, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from tests.app.conftest import MakeWindow
from tests.app.test_files_find_their_places import capsule_dialog, drop, made
from tests.app.test_nothing_misleads import idle

from counterfoil import CheckNumber, Kept, SegmentRequest
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.checks import Door
from counterfoil_app.views.header import GUARD_MILLISECONDS, ActionButton
from counterfoil_app.views.inquiry import DeliveryDialog
from support.fake_engine import FakeEngine
from support.waiting import reached

LEFT = Qt.MouseButton.LeftButton


def places(window: MainWindow) -> dict[str, tuple[QPoint, str]]:
    """Where each control of the replay stands and what it is called, and the height of what is above it."""
    if not window.transport.isVisible():
        return {}
    found = {
        name: (button.mapTo(window, QPoint(0, 0)), button.accessibleName())
        for name, button in window.transport.buttons.items()
    }
    return {**found, "header": (QPoint(0, window.header.height()), "")}


def test_no_control_of_the_replay_moves_or_changes(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    """Through opening, a stopped replay that is found, a replay, a pause, its end, and a file that is refused."""
    engine = FakeEngine(data_file="digits.cfdata")
    window = window_of(engine)
    engine.progress["cpu", SegmentRequest()] = Kept(Path("progress"), 2, 12, 10, 10)
    engine.inspect_gate.clear()
    window.open_bundle(bundle)
    qtbot.waitUntil(lambda: window.header.isVisible())
    seen: list[dict[str, tuple[QPoint, str]]] = []
    window.session.phase_changed.connect(lambda: seen.append(places(window)))
    engine.inspect_gate.set()
    qtbot.waitUntil(reached(window, Phase.READY))
    idle(window, qtbot)
    seen.append(places(window))
    window.session.use_data(bundle.with_name("digits.cfdata"))
    qtbot.waitUntil(window.commands["go_on"].isEnabled)
    engine.halt = 20
    window.commands["replay"].trigger()
    qtbot.waitUntil(lambda: window.session.steps.done >= 19)
    window.commands["pause"].trigger()
    seen.append(places(window))
    window.commands["go_on"].trigger()
    engine.open_gates()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    idle(window, qtbot)
    seen.append(places(window))
    engine.failing = (CheckNumber.ORDER_CONTENTS,)
    window.session.open(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    idle(window, qtbot)
    seen.append(places(window))
    assert window.header.primary.shown is window.commands["conclude"]
    shown = [each for each in seen if each]
    assert len(shown) > 8
    assert len(shown[0]) == 5
    assert all(each == shown[0] for each in shown)
    assert window.header.height() <= 90


def test_a_click_meant_for_pause_signs_nothing(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    """The one button becomes that of another action: what was aimed at the first does nothing for a moment."""
    engine = FakeEngine(halt=20)
    window = window_of(engine)
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    button = window.header.primary
    qtbot.waitUntil(lambda: button.settled, timeout=10 * GUARD_MILLISECONDS)
    qtbot.mouseClick(button, LEFT)
    assert button.shown is window.commands["pause"]
    assert not button.settled
    qtbot.mouseClick(button, LEFT)
    assert window.session.phase is not Phase.PAUSED, "a second click of a double click"
    qtbot.waitUntil(lambda: button.settled, timeout=10 * GUARD_MILLISECONDS)
    qtbot.mouseClick(button, LEFT)
    qtbot.waitUntil(reached(window, Phase.PAUSED))
    engine.open_gates()


def test_a_button_that_has_just_moved_takes_no_click(qtbot: QtBot) -> None:
    """Among things that grow: a click that was meant for what stood there does nothing."""
    done: list[bool] = []
    outer = QWidget()
    qtbot.addWidget(outer)
    column = QVBoxLayout(outer)
    action = QAction("Do it", outer)
    action.triggered.connect(lambda: done.append(True))
    above, button = QWidget(), ActionButton(action, guarded=True)
    column.addWidget(above)
    column.addWidget(button)
    column.addStretch(1)
    outer.resize(300, 300)
    outer.show()
    qtbot.waitExposed(outer)
    qtbot.waitUntil(lambda: button.settled, timeout=10 * GUARD_MILLISECONDS)
    qtbot.mouseClick(button, LEFT)
    assert len(done) == 1
    above.setFixedHeight(90)
    column.activate()
    assert not button.settled
    qtbot.mouseClick(button, LEFT)
    assert len(done) == 1
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert len(done) == 2, "the keyboard aims at the button and not at a place"
    qtbot.waitUntil(lambda: button.settled, timeout=10 * GUARD_MILLISECONDS)
    qtbot.mouseClick(button, LEFT)
    assert len(done) == 3


@pytest.mark.parametrize("kind", ["capsule", "weights"])
def test_start_and_stop_have_places_of_their_own(
    opened: MainWindow, engine: FakeEngine, tmp_path: Path, qtbot: QtBot, kind: str
) -> None:
    def where(button: QPushButton) -> tuple[QPoint, str]:
        assert button.isVisible()
        return button.pos(), button.text()

    engine.gate.clear()
    if kind == "capsule":
        drop(opened, qtbot, *made(tmp_path, "dispute.capsule.cfoil"))
        dialog = capsule_dialog(opened)
        before = where(dialog.start), where(dialog.stop), where(dialog.sign)
        qtbot.mouseClick(dialog.start, LEFT)
        assert (where(dialog.start), where(dialog.stop), where(dialog.sign)) == before
        assert (dialog.start.isEnabled(), dialog.stop.isEnabled()) == (False, True)
        engine.open_gates()
        qtbot.waitUntil(lambda: dialog.hearing.report is not None)
        assert (where(dialog.start), where(dialog.stop), where(dialog.sign)) == before
        return
    opened.open_files(made(tmp_path, "model.safetensors"))
    qtbot.waitUntil(lambda: bool(opened.findChildren(DeliveryDialog)))
    weights = opened.findChildren(DeliveryDialog)[0]
    qtbot.waitUntil(lambda: weights.delivery.working)
    now = where(weights.start), where(weights.stop)
    assert (weights.start.isEnabled(), weights.stop.isEnabled()) == (False, True)
    engine.open_gates()
    qtbot.waitUntil(lambda: weights.delivery.found is not None)
    assert (where(weights.start), where(weights.stop)) == now
    assert (weights.start.isEnabled(), weights.stop.isEnabled()) == (True, False)


def test_naming_and_accepting_a_key_have_places_of_their_own(
    opened: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot
) -> None:
    panel = opened.run.trainer_key
    assert panel.keep.isVisible()
    assert panel.accept.isVisible()
    assert not panel.accept.isEnabled()
    engine.key = "another"
    opened.session.open(bundle)
    qtbot.waitUntil(reached(opened, Phase.READY))
    idle(opened, qtbot)
    assert panel.accept.isEnabled()
    assert panel.keep.isVisible()
    assert not panel.keep.isEnabled()
    assert not panel.name.isEnabled()
    assert opened.header.trust.doors[Door.TRAINER].accessibleName() == "Trainer: CHANGED"
