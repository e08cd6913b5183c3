"""Python's cyclic garbage is collected in the window's thread alone.

Python collects in whichever thread has just made one object too many. A widget that lies in a cycle would then be taken
down in the engine's thread, with its timers, and Qt ends the program.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

LOOK_MILLISECONDS = 1_000
GENERATIONS = (2_000, 10, 10)
"""From how many new objects, or collections of the generation below, a generation is collected when it is looked at."""


class Collector(QObject):
    """Collects now and then, in the thread that made it, in the place of Python's own collections.

    Args:
        parent: The parent; collecting ends with :meth:`stop`.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_on = gc.isenabled()
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MILLISECONDS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def look(self) -> None:
        """Collect the oldest generation that is due, as Python does."""
        for generation in (2, 1, 0):
            if gc.get_count()[generation] > GENERATIONS[generation]:
                gc.collect(generation)
                return

    def stop(self) -> None:
        """Leave it to Python again."""
        self._timer.stop()
        if self._was_on:
            gc.enable()
