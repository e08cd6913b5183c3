"""Between which float32 numbers a value lies that float64 has but for an error: mostly that is one number.

On the CPU one pass over memory, on a CUDA device too where there is Triton; elsewhere, and for the tests, the same with
torch's operators.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil_core.kernels import buffers, devices
from counterfoil_core.kernels.cache import kernel
from counterfoil_core.kernels.exact.single import from_float64

ROOM = 1 << 10
"""Doubtful places of a tensor that one transfer brings from a CUDA device."""


def bracketed(approximate: Tensor, error: float) -> tuple[Tensor, Tensor]:
    """Round values to float32, and say where their error may decide.

    Args:
        approximate: float64, any shape.
        error: How far from the true value each may be, relatively.

    Returns:
        float32, the same shape: the lower end of the error in magnitude, rounded. int64 ``[k]``: the flat indices at
        which the upper end rounds to another number.
    """
    if devices.triton_reaches(approximate.device) and approximate.numel():
        return _bracketed_there(approximate, error)
    if not devices.loops_reach(approximate.device):
        return bracketed_by_torch(approximate, error)
    result = buffers.empty(approximate.shape, dtype=torch.float32)
    found = bracketed_into(approximate.contiguous().view(-1), error, result.view(-1))
    return result, torch.from_numpy(found)


def bracketed_into(approximate: Tensor, error: float, result: Tensor) -> npt.NDArray[np.int64]:
    """The same on the CPU, into ``result``, float32 ``[n]``; ``approximate`` is float64 ``[n]``; both contiguous."""
    flat, rounded = approximate.numpy(), result.numpy()
    found = np.empty(int(_round(flat, 1 - error, 1 + error, rounded)), np.int64)
    if len(found):
        _find(flat, 1 + error, rounded, found)
    return found


def square_roots(x: Tensor) -> Tensor:
    """Return the square roots of float32 numbers on the CPU, correctly rounded: IEEE 754 defines them.

    Not the library's, which need not be: compiled loops take the processor's own instruction.
    """
    result = buffers.empty(x.shape, dtype=torch.float32)
    _square_roots(x.contiguous().view(-1).numpy(), result.view(-1).numpy())
    return result


def _bracketed_there(approximate: Tensor, error: float) -> tuple[Tensor, Tensor]:
    """The same on a CUDA device, in one pass and one transfer."""
    from counterfoil_core.kernels.cuda import exact

    flat = approximate.contiguous().view(-1)
    result, report = exact.bracket(flat, error, ROOM)
    told = report.cpu().numpy()
    if told[0] > ROOM:
        return bracketed_by_torch(approximate, error)
    found = torch.from_numpy(np.sort(told[1 : 1 + told[0]]))
    return result.view(approximate.shape), found.to(approximate.device)


def bracketed_by_torch(approximate: Tensor, error: float) -> tuple[Tensor, Tensor]:
    """The same as :func:`bracketed`, with torch's operators."""
    below, above = from_float64(approximate * (1 - error)), from_float64(approximate * (1 + error))
    doubtful = (below != above) & ~torch.isnan(approximate)
    return below, doubtful.reshape(-1).nonzero().reshape(-1)


@kernel(nogil=True)
def _square_roots(x: Any, roots: Any) -> None:
    for i in range(x.size):
        roots[i] = np.sqrt(x[i]) + np.float32(0)


@kernel(nogil=True)
def _round(values: Any, low: float, high: float, rounded: Any) -> Any:
    count = np.int64(0)
    for i in range(values.size):
        value = values[i]
        below = np.float32(value * low) + np.float32(0)
        above = np.float32(value * high) + np.float32(0)
        rounded[i] = below
        # A NaN differs from itself, and is no doubt.
        count += np.int64(1) if below < above or below > above else np.int64(0)
    return count


@kernel(nogil=True)
def _find(values: Any, high: float, rounded: Any, found: Any) -> None:
    count = 0
    for i in range(values.size):
        below, above = rounded[i], np.float32(values[i] * high)
        if below < above or below > above:
            found[count] = i
            count += 1
