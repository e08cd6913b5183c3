from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication, QEvent, QSettings, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from counterfoil_app.engine.port import Engine
from counterfoil_app.looks.theme import Theme, Tokens
from counterfoil_app.main import make_window
from counterfoil_app.model import bench, inquiry, orders, session
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell import window as shell_window
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict import export, handover
from counterfoil_app.verdict.report_document import Contents
from support.fake_engine import FakeEngine
from support.waiting import reached

HERE = Path(__file__).parent
PATIENCE = 60_000
# A window looks every few hundredths of a second what its engine has to say; tests would wait for that, and idle.
session.POLL_MILLISECONDS = bench.POLL_MILLISECONDS = inquiry.LOOK_MILLISECONDS = orders.LOOK_MILLISECONDS = 5


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            # The offscreen platform says this of every window; it is no fault of ours.
            item.add_marker(
                pytest.mark.qt_log_ignore(r"This plugin does not support (propagateSizeHints\(\)|raise\(\)|grabbing)")
            )


def settings_in(folder: Path) -> Settings:
    result = Settings(QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat))
    result.language = "en"
    result.notify = result.stay_awake = False  # tests leave the developer's own desktop alone
    return result


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return settings_in(tmp_path)


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    path = tmp_path / "honest.cfoil"
    path.write_bytes(b"")
    return path


class PatientBot(QtBot):
    """Waits for a minute where nothing else is said: on a loaded machine five seconds are soon over.

    It looks again after a millisecond, and then ever more seldom: most of what is waited for is there in less than the
    ten of pytest-qt.
    """

    _pause: int | None = None

    def waitUntil(self, callback: Any, *, timeout: int = PATIENCE) -> None:  # noqa: N802 (Qt's style)
        self._pause = 1
        try:
            super().waitUntil(callback, timeout=timeout)
        finally:
            self._pause = None

    def wait(self, ms: int) -> None:
        if self._pause is not None:
            ms, self._pause = self._pause, min(self._pause + 1, ms)
        super().wait(ms)

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE, **settings: Any) -> Any:  # noqa: N802
        return super().waitSignal(signal, timeout=timeout, **settings)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    return PatientBot(request)


MakeWindow = Callable[[Engine], MainWindow]


@contextmanager
def windows(qtbot: QtBot, settings: Settings, folder: Path) -> Iterator[MakeWindow]:
    """Makes windows, shown, and takes them down completely."""
    made: list[tuple[MainWindow, Engine]] = []

    def make(engine: Engine) -> MainWindow:
        window = make_window(engine=engine, settings=settings)
        window.shell.samples.folder = window.files.sample_folder = folder / "sample"
        made.append((window, engine))
        window.show()
        qtbot.waitExposed(window)
        return window

    yield make
    for window, engine in made:
        if isinstance(engine, FakeEngine):
            engine.open_gates()
        window.shell.close()
        window.session.shut_down()
        window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def window_of(qtbot: QtBot, settings: Settings, tmp_path: Path) -> Iterator[MakeWindow]:
    with windows(qtbot, settings, tmp_path) as make:
        yield make


@pytest.fixture(scope="module")
def shared_window_of(
    qapp: QApplication, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MakeWindow]:
    """Makes windows for all tests of a file, those that only read what one shows; taken down after the last."""
    folder = tmp_path_factory.mktemp("shared")
    before = what_lives()
    with windows(PatientBot(request), settings_in(folder), folder) as make:
        yield make
    assert not left_behind(before)


@pytest.fixture
def window(window_of: MakeWindow, engine: FakeEngine) -> MainWindow:
    return window_of(engine)


@pytest.fixture
def opened(window: MainWindow, bundle: Path, qtbot: QtBot) -> MainWindow:
    """A window with the bundle open."""
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    return window


MOST_GARBAGE = 20_000
"""New objects after which a test collects what lies in cycles; to collect after each test takes minutes."""


def engine_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "counterfoil-engine"]


def left_behind(before: set[object]) -> set[object]:
    """What lives and did not before; a thread that was told to end may take a moment."""
    for thread in engine_threads():
        if thread not in before:
            thread.join(5)
    return what_lives() - before


def what_lives() -> set[object]:
    """The engine's threads, the windows and the application's timers that run."""
    found: set[object] = set(engine_threads())
    application = QApplication.instance()
    if application is not None:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        found |= {widget for widget in QApplication.topLevelWidgets() if isinstance(widget, MainWindow)}
        found |= {timer for timer in application.findChildren(QTimer) if timer.isActive()}
    return found


DRAWN = {f"test_{name}.py" for name in ("demo", "fixed_places", "keyboard", "looks", "manners", "reach")}
"""Files whose tests look at what a window looks like; others mark single tests ``drawn``."""
PLOTTED = DRAWN | {
    f"test_{name}.py"
    for name in (
        "access", "actions", "flood", "hostile_text", "nothing_misleads", "plain_words", "plan", "real_flow",
        "steps_and_plots", "translations", "views",
    )
}  # fmt: skip
"""Files whose tests look at the plots, too.

Elsewhere a window has neither its style sheet nor plots, which take longer to make than all the rest of it.
"""


class NoPlots(QWidget):
    """Stands in the place of the plots over the steps."""

    def __init__(self, *_: object) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.export = SimpleNamespace(actions=[QAction(name, self) for name in ("Copy", "Export")])


_PAINT = Theme._paint
_painted: list[Tokens] = []
"""What the application was painted by last."""


def paint_if_another(theme: Theme) -> None:
    """Style and palette are the application's; to set them once more takes as long as a window's first figures."""
    if _painted[-1:] != [theme.tokens]:
        _PAINT(theme)
        _painted[:] = [theme.tokens]


@pytest.fixture(autouse=True)
def nothing_but_what_is_looked_at_is_drawn(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        drawn = request.node.get_closest_marker("drawn")
        if request.path.name not in DRAWN and not drawn:
            patch.setattr(Theme, "put_on", lambda _theme: None)
            patch.setattr(Theme, "_paint", paint_if_another)
        else:
            _painted.clear()
        if request.path.name not in PLOTTED and not drawn:
            patch.setattr(shell_window, "DivergenceView", NoPlots)
        yield


PRINTING = {"test_real_flow.py", "test_figures_agree.py", "test_hostile_text.py"}
"""Files in which a report is really printed, by a process; test_report.py makes reports without a window."""


@pytest.fixture(autouse=True)
def printed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[Contents]:
    """What would be printed, where nobody reads it."""
    pages: list[Contents] = []

    def keep(page: Contents, *, as_html: bool = False) -> bytes:
        pages.append(page)
        return b"<html>" if as_html else b"%PDF-"

    if request.path.name not in PRINTING:
        monkeypatch.setattr(export, "print_report", keep)
        monkeypatch.setattr(handover, "print_report", keep)
    return pages


@pytest.fixture(autouse=True)
def garbage_is_collected_here() -> Iterator[None]:
    """As in the program: widgets that lie in a cycle are taken down in this thread, and never in the engine's."""
    gc.disable()
    yield
    if gc.get_count()[0] > MOST_GARBAGE:
        gc.collect()


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """What a file's tests share is there before, and taken down at its end by what made it."""
    before = what_lives()
    yield
    assert not left_behind(before)
