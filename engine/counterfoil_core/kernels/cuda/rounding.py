"""The rounding kernel in Triton, for CUDA; the same results, bit for bit, as the CPU kernel.

One pass over memory rounds, detects, collects the close decisions, fingerprints and finds the largest magnitude. What
a pass is told and what it reports lies in device memory, in the row of :class:`Slot` that belongs to the tensor, so
that nobody need wait for it. Sums mod 2^64 and maxima do not depend on the order of the atomic operations; collected
decisions do, and whoever reads them sorts them.

Sums of products could be fused, so the launches ask for none to be; the kernel has none in float64 anyway: rounding
is an addition and a subtraction (see :mod:`counterfoil_core.kernels.cpu.rounding`).

Triton's interpreter runs the same source on the CPU (``TRITON_INTERPRET=1`` before this module is imported), which is
how it is tested where there is no CUDA device.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import triton
import triton.language as tl
from torch import Tensor

from counterfoil_core.kernels.cpu.rounding import INFINITY
from counterfoil_core.kernels.devicenumber import DeviceNumber
from counterfoil_core.kernels.devices import device_of
from counterfoil_core.kernels.grid import FLOAT64_BIAS, ZERO_SCALE, Grid
from counterfoil_core.kernels.result import Rounded

Int64Array = npt.NDArray[np.int64]

BLOCK = 2048
"""Elements of one program on a device."""
_OPTIONS = {"num_warps": 8, "enable_fp_fusion": False}
_OPTIONS_OF_A_LOG = {"num_warps": 16, "maxnreg": 128, "enable_fp_fusion": False}
"""Where directions are taken from a log, a thread has half as many elements; and all registers that so many threads can
have, since an assembler that sees room for more threads would rather spill some."""
INTERPRETED_BLOCK = 1 << 15
"""The same under the interpreter, where a program costs a millisecond whatever its size."""
OWN_TYPES = (torch.float64, torch.float32, torch.int64, torch.int32)
"""What is fingerprinted without a copy in another dtype."""


class Slot(IntEnum):
    """What lies where in the row, int64 ``[16]``, of one tensor: what a pass is told, and what it reports."""

    KEY = 0
    """Told: the fingerprint key."""
    FLOOR = 1
    """Told: the biased exponent below which the quantum no longer shrinks."""
    TAU = 2
    """Told: the bits of the largest distance from a midpoint, inclusive, at which a decision is collected."""
    COUNT = 3
    """Adds up: decisions that were collected."""
    FINGERPRINT = 4
    """Adds up: the fingerprint."""
    LARGEST = 5
    """Grows: the bits of the largest magnitude before rounding."""
    SCALE = 6
    """Reported where a grid is chosen: the bits of S."""
    EXPONENT = 7
    """Reported there too: the E of the grid."""
    TOP = 8
    """Grows: the bits of the largest magnitude after rounding."""
    GIVEN = 9
    """Told where a grid is chosen and a log followed: the trainer's E."""


SLOTS = 16
"""Numbers in a row; the rest is not used, and keeps rows apart in a processor's cache."""

_KEY = tl.constexpr(int(Slot.KEY))
_FLOOR = tl.constexpr(int(Slot.FLOOR))
_TAU = tl.constexpr(int(Slot.TAU))
_COUNT = tl.constexpr(int(Slot.COUNT))
_FINGERPRINT = tl.constexpr(int(Slot.FINGERPRINT))
_LARGEST = tl.constexpr(int(Slot.LARGEST))
_SCALE = tl.constexpr(int(Slot.SCALE))
_EXPONENT = tl.constexpr(int(Slot.EXPONENT))
_TOP = tl.constexpr(int(Slot.TOP))
_GIVEN = tl.constexpr(int(Slot.GIVEN))
_ZERO = tl.constexpr(ZERO_SCALE)
_BIAS = tl.constexpr(FLOAT64_BIAS)
_ENTRIES = tl.constexpr(128)
"""Logged elements that a program takes at once."""
_GOLDEN = tl.constexpr(0x9E3779B97F4A7C15)
_MULTIPLIER = tl.constexpr(0xBF58476D1CE4E5B9)
_MAGNITUDE = tl.constexpr(0x7FFFFFFFFFFFFFFF)
_NAN = tl.constexpr(0x7FF8000000000000)
_INFINITY = tl.constexpr(0x7FF0000000000000)


