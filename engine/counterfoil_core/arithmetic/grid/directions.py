"""Logged directions, applied to the values of a machine of one's own, and what they show; compiled."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.kernels.cache import kernel
from counterfoil_core.kernels.cpu.magnitudes import as_bits
from counterfoil_core.kernels.cpu.regions import Region, at_address, carray, entered, floats_at, left, record_at
from counterfoil_core.kernels.cpu.rounding import _mix, change_of_fingerprint, directed_element
from counterfoil_core.kernels.grid import ACCEPTANCE_FACTOR, Grid
from counterfoil_core.kernels.result import Counts

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Int64Array = npt.NDArray[np.int64]


class Settled(NamedTuple):
    """What putting logged directions in place showed at one site."""

    counts: Counts  #: What came to light, own decisions that are not in the log among it.
    change: int  #: What the fingerprint changes by, mod 2^64.
    largest_gone: float  #: Largest magnitude of the values that were replaced, and 0 where there is none.
    largest_new: float  #: Largest magnitude of what was put in their place, and 0 where there is none.


class Directions:
    """The logged directions of a step, put in place in the CPU's memory: all in one piece, known by their addresses.

    Args:
        logs: The log of each site of the step.
    """

    def __init__(self, logs: Sequence[SiteLog]) -> None:
        self.entries = [len(log.indices) for log in logs]
        """Number of entries of each site."""
        self._starts = [0, *accumulate(self.entries)]
        kept = [log for log, count in zip(logs, self.entries, strict=True) if count]
        self._indices: Int64Array = np.concatenate([_NO_INDICES, *(log.indices for log in kept)])
        self._ups: BoolArray = np.concatenate([_NO_UPS, *(log.ups for log in kept)])
        count = self._starts[-1]
        assert self._indices.itemsize == 8
        assert self._ups.itemsize == 1
        assert self._ups.size == count
        self._own, self._changed = np.empty(count), np.empty(count, np.bool_)
        arrays = self._indices, self._ups, self._own, self._changed
        self._addresses: list[int] = [array.ctypes.data for array in arrays]

    def changed(self, site: int) -> BoolArray:
        """Return for each entry of a site that was settled whether the value is another one now; bool ``[k]``."""
        return self._changed[self._starts[site] : self._starts[site + 1]]

    def note(self, site: int, flat: Tensor) -> None:
        """Keep the own values that the entries of a site name, before these are rounded.

        Args:
            site: The site.
            flat: float64 or float32 ``[n]``, contiguous: its values.

        Raises:
            IndexError: An entry names no value; a log that was decoded has no such.
        """
        start = self._starts[site]
        indices, _, own, _ = self._addresses
        (wrong,) = _NOTING.run(
            1, flat.data_ptr(), flat.numel(), flat.itemsize, self.entries[site], indices + 8 * start, own + 8 * start
        )
        if wrong:
            raise IndexError("an entry of a log names no value")

    def settle(self, site: int, flat: Tensor, grid: Grid, honest: float, key: int, found: Int64Array | None) -> Settled:
        """Put the logged directions of a site in place, as :func:`apply_directions` says, and count what they show.

        Args:
            site: The site; its own values were noted before they were rounded.
            flat: Its values, rounded by now; overwritten.
            grid: The grid.
            honest: The share of tau beyond which conforming values round to the same side.
            key: The site's fingerprint key.
            found: int64 ``[n]``, ascending: elements whose decision must be in the log; None where none must be.
        """
        start, entries = self._starts[site], self.entries[site]
        indices, ups, own, changed = self._addresses
        must = 0 if found is None else found.size
        change, gone, new, missing, corrections, contradictions, *rest = _SETTLING.run(
            1, flat.data_ptr(), flat.itemsize, entries, indices + 8 * start, ups + start, own + 8 * start,
            changed + start, grid.floor_biased, grid.significand_bits, ACCEPTANCE_FACTOR * grid.tau, honest * grid.tau,
            key, 0 if found is None or not must else found.ctypes.data, must,
        )  # fmt: skip
        return Settled(Counts(entries, corrections, contradictions, missing, *rest), change, gone, new)


class DirectionsElsewhere(Directions):
    """The same for values that lie elsewhere than in the CPU's memory."""

    def note(self, site: int, flat: Tensor) -> None:
        """Keep own values, as :meth:`Directions.note`."""
        self._of(self._own, site)[:] = self._named(site, flat).double().cpu().numpy()

    def settle(self, site: int, flat: Tensor, grid: Grid, honest: float, key: int, found: Int64Array | None) -> Settled:
        """Put directions in place, as :meth:`Directions.settle`."""
        own, before = self._of(self._own, site), self._named(site, flat).double().cpu().numpy()
        counts, after, changed = apply_directions(own, before, self._of(self._ups, site), grid, honest)
        self._of(self._changed, site)[:] = changed
        logged = self._of(self._indices, site)
        if found is not None and (missing := absent(found, logged)):
            counts += Counts(omissions=missing)
        if not counts.corrections:
            return Settled(counts, 0, 0.0, 0.0)
        where, old, new = logged[changed], before[changed], after[changed]
        flat[torch.from_numpy(where).to(flat.device)] = torch.from_numpy(new).to(flat)
        change = change_of_fingerprint(old, new, where, key)
        return Settled(counts, change, float(np.abs(old).max()), float(np.abs(new).max()))

    def _of(self, array: Any, site: int) -> Any:
        return array[self._starts[site] : self._starts[site + 1]]

    def _named(self, site: int, flat: Tensor) -> Tensor:
        return flat[torch.from_numpy(self._of(self._indices, site)).to(flat.device)]


