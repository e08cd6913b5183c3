"""Memory that a step frees is kept for the next: fresh pages cost more than most operators.

The C library hands large blocks back to the system when they are freed, and takes them anew for the next operator:
every page of every result is then cleared and mapped again. glibc can be told to keep them (``mallopt(3)``); elsewhere
nothing is changed. What is kept is given back when a device's work is over; and once in a step, where it is much: what
the passes left lies idle while the optimizer makes the new state, for which there must be room beside the old one.
"""

from __future__ import annotations

import ctypes
import os

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX, _ARENA_MAX = -1, -2, -4, -8
"""Parameters of mallopt, as malloc.h numbers them."""
_KEEP = 2**31 - 1
"""Largest number that mallopt takes: freed memory at the end of the heap is given back beyond this."""
_MUCH = 2**28
"""Bytes that may lie idle in the heap while the optimizer works."""
_GROW = 2**24
"""Bytes by which the heap grows at least."""


def keep_freed_memory() -> bool:
    """Let this process keep what it frees, in one heap of all threads; returns whether the C library takes that."""
    library = _glibc()
    if library is None:
        return False
    # Blocks of any size come out of the heap; mmap's threshold could be raised to 32 MB only.
    wanted = ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, _KEEP), (_TOP_PAD, _GROW), (_ARENA_MAX, 1))
    taken = [library.mallopt(parameter, value) == 1 for parameter, value in wanted]
    return all(taken)


def give_back_freed_memory() -> None:
    """Give the system back what was kept."""
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


class BeforeTheUpdate:
    """Gives back what the passes of a step left, once, where it is much.

    Args:
        turn: After so many operators the optimizer begins.
    """

    def __init__(self, turn: int) -> None:
        self._turn = turn
        self._looked = False

    def look(self, done: int) -> None:
        """Give it back if the passes are over; ``done`` operators are done."""
        if done < self._turn or self._looked:
            return
        self._looked = True
        if idle_memory() > _MUCH:
            give_back_freed_memory()


def idle_memory() -> int:
    """Return how many bytes of the C library's heap nobody uses; 0 where the library does not say."""
    library = _glibc()
    if library is None or not hasattr(library, "mallinfo2"):
        return 0
    library.mallinfo2.restype = _Heap
    return int(library.mallinfo2().fordblks)


class _Heap(ctypes.Structure):
    """What ``mallinfo2(3)`` returns."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in [
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        ]
    )


def _glibc() -> ctypes.CDLL | None:
    try:
        if not (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc"):
            return None
    except (AttributeError, ValueError, OSError):  # not on this system, or of another C library
        return None
    return ctypes.CDLL(None)