@triton.jit
def mix(bits: tl.tensor, index: tl.tensor, key: tl.tensor) -> tl.tensor:
    """The fingerprint term of one element: int64 bits and index, uint64 key (:mod:`.kernels.cpu.rounding`)."""
    z = (bits.to(tl.uint64, bitcast=True) ^ key) + (index.to(tl.uint64) + 1) * _GOLDEN
    z = (z ^ (z >> 32)) * _MULTIPLIER
    return z ^ (z >> 29)


@triton.jit
def total_of(terms: tl.tensor) -> tl.tensor:
    """The sum of terms, as int64: addition wraps alike, and atomic addition takes either."""
    return tl.sum(terms.to(tl.int64, bitcast=True), 0)


@triton.jit
def _power(exponent: tl.tensor) -> tl.tensor:
    # The bits of 2^exponent, as ldexp(1, exponent) has them: subnormal below -1022, and 0 below -1074.
    biased = exponent + _BIAS
    low = 51 + biased
    one = low * 0 + 1
    subnormal = tl.where(low >= 0, one << tl.minimum(tl.maximum(low, 0), 51), 0)
    return tl.where(biased >= 1, tl.maximum(biased, 1) << 52, subnormal)


@triton.jit
def _rounded(value: tl.tensor, floor: tl.tensor, p: tl.constexpr) -> tl.tensor:
    """The rounded value and half a quantum; ``floor`` is the biased floor exponent."""
    bits = value.to(tl.int64, bitcast=True)
    exponent = tl.maximum((bits & _MAGNITUDE) >> 52, floor)
    magic = (((exponent + (53 - p)) << 52) | (1 << 51)).to(tl.float64, bitcast=True)
    half = ((exponent - p) << 52).to(tl.float64, bitcast=True)
    return (value + magic) - magic, half


@triton.jit
def _number_of(read: tl.tensor, formula: tl.constexpr) -> tl.tensor:
    """Compute a number (:mod:`counterfoil_core.kernels.devicenumber`) from what it reads."""
    values = ()  # type: Any
    for k in tl.static_range(len(read)):
        values = values + (tl.load(read[k]).to(tl.float64),)  # noqa: RUF005 (Triton has no other)
    for k in tl.static_range(len(formula)):
        a, b = values[formula[k][1]], values[formula[k][2]]
        if formula[k][0] == "ADD":
            made = a + b
        elif formula[k][0] == "MUL":
            made = a * b
        elif formula[k][0] == "DIV":
            made = a / b
        else:
            tl.static_assert(formula[k][0] == "SQRT")
            made = tl.sqrt(a)
        values = values + (made,)  # noqa: RUF005
    return values[len(values) - 1]


@triton.jit
def _grid_of(
    size: tl.tensor,
    slot: tl.tensor,
    guard: tl.tensor,
    margin: tl.tensor,
    follow: tl.constexpr,
) -> tuple[tl.tensor, tl.tensor, tl.tensor, tl.tensor]:
    """Of a scale its bits and E; and of the grid the floor exponent and tau, by its bits."""
    bits = size.to(tl.int64, bitcast=True)
    # Subnormal numbers have no exponent of their own; times 2^64 they have.
    field = (bits >> 52) & 2047
    raised = ((size * 18446744073709551616.0).to(tl.int64, bitcast=True) >> 52) & 2047
    own = tl.where(field == 0, raised - 64, field) - _BIAS
    own = tl.where((bits & _MAGNITUDE) == 0, _ZERO, own)
    exponent = own
    if follow:
        given = tl.load(slot + _GIVEN)
        near = (given - own <= 1) & (own - given <= 1)
        exponent = tl.where((given != _ZERO) & (own != _ZERO) & near, given, own)
    return bits, exponent, tl.maximum(exponent - guard, -126) + _BIAS, _power(exponent - margin)


