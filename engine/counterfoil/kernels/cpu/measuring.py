"""Largest magnitudes, sums of magnitudes and of squares in the CPU's memory: one compiled pass over a tensor.

They are for the scale rules, which use them through an exponent alone, and the replay accepts an exponent that is off
by one (docs/numerics.md, *Scales*). So these loops, unlike the rounding kernel, may add in any order (``reassoc``),
which lets LLVM use vector instructions. The order depends on shapes alone, not on the number of threads.

Tensors are float64 or float32, given by their addresses and the bytes of an element, 8 or 4; they must live until the
function returns.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

import numpy as np

from counterfoil.kernels.cache import kernel
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

PART = 1 << 15
"""Elements of a part: a thread works on one at a time."""
LARGEST, TOTAL, SQUARES = range(3)
"""Kinds of magnitudes: largest element, sum of magnitudes, sum of squares."""

_LARGEST = Struct("<6Q")
"""Job: part, parts; count, address; bits of the largest magnitude; bytes of an element."""
_GATE = Struct("<7Q2d")
"""Job: the same; address of the other operand, slope, cubic."""
_SIZES = Struct("<18Q")
"""Job: part, parts; outer, rows, columns; address; rows of a part, parts of a matrix; address of means and of factors,
their number; the addresses of :data:`Found`, of which that of the columns says, where only rows are asked for, how
many matrices these belong to; whether all but the first two are to be found; bytes of an element."""
_ENDS, _RESULTS = 16, 20
_WORD, _DOUBLE, _TOPS = Struct("<Q"), Struct("<d"), Struct("<9d")
"""Results, behind the job: the largest magnitude, sum and sum of squares of a row, of a column, and of a row of all
matrices together."""


def largest(address: int, count: int, item: int, threads: int) -> float:
    """Return the largest magnitude of a tensor: not a number where an element is not.

    Args:
        address: Where it lies.
        count: Its elements.
        item: Bytes of one.
        threads: Threads that share the work at most.
    """
    parts = 1 if count <= PART else -(-count // PART)
    _LARGEST.pack_into(job.words, 0, 0, parts, count, address, 0, item)
    _LARGEST_REGION.run(min(threads, parts))
    return _result()


def largest_gate(g: int, x: int, count: int, item: int, slope: float, cubic: float, threads: int) -> float:
    """Return the largest of ``abs(g) * (1 + slope * abs(x) * (1 + cubic * x * x))``.

    Args:
        g: Where one tensor lies.
        x: Where the other lies, of the same dtype.
        count: Elements of each, at least one.
        item: Bytes of one.
        slope: A number.
        cubic: A number.
        threads: Threads that share the work at most.
    """
    parts = -(-count // PART)
    _GATE.pack_into(job.words, 0, 0, parts, count, g, 0, item, x, slope, cubic)
    _GATE_REGION.run(min(threads, parts))
    return _result()


def _result() -> float:
    """Return the largest magnitude that the job before found."""
    number: float = _DOUBLE.unpack_from(job.words, 32)[0]
    return number


Cut = tuple[int, int, int, int, int]
"""How a stack of matrices is cut into parts: matrices, rows and columns of each; rows of a part, parts of a matrix."""
Found = tuple[int, int, int, int, int]
"""Addresses of what is found, float64, with the three kinds of magnitudes along the first axis.

