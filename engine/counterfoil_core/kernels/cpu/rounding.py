"""The rounding kernel for the CPU: one pass that rounds, detects, collects, fingerprints, finds the largest exponent.

Written for numba so that LLVM turns the inner loop into vector instructions: no branch, no division. Rounding to a
multiple of u adds and subtracts 1.5 * 2^52 * u, which rounds to nearest, ties to even, in the addition itself (Dekker
1971; the significand of the sum has no room for anything below u). No fast-math: LLVM must keep the two operations.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Sequence
from functools import lru_cache
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from counterfoil_core.kernels.buffers import map_memory
from counterfoil_core.kernels.cache import inlined, kernel
from counterfoil_core.kernels.cpu.magnitudes import as_bits, as_float, float_of
from counterfoil_core.kernels.cpu.regions import (
    Region,
    add_atomically,
    at_address,
    carray,
    claimed,
    entered,
    left,
    raise_atomically,
    record_at,
)
from counterfoil_core.kernels.grid import FLOAT64_BIAS, Grid
from counterfoil_core.kernels.result import Rounded

_CHUNK = 1024
PART = 1 << 15
"""Elements of a part of a tensor: a thread works on one at a time."""
_CAPACITY = PART // 4 + _CHUNK
"""Close decisions that a part has room for at first."""
_MASK64 = 2**64 - 1
_UNFINISHED = np.uint64(1 << 48)

CANONICAL_NAN = 0x7FF8000000000000
"""The bits that stand for every value that is not a number in a fingerprint."""
INFINITY = 0x7FF0000000000000
"""The bits of infinity; those of what is not a number are greater, signs aside."""
MAGNITUDE = 0x7FFFFFFFFFFFFFFF
"""All bits but the sign."""
_NOT_CLOSE = 0xFFFFFFFFFFFFFFFF
"""Stands for an element whose decision was not close: the bits of none that was, since these are no number's."""
_PLACE_FACTOR = 0x9E3779B97F4A7C15

_ROUND = np.dtype(
    [
        ("parts", "i8"), ("count", "i8"), ("values", "u8"), ("item", "i8"), ("first", "i8"),
        ("floor", "u8"), ("p", "u8"), ("tau", "f8"), ("key", "u8"), ("ends", "u8"), ("entries", "u8"),
        ("capacity", "i8"), ("total", "u8"), ("largest", "u8"), ("found", "u8"), ("after", "f8"),
    ]
)  # fmt: skip
"""Job of rounding: parts; number of the values, their address, bytes of one, and the index of the first; biased
exponent of the floor, p, tau, key; addresses of the parts' ends and entries, entries that a part has room for. What it
finds: the fingerprint; the bits of the largest magnitude before rounding; number of the entries, with
:data:`_UNFINISHED` for each part whose entries had no room; the largest magnitude after rounding."""
_TENSOR = np.dtype(
    [
        ("values", "u8"), ("count", "i8"), ("item", "i8"), ("floor", "u8"), ("p", "u8"), ("tau", "f8"), ("key", "u8"),
        ("entries", "u8"), ("capacity", "i8"),
        ("end", "i8"), ("found", "i8"), ("total", "u8"), ("largest", "u8"), ("after", "f8"),
    ]
)  # fmt: skip
"""One of several tensors: as in :data:`_ROUND`, with the address of its own entries. What is found: elements that are
done, entries, fingerprint, largest magnitudes before and after."""
_TENSOR_BYTES = _TENSOR.itemsize
_TABLE = np.dtype([("tensors", "i8"), ("table", "u8")])
"""Job of rounding several: their number, and the address of the records."""
_MIX = np.dtype(
    [
        ("parts", "i8"), ("count", "i8"), ("values", "u8"), ("item", "i8"), ("key", "u8"),
        ("total", "u8"), ("largest", "u8"),
    ]
)  # fmt: skip
"""Job of a fingerprint: parts; number of the values, their address, bytes of one; key. What it finds: the fingerprint;
the bits of the largest magnitude."""

Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]
FloatArray = npt.NDArray[np.float64] | npt.NDArray[np.float32]


