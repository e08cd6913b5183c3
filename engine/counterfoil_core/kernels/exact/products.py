"""Products of matrices: operands through Q_s, the sum of integer products exactly, one rounding to float32.

The result is defined by mathematics, so the forms below give the same bits: which one computes is a matter of speed
and of what a machine has (:mod:`counterfoil_core.kernels.exact.forms` asks it).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from enum import Enum

import torch
from torch import Tensor

from counterfoil_core.kernels.exact import device_products, digitproducts, int16_matrices
from counterfoil_core.kernels.exact.digits import (
    INT8_BLOCK,
    INT8_DIGIT_BITS,
    INT16_DIGIT_BITS,
    KARATSUBA_BLOCK,
    digit_count,
    float32_block,
    recombine,
    split,
)
from counterfoil_core.kernels.exact.int8 import int8_product
from counterfoil_core.kernels.exact.limits import check_operands, float64_block
from counterfoil_core.kernels.exact.quantise import Quantised, quantise
from counterfoil_core.kernels.exact.single import from_float64, from_int64, power_of_two


class Form(Enum):
    """How a product is computed; the result is the same."""

    FLOAT64 = "float64"
    INT8 = "int8"
    KARATSUBA = "karatsuba"
    """int8 as well, with sums of two digits for operands: for two digits three products in place of four, for three six
    in place of nine. Processors without an 8-bit dot product saturate there."""
    INT16 = "int16"
    """In loops of our own, on the CPU: up to 14 bits as they are, beyond in digits. Every vector unit has them."""
    FLOAT32 = "float32"
    TENSOR_CORES = "tensor cores"
    """In one kernel of our own, on CUDA: bytes for digits, cut in registers."""


_Multiplied = Callable[[Tensor, Tensor], Tensor]
"""Multiplies two windows of digits, exactly."""
_CUDA_MULTIPLE = 16
"""CUDA's int8 operator takes inner and outer lengths that are multiples of 8, and more than 16 rows."""


def operands(left: Tensor, right: Tensor, bits: int) -> tuple[Quantised, Quantised]:
    """Return both operands of a matrix product through Q_s; a matrix has one exponent, of a batch each its own.

    Args:
        left: float32 ``[..., m, k]``.
        right: float32 ``[..., k, n]``.
        bits: S.

    Raises:
        NonFiniteError: An element is infinite or not a number.
    """
    return quantise(left, bits, (-2, -1)), quantise(right, bits, (-2, -1))


def matmul(left: Tensor, right: Tensor, bits: int, form: Form = Form.FLOAT64) -> Tensor:
    """Return the defined product of two matrices, or of two batches of them.

    Args:
        left: float32 ``[m, k]`` or ``[batch, m, k]``.
        right: float32 ``[k, n]`` or ``[batch, k, n]``.
        bits: S, 8 to 24.
        form: How to compute it.

    Returns:
        float32 ``[m, n]`` or ``[batch, m, n]``; infinite where the result is beyond float32's range.

    Raises:
        NonFiniteError: An element is infinite or not a number.
        ProgramError: k is more than 2^(62 - 2 S).
    """
    if form is Form.INT16 and int16_matrices.takes(left, right, bits):
        return int16_matrices.matmul(left, right, bits)
    if form is Form.KARATSUBA and digitproducts.takes(left, right, bits):
        return digitproducts.matmul(left, right, bits)
    if form is Form.TENSOR_CORES and device_products.takes(left, right, bits):
        check_operands(bits, bits, left.shape[-1])
        return device_products.matmul(left, right, bits)
    return quantised_matmul(*operands(left, right, bits), form)


def quantised_matmul(left: Quantised, right: Quantised, form: Form) -> Tensor:
    """Return the defined product of operands that went through Q_s; see :func:`matmul`.

    Args:
        left: ``[m, k]`` or ``[batch, m, k]``, exponents constant along the last axis.
        right: ``[k, n]`` or ``[batch, k, n]``, exponents constant along the last axis but one.
        form: How to compute it.
    """
    inner = left.values.shape[-1]
    check_operands(left.bits, right.bits, inner)
    if not (left.values.numel() and right.values.numel()):
        return left.values.new_zeros((*left.values.shape[:-1], right.values.shape[-1]), dtype=torch.float32)
    if form is Form.FLOAT64 and inner <= float64_block(left.bits + right.bits):
        return from_float64(left.values @ right.values)
    return from_int64(exact_sums(left, right, form), left.unit + right.unit)


