"""Largest magnitudes, sums of magnitudes and of squares in the CPU's memory: one compiled pass over a tensor.

They are for the scale rules, which use them through an exponent alone, and the replay accepts an exponent that is off
by one (docs/numerics.md, *Scales*). So these loops, unlike the rounding kernel, may add in any order (``reassoc``),
which lets LLVM use vector instructions. The order depends on shapes alone, not on the number of threads.

Tensors are float64 or float32, given by their addresses and the bytes of an element, 8 or 4; they must live until the
function returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterfoil_core.kernels.cache import inlined, kernel
from counterfoil_core.kernels.cpu.formulas import joined, larger
from counterfoil_core.kernels.cpu.magnitudes import as_bits, as_float
from counterfoil_core.kernels.cpu.regions import (
    Region,
    at_address,
    carray,
    claimed,
    entered,
    floats_at,
    left,
    raise_atomically,
    record_at,
)

PART = 1 << 15
"""Elements of a part: a thread works on one at a time."""
LARGEST, TOTAL, SQUARES, ALL = range(4)
"""Kinds of magnitudes: largest element, sum of magnitudes, sum of squares; all of them."""

_LARGEST = np.dtype([("parts", "i8"), ("count", "i8"), ("x", "u8"), ("item", "i8"), ("top", "f8")])
"""Job: parts; elements, address, bytes of one; their largest magnitude."""
_GATE = np.dtype(
    [
        ("parts", "i8"), ("count", "i8"), ("g", "u8"), ("x", "u8"), ("item", "i8"), ("slope", "f8"), ("cubic", "f8"),
        ("top", "f8"),
    ]
)  # fmt: skip
"""Job: the same of two tensors, and the two numbers."""
_SIZES = np.dtype(
    [
        ("parts", "i8"), ("outer", "i8"), ("rows", "i8"), ("columns", "i8"), ("x", "u8"), ("height", "i8"),
        ("blocks", "i8"), ("means", "u8"), ("factors", "u8"), ("given", "i8"), ("along_rows", "u8"),
        ("of_parts", "u8"), ("along_columns", "u8"), ("squares", "u8"), ("joined", "u8"), ("ends", "i8"),
        ("item", "i8"), ("kind", "i8"), ("of_rows", "f8", 3), ("of_columns", "f8", 3), ("of_joined", "f8", 3),
    ]
)  # fmt: skip
"""Job: parts; lengths; address; rows of a part, parts of a matrix; address of means and of factors, their number; the
addresses of :data:`Found`, of which that of the columns says, where only rows are asked for, how many matrices these
belong to; whether all but the first two are to be found; bytes of an element; the kind of magnitudes to be found, one
of TOTAL, SQUARES and ALL. What it finds: the largest magnitude, sum and sum of squares of a row, of a column, and of a
row of all matrices together."""


def largest(address: int, count: int, item: int, threads: int) -> float:
    """Return the largest magnitude of a tensor: not a number where an element is not.

    Args:
        address: Where it lies.
        count: Its elements.
        item: Bytes of one.
        threads: Threads that share the work at most.
    """
    parts = 1 if count <= PART else -(-count // PART)
    return float(_LARGEST_REGION.run(min(threads, parts), parts, count, address, item)[0])


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
    return float(_GATE_REGION.run(min(threads, parts), parts, count, g, x, item, slope, cubic)[0])


Cut = tuple[int, int, int, int, int]
"""How a stack of matrices is cut into parts: matrices, rows and columns of each; rows of a part, parts of a matrix."""
Found = tuple[int, int, int, int, int]
"""Addresses of what is found, float64, with the three kinds of magnitudes along the first axis.

Rows ``[3, outer * rows]``; room for the columns of parts ``[3, outer * blocks, columns]``, 0 where only rows are asked
for; columns ``[3, outer, columns]``, and where only rows are asked for the number of matrices that they belong to; the
largest sum of squares of a row and of a column of each matrix ``[2, outer]``; rows of all matrices together ``[3,
rows]``, 0 where those are not asked for."""


def measure(
    x: int, item: int, mean: int, factor: int, given: int, cut: Cut, found: Found, threads: int, kind: int = ALL
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
        kind: ALL, or TOTAL or SQUARES for these sums alone, of rows and columns of x as it is, in a third of the time;
            nothing is then written where the other kinds have their place.

    Returns:
        Nine numbers: the largest of each of the three kinds, 0 of what was not asked for, of the rows, of the columns,
        and of the rows of all matrices together.
    """
    outer, rows, columns, height, blocks = cut
    parts = outer * blocks
    alone = threads == 1 or outer * rows * columns < 2 * PART
    told = outer, rows, columns, x, height, blocks, mean, factor, given, *found
    if alone:
        return _SIZES_REGION.run(1, parts, *told, True, item, kind)
    _SIZES_REGION.run(min(threads, parts), parts, *told, False, item, kind)
    # No part is left; what follows the last of them is.
    return _SIZES_REGION.run(1, 0, *told, True, item, kind)


