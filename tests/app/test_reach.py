"""Everything is reached by menu and keyboard, nothing is clipped in large text, and nothing is left behind."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDialog,
    QDockWidget,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QWidget,
)
from pytestqt.qtbot import QtBot

from counterfoil_app.driver.capture import wait_until
from counterfoil_app.looks.fonts import TEXT_POINTS, apply_text_size
from counterfoil_app.main import make_window
from counterfoil_app.model.case_file import FileKind
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.signing_dialog import SigningDialog
from counterfoil_app.views.header import ShortenedText
from counterfoil_app.views.parts import ElidedLabel
from counterfoil_core.signing.subject import Subject
from support.docks import in_front
from support.fake_engine import FakeEngine, digest
from support.message_boxes import click_in_box
from support.waiting import reached

MakeWindow = Callable[[FakeEngine], MainWindow]


# Menu and keyboard

MOST_ENTRIES = 48
"""Of all menus together: who looks for something reads them all; what is rarer is in the palette."""


def leaves(menu: QWidget) -> Iterator[tuple[QMenu, QAction]]:
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            yield from leaves(inner)
        elif not action.isSeparator():
            assert isinstance(menu, QMenu)
            yield menu, action


def test_arrow_keys_reach_every_action_of_the_menus(opened: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(opened.session.devices_changed):
        opened.session.look_for_devices()
    reached: set[QAction] = set()
    for menu in {id(menu): menu for menu, _action in leaves(opened.menuBar())}.values():
        menu.popup(QPoint(0, 0))
        for _ in range(2 * len(menu.actions())):
            QTest.keyClick(menu, Qt.Key.Key_Down)
            active = menu.activeAction()
            if active is not None:
                reached.add(active)
        menu.close()
    everything = {action for _menu, action in leaves(opened.menuBar())}
    missing = [action.text() for action in everything if action.isEnabled() and action not in reached]
    assert missing == []
    assert 30 <= len(everything) - len(opened.menus.recent_menu.actions()) <= MOST_ENTRIES
    found = {action for _where, action in opened.menus.commands()}
    assert set(opened.actions()) | everything <= found, "an action of the window that the palette does not find"


def test_every_menu_opens_by_a_letter_of_its_own(opened: MainWindow) -> None:
    titles = [action.text() for action in opened.menuBar().actions()]
    letters = [title[title.index("&") + 1].casefold() for title in titles]
    assert len(letters) == len(set(letters)) == len(titles)


SHORTCUTS = [
    ("open", "Ctrl+O"),
    ("replay", "F5"),
    ("pause", "F6"),
    ("stop", "Shift+F5"),
    ("verdict", "Ctrl+E"),
    ("table", "Ctrl+Shift+E"),
    ("quit", "Ctrl+Q"),
]


def test_shortcuts_trigger_their_actions(opened: MainWindow, qtbot: QtBot) -> None:
    names = [name for name, _keys in SHORTCUTS if name != "quit"]
    actions = opened.commands.several(*names, "help", "preferences", "shortcuts", "honest_sample")
    assert [opened.commands["replay"].shortcut().toString(), opened.commands["stop"].shortcut().toString()] == [
        "F5",
        "Shift+F5",
    ]
    for action in actions:
        heard: list[QAction] = []
        action.setEnabled(True)
        action.triggered.disconnect()
        action.triggered.connect(lambda _checked=False, action=action, heard=heard: heard.append(action))
        sequence = action.shortcut()
        assert not sequence.isEmpty(), action.text()
        opened.activateWindow()
        QTest.keySequence(opened, sequence)
        assert heard == [action], f"{sequence.toString()} does not reach {action.text()}"


def test_tab_reaches_every_control_of_the_header_and_comes_back(opened: MainWindow, qtbot: QtBot) -> None:
    opened.activateWindow()
    opened.header.primary.setFocus()
    qtbot.waitUntil(opened.header.primary.hasFocus)
    seen: list[QWidget] = []
    for _ in range(200):
        focus = QApplication.focusWidget()
        assert focus is not None
        if focus in seen:
            break
        seen.append(focus)
        QTest.keyClick(focus, Qt.Key.Key_Tab)
    assert focus is seen[0], "the tab order is a circle"
    doors, controls = opened.header.trust.doors.values(), opened.transport.buttons.values()
    usable = {control for control in controls if control.isEnabled()}
    assert {opened.header.primary, *doors, *usable, opened.steps.table} <= set(seen)
    assert all(widget.isVisible() for widget in seen)


# Large text


def clipped(top: QWidget) -> list[str]:
    """What needs more room than it has: wrapped labels by height, one-line labels and buttons by width."""
    found = []
    for part in top.findChildren(QWidget):
        if not part.isVisibleTo(top) or isinstance(part, (ElidedLabel, ShortenedText)) or _is_behind_another_tab(part):
            continue
        if isinstance(part, QLabel) and part.text():
            if part.wordWrap():
                short = part.heightForWidth(part.width()) - part.height()
            else:
                short = part.sizeHint().width() - part.width()
            if short > 1:
                found.append(f"{part.text()!r} lacks {short} pixels")
        if isinstance(part, (QPushButton, QComboBox)) and part.sizeHint().height() - part.height() > 1:
            found.append(f"{part.accessibleName()!r} is too low")
        if isinstance(part, QPushButton) and not part.property("link") and part.sizeHint().width() > part.width() + 1:
            found.append(f"{part.text()!r} is too narrow")
    return found


def _is_behind_another_tab(part: QWidget) -> bool:
    """Whether the dock of a widget is not in front, so that nothing has given it its size yet."""
    parent: QWidget | None = part
    while parent is not None and not isinstance(parent, QDockWidget):
        parent = parent.parentWidget()
    return parent is not None and not in_front(parent)


def outside(top: QWidget) -> list[str]:
    """Controls that stick out of the window and stand in nothing that scrolls."""
    found = []
    for part in top.findChildren(QAbstractButton):
        if not part.isVisible() or not part.text():
            continue
        parent = part.parentWidget()
        while parent is not None and parent is not top and not isinstance(parent, QScrollArea):
            if isinstance(parent, QDockWidget) and not in_front(parent):
                break  # behind another tab, where Qt keeps it somewhere outside
            parent = parent.parentWidget()
        place = part.mapTo(top, QPoint(0, 0))
        if parent is top and not top.rect().contains(part.rect().translated(place)):
            found.append(part.text())
    return found


@pytest.fixture
def text_size(qapp: QApplication, settings: Settings) -> Iterator[Callable[[int], None]]:
    def choose(percent: int) -> None:
        settings.text_percent = percent

    yield choose
    apply_text_size(qapp, 100)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("percent", [100, 200])
@pytest.mark.parametrize("language", ["en", "de"])
def test_nothing_is_clipped(
    text_size: Callable[[int], None],
    settings: Settings,
    window_of: MakeWindow,
    bundle: Path,
    qtbot: QtBot,
    percent: int,
    language: str,
) -> None:
    text_size(percent)
    settings.language = language
    window = window_of(FakeEngine(disputed=37))
    about = Subject(digest("order"), digest("run"), "ab" * 32)
    window.cases.note(digest("order"), FileKind.RUN, bundle, about=about, title="Digits")
    window.resize(1366, 768)
    qtbot.wait(50)
    wait_until(lambda: not clipped(window), 5.0)  # wrapped text gets its height in later turns
    assert clipped(window) == []
    assert outside(window) == []
    window.shell.show_preferences()
    window.shell.show_about()
    for dialog in window.findChildren(QDialog):
        qtbot.waitUntil(dialog.isVisible)
        qtbot.wait(20)
        assert clipped(dialog) == [], type(dialog).__name__
        dialog.reject()
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=20_000)
    qtbot.wait(50)
    wait_until(lambda: not clipped(window), 5.0)  # wrapped text gets its height in later turns
    assert clipped(window) == []
    assert outside(window) == []


@pytest.mark.sampled(1)
@pytest.mark.parametrize("percent", [150, 200])
def test_the_sentence_that_one_signs_is_never_cut(
    text_size: Callable[[int], None],
    settings: Settings,
    window_of: MakeWindow,
    bundle: Path,
    qtbot: QtBot,
    percent: int,
) -> None:
    text_size(percent)
    settings.language = "de"
    window = window_of(FakeEngine(disputed=37))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    window.commands["verdict"].trigger()
    (dialog,) = window.findChildren(SigningDialog)
    qtbot.waitUntil(dialog.isVisible)
    qtbot.waitUntil(lambda: dialog.what.text().startswith("Sie unterschreiben"))
    sentence, head = dialog.what, dialog.head
    for width in (dialog.width(), 640):
        dialog.resize(width, dialog.height())
        qtbot.waitUntil(lambda: sentence.height() >= sentence.heightForWidth(sentence.width()))
        left = sentence.mapTo(head.viewport(), QPoint(0, 0)).x()
        assert left + sentence.width() <= head.viewport().width()
        seen = head.viewport().height() + head.verticalScrollBar().maximum()
        assert seen >= sentence.height(), "what is not seen at once is reached by scrolling"
        assert sentence.text().startswith("Sie unterschreiben")
    dialog.reject()


def test_clipping_is_noticed(qtbot: QtBot) -> None:
    """The control of the test above."""
    top = QWidget()
    qtbot.addWidget(top)
    text = QLabel("a long text that does not fit into so little room", top)
    text.setWordWrap(True)
    button = QPushButton("a long text", top)
    top.show()
    text.setGeometry(0, 0, 60, 10)
    button.setGeometry(0, 40, 20, 40)
    assert len(clipped(top)) == 2
    button.setGeometry(top.width() - 5, 0, 100, 40)
    assert outside(top) == ["a long text"]


def test_text_size_is_of_the_windows_own(qapp: QApplication) -> None:
    for percent in (200, 150, 100):
        apply_text_size(qapp, percent)
        assert qapp.font().pointSizeF() == pytest.approx(TEXT_POINTS * percent / 100)


# Nothing left behind


def use_and_close(settings: Settings, bundle: Path, qtbot: QtBot) -> None:
    """A whole session of a user, with every dialog, until the window is closed and deleted."""
    window = make_window(engine=FakeEngine(disputed=37), settings=settings)
    window.show()
    window.session.look_for_devices()
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=20_000)
    for action in (
        window.commands["help"],
        window.commands["preferences"],
        window.commands["shortcuts"],
        window.commands["about"],
        window.commands["verdict"],
    ):
        action.trigger()
    assert len([widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]) >= 5
    for dialog in window.findChildren(QDialog):
        dialog.reject()
    qtbot.waitUntil(lambda: not window.session.busy)  # the preview of the verdict
    assert not window.close(), "the result is not signed"
    click_in_box(window, "unsigned-question", "Close without signing")
    assert not window.isVisible()

    def running() -> list[str]:
        timers = [timer for timer in window.findChildren(QTimer) if timer.isActive()]
        return [f"{timer.parent()} {timer.interval()}" for timer in timers]

    # One that waits once, so that a picture is not drawn for every step, ends by itself.
    qtbot.waitUntil(lambda: running() == [])
    window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not shiboken6.isValid(window)


def test_a_closed_window_leaves_nothing_behind(settings: Settings, bundle: Path, qtbot: QtBot) -> None:
    gc.collect()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    before = set(QApplication.allWidgets())
    threads = set(threading.enumerate())
    use_and_close(settings, bundle, qtbot)
    gc.collect()  # pyqtgraph's plots hold each other in circles
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert set(threading.enumerate()) <= threads
    left = [widget for widget in set(QApplication.allWidgets()) - before if shiboken6.isValid(widget)]
    assert [f"{type(widget).__name__} {widget.objectName()} {getattr(widget, 'title', str)()}" for widget in left] == []


def test_closing_while_a_sample_is_recorded_waits_for_nothing(
    window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    engine.gate.clear()
    window.commands["honest_sample"].trigger()
    qtbot.waitUntil(lambda: window.home.cancel_sample.isVisible())
    window.close()
    assert not window.isVisible()
    qtbot.waitUntil(lambda: window.session.has_let_go)
    assert window.session.phase is Phase.EMPTY
