"""The combine rule: what the gradients of several shares add up to, whatever devices compute and add them.

Each share's tensor becomes integers of b bits over one power of two that all shares have in common. Integers may be
added in any order, by any ring, tree or switch; their sum is rounded once. W of them, each ``2^b`` at most with
``b + ceil(log2 W) <= 62``, never wrap.

Exponents travel between devices as int32, of which the greatest is taken: :data:`ZERO` is below all, and
:data:`NOT_FINITE` above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.kernels import buffers, devices, threads
from counterfoil_core.kernels.cache import inlined, kernel
from counterfoil_core.kernels.cpu.magnitudes import INFINITE, LEAST_EXPONENT, as_bits, as_float, largest_bits
from counterfoil_core.kernels.devicenumber import number_on
from counterfoil_core.kernels.exact.limits import INT64_BITS, log2_ceiling
from counterfoil_core.kernels.exact.refusals import not_finite, refuse
from counterfoil_core.kernels.exact.single import from_float64, from_int64, to_odd

ZERO = -(1 << 31)
"""The exponent of a tensor whose elements are all zero."""
NOT_FINITE = (1 << 31) - 1
"""The exponent of a tensor with an element that is infinite or not a number."""
MOST_SHARES = 1 << 16
"""Most shares: :func:`mean_of` divides by no more. Each keeps 46 bits then."""
MOST_BITS = 52
"""Most bits of a share: a float64 number holds what is quantised to them, ``2^52`` included."""

_MANTISSA_BITS = 52
_BIAS = 1023
_LOST = (1 << 10) - 1
"""The bits that an integer of 62 loses, so that float64 holds the rest."""
_WHOLE = 1 << 53
_RANGE = 128
"""Every float32 number is below ``2^128``."""
_SHORT = 0xFFFFFFFFF8000000
"""What a float64 number keeps to have 26 significant bits: its product with one of 27 is exact."""
_NUDGE = 2.0**-45
"""Less than the distance of two such numbers, and enough for float64 to show it."""


def combine_bits(shares: int) -> int:
    """Return b, the bits that each of so many shares keeps: ``min(52, 62 - ceil(log2 W))``.

    Args:
        shares: W, 1 to :data:`MOST_SHARES`.
    """
    if not 1 <= shares <= MOST_SHARES:
        raise ValueError(f"{shares} shares; 1 to {MOST_SHARES} are possible")
    return min(MOST_BITS, INT64_BITS - log2_ceiling(shares))


def is_exponent(exponent: int) -> bool:
    """Whether a finite float32 tensor can have this exponent: -148 to 128, or :data:`ZERO`."""
    return exponent == ZERO or LEAST_EXPONENT <= exponent <= _RANGE


def exponents_of(tensors: Sequence[Tensor]) -> Tensor:
    """Return E of each tensor: the smallest integer with ``2^E`` above every magnitude. Waits for no device.

    Args:
        tensors: float32, on one device, one at least.

    Returns:
        int32 ``[n]``, on their device: -148 to 128, :data:`ZERO` or :data:`NOT_FINITE`.
    """
    if devices.loops_reach(tensors[0].device):
        largest = torch.tensor([_largest(each) for each in tensors], dtype=torch.int32)
    else:
        largest = torch.stack([_largest_there(each) for each in tensors])
    # Every float32 number, subnormal or not, is a normal number of float64, whose exponent field says where it lies.
    field = largest.view(torch.float32).to(torch.float64).view(torch.int64) >> _MANTISSA_BITS
    exponents = (field - (_BIAS - 1)).clamp(min=LEAST_EXPONENT)
    exponents = exponents.masked_fill(largest == 0, ZERO).masked_fill(largest >= INFINITE, NOT_FINITE)
    return exponents.to(torch.int32)


def exponent_of(x: Tensor) -> int:
    """Return E of one tensor; :data:`ZERO` where all its elements are zero.

    Args:
        x: float32, any shape.

    Raises:
        NonFiniteError: An element is infinite or not a number.
    """
    exponent = int(exponents_of([x]))
    if exponent == NOT_FINITE:
        raise not_finite()
    return exponent


def no_shares(shape: Sequence[int], device: torch.device) -> Tensor:
    """Return the sum of no shares, to which :func:`quantise_into` adds: zeros, int64, contiguous."""
    if devices.loops_reach(device):
        return buffers.empty(shape, torch.int64).zero_()
    return torch.zeros(tuple(shape), dtype=torch.int64, device=device)


def quantise_into(total: Tensor, g: Tensor, exponent: int, bits: int) -> Tensor:
    """Add a share to the sum of shares: ``round_ties_even(g * 2^(b - E))``, which no order of the shares shows in.

    Args:
        total: int64, contiguous, the shape of ``g``; added to in place.
        g: float32.
        exponent: E of all shares, or :data:`ZERO`.
        bits: b.

    Returns:
        bool ``[]``, on their device: whether all magnitudes are below ``2^E``. Of a tensor that holds others, E is not
        the exponent, and those elements added nothing.
    """
    assert g.dtype == torch.float32, "shares are float32"
    assert total.dtype == torch.int64
    assert total.shape == g.shape
    assert total.is_contiguous()
    if exponent == ZERO:
        return (g == 0).all()
    scale, limit = math.ldexp(1.0, bits - exponent), math.ldexp(1.0, bits)
    if not devices.loops_reach(g.device):
        scaled = g.to(torch.float64).mul_(scale)
        fits = scaled.abs() < limit
        total.add_(scaled.round_().masked_fill_(~fits, 0.0).to(torch.int64))
        return fits.all()
    into, values = total.view(-1).numpy(), _flat(g)
    parts = threads.in_parts(values.size, lambda start, end: _add(into[start:end], values[start:end], scale, limit))
    return torch.tensor(all(parts))


def quantised(g: Tensor, exponent: int, bits: int) -> Tensor:
    """Return a share as integers: what :func:`quantise_into` adds.

    Args:
        g: float32, any shape.
        exponent: E of all shares, or :data:`ZERO`.
        bits: b.

    Returns:
        int64, the shape of ``g``, contiguous.

    Raises:
        ValueError: A magnitude is ``2^E`` or more, so that E is not the exponent of all shares.
    """
    total = no_shares(g.shape, g.device)
    if not bool(quantise_into(total, g, exponent, bits)):
        raise ValueError(f"an element that is not below 2^{exponent}")
    return total


def combined(total: Tensor, exponent: int, bits: int) -> Tensor:
    """Return the shares' sum: the float32 number nearest to ``total * 2^(E - b)``, ties to even, zeros +0.

    Args:
        total: int64 of magnitude ``2^62`` at most, contiguous, any shape: sums of quantised shares.
        exponent: E of all shares, or :data:`ZERO`.
        bits: b.

    Returns:
        float32, the shape of ``total``.

    Raises:
        NonFiniteError: A sum is beyond float32's range.
    """
    if exponent == ZERO:
        return torch.zeros(total.shape, dtype=torch.float32, device=total.device)
    result = _rounded(total, exponent - bits)
    if exponent - bits + INT64_BITS >= _RANGE:
        refuse(~torch.isfinite(result).all())
    return result


def mean_of(total: Tensor, exponent: int, bits: int, shares: int) -> Tensor:
    """Return the shares' mean: the float32 number nearest to ``total * 2^(E - b) / W``, ties to even, zeros +0.

    A mean of float32 numbers is never beyond their range.

    Args:
        total: int64 of magnitude ``2^62`` at most, contiguous, any shape: sums of quantised shares.
        exponent: E of all shares, or :data:`ZERO`.
        bits: b.
        shares: W, 1 to :data:`MOST_SHARES`.

    Returns:
        float32, the shape of ``total``.
    """
    if exponent == ZERO:
        return torch.zeros(total.shape, dtype=torch.float32, device=total.device)
    unit = exponent - bits
    if shares.bit_count() == 1:
        return _rounded(total, unit - log2_ceiling(shares))
    if devices.loops_reach(total.device):
        return _looped(_divide, total, math.ldexp(1.0, unit), float(shares))
    return _divided_there(total, unit, shares)


def _largest(x: Tensor) -> int:
    """Return the largest magnitude of a tensor of the CPU, by its bits; 0 of no elements."""
    patterns = _flat(x).view(np.int32)
    return max(threads.in_parts(patterns.size, lambda start, end: int(largest_bits(patterns[start:end]))))


def _largest_there(x: Tensor) -> Tensor:
    """Return the same of a tensor of any device: int32 ``[]``."""
    if not x.numel():
        return torch.zeros((), dtype=torch.int32, device=x.device)
    return (x.view(torch.int32) & 0x7FFFFFFF).amax()


def _rounded(total: Tensor, unit: int) -> Tensor:
    """Return the float32 numbers nearest to ``total * 2^unit``; infinite beyond their range."""
    if devices.loops_reach(total.device):
        return _looped(_round, total, math.ldexp(1.0, unit))
    return from_int64(total, torch.full((), unit, dtype=torch.int64, device=total.device))


def _divided_there(total: Tensor, unit: int, shares: int) -> Tensor:
    """Return what :func:`_divide` does, by torch's operators."""
    # A tensor: for a number, a library may multiply by its reciprocal.
    divisor = number_on(float(shares), torch.float64, total.device)
    whole = to_odd(total)
    short = ((whole / divisor).view(torch.int64) & (_SHORT - (1 << 64))).view(torch.float64)
    side = (whole - short * divisor).sign()
    return from_float64((short + short.abs() * (side * _NUDGE)) * math.ldexp(1.0, unit))


