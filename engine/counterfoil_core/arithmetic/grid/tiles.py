"""Computes a chain of elementwise operators block by block, and rounds, detects and fingerprints in the same sweep.

One compiled loop runs the instructions of a chain (:mod:`counterfoil_core.program.chains`) on a block of 1024 elements
after another, while the block lies in the first-level cache. Each instruction is one correctly rounded operation or a
selection, so the bits are those of torch's operators on the whole tensors: no fast-math, nothing is fused.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil_core.arithmetic.grid.instructions import (
    DECIDE,
    FILL,
    NARROW,
    OF_A_NUMBER,
    OF_ONE,
    ROUND,
    TRUTH,
    WATCH,
    WHERE,
    WIDEN,
    of_a_number,
    of_one,
    of_two,
    round_block,
    to_float32,
    watch,
)
from counterfoil_core.base.cancel import check_cancelled
from counterfoil_core.kernels import buffers
from counterfoil_core.kernels.cache import kernel
from counterfoil_core.kernels.cpu.regions import (
    Region,
    at_address,
    carray,
    claimed,
    entered,
    floats_at,
    left,
    record_at,
)
from counterfoil_core.kernels.cpu.rounding import (
    INFINITY,
    PART,
    collect,
    directed_element,
)
from counterfoil_core.kernels.grid import ACCEPTANCE_FACTOR, FLOAT64_BIAS, Grid
from counterfoil_core.program.chains import Chain, ChainStep

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
    """How one rounding site of a chain is rounded."""

    grid: Grid  #: The grid.
    tau: float  #: Largest distance from a midpoint, inclusive, at which a decision is reported.
    key: int  #: The fingerprint key of its place.
    #: int64 ``[k]``, ascending: elements whose direction is prescribed, where the own value lies within twice the
    #: grid's tau of the midpoint.
    indices: Indices
    ups: Bools  #: bool ``[k]``: the directions.


@dataclass(frozen=True)
class SweptSite:
    """What came to light at a rounding site of a chain."""

    indices: Indices  #: int64 ``[n]``: as :attr:`counterfoil_core.kernels.result.Rounded.indices`.
    ups: Bools  #: bool ``[n]``: whether each was rounded up.
    fingerprint: int  #: The fingerprint of the rounded values, before any prescribed direction.
    largest_exponent: int  #: floor(log2) of the largest magnitude before rounding, as in ``Rounded``.
    own: Floats  #: float64 ``[k]``: values before rounding of the elements with a prescribed direction.
    rounded: Floats  #: float64 ``[k]``: the same, rounded.


@dataclass(frozen=True)
class Swept:
    """What a chain gave."""

    results: list[Tensor]  #: Its results in the order of the chain.
    finite: tuple[bool, ...]  #: For each result whether it is float32 and all of it finite.
    sites: tuple[SweptSite, ...]  #: One for each rounding site.
    watched: tuple[int, ...]  #: The fingerprint of each watched value.


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
    # Lists are taken and given back by one operation each, so that several threads may compute one chain.
    spare = _SPARE.setdefault(chain, ([], []))[sites is not None]
    table = spare.pop() if spare else _Table(chain, rounded=sites is not None)
    swept = table.sweep(whole, scalars, sites or (), watch_keys)
    spare.append(table)
    return Swept(results, *swept)


class _Table:
    """What the parts of a sweep are told, and what they found: arrays, which compiled code knows by their addresses.

    All that follows from the chain alone is settled once; a sweep fills in the rest in a few microseconds.

    Args:
        chain: The chain.
        rounded: Whether its sites are rounded.
    """

    def __init__(self, chain: Chain, *, rounded: bool) -> None:
        self._parts = parts = -(-chain.elements // PART)
        self._sites = sites = len(chain.sites) if rounded else 0
        watched = len(chain.watched) if rounded else 0
        self._results = tuple(item.dtype == "float32" for item in chain.results)
        self._narrows = any(self._results)
        self._operands = len(chain.operands)
        operands_and_results = (*chain.operands, *chain.results)
        whole = len(operands_and_results)
        instructions = _listed(chain.rounding if rounded else chain.plain)
        widths = np.array([DTYPES[item.dtype].itemsize for item in operands_and_results], np.int64)
        self._layout = Struct(f"<{whole}q{len(chain.scalars)}d{2 * sites}q{2 * sites}d{sites + watched}Q")
        given_bytes = np.zeros(self._layout.size, np.uint8)
        self._room = given_bytes.data
        self._found = np.zeros(parts * (2 * sites + watched + whole + 1), np.uint64)
        found = np.split(self._found, np.cumsum([parts * n for n in (sites, sites, watched, whole)]))
        self._totals, self._largest, self._watched, self._narrowed = (
            array.reshape(parts, -1 if array.size else 0) for array in found[:-1]
        )
        self._counts = found[-1].view(np.int64)
        self._no_log: tuple[Any, ...] = (np.zeros(sites + 1, np.int64), _NONE, _NONE, _NO_VALUES, _NO_VALUES)
        self._no_log_at = tuple(array.ctypes.data for array in self._no_log)
        counts = (whole, len(chain.scalars), sites, sites, sites, sites, sites)
        given = given_bytes.ctypes.data + 8 * np.cumsum([0, *counts])
        self._table = np.array(
            (
                chain.elements, len(instructions), whole, chain.slots, len(chain.scalars), sites, watched,
                instructions.ctypes.data, widths.ctypes.data, 0, 0, tuple(given.tolist()),
                tuple(array.ctypes.data for array in found), self._no_log_at,
            ),
            _TABLE,
        )  # fmt: skip
        self._table_at = self._table.ctypes.data
        self._alive = instructions, widths

    def sweep(
        self,
        whole: Sequence[Tensor],
        scalars: Sequence[float],
        sites: Sequence[SiteRounding],
        watch_keys: Sequence[int],
    ) -> tuple[tuple[bool, ...], tuple[SweptSite, ...], tuple[int, ...]]:
        """Run all parts; returns what :class:`Swept` has behind the results.

        Raises:
            CancelledError: The token that is looked at was set.
        """
        addresses = [tensor.data_ptr() for tensor in whole]
        if not self._sites and not watch_keys:
            self._layout.pack_into(self._room, 0, *addresses, *scalars)
            self._run()
            return self._finite(), (), ()
        self._layout.pack_into(
            self._room,
            0,
            *addresses,
            *scalars,
            *[site.grid.floor_biased for site in sites],
            *[site.grid.significand_bits for site in sites],
            *[site.tau for site in sites],
            *[ACCEPTANCE_FACTOR * site.grid.tau for site in sites],
            *[site.key for site in sites],
            *watch_keys,
        )
        lengths = [len(site.indices) for site in sites]
        logged = any(lengths)
        log = self._no_log
        if logged:
            log = (
                np.cumsum([0, *lengths], dtype=np.int64),
                np.concatenate([site.indices for site in sites]),
                np.concatenate([site.ups for site in sites]),
                *(np.zeros(sum(lengths)) for _ in range(2)),
            )
            assert all(array.flags.c_contiguous for array in log)
            self._table["log"] = tuple(array.ctypes.data for array in log)
        else:
            self._table["log"] = self._no_log_at
        entries = _NO_ENTRIES
        if sites:
            entries = self._run_with_room(_ROOM)
            if self._counts.min() < 0:
                # At the finest margins up to a quarter of the elements of each site are close; at most all of them.
                entries = self._run_with_room(PART * len(sites) + BLOCK)
        else:
            self._run()
        starts, _, _, own, before = log
        swept = self._swept(entries, starts.tolist(), own, before)
        return self._finite(), swept, tuple(_reduced(np.add, self._watched))

    def _finite(self) -> tuple[bool, ...]:
        """For each result whether it is float32 and all of it finite."""
        if not self._narrows:
            return self._results
        tops = _reduced(np.maximum, self._narrowed)[self._operands :]
        return tuple([is_state and top < INFINITY for is_state, top in zip(self._results, tops, strict=True)])

    def _run_with_room(self, capacity: int) -> Indices:
        """Run the parts with room for so many close decisions each; returns those, int64 ``[parts, capacity]``."""
        entries = np.empty((self._parts, capacity), np.int64)
        self._table["capacity"], self._table["entries"] = capacity, entries.ctypes.data
        self._run()
        return entries

    def _run(self) -> None:
        self._found.fill(0)
        threads = torch.get_num_threads()
        for start in range(0, self._parts, _PARTS_AT_ONCE):
            check_cancelled()
            count = min(_PARTS_AT_ONCE, self._parts - start)
            _SWEEPING.run(min(threads, count), count, self._table_at, start)

    def _swept(self, entries: Indices, starts: Sequence[int], own: Floats, before: Floats) -> tuple[SweptSite, ...]:
        filled = [entries[part, :n] for part, n in enumerate(self._counts.tolist()) if n]
        found = np.concatenate(filled) if filled else _NONE
        of_site = found >> (_SITE_SHIFT + 1)
        found = found & ((1 << (_SITE_SHIFT + 1)) - 1)
        totals, largest = _reduced(np.add, self._totals), _reduced(np.maximum, self._largest)
        swept = []
        for site, (total, top) in enumerate(zip(totals, largest, strict=True)):
            of_this = found[of_site == site] if filled else _NONE
            logged = slice(starts[site], starts[site + 1])
            swept.append(
                SweptSite(
                    indices=of_this >> 1,
                    ups=(of_this & 1).astype(np.bool_),
                    fingerprint=total,
                    largest_exponent=(top >> 52) - FLOAT64_BIAS,
                    own=own[logged],
                    rounded=before[logged],
                )
            )
        return tuple(swept)


def _reduced(how: np.ufunc, found: npt.NDArray[np.uint64]) -> list[int]:
    """Reduce what the parts found, uint64 ``[parts, n]``, to one number each."""
    # Most chains are one part.
    row = found[0] if len(found) == 1 else how.reduce(found, axis=0, dtype=np.uint64)
    numbers: list[int] = row.tolist()
    return numbers


_SPARE: MutableMapping[Chain, tuple[list[_Table], list[_Table]]] = WeakKeyDictionary()
"""Tables of each chain that no sweep uses: those of steps without rounding, and those with."""
_NONE = np.zeros(0, np.int64)
_NO_VALUES = np.zeros(0)
_NO_ENTRIES = np.zeros((0, 0), np.int64)

_GIVEN = np.dtype(
    [(name, "u8") for name in ("whole", "scalars", "floors", "significands", "taus", "accepteds", "keys", "watch_keys")]
)
_FOUND = np.dtype([(name, "u8") for name in ("totals", "largest", "watched", "narrowed", "counts")])
_LOG = np.dtype([(name, "u8") for name in ("starts", "indices", "ups", "own", "before")])
_TABLE = np.dtype(
    [
        ("elements", "i8"), ("steps", "i8"), ("whole", "i8"), ("slots", "i8"), ("scalars", "i8"), ("sites", "i8"),
        ("watched", "i8"), ("instructions", "u8"), ("widths", "u8"), ("capacity", "i8"), ("entries", "u8"),
        ("given", _GIVEN), ("found", _FOUND), ("log", _LOG),
    ]
)  # fmt: skip
"""A table: lengths, and addresses of arrays; those of operands and results stand first among what is given."""
_SWEEP = np.dtype([("parts", "i8"), ("table", "u8"), ("first", "i8")])
"""Job of a sweep: parts; address of the table; number of the first part."""


def _listed(instructions: Sequence[ChainStep]) -> npt.NDArray[np.int64]:
    """Return instructions as int64 ``[n, 5]``."""
    rows = [(int(one.code), one.target, one.first, one.second, one.third) for one in instructions]
    return np.array(rows, np.int64).reshape(-1, 5)


@kernel(nogil=True, error_model="numpy")
def _run_block(
    instructions: Any, at: Any, count: Any, start: Any, part: Any, scalars: Any, codes: Any, sites: Any, watching: Any
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
        if code == WIDEN:
            single = carray(at_address(at[instructions[row, 2]]), (count,), np.float32)
            for i in range(count):
                target[i] = np.float64(single[i])
        elif code == TRUTH:
            truths = carray(at_address(at[instructions[row, 2]]), (count,), np.uint8)
            for i in range(count):
                target[i] = 1.0 if truths[i] != 0 else 0.0
        elif code == FILL:
            target[:] = scalars[second]
        elif code in OF_ONE:
            of_one(code, target, a)
        elif code in OF_A_NUMBER:
            of_a_number(code, target, a, scalars[second])
        elif code == WHERE:
            x = carray(at_address(at[second]), (count,), np.float64)
            y = carray(at_address(at[instructions[row, 4]]), (count,), np.float64)
            for i in range(count):
                # Both are read, so that the choice is no branch.
                one, other = x[i], y[i]
                target[i] = one if a[i] != 0.0 else other
        elif code == WATCH:
            watched[part, second] += watch(a, base, watch_keys[second])
        elif code == NARROW:
            narrow = carray(at_address(at[slot]), (count,), np.float32)
            narrowed[part, slot] = max(narrowed[part, slot], to_float32(narrow, a))
        elif code == DECIDE:
            decided = carray(at_address(at[slot]), (count,), np.uint8)
            for i in range(count):
                decided[i] = 1 if a[i] != 0.0 else 0
        elif code == ROUND:
            floor = np.uint64(floors[second])
            p = np.uint64(significands[second])
            some, total, top = round_block(target, a, codes, floor, p, taus[second], base, keys[second])
            totals[part, second] += total
            largest[part, second] = max(largest[part, second], top)
            if some:
                if found[part] + count > entries.shape[1]:
                    return False
                first = start + (second << _SITE_SHIFT)
                found[part] = collect(codes, count, first, entries[part], found[part], floor, p, taus[second])
            entry = cursors[second]
            while entry < log_starts[second + 1] and log_indices[entry] < start + count:
                i = log_indices[entry] - start
                own[entry] = a[i]
                before[entry] = target[i]
                target[i], _ = directed_element(a[i], target[i], log_ups[entry] != 0, floor, p, accepteds[second])
                entry += 1
            cursors[second] = entry
        else:
            of_two(code, target, a, carray(at_address(at[second]), (count,), np.float64))
    return True


@kernel(nogil=True, error_model="numpy")
def _run_parts(pointer: Any) -> None:
    """Claim and run parts; the job is that of :data:`_SWEEP`."""
    job = record_at(pointer, _SWEEP)
    table = record_at(job.table, _TABLE)
    given, tables, log = table.given, table.found, table.log
    elements, whole, slots, sites, watches = table.elements, table.whole, table.slots, table.sites, table.watched
    parts = (elements + PART - 1) // PART
    instructions = carray(at_address(table.instructions), (table.steps, 5), np.int64)
    widths = carray(at_address(table.widths), whole, np.int64)
    addresses = carray(at_address(given.whole), whole, np.int64)
    scalars = floats_at(given.scalars, table.scalars)
    log_starts = carray(at_address(log.starts), sites + 1, np.int64)
    logged = log_starts[sites]
    log_indices = carray(at_address(log.indices), logged, np.int64)
    cursors = np.empty(sites, np.int64)
    found = carray(at_address(tables.counts), parts, np.int64)
    rounding = (
        (
            carray(at_address(given.floors), sites, np.int64),
            carray(at_address(given.significands), sites, np.int64),
            floats_at(given.taus, sites),
            floats_at(given.accepteds, sites),
            carray(at_address(given.keys), sites, np.uint64),
            log_starts,
            log_indices,
            carray(at_address(log.ups), logged, np.uint8),
            floats_at(log.own, logged),
            floats_at(log.before, logged),
            cursors,
        ),
        (
            carray(at_address(tables.totals), (parts, sites), np.uint64),
            carray(at_address(tables.largest), (parts, sites), np.uint64),
            carray(at_address(table.entries), (parts, table.capacity), np.int64),
            found,
        ),
    )
    watching = (
        carray(at_address(given.watch_keys), watches, np.uint64),
        carray(at_address(tables.watched), (parts, watches), np.uint64),
        carray(at_address(tables.narrowed), (parts, whole), np.uint64),
    )
    block = np.empty((slots - whole + 1, BLOCK), np.float64)
    codes = np.empty(BLOCK, np.uint64)
    at = np.empty(slots, np.int64)
    for n in range(whole, slots):
        at[n] = block[n - whole].ctypes.data
    while True:
        part = job.first + claimed(pointer)
        if part >= job.first + job.parts:
            break
        start, end = part * PART, min(elements, (part + 1) * PART)
        for n in range(sites):
            cursors[n] = log_starts[n] + np.searchsorted(log_indices[log_starts[n] : log_starts[n + 1]], start)
        while start < end:
            count = min(BLOCK, end - start)
            for n in range(whole):
                at[n] = addresses[n] + start * widths[n]
            if not _run_block(instructions, at, count, start, part, scalars, codes, rounding, watching):
                found[part] = -1
                break
            start += count
    # The name keeps the memory of the block alive for as long as its addresses are used.
    block[0, 0] = 0.0


def _run(pointer: Any) -> None:
    entered(pointer)
    _run_parts(pointer)
    left(pointer)


_SWEEPING = Region(_run, _SWEEP)
