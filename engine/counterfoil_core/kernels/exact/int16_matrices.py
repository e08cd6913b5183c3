"""Products of matrices of up to 14 bits on the CPU as they are, in int16: for processors without 8-bit dot products.

Both operands lie with the inner axis last, so a transposed one is turned while it is quantised. Sums are added in int32
as long as they fit, then in int64, and rounded where they were found: nothing but the result is written to memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil_core.kernels import buffers, devices
from counterfoil_core.kernels.cache import kernel
from counterfoil_core.kernels.cpu.magnitudes import INFINITE, exponent_above, largest_bits
from counterfoil_core.kernels.exact import digitproducts
from counterfoil_core.kernels.exact.int16_tiles import COLUMNS, ROWS, STEP, steps_at_once, tile
from counterfoil_core.kernels.exact.limits import float64_block
from counterfoil_core.kernels.exact.refusals import not_finite
from counterfoil_core.kernels.threads import in_parts

Int16Array = npt.NDArray[np.int16]
Int64Array = npt.NDArray[np.int64]

MOST_BITS = 14
"""Of 14 bits three steps of a tile are added in int32, of 15 none. 2^14 itself is reached, which int16 holds."""
_ROWS_AT_ONCE = 64
"""Rows of the left operand that stay in a core's second cache while the right one passes."""
_COLUMNS_AT_ONCE = 32
"""Rows of the right operand, which lies transposed, that stay in its first one."""
_INNER_AT_ONCE = 384
"""Elements of both that are multiplied meanwhile."""
_WIDE = 32
"""Rows that are turned at once."""


def takes(left: Tensor, right: Tensor, bits: int) -> bool:
    """Whether these kernels compute a product: on the CPU, of few bits, with sums that float64 holds."""
    if not devices.loops_reach(left.device) or bits > MOST_BITS:
        return False
    return left.numel() > 0 and right.numel() > 0 and left.shape[-1] <= float64_block(2 * bits)


