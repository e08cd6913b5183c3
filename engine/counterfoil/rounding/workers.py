"""Threads for the compiled loops of this package, which release the GIL.

numba's own thread pools either need an extra package or may not be entered by two threads at once (docs/adr/0002).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Part = TypeVar("_Part")


class Workers:
    """A few threads; the calling one works too.

    Args:
        threads: Number of threads, the caller included.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads - 1, thread_name_prefix="rounding") if threads > 1 else None

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def in_parts(self, count: int, smallest: int, unit: int, work: Callable[[int, int], _Part]) -> list[_Part]:
        """Cut ``range(count)`` into ranges, one for each thread, and work on them at once.

        Args:
            count: Length of the range.
            smallest: A part below this length costs more than it brings.
            unit: Parts begin at multiples of this.
            work: Called with the first index of a part and the index after its last.

        Returns:
            The results in the order of the parts; for an empty range that of one empty part.
        """
        parts = min(self._threads, count // max(smallest, 1))
        if self._pool is None or parts < 2:
            return [work(0, count)]
        size = -(-count // parts // unit) * unit
        starts = range(size, count, size)
        futures = [self._pool.submit(work, start, min(start + size, count)) for start in starts]
        return [work(0, size), *(future.result() for future in futures)]