def absent(found: Int64Array, logged: Int64Array) -> int:
    """Return how many of the indices that were found are not among the logged ones; both ascend."""
    return int(_absent(found, logged)) if found.size else 0


def apply_directions(
    own: FloatArray, rounded: FloatArray, ups: BoolArray, grid: Grid, steerable_share: float
) -> tuple[Counts, FloatArray, BoolArray]:
    """Apply logged directions to single values, and count what they show.

    Args:
        own: float64 ``[k]``: the own values before rounding, none of them NaN.
        rounded: float64 ``[k]``: the same, rounded.
        ups: bool ``[k]``: the trainer's directions.
        grid: The grid.
        steerable_share: The share of tau beyond which conforming values round to the same side.

    Returns:
        The counts; float64 ``[k]``: the values in the trainer's direction where the own value lies within 2 tau of the
        midpoint, else the own rounding; bool ``[k]``: where these differ from the own rounding.
    """
    after, changed = np.empty_like(own), np.empty(len(own), np.bool_)
    tau = grid.tau
    found = _judge(
        own, rounded, ups, np.uint64(grid.floor_biased), np.uint64(grid.significand_bits),
        ACCEPTANCE_FACTOR * tau, steerable_share * tau, after, changed,
    )  # fmt: skip
    return Counts(len(own), *found[:2], 0, *found[2:]), after, changed


@kernel(nogil=True, error_model="numpy")
def _judge(
    own: Any,
    rounded: Any,
    ups: Any,
    floor: Any,
    p: Any,
    acceptable: float,
    honest: float,
    after: Any,
    changed: Any,
) -> tuple[int, int, int, int, int, int]:
    """Apply logged directions, as :func:`apply_directions`; returns the counts from corrections on, omissions apart."""
    corrections = contradictions = steerable = steered = ties = broken = 0
    for i in range(own.size):
        here = rounded[i]
        result, distance = directed_element(own[i], here, ups[i] != 0, floor, p, acceptable)
        accepted = distance <= acceptable
        differs = result != here
        # Further from the midpoint than conforming values differ, both round to the same side: a direction that is
        # another one was chosen.
        chosen = accepted and distance > honest
        tie = distance == 0.0
        after[i] = result
        changed[i] = differs
        corrections += differs
        contradictions += not accepted
        steerable += chosen
        steered += chosen and differs
        ties += tie
        broken += tie and differs
    return corrections, contradictions, steerable, steered, ties, broken


