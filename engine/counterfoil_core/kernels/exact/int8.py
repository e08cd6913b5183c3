"""The library's product of two int8 matrices, kept from reading one of a single row wrongly."""

from __future__ import annotations

import platform
from functools import cache

import torch
from llvmlite import binding
from torch import Tensor

_INSTRUCTIONS = ("avx512vnni", "avxvnni", "amx-int8")
"""What the library's product is made of on x86, as LLVM names it; without any it multiplies number by number."""


def is_quick(device: torch.device) -> bool:
    """Return whether a device multiplies int8 faster than float64.

    A CUDA device does, and a processor with 8-bit dot products. Of processors that are not x86 nothing is known: there
    the library is trusted to have been built for them.
    """
    return device.type != "cpu" or platform.machine().lower() not in ("x86_64", "amd64") or _has_dot_products()


@cache
def _has_dot_products() -> bool:
    found = binding.get_host_cpu_features()
    return any(found.get(name, False) for name in _INSTRUCTIONS)


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
