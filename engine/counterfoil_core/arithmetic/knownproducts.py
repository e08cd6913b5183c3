"""Products whose answers are known: matrix products and convolutions of small integers, in every layout in memory.

Every partial sum is an integer that float32 holds, so a machine that adds what it should gives the answer of a matrix
product bit for bit, in any order. Layouts are tried one by one because libraries have a kernel for each: under an
emulated processor with vectors of 512 bits float32 products were right but for a right operand that lies transposed in
memory, as the weight of every linear layer does, and for some convolutions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import conv2d, pad

from counterfoil_core.kernels.exact.philox import uniform

_MATRICES = ((1, 1, 1), (1, 7, 3), (3, 300, 100), (16, 24, 24), (33, 130, 17), (64, 1024, 64))
"""Rows, inner axis, columns: one of each, less than a vector, a vector and more, beyond a tile."""
_BATCH = (5, 9, 40, 11)
_Pair = tuple[Tensor, Tensor]
"""What a machine computed, and the answer in int64."""


@dataclass(frozen=True)
class _Convolution:
    """A convolution of ``[samples, taken, size, size]`` with ``[given, taken / groups, kernel, kernel]``."""

    samples: int
    taken: int
    given: int
    kernel: int
    size: int
    stride: int = 1
    padding: int = 0
    groups: int = 1


_CONVOLUTIONS = (
    _Convolution(2, 16, 8, 3, 12),
    _Convolution(4, 1, 4, 3, 8, padding=1),
    _Convolution(4, 3, 33, 1, 8, stride=2),
    _Convolution(2, 8, 16, 3, 9, stride=2, padding=1, groups=2),
)


def products_are_right(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether a device gives the answers in a floating dtype; takes a few hundredths of a second."""
    cases = (*_matrix_products(device, dtype), *_convolutions(device, dtype))
    return all(torch.equal(found.to("cpu", torch.float64), answer.to(torch.float64)) for found, answer in cases)


def _matrix_products(device: torch.device, dtype: torch.dtype) -> Iterator[_Pair]:
    for rows, inner, columns in _MATRICES:
        m, n, row, answer = _matrices(rows, inner, columns)
        added = row.to(device, dtype)
        for a in _layouts(m, device, dtype):
            for b in _layouts(n, device, dtype):
                yield a @ b, answer
                yield torch.addmm(added, a, b), answer + row
            yield a @ b[:, 0], answer[:, 0]
    m, n, answer = _batches(*_BATCH)
    for a in _layouts(m, device, dtype):
        for b in _layouts(n, device, dtype):
            yield a @ b, answer


# The integers and their products are the same each time: they are worked out once in a process.


@cache
def _matrices(rows: int, inner: int, columns: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Two matrices and a row to be added to their product, which comes last."""
    m, n, row = _integers((rows, inner), 0), _integers((inner, columns), 1), _integers((columns,), 2)
    return m, n, row, _product(m, n)


@cache
def _batches(batch: int, rows: int, inner: int, columns: int) -> tuple[Tensor, Tensor, Tensor]:
    """Two batches of matrices and the batch of their products."""
    m, n = _integers((batch, rows, inner), 0), _integers((batch, inner, columns), 1)
    return m, n, torch.stack([_product(x, y) for x, y in zip(m, n, strict=True)])


def _convolutions(device: torch.device, dtype: torch.dtype) -> Iterator[_Pair]:
    for case in _CONVOLUTIONS:
        operands, answers = _convolved(case)
        settings = [case.stride] * 2, [case.padding] * 2
        a, w, g = (operand.to(device, dtype) for operand in operands)
        # Libraries may convolve by Winograd's transforms, which are not exact; less than a half is rounding.
        yield conv2d(a, w, None, *settings, groups=case.groups).round(), answers[0]
        found = torch.ops.aten.convolution_backward.default(
            g, a, w, None, *settings, [1, 1], False, [0, 0], case.groups, [True, True, False]
        )
        yield found[0].round(), answers[1]
        yield found[1].round(), answers[2]


@cache
def _convolved(case: _Convolution) -> tuple[tuple[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]:
    """An input, a weight and a gradient of the output; and the answers."""
    x = _integers((case.samples, case.taken, case.size, case.size), 0)
    weight = _integers((case.given, case.taken // case.groups, case.kernel, case.kernel), 1)
    length = (case.size + 2 * case.padding - case.kernel) // case.stride + 1
    gradient = _integers((case.samples, case.given, length, length), 2)
    return (x, weight, gradient), _convolution_answers(case, x, weight, gradient)


def _convolution_answers(
    case: _Convolution, x: Tensor, weight: Tensor, gradient: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The convolution of int64 tensors and its gradients by input and weight, multiplied element by element."""
    wide = pad(x, [case.padding] * 4)
    result, by_input, by_weight = torch.zeros_like(gradient), torch.zeros_like(wide), torch.zeros_like(weight)
    length, taken, given = gradient.shape[-1], case.taken // case.groups, case.given // case.groups
    for group in range(case.groups):
        channels, filters = _span(group, taken), _span(group, given)
        # [samples, given, 1, length, length]
        g = gradient[:, filters, None]
        for i in range(case.kernel):
            for j in range(case.kernel):
                rows, columns = (slice(k, k + case.stride * (length - 1) + 1, case.stride) for k in (i, j))
                seen = wide[:, channels, rows, columns][:, None]
                w = weight[filters, :, i, j][None, :, :, None, None]
                result[:, filters] += (seen * w).sum(2)
                by_input[:, channels, rows, columns] += (g * w).sum(1)
                by_weight[filters, :, i, j] += (g * seen).sum((0, 3, 4))
    inside = slice(case.padding, case.padding + case.size)
    return result, by_input[:, :, inside, inside], by_weight


def _span(group: int, length: int) -> slice:
    return slice(group * length, (group + 1) * length)


def _layouts(integers: Tensor, device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Matrices row by row in memory, and column by column."""
    values = integers.to(device, dtype)
    return values, values.mT.contiguous().mT


def _product(a: Tensor, b: Tensor) -> Tensor:
    """The product of two int64 matrices by operators that multiply no matrices."""
    return torch.stack([(row[:, None] * b).sum(0) for row in a])


def _integers(shape: tuple[int, ...], number: int) -> Tensor:
    """int64, -8 to 8, from Philox."""
    drawn = uniform(shape, seed=2, step=1, draw=number, dtype=torch.float32, device="cpu")
    return (drawn * 17).floor().to(torch.int64) - 8