@triton.jit
def _entries_before(logged: tl.tensor, known: tl.tensor, bound: tl.tensor, size: tl.constexpr) -> tl.tensor:
    """How many entries, whose indices ascend, name an element before ``bound``; ``size`` are looked at at once."""
    low, length = bound * 0, bound * 0 + known
    while length > 0:
        stride = (length + (size - 1)) // size
        place = tl.arange(0, size).to(tl.int64) * stride
        index = tl.load(logged + low + place, mask=place < length, other=_MAGNITUDE) >> 1
        count = tl.sum((index < bound).to(tl.int64), 0)
        # The last one before the bound was looked at, or lies among those that were passed over behind it.
        passed = tl.where(count > 0, (count - 1) * stride + 1, 0)
        length = tl.where(count > 0, tl.minimum(stride - 1, length - passed), 0)
        low += passed
    return low


@triton.jit
def _round_block(
    values: tl.tensor,
    count: tl.tensor,
    slot: tl.tensor,
    entries: tl.tensor,
    cursor: tl.tensor,
    capacity: tl.tensor,
    done: tl.tensor,
    read: tl.tensor,
    guard: tl.tensor,
    margin: tl.tensor,
    logged: tl.tensor,
    less_known: tl.tensor,
    own: tl.tensor,
    before: tl.tensor,
    reach: tl.tensor,
    p: tl.constexpr,
    formula: tl.constexpr,
    again: tl.constexpr,
    chosen: tl.constexpr,
    follow: tl.constexpr,
    directs: tl.constexpr,
    size: tl.constexpr,
) -> None:
    """Round a block of a tensor in place, unless its decisions find no room: then it is left as it is.

    ``directs``: of the elements that a log names, those that lie within 2^(E - reach) of a midpoint themselves take its
    direction; what they were goes to ``own``, and their own rounding to ``before``. The mirror of
    :func:`counterfoil_core.kernels.cpu.rounding.directed_element`.
    """
    block = tl.program_id(0).to(tl.int64)
    index = block * size + tl.arange(0, size).to(tl.int64)
    end = tl.full((), 0, tl.int64) + count
    if again:
        # A second pass takes the blocks that the first one left.
        end = tl.where(tl.load(done + block) == 0, end, 0)
    inside = index < end
    value = tl.load(values + index, mask=inside, other=0.0).to(tl.float64)
    if chosen:
        bits, exponent, floor, tau = _grid_of(_number_of(read, formula), slot, guard, margin, follow)
        # Each program finds the same; one reports it.
        first = block == 0
        tl.store(slot + _SCALE, bits, mask=first)
        tl.store(slot + _EXPONENT, exponent, mask=first)
        tl.store(slot + _FLOOR, floor, mask=first)
    else:
        floor, tau = tl.load(slot + _FLOOR), tl.load(slot + _TAU)
    rounded, half = _rounded(value, floor, p)
    remainder = value - rounded
    tau = tau.to(tl.float64, bitcast=True)
    if directs:
        low = _entries_before(logged, -less_known, block * size, size)
        high = _entries_before(logged, -less_known, (block + 1) * size, size)
        for start in tl.range(low, high, _ENTRIES):
            number = start + tl.arange(0, _ENTRIES).to(tl.int64)
            entry = tl.load(logged + number, mask=number < high, other=0)
            single = tl.load(values + (entry >> 1), mask=number < high, other=0.0).to(tl.float64)
            tl.store(own + number, single.to(tl.int64, bitcast=True), mask=number < high)
        # Nobody writes a value before all of them are read.
        tl.debug_barrier()
    near = (tl.abs(remainder) >= half - tau) & inside
    found = tl.sum(near.to(tl.int64), 0)
    # Each atomic operation is an addition or a maximum: none orders what others see, so none need wait for memory.
    start = found * 0
    if found > 0:
        start = tl.atomic_add(cursor, found, sem="relaxed")
    fits = (start + found <= capacity) | (found == 0)
    rounds = index < tl.where(fits, end, 0)
    place = start + tl.cumsum(near.to(tl.int64), 0) - 1
    tl.store(entries + place, index * 2 + (remainder < 0.0).to(tl.int64), mask=near & rounds)
    tl.store(values + index, rounded.to(values.dtype.element_ty), mask=rounds)
    magnitude = value.to(tl.int64, bitcast=True) & _MAGNITUDE
    terms = mix(rounded.to(tl.int64, bitcast=True), index, tl.load(slot + _KEY).to(tl.uint64, bitcast=True))
    total = total_of(tl.where(rounds, terms, 0))
    tl.atomic_add(slot + _FINGERPRINT, total, sem="relaxed")
    tl.atomic_max(slot + _LARGEST, tl.max(magnitude, 0), sem="relaxed")
    after = rounded.to(tl.int64, bitcast=True) & _MAGNITUDE
    tl.atomic_max(slot + _TOP, tl.max(after, 0), sem="relaxed")
    if (found > 0) & fits:
        tl.atomic_add(slot + _COUNT, found, sem="relaxed")
    if again:
        tl.store(done + block, fits.to(tl.int32))
    if directs:
        # Nor a direction before all values are written.
        tl.debug_barrier()
        twice = _power(exponent - reach).to(tl.float64, bitcast=True)
        for start in tl.range(low, high, _ENTRIES):
            number = start + tl.arange(0, _ENTRIES).to(tl.int64)
            named = number < high
            entry = tl.load(logged + number, mask=named, other=0)
            single = tl.load(own + number, mask=named, other=0).to(tl.float64, bitcast=True)
            nearest, half_of_it = _rounded(single, floor, p)
            tl.store(before + number, nearest.to(tl.int64, bitcast=True), mask=named)
            rest = single - nearest
            is_up = (rest < 0.0).to(tl.int64)
            # A remainder of zero counts as positive, and -0 does not occur: the rounded value is the value then.
            quantum = half_of_it + half_of_it
            beyond = tl.where(is_up != 0, nearest - quantum, nearest + quantum)
            turned = named & (half_of_it - tl.abs(rest) <= twice) & ((entry & 1) != is_up)
            tl.store(values + (entry >> 1), beyond.to(values.dtype.element_ty), mask=turned)
            key = tl.load(slot + _KEY).to(tl.uint64, bitcast=True)
            gained = mix(beyond.to(tl.int64, bitcast=True), entry >> 1, key)
            lost = mix(nearest.to(tl.int64, bitcast=True), entry >> 1, key)
            change = total_of(tl.where(turned, gained - lost, 0))
            if change != 0:
                tl.atomic_add(slot + _FINGERPRINT, change, sem="relaxed")


