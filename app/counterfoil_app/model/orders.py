"""Lets the engine write orders, beside whatever else the session's worker does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from counterfoil import CancelToken, CommandEnded, CommandProgress, OrderWritten
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.strangers import plain
from counterfoil_app.engine.worker import JobResult, Worker
from counterfoil_app.model.inquiry import LOOK_MILLISECONDS, Inquiry, share_of


class Aside(QObject):
    """A worker of its own, for what must not wait for a replay.

    Args:
        engine: Is asked.
    """

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._worker = Worker(lambda: None)
        self._handlers: dict[int, Callable[[JobResult], None]] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MILLISECONDS)
        self._timer.timeout.connect(self._poll)
        self._last: Callable[[], object] | None = None

    def ask(self, question: Callable[[Engine], object], answer: Callable[[JobResult], None]) -> None:
        """Let the worker ask the engine something, and hand the answer over in the window's thread."""
        self._handlers[self._worker.submit(partial(question, self._engine))] = answer
        self._timer.start()

    def let_go(self, then: Callable[[], object]) -> None:
        """End the thread once it has done what it was asked, without waiting for that; then do something."""
        self._last = then
        self._timer.start()
        self._poll()

    def close(self) -> None:
        """Wait for what was asked, which should have been cancelled, and end the thread."""
        self._timer.stop()
        self._worker.shut_down()

    def _poll(self) -> None:
        for result in self._worker.poll():
            self._handlers.pop(result.job)(result)
        if not self._worker.busy:
            self._timer.stop()
            if self._last is not None:
                self._worker.shut_down()
                self._last()
                self.deleteLater()


Ended = OrderWritten | CommandEnded
Asked = Callable[[Engine, CancelToken], Iterator[CommandProgress | Ended]]
"""What the engine is asked."""


class CommandRun(Inquiry[CommandProgress]):
    """Has a command carried out in a process of its own; one at a time.

    Attributes:
        progress: How far it is; None before it says so.
        ended: What came of it; None until it is over.
        failure: Why nothing did.
    """

    def begin(self, asked: Asked) -> None:
        """Begin; :attr:`changed` follows, several times."""
        self._asked = asked
        self.start()

    def forget(self) -> None:
        """Forget what came of it, and stop what goes on."""
        self._leave()
        self._forget()
        self.changed.emit()

    @property
    def seconds_left(self) -> float | None:
        """How long the present stage still takes if it goes on as it began; None while nobody knows."""
        progress = self.progress
        if progress is None or not progress.total or progress.done <= 0:
            return None
        return (time.monotonic() - self._begun) * (progress.total - progress.done) / progress.done

    def _forget(self) -> None:
        super()._forget()
        self.progress: CommandProgress | None = None
        self.ended: Ended | None = None
        self._begun = time.monotonic()

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        return partial(self._carry_out, self._asked, token)

    def _carry_out(self, asked: Asked, token: CancelToken, engine: Engine) -> Ended | None:
        """In the worker thread."""
        for event in asked(engine, token):
            if not isinstance(event, CommandProgress):
                return event
            self._seen.put(event)
        return None

    def _show(self, seen: CommandProgress) -> None:
        if self.progress is None or self.progress.stage != seen.stage:
            self._begun = time.monotonic()
        self.progress = plain(seen)
        self.share = share_of(seen)

    def _answer(self, value: object) -> None:
        if isinstance(value, (OrderWritten, CommandEnded)):
            self.ended = value


class Ordering(CommandRun):
    """Writes an order."""

    def order(self, arguments: Sequence[str], folder: Path | None) -> None:
        """Begin; :attr:`changed` follows, several times."""
        given = tuple(arguments)
        self.begin(lambda engine, token: engine.order(given, folder, token))

    @property
    def written(self) -> OrderWritten | None:
        """What was written; None until it is."""
        return plain(self.ended) if isinstance(self.ended, OrderWritten) else None
