"""The rounding kernel in plain torch operations, for CUDA; the same results, bit for bit, as the CPU kernel.

Integer arithmetic stands in for the unsigned one: two's complement multiplication and addition wrap alike, and a
logical right shift is an arithmetic one with the copied sign bits masked away.
"""

from __future__ import annotations

import torch
from torch import Tensor

from counterfoil_core.kernels.cpu.magnitudes import float_of
from counterfoil_core.kernels.cpu.rounding import CANONICAL_NAN, INFINITY
from counterfoil_core.kernels.grid import FLOAT64_BIAS, Grid
from counterfoil_core.kernels.result import Rounded


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


_GOLDEN = _signed(0x9E3779B97F4A7C15)
_MULTIPLIER = _signed(0xBF58476D1CE4E5B9)


def _shift(z: Tensor, bits: int) -> Tensor:
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def mix(bits: Tensor, indices: Tensor, key: int) -> Tensor:
    """Return the fingerprint terms of single elements, int64 ``[k]``, for their int64 ``bits`` and ``indices``."""
    z = (bits ^ _signed(key)) + (indices + 1) * _GOLDEN
    z = (z ^ _shift(z, 32)) * _MULTIPLIER
    return z ^ _shift(z, 29)


class TorchKernel:
    """Rounds float64 and float32 tensors on any torch device."""

    def round(self, y: Tensor, grid: Grid, tau: float, key: int) -> Rounded:
        """Round a tensor in place; see :meth:`counterfoil_core.kernels.cpu.rounding.CpuKernel.round`.

        Args:
            y: float64 or float32 ``[n]``, contiguous; overwritten with the rounded values.
            grid: The grid.
            tau: Largest distance from a midpoint, inclusive, at which a decision is reported.
            key: Fingerprint key, 0 to 2^64 - 1.
        """
        p = grid.significand_bits
        wide = y.double()
        biased = (wide.view(torch.int64) >> 52) & 0x7FF
        exponent = biased.clamp(min=grid.floor_biased)
        magic = (((exponent + (53 - p)) << 52) | (1 << 51)).view(torch.float64)
        half = ((exponent - p) << 52).view(torch.float64)
        rounded = (wide + magic) - magic
        remainder = wide - rounded
        near = (remainder.abs() >= half - tau).nonzero().flatten()
        ups = remainder[near] < 0
        y.copy_(rounded)
        total = mix(rounded.view(torch.int64), torch.arange(y.numel(), device=y.device), key).sum()
        largest = biased.amax() if y.numel() else torch.zeros((), dtype=torch.int64, device=y.device)
        top = rounded.abs().amax() if y.numel() else torch.zeros((), dtype=torch.float64, device=y.device)
        # One transfer for the three numbers: each waits for the device.
        total_bits, largest_biased, top_bits = torch.stack([total, largest, top.view(torch.int64)]).tolist()
        return Rounded(
            near.cpu().numpy(),
            ups.cpu().numpy(),
            total_bits % 2**64,
            largest_biased - FLOAT64_BIAS,
            float_of(top_bits),
        )

    def fingerprint(self, integers: Tensor, key: int) -> int:
        """Return the fingerprint of integers; see :meth:`counterfoil_core.kernels.cpu.rounding.CpuKernel.fingerprint`.

        Args:
            integers: int64 ``[n]``.
            key: Fingerprint key, 0 to 2^64 - 1.
        """
        return int(_mixed(integers, key)) % 2**64

    def fingerprint_finite(self, values: Tensor, key: int) -> tuple[int, bool]:
        """Return the fingerprint of values that are not rounded, and whether all of them are finite.

        As :meth:`counterfoil_core.kernels.cpu.rounding.CpuKernel.fingerprint_finite`.

        Args:
            values: float64 or float32 ``[n]``.
            key: Fingerprint key, 0 to 2^64 - 1.
        """
        bits = values.double().view(torch.int64)
        magnitudes = bits & (2**63 - 1)
        total = _mixed(torch.where(magnitudes > INFINITY, CANONICAL_NAN, bits), key)
        strange = (magnitudes >= INFINITY).sum()
        # One transfer for both numbers: each waits for the device.
        found, count = torch.stack([total, strange]).tolist()
        return found % 2**64, count == 0


def _mixed(bits: Tensor, key: int) -> Tensor:
    return mix(bits, torch.arange(bits.numel(), device=bits.device), key).sum()
