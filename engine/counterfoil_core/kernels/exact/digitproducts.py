"""Products of matrices on the CPU by int8 digits: one pass over memory to cut operands, one to round the result.

The same as :data:`counterfoil_core.kernels.exact.products.Form.KARATSUBA` with torch's operators, for operands of two
or three digits. numba compiles the loops to vector instructions; no fast-math, so what is written is what is computed.
An operand that is cut once serves every product that it is in, transposed as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.kernels import buffers, devices
from counterfoil_core.kernels.cache import inlined, kernel
from counterfoil_core.kernels.cpu.magnitudes import INFINITE, exponent_above, largest_bits
from counterfoil_core.kernels.exact import digits
from counterfoil_core.kernels.exact.digits import KARATSUBA_BLOCK, digit_count
from counterfoil_core.kernels.exact.int8 import int8_product
from counterfoil_core.kernels.exact.limits import FLOAT64_BITS, check_operands, log2_ceiling
from counterfoil_core.kernels.exact.refusals import not_finite
from counterfoil_core.kernels.threads import in_parts


@dataclass(frozen=True)
class Cut:
    """A matrix through Q_b, as digits."""

    planes: Tensor  #: int8 ``[3 or 6, rows, columns]``: the digits, the lowest first, then the sums of two of them.
    unit: int  #: Exponent of the unit.
    bits: int  #: b.

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.planes.shape[1], self.planes.shape[2]

    def plane(self, number: int) -> Tensor:
        """One plane, int8 ``[rows, columns]``."""
        return self.planes[number]

    def t(self) -> Cut:
        """The transposed matrix, of the same memory."""
        return Cut(self.planes.transpose(1, 2), self.unit, self.bits)


class Operand(Protocol):
    """A matrix whose planes are there, or are made when they are asked for; the rest is as in :class:`Cut`."""

    @property
    def unit(self) -> int:
        """Exponent of the unit."""

    @property
    def bits(self) -> int:
        """Bits of the integers."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def plane(self, number: int) -> Tensor:
        """One plane, int8 ``[rows, columns]``."""


def takes(left: Tensor, right: Tensor, bits: int) -> bool:
    """Whether these kernels compute a product: on the CPU, of two or three digits."""
    return devices.loops_reach(left.device) and digit_count(bits) in (2, 3) and left.numel() > 0 and right.numel() > 0


def exponent_of(x: Tensor) -> int:
    """Return E of a float32 tensor on the CPU; raises as ``quantise.exponents_of`` does."""
    patterns = x.contiguous().view(-1).view(torch.int32).numpy()
    largest = max(in_parts(patterns.size, lambda start, end: largest_bits(patterns[start:end])))
    if largest >= INFINITE:
        raise not_finite()
    return int(exponent_above(largest))


