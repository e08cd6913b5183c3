"""Magnitudes of tensors, for the scale rules: largest element, sum of magnitudes, sum of squares.

On the CPU one compiled pass gives all three, for the rows and the columns of a matrix at once; elsewhere plain torch
reductions do. They need not agree to the last bit: a scale is used through its exponent alone, and the replay accepts
an exponent that is off by one. So these loops, unlike the rounding kernel, may add in any order (``reassoc``), which
lets LLVM use vector instructions. The order depends on shapes alone, not on the number of threads.

What is known of a value of the program is not measured again (:mod:`counterfoil.rounding.known`).
"""

from __future__ import annotations

import math
from contextvars import ContextVar, Token
from dataclasses import dataclass
from struct import Struct
from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor

from counterfoil.definite import loops
from counterfoil.definite.bitcasts import as_bits, as_float, float_of
from counterfoil.definite.regions import JOB_WORDS, Region, add_atomically, at_address, carray, job, raise_atomically
from counterfoil.rounding.known import Known

_PART = 1 << 15
"""Elements of a part: a thread works on one at a time."""
_BLOCKS = 16
"""Parts of one matrix at most; each has sums of its own for the columns."""


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


@dataclass(frozen=True)
class Sizes:
    """Magnitudes of the rows and of the columns of a stack of matrices ``[outer, rows, columns]``.

    Attributes:
        rows: ``[outer, rows]`` each.
        columns: ``[outer, columns]`` each.
    """

    rows: Magnitudes
    columns: Magnitudes


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


