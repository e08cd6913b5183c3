"""Measures how long a Qt event loop was kept from its work."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, Qt, QTimer

BEAT_MILLISECONDS = 1


class Heartbeat(QObject):
    """A timer that asks to run every millisecond and notes by how much it was kept waiting.

    What kept it does not matter: a slow slot in the loop's own thread, another thread that held the interpreter, or
    other programs on a busy machine. To tell the last from the others, the processor time that this process used in a
    pause is noted too: a pause in which it used little was not its own doing.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pauses: list[tuple[float, float]] = []
        self._last = (0.0, 0.0)
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(BEAT_MILLISECONDS)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        """Begin to count anew."""
        self._pauses.clear()
        self._last = (time.perf_counter(), time.process_time())
        self._timer.start()

    def stop(self) -> None:
        """Stop counting."""
        self._timer.stop()

    @property
    def longest(self) -> float:
        """The longest pause in seconds; 0.0 before the first beat."""
        return max((pause for pause, _ in self._pauses), default=0.0)

    @property
    def longest_own(self) -> float:
        """The most processor seconds that this process used in one pause, and no more than the pause."""
        return max((min(pause, used) for pause, used in self._pauses), default=0.0)

    def over(self, seconds: float) -> int:
        """How many pauses were longer than ``seconds``."""
        return sum(pause > seconds for pause, _ in self._pauses)

    def _beat(self) -> None:
        now = (time.perf_counter(), time.process_time())
        pause = max(0.0, now[0] - self._last[0] - BEAT_MILLISECONDS / 1000)
        self._pauses.append((pause, now[1] - self._last[1]))
        self._last = now
