"""Ctrl-C in the terminal that started the window closes it as its own button does; pressed again, it ends it at once.

Python would raise KeyboardInterrupt in whatever slot runs next, and a slot's errors end nothing.
"""

from __future__ import annotations

import signal
from types import FrameType

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QWidget

STOPPED = 2
"""What the program exits with when it was ended at once: the exit code of what was stopped."""


class Interrupts(QObject):
    """Takes SIGINT while it is installed; where the process was started with it ignored, it stays ignored.

    A handler runs when the next line of Python does, which a timer of the window sees to at least once a second
    (:class:`counterfoil_app.desktop.collector.Collector`).

    Args:
        window: What is closed.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._asked = False
        self._before = signal.getsignal(signal.SIGINT)
        if self._before is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._take)

    def uninstall(self) -> None:
        """Leave SIGINT to whoever had it."""
        if self._before is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._before)

    def _take(self, number: int, frame: FrameType | None) -> None:
        # Later: here any slot may be half done.
        QTimer.singleShot(0, self, self._end if self._asked else self._ask)
        self._asked = True

    def _ask(self) -> None:
        self._window.close()

    def _end(self) -> None:
        QApplication.exit(STOPPED)
