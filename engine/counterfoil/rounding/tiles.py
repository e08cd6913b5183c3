"""Computes a chain of elementwise operators block by block, and rounds, detects and fingerprints in the same sweep.

One compiled loop runs the instructions of a chain (:mod:`counterfoil.program.chains`) on a block of 1024 elements after
another, while the block lies in the first-level cache. Each instruction is one correctly rounded operation or a
selection, so the bits are those of torch's operators on the whole tensors: no fast-math, nothing is fused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import torch
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from torch import Tensor

from counterfoil.cancel import check_cancelled
from counterfoil.definite.bitcasts import as_bits, as_float
from counterfoil.definite.threads import in_parts
from counterfoil.program.chains import Chain, Code, Instruction
from counterfoil.rounding.grid import ACCEPTANCE_FACTOR, FLOAT64_BIAS, Grid
from counterfoil.rounding.kernel_cpu import CANONICAL_NAN, INFINITY, _mix

BLOCK = 1024
"""Elements of a block: 8 KiB of float64, of which an optimizer's update needs about five at once."""
_SWEEP = 1 << 22
"""Elements between two looks at the cancel token."""
_BYTES = {"float64": 8, "float32": 4, "bool": 1}
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
    """Compute a chain.

    Args:
        chain: The chain.
        operands: Its operands on the CPU, contiguous, each ``chain.elements`` elements of the dtype that it says.
        scalars: Its scalars.
        sites: How each site is rounded; None leaves the results as computed, and fingerprints nothing.
        watch_keys: The fingerprint key of each watched value.

    Raises:
        CancelledError: The token that is looked at was set.
    """
    results = [torch.empty(chain.shape, dtype=DTYPES[item.dtype]) for item in chain.results]
    whole = [*operands, *results]
    assert all(tensor.is_contiguous() and tensor.numel() == chain.elements for tensor in whole)
    addresses = np.array([tensor.data_ptr() for tensor in whole], np.int64)
    widths = np.array([_BYTES[item.dtype] for item in (*chain.operands, *chain.results)], np.int64)
    found = _Sites(sites or ())
    listed = _listed(chain.plain if sites is None else chain.rounding)
    numbers, keys = np.array(scalars, np.float64), np.array(watch_keys, np.uint64)

    def run(first: int, end: int) -> Any:
        return _run(
            listed, addresses, widths, chain.slots, numbers, first, end, *found.arguments, keys, len(whole)
        )  # fmt: skip

    parts: list[Any] = []
    for start in range(0, chain.elements, _SWEEP):
        check_cancelled()
        count = min(_SWEEP, chain.elements - start)
        parts += in_parts(count, partial(_shifted, run, start))
    finite = tuple(
        item.dtype == "float32" and all(int(part[6][len(operands) + n]) < INFINITY for part in parts)
        for n, item in enumerate(chain.results)
    )
    watched = tuple(sum(int(part[5][n]) for part in parts) % 2**64 for n in range(len(watch_keys)))
    return Swept(results, finite, found.swept(parts), watched)


def _shifted(run: Callable[[int, int], Any], start: int, first: int, end: int) -> Any:
    return run(start + first, start + end)


class _Sites:
    """The rounding sites of a chain as arrays, and what the parts of a sweep found of them put together."""

    def __init__(self, sites: Sequence[SiteRounding]) -> None:
        self._starts = np.cumsum([0, *(len(site.indices) for site in sites)]).astype(np.int64)
        self._own = np.zeros(int(self._starts[-1]))
        self._rounded = np.zeros(int(self._starts[-1]))
        self.arguments = (
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
        )

    def swept(self, parts: Sequence[Any]) -> tuple[SweptSite, ...]:
        """Return what was found at each site."""
        return tuple(self._site(n, parts) for n in range(len(self._starts) - 1))

    def _site(self, n: int, parts: Sequence[Any]) -> SweptSite:
        here = [part[0] == n for part in parts]
        own = slice(int(self._starts[n]), int(self._starts[n + 1]))
        return SweptSite(
            indices=np.concatenate([part[1][chosen] for part, chosen in zip(parts, here, strict=True)]),
            ups=np.concatenate([part[2][chosen] for part, chosen in zip(parts, here, strict=True)]).view(np.bool_),
            fingerprint=sum(int(part[3][n]) for part in parts) % 2**64,
            largest_exponent=max(int(part[4][n]) for part in parts) - FLOAT64_BIAS,
            own=self._own[own],
            rounded=self._rounded[own],
        )