_NO_INDICES, _NO_UPS = np.empty(0, np.int64), np.empty(0, np.bool_)
_NOTE = np.dtype(
    [
        ("values", "u8"), ("count", "i8"), ("item", "i8"), ("entries", "i8"), ("indices", "u8"), ("own", "u8"),
        ("wrong", "i8"),
    ]
)  # fmt: skip
"""Job: address of the values, their number, bytes of one; entries; addresses of indices and own values. What it finds:
entries that are wrong."""
_SETTLE = np.dtype(
    [
        ("values", "u8"), ("item", "i8"), ("entries", "i8"), ("indices", "u8"), ("ups", "u8"), ("own", "u8"),
        ("changed", "u8"), ("floor", "u8"), ("p", "u8"), ("acceptable", "f8"), ("honest", "f8"), ("key", "u8"),
        ("found", "u8"), ("must", "i8"),
        ("change", "u8"), ("gone", "f8"), ("new", "f8"), ("missing", "i8"), ("corrections", "i8"),
        ("contradictions", "i8"), ("steerable", "i8"), ("steered", "i8"), ("ties", "i8"), ("broken", "i8"),
    ]
)  # fmt: skip
"""Job: address of the values, bytes of one; entries; addresses of indices, directions, own values, and of what changed;
biased exponent of the floor, p, largest distance at which a direction is taken, and beyond which it is chosen; key;
address and number of the decisions that were found. What it finds: change of the fingerprint, the largest magnitudes
replaced and put in place; decisions that are missing; the counts of :func:`_judge`."""


@kernel(nogil=True, error_model="numpy")
def _gather(values: Any, indices: Any, own: Any) -> int:
    wrong = 0
    previous = -1
    for i in range(indices.size):
        index = indices[i]
        if previous < index < values.size:
            own[i] = values[index]
        else:
            wrong += 1
        previous = index
    return wrong


def _note(pointer: Any) -> None:
    entered(pointer)
    job = record_at(pointer, _NOTE)
    indices = carray(at_address(job.indices), job.entries, np.int64)
    own = floats_at(job.own, job.entries)
    if job.item == 8:
        job.wrong = _gather(floats_at(job.values, job.count), indices, own)
    else:
        job.wrong = _gather(carray(at_address(job.values), job.count, np.float32), indices, own)
    left(pointer)


@kernel(nogil=True)
def _absent(found: Any, logged: Any) -> int:
    missing = at = 0
    for i in range(found.size):
        while at < logged.size and logged[at] < found[i]:
            at += 1
        missing += at == logged.size or logged[at] != found[i]
    return missing


@kernel(nogil=True, error_model="numpy")
def _apply(pointer: Any, values: Any) -> None:
    """Settle the entries of a site; ``values`` reach up to the last that is named."""
    job = record_at(pointer, _SETTLE)
    entries, key = job.entries, job.key
    indices = carray(at_address(job.indices), entries, np.int64)
    ups = carray(at_address(job.ups), entries, np.uint8)
    own = floats_at(job.own, entries)
    changed = carray(at_address(job.changed), entries, np.uint8)
    found = carray(at_address(job.found), job.must, np.int64)
    # Before and after: of so few elements that memory for them is not set aside.
    before, after = np.empty(entries), np.empty(entries)
    _gather(values, indices, before)
    corrections, contradictions, steerable, steered, ties, broken = _judge(
        own, before, ups, job.floor, job.p, job.acceptable, job.honest, after, changed
    )
    change = np.uint64(0)
    gone = new = 0.0
    for i in range(entries):
        if changed[i]:
            index = indices[i]
            old, result = before[i], after[i]
            values[index] = result
            change += _mix(as_bits(result), np.uint64(index), key) - _mix(as_bits(old), np.uint64(index), key)
            gone, new = max(gone, abs(old)), max(new, abs(result))
    job.change, job.gone, job.new, job.missing = change, gone, new, _absent(found, indices)
    job.corrections, job.contradictions, job.steerable = corrections, contradictions, steerable
    job.steered, job.ties, job.broken = steered, ties, broken


def _settle(pointer: Any) -> None:
    entered(pointer)
    job = record_at(pointer, _SETTLE)
    last = carray(at_address(job.indices), job.entries, np.int64)[job.entries - 1]
    if job.item == 8:
        _apply(pointer, floats_at(job.values, last + 1))
    else:
        _apply(pointer, carray(at_address(job.values), last + 1, np.float32))
    left(pointer)


_NOTING, _SETTLING = Region(_note, _NOTE, "wrong"), Region(_settle, _SETTLE, "change")
