"""The machine's memories, with their checks: the storages of a launch's tensors, and shared memory of its blocks."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable

import numpy as np

from .program import UNSIGNED, Array, Fault


class Storages:
    """Ranges of this process's memory, which a launch may read and write; nothing else is touched.

    Args:
        ranges: First addresses, and those behind the last byte. They stay valid while this is used.
    """

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        merged: list[tuple[int, int]] = []
        for start, end in sorted({(start, end) for start, end in ranges if end > start}):
            if merged and start < merged[-1][1]:
                merged[-1] = merged[-1][0], max(end, merged[-1][1])
            else:
                merged.append((start, end))
        self._starts = np.array([start for start, _ in merged], np.int64)
        self._ends = np.array([end for _, end in merged], np.int64)
        self._views: list[dict[int, Array]] = []
        for start, end in merged:
            # Words that begin before or end behind are there to be counted from, and are never reached.
            first, last = start // 8 * 8, -(-end // 8) * 8
            raw = np.frombuffer((ctypes.c_char * (last - first)).from_address(first), np.uint8)
            self._views.append({width: raw.view(kind) for width, kind in UNSIGNED.items()})

    def place(self, addresses: Array, width: int) -> Array:
        """Return in which storage accesses lie.

        Args:
            addresses: int64 ``[n]``.
            width: Bytes of one.

        Raises:
            Fault: One of them is not aligned, or not within a storage.
        """
        if (addresses % width).any():
            raise Fault(f"misaligned access of {width} bytes")
        if not len(self._starts):
            raise Fault("an access outside all storages")
        places = np.searchsorted(self._starts, addresses, "right") - 1
        outside = (places < 0) | (addresses + width > self._ends[places])
        if outside.any():
            raise Fault(f"{int(outside.sum())} accesses of {width} bytes outside all storages")
        return places

    def read(self, addresses: Array, width: int, count: int) -> Array:
        """Return ``count`` words of ``width`` bytes at each address: ``[n, count]``, as unsigned integers."""
        found = np.empty((len(addresses), count), UNSIGNED[width])
        for lanes, index, view in self._parts(addresses, width, count):
            found[lanes] = view[index]
        return found

    def read_bytes(self, addresses: Array, count: int) -> Array:
        """Return ``count`` bytes at each address, wherever it is: uint8 ``[n, count]``."""
        steps = np.arange(count)
        return self.read((addresses[:, None] + steps).ravel(), 1, 1).reshape(-1, count)

    def write(self, addresses: Array, values: Array) -> None:
        """Store words ``[n, count]``, unsigned; of several lanes the last one's stays."""
        width, count = values.itemsize, values.shape[1]
        for lanes, index, view in self._parts(addresses, width, count):
            view[index] = values[lanes]

    def _parts(self, addresses: Array, width: int, count: int) -> Iterable[tuple[slice | Array, Array, Array]]:
        places = self.place(addresses, width * count)
        if not len(places):
            return
        steps = np.arange(count)
        several = (places != places[0]).any()
        for place in np.unique(places) if several else places[:1]:
            lanes = np.flatnonzero(places == place) if several else slice(None)
            base = int(self._starts[place]) // 8 * 8
            yield lanes, ((addresses[lanes] - base) // width)[:, None] + steps, self._views[place][width]


class Shared:
    """The shared memory of some blocks of threads (section 5.1.7), and who touched which byte since the last barrier.

    Args:
        blocks: How many blocks.
        size: Bytes of each.
        warps: Warps of each.
    """

    def __init__(self, blocks: int, size: int, warps: int) -> None:
        self.size = max(16, -(-size // 16) * 16)
        self._allowed = size
        self._warps = warps
        # What nobody has written looks like it.
        raw = np.frombuffer(np.random.default_rng(7).bytes(blocks * self.size), np.uint8).copy()
        self.views: dict[int, Array] = {width: raw.view(kind) for width, kind in UNSIGNED.items()}
        kind = np.uint8 if warps <= 8 else np.uint32
        self._writers, self._readers = (np.zeros(blocks * self.size, kind) for _ in range(2))
        self.pending = np.zeros(blocks * self.size, np.bool_)
        """Bytes that an asynchronous copy is under way to."""
        self.copies = False
        """Whether there was any."""

    def barrier(self, blocks: Array | None) -> None:
        """All threads of blocks, int64 ``[n]`` or None for all, have come together."""
        for touched in (self._writers, self._readers):
            touched.reshape(-1, self.size)[slice(None) if blocks is None else blocks] = 0

    def check(self, addresses: Array, width: int) -> None:
        """Refuse addresses ``[n]`` within a block's memory that are not aligned or outside it."""
        if (addresses % width).any():
            raise Fault(f"misaligned access of {width} bytes of shared memory")
        if (addresses < 0).any() or (addresses + width > self._allowed).any():
            raise Fault("an access outside shared memory")

    def _bytes(self, places: Array, width: int) -> Array:
        return places[:, None] + np.arange(width)

    def note_reads(self, places: Array, width: int, warps: Array) -> None:
        """Note who reads.

        Args:
            places: int64 ``[n]``: the blocks' memories one behind the other.
            width: Bytes.
            warps: int64 ``[n]``: within their blocks.

        Raises:
            Fault: Another warp has written there since the last barrier, or a copy is under way to it.
        """
        touched = self._bytes(places, width)
        if self.copies and self.pending[touched].any():
            raise Fault("a read of shared memory before the copy to it is waited for")
        writers, bits = self._writers[touched], self._bits(warps)
        if ((writers != 0) & ((writers & bits) == 0)).any():
            raise Fault("race on shared memory: what another warp has written is read without a barrier")
        self._mark(self._readers, touched, warps)

    def foreign(self, places: Array, width: int, warps: Array) -> bool:
        """Whether other warps have touched since the last barrier what is to be written; notes who writes."""
        touched = self._bytes(places, width)
        if self.copies and self.pending[touched].any():
            raise Fault("a write to shared memory that a copy is under way to")
        others = ~self._bits(warps)
        found = bool(((self._writers[touched] | self._readers[touched]) & others).any())
        self._mark(self._writers, touched, warps)
        return found

    def write(self, places: Array, values: Array, warps: Array) -> None:
        """Store words ``[n, count]``, unsigned, at places ``[n]``.

        Raises:
            Fault: Another warp has touched a place since the last barrier, or writes something else there.
        """
        width, count = values.itemsize, values.shape[1]
        foreign = self.foreign(places, width * count, warps)
        index = (places // width)[:, None] + np.arange(count)
        view = self.views[width]
        # Warps may write the same to the same place: nobody can tell.
        if foreign and (view[index] != values).any():
            raise Fault("race on shared memory: other warps have read or written what is overwritten")
        view[index] = values
        if (view[index] != values).any():
            raise Fault("race on shared memory: threads write different values to one place")

    def _bits(self, warps: Array) -> Array:
        return (np.array(1, self._writers.dtype) << warps.astype(self._writers.dtype))[:, None]

    def _mark(self, who: Array, touched: Array, warps: Array) -> None:
        for warp in range(self._warps):
            who[touched[warps == warp]] |= who.dtype.type(1 << warp)
