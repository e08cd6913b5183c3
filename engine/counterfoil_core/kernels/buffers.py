"""Memory for large tensors on the CPU, all out of one range: what one gives back serves the next, of whatever size.

The C library cannot do this well. Either it returns each large piece to the system, and every page of the next one is
cleared when it is touched, which takes longer than most operators. Or it keeps them in one heap together with all that
is small, and then small pieces that outlive a large one lie in the way of the next: the heap of a step grew to twice
what was ever in use at once. Here only large pieces lie side by side; the lowest hole that is wide enough is taken,
and holes that meet become one.
"""

from __future__ import annotations

import math
import mmap
import os
import sys
import threading
import weakref
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.base.arrays import Bytes

_SMALLEST = 1 << 20
"""Bytes from which a tensor is large."""
_LINE = 64
"""Pieces begin at multiples of so many bytes, as torch's own do."""
_APART = 3 * _LINE
"""Bytes between two pieces: tensors of one size would else begin at the same place of a page, and share cache sets."""
_REGION = 1 << 30
"""Bytes by which the range grows where the system counts what is reserved as used."""
_UNCOUNTED = 0x4000 if sys.platform == "linux" else 0
"""``MAP_NORESERVE`` of mmap(2). Without it a process that forks promises the range once more, of the machine's size:
the system refuses that with ENOMEM as soon as a neighbour makes the range longer than all memory."""


class _Lent(weakref.ref[Any]):
    """Knows when nobody reads a piece any more."""

    __slots__ = ("size", "start")
    start: int
    size: int


def is_large(shape: Sequence[int], dtype: torch.dtype) -> bool:
    """Whether a tensor is so large that its memory is taken from an arena."""
    return math.prod(shape) * dtype.itemsize >= _SMALLEST


class Arena:
    """A range of memory.

    Args:
        region: Bytes by which it grows; None for as many as the machine has, of which only touched ones count.
    """

    def __init__(self, region: int | None = None) -> None:
        self._region = region or _reserved()
        self._regions: list[tuple[int, mmap.mmap]] = []
        """Where each part of the range begins, and its memory. Between two parts there is a byte that nobody has."""
        self._end = 0
        self._holes: list[tuple[int, int]] = []
        """Start and size of what is free, in order; no two of them meet."""
        self._touched = 0
        """Beyond this nothing was lent yet."""
        self._lent: dict[int, _Lent] = {}
        """What is lent, by where it begins."""
        self._returned: deque[_Lent] = deque()
        """What nobody reads any more: a thread that holds the lock may be the one that finds out."""
        self._lock = threading.Lock()

    def empty(self, shape: Sequence[int], dtype: torch.dtype = torch.float32) -> Tensor:
        """Return a tensor on the CPU that nothing has been written to, contiguous.

        Its memory is lent again when no tensor, view or array over it is left.

        Args:
            shape: Its shape.
            dtype: Its dtype.
        """
        memory = self._lend(math.prod(shape) * dtype.itemsize) if is_large(shape, dtype) else None
        if memory is None:
            return torch.empty(shape, dtype=dtype)
        return torch.from_numpy(memory).view(dtype).view(tuple(shape))

    @property
    def used(self) -> int:
        """Bytes that are lent."""
        with self._lock:
            self._take_back()
            return sum(lent.size for lent in self._lent.values())

    @property
    def extent(self) -> int:
        """Bytes between the beginning of the range and the end of the highest piece that was ever lent."""
        return self._touched

    def give_back(self) -> None:
        """Give the system back the pages that hold nothing; they count again when they are touched."""
        with self._lock:
            self._take_back()
            advice = getattr(mmap, "MADV_DONTNEED", None)
            if advice is None:
                return
            for base, memory in self._regions:
                for start, size in self._holes:
                    first = -(-(start - base) // mmap.PAGESIZE) * mmap.PAGESIZE
                    last = (min(start + size, self._touched) - base) // mmap.PAGESIZE * mmap.PAGESIZE
                    if 0 <= first < last <= len(memory):
                        memory.madvise(advice, first, last - first)

    def _lend(self, size: int) -> Bytes | None:
        """Return a piece; None where the system has none."""
        taken = -(-size // _LINE) * _LINE + _APART
        with self._lock:
            self._take_back()
            place = self._hole(taken)
            if place is None:
                return None
            start, free = self._holes.pop(place)
            if free > taken:
                self._holes.insert(place, (start + taken, free - taken))
            self._touched = max(self._touched, start + taken)
            base, memory = self._regions[bisect_left(self._regions, start + 1, key=_base) - 1]
            piece: Bytes = np.ndarray(size, np.uint8, memory, start - base)
            lent = _Lent(piece, self._returned.append)
            lent.start, lent.size = start, taken
            self._lent[start] = lent
            return piece

    def _hole(self, size: int) -> int | None:
        """Return the place of the lowest hole of so many bytes, of a new one if need be."""
        for place, (_, free) in enumerate(self._holes):
            if free >= size:
                return place
        for length in sorted({max(self._region, size), max(_REGION, size)}, reverse=True):
            try:
                memory = map_memory(length)
                break
            except (OSError, ValueError, OverflowError):  # the system does not reserve so much
                continue
        else:
            return None
        self._regions.append((self._end, memory))
        self._holes.append((self._end, length))
        self._end += length + _LINE
        return len(self._holes) - 1

    def _take_back(self) -> None:
        while self._returned:
            lent = self._returned.popleft()
            del self._lent[lent.start]
            self._free(lent.start, lent.size)

    def _free(self, start: int, size: int) -> None:
        holes = self._holes
        place = bisect_left(holes, (start, 0))
        if place < len(holes) and start + size == holes[place][0]:
            size += holes.pop(place)[1]
        if place and sum(holes[place - 1]) == start:
            before, length = holes.pop(place - 1)
            start, size = before, length + size
        insort(holes, (start, size))


def _base(region: tuple[int, mmap.mmap]) -> int:
    return region[0]


def _reserved() -> int:
    """Bytes to reserve at once: all that the machine has, where only what is touched counts."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return _REGION


def map_memory(length: int) -> mmap.mmap:
    """Reserve memory of this process alone, of which only what is touched counts; OSError where there is none."""
    if hasattr(mmap, "MAP_PRIVATE"):
        memory = mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _UNCOUNTED)
        if length >= _REGION and hasattr(mmap, "MADV_HUGEPAGE"):
            # Fewer pages to clear and to look up. Kernels without them refuse, and nothing is lost.
            with suppress(OSError):
                memory.madvise(mmap.MADV_HUGEPAGE)
        return memory
    return mmap.mmap(-1, length)


_ARENA = Arena()
empty = _ARENA.empty
"""Takes memory from the range of this process."""
give_back = _ARENA.give_back
"""Gives back what this process keeps."""
