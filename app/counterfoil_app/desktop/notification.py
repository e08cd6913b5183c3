"""Telling a user who looks elsewhere that something ended."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable

from PySide6.QtCore import QObject, QProcess
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QSystemTrayIcon

from counterfoil_app.model.turns import single_shot

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