@kernel(nogil=True, error_model="numpy")
def _largest_parts(pointer: Any, x: Any) -> None:
    job = record_at(pointer, _LARGEST)
    top = np.uint64(0)
    while True:
        part = claimed(pointer)
        if part >= job.parts:
            break
        mine = x[part * PART : part * PART + PART]
        # Bits of magnitudes are ordered as the magnitudes are, with NaN on top, and their maximum is vectorised.
        for i in range(mine.size):
            top = max(top, as_bits(abs(np.float64(mine[i]))))
    raise_atomically(job, "top", top)


def _largest(pointer: Any) -> None:
    entered(pointer)
    job = record_at(pointer, _LARGEST)
    if job.item == 8:
        _largest_parts(pointer, floats_at(job.x, job.count))
    else:
        _largest_parts(pointer, carray(at_address(job.x), job.count, np.float32))
    left(pointer)


@kernel(nogil=True, error_model="numpy")
def _gate_parts(pointer: Any, g: Any, x: Any) -> None:
    job = record_at(pointer, _GATE)
    slope, cubic = job.slope, job.cubic
    top = np.uint64(0)
    while True:
        part = claimed(pointer)
        if part >= job.parts:
            break
        start = part * PART
        mine, others = g[start : start + PART], x[start : start + PART]
        for i in range(mine.size):
            value = np.float64(others[i])
            product = np.float64(mine[i]) * (1.0 + slope * abs(value) * (1.0 + cubic * value * value))
            top = max(top, as_bits(abs(product)))
    raise_atomically(job, "top", top)


def _gate(pointer: Any) -> None:
    entered(pointer)
    job = record_at(pointer, _GATE)
    if job.item == 8:
        _gate_parts(pointer, floats_at(job.g, job.count), floats_at(job.x, job.count))
    else:
        g, x = at_address(job.g), at_address(job.x)
        _gate_parts(pointer, carray(g, job.count, np.float32), carray(x, job.count, np.float32))
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


