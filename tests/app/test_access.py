"""The window for who does not see it, or has no mouse: names, roles, and whole jobs by the keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

import counterfoil
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.order_plan import Stage
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.handover_dialog import HandOverDialog
from counterfoil_app.verdict.signing_dialog import SigningDialog
from counterfoil_app.views.difference import DifferenceDialog
from counterfoil_app.views.parts import Folded
from counterfoil_app.views.providers import ProvidersDialog
from counterfoil_app.views.recording_forms import FollowForm, RecordForm
from support.access import check_stops, controls, described, nameless, spoken
from support.fake_engine import FakeEngine
from support.waiting import reached

MakeWindow = Callable[[FakeEngine], MainWindow]
VIEWS = ("dispute", "steps", "divergence", "merkle", "checks", "run", "log")
RUNS = [Path(f"/providers/{name}.cfoil") for name in ("aurora", "lying-boreas", "delta")]


@pytest.fixture
def disputed(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> MainWindow:
    """A window with a run that was found to lie."""
    window = window_of(FakeEngine(disputed=37))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    qtbot.waitUntil(lambda: not window.session.busy)
    return window


def in_front(window: QWidget, qtbot: QtBot) -> None:
    """Give the window the keyboard, as a window manager does when it is shown, or the one above it is closed."""
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)


def press(key: Qt.Key, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Press a key where the keyboard is."""
    target = QApplication.focusWidget() or QApplication.activeWindow()
    assert target is not None
    QTest.keyClick(target, key, keys)


def tab_to(top: QWidget, button: QWidget) -> None:
    """Reach something by Tab alone."""
    for _ in range(400):
        if button.hasFocus():
            return
        press(Qt.Key.Key_Tab)
    raise AssertionError(f"Tab does not reach {described(button)} in {type(top).__name__}")


def shown(window: QWidget, kind: type[QDialog], qtbot: QtBot) -> QDialog:
    """The dialog of a kind, once it is there and has the keyboard."""
    found: list[QDialog] = []

    def there() -> bool:
        found[:] = [each for each in QApplication.topLevelWidgets() if isinstance(each, kind) and each.isVisible()]
        return bool(found) and found[0].isAncestorOf(QApplication.focusWidget() or window)

    qtbot.waitUntil(there)
    return found[0]


def left(dialog: QDialog, window: QWidget, qtbot: QtBot) -> None:
    """Escape closes it, and the keyboard is in the window that it came from."""
    press(Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not isValid(dialog) or not dialog.isVisible(), timeout=5_000)
    in_front(window, qtbot)
    qtbot.waitUntil(lambda: window.isAncestorOf(QApplication.focusWidget() or QWidget()))


# Names


def test_everything_in_the_main_window_has_a_name(disputed: MainWindow, qtbot: QtBot) -> None:
    window, found = disputed, set(nameless(disputed))
    window.queue_dock.show()
    for name in VIEWS:
        window.commands[f"show_{name}"].trigger()
        for fold in window.findChildren(Folded):
            fold.button.setChecked(True)
        QApplication.processEvents()
        found |= set(nameless(window))
    window.commands["home"].trigger()
    assert sorted(found) == []


def test_everything_on_the_desk_has_a_name(disputed: MainWindow, qtbot: QtBot) -> None:
    disputed.session.leave()
    qtbot.waitUntil(lambda: disputed.stack.currentWidget() is disputed.home)
    qtbot.waitUntil(lambda: bool(disputed.home.list.rows))
    disputed.home.list.rows[0].files.button.setChecked(True)
    QApplication.processEvents()
    assert nameless(disputed) == []


DIALOGS = (
    "preferences", "about", "shortcuts", "help", "verdict", "results", "keys", "plan",
    "ledger", "locate", "facts", "rules", "compare_providers", "compare_bundles", "order_training",
    "follow_recording",
)  # fmt: skip


