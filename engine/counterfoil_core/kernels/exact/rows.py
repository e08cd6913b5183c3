"""Rows as fractions of powers of two: what a program by rows makes of the operands of its products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.kernels import buffers, devices
from counterfoil_core.kernels.cache import kernel
from counterfoil_core.kernels.cpu.magnitudes import INFINITE, exponent_above, largest_bits
from counterfoil_core.kernels.exact.geometry import runs
from counterfoil_core.kernels.threads import in_parts

_LEAST = 2.0**-149
_EXPONENT = 0x7FF << 52
"""The bits of a float64 number that are its exponent."""


def row_frexp(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return each row along the last axis divided by the power of two that its largest magnitude lies in, and that.

    Args:
        x: float32 or float64 ``[..., n]``, any values.

    Returns:
        Of its dtype: ``x / scale``, which lies below 2 in magnitude; and the scales ``[..., 1]``: 2^-149 at least, and
        infinite where an element of the row is not finite.
    """
    if devices.loops_reach(x.device) and x.dtype == torch.float32 and x.numel():
        return _in_loops(x.contiguous())
    if devices.triton_reaches(x.device) and x.dtype == torch.float32 and x.numel():
        return _there(x)
    largest = x.abs().amax(-1, keepdim=True) if x.shape[-1] else x.new_zeros((*x.shape[:-1], 1))
    # Every float32 number that is not zero is a normal number of float64, whose exponent field is the power of two.
    wide = largest.to(torch.float64).clamp_(min=_LEAST).view(torch.int64)
    scale = wide.bitwise_and_(_EXPONENT).view(torch.float64).to(x.dtype)
    return x / scale, scale


def _there(x: Tensor) -> tuple[Tensor, Tensor]:
    """The same of a float32 tensor on a CUDA device, in a launch; rows that lie in columns stay there."""
    from counterfoil_core.kernels.cuda import exact

    last = x.dim() - 1
    turned = not x.is_contiguous() and last > 0 and x.mT.is_contiguous()
    laid = x.mT if turned else x.contiguous()
    fractions, scales = exact.row_frexp(laid, runs(laid.shape, (last - turned,)))
    return fractions.mT if turned else fractions, scales.view(*x.shape[:-1], 1)


def _in_loops(x: Tensor) -> tuple[Tensor, Tensor]:
    """The same of a contiguous float32 tensor on the CPU, each row read twice while it is in the cache."""
    fractions, scales = buffers.empty(x.shape), torch.empty((*x.shape[:-1], 1))
    width = x.shape[-1]
    rows, into, of = x.view(-1, width).numpy(), fractions.view(-1, width).numpy(), scales.view(-1).numpy()
    patterns = rows.view(np.int32)
    in_parts(x.numel(), lambda start, end: _split(rows, patterns, into, of, start // width, end // width))
    return fractions, scales


@kernel(
    nogil=True,
    error_model="numpy",
    ahead=["(float32[:,::1], int32[:,::1], float32[:,::1], float32[::1], int64, int64)"],
)
def _split(x: Any, patterns: Any, fractions: Any, scales: Any, start: int, end: int) -> None:
    for row in range(start, end):
        largest = largest_bits(patterns[row])
        scales[row] = np.inf if largest >= INFINITE else math.ldexp(1.0, exponent_above(largest) - 1)
        _divide(x[row], scales[row], fractions[row])


@kernel(nogil=True, error_model="numpy")
def _divide(x: Any, scale: Any, fractions: Any) -> None:
    for i in range(x.size):
        fractions[i] = x[i] / scale
