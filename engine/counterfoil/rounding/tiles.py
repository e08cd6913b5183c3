"""Computes a chain of elementwise operators block by block, and rounds, detects and fingerprints in the same sweep.

One compiled loop runs the instructions of a chain (:mod:`counterfoil.program.chains`) on a block of 1024 elements after
another, while the block lies in the first-level cache. Each instruction is one correctly rounded operation or a
selection, so the bits are those of torch's operators on the whole tensors: no fast-math, nothing is fused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil import buffers
from counterfoil.cancel import check_cancelled
from counterfoil.definite.bitcasts import as_bits, as_float
from counterfoil.definite.regions import JOB_WORDS, Region, add_atomically, at_address, carray, job
from counterfoil.program.chains import Chain, Code, Instruction
from counterfoil.rounding.grid import ACCEPTANCE_FACTOR, FLOAT64_BIAS, Grid
from counterfoil.rounding.kernel_cpu import CANONICAL_NAN, INFINITY, MAGNITUDE, PART, _collect, _mix, rounded_element

BLOCK = 1024
"""Elements of a block: 8 KiB of float64, of which an optimizer's update needs about five at once."""
_PARTS_AT_ONCE = 128
"""Parts between two looks at the cancel token: four million elements."""
_ROOM = PART // 4 + BLOCK
"""Close decisions that a part has room for at first."""
_SITE_SHIFT = 46
"""Where the number of a site begins in a close decision's entry, above the index and below the sign."""
DTYPES = {"float64": torch.float64, "float32": torch.float32, "bool": torch.bool}
"""The dtype of a tensor of a chain by its name."""

Indices = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SiteRounding:
    """How one rounding site of a chain is rounded.

    Attributes:
        grid: The grid.
        tau: Largest distance from a midpoint, inclusive, at which a decision is reported.
        key: The fingerprint key of its place.
        indices: int64 ``[k]``, ascending: elements whose direction is prescribed, where the own value lies within twice
            the grid's tau of the midpoint.
        ups: bool ``[k]``: the directions.
    """

    grid: Grid
    tau: float
    key: int
    indices: Indices
    ups: Bools


@dataclass(frozen=True)
class SweptSite:
    """What came to light at a rounding site of a chain.

    Attributes:
        indices: int64 ``[n]``: as :attr:`counterfoil.rounding.result.Rounded.indices`.
        ups: bool ``[n]``: whether each was rounded up.
        fingerprint: The fingerprint of the rounded values, before any prescribed direction.
        largest_exponent: floor(log2) of the largest magnitude before rounding, as in ``Rounded``.
        own: float64 ``[k]``: values before rounding of the elements with a prescribed direction.
        rounded: float64 ``[k]``: the same, rounded.
    """

    indices: Indices
    ups: Bools
    fingerprint: int
    largest_exponent: int
    own: Floats
    rounded: Floats


@dataclass(frozen=True)
class Swept:
    """What a chain gave.

    Attributes:
        results: Its results in the order of the chain.
        finite: For each result whether it is float32 and all of it finite.
        sites: One for each rounding site.
        watched: The fingerprint of each watched value.
    """

    results: list[Tensor]
    finite: tuple[bool, ...]
    sites: tuple[SweptSite, ...]
    watched: tuple[int, ...]


def sweep(
    chain: Chain,
    operands: Sequence[Tensor],
    scalars: Sequence[float],
    sites: Sequence[SiteRounding] | None,
    watch_keys: Sequence[int] = (),
) -> Swept:
    """Compute a chain, with as many threads as torch uses.

    Args:
        chain: The chain.
        operands: Its operands on the CPU, contiguous, each ``chain.elements`` elements of the dtype that it says.
        scalars: Its scalars.
        sites: How each site is rounded; None leaves the results as computed, and fingerprints nothing.
        watch_keys: The fingerprint key of each watched value.

    Raises:
        CancelledError: The token that is looked at was set.
    """
    results = [buffers.empty(chain.shape, DTYPES[item.dtype]) for item in chain.results]
    whole = [*operands, *results]
    assert all(tensor.is_contiguous() and tensor.numel() == chain.elements for tensor in whole)
    table = _Table(chain, whole, scalars, sites, watch_keys, capacity=_ROOM)
    table.run()
    if table.crowded:
        # At the finest margins up to a quarter of the elements of each site are close; at most all of them.
        table = _Table(chain, whole, scalars, sites, watch_keys, capacity=PART * len(chain.sites) + BLOCK)
        table.run()
    narrowed = table.narrowed[:, len(operands) :].max(axis=0)
    finite = tuple(
        item.dtype == "float32" and int(top) < INFINITY for item, top in zip(chain.results, narrowed, strict=True)
    )
    return Swept(results, finite, table.sites(), tuple(table.watched.sum(axis=0, dtype=np.uint64).tolist()))