@triton.jit
def _fingerprint_block(
    values: tl.tensor, count: tl.tensor, slot: tl.tensor, floating: tl.constexpr, size: tl.constexpr
) -> None:
    """Fingerprint a block of a tensor, as it is."""
    block = tl.program_id(0).to(tl.int64)
    index = block * size + tl.arange(0, size).to(tl.int64)
    inside = index < count
    loaded = tl.load(values + index, mask=inside, other=0)
    if floating:
        bits = loaded.to(tl.float64).to(tl.int64, bitcast=True)
        magnitude = bits & _MAGNITUDE
        # Sign and payload of what is not a number differ between processors.
        bits = tl.where(magnitude > _INFINITY, _NAN, bits)
        tl.atomic_max(slot + _LARGEST, tl.max(magnitude, 0), sem="relaxed")
    else:
        bits = loaded.to(tl.int64)
    terms = mix(bits, index, tl.load(slot + _KEY).to(tl.uint64, bitcast=True))
    tl.atomic_add(slot + _FINGERPRINT, total_of(tl.where(inside, terms, 0)), sem="relaxed")


def is_interpreted() -> bool:
    """Whether Triton's interpreter runs the kernels, on the CPU."""
    return bool(triton.knobs.runtime.interpret)


def _size(count: int) -> int:
    return INTERPRETED_BLOCK if is_interpreted() and count > BLOCK else BLOCK