def test_everything_in_each_dialog_has_a_name(disputed: MainWindow, bundle: Path, qtbot: QtBot) -> None:
    window, found = disputed, {}

    def look() -> None:
        QApplication.processEvents()
        for top in QApplication.topLevelWidgets():
            if top is not window and top.isVisible() and not isinstance(top, QMenu):
                for fold in top.findChildren(Folded):
                    fold.button.setChecked(True)
                QApplication.processEvents()
                if lacking := nameless(top):
                    found[type(top).__name__] = lacking
                for inner in top.findChildren(QDialog):
                    inner.close()
                top.close()

    opened = 0
    for name in DIALOGS:
        if window.commands[name].isEnabled():
            window.commands[name].trigger()
            opened += 1
            qtbot.waitUntil(lambda: not window.session.busy)
            look()
    assert opened >= 10, opened
    page = window.recordings.show()
    for form in (window.recordings.ask_record(again=False), window.recordings.ask_follow()):
        qtbot.waitExposed(form)
        if lacking := nameless(form):
            found[type(form).__name__] = lacking
        form.reject()
    page.close()
    window.open_capsule(bundle.with_name("dispute.capsule.cfoil"))
    look()
    verdict = bundle.with_name("v.json")
    verdict.write_text("{}")
    window.verdicts.read(verdict)
    qtbot.waitUntil(lambda: not window.session.busy)
    look()
    assert found == {}


# Whole jobs by the keyboard alone