def exact_sums(left: Quantised, right: Quantised, form: Form) -> Tensor:
    """Return the sums of integer products, int64, in units of both operands; see :func:`quantised_matmul`."""
    return _EXACT[form](left, right)


def _blocks(inner: int, longest: int) -> Iterator[tuple[int, int]]:
    """Start and length of the blocks of the inner axis."""
    for start in range(0, inner, longest):
        yield start, min(longest, inner - start)


def _by_float64(left: Quantised, right: Quantised) -> Tensor:
    to_integers = power_of_two(-left.unit - right.unit)
    total: Tensor | int = 0
    inner = left.values.shape[-1]
    for start, length in _blocks(inner, float64_block(left.bits + right.bits)):
        partial = left.values.narrow(-1, start, length) @ right.values.narrow(-2, start, length)
        total = total + (partial * to_integers).to(torch.int64)
    assert isinstance(total, Tensor)
    return total


def _by_digits(left: Quantised, right: Quantised, digit_bits: int, block: int, multiplied: _Multiplied) -> Tensor:
    """Sum products of digits.

    The left digits stand beside each other and the right ones below each other, the highest first. The products of
    digits whose places add up to c are then one product of a window of the one with a window of the other.
    """
    n, m = (digit_count(q.bits, digit_bits) for q in (left, right))
    # As many digits as there are at most in a window: every product of digits counts for the block.
    longest = block // min(n, m)
    assert longest, "a digit is too wide for any sum"
    a, b = left.integers, right.integers
    total: Tensor | None = None
    for start, length in _blocks(a.shape[-1], longest):
        beside = torch.cat(split(a.narrow(-1, start, length), left.bits, digit_bits), -1)
        below = torch.cat(split(b.narrow(-2, start, length), right.bits, digit_bits)[::-1], -2)
        levels = []
        for c in range(n + m - 1):
            first, last = max(0, c - m + 1), min(c, n - 1)
            width = (last - first + 1) * length
            # Left digit i meets right digit c - i, which is the (m - 1 - c + i)-th from above.
            window = beside.narrow(-1, first * length, width), below.narrow(-2, (m - 1 - c + first) * length, width)
            levels.append(multiplied(*window))
        partial = recombine(levels, digit_bits)
        total = partial if total is None else total + partial
    assert total is not None
    return total


def by_int8(left: Quantised, right: Quantised, multiple: int | None = None) -> Tensor:
    """Return the exact sum of integer products by int8 digits and int32 accumulators.

    Args:
        left: ``[m, k]`` or ``[batch, m, k]``.
        right: ``[k, n]`` or ``[batch, k, n]``.
        multiple: Lengths are padded with zeros to multiples of this; None: as the device asks.

    Returns:
        int64 ``[m, n]`` or ``[batch, m, n]``.
    """
    step = multiple or _multiple(left.values)
    return _by_digits(left, right, INT8_DIGIT_BITS, INT8_BLOCK, lambda a, b: _int8_product(a, b, step))


def _multiple(values: Tensor) -> int:
    """What the lengths of int8 operands of a device are padded to multiples of."""
    return _CUDA_MULTIPLE if values.is_cuda else 1


def _int8_product(a: Tensor, b: Tensor, multiple: int) -> Tensor:
    a, b = a.to(torch.int8), b.to(torch.int8)
    if a.dim() == 3:
        # torch has no int8 operator for batches.
        return torch.stack([_int8_matrix(one, other, multiple) for one, other in zip(a, b, strict=True)])
    return _int8_matrix(a, b, multiple)