def _programs(count: int, size: int) -> tuple[int]:
    return (-(-count // size),)


@dataclass(frozen=True)
class Directions:
    """The directions that the pass that rounds a tensor takes from a log."""

    entries: Tensor  #: int64 ``[k]``: the log, as :meth:`Pass.round` collects, in ascending order.
    own: Tensor  #: int64 ``[k]``: receives the bits of the named elements before rounding.
    before: Tensor  #: int64 ``[k]``: receives those of their own rounding.
    margin: int  #: m: elements take their direction within 2 tau of a midpoint, 2^(E - m + 1).


@dataclass(frozen=True)
class GridChoice:
    """How the pass that rounds a tensor chooses its grid."""

    scale: DeviceNumber  #: S.
    guard: int  #: G.
    margin: int  #: Decisions within 2^(E - margin) of a midpoint are collected.
    #: Where a log is followed: the trainer's E, which lies in the row, is taken where it differs by one at most.
    follow: Directions | None = None


class Pass:
    """The passes of one rounder over tensors ``[n]``; none of them waits for the device.

    Args:
        precision_bits: p.
        size: Elements of a block; None to choose.
    """

    def __init__(self, precision_bits: int, size: int | None = None) -> None:
        self._bits = precision_bits
        self._size = size

    def _launch(self, kernel: Any, count: int, values: Tensor, *arguments: Any, **constants: Any) -> None:
        if count:
            size = self._size or _size(count)
            with device_of(values):
                options = _OPTIONS_OF_A_LOG if constants.get("directs") else _OPTIONS
                kernel[_programs(count, size)](values, *arguments, **constants, size=size, **options)

    def round(
        self,
        flat: Tensor,
        slot: Tensor,
        entries: Tensor,
        cursor: Tensor,
        done: Tensor | None = None,
        choice: GridChoice | None = None,
    ) -> None:
        """Round a tensor in place, and collect its close decisions.

        A block whose decisions find no room is left unrounded, and the cursor counts them all the same.

        Args:
            flat: float64 or float32 ``[n]``, contiguous.
            slot: int64 ``[16]``: its row.
            entries: int64 ``[capacity]``: twice the index of a decision, plus 1 if it went up; in any order.
            cursor: int64 ``[1]``: how many decisions found room, or would have needed it.
            done: int32, one for each block: whether a pass before this one has rounded it; None for no.
            choice: How the grid is chosen; None where the row tells it.
        """
        chosen = choice or GridChoice(DeviceNumber.read(slot), 0, 0)
        formula, read = chosen.scale.steps()
        told = chosen.follow or Directions(slot[:0], slot, slot, 0)
        # Below zero: for a number that is 1 Triton would compile the kernel once more.
        known = told.entries.numel()
        self._launch(
            _round_block, max(flat.numel(), choice is not None), flat, flat.numel(), slot, entries, cursor,
            entries.numel(), slot if done is None else done, tuple(read), chosen.guard, chosen.margin,
            told.entries, -known, told.own, told.before, told.margin - 1, p=self._bits, formula=formula,
            again=done is not None, chosen=choice is not None, follow=chosen.follow is not None, directs=known > 0,
        )  # fmt: skip

    def blocks(self, count: int) -> int:
        """The number of blocks of a tensor."""
        return _programs(count, self._size or _size(count))[0]

    def fingerprint(self, values: Tensor, slot: Tensor) -> None:
        """Fingerprint a tensor as it is, and find its largest magnitude.

        Args:
            values: ``[n]``, contiguous, of one of OWN_TYPES: floating-point ones by their float64 bits, where all that
                are not a number count as one, others by those of int64.
            slot: int64 ``[16]``: its row.
        """
        count = values.numel()
        self._launch(_fingerprint_block, count, values, count, slot, floating=values.is_floating_point())


class TritonKernel:
    """Rounds float64 and float32 tensors on a CUDA device, and waits for what there is to report.

    Args:
        size: Elements of a block; None to choose.
        room: Close decisions that there is room for at first; where there are more, the rest is rounded again.
    """

    def __init__(self, size: int | None = None, room: int | None = None) -> None:
        self._block = size
        self._room = room

    def round(self, y: Tensor, grid: Grid, tau: float, key: int) -> Rounded:
        """Round a tensor in place; see :meth:`counterfoil_core.kernels.cpu.rounding.CpuKernel.round`.

        Args:
            y: float64 or float32 ``[n]``, contiguous; overwritten with the rounded values.
            grid: The grid.
            tau: Largest distance from a midpoint, inclusive, at which a decision is reported.
            key: Fingerprint key, 0 to 2^64 - 1.
        """
        passes = Pass(grid.significand_bits, self._block)
        room = self._room if self._room is not None else 1024 + y.numel() // 1024
        told = _row(key, grid.floor_biased, tau)
        # The row, the cursor and the decisions side by side: one transfer brings them all.
        report = torch.zeros(SLOTS + 1 + room, dtype=torch.int64, device=y.device)
        report[:SLOTS] = torch.from_numpy(told).to(y.device)
        done = torch.zeros(passes.blocks(y.numel()), dtype=torch.int32, device=y.device)
        slot, cursor, entries = report[:SLOTS], report[SLOTS : SLOTS + 1], report[SLOTS + 1 :]
        passes.round(y, slot, entries, cursor, done)
        found = report.cpu().numpy()
        first = found[SLOTS + 1 :][: found[Slot.COUNT]]
        missing = int(found[SLOTS]) - len(first)
        rest = np.empty(0, np.int64)
        if missing:
            # The blocks that found no room are as they were, so the second pass finds in them what the first one found.
            entries = torch.empty(missing, dtype=torch.int64, device=y.device)
            passes.round(y, slot, entries, cursor.zero_(), done)
            found, rest = slot.cpu().numpy(), entries.cpu().numpy()
        return rounded_of(found, np.concatenate([first, rest]))

    def fingerprint(self, integers: Tensor, key: int) -> int:
        """Return the fingerprint of integers; see :meth:`counterfoil_core.kernels.cpu.rounding.CpuKernel.fingerprint`.

        Args:
            integers: int64 or int32 ``[n]``.
            key: Fingerprint key, 0 to 2^64 - 1.
        """
        return int(self._measured(integers, key)[Slot.FINGERPRINT]) % 2**64

    def fingerprint_finite(self, values: Tensor, key: int) -> tuple[int, bool]:
        """Return the fingerprint of values that are not rounded, and whether all of them are finite.

        As :meth:`counterfoil_core.kernels.cpu.rounding.CpuKernel.fingerprint_finite`.

        Args:
            values: float64 or float32 ``[n]``.
            key: Fingerprint key, 0 to 2^64 - 1.
        """
        slot = self._measured(values, key)
        return int(slot[Slot.FINGERPRINT]) % 2**64, bool(slot[Slot.LARGEST] < INFINITY)

    def _measured(self, values: Tensor, key: int) -> Int64Array:
        slot = torch.from_numpy(_row(key, 0, 0.0)).to(values.device)
        Pass(0, self._block).fingerprint(values, slot)
        return slot.cpu().numpy()


def _row(key: int, floor_biased: int, tau: float) -> Int64Array:
    row = np.zeros(SLOTS, np.int64)
    row[Slot.KEY] = np.uint64(key).astype(np.int64)
    row[Slot.FLOOR] = floor_biased
    row[Slot.TAU] = np.float64(tau).view(np.int64)
    return row


def rounded_of(slot: Int64Array, entries: Int64Array) -> Rounded:
    """Return what a pass reported, from the row ``[16]`` of its tensor and the decisions ``[k]``, in any order."""
    ordered = np.sort(entries)
    return Rounded(
        ordered >> 1,
        (ordered & 1).astype(np.bool_),
        int(slot[Slot.FINGERPRINT]) % 2**64,
        (int(slot[Slot.LARGEST]) >> 52) - FLOAT64_BIAS,
        float(slot[Slot.TOP : Slot.TOP + 1].view(np.float64)[0]),
    )