def test_a_run_is_opened_replayed_stopped_resumed_signed_and_handed_over(
    window: MainWindow, engine: FakeEngine, bundle: Path, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_front(window, qtbot)
    home = window.home.cards.of
    buttons = [button for card in home.values() for button in card.buttons]
    given = next(button for button in buttons if button.shown is window.commands["open"])
    check_stops(window)
    monkeypatch.setattr("counterfoil_app.shell.files.existing_files", lambda *_given, **_more: [bundle])
    tab_to(window, given)
    press(Qt.Key.Key_Space)
    qtbot.waitUntil(reached(window, Phase.READY))
    check_stops(window)
    engine.halt = 13
    tab_to(window, window.header.primary)
    press(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: window.session.steps.done == 12)
    tab_to(window, window.transport.buttons["stop"])
    press(Qt.Key.Key_Space)
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    engine.halt = None
    engine.open_gates()
    assert window.header.primary.shown is window.commands["go_on"]
    tab_to(window, window.header.primary)
    press(Qt.Key.Key_Space)
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    qtbot.waitUntil(lambda: window.session.kept is None and not window.session.busy)
    assert window.header.primary.shown is window.commands["name_trainer"]
    tab_to(window, window.header.primary)
    press(Qt.Key.Key_Space)
    assert window.run.trainer_key.name.hasFocus()
    QTest.keyClicks(window.run.trainer_key.name, "Trainwell")
    press(Qt.Key.Key_Return)
    assert window.header.primary.shown is window.commands["compare"]
    window.commands["verdict"].trigger()
    signing = shown(window, SigningDialog, qtbot)
    assert isinstance(signing, SigningDialog)
    qtbot.waitUntil(lambda: not window.session.busy)
    check_stops(signing)
    tab_to(signing, signing.key)
    signing.key.selectAll()
    QTest.keyClicks(signing.key, str(tmp_path / "keys" / "auditor.pem"))
    tab_to(signing, signing.ok)
    with qtbot.waitSignal(window.session.exports.finished):
        press(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not isValid(signing) or not signing.isVisible())
    in_front(window, qtbot)
    engine.signer = counterfoil.load_public_key(tmp_path / "keys" / "auditor.pub.pem").public
    qtbot.waitUntil(lambda: not window.session.busy)
    assert window.header.primary.shown is window.commands["hand_over"]
    tab_to(window, window.header.primary)
    press(Qt.Key.Key_Space)
    handing = shown(window, HandOverDialog, qtbot)
    assert isinstance(handing, HandOverDialog)
    check_stops(handing)
    left(handing, window, qtbot)
    assert window.header.primary.hasFocus(), "where one was"


def test_an_order_is_made(window: MainWindow, settings: Settings, tmp_path: Path, qtbot: QtBot) -> None:
    settings.folder = tmp_path
    in_front(window, qtbot)
    (client, *_others) = window.home.cards.of.values()
    tab_to(window, client.buttons[0])
    press(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: window.orders.wizard is not None and window.orders.wizard.isActiveWindow())
    wizard = window.orders.wizard
    assert wizard is not None
    for stage in (Stage.WHAT, Stage.DATA, Stage.SETTINGS, Stage.TRY):
        assert wizard.stage is stage
        qtbot.waitUntil(lambda: not window.session.busy)
        QApplication.processEvents()  # what a page makes when it is entered is shown in the next turn
        check_stops(wizard)
        tab_to(wizard, wizard.next)
        press(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: wizard.ordering.written is not None)
    tab_to(wizard, wizard.next)
    press(Qt.Key.Key_Space)
    assert wizard.stage is Stage.SAVE
    check_stops(wizard)
    tab_to(wizard, wizard.saving.save)
    press(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: wizard.saved is not None)
    check_stops(wizard)
    tab_to(wizard, wizard.record)
    press(Qt.Key.Key_Space)
    form = shown(window, RecordForm, qtbot)
    assert isinstance(form, RecordForm)
    assert form.order.text() == str(tmp_path / "digits-cnn-order.cfoil")
    assert form.run.text() == str(tmp_path / "digits-cnn-order.run.cfoil")
    assert form.ok.isEnabled()


def test_a_recording_is_begun_and_followed(window: MainWindow, qtbot: QtBot) -> None:
    in_front(window, qtbot)
    press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    page = window.recordings.page
    assert page is not None
    qtbot.waitUntil(page.isActiveWindow)
    check_stops(page)
    for button, kind in ((page.record, RecordForm), (page.follow, FollowForm)):
        tab_to(page, button)
        press(Qt.Key.Key_Space)
        form = shown(page, kind, qtbot)
        check_stops(form)
        left(form, page, qtbot)
        assert button.hasFocus()
    left(page, window, qtbot)


def test_runs_are_compared(window: MainWindow, qtbot: QtBot) -> None:
    in_front(window, qtbot)
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    press(Qt.Key.Key_R, control | shift)
    providers = shown(window, ProvidersDialog, qtbot)
    assert isinstance(providers, ProvidersDialog)
    providers.comparison.add(RUNS)
    check_stops(providers)
    for _ in range(2):
        tab_to(providers, providers.start)
        press(Qt.Key.Key_Space)
        qtbot.waitUntil(lambda: not providers.comparison.working)
    assert "EXPOSED" in providers.headline.text()
    found = check_stops(providers)
    assert providers.matrix in found
    left(providers, window, qtbot)
    press(Qt.Key.Key_D, control | shift)
    difference = shown(window, DifferenceDialog, qtbot)
    assert isinstance(difference, DifferenceDialog)
    difference.difference.choose(Path("/runs/cpu.cfoil"), Path("/runs/gpu.cfoil"))
    qtbot.waitUntil(lambda: not difference.difference.working)
    check_stops(difference)
    left(difference, window, qtbot)


def test_a_dispute_is_looked_into(disputed: MainWindow, qtbot: QtBot) -> None:
    window = disputed
    in_front(window, qtbot)
    press(Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.dispute.isAncestorOf(QApplication.focusWidget() or window))
    folds = [fold for fold in window.dispute.findChildren(Folded) if fold.isVisible()]
    assert len(folds) >= 2
    for fold in folds:
        tab_to(window, fold.button)
        if not fold.button.isChecked():
            press(Qt.Key.Key_Space)
        qtbot.waitUntil(lambda: not window.session.busy)
        assert fold.button.isChecked()
        name, _role = spoken(fold.button)
        assert name
    check_stops(window)


def test_each_view_lets_the_keyboard_out_again(disputed: MainWindow, qtbot: QtBot) -> None:
    in_front(disputed, qtbot)
    for key, _name in enumerate(VIEWS, start=1):
        press(Qt.Key(Qt.Key.Key_0 + key), Qt.KeyboardModifier.ControlModifier)
        QApplication.processEvents()
        check_stops(disputed)


def test_the_test_finds_what_has_no_name(window: MainWindow, qtbot: QtBot) -> None:
    button = QPushButton(window.home)
    button.show()
    assert len(nameless(window)) == 1
    button.setText("Named")
    assert nameless(window) == []
    assert button in list(controls(window))