def _int8_matrix(a: Tensor, b: Tensor, multiple: int) -> Tensor:
    rows, columns = a.shape[0], b.shape[1]
    if multiple > 1:
        short = [-length % multiple for length in (a.shape[0], a.shape[1], b.shape[1])]
        # Never exactly 16 rows: the operator wants more.
        short[0] += multiple if rows + short[0] == multiple else 0
        a = torch.nn.functional.pad(a, (0, short[1], 0, short[0])).contiguous()
        # The operator reads a right operand fastest whose columns lie in one piece.
        b = torch.nn.functional.pad(b.t(), (0, short[1], 0, short[2])).contiguous().t()
    return int8_product(a, b)[:rows, :columns]


def by_karatsuba(left: Quantised, right: Quantised) -> Tensor:
    """Return the exact sum of integer products by int8 digits, with n (n + 1) / 2 products of them in place of n^2.

    ``a_i b_j + a_j b_i = (a_i + a_j)(b_i + b_j) - a_i b_i - a_j b_j`` (Karatsuba and Ofman 1962).

    Args:
        left: ``[m, k]`` or ``[batch, m, k]``.
        right: ``[k, n]`` or ``[batch, k, n]``.

    Returns:
        int64 ``[m, n]`` or ``[batch, m, n]``.
    """
    step = _multiple(left.values)
    bits = max(left.bits, right.bits)
    count = digit_count(bits)
    a, b = left.integers, right.integers
    total: Tensor | None = None
    for start, length in _blocks(a.shape[-1], KARATSUBA_BLOCK):
        first = split(a.narrow(-1, start, length), bits)
        second = split(b.narrow(-2, start, length), bits)
        equal = [_int8_product(x, y, step).to(torch.int64) for x, y in zip(first, second, strict=True)]
        partial = sum((square << (14 * i) for i, square in enumerate(equal)), torch.zeros_like(equal[0]))
        for i, j in itertools.combinations(range(count), 2):
            both = _int8_product(first[i] + first[j], second[i] + second[j], step).to(torch.int64)
            partial = partial + ((both - equal[i] - equal[j]) << (7 * (i + j)))
        total = partial if total is None else total + partial
    assert total is not None
    return total


def by_float32(left: Quantised, right: Quantised, digit_bits: int = INT8_DIGIT_BITS) -> Tensor:
    """Return the exact sum of integer products by digits in float32.

    With digits of six bits the operands keep all their bits in bfloat16 and in TF32 too, so a library that was
    allowed to shorten float32 operands to these still gives the same.

    Args:
        left: ``[m, k]`` or ``[batch, m, k]``.
        right: ``[k, n]`` or ``[batch, k, n]``.
        digit_bits: Bits of a digit, 1 to 11.

    Returns:
        int64 ``[m, n]`` or ``[batch, m, n]``.
    """
    block = float32_block(digit_bits)
    return _by_digits(left, right, digit_bits, block, lambda a, b: a.to(torch.float32) @ b.to(torch.float32))


def by_int16(left: Quantised, right: Quantised) -> Tensor:
    """Return the exact sum of integer products by digits of 10 bits, in the loops that :mod:`int16_matrices` has.

    Args:
        left: ``[m, k]`` or ``[batch, m, k]``.
        right: ``[k, n]`` or ``[batch, k, n]``.

    Returns:
        int64 ``[m, n]`` or ``[batch, m, n]``.
    """

    def multiplied(a: Tensor, b: Tensor) -> Tensor:
        if a.dim() == 3:
            return torch.stack([multiplied(one, other) for one, other in zip(a, b, strict=True)])
        return int16_matrices.int16_product(a, b, 1 << (2 * INT16_DIGIT_BITS))

    return _by_digits(left, right, INT16_DIGIT_BITS, left.values.shape[-1] * 3, multiplied)


_EXACT: Mapping[Form, Callable[[Quantised, Quantised], Tensor]] = {
    Form.FLOAT64: _by_float64,
    Form.INT8: by_int8,
    Form.KARATSUBA: by_karatsuba,
    Form.INT16: by_int16,
    Form.FLOAT32: by_float32,
    Form.TENSOR_CORES: by_int8,  # where the kernel does not reach
}
