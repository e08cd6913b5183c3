"""Views by keys, mnemonics that differ, and windows for small and large screens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QLabel,
    QMenu,
    QTabBar,
    QTabWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot
from tests.app.test_reach import clipped, outside

from counterfoil_app.looks.fonts import apply_text_size
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.window import MainWindow, first_size
from counterfoil_app.views import frame
from counterfoil_app.views.frame import Frame
from counterfoil_app.views.inquiry import CapsuleDialog
from counterfoil_app.views.parts import Page
from support.docks import views_in_front
from support.fake_engine import FakeEngine
from support.waiting import reached

MakeWindow = Callable[[FakeEngine], MainWindow]
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
VIEWS = ["dispute", "steps", "divergence", "merkle", "checks", "run", "log"]


def has_keyboard(window: MainWindow) -> str | None:
    focus = QApplication.focusWidget()
    return next((name for name, dock in window.docks.items() if focus is not None and dock.isAncestorOf(focus)), None)


@pytest.fixture
def active(opened: MainWindow, qtbot: QtBot) -> MainWindow:
    opened.resize(1350, 700)
    opened.desk.restore()
    qtbot.waitUntil(lambda: [bar.count() for bar in opened.desk.findChildren(QTabBar)] == [7])
    opened.activateWindow()
    opened.header.primary.setFocus()
    qtbot.waitUntil(opened.header.primary.hasFocus)
    return opened


def test_ctrl_and_a_number_shows_a_view_and_never_hides_it(active: MainWindow, qtbot: QtBot) -> None:
    for key, name in enumerate(VIEWS, start=1):
        for _again in range(2):
            QTest.keyClick(active, Qt.Key(Qt.Key.Key_0 + key), CTRL)
            qtbot.waitUntil(lambda name=name: name in views_in_front(active))
            assert has_keyboard(active) == name
    assert all(dock.toggleViewAction().isChecked() for dock in active.docks.values())
    active.docks["log"].close()
    QTest.keyClick(active, Qt.Key.Key_7, CTRL)
    qtbot.waitUntil(lambda: "log" in views_in_front(active))
    QTest.keyClick(active, Qt.Key.Key_0, CTRL)
    QTest.keyClick(active, Qt.Key.Key_0, CTRL)
    assert active.queue_dock.isVisible()


def test_whatever_keys_are_listed_are_heard_in_the_window(active: MainWindow) -> None:
    """An action that stands in no menu, and was added to no widget, has keys that do nothing."""
    listed = [action for _, action in active.menus.commands() if not action.shortcut().isEmpty()]
    assert len(listed) > 30
    for action in listed:
        holders = [one for one in action.associatedObjects() if isinstance(one, QWidget)]
        heard = any(one is active or one.parent() is active.menuBar() for one in holders)
        assert heard, f"{action.text()}: {action.shortcut().toString()}"


def test_ctrl_tab_goes_round_the_views(active: MainWindow, qtbot: QtBot) -> None:
    seen = []
    for _ in range(len(VIEWS) + 1):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab, CTRL)
        seen.append(has_keyboard(active))
    assert seen == [*VIEWS, VIEWS[0]]
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Backtab, CTRL | SHIFT)
    assert has_keyboard(active) == "log"
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_W, CTRL)
    assert not active.docks["log"].toggleViewAction().isChecked()
    assert sum(dock.toggleViewAction().isChecked() for dock in active.docks.values()) == 6


def test_tab_reaches_the_row_of_tabs_and_arrows_turn_it(active: MainWindow, qtbot: QtBot) -> None:
    for _ in range(300):
        focus = QApplication.focusWidget()
        assert focus is not None
        if isinstance(focus, QTabBar):
            break
        QTest.keyClick(focus, Qt.Key.Key_Tab)
    assert isinstance(focus, QTabBar)
    assert focus.accessibleName()
    focus.setCurrentIndex(0)
    QTest.keyClick(focus, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: "steps" in views_in_front(active))


# Mnemonics


def letters(texts: list[str]) -> Counter[str]:
    plain = [text.replace("&&", "") for text in texts]
    return Counter(text[text.index("&") + 1].casefold() for text in plain if "&" in text[:-1])


def menus(menu: QWidget) -> Iterator[QMenu]:
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            yield inner
            yield from menus(inner)


def mnemonics(top: QWidget) -> list[str]:
    """The texts whose letters work while a window is shown."""
    texts = [part.text() for part in top.findChildren(QAbstractButton) if part.isVisibleTo(top)]
    texts += [part.text() for part in top.findChildren(QLabel) if part.buddy() is not None]
    for tabs in top.findChildren(QTabWidget):
        texts += [tabs.tabText(place) for place in range(tabs.count())]
    return texts


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_letter_stands_for_two_things(
    settings: Settings, window_of: MakeWindow, bundle: Path, qtbot: QtBot, language: str
) -> None:
    settings.language = language
    window = window_of(FakeEngine(disputed=37))

    def doubles() -> dict[str, int]:
        texts = [action.text() for action in window.menuBar().actions()] + mnemonics(window)
        return {letter: count for letter, count in letters(texts).items() if count > 1}

    def in_menus() -> dict[str, list[str]]:
        found = {}
        for menu in menus(window.menuBar()):
            texts = [action.text() for action in menu.actions() if action.isVisible()]
            if any(count > 1 for count in letters(texts).values()):
                found[menu.title()] = texts
        return found

    assert doubles() == {}
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.queue_dock.show()
    assert (doubles(), in_menus()) == ({}, {})
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    assert (doubles(), in_menus()) == ({}, {})
    for name in ("preferences", "verdict", "shortcuts", "about", "ledger", "locate"):
        window.commands[name].trigger()
    for dialog in window.findChildren(QDialog):
        if dialog.isVisible():
            found = letters(mnemonics(dialog))
            assert max(found.values(), default=1) == 1, (type(dialog).__name__, found)
            dialog.reject()
    qtbot.waitUntil(lambda: not window.session.busy)


# Sizes


@pytest.fixture
def text_size_again(qapp: QApplication) -> Iterator[None]:
    yield
    apply_text_size(qapp, 100)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("percent", "enlarged"), [(100, "text"), (150, "text"), (150, "all"), (200, "all")])
@pytest.mark.parametrize("language", ["en", "de"])
def test_the_window_fits_a_small_screen(
    settings: Settings,
    window_of: MakeWindow,
    bundle: Path,
    qtbot: QtBot,
    percent: int,
    enlarged: str,
    language: str,
    text_size_again: None,
) -> None:
    """1366 x 768 with a task bar, with larger text and with everything enlarged."""
    settings.language = language
    if enlarged == "text":
        settings.text_percent = percent
    # A display of 150 % has that much less room.
    room = QSize(1366 - 16, 768 - 40 - 40) / (1 if enlarged == "text" else percent / 100)
    window = window_of(FakeEngine(disputed=37))
    window.resize(room)
    assert window.size() == room
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.commands["replay"].trigger()
    qtbot.waitUntil(lambda: window.session.progress.replayed > 0)
    transport = window.transport
    words = transport.progress.fontMetrics().horizontalAdvance(transport.progress.text())
    assert words + window.strip.legend_width <= window.strip.width(), "how far it is lies over no legend"
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    assert clipped(window.home) == []
    for name in VIEWS:
        window.commands[f"show_{name}"].trigger()
        QApplication.processEvents()
        assert window.size() == room, f"{name} needs more"
        assert clipped(window.desk) == [], name
        around = window.docks[name].widget()
        assert isinstance(around, Frame)
        pages = [around, *around.findChildren(Page)]
        assert [page.horizontalScrollBar().maximum() for page in pages] == [0] * len(pages), f"{name} is cut off"
    assert clipped(window.header) == []


@pytest.mark.sampled(1)
@pytest.mark.parametrize("language", ["en", "de"])
def test_dialogs_fit_a_screen_on_which_everything_is_twice_as_large(
    settings: Settings,
    window_of: MakeWindow,
    bundle: Path,
    qtbot: QtBot,
    language: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    room = QSize(1366, 768) / 2 - frame.WINDOW_FRAME
    monkeypatch.setattr(frame, "room_for", lambda _window: room)
    settings.language = language
    window = window_of(FakeEngine(disputed=37))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    seen = set()

    def look() -> None:
        qtbot.waitUntil(lambda: not window.session.busy)
        for dialog in window.findChildren(QDialog):
            if dialog.isVisible():
                seen.add(type(dialog).__name__)
                assert dialog.size().boundedTo(room) == dialog.size(), type(dialog).__name__
                assert outside(dialog) == [], type(dialog).__name__
                dialog.reject()

    for name in ("plan", "preferences", "shortcuts", "about"):
        window.commands[name].trigger()
        look()
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED))
    for name in ("verdict", "results"):
        window.commands[name].trigger()
        look()
    window.open_capsule(bundle.with_name("dispute.capsule.cfoil"))
    (capsule,) = window.findChildren(CapsuleDialog)
    capsule.hearing.start()
    qtbot.waitUntil(lambda: capsule.hearing.report is not None)
    look()
    verdict = bundle.with_name("v.json")
    verdict.write_text("{}")
    window.verdicts.read(verdict)
    look()
    assert len(seen) == 8, seen
    window.commands["help"].trigger()
    page = window.shell._help
    assert page is not None
    assert page.size().boundedTo(room) == page.size()


@pytest.mark.parametrize(
    ("screen", "expected"),
    [
        (QSize(1366, 728), QSize(1350, 688)),
        (QSize(2560, 1400), QSize(2048, 1120)),
        (QSize(1920, 1040), QSize(1536, 832)),
        (QSize(911, 485), QSize(895, 445)),
    ],
)
def test_the_first_size_fits_the_screen(screen: QSize, expected: QSize) -> None:
    assert first_size(screen) == expected


def test_a_large_window_shows_steps_beside_plots(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window = window_of(FakeEngine())
    window.resize(first_size(QSize(2560, 1400)))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    window.desk.restore()
    qtbot.waitUntil(lambda: {"steps", "divergence"} <= views_in_front(window))
    docks = window.docks
    assert docks["steps"].geometry().right() < docks["divergence"].geometry().left()
    qtbot.waitUntil(lambda: abs(docks["steps"].width() - docks["divergence"].width()) < 40)
