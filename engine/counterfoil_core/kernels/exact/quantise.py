"""Q_b: the elements of a float32 tensor as integers of b bits over one power of two.

``2^E > max|x|``, E the smallest such integer: the magnitude and its exponent are exact on every machine. Each element
goes to the nearest multiple of ``2^(E - b)``, ties to even, so it is an integer of magnitude ``2^b`` at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.kernels import buffers, devices
from counterfoil_core.kernels.cache import kernel
from counterfoil_core.kernels.cpu.magnitudes import INFINITE, LEAST_EXPONENT, exponent_above, largest_bits, magic_number
from counterfoil_core.kernels.exact.geometry import runs
from counterfoil_core.kernels.exact.limits import MOST_BITS, MOST_SUM_BITS
from counterfoil_core.kernels.exact.refusals import not_finite, refusal_flag, refuse
from counterfoil_core.kernels.exact.single import power_of_two

_MANTISSA_BITS = 52
_BIAS = 1023


@dataclass(frozen=True)
class Quantised:
    """The result of Q_b."""

    #: float64: multiples of ``2^(exponents - bits)``, at most ``2^exponents`` in magnitude. ``2^128`` is one of them,
    #: which is no float32 number.
    values: Tensor
    exponents: Tensor  #: int64, of a shape that broadcasts to that of ``values``: E, one or one for each group.
    bits: int  #: b.

    @property
    def integers(self) -> Tensor:
        """The same as integers of magnitude ``2^bits`` at most: int32 up to 24 bits, else int64."""
        dtype = torch.int32 if self.bits <= MOST_BITS else torch.int64
        return (self.values * power_of_two(-self.unit)).to(dtype)

    @property
    def unit(self) -> Tensor:
        """int64, shaped as ``exponents``: the exponent of the unit of these integers."""
        return self.exponents - self.bits


def exponents_of(x: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    """Return E: the smallest integers with ``2^E > max|x|``; -148 where all is zero.

    Args:
        x: float32.
        axes: Axes that share an exponent; all of them if None.

    Returns:
        int64, shaped as ``x`` with the length 1 along ``axes``.

    Raises:
        NonFiniteError: An element is infinite or not a number.
    """
    shared = list(range(x.dim())) if axes is None else [axis % x.dim() for axis in axes]
    shape = [1 if axis in shared else length for axis, length in enumerate(x.shape)]
    if not x.numel():
        return torch.full(shape, LEAST_EXPONENT, dtype=torch.int64, device=x.device)
    largest = x.abs().amax(shared, keepdim=True) if shared else x.abs()
    refuse(~torch.isfinite(largest).all())
    # Every float32 number, subnormal or not, is a normal number of float64, whose exponent field says where it lies.
    field = largest.to(torch.float64).view(torch.int64) >> _MANTISSA_BITS
    return (field - (_BIAS - 1)).clamp(min=LEAST_EXPONENT)


def quantise(x: Tensor, bits: int, axes: Sequence[int] | None = None) -> Quantised:
    """Return Q_b(x).

    Args:
        x: float32, any shape.
        bits: b, 1 to 51.
        axes: Axes that share an exponent; all of them if None.

    Raises:
        NonFiniteError: An element is infinite or not a number.
    """
    assert x.dtype == torch.float32, "values of the exact profiles are float32"
    assert 1 <= bits <= MOST_SUM_BITS
    if devices.loops_reach(x.device) and x.numel():
        shared = {axis % x.dim() for axis in axes} if axes is not None else set(range(x.dim()))
        # Axes that share an exponent and come last: rows in memory.
        if shared == set(range(x.dim() - len(shared), x.dim())):
            if len(shared) > 1 and not x.is_contiguous() and x.mT.is_contiguous():
                turned = _quantise_rows(x.mT, bits, len(shared))
                return Quantised(turned.values.mT, turned.exponents, bits)
            return _quantise_rows(x.contiguous(), bits, len(shared))
    if devices.triton_reaches(x.device) and x.numel():
        found = _quantise_there(x, bits, range(x.dim()) if axes is None else [axis % x.dim() for axis in axes])
        if found is not None:
            return found
    exponents = exponents_of(x, axes)
    # 1.5 * 2^52 units: the sum lies where float64's spacing is one unit, so the addition itself rounds (Dekker 1971).
    magic = power_of_two(exponents - bits + _MANTISSA_BITS) * 1.5
    return Quantised(x.to(torch.float64).add_(magic).sub_(magic), exponents, bits)


def _quantise_there(x: Tensor, bits: int, shared: Sequence[int]) -> Quantised | None:
    """Return Q_b(x) on a CUDA device, in two passes and without waiting; None where the axes alternate too often."""
    from counterfoil_core.kernels.cuda import exact

    if not x.is_contiguous() and x.dim() > 1 and x.mT.is_contiguous():
        turned = {x.dim() - 1: x.dim() - 2, x.dim() - 2: x.dim() - 1}
        found = _quantise_there(x.mT, bits, [turned.get(axis, axis) for axis in shared])
        return None if found is None else Quantised(found.values.mT, found.exponents.mT, bits)
    lengths = runs(x.shape, shared)
    if len(lengths) > 4:
        return None
    x = x.contiguous()
    with refusal_flag(x.device) as flag:
        values, exponents = exact.quantise(x, lengths, exact.largest(x, lengths), bits, flag)
    shape = [1 if axis in shared else length for axis, length in enumerate(x.shape)]
    return Quantised(values, exponents.view(shape), bits)


def _quantise_rows(x: Tensor, bits: int, shared: int) -> Quantised:
    """Return Q_b(x) of a contiguous tensor on the CPU, whose last so many axes share an exponent: in two passes."""
    kept = x.shape[: x.dim() - shared]
    values = buffers.empty(x.shape, torch.float64)
    exponents = torch.empty(kept, dtype=torch.int64)
    rows = x.view(exponents.numel(), -1).numpy()
    if not _quantised(rows, rows.view(np.int32), bits, exponents.view(-1).numpy(), values.view(rows.shape).numpy()):
        raise not_finite()
    return Quantised(values, exponents.view((*kept, *[1] * shared)), bits)


@kernel(nogil=True)
def _quantised(x: Any, patterns: Any, bits: int, exponents: Any, values: Any) -> bool:
    for row in range(x.shape[0]):
        largest = largest_bits(patterns[row])
        if largest >= INFINITE:
            return False
        exponents[row] = exponent_above(largest)
        _round_row(x[row], magic_number(exponents[row], bits), values[row])
    return True


@kernel(nogil=True)
def _round_row(x: Any, magic: float, values: Any) -> None:
    for i in range(x.size):
        # The addition rounds, as in quantise.
        values[i] = (np.float64(x[i]) + magic) - magic
