"""The library's product of two int8 matrices, kept from reading one of a single row wrongly."""

from __future__ import annotations

import torch
from torch import Tensor


def int8_product(a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
    """Return ``a @ b`` in int32.

    Args:
        a: int8 ``[m, k]``.
        b: int8 ``[k, n]``.
        out: int32 ``[m, n]`` to write to.
    """
    a, b = _one_row(a), _one_row(b)
    return torch._int_mm(a, b) if out is None else torch._int_mm(a, b, out=out)


def _one_row(x: Tensor) -> Tensor:
    """A matrix with the strides that a single row has.

    The stride of an axis of length 1 says nothing, and a transposed column has 1 there. The library takes that for the
    length of a row, and reads what lies behind the matrix.
    """
    return x[0].unsqueeze(0) if x.shape[0] == 1 else x