@inlined
def place_term(index: Any) -> Any:
    """What stands for the index of an element in its fingerprint term, uint64; the next one's is more by a factor."""
    return (index + np.uint64(1)) * np.uint64(_PLACE_FACTOR)


@inlined
def _mixed(bits: Any, place: Any, key: Any) -> Any:
    # One round of the finaliser of SplitMix64 (Steele, Lea, Flood 2014) over the element's bits, its index and the
    # site's key. Each step is invertible, so a change of one element always changes the sum.
    z = (bits ^ key) + place
    z = (z ^ (z >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
    return z ^ (z >> np.uint64(29))


@inlined
def _mix(bits: Any, index: Any, key: Any) -> Any:
    return _mixed(bits, place_term(index), key)


@kernel(nogil=True, error_model="numpy")
def mixed_block(values: Any, base: Any, key: Any) -> Any:
    """Sum the fingerprint terms of values on the grid, mod 2^64.

    Args:
        values: float64 or float32 ``[n]``, all of them numbers or as the processor made them.
        base: Index of the first, uint64.
        key: Fingerprint key, uint64.
    """
    total = np.uint64(0)
    # Added up in place of multiplied out: processors have no vector instruction for products of 64 bits.
    place = place_term(base)
    for i in range(values.size):
        total += _mixed(as_bits(np.float64(values[i])), place, key)
        place += np.uint64(_PLACE_FACTOR)
    return total


@kernel(nogil=True, error_model="numpy")
def watched_block(values: Any, base: Any, key: Any) -> tuple[Any, Any]:
    """Sum the fingerprint terms of values that are not rounded, mod 2^64, and find the bits of the largest magnitude.

    Args:
        values: float64 or float32 ``[n]``, of any value.
        base: Index of the first, uint64.
        key: Fingerprint key, uint64.
    """
    total = np.uint64(0)
    largest = np.int64(0)
    place = place_term(base)
    for i in range(values.size):
        # Widening is exact.
        bits: Any = as_bits(np.float64(values[i]))
        magnitude = np.int64(bits & np.uint64(MAGNITUDE))
        largest = max(largest, magnitude)
        # Sign and payload of what is not a number differ between processors.
        total += _mixed(np.uint64(CANONICAL_NAN) if magnitude > np.int64(INFINITY) else bits, place, key)
        place += np.uint64(_PLACE_FACTOR)
    return total, np.uint64(largest)


@inlined
def _of_grid(floor: Any, p: Any) -> tuple[Any, Any, Any]:
    """What :func:`_on_grid` is told of a grid: the floor as a power of two, and what leads to magic number and half."""
    one = np.uint64(52)
    return as_float(floor << one), ((np.uint64(53) - p) << one) + (np.uint64(1) << np.uint64(51)), p << one


@inlined
def _on_grid(value: Any, lowest: Any, to_magic: Any, to_half: Any, tau: Any) -> tuple[Any, Any, Any]:
    """Return a rounded element, what was taken off, and whether it was close to a midpoint; see rounded_element."""
    # The power of two below the element, or the floor's. As numbers they are compared by one instruction.
    power: Any = as_float(as_bits(value) & np.uint64(INFINITY))
    quantum = as_bits(power if power > lowest else lowest)
    magic = as_float(quantum + to_magic)
    rounded = (value + magic) - magic
    remainder = value - rounded
    return rounded, remainder, abs(remainder) >= as_float(quantum - to_half) - tau


@inlined
def rounded_element(value: Any, floor: Any, p: Any, tau: Any) -> tuple[Any, Any, Any]:
    """Round one element, float64.

    Args:
        value: The element.
        floor: The biased exponent below which the quantum no longer shrinks, uint64.
        p: Bits of the significand, uint64.
        tau: The margin, float64.

    Returns:
        The rounded value; whether it was close to a midpoint; whether it then went up.
    """
    lowest, to_magic, to_half = _of_grid(floor, p)
    rounded, remainder, near = _on_grid(value, lowest, to_magic, to_half, tau)
    return rounded, near, near & (remainder < 0.0)


@inlined
def round_values(target: Any, a: Any, codes: Any, floor: Any, p: Any, tau: Any) -> tuple[Any, Any]:
    """Round a block of elements; part of the kernel that calls it.

    Args:
        target: float64 or float32 ``[n]``; written. The same as ``a`` or apart from it.
        a: float64 or float32 ``[n]``: what to round.
        codes: uint64 ``[n]`` or more; written: the bits of an element that was close to a midpoint, of others
            :data:`_NOT_CLOSE`.
        floor: The biased exponent below which the quantum no longer shrinks, uint64.
        p: Bits of the significand, uint64.
        tau: Largest distance from a midpoint, inclusive, of a close decision.

    Returns:
        Whether a decision was close; the bits of the largest magnitude before rounding.
    """
    lowest, to_magic, to_half = _of_grid(floor, p)
    every = np.uint64(_NOT_CLOSE)
    # Magnitudes have no sign bit; the order of numbers with a sign takes fewer instructions.
    largest = np.int64(0)
    for i in range(a.size):
        # float32 elements are widened, which is exact; so is storing the rounded value, which has p bits.
        value = np.float64(a[i])
        bits: Any = as_bits(value)
        rounded, _, near = _on_grid(value, lowest, to_magic, to_half, tau)
        code = bits if near else np.uint64(_NOT_CLOSE)
        codes[i] = code
        every &= code
        largest = max(largest, np.int64(bits & np.uint64(MAGNITUDE)))
        target[i] = rounded
    return every != np.uint64(_NOT_CLOSE), np.uint64(largest)


@kernel(nogil=True, error_model="numpy")
def collect(codes: Any, count: Any, first: Any, entries: Any, found: Any, floor: Any, p: Any, tau: Any) -> Any:
    """Append the close decisions of a block: few have more than one or two.

    Args:
        codes: uint64 ``[n]``, n a multiple of 16, of which the first ``count`` are those of :func:`round_values`.
        count: Elements of the block.
        first: What the index of the first counts as.
        entries: int64, with room; written behind ``found``: twice the index, and 1 more where the decision went up.
        found: How many there are.
        floor: As the block was rounded.
        p: The same.
        tau: The same.

    Returns:
        How many there are then.
    """
    end = (count + 15) & ~15
    codes[count:end] = np.uint64(_NOT_CLOSE)
    for group in range(0, end, 16):
        every = np.uint64(_NOT_CLOSE)
        mine = codes[group : group + 16]
        for i in range(mine.size):
            every &= mine[i]
        if every == np.uint64(_NOT_CLOSE):
            continue
        for i in range(mine.size):
            if mine[i] != np.uint64(_NOT_CLOSE):
                _, _, up = rounded_element(as_float(mine[i]), floor, p, tau)
                entries[found] = 2 * (first + group + i) + np.int64(up)
                found += 1
    return found


@inlined
def directed_element(value: Any, rounded: Any, up: Any, floor: Any, p: Any, acceptable: Any) -> tuple[Any, Any]:
    """Take the logged direction of one element, float64, where its own value allows it.

    This is the rule of docs/numerics.md, *Following the log*, for every loop on the CPU. Triton has a mirror of it,
    ``_round_block`` in :mod:`counterfoil_core.kernels.cuda.rounding`; whoever judges has a form that shares nothing
    with it, :func:`counterfoil_core.arithmetic.grid.neighbours.neighbours`. A test holds the three equal.

    Args:
        value: The own value before rounding; not NaN.
        rounded: The same, rounded to the grid.
        up: Whether the log says up.
        floor: The biased exponent below which the quantum no longer shrinks, uint64.
        p: Bits of the significand, uint64.
        acceptable: Largest distance from a midpoint, inclusive, at which a direction is taken, float64: 2 tau. A
            logged value lay within tau of the midpoint, and a conforming one lies within 3/4 tau of that.

    Returns:
        The element in the logged direction where that is to be taken, else as it was rounded, never -0; its distance
        from the midpoint between its two neighbours on the grid.
    """
    other, distance, is_up = rounded, math.inf, False
    # Infinite values are on no grid, and far from any midpoint.
    if not math.isinf(value):
        # Zeros and subnormal numbers have the smallest exponent there is, far below any floor.
        exponent = max((as_bits(value) & np.uint64(MAGNITUDE)) >> np.uint64(52), floor)
        half = as_float((exponent - p) << np.uint64(52))
        # The midpoint lies on the side of the remainder; its neighbours are the rounded value and the next on that
        # side.
        remainder = value - rounded
        distance = half - abs(remainder)
        other = rounded + math.copysign(2.0 * half, remainder)
        is_up = remainder < 0.0
    return (other if distance <= acceptable and up != is_up else rounded) + 0.0, distance


@kernel(nogil=True, error_model="numpy")
def _round_range(
    y: Any, start: Any, end: Any, first: Any, floor: Any, p: Any, tau: Any, key: Any, codes: Any, entries: Any
) -> tuple[Any, Any, Any, Any]:
    """Round a range of ``y`` in place, as far as there is room for its close decisions.

    Returns where it ended, the number of entries, the fingerprint, and the bits of the largest magnitude before.
    """
    total = np.uint64(0)
    largest = np.uint64(0)
    found = 0
    while start < end and found + _CHUNK <= entries.size:
        # A slice, so that indices count from zero: an index that numba must check for being negative is not
        # vectorised. Two loops over it: one alone has more numbers at hand than a processor has registers.
        chunk = y[start : min(start + _CHUNK, end)]
        some, top = round_values(chunk, chunk, codes, floor, p, tau)
        largest = max(largest, top)
        total += mixed_block(chunk, np.uint64(first + start), key)
        if some:
            found = collect(codes, chunk.size, first + start, entries, found, floor, p, tau)
        start += chunk.size
    return start, found, total, largest


@kernel(nogil=True, error_model="numpy")
def _round_parts(pointer: Any, y: Any) -> None:
    """Round parts of ``y``, float64 or float32 ``[n]``, in place; the job is that of :data:`_ROUND`."""
    job = record_at(pointer, _ROUND)
    parts, capacity, first = job.parts, job.capacity, job.first
    floor, p, tau, key = job.floor, job.p, job.tau, job.key
    ends = carray(at_address(job.ends), (2 * parts,), np.int64)
    entries = carray(at_address(job.entries), (parts * capacity,), np.int64)
    total = np.uint64(0)
    largest = np.uint64(0)
    collected = np.uint64(0)
    codes = np.empty(_CHUNK, np.uint64)
    while True:
        part = claimed(pointer)
        if part >= parts:
            break
        mine = entries[part * capacity : (part + 1) * capacity]
        start = part * PART
        end = min(start + PART, y.size)
        start, found, added, top = _round_range(y, start, end, first, floor, p, tau, key, codes, mine)
        total += added
        largest = max(largest, top)
        ends[2 * part] = start
        ends[2 * part + 1] = found
        collected += np.uint64(found) + (_UNFINISHED if start < end else np.uint64(0))
    add_atomically(job, "total", total)
    raise_atomically(job, "largest", largest)
    add_atomically(job, "found", collected)
    # Rounding is monotone, and the same on both sides of zero: the largest magnitude becomes the largest.
    raise_atomically(job, "after", as_bits(rounded_element(as_float(largest), floor, p, tau)[0]))


def _round(pointer: Any) -> None:
    entered(pointer)
    job = record_at(pointer, _ROUND)
    if job.item == 8:
        _round_parts(pointer, carray(at_address(job.values), (job.count,), np.float64))
    else:
        _round_parts(pointer, carray(at_address(job.values), (job.count,), np.float32))
    left(pointer)


@kernel(nogil=True, error_model="numpy")
def _round_one(one: Any, y: Any, codes: Any) -> None:
    """Round one of several tensors, float64 or float32 ``[n]``, in place; ``one`` is a record of :data:`_TENSOR`."""
    entries = carray(at_address(one.entries), (one.capacity,), np.int64)
    floor, p, tau = one.floor, one.p, one.tau
    end, found, total, largest = _round_range(y, 0, y.size, 0, floor, p, tau, one.key, codes, entries)
    one.end, one.found, one.total, one.largest = end, found, total, largest
    # As in :func:`_round_parts`.
    one.after = rounded_element(as_float(largest), floor, p, tau)[0]


@kernel(nogil=True, error_model="numpy")
def _round_table(pointer: Any) -> None:
    job = record_at(pointer, _TABLE)
    codes = np.empty(_CHUNK, np.uint64)
    for n in range(job.tensors):
        one = record_at(job.table + np.uint64(n * _TENSOR_BYTES), _TENSOR)
        if one.item == 8:
            _round_one(one, carray(at_address(one.values), (one.count,), np.float64), codes)
        else:
            _round_one(one, carray(at_address(one.values), (one.count,), np.float32), codes)


def _round_several(pointer: Any) -> None:
    entered(pointer)
    _round_table(pointer)
    left(pointer)


@kernel(nogil=True)
def mix_values(values: Any, indices: Any, key: Any) -> Any:
    """Sum the fingerprint terms of single elements, mod 2^64."""
    total = np.uint64(0)
    for i in range(values.size):
        total += _mix(as_bits(values[i]), np.uint64(indices[i]), key)
    return total


def change_of_fingerprint(old: Float64Array, new: Float64Array, indices: Int64Array, key: int) -> int:
    """Return what a fingerprint changes by, mod 2^64, where single elements are replaced.

    Args:
        old: float64 ``[k]``: what they were.
        new: float64 ``[k]``: what they are.
        indices: int64 ``[k]``: where they lie.
        key: Fingerprint key, 0 to 2^64 - 1.
    """
    bits = np.uint64(key)
    return (int(mix_values(new, indices, bits)) - int(mix_values(old, indices, bits))) & _MASK64


def _mix_integers(pointer: Any) -> None:
    """Sum the fingerprint terms of parts of uint64 ``[n]``; the job is that of :data:`_MIX`."""
    entered(pointer)
    job = record_at(pointer, _MIX)
    values = carray(at_address(job.values), (job.count,), np.uint64)
    key = job.key
    total = np.uint64(0)
    while True:
        part = claimed(pointer)
        if part >= job.parts:
            break
        place = place_term(np.uint64(part * PART))
        mine = values[part * PART : part * PART + PART]
        for i in range(mine.size):
            total += _mixed(mine[i], place, key)
            place += np.uint64(_PLACE_FACTOR)
    add_atomically(job, "total", total)
    left(pointer)


@kernel(nogil=True, error_model="numpy")
def _mix_parts(pointer: Any, values: Any) -> None:
    """The same of float64 or float32 ``[n]``, by their float64 bits; and the largest magnitude, as its bits."""
    job = record_at(pointer, _MIX)
    key = job.key
    total = np.uint64(0)
    largest = np.uint64(0)
    while True:
        part = claimed(pointer)
        if part >= job.parts:
            break
        found, top = watched_block(values[part * PART : part * PART + PART], np.uint64(part * PART), key)
        total += found
        largest = max(largest, top)
    add_atomically(job, "total", total)
    raise_atomically(job, "largest", largest)


def _mix_floats(pointer: Any) -> None:
    entered(pointer)
    job = record_at(pointer, _MIX)
    if job.item == 8:
        _mix_parts(pointer, carray(at_address(job.values), (job.count,), np.float64))
    else:
        _mix_parts(pointer, carray(at_address(job.values), (job.count,), np.float32))
    left(pointer)


_ROUNDING, _ROUNDING_SEVERAL = Region(_round, _ROUND, "total"), Region(_round_several, _TABLE)
_MIXING, _MIXING_INTEGERS = Region(_mix_floats, _MIX, "total"), Region(_mix_integers, _MIX, "total")


class Unrounded(NamedTuple):
    """A tensor that is to be rounded."""

    address: int  #: Where it lies, contiguous.
    elements: int  #: How many it has.
    item: int  #: Bytes of one, 8 or 4.
    grid: Grid  #: The grid.
    tau: float  #: Largest distance from a midpoint, inclusive, at which a decision is reported.
    key: int  #: Fingerprint key, 0 to 2^64 - 1.


class _Records(threading.local):
    """Memory for the records of the tensors that a thread rounds at once."""

    def __init__(self) -> None:
        self.room = bytearray()
        self.address = 0

    def provide(self, tensors: int) -> int:
        """Return the address of memory for so many records."""
        if tensors * _TENSOR_BYTES > len(self.room):
            self.room = bytearray(tensors * _TENSOR_BYTES)
            self.address = ctypes.addressof((ctypes.c_char * len(self.room)).from_buffer(self.room))
        return self.address


_records = _Records()


@lru_cache(maxsize=64)
def _packed(tensors: int) -> Struct:
    """What packs the records of so many tensors; what is found begins as zeros."""
    return Struct("<" + tensors * "QqqQQdQQqqqQQd")


class _Entries(threading.local):
    """Memory for the entries of the tensor that a thread rounds: set aside once, and touched where there are some."""

    def __init__(self) -> None:
        self.room = np.empty(0, np.int64)
        self.address = 0

    def provide(self, words: int) -> int:
        """Return the address of memory for so many numbers."""
        if words > self.room.size:
            # Of its own: the C library would take it from memory that was touched before.
            self.room = np.frombuffer(map_memory(8 * words), np.int64)
            self.address = self.room.ctypes.data
        return self.address

    def release(self) -> None:
        """Give the memory back."""
        self.room = np.empty(0, np.int64)


_entries = _Entries()


class CpuKernel:
    """Rounds float64 and float32 tensors in memory.

    Args:
        threads: Threads for large tensors, the calling one included.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads

    def close(self) -> None:
        """Give back the memory that was set aside for entries."""
        _entries.release()

    def round(self, y: FloatArray, grid: Grid, tau: float, key: int) -> Rounded:
        """Round a tensor in place and report the decisions that lie within ``tau`` of a midpoint.

        Args:
            y: float64 or float32 ``[n]``, contiguous; overwritten with the rounded values.
            grid: The grid.
            tau: Largest distance from a midpoint, inclusive, at which a decision is reported.
            key: Fingerprint key, 0 to 2^64 - 1.
        """
        assert y.flags.c_contiguous
        return self.round_at(y.ctypes.data, y.size, y.itemsize, grid, tau, key)

    def round_at(self, address: int, count: int, item: int, grid: Grid, tau: float, key: int) -> Rounded:
        """The same of ``count`` elements of ``item`` bytes, 8 or 4, at an address."""
        parts = -(-count // PART)
        found, total, largest, after = self._round(
            address, count, item, 0, (grid.floor_biased, grid.significand_bits, tau, key), _CAPACITY, parts
        )
        return _told(found, total, largest, after)

    def round_several(self, tensors: Sequence[Unrounded]) -> list[Rounded]:
        """Round several tensors, as :meth:`round_at` does each; what one call takes by itself is paid once.

        Args:
            tensors: The tensors, which lie apart from each other.
        """
        if self._threads > 1 and any(one.elements > PART for one in tensors):
            return [self.round_at(*one) for one in tensors]
        capacities = [min(_CAPACITY * -(-one.elements // PART), one.elements + _CHUNK) for one in tensors]
        entries = _entries.provide(sum(capacities))
        table = _records.provide(len(tensors))
        numbers: list[float] = []
        for (address, count, item, grid, tau, key), capacity in zip(tensors, capacities, strict=True):
            numbers += (
                address, count, item, grid.floor_biased, grid.significand_bits, tau, key, entries, capacity,
                0, 0, 0, 0, 0.0,
            )  # fmt: skip
            entries += 8 * capacity
        packed = _packed(len(tensors))
        packed.pack_into(_records.room, 0, *numbers)
        _ROUNDING_SEVERAL.run(1, len(tensors), table)
        told = packed.unpack_from(_records.room, 0)
        rounded, start = [], 0
        unfinished = []
        for place, (one, capacity) in enumerate(zip(tensors, capacities, strict=True)):
            end, collected, total, largest, after = told[14 * place + 9 : 14 * place + 14]
            found = [_entries.room[start : start + collected]] if collected else []
            start += capacity
            if end < one.elements:
                unfinished.append((place, end))
            rounded.append(_told(found, total, largest, after))
        # These use the memory of the entries again, which were taken by now.
        for place, end in unfinished:
            address, count, item, grid, tau, key = tensors[place]
            settings = grid.floor_biased, grid.significand_bits, tau, key
            parts = -(-(count - end) // PART)
            rest = self._round(address + item * end, count - end, item, end, settings, PART + _CHUNK, parts)
            rounded[place] = _joined(rounded[place], _told(*rest))
        return rounded

    def _round(
        self,
        address: int,
        count: int,
        item: int,
        first: int,
        settings: tuple[int, int, float, int],
        capacity: int,
        parts: int,
    ) -> tuple[Sequence[Int64Array], int, int, float]:
        """Round; returns the entries, twice the index and 1 for up, the fingerprint, the largest before and after.

        The largest magnitude before rounding is given as its bits.
        """
        # A part's end and its number of entries; then the entries.
        ends = _entries.provide(parts * (2 + capacity))
        total, largest, collected, after = _ROUNDING.run(
            min(self._threads, parts), parts, count, address, item, first, *settings, ends, ends + 16 * parts, capacity
        )
        if not collected:
            return (), total, largest, after
        room = _entries.room
        if parts == 1 and collected < _UNFINISHED:
            return (room[2 : 2 + collected],), total, largest, after
        found = []
        known = room[: 2 * parts].tolist()
        mine = room[2 * parts : parts * (2 + capacity)].reshape(parts, capacity)
        if collected < _UNFINISHED:
            return [mine[part, :n] for part, n in enumerate(known[1::2]) if n], total, largest, after
        kept = [mine[part, :n].copy() for part, n in enumerate(known[1::2])]
        for part, start in enumerate(known[::2]):
            found.append(kept[part])
            end = min((part + 1) * PART, count)
            if start < end:
                more, added, *tops = self._round(
                    address + item * start, end - start, item, first + start, settings, PART + _CHUNK, 1
                )
                found.extend(piece.copy() for piece in more)
                total, largest, after = (total + added) & _MASK64, max(largest, tops[0]), max(after, tops[1])
        return found, total, largest, after

    def fingerprint(self, integers: npt.NDArray[np.uint64], key: int) -> int:
        """Return the fingerprint of integers: a sum mod 2^64 of :func:`_mix` over the elements.

        Args:
            integers: uint64 ``[n]``, contiguous: two's complement.
            key: Fingerprint key, 0 to 2^64 - 1.
        """
        return self._mix(_MIXING_INTEGERS, integers.ctypes.data, integers.size, 8, key)[0]

    def fingerprint_finite(self, values: FloatArray, key: int) -> tuple[int, bool]:
        """Return the fingerprint of values that are not rounded, and whether all of them are finite.

        Args:
            values: float64 or float32 ``[n]``, contiguous; the fingerprint is that of their float64 bits, where all
                that are not a number count as one.
            key: Fingerprint key, 0 to 2^64 - 1.
        """
        assert values.flags.c_contiguous
        total, largest = self.fingerprint_at(values.ctypes.data, values.size, values.itemsize, key)
        return total, math.isfinite(largest)

    def fingerprint_at(self, address: int, count: int, item: int, key: int) -> tuple[int, float]:
        """The same of ``count`` elements of ``item`` bytes, 8 or 4, at an address, and the largest magnitude.

        That is infinite, or not a number, where an element is.
        """
        total, largest = self._mix(_MIXING, address, count, item, key)
        return total, float_of(largest)

    def _mix(self, region: Region, address: int, count: int, item: int, key: int) -> tuple[int, int]:
        parts = -(-count // PART)
        total, largest = region.run(min(self._threads, parts), parts, count, address, item, key)
        return total, largest


def _told(found: Sequence[Int64Array], total: int, largest: int, after: float) -> Rounded:
    """Return what was found as it is reported; the largest magnitude before rounding is given as its bits."""
    before = (largest >> 52) - FLOAT64_BIAS
    if not found:
        return Rounded(_NO_INDICES, _NO_UPS, total, before, after)
    entries = np.concatenate(found) if len(found) > 1 else found[0]
    return Rounded(entries >> 1, (entries & 1).astype(np.bool_), total, before, after)


def _joined(one: Rounded, other: Rounded) -> Rounded:
    """Return what two ranges of a tensor, one behind the other, gave together."""
    return Rounded(
        np.concatenate([one.indices, other.indices]),
        np.concatenate([one.ups, other.ups]),
        (one.fingerprint + other.fingerprint) & _MASK64,
        max(one.largest_exponent, other.largest_exponent),
        max(one.largest, other.largest),
    )


_NO_INDICES, _NO_UPS = np.empty(0, np.int64), np.empty(0, np.bool_)
