"""Products of matrices on a CUDA device by int8 digits, in kernels of Triton and the library's int8 operator.

The same as :data:`counterfoil_core.kernels.exact.products.Form.KARATSUBA` with torch's operators. The host waits for
nothing: an exponent stays on the device, and what is not finite raises a flag there
(:mod:`counterfoil_core.kernels.exact.refusals`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from counterfoil_core.kernels import devices
from counterfoil_core.kernels.exact import digits
from counterfoil_core.kernels.exact.digits import KARATSUBA_BLOCK, digit_count
from counterfoil_core.kernels.exact.int8 import int8_product
from counterfoil_core.kernels.exact.limits import check_operands
from counterfoil_core.kernels.exact.refusals import refusal_flag

_MULTIPLE = 16
"""CUDA's int8 operator takes lengths that are multiples of 8, and reads rows best that begin at multiples of 16."""
FEWEST_ROWS = 32
"""It wants more than 16 rows of the left operand."""


@dataclass(frozen=True)
class Operand:
    """A matrix through Q_b, as digits in rows of the axis that products add over."""

    #: Makes or takes int8 ``[height, width]``: a digit, the lowest first, then a sum of two of them; zeros beyond the
    #: matrix, lengths as :func:`padded_length` has them.
    plane: Callable[[int], Tensor]
    largest: Tensor  #: int32 ``[1]``: the bits of the largest magnitude.
    bits: int  #: b.
    shape: tuple[int, int]  #: Rows and columns of the matrix.


@dataclass(frozen=True)
class Laid:
    """A tensor that is an operand of a product once it is laid out, as windows are."""

    x: Tensor  #: float32.
    lay: Callable[[Tensor], Tensor]  #: Lays out a tensor of that shape, of any dtype: ``[groups, *rows, *columns]``.
    axes: int  #: How many of these axes are rows.


def takes(left: Tensor, right: Tensor) -> bool:
    """Whether these kernels compute a product."""
    return devices.triton_reaches(left.device) and left.numel() > 0 and right.numel() > 0


def matmul(left: Tensor, right: Tensor, bits: int) -> Tensor:
    """Return the defined product: :func:`counterfoil_core.kernels.exact.products.matmul`, where :func:`takes` says so.

    Args:
        left: float32 ``[m, k]`` or ``[batch, m, k]``.
        right: float32 ``[k, n]`` or ``[batch, k, n]``.
        bits: S.
    """
    check_operands(bits, bits, left.shape[-1])
    with refusal_flag(left.device) as flag:
        if left.dim() == 2:
            return _matmul(left, right, bits, flag)
        return torch.stack([_matmul(a, b, bits, flag) for a, b in zip(left, right, strict=True)])


def _matmul(left: Tensor, right: Tensor, bits: int, flag: Tensor) -> Tensor:
    return multiply(_operand(left, bits, FEWEST_ROWS, flag), _operand(right.t(), bits, 1, flag))


def _operand(x: Tensor, bits: int, fewest: int, flag: Tensor) -> Operand:
    """Cut a matrix whose columns are added over."""
    from counterfoil_core.kernels.cuda import exact

    top, shape = largest(x), (padded_length(x.shape[0], fewest), padded_length(x.shape[1]))
    planes = exact.cut(x, top, bits, digit_count(bits), shape, flag)
    return Operand(planes.__getitem__, top, bits, (x.shape[0], x.shape[1]))


def largest(x: Tensor) -> Tensor:
    """Return the bits of the largest magnitude of a tensor, int32 ``[1]``: once for two products that it occurs in."""
    from counterfoil_core.kernels.cuda import exact

    turned = x.mT if x.dim() > 1 and not x.is_contiguous() and x.mT.is_contiguous() else x.contiguous()
    return digits.once(turned, "largest", lambda: exact.largest(turned, (1, 1, 1, turned.numel())))


def padded_length(length: int, fewest: int = 1) -> int:
    """Return the length that the library's int8 operator is given for one, so that no device refuses it."""
    return max(-(-length // _MULTIPLE) * _MULTIPLE, fewest)


def laid_matmul(left: Laid, right: Laid, lengths: tuple[int, int, int], bits: int) -> Tensor:
    """Return the defined product of tensors that are laid out as a matrix each, one digit after the other.

    Args:
        left: ``[1, *m, *k]``.
        right: ``[1, *k, *n]``.
        lengths: m, k and n.
        bits: S.

    Returns:
        float32 ``[m, n]``.
    """
    m, k, n = lengths
    check_operands(bits, bits, k)
    with refusal_flag(left.x.device) as flag:
        tops = largest(left.x), largest(right.x)
        first, second = (_planes(x, top, bits, flag) for x, top in zip((left.x, right.x), tops, strict=True))

        def rows(number: int) -> Tensor:
            return _padded_copy(left.lay(first[number])[0], left.axes, FEWEST_ROWS)

        def columns(number: int) -> Tensor:
            ordered = right.lay(second[number])[0]
            turned = [*range(right.axes, ordered.dim()), *range(right.axes)]
            return _padded_copy(ordered.permute(turned), ordered.dim() - right.axes)

        return multiply(Operand(rows, tops[0], bits, (m, k)), Operand(columns, tops[1], bits, (n, k)))


def _planes(x: Tensor, top: Tensor, bits: int, flag: Tensor) -> Tensor:
    """Cut a tensor of one exponent, told by ``top``: int8 ``[n (n + 1) / 2, *shape]``, nothing padded."""
    from counterfoil_core.kernels.cuda import exact

    flat = x.contiguous().view(1, -1)
    planes = exact.cut(flat, top, bits, digit_count(bits), (1, x.numel()), flag)
    return planes.view(-1, *x.shape)


def _padded_copy(ordered: Tensor, axes: int, fewest: int = 1) -> Tensor:
    """Copy ``[*rows, *columns]``, of so many axes of rows, to a matrix with zeros beyond its ends."""
    rows, columns = (math.prod(part) for part in (ordered.shape[:axes], ordered.shape[axes:]))
    matrix = ordered.new_zeros((padded_length(rows, fewest), padded_length(columns)))
    matrix[:rows, :columns].view(ordered.shape).copy_(ordered)
    return matrix


def multiply(left: Operand, right: Operand) -> Tensor:
    """Return the defined product of two matrices that are cut.

    Args:
        left: ``[m, k]``, of FEWEST_ROWS rows at least.
        right: ``[n, k]``, the right operand transposed, of as many bits.

    Returns:
        float32 ``[m, n]``.
    """
    from counterfoil_core.kernels.cuda import exact

    (rows, inner), (columns, others), count = left.shape, right.shape, digit_count(left.bits)
    assert (left.bits, inner) == (right.bits, others)
    shape = count * (count + 1) // 2, padded_length(rows, FEWEST_ROWS), padded_length(columns)
    if inner > KARATSUBA_BLOCK:
        products = torch.zeros(shape, dtype=torch.int64, device=left.largest.device)
    else:
        products = torch.empty(shape, dtype=torch.int32, device=left.largest.device)
    for number, out in enumerate(products):
        # The right operand lies transposed: the library's operator reads that fastest.
        a, b = left.plane(number), right.plane(number).t()
        if inner <= KARATSUBA_BLOCK:
            int8_product(a, b, out)
            continue
        for start in range(0, a.shape[1], KARATSUBA_BLOCK):
            length = min(KARATSUBA_BLOCK, a.shape[1] - start)
            out += int8_product(a.narrow(1, start, length), b.narrow(0, start, length))
    return exact.join(products, left.largest, right.largest, 2 * left.bits, count, (rows, columns))
