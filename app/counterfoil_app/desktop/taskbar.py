"""Progress on the task bar or dock."""

from __future__ import annotations

import sys
from collections.abc import Callable

from PySide6.QtGui import QGuiApplication


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
