"""Stopping and pausing work that runs in another thread."""

from __future__ import annotations

import threading

from counterfoil.errors import CancelledError


class CancelToken:
    """A switch that one thread sets and the working thread looks at between operators.

    All methods may be called from any thread.
    """

    def __init__(self) -> None:
        self._cancelled = threading.Event()
        self._running = threading.Event()
        self._running.set()

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

    def check(self) -> None:
        """Wait while paused; called by the working thread.

        Raises:
            CancelledError: :meth:`cancel` was called.
        """
        self._running.wait()
        if self.cancelled:
            raise CancelledError("The work was cancelled; nothing was concluded.")
