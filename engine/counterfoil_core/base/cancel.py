"""Stopping and pausing work that runs in another thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from counterfoil_core.base.errors import CancelledError
from counterfoil_core.base.sentence import say

_LOOK_SECONDS = 0.1
_looked_at: ContextVar[CancelToken | None] = ContextVar("_looked_at", default=None)


def check_cancelled() -> None:
    """Look at the token of :meth:`CancelToken.looked_at` from within long work that is told of none.

    Raises:
        CancelledError: It was set.
    """
    token = _looked_at.get()
    if token is not None:
        token.check()


class CancelToken:
    """A switch that one thread sets and the working thread looks at between operators.

    All methods may be called from any thread.
    """

    def __init__(self) -> None:
        self._cancelled = threading.Event()
        self._running = threading.Event()
        self._running.set()
        self._at_once: int | None = None
        """The thread whose work may be interrupted anywhere."""

    @property
    def cancelled(self) -> bool:
        """Whether :meth:`cancel` was called."""
        return self._cancelled.is_set()

    @property
    def paused(self) -> bool:
        """Whether the work is asked to wait."""
        return not self._running.is_set()

    def cancel(self) -> None:
        """Ask the work to stop; a paused one stops too."""
        self._cancelled.set()
        self._running.set()

    def pause(self) -> None:
        """Ask the work to wait at its next look."""
        if not self.cancelled:
            self._running.clear()

    def resume(self) -> None:
        """Let the work go on."""
        self._running.set()

    @contextmanager
    def looked_at(self) -> Iterator[None]:
        """Let :func:`check_cancelled` look at this token in the block, in this thread."""
        before = _looked_at.set(self)
        try:
            yield
        finally:
            _looked_at.reset(before)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Let :meth:`interrupt` stop the block anywhere: an import, or a computation that writes nothing.

        Raises:
            CancelledError: It was stopped.
        """
        before, self._at_once = self._at_once, threading.get_ident()
        try:
            self.check()
            yield
        except Exception:
            self.check()  # a library may make something else of the interrupt
            raise
        except KeyboardInterrupt:
            self.check()
            raise
        finally:
            self._at_once = before

    def interrupt(self) -> None:
        """Stop the work, at once where it may be; called by the handler of a signal.

        Raises:
            KeyboardInterrupt: The handler has interrupted a block of :meth:`at_once`, which makes CancelledError of it.
        """
        self.cancel()
        if self._at_once == threading.get_ident():
            raise KeyboardInterrupt

    def wait(self, seconds: float) -> None:
        """Wait for so long, or until the work is stopped; called by the working thread, and looks as :meth:`check`."""
        until = time.monotonic() + seconds
        # A signal that another thread of the process gets does not end a wait of this one.
        while not self.cancelled and (left := until - time.monotonic()) > 0:
            self._cancelled.wait(min(left, _LOOK_SECONDS))
        self.check()

    def check(self) -> None:
        """Wait while paused; called by the working thread.

        Raises:
            CancelledError: :meth:`cancel` was called.
        """
        if not self._running.is_set():
            self._running.wait()
        if self._cancelled.is_set():
            raise CancelledError(say("The work was cancelled; nothing was concluded."))
