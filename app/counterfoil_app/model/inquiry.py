"""A question to the engine that takes a while: how far it is, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from counterfoil import CancelToken
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.snapshot import Latest
from counterfoil_app.engine.worker import Failure, JobResult

LOOK_MILLISECONDS = 60
Ask = Callable[[Callable[[Engine], object], Callable[[JobResult], None]], None]
"""Lets the worker ask the engine something, and hands the answer over in the window's thread."""
Seen = TypeVar("Seen")
"""What the worker thread puts down of its progress."""


class Inquiry(QObject, Generic[Seen]):
    """Asks the engine in the session's worker; what it is asked, and what becomes of the answer, a subclass says.

    Args:
        ask: Lets the worker ask the engine, and hands the answer over.

    Attributes:
        failure: Why there is no report.
    """

    changed = Signal()

    def __init__(self, ask: Ask, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ask = ask
        self._token: CancelToken | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MILLISECONDS)
        self._timer.timeout.connect(self._look)
        self._forget()

    @property
    def working(self) -> bool:
        """Whether it is under way."""
        return self._token is not None

    def start(self) -> None:
        """Begin, unless it is under way; :attr:`changed` follows, several times."""
        if self.working:
            return
        self._forget()
        token = self._token = CancelToken()
        self._ask(self._question(token), partial(self._ended, token))
        self._timer.start()
        self.changed.emit()

    def stop(self) -> None:
        """Stop; what still comes is ignored."""
        if self.working:
            self._leave()
            self.changed.emit()

    def _leave(self) -> None:
        """Stop without a word."""
        if self._token is not None:
            self._token.cancel()
        self._token = None
        self._timer.stop()

    def _forget(self) -> None:
        """Go back to where nothing is known."""
        self.failure: Failure | None = None
        self._seen: Latest[Seen] = Latest()

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        """Return what is done in the worker thread; it puts its progress into ``_seen``."""
        raise NotImplementedError

    def _show(self, seen: Seen) -> None:
        """Take over what the worker thread put down."""
        raise NotImplementedError

    def _answer(self, value: object) -> None:
        """Take over what the worker thread returned; None where it failed."""

    def _look(self) -> None:
        if (seen := self._seen.take()) is not None:
            self._show(seen)
            self.changed.emit()

    def _ended(self, token: CancelToken, result: JobResult) -> None:
        if token is not self._token:
            return
        self._look()
        self._token = None
        self._timer.stop()
        self.failure = result.failure
        self._answer(result.value)
        self.changed.emit()