class _Table:
    """What the parts of a sweep are told, and what they found: arrays, which compiled code knows by their addresses."""

    def __init__(
        self,
        chain: Chain,
        whole: Sequence[Tensor],
        scalars: Sequence[float],
        sites: Sequence[SiteRounding] | None,
        watch_keys: Sequence[int],
        *,
        capacity: int,
    ) -> None:
        self._parts = -(-chain.elements // PART)
        instructions = _listed(chain.plain if sites is None else chain.rounding)
        sites = sites or ()
        self._starts = np.cumsum([0, *(len(site.indices) for site in sites)]).astype(np.int64)
        self._own = np.zeros(int(self._starts[-1]))
        self._rounded = np.zeros(int(self._starts[-1]))
        self._totals = np.zeros((self._parts, len(sites)), np.uint64)
        self._largest = np.zeros((self._parts, len(sites)), np.uint64)
        self.watched = np.zeros((self._parts, len(watch_keys)), np.uint64)
        """uint64 ``[parts, watched]``: fingerprint sums."""
        self.narrowed = np.zeros((self._parts, len(whole)), np.uint64)
        """uint64 ``[parts, tensors]``: the bits of the largest magnitude of each that was narrowed."""
        self._entries = np.empty((self._parts, capacity if sites else 0), np.int64)
        self._found = np.zeros(self._parts, np.int64)
        arrays = (
            instructions,
            np.array([tensor.data_ptr() for tensor in whole], np.int64),
            np.array([tensor.element_size() for tensor in whole], np.int64),
            np.array(scalars, np.float64),
            np.array([site.grid.floor_exponent + FLOAT64_BIAS for site in sites], np.int64),
            np.array([site.grid.significand_bits for site in sites], np.int64),
            np.array([site.tau for site in sites], np.float64),
            np.array([ACCEPTANCE_FACTOR * site.grid.tau for site in sites], np.float64),
            np.array([site.key for site in sites], np.uint64),
            self._starts,
            np.concatenate([np.zeros(0, np.int64), *(site.indices for site in sites)]),
            np.concatenate([np.zeros(0, np.uint8), *(site.ups.view(np.uint8) for site in sites)]),
            self._own,
            self._rounded,
            np.array(watch_keys, np.uint64),
            self._totals,
            self._largest,
            self.watched,
            self.narrowed,
            self._entries,
            self._found,
        )
        assert all(array.flags.c_contiguous for array in arrays)
        self._alive = arrays, whole
        sizes = (chain.elements, len(instructions), len(whole), chain.slots, len(scalars), len(sites), len(watch_keys))
        self._words = np.array([*sizes, self._entries.shape[1], *(array.ctypes.data for array in arrays)], np.int64)

    def run(self) -> None:
        """Run the parts.

        Raises:
            CancelledError: The token that is looked at was set.
        """
        threads = torch.get_num_threads()
        for start in range(0, self._parts, _PARTS_AT_ONCE):
            check_cancelled()
            count = min(_PARTS_AT_ONCE, self._parts - start)
            _JOB.pack_into(job.words, 0, 0, count, self._words.ctypes.data, start)
            _RUN.run(job.address, min(threads, count))

    @property
    def crowded(self) -> bool:
        """Whether a part had more close decisions than room for them."""
        return bool((self._found < 0).any())

    def sites(self) -> tuple[SweptSite, ...]:
        """Return what was found at each site."""
        filled = [self._entries[part, :n] for part, n in enumerate(self._found.tolist()) if n]
        entries = np.concatenate(filled) if filled else np.empty(0, np.int64)
        of_site = entries >> (_SITE_SHIFT + 1)
        entries = entries & ((1 << (_SITE_SHIFT + 1)) - 1)
        totals = self._totals.sum(axis=0, dtype=np.uint64).tolist()
        largest = self._largest.max(axis=0).tolist()
        return tuple(
            self._site(n, entries[of_site == n], total, top)
            for n, (total, top) in enumerate(zip(totals, largest, strict=True))
        )

    def _site(self, n: int, entries: Indices, total: int, largest: int) -> SweptSite:
        own = slice(int(self._starts[n]), int(self._starts[n + 1]))
        return SweptSite(
            indices=entries >> 1,
            ups=(entries & 1).astype(np.bool_),
            fingerprint=total,
            largest_exponent=(largest >> 52) - FLOAT64_BIAS,
            own=self._own[own],
            rounded=self._rounded[own],
        )


def _listed(instructions: Sequence[Instruction]) -> npt.NDArray[np.int64]:
    """Return instructions as int64 ``[n, 5]``."""
    rows = [(int(one.code), one.target, one.first, one.second, one.third) for one in instructions]
    return np.array(rows, np.int64).reshape(-1, 5)


# Compiled.


_WIDEN, _TRUTH, _FILL = int(Code.WIDEN), int(Code.TRUTH), int(Code.FILL)
_ADD, _ADD_S, _SUB, _SUB_S, _SUB_FROM_S = (
    int(Code.ADD), int(Code.ADD_S), int(Code.SUB), int(Code.SUB_S), int(Code.SUB_FROM_S)
)  # fmt: skip
_MUL, _MUL_S, _DIV, _DIV_S, _DIV_FROM_S = (
    int(Code.MUL), int(Code.MUL_S), int(Code.DIV), int(Code.DIV_S), int(Code.DIV_FROM_S)
)  # fmt: skip
_SQRT, _NEG, _ABS, _MAX, _MIN = int(Code.SQRT), int(Code.NEG), int(Code.ABS), int(Code.MAX), int(Code.MIN)
_OF_ONE = (_SQRT, _NEG, _ABS)
_OF_A_NUMBER = (_ADD_S, _SUB_S, _SUB_FROM_S, _MUL_S, _DIV_S, _DIV_FROM_S)
_LT, _LE, _EQ, _NE, _WHERE = int(Code.LT), int(Code.LE), int(Code.EQ), int(Code.NE), int(Code.WHERE)
_ROUND, _WATCH, _NARROW, _DECIDE = int(Code.ROUND), int(Code.WATCH), int(Code.NARROW), int(Code.DECIDE)


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _one(code: int, target: Any, a: Any) -> None:
    """Instructions of one operand, float64 ``[n]`` each."""
    if code == _SQRT:
        for i in range(target.size):
            target[i] = np.sqrt(a[i])
    elif code == _NEG:
        for i in range(target.size):
            target[i] = -a[i]
    else:
        for i in range(target.size):
            target[i] = abs(a[i])


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _with_number(code: int, target: Any, a: Any, s: float) -> None:
    """Instructions of an operand and a number."""
    if code == _ADD_S:
        for i in range(target.size):
            target[i] = a[i] + s
    elif code == _SUB_S:
        for i in range(target.size):
            target[i] = a[i] - s
    elif code == _SUB_FROM_S:
        for i in range(target.size):
            target[i] = s - a[i]
    elif code == _MUL_S:
        for i in range(target.size):
            target[i] = a[i] * s
    elif code == _DIV_S:
        for i in range(target.size):
            target[i] = a[i] / s
    else:
        for i in range(target.size):
            target[i] = s / a[i]


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _two(code: int, target: Any, a: Any, b: Any) -> None:
    """Instructions of two operands."""
    if code == _ADD:
        for i in range(target.size):
            target[i] = a[i] + b[i]
    elif code == _SUB:
        for i in range(target.size):
            target[i] = a[i] - b[i]
    elif code == _MUL:
        for i in range(target.size):
            target[i] = a[i] * b[i]
    elif code == _DIV:
        for i in range(target.size):
            target[i] = a[i] / b[i]
    elif code == _MAX:
        # What is not a number stays so; the zero of either sign becomes +0.
        for i in range(target.size):
            x, y = a[i], b[i]
            target[i] = (x if x > y or x != x else y) + 0.0
    elif code == _MIN:
        for i in range(target.size):
            x, y = a[i], b[i]
            target[i] = (x if x < y or x != x else y) + 0.0
    elif code == _LT:
        for i in range(target.size):
            target[i] = 1.0 if a[i] < b[i] else 0.0
    elif code == _LE:
        for i in range(target.size):
            target[i] = 1.0 if a[i] <= b[i] else 0.0
    elif code == _EQ:
        for i in range(target.size):
            target[i] = 1.0 if a[i] == b[i] else 0.0
    else:
        for i in range(target.size):
            target[i] = 1.0 if a[i] != b[i] else 0.0


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _watch(a: Any, base: Any, key: Any) -> Any:
    """Sum of the fingerprint terms of a block; ``base`` is the index of its first element."""
    infinity = np.uint64(INFINITY)
    total = np.uint64(0)
    for i in range(a.size):
        bits: Any = as_bits(a[i])
        strange = (bits & np.uint64(MAGNITUDE)) > infinity
        total += _mix(np.uint64(CANONICAL_NAN) if strange else bits, base + np.uint64(i), key)
    return total


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _narrow(target: Any, a: Any) -> Any:
    """Round to float32, ties to even; returns the bits of the largest magnitude of the results as float64."""
    largest = np.uint64(0)
    for i in range(target.size):
        value = np.float32(a[i])
        target[i] = value
        largest = max(largest, as_bits(np.float64(value)) & np.uint64(MAGNITUDE))
    return largest


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _round(
    target: Any, a: Any, flags: Any, floor: Any, p: Any, tau: float, base: Any, key: Any
) -> tuple[Any, Any, Any]:
    """Round a block as :func:`counterfoil.rounding.kernel_cpu._round_parts` rounds a chunk.

    Returns the number of close decisions, which are flagged; the sum of the fingerprint terms; the bits of the largest
    magnitude before rounding.
    """
    total = np.uint64(0)
    largest = np.uint64(0)
    near_count = np.uint64(0)
    for i in range(target.size):
        rounded, near, up, magnitude = rounded_element(a[i], floor, p, tau)
        largest = max(largest, magnitude)
        near_count += np.uint64(1) if near else np.uint64(0)
        flags[i] = np.uint8(near) + np.uint8(2) * np.uint8(up)
        target[i] = rounded
        total += _mix(as_bits(rounded), base + np.uint64(i), key)
    return near_count, total, largest


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _directed(own: float, rounded: float, up: bool, floor: Any, p: Any, accepted: float) -> float:
    """One element of :func:`counterfoil.rounding.following.judged`, for finite values."""
    biased = (as_bits(own) >> np.uint64(52)) & np.uint64(0x7FF)
    half = as_float((max(biased, floor) - p) << np.uint64(52))
    remainder = own - rounded
    if half - abs(remainder) <= accepted and up != (remainder < 0.0):
        rounded = rounded + np.copysign(2.0 * half, remainder)
    return rounded + 0.0


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _run_block(
    instructions: Any, at: Any, count: Any, start: Any, part: Any, scalars: Any, flags: Any, sites: Any, watching: Any
) -> bool:
    """Run all instructions on a block of ``count`` elements, of which ``start`` is the first; ``at`` holds addresses.

    Returns whether there was room for its close decisions.
    """
    floors, significands, taus, accepteds, keys, log_starts, log_indices, log_ups, own, before, cursors = sites[0]
    totals, largest, entries, found = sites[1]
    watch_keys, watched, narrowed = watching
    base = np.uint64(start)
    for row in range(instructions.shape[0]):
        code = instructions[row, 0]
        slot = instructions[row, 1]
        second = instructions[row, 3]
        # Where these are of another type than float64 the view is not used.
        target = carray(at_address(at[slot]), (count,), np.float64)
        a = carray(at_address(at[instructions[row, 2]]), (count,), np.float64)
        if code == _WIDEN:
            single = carray(at_address(at[instructions[row, 2]]), (count,), np.float32)
            for i in range(count):
                target[i] = np.float64(single[i])
        elif code == _TRUTH:
            truths = carray(at_address(at[instructions[row, 2]]), (count,), np.uint8)
            for i in range(count):
                target[i] = 1.0 if truths[i] != 0 else 0.0
        elif code == _FILL:
            target[:] = scalars[second]
        elif code in _OF_ONE:
            _one(code, target, a)
        elif code in _OF_A_NUMBER:
            _with_number(code, target, a, scalars[second])
        elif code == _WHERE:
            x = carray(at_address(at[second]), (count,), np.float64)
            y = carray(at_address(at[instructions[row, 4]]), (count,), np.float64)
            for i in range(count):
                target[i] = x[i] if a[i] != 0.0 else y[i]
        elif code == _WATCH:
            watched[part, second] += _watch(a, base, watch_keys[second])
        elif code == _NARROW:
            narrow = carray(at_address(at[slot]), (count,), np.float32)
            narrowed[part, slot] = max(narrowed[part, slot], _narrow(narrow, a))
        elif code == _DECIDE:
            decided = carray(at_address(at[slot]), (count,), np.uint8)
            for i in range(count):
                decided[i] = 1 if a[i] != 0.0 else 0
        elif code == _ROUND:
            floor = np.uint64(floors[second])
            p = np.uint64(significands[second])
            near_count, total, top = _round(target, a, flags, floor, p, taus[second], base, keys[second])
            totals[part, second] += total
            largest[part, second] = max(largest[part, second], top)
            if near_count:
                if found[part] + np.int64(near_count) > entries.shape[1]:
                    return False
                used = (count + 7) >> 3
                flags[count : 8 * used] = 0
                first = start + (second << _SITE_SHIFT)
                found[part] = _collect(flags.view(np.uint64), used, first, entries[part], found[part])
            entry = cursors[second]
            while entry < log_starts[second + 1] and log_indices[entry] < start + count:
                i = log_indices[entry] - start
                own[entry] = a[i]
                before[entry] = target[i]
                target[i] = _directed(a[i], target[i], log_ups[entry] != 0, floor, p, accepteds[second])
                entry += 1
            cursors[second] = entry
        else:
            _two(code, target, a, carray(at_address(at[second]), (count,), np.float64))
    return True


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _run_parts(pointer: Any) -> None:
    """Claim and run parts; the job is that of :data:`_JOB`, the table as :class:`_Table` lays it out."""
    given = carray(pointer, (JOB_WORDS,))
    table = carray(at_address(given[2]), (29,), np.int64)
    elements, steps, whole, slots, numbers, sites, watches, capacity = (
        table[0], table[1], table[2], table[3], table[4], table[5], table[6], table[7]
    )  # fmt: skip
    parts = (elements + PART - 1) // PART
    instructions = carray(at_address(table[8]), (steps, 5), np.int64)
    addresses = carray(at_address(table[9]), (whole,), np.int64)
    widths = carray(at_address(table[10]), (whole,), np.int64)
    scalars = carray(at_address(table[11]), (numbers,), np.float64)
    log_starts = carray(at_address(table[17]), (sites + 1,), np.int64)
    logged = log_starts[sites]
    log_indices = carray(at_address(table[18]), (logged,), np.int64)
    cursors = np.empty(sites, np.int64)
    found = carray(at_address(table[28]), (parts,), np.int64)
    rounding = (
        (
            carray(at_address(table[12]), (sites,), np.int64),
            carray(at_address(table[13]), (sites,), np.int64),
            carray(at_address(table[14]), (sites,), np.float64),
            carray(at_address(table[15]), (sites,), np.float64),
            carray(at_address(table[16]), (sites,), np.uint64),
            log_starts,
            log_indices,
            carray(at_address(table[19]), (logged,), np.uint8),
            carray(at_address(table[20]), (logged,), np.float64),
            carray(at_address(table[21]), (logged,), np.float64),
            cursors,
        ),
        (
            carray(at_address(table[23]), (parts, sites), np.uint64),
            carray(at_address(table[24]), (parts, sites), np.uint64),
            carray(at_address(table[27]), (parts, capacity), np.int64),
            found,
        ),
    )
    watching = (
        carray(at_address(table[22]), (watches,), np.uint64),
        carray(at_address(table[25]), (parts, watches), np.uint64),
        carray(at_address(table[26]), (parts, whole), np.uint64),
    )
    block = np.empty((slots - whole + 1, BLOCK), np.float64)
    flags = np.zeros(BLOCK, np.uint8)
    at = np.empty(slots, np.int64)
    for n in range(whole, slots):
        at[n] = block[n - whole].ctypes.data
    while True:
        claimed = add_atomically(pointer, 0, np.uint64(1))
        if claimed >= given[1]:
            break
        part = np.int64(claimed) + np.int64(given[3])
        start, end = part * PART, min(elements, (part + 1) * PART)
        for n in range(sites):
            cursors[n] = log_starts[n] + np.searchsorted(log_indices[log_starts[n] : log_starts[n + 1]], start)
        while start < end:
            count = min(BLOCK, end - start)
            for n in range(whole):
                at[n] = addresses[n] + start * widths[n]
            if not _run_block(instructions, at, count, start, part, scalars, flags, rounding, watching):
                found[part] = -1
                break
            start += count
    # The name keeps the memory of the block alive for as long as its addresses are used.
    block[0, 0] = 0.0


def _run(pointer: Any) -> None:
    _run_parts(pointer)


_RUN = Region(_run)
_JOB = Struct("<4Q")
"""Job of a sweep: part, parts; address of the table; number of the first part."""