def cut(x: Tensor, bits: int, exponent: int | None = None) -> Cut:
    """Return the digits of Q_b(x), one exponent for the matrix.

    Args:
        x: float32 ``[rows, columns]`` on the CPU.
        bits: b, 7 to 20.
        exponent: E, where the matrix is part of a tensor; found if None.

    Raises:
        NonFiniteError: An element is infinite or not a number.
    """
    if not x.is_contiguous() and x.t().is_contiguous():
        return cut(x.t(), bits, exponent).t()
    unit = (exponent_of(x) if exponent is None else exponent) - bits
    count = digit_count(bits)
    planes = buffers.empty((count * (count + 1) // 2, *x.shape), dtype=torch.int8)
    kernel = _cut_two if count == 2 else _cut_three
    flat, into = x.contiguous().view(-1).numpy(), planes.view(planes.shape[0], -1).numpy()
    in_parts(flat.size, lambda start, end: kernel(flat, 2.0**-unit, into, start, end))
    return Cut(planes, unit, bits)


def cut_once(x: Tensor, bits: int) -> Cut:
    """The same as :func:`cut`, once for two products that a value occurs in, transposed or not."""
    if x.is_contiguous():
        return digits.once(x, bits, lambda: cut(x, bits))
    turned = x.t()
    return digits.once(turned, bits, lambda: cut(turned, bits)).t() if turned.is_contiguous() else cut(x, bits)


def multiply(left: Operand, right: Operand) -> Tensor:
    """Return the defined product of two matrices that are cut.

    Args:
        left: ``[m, k]``.
        right: ``[k, n]``, of as many bits.

    Returns:
        float32 ``[m, n]``.

    Raises:
        ProgramError: k is more than 2^(62 - 2 b).
    """
    (rows, inner), columns = left.shape, right.shape[1]
    assert left.bits == right.bits
    check_operands(left.bits, right.bits, inner)
    count = digit_count(left.bits)
    long = inner > KARATSUBA_BLOCK
    products = buffers.empty((count * (count + 1) // 2, rows, columns), dtype=torch.int64 if long else torch.int32)
    for number, out in enumerate(products):
        a, b = left.plane(number), right.plane(number)
        if long:
            out.copy_(_long_product(a, b))
        else:
            int8_product(a, b, out)
    result = buffers.empty((rows, columns), dtype=torch.float32)
    join(products, left.unit + right.unit, left.bits, inner, result)
    return result


def join(products: Tensor, unit: int, bits: int, inner: int, result: Tensor) -> None:
    """Round the exact sums that products of planes stand for.

    Args:
        products: int32 or int64 ``[3 or 6, m, n]``, contiguous.
        unit: Exponent of the sums' unit.
        bits: Bits of each operand.
        inner: Terms that were added.
        result: float32 ``[m, n]``, contiguous; written.
    """
    count = digit_count(bits)
    flat, rounded = products.view(len(products), -1).numpy(), result.view(-1).numpy()
    scale = 2.0**unit
    beyond = 2 * bits + log2_ceiling(inner) > FLOAT64_BITS
    kernel = _join_two if count == 2 else _join_three
    in_parts(rounded.size, lambda start, end: kernel(flat, scale, beyond, rounded, start, end))


def _long_product(a: Tensor, b: Tensor) -> Tensor:
    """Multiply planes whose inner axis is more than a block: int64."""
    total = torch.zeros((a.shape[0], b.shape[1]), dtype=torch.int64)
    for start in range(0, a.shape[1], KARATSUBA_BLOCK):
        length = min(KARATSUBA_BLOCK, a.shape[1] - start)
        total += int8_product(a.narrow(1, start, length), b.narrow(0, start, length))
    return total


def matmul(left: Tensor, right: Tensor, bits: int) -> Tensor:
    """Return the defined product: :func:`.kernels.exact.products.matmul`, where :func:`takes` says so."""
    if left.dim() == 2:
        return multiply(cut_once(left, bits), cut_once(right, bits))
    return torch.stack([multiply(cut(a, bits), cut(b, bits)) for a, b in zip(left, right, strict=True)])


@inlined
def _integer(x: Any, to_units: Any) -> Any:
    magic = 6755399441055744.0  # 1.5 * 2^52
    return np.int32((np.float64(x) * to_units + magic) - magic)


@inlined
def _lowest(v: Any) -> Any:
    return ((v + np.int32(64)) & np.int32(127)) - np.int32(64)


# Slices, so that indices count from zero: one that numba must check for being negative is not vectorised.


@kernel(nogil=True)
def _cut_two(x: Any, to_units: float, planes: Any, start: int, end: int) -> None:
    d0, d1, d01 = planes[0][start:end], planes[1][start:end], planes[2][start:end]
    part = x[start:end]
    for i in range(part.size):
        v = _integer(part[i], to_units)
        low = _lowest(v)
        high = (v - low) >> np.int32(7)
        d0[i], d1[i], d01[i] = low, high, low + high


@kernel(nogil=True)
def _cut_three(x: Any, to_units: float, planes: Any, start: int, end: int) -> None:
    d0, d1, d2, d01, d02, d12 = (
        planes[0][start:end],
        planes[1][start:end],
        planes[2][start:end],
        planes[3][start:end],
        planes[4][start:end],
        planes[5][start:end],
    )
    part = x[start:end]
    for i in range(part.size):
        v = _integer(part[i], to_units)
        low = _lowest(v)
        v = (v - low) >> np.int32(7)
        middle = _lowest(v)
        high = (v - middle) >> np.int32(7)
        d0[i], d1[i], d2[i] = low, middle, high
        d01[i], d02[i], d12[i] = low + middle, low + high, middle + high


@inlined
def _rounded(total: Any, scale: Any) -> Any:
    return np.float32(np.float64(total) * scale) + np.float32(0)


@inlined
def _rounded_beyond(total: Any, scale: Any) -> Any:
    """Round an integer of up to 62 bits: to odd first, as in counterfoil_core.kernels.exact.single."""
    if abs(total) > np.int64(1) << np.int64(53):
        short = total >> np.int64(10)
        if (short << np.int64(10)) != total:
            short |= np.int64(1)
        return _rounded(short, scale * 1024.0)
    return _rounded(total, scale)


@inlined
def _total_of_two(a: Any, b: Any, both: Any) -> Any:
    return np.int64(a) + ((np.int64(both) - a - b) << np.int64(7)) + (np.int64(b) << np.int64(14))


@inlined
def _total_of_three(a: Any, b: Any, c: Any, ab: Any, ac: Any, bc: Any) -> Any:
    first = np.int64(ab) - a - b
    second = np.int64(ac) - a - c + b
    third = np.int64(bc) - b - c
    lower = np.int64(a) + (first << np.int64(7)) + (second << np.int64(14))
    return lower + (third << np.int64(21)) + (np.int64(c) << np.int64(28))


# Whether sums may be beyond what float64 holds is asked once, not for every element.


@kernel(nogil=True)
def _join_two(products: Any, scale: float, beyond: bool, result: Any, start: int, end: int) -> None:
    a, b, both = products[0][start:end], products[1][start:end], products[2][start:end]
    part = result[start:end]
    if beyond:
        for i in range(part.size):
            part[i] = _rounded_beyond(_total_of_two(a[i], b[i], both[i]), scale)
    else:
        for i in range(part.size):
            part[i] = _rounded(_total_of_two(a[i], b[i], both[i]), scale)


@kernel(nogil=True)
def _join_three(products: Any, scale: float, beyond: bool, result: Any, start: int, end: int) -> None:
    a, b, c, ab, ac, bc = (
        products[0][start:end],
        products[1][start:end],
        products[2][start:end],
        products[3][start:end],
        products[4][start:end],
        products[5][start:end],
    )
    part = result[start:end]
    if beyond:
        for i in range(part.size):
            part[i] = _rounded_beyond(_total_of_three(a[i], b[i], c[i], ab[i], ac[i], bc[i]), scale)
    else:
        for i in range(part.size):
            part[i] = _rounded(_total_of_three(a[i], b[i], c[i], ab[i], ac[i], bc[i]), scale)
