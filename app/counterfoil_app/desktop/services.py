"""What a long replay does outside its window, by what the desktop offers: it keeps awake, shows progress, notifies."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QProcess
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import words
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.model.eventloop import single_shot
from counterfoil_app.model.open_bundle import RUNNING, Phase
from counterfoil_app.model.session import Session
from counterfoil_app.model.settings import Settings

SHOWN_MILLISECONDS = 15_000


class Notifier:
    """Shows a notification of the desktop."""

    def tell(self, title: str, body: str) -> None:
        """Show a notification; where there is no such thing, do nothing."""

    def close(self) -> None:
        """Leave nothing behind."""


class CommandNotifier(Notifier):
    """Notifies with notify-send(1), which speaks the desktop's notification protocol.

    A tray icon cannot: GNOME has no tray, and shows no message of one. The words go as arguments of their own, after
    ``--``, so that none is taken for an option.
    """

    def __init__(self, launch: Callable[[str, list[str]], object] = QProcess.startDetached) -> None:
        self._launch = launch

    def tell(self, title: str, body: str) -> None:
        """Show a notification."""
        self._launch("notify-send", ["--app-name=Counterfoil", "--icon=counterfoil", "--", title, _plain(body)])


class TrayNotifier(Notifier):
    """Notifies with a tray icon that is there only while its message is."""

    def __init__(self, icon: QIcon, parent: QObject) -> None:
        self._tray = QSystemTrayIcon(icon, parent)
        self._timer = single_shot(parent, SHOWN_MILLISECONDS, self._tray.hide)
        self._tray.messageClicked.connect(self._tray.hide)

    def tell(self, title: str, body: str) -> None:
        """Show a notification."""
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            return
        self._tray.show()
        self._tray.showMessage(title, body, self._tray.icon(), SHOWN_MILLISECONDS)
        self._timer.start()

    def close(self) -> None:
        """Take the icon away."""
        self._timer.stop()
        self._tray.hide()


def _plain(body: str) -> str:
    """Names come from a stranger's file, and notification servers read the body as markup."""
    return body.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def notifier(
    icon: QIcon, parent: QObject, platform: str = sys.platform, find: Callable[[str], str | None] = shutil.which
) -> Notifier:
    """The notifier of this platform."""
    if platform.startswith("linux") and find("notify-send"):
        return CommandNotifier()
    return TrayNotifier(icon, parent)


END_MILLISECONDS = 1_000
"""Longest wait for the helper when the window closes; it ends within a few ms of its input being closed."""


class SleepInhibitor:
    """Asks the platform not to fall asleep. The display may still go dark.

    This one does nothing, for platforms on which nothing can be asked.
    """

    def hold(self, reason: str) -> None:
        """Keep the computer awake from now on; ``reason`` is shown to users who ask what does."""

    def release(self) -> None:
        """Let the computer sleep again."""

    def close(self) -> None:
        """Release for good and leave nothing running."""
        self.release()


class HelperInhibitor(SleepInhibitor):
    """Holds by a helper program that inhibits sleep for as long as it runs.

    The helper ends when its standard input is closed. The system closes it even when this process is killed, so that
    no computer stays awake for a program that is gone.

    Args:
        command: Makes the helper's command line from the reason.
        parent: Owner of the process object.
    """

    def __init__(self, command: Callable[[str], Sequence[str]], parent: QObject | None = None) -> None:
        self._command = command
        self._process = QProcess(parent)
        self._process.setStandardOutputFile(QProcess.nullDevice())
        self._process.setStandardErrorFile(QProcess.nullDevice())
        self._wanted: str | None = None
        self._process.finished.connect(self._start_again)

    @property
    def holding(self) -> bool:
        """Whether the helper is running or being started."""
        return self._process.state() is not QProcess.ProcessState.NotRunning

    def hold(self, reason: str) -> None:
        """Start the helper; where it cannot run the computer sleeps as ever."""
        already, self._wanted = self._wanted is not None, reason
        if not already and not self.holding:
            self._start(reason)

    def release(self) -> None:
        """Close the helper's input, so that it ends."""
        self._wanted = None
        if self.holding:
            self._process.closeWriteChannel()

    def close(self) -> None:
        """End the helper and wait for it."""
        self.release()
        if self.holding and not self._process.waitForFinished(END_MILLISECONDS):
            self._process.kill()
            self._process.waitForFinished(END_MILLISECONDS)

    def _start(self, reason: str) -> None:
        program, *arguments = self._command(reason)
        self._process.start(program, arguments)

    def _start_again(self) -> None:
        # Held again while the helper of the last hold was still ending: only then is a reason left over from a hold.
        # One that ends by itself (there is no service to ask) is not started over and over.
        reason, self._wanted = self._wanted, None
        if reason is not None and self._process.exitCode() == 0:
            self._wanted = reason
            self._start(reason)


