"""What every session on a real X server begins with and does: a window of its own, and waiting until it has worked."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPoint, QSettings
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from counterfoil_app.engine.port import Engine
from counterfoil_app.main import application, make_window
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.window import MainWindow

SECONDS = 20.0
"""For what the window does; what the engine computes is given more."""


def until(done: Callable[[], bool], what: str, seconds: float = SECONDS) -> None:
    """Let the window work until something has happened, and print what."""
    deadline = time.monotonic() + seconds
    while not done():
        QApplication.processEvents()
        time.sleep(0.005)
        if time.monotonic() > deadline:
            picture = Path(sys.argv[1]) / "failed.png"
            QApplication.primaryScreen().grabWindow(0).save(str(picture))
            sys.exit(f"gave up waiting for {what}; the screen is in {picture}")
    print(what, flush=True)


def give_keyboard(window: QWidget) -> None:
    """Do what a window manager does when a window comes to the front; there is none on this server."""
    window.activateWindow()
    until(window.isActiveWindow, f"{type(window).__name__} has the keyboard")


def place(widget: QWidget) -> tuple[int, int]:
    """The middle of a widget on the screen."""
    centre = widget.mapToGlobal(QPoint(widget.width() // 2, widget.height() // 2))
    return centre.x(), centre.y()


def questions(window: QWidget) -> list[QMessageBox]:
    """The message boxes that are shown."""
    return [box for box in window.findChildren(QMessageBox) if box.isVisible()]


def window_in(folder: Path, engine: Engine | None = None, *, config: str = ".") -> MainWindow:
    """A window that is shown and has the keyboard.

    Args:
        folder: Where its file dialogs start and its samples are made.
        engine: Its engine; the real one unless given.
        config: Folder below it in which its settings lie.
    """
    application()
    settings = Settings(QSettings(str(folder / config / "settings.ini"), QSettings.Format.IniFormat))
    settings.language = "en"
    settings.notify = settings.stay_awake = False
    settings.folder = folder
    window = make_window(engine=engine, settings=settings)
    window.shell.samples.folder = window.files.sample_folder = folder
    window.show()
    until(window.windowHandle().isExposed, "the window is shown")
    give_keyboard(window)
    return window