def _listed(instructions: Sequence[Instruction]) -> npt.NDArray[np.int64]:
    """Return instructions as int64 ``[n, 5]``."""
    rows = [(int(one.code), one.target, one.first, one.second, one.third) for one in instructions]
    return np.array(rows, np.int64).reshape(-1, 5)


# Compiled.


@intrinsic
def _pointer(typing_context: Any, address: Any = None) -> Any:
    """Take an integer for an address, inside compiled code."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), build


carray: Any = numba.carray  # type: ignore[attr-defined]
_F64, _F32, _U8 = numba.float64, numba.float32, numba.uint8
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
        strange = (bits & np.uint64(0x7FFFFFFFFFFFFFFF)) > infinity
        total += _mix(np.uint64(CANONICAL_NAN) if strange else bits, base + np.uint64(i), key)
    return total


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _narrow(target: Any, a: Any) -> Any:
    """Round to float32, ties to even; returns the bits of the largest magnitude of the results as float64."""
    largest = np.uint64(0)
    for i in range(target.size):
        value = np.float32(a[i])
        target[i] = value
        largest = max(largest, as_bits(np.float64(value)) & np.uint64(0x7FFFFFFFFFFFFFFF))
    return largest


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _round(
    target: Any, a: Any, remainders: Any, floor: Any, p: Any, tau: float, base: Any, key: Any
) -> tuple[Any, Any, Any]:
    """Round a block as :func:`counterfoil.rounding.kernel_cpu._round_slice` does.

    Returns the number of close decisions, whose remainders are then not zero; the sum of the fingerprint terms; the
    largest biased exponent.
    """
    s52 = np.uint64(52)
    magic_shift = np.uint64(53) - p
    half_one = np.uint64(1) << np.uint64(51)
    mask = np.uint64(0x7FF)
    total = np.uint64(0)
    largest = np.uint64(0)
    near_count = np.uint64(0)
    for i in range(target.size):
        value = a[i]
        biased = (as_bits(value) >> s52) & mask
        largest = max(largest, biased)
        exponent = max(biased, floor)
        magic = as_float(((exponent + magic_shift) << s52) | half_one)
        half = as_float((exponent - p) << s52)
        rounded = (value + magic) - magic
        remainder = value - rounded
        near = abs(remainder) >= half - tau
        near_count += np.uint64(1) if near else np.uint64(0)
        remainders[i] = remainder if near else 0.0
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
def _run(
    instructions: Any,
    addresses: Any,
    widths: Any,
    slots: int,
    scalars: Any,
    first: int,
    end: int,
    floors: Any,
    significands: Any,
    taus: Any,
    accepteds: Any,
    keys: Any,
    log_starts: Any,
    log_indices: Any,
    log_ups: Any,
    own: Any,
    before: Any,
    watch_keys: Any,
    whole: int,
) -> tuple[Any, Any, Any, Any, Any, Any, Any]:
    """Run instructions on elements ``first`` to ``end``.

    ``addresses`` and ``widths`` are of the first ``whole`` slots: tensors; the others are of one block. The rest is as
    :class:`_Sites` lays it out; ``own`` and ``before`` are written for the logged elements of this part.

    Returns the close decisions, as site, index and whether it went up; of each site the sum of the fingerprint terms
    and the largest biased exponent; the fingerprint sum of each watched value; of each slot of a tensor that was
    narrowed the bits of its largest magnitude.
    """
    sites = floors.size
    block = np.empty((max(slots - whole, 1), BLOCK), np.float64)
    remainders = np.empty(BLOCK, np.float64)
    totals = np.zeros(sites, np.uint64)
    largest = np.zeros(sites, np.uint64)
    watched = np.zeros(watch_keys.size, np.uint64)
    narrowed = np.zeros(whole, np.uint64)
    cursors = np.empty(sites, np.int64)
    for n in range(sites):
        cursors[n] = log_starts[n] + np.searchsorted(log_indices[log_starts[n] : log_starts[n + 1]], first)
    near_sites = np.empty(64, np.int64)
    near_indices = np.empty(64, np.int64)
    near_ups = np.empty(64, np.uint8)
    found = 0
    at = np.empty(slots, np.int64)
    for n in range(whole, slots):
        at[n] = block[n - whole].ctypes.data
    for start in range(first, end, BLOCK):
        count = min(BLOCK, end - start)
        base = np.uint64(start)
        for n in range(whole):
            at[n] = addresses[n] + start * widths[n]
        for row in range(instructions.shape[0]):
            code = instructions[row, 0]
            slot = instructions[row, 1]
            second = instructions[row, 3]
            # Where these are of another type than float64 the view is not used.
            target = carray(_pointer(at[slot]), (count,), _F64)
            a = carray(_pointer(at[instructions[row, 2]]), (count,), _F64)
            if code == _WIDEN:
                single = carray(_pointer(at[instructions[row, 2]]), (count,), _F32)
                for i in range(count):
                    target[i] = np.float64(single[i])
            elif code == _TRUTH:
                flags = carray(_pointer(at[instructions[row, 2]]), (count,), _U8)
                for i in range(count):
                    target[i] = 1.0 if flags[i] != 0 else 0.0
            elif code == _FILL:
                target[:] = scalars[second]
            elif code in _OF_ONE:
                _one(code, target, a)
            elif code in _OF_A_NUMBER:
                _with_number(code, target, a, scalars[second])
            elif code == _WHERE:
                x = carray(_pointer(at[second]), (count,), _F64)
                y = carray(_pointer(at[instructions[row, 4]]), (count,), _F64)
                for i in range(count):
                    target[i] = x[i] if a[i] != 0.0 else y[i]
            elif code == _WATCH:
                watched[second] += _watch(a, base, watch_keys[second])
            elif code == _NARROW:
                narrow = carray(_pointer(at[slot]), (count,), _F32)
                narrowed[slot] = max(narrowed[slot], _narrow(narrow, a))
            elif code == _DECIDE:
                decided = carray(_pointer(at[slot]), (count,), _U8)
                for i in range(count):
                    decided[i] = 1 if a[i] != 0.0 else 0
            elif code == _ROUND:
                floor = np.uint64(floors[second])
                p = np.uint64(significands[second])
                near_count, total, top = _round(target, a, remainders, floor, p, taus[second], base, keys[second])
                totals[second] += total
                largest[second] = max(largest[second], top)
                if near_count:
                    while found + near_count > near_indices.size:
                        near_sites = np.concatenate((near_sites, near_sites))
                        near_indices = np.concatenate((near_indices, near_indices))
                        near_ups = np.concatenate((near_ups, near_ups))
                    for i in range(count):
                        if remainders[i] != 0.0:
                            near_sites[found] = second
                            near_indices[found] = start + i
                            near_ups[found] = remainders[i] < 0.0
                            found += 1
                entry = cursors[second]
                while entry < log_starts[second + 1] and log_indices[entry] < start + count:
                    i = log_indices[entry] - start
                    own[entry] = a[i]
                    before[entry] = target[i]
                    target[i] = _directed(a[i], target[i], log_ups[entry] != 0, floor, p, accepteds[second])
                    entry += 1
                cursors[second] = entry
            else:
                _two(code, target, a, carray(_pointer(at[second]), (count,), _F64))
    # The names keep the memory of the slots alive for as long as their addresses are used.
    block[0, 0] = 0.0
    return near_sites[:found], near_indices[:found], near_ups[:found], totals, largest, watched, narrowed