def _flat(x: Tensor) -> Any:
    return x.detach().contiguous().view(-1).numpy()


def _looped(loop: Any, total: Tensor, *numbers: float) -> Tensor:
    """Return what a loop makes of integers: float32, of their shape."""
    result = buffers.empty(total.shape)
    integers, into = total.view(-1).numpy(), result.view(-1).numpy()
    threads.in_parts(total.numel(), lambda start, end: loop(integers[start:end], into[start:end], *numbers))
    return result


@kernel(nogil=True, ahead=["(int64[::1], float32[::1], float64, float64)"])
def _add(total: Any, g: Any, scale: float, limit: float) -> Any:
    fitted = True
    for i in range(g.size):
        # Float64 has room for every power of two that this is multiplied by, so it is exact.
        scaled = np.float64(g[i]) * scale
        fits: Any = abs(scaled) < limit
        fitted &= fits
        total[i] += np.int64(np.rint(scaled)) if fits else np.int64(0)
    return fitted


@inlined
def _odd(integer: Any) -> Any:
    """An integer as a float64 number, rounded to odd; as :func:`counterfoil_core.kernels.exact.single.to_odd`."""
    lost = integer & np.int64(_LOST) if abs(integer) > np.int64(_WHOLE) else np.int64(0)
    return np.float64((integer - lost) | (np.int64(lost != 0) * np.int64(_LOST + 1)))


@kernel(nogil=True, ahead=["(int64[::1], float32[::1], float64)"])
def _round(total: Any, result: Any, unit: float) -> None:
    for i in range(total.size):
        result[i] = np.float32(_odd(total[i]) * unit) + np.float32(0)


@kernel(nogil=True, ahead=["(int64[::1], float32[::1], float64, float64)"])
def _divide(total: Any, result: Any, unit: float, shares: float) -> None:
    """Divide with one rounding: a short quotient, which its remainder moves to the side where the true one lies.

    The middle between two float32 numbers has 25 bits, times W 41 at most, and a sum rounded to odd has 44. So that,
    dividing and shortening leave a number on its side of the middle, or bring it to the middle itself, from which the
    remainder moves it away. The remainder is exact: a difference of numbers that are nearly equal (Sterbenz 1974).
    """
    for i in range(total.size):
        whole = _odd(total[i])
        short: Any = as_float(as_bits(whole / shares) & np.uint64(_SHORT))
        rest = whole - short * shares
        side = np.float64(rest > 0) - np.float64(rest < 0)
        result[i] = np.float32((short + abs(short) * (side * _NUDGE)) * unit) + np.float32(0)
