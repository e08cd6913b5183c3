"""What long jobs do on the desktop: each platform's way with a fake in its place, and a real helper process."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from counterfoil import CounterfoilError
from counterfoil_app.desktop.services import (
    BadgeTaskBar,
    CommandNotifier,
    HelperInhibitor,
    LauncherEntry,
    LongJobs,
    SleepInhibitor,
    TaskBar,
    TrayNotifier,
    WindowsInhibitor,
    caffeinate_command,
    notifier,
    sleep_inhibitor,
    systemd_command,
    task_bar,
)
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.window import MainWindow
from support.fake_engine import FakeEngine
from support.waiting import reached

MakeWindow = Callable[[FakeEngine], MainWindow]


@dataclass
class FakeDesktop:
    """Notifier, inhibitor and task bar in one, which write down what they are asked."""

    told: list[tuple[str, str]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    progress: list[float] = field(default_factory=list)

    def tell(self, title: str, body: str) -> None:
        self.told.append((title, body))

    def hold(self, reason: str) -> None:
        self.calls.append(f"hold {reason}")

    def release(self) -> None:
        self.calls.append("release")

    def show_progress(self, fraction: float) -> None:
        self.progress.append(fraction)

    def clear(self) -> None:
        self.progress.append(-1.0)

    def close(self) -> None:
        self.calls.append("close")

    @property
    def awake(self) -> bool:
        return bool(self.calls) and self.calls[-1].startswith("hold")


@pytest.fixture
def desktop(opened: MainWindow, settings: Settings) -> FakeDesktop:
    """A desktop that follows the session of the opened window, beside the real one."""
    settings.notify = settings.stay_awake = True
    fake = FakeDesktop()
    elsewhere = QWidget(opened)  # a window that is never in front
    elsewhere.isActiveWindow = lambda: False  # type: ignore[method-assign]
    elsewhere.isVisible = lambda: True  # type: ignore[method-assign]
    LongJobs(opened.session, settings, elsewhere, fake, fake, fake)
    return fake


def finish(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(reached(window, Phase.CONCLUDED, Phase.FAILED), timeout=20_000)


def test_awake_while_it_computes_and_told_at_the_end(
    opened: MainWindow, engine: FakeEngine, desktop: FakeDesktop, qtbot: QtBot
) -> None:
    engine.gate.clear()
    assert not desktop.awake
    opened.commands["replay"].trigger()
    assert desktop.calls[-1] == "hold Replaying honest.cfoil"
    opened.commands["pause"].trigger()
    assert not desktop.awake, "a paused replay computes nothing"
    opened.commands["go_on"].trigger()
    assert desktop.awake
    assert desktop.told == []
    engine.gate.set()
    finish(opened, qtbot)
    assert not desktop.awake
    assert [title for title, _body in desktop.told] == ["VERIFIED: honest.cfoil"]
    assert "60 steps" in desktop.told[0][1]
    shown = [fraction for fraction in desktop.progress if fraction >= 0]
    assert shown == sorted(shown)
    assert max(shown) == 1.0
    assert desktop.progress[-1] == -1.0, "the progress is taken away at the end"


def test_failure_is_told_too(opened: MainWindow, engine: FakeEngine, desktop: FakeDesktop, qtbot: QtBot) -> None:
    engine.audit_error = CounterfoilError("The device ran out of memory.")
    opened.commands["replay"].trigger()
    finish(opened, qtbot)
    assert desktop.told == [("The replay of honest.cfoil ended without a verdict", "The device ran out of memory.")]
    assert not desktop.awake


def test_settings_switch_it_off(opened: MainWindow, settings: Settings, desktop: FakeDesktop, qtbot: QtBot) -> None:
    settings.notify = False
    settings.stay_awake = False
    opened.commands["replay"].trigger()
    finish(opened, qtbot)
    assert desktop.told == []
    assert not any(call.startswith("hold") for call in desktop.calls)


def test_who_looks_at_the_window_is_not_told(opened: MainWindow, settings: Settings, qtbot: QtBot) -> None:
    settings.notify = settings.stay_awake = True
    fake, front = FakeDesktop(), QWidget(opened)
    front.isActiveWindow = lambda: True  # type: ignore[method-assign]
    front.isVisible = lambda: True  # type: ignore[method-assign]
    LongJobs(opened.session, settings, front, fake, fake, fake)
    opened.commands["replay"].trigger()
    finish(opened, qtbot)
    assert fake.told == []


def test_stopping_by_closing_lets_the_computer_sleep(
    opened: MainWindow, engine: FakeEngine, desktop: FakeDesktop, qtbot: QtBot
) -> None:
    engine.gate.clear()
    opened.commands["replay"].trigger()
    opened.session.stop()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED))
    assert not desktop.awake


# The platforms


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(sys.platform == "win32", reason="the helpers are those of Linux and macOS")
def test_helper_lives_as_long_as_it_is_needed(qtbot: QtBot, tmp_path: Path) -> None:
    file = tmp_path / "pid"

    def command(reason: str) -> tuple[str, ...]:
        return ("sh", "-c", f'echo "$$ {reason}" > "{file}"; exec cat')

    owner = QObject()
    inhibitor = HelperInhibitor(command, owner)
    inhibitor.release()
    assert not inhibitor.holding
    inhibitor.hold("for a test")
    inhibitor.hold("for a test")
    qtbot.waitUntil(lambda: file.exists() and file.read_text().endswith("for a test\n"))
    pid = int(file.read_text().split()[0])
    assert alive(pid)
    inhibitor.release()
    qtbot.waitUntil(lambda: not inhibitor.holding)
    assert not alive(pid)
    # Held again at once after a release: the first helper ends, another one starts.
    inhibitor.hold("once more")
    qtbot.waitUntil(lambda: file.read_text().endswith("once more\n"))
    inhibitor.release()
    inhibitor.hold("and again")
    qtbot.waitUntil(lambda: file.read_text().endswith("and again\n"))
    second = int(file.read_text().split()[0])
    inhibitor.close()
    assert not inhibitor.holding
    assert not alive(second)


def test_helper_that_cannot_run_is_tried_once(qtbot: QtBot, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    owner = QObject()
    inhibitor = HelperInhibitor(lambda _reason: ("sh", "-c", f'echo x >> "{starts}"; exit 1'), owner)
    inhibitor.hold("in vain")
    qtbot.waitUntil(lambda: starts.exists() and not inhibitor.holding)
    qtbot.wait(50)
    assert starts.read_text() == "x\n"
    missing = HelperInhibitor(lambda _reason: (str(tmp_path / "no such program"),), owner)
    missing.hold("in vain")
    qtbot.waitUntil(lambda: not missing.holding)
    missing.close()


def test_helper_commands_end_with_their_input() -> None:
    command = systemd_command("Replaying a; rm -rf b")
    assert command[0] == "systemd-inhibit"
    assert "--why=Replaying a; rm -rf b" in command, "one argument, whatever is in a name"
    assert command[-1] == caffeinate_command("x")[-1] == "cat"


def test_windows_state_is_set_and_reset() -> None:
    states: list[int] = []
    inhibitor = WindowsInhibitor(states.append)
    inhibitor.hold("x")
    inhibitor.close()
    assert states == [0x8000_0001, 0x8000_0000]


def test_platform_without_a_way_does_nothing(qtbot: QtBot) -> None:
    inhibitor = sleep_inhibitor(QObject(), "freebsd", lambda _name: "/usr/bin/anything")
    assert isinstance(inhibitor, SleepInhibitor)
    inhibitor.hold("x")
    inhibitor.close()
    if sys.platform != "win32":
        owner = QObject()
        assert isinstance(sleep_inhibitor(owner, "darwin", lambda name: f"/usr/bin/{name}"), HelperInhibitor)
        assert isinstance(sleep_inhibitor(owner, "darwin", lambda _name: None), SleepInhibitor)


def test_notification_command_takes_no_word_for_an_option_or_markup() -> None:
    launched: list[tuple[str, list[str]]] = []
    CommandNotifier(lambda program, arguments: launched.append((program, arguments))).tell("--help", "<b>x</b> & y")
    program, arguments = launched[0]
    assert program == "notify-send"
    assert arguments[arguments.index("--") + 1 :] == ["--help", "&lt;b&gt;x&lt;/b&gt; &amp; y"]


def test_notifier_of_the_platform(qtbot: QtBot) -> None:
    owner = QObject()
    assert isinstance(notifier(QIcon(), owner, "linux", lambda _name: "/usr/bin/notify-send"), CommandNotifier)
    tray = notifier(QIcon(), owner, "linux", lambda _name: None)
    assert isinstance(tray, TrayNotifier)
    assert isinstance(notifier(QIcon(), owner, "win32", lambda _name: "x"), TrayNotifier)
    tray.close()


def test_launcher_entry_sends_each_percent_once() -> None:
    sent: list[dict[str, float | bool]] = []
    entry = LauncherEntry(sent.append)
    entry.clear()
    assert sent == []
    for done in range(1001):
        entry.show_progress(done / 1000)
    entry.show_progress(7.0)
    assert [each["progress"] for each in sent] == [percent / 100 for percent in range(101)]
    entry.clear()
    assert sent[-1] == {"progress": 0.0, "progress-visible": False}


def test_badge_shows_percents(qapp: object) -> None:
    numbers: list[int] = []
    bar = BadgeTaskBar(numbers.append)
    bar.show_progress(0.374)
    bar.clear()
    assert numbers == [37, 0]
    BadgeTaskBar().show_progress(0.5)  # the real one; off screen it shows nothing
    BadgeTaskBar().clear()


def test_nothing_is_sent_from_off_screen(qapp: object) -> None:
    if os.environ.get("QT_QPA_PLATFORM") == "offscreen":
        assert isinstance(task_bar("counterfoil", "linux"), TaskBar)
    assert isinstance(task_bar("counterfoil", "darwin"), BadgeTaskBar)