def systemd_command(reason: str) -> tuple[str, ...]:
    """The systemd-logind inhibitor (systemd-inhibit(1)); ``cat`` ends when its input is closed."""
    what = "--what=sleep:idle"
    return ("systemd-inhibit", what, "--who=Counterfoil", f"--why={reason}", "--mode=block", "cat")


def caffeinate_command(_reason: str) -> tuple[str, ...]:
    """The macOS power assertion (caffeinate(8)): no idle sleep while the given command runs."""
    return ("caffeinate", "-i", "cat")


class WindowsInhibitor(SleepInhibitor):
    """Holds by SetThreadExecutionState, which belongs to the calling thread: the window's."""

    ES_CONTINUOUS = 0x8000_0000
    ES_SYSTEM_REQUIRED = 0x0000_0001

    def __init__(self, set_state: Callable[[int], object]) -> None:
        self._set_state = set_state

    def hold(self, reason: str) -> None:
        """Require the system until further notice; Windows shows no reason."""
        self._set_state(self.ES_CONTINUOUS | self.ES_SYSTEM_REQUIRED)

    def release(self) -> None:
        """Require nothing."""
        self._set_state(self.ES_CONTINUOUS)


def sleep_inhibitor(
    parent: QObject, platform: str = sys.platform, find: Callable[[str], str | None] = shutil.which
) -> SleepInhibitor:
    """The inhibitor of this platform."""
    if sys.platform == "win32":
        import ctypes

        return WindowsInhibitor(ctypes.windll.kernel32.SetThreadExecutionState)
    if platform == "darwin" and find("caffeinate"):
        return HelperInhibitor(caffeinate_command, parent)
    # systemd-inhibit is there on machines that systemd does not run, containers among them; logind's socket is not.
    if platform.startswith("linux") and find("systemd-inhibit") and os.path.isdir("/run/systemd/system"):
        return HelperInhibitor(systemd_command, parent)
    return SleepInhibitor()


class TaskBar:
    """Shows a progress beside the program's icon; this one, for desktops that show nothing, does not."""

    def show_progress(self, fraction: float) -> None:
        """Show a progress of 0 to 1."""

    def clear(self) -> None:
        """Show no progress."""


class LauncherEntry(TaskBar):
    """The Unity launcher protocol, which KDE Plasma, Ubuntu's dock and Dash to Dock read from the session bus.

    Args:
        send: Broadcasts the properties of the entry; never waits.
    """

    def __init__(self, send: Callable[[dict[str, float | bool]], None]) -> None:
        self._send = send
        self._percent: int | None = None

    def show_progress(self, fraction: float) -> None:
        """Show a progress of 0 to 1; whole percents are sent, each once."""
        percent = round(100 * min(1.0, max(0.0, fraction)))
        if percent != self._percent:
            self._percent = percent
            self._send({"progress": percent / 100, "progress-visible": True})

    def clear(self) -> None:
        """Show no progress."""
        if self._percent is not None:
            self._percent = None
            self._send({"progress": 0.0, "progress-visible": False})


def _set_badge(number: int) -> None:
    application = QGuiApplication.instance()
    if isinstance(application, QGuiApplication):
        application.setBadgeNumber(number)


