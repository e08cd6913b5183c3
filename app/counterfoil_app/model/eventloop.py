"""Work of the window that is done in small portions, so that the event loop is never kept for long."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, SignalInstance

INTERVAL_MILLISECONDS = 1
"""Not 0: what else is due, the user's keys and the window's painting among it, comes between two turns."""


def follow(do: Callable[..., object] | SignalInstance, *signals: SignalInstance) -> None:
    """Connect a slot with several signals."""
    for signal in signals:
        signal.connect(do)


def single_shot(owner: QObject, milliseconds: int, do: Callable[[], object]) -> QTimer:
    """A timer that does something once, so long after it was last started."""
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(do)
    return timer


class DrawingQueue(QObject):
    """Does one piece of work in each turn of the event loop, in the order asked for.

    Views draw themselves in turns when a bundle is opened or a dispute is found. Timers of their own would not keep
    them apart: Qt runs all timers that are due in one go.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: dict[Callable[[], None], None] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MILLISECONDS)
        self._timer.timeout.connect(self._do_next)

    @property
    def waiting(self) -> bool:
        """Whether anything is still to be done."""
        return bool(self._waiting)

    def soon(self, work: Callable[[], None]) -> None:
        """Do a piece of work in one of the next turns: once, however often it is asked for until then."""
        self._waiting.setdefault(work)
        self._timer.start()

    def stop(self) -> None:
        """Forget what is still to be done."""
        self._waiting.clear()
        self._timer.stop()

    def _do_next(self) -> None:
        work = next(iter(self._waiting))
        del self._waiting[work]
        if not self._waiting:
            self._timer.stop()
        work()
