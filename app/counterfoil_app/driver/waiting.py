"""Lets the event loop run for whoever drives the window without a user: the demonstration, benchmarks, pictures."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEventLoop, QTimer

LOOK_MILLISECONDS = 5


def wait_until(done: Callable[[], bool], seconds: float) -> bool:
    """Run the event loop until something is so; returns False when it was not within the time."""
    if done():
        return True
    loop, look = QEventLoop(), QTimer()
    look.timeout.connect(lambda: loop.exit(0) if done() else None)
    look.start(LOOK_MILLISECONDS)
    limit = QTimer()
    limit.setSingleShot(True)
    limit.timeout.connect(lambda: loop.exit(1))
    limit.start(int(1000 * seconds))
    return loop.exec() == 0


def settle(milliseconds: int) -> None:
    """Run the event loop for a while."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()
