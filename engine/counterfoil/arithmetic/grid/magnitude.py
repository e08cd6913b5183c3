"""Magnitudes of tensors, for the scale rules: largest element, sum of magnitudes, sum of squares.

On the CPU one compiled pass gives all three, for the rows and the columns of a matrix at once; elsewhere plain torch
reductions do. They need not agree to the last bit: a scale is used through its exponent alone, and the replay accepts
an exponent that is off by one. So these loops, unlike the rounding kernel, may add in any order (``reassoc``), which
lets LLVM use vector instructions. The order depends on shapes alone, not on the number of threads.

What is known of a value of the program is not measured again (:mod:`counterfoil.arithmetic.grid.known`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass
from functools import lru_cache
from struct import Struct
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil.arithmetic.grid.known import Known, Shape
from counterfoil.kernels import devices
from counterfoil.kernels.cache import kernel
from counterfoil.kernels.cpu import formulas
from counterfoil.kernels.cpu.bitcasts import as_bits, as_float
from counterfoil.kernels.cpu.formulas import joined, larger
from counterfoil.kernels.cpu.regions import (
    JOB_WORDS,
    Region,
    add_atomically,
    at_address,
    carray,
    entered,
    job,
    left,
    raise_atomically,
)

_PART = 1 << 15
"""Elements of a part: a thread works on one at a time."""
_BLOCKS = 16
"""Parts of one matrix at most; each has sums of its own for the columns."""


LARGEST, TOTAL, SQUARES = range(3)
"""Kinds of magnitudes: largest element, sum of magnitudes, sum of squares."""


@dataclass(frozen=True)
class _Setting:
    threads: int
    known: Known


_ALONE = _Setting(1, Known(()))
_setting: ContextVar[_Setting] = ContextVar("counterfoil_magnitudes", default=_ALONE)


class using:  # noqa: N801 (used as a function is)
    """Let large tensors be measured by several threads meanwhile, and what is known of values stand for a pass.

    May be entered again when it was left.

    Args:
        threads: Number of threads.
        known: What is known of the arguments of the operator whose scale is wanted.
    """

    def __init__(self, threads: int, known: Known = _ALONE.known) -> None:
        self._own = _Setting(threads, known)
        self._token: Token[_Setting] | None = None

    def __enter__(self) -> None:
        self._token = _setting.set(self._own)

    def __exit__(self, *_: object) -> None:
        assert self._token is not None
        _setting.reset(self._token)


@dataclass(frozen=True)
class Magnitudes:
    """Magnitudes along one axis, all others reduced: float64 ``[n]`` each, whatever the tensor's dtype.

    Attributes:
        largest: Largest magnitude; infinite or not a number if an element is.
        total: Sum of magnitudes.
        squares: Sum of squares.
    """

    largest: Tensor
    total: Tensor
    squares: Tensor

    @property
    def norm(self) -> Tensor:
        """Euclidean norms."""
        return self.squares.sqrt()

    def top(self, kind: int) -> Tensor | float:
        """Return the largest of one kind: :data:`LARGEST`, :data:`TOTAL` or :data:`SQUARES`."""
        return top_of((self.largest, self.total, self.squares)[kind])


class Vectors:
    """Magnitudes in the CPU's memory, where compiled formulas find them by an address.

    Args:
        found: float64, in which ``[3, n]`` lies: the largest magnitudes, their sums, the sums of squares.
        start: Where it begins.
        count: n.
        tops: The largest of each of the three.
    """

    __slots__ = ("_found", "address", "count", "tops")

    def __init__(self, found: Tensor, start: int, count: int, tops: tuple[float, ...]) -> None:
        self._found = found.narrow(0, start, 3 * count)
        self.address: int = found.data_ptr() + 8 * start
        """Address of ``[3, n]``."""
        self.count = count
        self.tops = tops

    def _part(self, kind: int) -> Tensor:
        return self._found.narrow(0, kind * self.count, self.count)

    @property
    def largest(self) -> Tensor:
        """Largest magnitudes, as :attr:`Magnitudes.largest`."""
        return self._part(0)

    @property
    def total(self) -> Tensor:
        """Sums of magnitudes, as :attr:`Magnitudes.total`."""
        return self._part(1)

    @property
    def squares(self) -> Tensor:
        """Sums of squares, as :attr:`Magnitudes.squares`."""
        return self._part(2)

    @property
    def norm(self) -> Tensor:
        """Euclidean norms."""
        return self.squares.sqrt()

    def top(self, kind: int) -> float:
        """Return the largest of one kind, as :meth:`Magnitudes.top`."""
        return self.tops[kind]


@dataclass(frozen=True)
class Sizes:
    """Magnitudes of the rows and of the columns of a stack of matrices ``[outer, rows, columns]``.

    Attributes:
        rows: ``[outer, rows]`` each.
        columns: ``[outer, columns]`` each.
    """

    rows: Magnitudes
    columns: Magnitudes


class Measured:
    """The same in the CPU's memory.

    Args:
        shape: outer, rows, columns.
        found: float64: ``[2, outer]``, the largest sums of squares of a row and of a column of each matrix; then ``[3,
            outer, rows]`` and ``[3, outer, columns]``, largest magnitudes, their sums and the sums of squares.
        tops: The largest of each of the three, of the rows and then of the columns.
        joined: What :meth:`row_vectors` gives; None to find it when it is asked for.
    """

    __slots__ = ("_found", "_joined", "shape", "tops")

    def __init__(self, shape: Shape, found: Tensor, tops: tuple[float, ...], joined: Vectors | None = None) -> None:
        self.shape = shape
        self.tops = tops
        self._found = found
        self._joined = joined

    def address(self, number: int = 0) -> int:
        """Return the address of one of the numbers found: of the largest sums of squares to begin with."""
        return self._found.data_ptr() + 8 * number

    @property
    def columns_at(self) -> int:
        """Which number is the first of those of the columns."""
        outer, rows, _ = self.shape
        return 2 * outer + 3 * outer * rows

    @property
    def rows(self) -> Magnitudes:
        """Those of the rows, as :attr:`Sizes.rows`."""
        return self._view(2 * self.shape[0], self.shape[1])

    @property
    def columns(self) -> Magnitudes:
        """Those of the columns, as :attr:`Sizes.columns`."""
        return self._view(self.columns_at, self.shape[2])

    def _view(self, start: int, length: int) -> Magnitudes:
        outer = self.shape[0]
        return Magnitudes(*self._found.narrow(0, start, 3 * outer * length).view(3, outer, length).unbind())

    def row_vectors(self) -> Vectors:
        """Return the magnitudes for each row of all matrices together."""
        outer, rows, _ = self.shape
        if outer == 1:
            return Vectors(self._found, 2, rows, self.tops[:3])
        if self._joined is None:
            target = torch.empty(3 * rows, dtype=torch.float64)
            tops = formulas.join(outer, rows, self.address(2 * outer), target.data_ptr())
            self._joined = Vectors(target, 0, rows, tops)
        return self._joined

    def column_vectors(self) -> Vectors:
        """Return the magnitudes for each column of a single matrix."""
        assert self.shape[0] == 1
        return Vectors(self._found, self.columns_at, self.shape[2], self.tops[3:])


def top_of(x: Tensor) -> Tensor | float:
    """Return the largest of some magnitudes; a number where that costs no transfer."""
    if not x.numel():
        return 0.0
    return float(x.amax()) if x.device.type == "cpu" else x.amax().double()


def largest(value: Any) -> Tensor | float:
    """Return max |value| of a tensor or number; 0 for an empty tensor and for None; not a number stays so."""
    if not isinstance(value, Tensor):
        return 0.0 if value is None else abs(float(value))
    if value.numel() == 0:
        return 0.0
    setting = _setting.get()
    known = setting.known.largest(value)
    if known is not None:
        return known
    top = _largest(value, setting.threads)
    if isinstance(top, float):
        setting.known.keep_largest(value, top)
    return top


def largest_of_new(value: Tensor | None) -> Tensor | float:
    """The same of a tensor that nothing can be known of: one that was just computed."""
    return 0.0 if value is None or value.numel() == 0 else _largest(value, _setting.get().threads)


def _largest(value: Tensor, threads: int) -> Tensor | float:
    if _fast(value) and value.is_contiguous():
        count = value.numel()
        parts = 1 if count <= _PART else -(-count // _PART)
        _LARGEST.pack_into(job.words, 0, 0, parts, count, value.data_ptr(), 0)
        _LARGEST_OF[value.itemsize].run(min(threads, parts))
        return _result()
    if not value.is_floating_point():
        value = value.to(torch.float64)
    low, high = torch.aminmax(value)
    top: Tensor = torch.maximum(-low, high).double()
    return float(top) if value.device.type == "cpu" else top


def _result() -> float:
    """Return the largest magnitude that the job before found."""
    number: float = _DOUBLE.unpack_from(job.words, 32)[0]
    return number


def along(x: Tensor, axis: int) -> Magnitudes | Vectors:
    """Return the magnitudes for each position of ``axis``, reduced over all other axes.

    Args:
        x: float64 or float32 tensor with at least one axis.
        axis: The axis that stays.
    """
    axis %= x.dim()
    if _fast(x) and x.numel():
        if x.is_contiguous():
            shape = x.shape
            outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
            if inner == 1:
                return _sizes(x, (1, outer, shape[axis])).column_vectors()
            return _sizes(x, (outer, shape[axis], inner), joins=True).row_vectors()
        if x.dim() == 2 and x.t().is_contiguous():
            return along(x.t(), 1 - axis)
    others = [other for other in range(x.dim()) if other != axis]
    x = x.double()
    if x.numel() == 0:
        nothing = x.new_zeros(x.shape[axis])
        return Magnitudes(nothing, nothing, nothing)
    if not others:
        return Magnitudes(x.abs(), x.abs(), x.square())
    norm = torch.linalg.vector_norm
    return Magnitudes(norm(x, math.inf, others), norm(x, 1, others), norm(x, 2, others).square())


def _summed(x: Tensor, axis: int) -> tuple[Measured, bool] | None:
    """Return the sizes of which the sums of squares over an axis are a part, and whether they are those of the rows.

    None where no compiled pass can give them.
    """
    if not _fast(x) or not x.numel():
        return None
    last, shape = x.dim() - 1, x.shape
    if x.is_contiguous():
        if axis == last:
            # Rows of the matrices of the two last axes, which may be asked for their columns as well.
            outer = math.prod(shape[: max(last - 1, 0)])
            return _sizes(x, (outer, x.numel() // (outer * shape[last]), shape[last])), True
        outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
        return _sizes(x, (outer, shape[axis], inner)), False
    if last and axis >= last - 1:
        turned = x.transpose(-1, -2)
        if turned.is_contiguous():
            # The same sums: only the two last axes change places, and one of them is summed away.
            return _summed(turned, last if axis == last - 1 else last - 1)
    return None


def energy(x: Tensor, axis: int) -> Tensor:
    """Return the sum of squares over one axis, float64 with that axis gone."""
    axis %= x.dim()
    summed = _summed(x, axis)
    if summed is None:
        return x.double().square().sum(axis)
    found, of_rows = summed
    squares = (found.rows if of_rows else found.columns).squares
    return squares.reshape((*x.shape[:axis], *x.shape[axis + 1 :]))


def largest_energy(x: Tensor, axis: int) -> Tensor | float:
    """Return the largest of the sums of squares over one axis."""
    axis %= x.dim()
    summed = _summed(x, axis)
    if summed is None:
        return top_of(energy(x, axis))
    found, of_rows = summed
    return found.tops[2 if of_rows else 5]


def largest_energy_product(first: Tensor, second: Tensor) -> Tensor | float:
    """Return the largest sum of squares of a row of the first times that of a column of the second, in one matrix.

    Args:
        first: ``[n, rows, k]``, none of the lengths zero.
        second: ``[n, k, columns]``, likewise.
    """
    one, other = _summed(first, 2), _summed(second, 1)
    if one is None or other is None:
        return top_of(energy(first, 2).amax(1) * energy(second, 1).amax(1))
    # Of each matrix the largest of a row lies before the largest of a column.
    count = first.shape[0]
    places = [found.address(0 if of_rows else found.shape[0]) for found, of_rows in (one, other)]
    return formulas.products(count, *places)


def largest_window(x: Tensor, groups: int, axes: Sequence[formulas.Axis], *, transposed: bool) -> Tensor | float | None:
    """Return the largest sum of squares of a group of channels that a kernel brings together.

    Args:
        x: float64 or float32 ``[N, C, *space]``.
        groups: A divisor of C.
        axes: The axes of space, of which there are one or two.
        transposed: Whether the kernel writes where otherwise it would read.

    Returns:
        The sums, float64 ``[groups]``, or the only one; None where no compiled pass can give them.
    """
    if not _fast(x) or not x.numel() or not x.is_contiguous():
        return None
    shape = x.shape
    samples, channels, space = shape[0], shape[1], math.prod(shape[2:])
    found = _sizes(x, (samples * groups, channels // groups, space), joins=groups == 1)
    squares = found.address(found.columns_at + 2 * samples * groups * space)
    rows = axes[0] if len(axes) == 2 else _NO_AXIS
    tops = None if groups == 1 else torch.empty(groups, dtype=torch.float64)
    kept = 0 if tops is None else tops.data_ptr()
    top = formulas.windows(samples, groups, squares, rows, axes[-1], kept, transposed=transposed)
    return top if tops is None else tops


_NO_AXIS = formulas.Axis(1, 1, 1, 1, 0, 1)


def centred_channels(x: Tensor, mean: Tensor) -> Vectors | None:
    """Return the magnitudes of ``x - mean`` for each channel; None where no compiled pass can give them.

    Args:
        x: float64 or float32 ``[N, C, *space]``.
        mean: ``[C]``.
    """
    if not _fast(x) or not x.numel() or not x.is_contiguous() or not mean.numel():
        return None
    mean, shape = mean.double().contiguous(), x.shape
    samples, channels = shape[0], shape[1]
    cut = (samples, channels, math.prod(shape[2:]))
    return _measured_rows(x, mean, cut, _setting.get().threads)


def largest_row_total(x: Tensor, kept: int) -> float | None:
    """Return the largest sum of magnitudes over all but the first axes; None where no compiled pass can give it.

    Args:
        x: float64 or float32.
        kept: Number of axes that stay, at least one.
    """
    if not _fast(x) or not x.numel() or not x.is_contiguous():
        return None
    shape = x.shape
    return _sizes(x, (math.prod(shape[: kept - 1]), shape[kept - 1], math.prod(shape[kept:]))).tops[TOTAL]


def _fast(x: Tensor) -> bool:
    return x.dtype in _FLOATING and devices.loops_reach(x.device)


_FLOATING = (torch.float64, torch.float32)


def sizes(x: Tensor) -> Measured:
    """Return the magnitudes of rows and columns: of each matrix of a stack, in one pass.

    Args:
        x: float64 or float32 ``[outer, rows, columns]`` on the CPU, contiguous, none of the lengths zero.
    """
    return _sizes(x, (x.shape[0], x.shape[1], x.shape[2]))


def _sizes(x: Tensor, shape: Shape, *, joins: bool = False) -> Measured:
    """The same of a contiguous tensor of any shape, taken as a stack of matrices.

    With ``joins`` what :meth:`Measured.row_vectors` gives is asked for next.
    """
    setting = _setting.get()
    found = setting.known.sizes(x, shape)
    if found is None:
        found = _measured(x, _ZERO, _ONE, shape, setting.threads, joins=joins)
        setting.known.keep_sizes(x, shape, found)
    assert isinstance(found, Measured)
    return found


def matrix_sizes(x: Tensor) -> Sizes | Measured:
    """Return the magnitudes of rows and columns of a matrix, with an axis of length 1 before them.

    Args:
        x: float64 or float32 ``[rows, columns]``, on any device, of any strides.
    """
    if _fast(x) and x.numel() and x.is_contiguous():
        return _sizes(x, (1, x.shape[0], x.shape[1]))
    return normalised_sizes(x[None], _ZERO.to(x.device), _ONE.to(x.device))


def normalised_sizes(x: Tensor, mean: Tensor, factor: Tensor) -> Sizes | Measured:
    """Return the magnitudes of rows and columns of ``(x - mean) * factor``, which is nowhere stored.

    Args:
        x: float64 or float32 ``[outer, rows, columns]``.
        mean: ``[n]``: one number for each row, n a divisor of outer times rows: of row i that with index i mod n.
        factor: ``[n]``: the same.
    """
    if _fast(x) and x.numel() and mean.numel() == factor.numel() > 0:
        x, mean, factor = x.contiguous(), mean.double().contiguous(), factor.double().contiguous()
        return _measured(x, mean, factor, (x.shape[0], x.shape[1], x.shape[2]), _setting.get().threads)
    rows = x.shape[0] * x.shape[1]
    repeats = rows // max(mean.numel(), 1)
    flat = (x.reshape(rows, -1).double() - mean.repeat(repeats)[:, None]) * factor.repeat(repeats)[:, None]
    magnitudes = flat.view(x.shape).abs()
    parts = []
    for axis in (2, 1):
        top = magnitudes.amax(axis) if magnitudes.shape[axis] else magnitudes.sum(axis)
        parts.append(Magnitudes(top, magnitudes.sum(axis), magnitudes.square().sum(axis)))
    return Sizes(*parts)


def largest_product(g: Tensor, x: Tensor, slope: float, cubic: float) -> Tensor | float:
    """Return the largest of ``abs(g) * (1 + slope * abs(x) * (1 + cubic * x * x))``.

    Args:
        g: float64 or float32, of any shape.
        x: The same shape and dtype.
        slope: A number.
        cubic: A number.
    """
    if g.numel() == 0:
        return 0.0
    if _fast(g) and _fast(x) and g.dtype == x.dtype and g.shape == x.shape:
        first, second = g.contiguous(), x.contiguous()
        count = first.numel()
        parts = -(-count // _PART)
        _GATE.pack_into(job.words, 0, 0, parts, count, first.data_ptr(), 0, second.data_ptr(), slope, cubic)
        _GATE_OF[first.itemsize].run(min(_setting.get().threads, parts))
        return _result()
    wide, argument = g.double(), x.double()
    return _largest(wide * (1.0 + slope * argument.abs() * (1.0 + cubic * argument * argument)), 1)


_LARGEST = Struct("<5Q")
"""Job: part, parts; count, address; bits of the largest magnitude."""
_GATE = Struct("<6Q2d")
"""Job: the same; address of the other operand, slope, cubic."""
_SIZES = Struct("<17Q")
"""Job: part, parts; outer, rows, columns; address; rows of a part, parts of a matrix; address of means and of factors,
their number; addresses of what is found: of rows; of parts' columns, 0 where only rows are asked for; of columns, or
where only rows are asked for how many matrices these belong to; of the largest sums of squares; of the rows of all
matrices together, 0 where those are not asked for; whether all but the first two are to be found."""
_ENDS, _RESULTS = 16, 20
_WORD, _DOUBLE, _TOPS = Struct("<Q"), Struct("<d"), Struct("<9d")
"""Results, behind the job: the largest magnitude, sum and sum of squares of a row, of a column, and of a row of all
matrices together."""
_ZERO, _ONE = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)


@lru_cache(maxsize=64)
def _ones(count: int) -> Tensor:
    return torch.ones(count, dtype=torch.float64)


def _measured(x: Tensor, mean: Tensor, factor: Tensor, shape: Shape, threads: int, *, joins: bool = False) -> Measured:
    outer, rows, columns = shape
    joins = joins and outer > 1
    # Enough rows for a part, but no more parts than there is need for.
    height = min(max(-(-_PART // columns), -(-rows // _BLOCKS)), rows)
    blocks = -(-rows // height)
    together = outer * (2 + 3 * (rows + columns))
    found = torch.empty(together + 3 * rows if joins else together, dtype=torch.float64)
    tops = found.data_ptr()
    along_rows = tops + 16 * outer
    along_columns = along_rows + 24 * outer * rows
    if blocks == 1:
        parts, room = along_columns, None
    else:
        room = torch.empty(3 * outer * blocks * columns, dtype=torch.float64)
        parts = room.data_ptr()
    addresses = along_rows, parts, along_columns, tops, tops + 8 * together if joins else 0
    _measure(x, mean, factor, (outer, rows, columns, height, blocks), addresses, threads)
    ends = _TOPS.unpack_from(job.words, 8 * _RESULTS)
    return Measured(shape, found, ends[:6], Vectors(found, together, rows, ends[6:]) if joins else None)


def _measured_rows(x: Tensor, mean: Tensor, shape: Shape, threads: int) -> Vectors:
    """Return the magnitudes of ``x - mean`` for each row of all matrices together."""
    outer, rows, columns = shape
    # One long stack of rows.
    height = min(-(-_PART // columns), outer * rows)
    found = torch.empty(3 * (outer + 1) * rows, dtype=torch.float64)
    cut = (1, outer * rows, columns, height, -(-outer * rows // height))
    together = 3 * outer * rows
    address = found.data_ptr()
    _measure(x, mean, _ones(rows), cut, (address, 0, outer, 0, address + 8 * together), threads)
    return Vectors(found, together, rows, _TOPS.unpack_from(job.words, 8 * _RESULTS)[6:])


def _measure(
    x: Tensor,
    mean: Tensor,
    factor: Tensor,
    cut: tuple[int, int, int, int, int],
    found: tuple[int, int, int, int, int],
    threads: int,
) -> None:
    outer, rows, columns, height, blocks = cut
    parts = outer * blocks
    alone = threads == 1 or outer * rows * columns < 2 * _PART
    _SIZES.pack_into(
        job.words, 0,
        0, parts, outer, rows, columns, x.data_ptr(), height, blocks,
        mean.data_ptr(), factor.data_ptr(), mean.numel(), *found, alone,
    )  # fmt: skip
    region = _SIZES_OF[x.itemsize]
    region.run(1 if alone else min(threads, parts))
    if not alone:
        # No part is left; what follows the last of them is.
        _WORD.pack_into(job.words, 8 * _ENDS, 1)
        region.run(1)


@kernel(nogil=True, error_model="numpy")
def _largest_parts(pointer: Any, x: Any) -> None:
    job = carray(pointer, (JOB_WORDS,))
    top = np.uint64(0)
    while True:
        part = add_atomically(pointer, 0, np.uint64(1))
        if part >= job[1]:
            break
        mine = x[np.int64(part) * _PART : np.int64(part) * _PART + _PART]
        # Bits of magnitudes are ordered as the magnitudes are, with NaN on top, and their maximum is vectorised.
        for i in range(mine.size):
            top = max(top, as_bits(abs(np.float64(mine[i]))))
    raise_atomically(pointer, 4, top)


def _largest_float64(pointer: Any) -> None:
    entered(pointer)
    job = carray(pointer, (JOB_WORDS,))
    _largest_parts(pointer, carray(at_address(job[3]), (np.int64(job[2]),), np.float64))
    left(pointer)


def _largest_float32(pointer: Any) -> None:
    entered(pointer)
    job = carray(pointer, (JOB_WORDS,))
    _largest_parts(pointer, carray(at_address(job[3]), (np.int64(job[2]),), np.float32))
    left(pointer)


@kernel(nogil=True, error_model="numpy")
def _gate_parts(pointer: Any, g: Any, x: Any) -> None:
    job = carray(pointer, (JOB_WORDS,))
    slope: Any = as_float(job[6])
    cubic: Any = as_float(job[7])
    top = np.uint64(0)
    while True:
        part = add_atomically(pointer, 0, np.uint64(1))
        if part >= job[1]:
            break
        start = np.int64(part) * _PART
        mine, others = g[start : start + _PART], x[start : start + _PART]
        for i in range(mine.size):
            value = np.float64(others[i])
            product = np.float64(mine[i]) * (1.0 + slope * abs(value) * (1.0 + cubic * value * value))
            top = max(top, as_bits(abs(product)))
    raise_atomically(pointer, 4, top)


def _gate_float64(pointer: Any) -> None:
    entered(pointer)
    job = carray(pointer, (JOB_WORDS,))
    count = np.int64(job[2])
    first, second = at_address(job[3]), at_address(job[5])
    _gate_parts(pointer, carray(first, (count,), np.float64), carray(second, (count,), np.float64))
    left(pointer)


def _gate_float32(pointer: Any) -> None:
    entered(pointer)
    job = carray(pointer, (JOB_WORDS,))
    count = np.int64(job[2])
    first, second = at_address(job[3]), at_address(job[5])
    _gate_parts(pointer, carray(first, (count,), np.float32), carray(second, (count,), np.float32))
    left(pointer)


@kernel(nogil=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"})
def _row_sizes(row: Any, mean: float, factor: float) -> Any:
    top = np.uint64(0)
    total = 0.0
    squares = 0.0
    for i in range(row.size):
        magnitude = abs((np.float64(row[i]) - mean) * factor)
        top = max(top, as_bits(magnitude))
        total += magnitude
        squares += magnitude * magnitude
    return as_float(top), total, squares


@kernel(nogil=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"})
def _add_columns(row: Any, mean: float, factor: float, top: Any, total: Any, squares: Any) -> None:
    for i in range(row.size):
        magnitude = abs((np.float64(row[i]) - mean) * factor)
        top[i] = max(top[i], as_bits(magnitude))
        total[i] += magnitude
        squares[i] += magnitude * magnitude


@kernel(nogil=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"})
def _add_four(
    a: Any, b: Any, c: Any, d: Any, means: Any, factors: Any, top: Any, total: Any, squares: Any, found: Any
) -> None:
    """Both of four rows at once: each element is read once, and the columns' sums a quarter as often."""
    mean_a, mean_b, mean_c, mean_d = means[0], means[1], means[2], means[3]
    factor_a, factor_b, factor_c, factor_d = factors[0], factors[1], factors[2], factors[3]
    top_a = top_b = top_c = top_d = np.uint64(0)
    total_a = total_b = total_c = total_d = 0.0
    squares_a = squares_b = squares_c = squares_d = 0.0
    for i in range(a.size):
        one = abs((np.float64(a[i]) - mean_a) * factor_a)
        two = abs((np.float64(b[i]) - mean_b) * factor_b)
        three = abs((np.float64(c[i]) - mean_c) * factor_c)
        four = abs((np.float64(d[i]) - mean_d) * factor_d)
        one_square, two_square, three_square, four_square = one * one, two * two, three * three, four * four
        top_a, top_b = max(top_a, as_bits(one)), max(top_b, as_bits(two))
        top_c, top_d = max(top_c, as_bits(three)), max(top_d, as_bits(four))
        total_a += one
        total_b += two
        total_c += three
        total_d += four
        squares_a += one_square
        squares_b += two_square
        squares_c += three_square
        squares_d += four_square
        top[i] = max(max(top[i], max(as_bits(one), as_bits(two))), max(as_bits(three), as_bits(four)))
        total[i] += (one + two) + (three + four)
        squares[i] += (one_square + two_square) + (three_square + four_square)
    found[0, 0], found[0, 1], found[0, 2], found[0, 3] = (
        as_float(top_a), as_float(top_b), as_float(top_c), as_float(top_d)
    )  # fmt: skip
    found[1, 0], found[1, 1], found[1, 2], found[1, 3] = total_a, total_b, total_c, total_d
    found[2, 0], found[2, 1], found[2, 2], found[2, 3] = squares_a, squares_b, squares_c, squares_d


