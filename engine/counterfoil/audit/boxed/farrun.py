"""The run that lies elsewhere, fetched for a process in a box: the process names no address and opens no connection."""

from __future__ import annotations

from counterfoil.talk.failure import refusal
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.remote.address import Address
from counterfoil_core.remote.ranges import Ranges, Span

MOST_FETCHED = 2**26
"""Bytes of a run that are fetched for one question."""


class FarRun:
    """Four questions about one run. Whoever answers a process in a box is one, and declares them with its own.

    Args:
        address: Where the run lies; None where none of this one's does.
        cancel: Stops what is waited for.
    """

    def __init__(self, address: Address | None, cancel: CancelToken | None = None) -> None:
        self._address = address
        self._reaching = cancel
        self._run: Ranges | None = None

    def open_run(self) -> int:
        """Open it; returns its length."""
        if self._address is None:
            raise refusal()
        from counterfoil.remote.files import open_transfer  # with the libraries for networks

        self.close_run()
        self._run = open_transfer(self._address, self._reaching)
        return self._run.size

    def fetch_run(self, spans: tuple[Span, ...]) -> tuple[bytes, ...]:
        """Fetch pieces of it."""
        run = self._opened_run
        total = sum(count for _, count in spans)
        if any(not 0 <= start < start + count <= run.size for start, count in spans) or total > MOST_FETCHED:
            raise refusal()
        return tuple(run.fetch(spans))

    def compare_run(self) -> None:
        """Ask its server once more what it is."""
        self._opened_run.check_unchanged()

    def close_run(self) -> None:
        """Give up the connection to it, if there is one."""
        if self._run is not None:
            self._run.close()
            self._run = None

    @property
    def _opened_run(self) -> Ranges:
        if self._run is None:
            raise refusal()
        return self._run
