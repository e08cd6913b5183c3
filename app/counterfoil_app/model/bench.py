"""An engine beside that of the session, for work that goes on while a run is looked at or replayed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.worker import JobResult, Worker

POLL_MILLISECONDS = 30


class Bench(QObject):
    """An engine with a thread of its own, started with the first job and again after it was let go of.

    Args:
        engine: The session's engine, beside which it works.
        keep: Whether the engine is kept when there is nothing to do.
    """

    idle = Signal()
    """The last job has ended, and the engine is let go of."""

    def __init__(self, engine: Engine, parent: QObject | None = None, *, keep: bool = False) -> None:
        super().__init__(parent)
        self._beside = engine
        self._keep = keep
        self._at: tuple[Engine, Worker] | None = None
        self._leaving: list[threading.Thread] = []
        """Threads that let go of an engine, which takes a moment."""
        self._handlers: dict[int, Callable[[JobResult], None]] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_MILLISECONDS)
        self._timer.timeout.connect(self._poll)

    @property
    def busy(self) -> bool:
        """Whether a job is still to come to its end."""
        return self._at is not None and self._at[1].busy

    def ask(self, question: Callable[[Engine], object], answer: Callable[[JobResult], None]) -> None:
        """Let the engine do something in the thread, and hand the answer over in the window's."""
        if self._at is None:
            engine = self._beside.another()
            self._at = engine, Worker(engine.close)
        engine, worker = self._at
        self._handlers[worker.submit(partial(question, engine))] = answer
        self._timer.start()

    def shut_down(self) -> None:
        """Wait for the job that goes on, which was stopped, and let go of the engine."""
        self._timer.stop()
        self._let_go()
        for thread in self._leaving:
            thread.join()
        self._leaving.clear()

    def _let_go(self) -> None:
        if self._at is not None and (leaving := self._at[1].leave()) is not None:
            self._leaving = [*(thread for thread in self._leaving if thread.is_alive()), leaving]
        self._at = None

    def _poll(self) -> None:
        if self._at is not None:
            for result in self._at[1].poll():
                self._handlers.pop(result.job)(result)
        if not self.busy:
            self._timer.stop()
            if not self._keep:
                self._let_go()  # a process that does nothing holds memory
            self.idle.emit()