Rows ``[3, outer * rows]``; room for the columns of parts ``[3, outer * blocks, columns]``, 0 where only rows are asked
for; columns ``[3, outer, columns]``, and where only rows are asked for the number of matrices that they belong to; the
largest sum of squares of a row and of a column of each matrix ``[2, outer]``; rows of all matrices together ``[3,
rows]``, 0 where those are not asked for."""


def measure(
    x: int, item: int, mean: int, factor: int, given: int, cut: Cut, found: Found, threads: int
) -> tuple[float, ...]:
    """Measure the rows, and the columns, of ``(x - mean) * factor``, which is nowhere stored.

    Args:
        x: Where the stack of matrices lies, ``[outer, rows, columns]``.
        item: Bytes of an element.
        mean: Where the means lie, float64 ``[given]``: of row i that with index i mod ``given``.
        factor: Where the factors lie, the same.
        given: How many of each there are: a divisor of outer times rows.
        cut: Its lengths, and how it is cut.
        found: Where to write.
        threads: Threads that share the work at most.

    Returns:
        Nine numbers: the largest of each of the three kinds, of the rows, of the columns, and of the rows of all
        matrices together.
    """
    outer, rows, columns, height, blocks = cut
    parts = outer * blocks
    alone = threads == 1 or outer * rows * columns < 2 * PART
    _SIZES.pack_into(
        job.words, 0, 0, parts, outer, rows, columns, x, height, blocks, mean, factor, given, *found, alone, item
    )
    _SIZES_REGION.run(1 if alone else min(threads, parts))
    if not alone:
        # No part is left; what follows the last of them is.
        _WORD.pack_into(job.words, 8 * _ENDS, 1)
        _SIZES_REGION.run(1)
    return _TOPS.unpack_from(job.words, 8 * _RESULTS)


@kernel(nogil=True, error_model="numpy")
def _largest_parts(pointer: Any, x: Any) -> None:
    job = carray(pointer, (JOB_WORDS,))
    top = np.uint64(0)
    while True:
        part = add_atomically(pointer, 0, np.uint64(1))
        if part >= job[1]:
            break
        mine = x[np.int64(part) * PART : np.int64(part) * PART + PART]
        # Bits of magnitudes are ordered as the magnitudes are, with NaN on top, and their maximum is vectorised.
        for i in range(mine.size):
            top = max(top, as_bits(abs(np.float64(mine[i]))))
    raise_atomically(pointer, 4, top)


def _largest(pointer: Any) -> None:
    entered(pointer)
    job = carray(pointer, (JOB_WORDS,))
    count = (np.int64(job[2]),)
    if job[5] == 8:
        _largest_parts(pointer, carray(at_address(job[3]), count, np.float64))
    else:
        _largest_parts(pointer, carray(at_address(job[3]), count, np.float32))
    left(pointer)


@kernel(nogil=True, error_model="numpy")
def _gate_parts(pointer: Any, g: Any, x: Any) -> None:
    job = carray(pointer, (JOB_WORDS,))
    slope: Any = as_float(job[7])
    cubic: Any = as_float(job[8])
    top = np.uint64(0)
    while True:
        part = add_atomically(pointer, 0, np.uint64(1))
        if part >= job[1]:
            break
        start = np.int64(part) * PART
        mine, others = g[start : start + PART], x[start : start + PART]
        for i in range(mine.size):
            value = np.float64(others[i])
            product = np.float64(mine[i]) * (1.0 + slope * abs(value) * (1.0 + cubic * value * value))
            top = max(top, as_bits(abs(product)))
    raise_atomically(pointer, 4, top)


def _gate(pointer: Any) -> None:
    entered(pointer)
    job = carray(pointer, (JOB_WORDS,))
    count = (np.int64(job[2]),)
    g, x = at_address(job[3]), at_address(job[6])
    if job[5] == 8:
        _gate_parts(pointer, carray(g, count, np.float64), carray(x, count, np.float64))
    else:
        _gate_parts(pointer, carray(g, count, np.float32), carray(x, count, np.float32))
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


def _sizes(pointer: Any) -> None:
    entered(pointer)
    job = carray(pointer, (JOB_WORDS,))
    shape = (np.int64(job[2] * job[3]), np.int64(job[4]))
    if job[17] == 8:
        _size_parts(pointer, carray(at_address(job[5]), shape, np.float64))
    else:
        _size_parts(pointer, carray(at_address(job[5]), shape, np.float32))
    left(pointer)


_LARGEST_REGION, _GATE_REGION, _SIZES_REGION = Region(_largest), Region(_gate), Region(_sizes)