def matmul(left: Tensor, right: Tensor, bits: int) -> Tensor:
    """Return the defined product: :func:`.kernels.exact.products.matmul`, where :func:`takes` says so."""
    whole = left.dim() == 2
    a, b = (left[None], right[None]) if whole else (left, right)
    batch, rows, columns = a.shape[0], a.shape[1], b.shape[2]
    (first, first_units), (second, second_units) = quantised(a, bits), quantised(b.mT, bits)
    result = buffers.empty((batch, rows, columns), torch.float32)
    settings = first, second, first_units + second_units, steps_at_once(1 << (2 * bits)), result.numpy()
    area = rows * columns

    def some_rows(start: int, end: int) -> None:
        _multiply(*settings, 0, 1, _tiled(start // columns), rows if end == area else _tiled(end // columns))

    def some_matrices(start: int, end: int) -> None:
        _multiply(*settings, start // area, end // area, 0, rows)

    in_parts(batch * area, some_rows if whole else some_matrices)
    return result[0] if whole else result


def _tiled(row: int) -> int:
    """The first row of the tile that a row is in: two threads never compute one tile."""
    return row // ROWS * ROWS


def empty(batch: int, rows: int, inner: int) -> Int16Array:
    """Return memory for a batch of matrices: int16 ``[batch, rows, columns]``, lengths of whole tiles.

    Rows beyond hold anything: sums of them are never read. Columns beyond have to be zero in one operand at least.
    """
    found: Int16Array = buffers.empty((batch, -(-rows // ROWS) * ROWS, -(-inner // STEP) * STEP), torch.int16).numpy()
    return found


def quantised(x: Tensor, bits: int) -> tuple[Int16Array, Int64Array]:
    """Return the integers of Q_b of each matrix of a batch, as :func:`empty` has them, zeros beyond the columns.

    Args:
        x: float32 ``[batch, rows, inner]`` on the CPU, in any layout.
        bits: b, 8 to 14.

    Returns:
        The integers; and int64 ``[batch]``, the exponents of their units.

    Raises:
        NonFiniteError: An element is infinite or not a number.
    """
    batch, rows, inner = x.shape
    turned = not x.is_contiguous() and x.mT.is_contiguous()
    flat = (x.mT if turned else x.contiguous()).view(batch, -1).numpy()
    found, units = empty(batch, rows, inner), np.empty(batch, np.int64)
    if not _find_units(flat.view(np.int32), bits, units):
        raise not_finite()
    (_quantise_turned if turned else _quantise_rows)(flat, units, rows, inner, found)
    return found, units


def int16_product(left: Tensor, right: Tensor, magnitude: int) -> Tensor:
    """Return the product of two matrices of small integers, int64.

    Args:
        left: Integers ``[m, k]`` on the CPU that int16 holds.
        right: The same, ``[k, n]``.
        magnitude: The largest product of an element of the one with one of the other.

    Raises:
        NotImplementedError: They lie on another device.
        ValueError: Two products of that magnitude are too large for int32.
    """
    if not devices.loops_reach(left.device):
        raise NotImplementedError("int16 products are computed on the CPU")
    at_once, inner = steps_at_once(magnitude), left.shape[1]
    totals = torch.zeros((left.shape[0], right.shape[1]), dtype=torch.int64)
    if inner and totals.numel():
        padded = []
        for matrix in (left, right.t()):
            padded.append(empty(1, matrix.shape[0], inner)[0])
            padded[-1][: matrix.shape[0], :inner] = matrix.numpy()
            padded[-1][:, inner:] = 0
        _add_products(padded[0], padded[1], at_once, totals.numpy())
    return totals


# Slices, so that indices count from zero: one that numba must check for being negative is not vectorised.


@kernel(nogil=True)
def _find_units(patterns: Any, bits: int, units: Any) -> bool:
    for each in range(units.size):
        largest = largest_bits(patterns[each])
        if largest >= INFINITE:
            return False
        units[each] = exponent_above(largest) - bits
    return True


@kernel(nogil=True)
def _integers(x: Any, to_units: float, found: Any) -> None:
    for i in range(x.size):
        found[i] = digitproducts._integer(x[i], to_units)


@kernel(nogil=True)
def _quantise_rows(x: Any, units: Any, rows: int, inner: int, found: Any) -> None:
    for each in range(units.size):
        to_units = 2.0 ** -float(units[each])
        for row in range(rows):
            _integers(x[each, row * inner : (row + 1) * inner], to_units, found[each, row][:inner])
            found[each, row, inner:] = 0


@kernel(nogil=True)
def _quantise_turned(x: Any, units: Any, rows: int, inner: int, found: Any) -> None:
    part = np.empty(_WIDE, np.int16)
    for each in range(units.size):
        to_units = 2.0 ** -float(units[each])
        for start in range(0, rows, _WIDE):
            count = min(_WIDE, rows - start)
            for k in range(inner):
                _integers(x[each, k * rows + start : k * rows + start + count], to_units, part)
                for i in range(count):
                    found[each, start + i, k] = part[i]
        found[each, :rows, inner:] = 0


@kernel(nogil=True)
def _add_block(left: Any, right: Any, at_once: int, i: int, i_end: int, j: int, j_end: int, sums: Any) -> None:
    """Write the sums of a block, int64 ``[_ROWS_AT_ONCE * _COLUMNS_AT_ONCE]``; tiles at its ends reach beyond it."""
    apart, flat_left, flat_right = left.shape[1], left.reshape(-1), right.reshape(-1)
    sums[:] = 0
    for first in range(0, apart, _INNER_AT_ONCE):
        steps = (min(first + _INNER_AT_ONCE, apart) - first) // STEP
        for row in range(i, i_end, ROWS):
            for column in range(j, j_end, COLUMNS):
                tile(
                    flat_left, row * apart + first, flat_right, column * apart + first, apart, steps, at_once, sums,
                    (row - i) * _COLUMNS_AT_ONCE + column - j, _COLUMNS_AT_ONCE,
                )  # fmt: skip


@kernel(nogil=True)
def _round(totals: Any, scale: float, result: Any) -> None:
    for i in range(result.size):
        result[i] = digitproducts._rounded(totals[i], scale)


@kernel(nogil=True)
def _multiply(left: Any, right: Any, units: Any, at_once: int, result: Any, start: int, end: int,
              first: int, last: int) -> None:  # fmt: skip
    """Write rounded products ``[batch, m, n]``: those of some matrices, and some rows of them."""
    columns = result.shape[2]
    sums = np.empty(_ROWS_AT_ONCE * _COLUMNS_AT_ONCE, np.int64)
    for each in range(start, end):
        scale = 2.0 ** float(units[each])
        for i in range(first, last, _ROWS_AT_ONCE):
            i_end = min(i + _ROWS_AT_ONCE, last)
            for j in range(0, columns, _COLUMNS_AT_ONCE):
                j_end = min(j + _COLUMNS_AT_ONCE, columns)
                _add_block(left[each], right[each], at_once, i, i_end, j, j_end, sums)
                for r in range(i_end - i):
                    totals = sums[r * _COLUMNS_AT_ONCE : (r + 1) * _COLUMNS_AT_ONCE]
                    _round(totals, scale, result[each, i + r, j:j_end])


@kernel(nogil=True)
def _add_products(left: Any, right: Any, at_once: int, totals: Any) -> None:
    """Add products to int64 totals ``[m, n]``."""
    sums = np.empty(_ROWS_AT_ONCE * _COLUMNS_AT_ONCE, np.int64)
    for i in range(0, totals.shape[0], _ROWS_AT_ONCE):
        i_end = min(i + _ROWS_AT_ONCE, totals.shape[0])
        for j in range(0, totals.shape[1], _COLUMNS_AT_ONCE):
            j_end = min(j + _COLUMNS_AT_ONCE, totals.shape[1])
            _add_block(left, right, at_once, i, i_end, j, j_end, sums)
            for r in range(i_end - i):
                for c in range(j_end - j):
                    totals[i + r, j + c] += sums[r * _COLUMNS_AT_ONCE + c]