@kernel(nogil=True, error_model="numpy")
def _size_parts(pointer: Any, x: Any) -> None:
    job = carray(pointer, (JOB_WORDS,))
    outer, rows, columns = np.int64(job[2]), np.int64(job[3]), np.int64(job[4])
    height, blocks = np.int64(job[6]), np.int64(job[7])
    given = np.int64(job[10])
    means = carray(at_address(job[8]), (given,), np.float64)
    factors = carray(at_address(job[9]), (given,), np.float64)
    along_rows = carray(at_address(job[11]), (3, outer * rows), np.float64)
    if job[12] == 0:
        while True:
            part = np.int64(add_atomically(pointer, 0, np.uint64(1)))
            if part >= np.int64(job[1]):
                break
            for n in range(part * height, min((part + 1) * height, rows)):
                along_rows[0, n], along_rows[1, n], along_rows[2, n] = _row_sizes(
                    x[n], means[n % given], factors[n % given]
                )
        if job[_ENDS]:
            matrices = np.int64(job[13])
            _join(job, along_rows.reshape(3, matrices, rows // matrices))
        return
    along_columns = carray(at_address(job[12]), (3, outer * blocks, columns), np.float64)
    four_means, four_factors = np.empty(4), np.empty(4)
    tops = np.empty(columns, np.uint64)
    while True:
        part = np.int64(add_atomically(pointer, 0, np.uint64(1)))
        if part >= np.int64(job[1]):
            break
        first = part // blocks * rows + part % blocks * height
        end = min(first + height, (part // blocks + 1) * rows)
        total, squares = along_columns[1, part], along_columns[2, part]
        tops[:] = 0
        total[:] = 0.0
        squares[:] = 0.0
        row = first
        while row < end:
            count: Any = 4 if row + 4 <= end else 1
            for k in range(row, row + count):
                mean, factor = means[k % given], factors[k % given]
                four_means[k - row] = mean
                four_factors[k - row] = factor
            if count == 4:
                _add_four(
                    x[row], x[row + 1], x[row + 2], x[row + 3], four_means, four_factors, tops, total, squares,
                    along_rows[:, row : row + 4],
                )  # fmt: skip
            else:
                along_rows[0, row], along_rows[1, row], along_rows[2, row] = _row_sizes(
                    x[row], four_means[0], four_factors[0]
                )
                _add_columns(x[row], four_means[0], four_factors[0], tops, total, squares)
            row += count
        along_columns[0, part] = tops.view(np.float64)
    if job[_ENDS]:
        _finish(job, along_rows.reshape(3, outer, rows), along_columns.reshape(3, outer, blocks, columns))


@kernel(nogil=True, error_model="numpy")
def _finish(job: Any, along_rows: Any, parts: Any) -> None:
    """Add up what the parts gave for the columns, and find what is largest."""
    _, outer, blocks, columns = parts.shape
    along_columns = carray(at_address(job[13]), (3, outer, columns), np.float64)
    tops = carray(at_address(job[14]), (2, outer), np.float64)
    if blocks > 1:
        # In the order of the parts, whoever measured them.
        for n in range(outer):
            for c in range(columns):
                top, total, squares = 0.0, 0.0, 0.0
                for b in range(blocks):
                    top = larger(top, parts[0, n, b, c])
                    total += parts[1, n, b, c]
                    squares += parts[2, n, b, c]
                along_columns[0, n, c], along_columns[1, n, c], along_columns[2, n, c] = top, total, squares
    for kind in range(3):
        row_top = column_top = 0.0
        for n in range(outer):
            here = there = 0.0
            for i in range(along_rows.shape[2]):
                here = larger(here, along_rows[kind, n, i])
            for i in range(columns):
                there = larger(there, along_columns[kind, n, i])
            if kind == SQUARES:
                tops[0, n], tops[1, n] = here, there
            row_top, column_top = larger(row_top, here), larger(column_top, there)
        job[_RESULTS + kind], job[_RESULTS + 3 + kind] = as_bits(row_top), as_bits(column_top)
    if job[15]:
        _join(job, along_rows)


@kernel(nogil=True, error_model="numpy")
def _join(job: Any, along_rows: Any) -> None:
    """Find the magnitudes of the rows of all matrices together."""
    target = carray(at_address(job[15]), (3, along_rows.shape[2]), np.float64)
    for kind in range(3):
        job[_RESULTS + 6 + kind] = as_bits(joined(along_rows[kind], target[kind], kind == LARGEST))


def _size_float64(pointer: Any) -> None:
    entered(pointer)
    job = carray(pointer, (JOB_WORDS,))
    shape = (np.int64(job[2] * job[3]), np.int64(job[4]))
    _size_parts(pointer, carray(at_address(job[5]), shape, np.float64))
    left(pointer)


def _size_float32(pointer: Any) -> None:
    entered(pointer)
    job = carray(pointer, (JOB_WORDS,))
    shape = (np.int64(job[2] * job[3]), np.int64(job[4]))
    _size_parts(pointer, carray(at_address(job[5]), shape, np.float32))
    left(pointer)


_LARGEST_OF = {8: Region(_largest_float64), 4: Region(_largest_float32)}
_GATE_OF = {8: Region(_gate_float64), 4: Region(_gate_float32)}
_SIZES_OF = {8: Region(_size_float64), 4: Region(_size_float32)}