def _largest(value: Tensor, threads: int) -> Tensor | float:
    if not value.is_floating_point():
        value = value.to(torch.float64)
    if _fast(value) and value.is_contiguous():
        count = value.numel()
        parts = -(-count // _PART)
        _LARGEST.pack_into(job.words, 0, 0, parts, count, value.data_ptr(), 0)
        _LARGEST_OF[value.itemsize].run(job.address, min(threads, parts))
        return float_of(_LARGEST.unpack_from(job.words)[4])
    low, high = torch.aminmax(value)
    top: Tensor = torch.maximum(-low, high).double()
    return float(top) if value.device.type == "cpu" else top


def along(x: Tensor, axis: int, *, both: bool = False) -> Magnitudes:
    """Return the magnitudes for each position of ``axis``, reduced over all other axes.

    Args:
        x: float64 or float32 tensor with at least one axis.
        axis: The axis that stays.
        both: Whether sums over ``axis`` are asked for next (:func:`energy`): one pass gives both.
    """
    axis %= x.dim()
    if _fast(x) and x.numel():
        last = x.dim() - 1
        if x.is_contiguous():
            outer, inner = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
            if inner == 1:
                found = sizes(x.view(1, outer, -1)).columns
                return Magnitudes(*(part[0] for part in (found.largest, found.total, found.squares)))
            return _joined(sizes(x.view(outer, x.shape[axis], inner)).rows)
        if last == 1 and x.t().is_contiguous():
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


def _joined(rows: Magnitudes) -> Magnitudes:
    """Magnitudes ``[outer, n]`` for each position of the last axis alone."""
    if rows.largest.shape[0] == 1:
        return Magnitudes(rows.largest[0], rows.total[0], rows.squares[0])
    return Magnitudes(rows.largest.amax(0), rows.total.sum(0), rows.squares.sum(0))


def energy(x: Tensor, axis: int) -> Tensor:
    """Return the sum of squares over one axis, float64 with that axis gone."""
    axis %= x.dim()
    last = x.dim() - 1
    if _fast(x) and x.numel():
        if x.is_contiguous():
            rest = (*x.shape[:axis], *x.shape[axis + 1 :])
            if axis == last:
                # Rows of the matrices of the two last axes, which may be asked for their columns as well.
                outer = math.prod(x.shape[: max(last - 1, 0)])
                return sizes(x.view(outer, -1, x.shape[last])).rows.squares.view(rest)
            outer, inner = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
            return sizes(x.view(outer, x.shape[axis], inner)).columns.squares.view(rest)
        turned = x.transpose(-1, -2) if last else x
        if axis >= last - 1 and turned.is_contiguous():
            # The same sums: only the two last axes change places, and one of them is summed away.
            return energy(turned, last if axis == last - 1 else last - 1)
    return x.double().square().sum(axis)


def _fast(x: Tensor) -> bool:
    return loops.reach(x.device) and x.dtype in (torch.float64, torch.float32) and not x.is_conj()


def sizes(x: Tensor) -> Sizes:
    """Return the magnitudes of rows and columns: of each matrix of a stack, in one pass.

    Args:
        x: float64 or float32 ``[outer, rows, columns]`` on the CPU, contiguous, none of the lengths zero.
    """
    setting = _setting.get()
    shape = (x.shape[0], x.shape[1], x.shape[2])
    found = setting.known.sizes(x, shape)
    if found is None:
        found = _measured(x, _ZERO, _ONE, shape, setting.threads)
        setting.known.keep_sizes(x, shape, found)
    assert isinstance(found, Sizes)
    return found


def _rows(x: Tensor, both: bool) -> Magnitudes:
    """Return the magnitudes of the rows ``[outer, rows, columns]``; with ``both`` keep those of the columns as well."""
    setting = _setting.get()
    shape = (x.shape[0], x.shape[1], x.shape[2])
    if both or setting.known.sizes(x, shape) is not None:
        return sizes(x).rows
    return _measured_rows(x, _ZERO, _ONE, shape, setting.threads)


def matrix_sizes(x: Tensor) -> Sizes:
    """Return the magnitudes of rows and columns of a matrix, with an axis of length 1 before them.

    Args:
        x: float64 or float32 ``[rows, columns]``, on any device, of any strides.
    """
    if _fast(x) and x.numel() and x.is_contiguous():
        return sizes(x[None])
    return normalised_sizes(x[None], _ZERO.to(x.device), _ONE.to(x.device))


def normalised_sizes(x: Tensor, mean: Tensor, factor: Tensor) -> Sizes:
    """Return the magnitudes of rows and columns of ``(x - mean) * factor``, which is nowhere stored.

    Args:
        x: float64 or float32 ``[outer, rows, columns]``.
        mean: ``[n]``: one number for each row, n a divisor of outer times rows: of row i that with index i mod n.
        factor: ``[n]``: the same.
    """
    if _fast(x) and x.numel():
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


def normalised_rows(x: Tensor, mean: Tensor, factor: Tensor) -> Magnitudes:
    """The same of the rows alone."""
    if _fast(x) and x.numel():
        x, mean, factor = x.contiguous(), mean.double().contiguous(), factor.double().contiguous()
        return _measured_rows(x, mean, factor, (x.shape[0], x.shape[1], x.shape[2]), _setting.get().threads)
    return normalised_sizes(x, mean, factor).rows


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
    if _fast(g) and _fast(x) and g.dtype == x.dtype:
        first, second = g.contiguous(), x.contiguous()
        count = first.numel()
        parts = -(-count // _PART)
        _GATE.pack_into(job.words, 0, 0, parts, count, first.data_ptr(), 0, second.data_ptr(), slope, cubic)
        _GATE_OF[first.itemsize].run(job.address, min(_setting.get().threads, parts))
        return float_of(_LARGEST.unpack_from(job.words)[4])
    wide, argument = g.double(), x.double()
    return _largest(wide * (1.0 + slope * argument.abs() * (1.0 + cubic * argument * argument)), 1)


_LARGEST = Struct("<5Q")
"""Job: part, parts; count, address; bits of the largest magnitude."""
_GATE = Struct("<6Q2d")
"""Job: the same; address of the other operand, slope, cubic."""
_SIZES = Struct("<13Q")
"""Job: part, parts; outer, rows, columns; address; rows of a part, parts of a matrix; address of means and of factors,
their number; address of what is found of rows and of parts' columns, 0 where those are not asked for."""
_ZERO, _ONE = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)


def _measured(x: Tensor, mean: Tensor, factor: Tensor, shape: tuple[int, int, int], threads: int) -> Sizes:
    outer, rows, columns = shape
    # Enough rows for a part, but no more parts than there is need for.
    height = min(max(-(-_PART // columns), -(-rows // _BLOCKS)), rows)
    blocks = -(-rows // height)
    along_rows = torch.empty((3, outer, rows), dtype=torch.float64)
    found = torch.empty((outer, blocks, 3, columns), dtype=torch.float64)
    _measure(x, mean, factor, (outer, rows, columns, height, blocks), (along_rows, found), threads)
    if blocks == 1:
        top, total, squares = found.view(outer, 3, columns).unbind(1)
    else:
        # In the order of the parts, whoever measured them.
        top, total, squares = found[:, :, 0].amax(1), found[:, :, 1].sum(1), found[:, :, 2].sum(1)
    return Sizes(Magnitudes(*along_rows.unbind()), Magnitudes(top, total, squares))


def _measured_rows(x: Tensor, mean: Tensor, factor: Tensor, shape: tuple[int, int, int], threads: int) -> Magnitudes:
    outer, rows, columns = shape
    # One long stack of rows.
    height = min(-(-_PART // columns), outer * rows)
    along_rows = torch.empty((3, outer, rows), dtype=torch.float64)
    cut = (1, outer * rows, columns, height, -(-outer * rows // height))
    _measure(x, mean, factor, cut, (along_rows, None), threads)
    return Magnitudes(*along_rows.unbind())


def _measure(
    x: Tensor,
    mean: Tensor,
    factor: Tensor,
    cut: tuple[int, int, int, int, int],
    found: tuple[Tensor, Tensor | None],
    threads: int,
) -> None:
    outer, rows, columns, height, blocks = cut
    along_rows, along_columns = found
    _SIZES.pack_into(
        job.words, 0,
        0, outer * blocks, outer, rows, columns, x.data_ptr(), height, blocks,
        mean.data_ptr(), factor.data_ptr(), mean.numel(),
        along_rows.data_ptr(), 0 if along_columns is None else along_columns.data_ptr(),
    )  # fmt: skip
    small = outer * rows * columns < 2 * _PART
    _SIZES_OF[x.itemsize].run(job.address, 1 if small else min(threads, outer * blocks))


@numba.njit(nogil=True, cache=True, error_model="numpy")
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
    job = carray(pointer, (JOB_WORDS,))
    _largest_parts(pointer, carray(at_address(job[3]), (np.int64(job[2]),), np.float64))


def _largest_float32(pointer: Any) -> None:
    job = carray(pointer, (JOB_WORDS,))
    _largest_parts(pointer, carray(at_address(job[3]), (np.int64(job[2]),), np.float32))


@numba.njit(nogil=True, cache=True, error_model="numpy")
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
    job = carray(pointer, (JOB_WORDS,))
    count = np.int64(job[2])
    first, second = at_address(job[3]), at_address(job[5])
    _gate_parts(pointer, carray(first, (count,), np.float64), carray(second, (count,), np.float64))


def _gate_float32(pointer: Any) -> None:
    job = carray(pointer, (JOB_WORDS,))
    count = np.int64(job[2])
    first, second = at_address(job[3]), at_address(job[5])
    _gate_parts(pointer, carray(first, (count,), np.float32), carray(second, (count,), np.float32))


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"})
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


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"})
def _add_columns(row: Any, mean: float, factor: float, top: Any, total: Any, squares: Any) -> None:
    for i in range(row.size):
        magnitude = abs((np.float64(row[i]) - mean) * factor)
        top[i] = max(top[i], as_bits(magnitude))
        total[i] += magnitude
        squares[i] += magnitude * magnitude


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"})
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


@numba.njit(nogil=True, cache=True, error_model="numpy")
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
                return
            for n in range(part * height, min((part + 1) * height, rows)):
                along_rows[0, n], along_rows[1, n], along_rows[2, n] = _row_sizes(
                    x[n], means[n % given], factors[n % given]
                )
    along_columns = carray(at_address(job[12]), (outer * blocks, 3, columns), np.float64)
    four_means, four_factors = np.empty(4), np.empty(4)
    tops = np.empty(columns, np.uint64)
    while True:
        part = np.int64(add_atomically(pointer, 0, np.uint64(1)))
        if part >= np.int64(job[1]):
            break
        first = part // blocks * rows + part % blocks * height
        end = min(first + height, (part // blocks + 1) * rows)
        total, squares = along_columns[part, 1], along_columns[part, 2]
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
        along_columns[part, 0] = tops.view(np.float64)


def _size_float64(pointer: Any) -> None:
    job = carray(pointer, (JOB_WORDS,))
    shape = (np.int64(job[2] * job[3]), np.int64(job[4]))
    _size_parts(pointer, carray(at_address(job[5]), shape, np.float64))


def _size_float32(pointer: Any) -> None:
    job = carray(pointer, (JOB_WORDS,))
    shape = (np.int64(job[2] * job[3]), np.int64(job[4]))
    _size_parts(pointer, carray(at_address(job[5]), shape, np.float32))


_LARGEST_OF = {8: Region(_largest_float64), 4: Region(_largest_float32)}
_GATE_OF = {8: Region(_gate_float64), 4: Region(_gate_float32)}
_SIZES_OF = {8: Region(_size_float64), 4: Region(_size_float32)}