class BadgeTaskBar(TaskBar):
    """The percentage as a badge on the icon, for macOS and Windows."""

    def __init__(self, set_badge: Callable[[int], object] = _set_badge) -> None:
        self._set_badge = set_badge

    def show_progress(self, fraction: float) -> None:
        """Show a progress of 0 to 1."""
        self._set_badge(round(100 * min(1.0, max(0.0, fraction))))

    def clear(self) -> None:
        """Show no progress."""
        self._set_badge(0)


def _session_bus_sender(desktop_id: str) -> Callable[[dict[str, float | bool]], None] | None:
    from PySide6.QtDBus import QDBusConnection, QDBusMessage

    bus = QDBusConnection.sessionBus()
    if not bus.isConnected():
        return None

    def send(properties: dict[str, float | bool]) -> None:
        message = QDBusMessage.createSignal("/com/counterfoil/Launcher", "com.canonical.Unity.LauncherEntry", "Update")
        message.setArguments([f"application://{desktop_id}.desktop", properties])
        bus.send(message)

    return send


def task_bar(desktop_id: str, platform: str = sys.platform) -> TaskBar:
    """The task bar of this platform.

    Args:
        desktop_id: Name of the program's desktop file, without its suffix.
        platform: As ``sys.platform``.
    """
    if platform in ("darwin", "win32"):
        return BadgeTaskBar()
    if platform.startswith("linux") and QGuiApplication.platformName() not in ("offscreen", "minimal"):
        sender = _session_bus_sender(desktop_id)
        if sender is not None:
            return LauncherEntry(sender)
    return TaskBar()


class LongJobs(QObject):
    """Follows the session's replays.

    The computer is kept awake while a replay computes, and may sleep while it is paused. A notification is shown only
    when the window is not in front: who looks at it sees the outcome already.

    Args:
        session: What is followed.
        settings: Whether to notify and to keep awake.
        window: The window, also the parent.
        notifier: Shows notifications.
        inhibitor: Keeps the computer awake.
        task_bar: Shows progress.
    """

    def __init__(
        self,
        session: Session,
        settings: Settings,
        window: QWidget,
        notifier: Notifier,
        inhibitor: SleepInhibitor,
        task_bar: TaskBar,
    ) -> None:
        super().__init__(window)
        self._session = session
        self._settings = settings
        self._window = window
        self._notifier = notifier
        self._inhibitor = inhibitor
        self._task_bar = task_bar
        self._was_running = False
        session.phase_changed.connect(self.refresh)
        session.progress_changed.connect(self._show_progress)

    def refresh(self) -> None:
        """Do what the session's phase and the settings ask for."""
        session = self._session
        if session.phase in (Phase.REPLAYING, Phase.STOPPING) and self._settings.stay_awake:
            name = name_of(session.path)
            self._inhibitor.hold(self.tr("Replaying {0}").format(name))
        else:
            self._inhibitor.release()
        ended = self._was_running and session.phase in (Phase.CONCLUDED, Phase.FAILED)
        self._was_running = session.running
        if not session.running:
            self._task_bar.clear()
        if ended:
            self._tell()

    def close(self) -> None:
        """Leave nothing behind on the desktop."""
        self._inhibitor.close()
        self._task_bar.clear()
        self._notifier.close()

    def _show_progress(self) -> None:
        progress = self._session.progress
        if self._session.phase in RUNNING and progress.total:
            self._task_bar.show_progress(progress.done / progress.total)

    def _tell(self) -> None:
        if self._window.isActiveWindow() or not self._window.isVisible():
            return
        QApplication.alert(self._window)
        if not self._settings.notify:
            return
        report, failure = self._session.report, self._session.failure
        name = name_of(self._session.path)
        if report is not None:
            self._notifier.tell(f"{words.as_signed(report.outcome.value)}: {name}", translate(report.reason))
        elif failure is not None:
            self._notifier.tell(
                self.tr("The replay of {0} ended without a verdict").format(name), translate(failure.sentence)
            )
