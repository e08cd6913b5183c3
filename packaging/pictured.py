"""What the scripts have in common that make pictures of the window: a window of its own, drawn off screen."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSettings

from counterfoil_app.driver.capture import wait_until
from counterfoil_app.main import make_window
from counterfoil_app.model.settings import Settings, ThemeChoice
from counterfoil_app.shell.window import MainWindow

TIMEOUT_SECONDS = 300.0


@contextmanager
def window_in_a_folder(language: str = "en") -> Iterator[tuple[MainWindow, Path]]:
    """Yield a window, not yet shown, and the folder that has its settings; closed and removed behind the block."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = Settings(QSettings(str(folder / "window.ini"), QSettings.Format.IniFormat))
        settings.language, settings.theme = language, ThemeChoice.LIGHT
        settings.notify = settings.stay_awake = False
        window = make_window(settings=settings)
        yield window, folder
        window.close()


def wait(done: Callable[[], bool]) -> None:
    """Let the window work until something is so.

    Raises:
        TimeoutError: It did not come to that.
    """
    if not wait_until(done, TIMEOUT_SECONDS):
        raise TimeoutError("the window did not finish")