@kernel(nogil=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"})
def _add_terms(row: Any, are_squares: bool, sums: Any) -> Any:
    """Add magnitudes or squares of a row to those of the columns; return their sum."""
    total = 0.0
    for i in range(row.size):
        one = abs(np.float64(row[i]))
        term = one * one if are_squares else one
        total += term
        sums[i] += term
    return total


@kernel(nogil=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"})
def _add_four_terms(a: Any, b: Any, c: Any, d: Any, are_squares: bool, sums: Any) -> Any:
    """The same of four rows at once."""
    total_a = total_b = total_c = total_d = 0.0
    for i in range(a.size):
        one, two, three, four = (
            abs(np.float64(a[i])),
            abs(np.float64(b[i])),
            abs(np.float64(c[i])),
            abs(np.float64(d[i])),
        )
        if are_squares:
            one, two, three, four = one * one, two * two, three * three, four * four
        total_a += one
        total_b += two
        total_c += three
        total_d += four
        sums[i] += (one + two) + (three + four)
    return total_a, total_b, total_c, total_d


@kernel(nogil=True, error_model="numpy")
def _sum_parts(pointer: Any, x: Any) -> None:
    """Find the sums of one kind alone, of rows and columns."""
    job = record_at(pointer, _SIZES)
    outer, rows, columns, height, blocks, kind = job.outer, job.rows, job.columns, job.height, job.blocks, job.kind
    of_rows = floats_at(job.along_rows, (3, outer * rows))[kind]
    along_columns = floats_at(job.of_parts, (3, outer * blocks, columns))
    are_squares = kind == SQUARES
    while True:
        part = claimed(pointer)
        if part >= job.parts:
            break
        row = part // blocks * rows + part % blocks * height
        end = min(row + height, (part // blocks + 1) * rows)
        sums = along_columns[kind, part]
        sums[:] = 0.0
        while row + 4 <= end:
            of_rows[row], of_rows[row + 1], of_rows[row + 2], of_rows[row + 3] = _add_four_terms(
                x[row], x[row + 1], x[row + 2], x[row + 3], are_squares, sums
            )
            row += 4
        while row < end:
            of_rows[row] = _add_terms(x[row], are_squares, sums)
            row += 1


@kernel(nogil=True, error_model="numpy")
def _all_parts(pointer: Any, x: Any, means: Any, factors: Any, along_rows: Any, along_columns: Any) -> None:
    """Find all kinds of magnitudes of rows and columns."""
    job = record_at(pointer, _SIZES)
    rows, columns, height, blocks, given = job.rows, job.columns, job.height, job.blocks, job.given
    four_means, four_factors = np.empty(4), np.empty(4)
    tops = np.empty(columns, np.uint64)
    while True:
        part = claimed(pointer)
        if part >= job.parts:
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


@kernel(nogil=True, error_model="numpy")
def _size_parts(pointer: Any, x: Any) -> None:
    job = record_at(pointer, _SIZES)
    outer, rows, columns, height, blocks, given = job.outer, job.rows, job.columns, job.height, job.blocks, job.given
    means, factors = floats_at(job.means, given), floats_at(job.factors, given)
    along_rows = floats_at(job.along_rows, (3, outer * rows))
    if job.of_parts == 0:
        while True:
            part = claimed(pointer)
            if part >= job.parts:
                break
            for n in range(part * height, min((part + 1) * height, rows)):
                along_rows[0, n], along_rows[1, n], along_rows[2, n] = _row_sizes(
                    x[n], means[n % given], factors[n % given]
                )
        if job.ends:
            matrices = np.int64(job.along_columns)
            _join(job, along_rows.reshape(3, matrices, rows // matrices))
        return
    along_columns = floats_at(job.of_parts, (3, outer * blocks, columns))
    if job.kind == ALL:
        _all_parts(pointer, x, means, factors, along_rows, along_columns)
    else:
        _sum_parts(pointer, x)
    if job.ends:
        _finish(job, along_rows.reshape(3, outer, rows), along_columns.reshape(3, outer, blocks, columns))


@inlined
def _kinds(kind: Any) -> Any:
    """The kinds of magnitudes that a job asks for."""
    return range(LARGEST, ALL) if kind == ALL else range(kind, kind + 1)


@kernel(nogil=True, error_model="numpy")
def _finish(job: Any, along_rows: Any, parts: Any) -> None:
    """Add up what the parts gave for the columns, and find what is largest."""
    _, outer, blocks, columns = parts.shape
    along_columns = floats_at(job.along_columns, (3, outer, columns))
    tops = floats_at(job.squares, (2, outer))
    for kind in _kinds(job.kind):
        if blocks > 1:
            # In the order of the parts, whoever measured them.
            for n in range(outer):
                for c in range(columns):
                    found = 0.0
                    for b in range(blocks):
                        found = larger(found, parts[kind, n, b, c]) if kind == LARGEST else found + parts[kind, n, b, c]
                    along_columns[kind, n, c] = found
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
        job.of_rows[kind], job.of_columns[kind] = row_top, column_top
    if job.joined:
        _join(job, along_rows)


@kernel(nogil=True, error_model="numpy")
def _join(job: Any, along_rows: Any) -> None:
    """Find the magnitudes of the rows of all matrices together."""
    target = floats_at(job.joined, (3, along_rows.shape[2]))
    for kind in _kinds(job.kind):
        job.of_joined[kind] = joined(along_rows[kind], target[kind], kind == LARGEST)


def _sizes(pointer: Any) -> None:
    entered(pointer)
    job = record_at(pointer, _SIZES)
    shape = (job.outer * job.rows, job.columns)
    if job.item == 8:
        _size_parts(pointer, floats_at(job.x, shape))
    else:
        _size_parts(pointer, carray(at_address(job.x), shape, np.float32))
    left(pointer)


_LARGEST_REGION, _GATE_REGION = Region(_largest, _LARGEST, "top"), Region(_gate, _GATE, "top")
_SIZES_REGION = Region(_sizes, _SIZES, "of_rows")
