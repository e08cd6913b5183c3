"""Fingerprints of the places of a step, under every profile, and the kernels that give them.

A fingerprint is a sum mod 2^64 over a value's elements, keyed by order, step and place: who replays a step sees at
which place it first differs, without a word of its values (docs/bundle-format.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.magnitudecache import Known
from counterfoil_core.arithmetic.grid.directions import Directions, DirectionsElsewhere
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.base.digest import Digest
from counterfoil_core.kernels.cpu.rounding import CpuKernel, Unrounded
from counterfoil_core.kernels.grid import Grid
from counterfoil_core.kernels.result import Rounded
from counterfoil_core.kernels.torch.rounding import TorchKernel
from counterfoil_core.operators.node import Node
from counterfoil_core.program.graph import Program
from counterfoil_core.program.places import Place

_MASK64 = 2**64 - 1
_PLACE_FACTOR = 0xD6E8FEB86659FD93


def step_key(order: Digest, step: int) -> int:
    """The fingerprint key of a step: fixed by the order, so that values cannot be chosen to collide in advance."""
    return int.from_bytes(Digest.of(order.value + b"fingerprint" + step.to_bytes(8, "little")).value[:8], "little")


def place_key(key: int, place: int) -> int:
    """The fingerprint key of a place within a step (:mod:`counterfoil_core.program.places`)."""
    return (key + (place + 1) * _PLACE_FACTOR) & _MASK64


def place_keys(key: int, places: int) -> list[int]:
    """The fingerprint keys of the first places of a step."""
    keys = np.uint64(key) + np.arange(1, places + 1, dtype=np.uint64) * np.uint64(_PLACE_FACTOR)
    found: list[int] = keys.tolist()
    return found


@dataclass(frozen=True)
class Watched:
    """What happened at a place that is fingerprinted and not rounded to a grid, kept for a closer look."""

    place: Place  #: The place.
    arguments: dict[str, Any]  #: Arguments of its operator by name; empty for a batch.
    value: Tensor  #: ``[n]``: the value, flat.
    key: int  #: The fingerprint key of the place.
    fingerprint: int  #: Its fingerprint.


@dataclass(frozen=True)
class Unfit:
    """An output of an operator of class rounded that fits no step, kept for a closer look."""

    node: Node  #: The operator.
    output: int  #: Which of its outputs.
    arguments: dict[str, Any]  #: Its arguments by name.
    scale: float  #: This machine's own S; 0 under an exact profile, which has none.
    value: Tensor  #: ``[n]``: the output, flat.


class DeviceKernel(Protocol):
    """A rounding kernel for tensors that lie elsewhere than in the CPU's memory."""

    def round(self, y: Tensor, grid: Grid, tau: float, key: int) -> Rounded:
        """Round ``[n]`` in place; see :meth:`counterfoil_core.kernels.cpu.rounding.CpuKernel.round`."""

    def fingerprint(self, integers: Tensor, key: int) -> int:
        """Return the fingerprint of int64 ``[n]``."""

    def fingerprint_finite(self, values: Tensor, key: int) -> tuple[int, bool]:
        """Return the fingerprint of float64 or float32 ``[n]``, and whether all of them are finite."""


class Kernels:
    """The rounding kernel for each kind of device; close it to give back its memory.

    Args:
        device: The device.
        threads: Threads on the CPU.
        run_ahead: Whether rounders run ahead of the device (:mod:`counterfoil_core.arithmetic.grid.ahead`), for which
        there
            must be
            Triton; None: where they can, and the device is not the CPU.
    """

    def __init__(self, device: torch.device, threads: int, *, run_ahead: bool | None = None) -> None:
        self.device = device
        """The device."""
        self.threads = threads
        """Threads for large tensors, for the scale rules as well."""
        self._cpu = CpuKernel(threads)
        self.on_cpu = device.type == "cpu"
        """Whether a largest magnitude is had without waiting for a device."""
        self._elsewhere = TorchKernel() if self.on_cpu else _device_kernel()
        self.run_ahead = not isinstance(self._elsewhere, TorchKernel) if run_ahead is None else run_ahead
        """Whether rounders run ahead of the device."""

    def close(self) -> None:
        """Give back the memory that was set aside for close decisions."""
        self._cpu.close()

    def round(self, flat: Tensor, grid: Grid, tau: float, key: int) -> Rounded:
        """Round a tensor in place, and report the decisions that lie within ``tau`` of a midpoint.

        Args:
            flat: float64 or float32 ``[n]``, contiguous, on :attr:`device`; overwritten.
            grid: The grid.
            tau: Largest distance from a midpoint, inclusive, at which a decision is reported.
            key: The fingerprint key of the place, 0 to 2^64 - 1.
        """
        if self.on_cpu:
            return self._cpu.round_at(flat.data_ptr(), flat.numel(), flat.itemsize, grid, tau, key)
        return self._elsewhere.round(flat, grid, tau, key)

    def round_several(self, tensors: Sequence[Unrounded]) -> list[Rounded]:
        """Round several tensors in place, where they are :attr:`on_cpu`; see :class:`Unrounded`."""
        return self._cpu.round_several(tensors)

    def directions(self, logs: Sequence[SiteLog]) -> Directions:
        """Return what puts the logged directions of a step in place."""
        return Directions(logs) if self.on_cpu else DirectionsElsewhere(logs)

    def fingerprint(self, flat: Tensor, key: int) -> int:
        """Return the fingerprint of a tensor ``[n]`` of any dtype: of its values as float64 or as int64."""
        if flat.is_floating_point():
            return self.fingerprint_finite(flat, key)[0]
        integers = flat.long().contiguous()
        if self.on_cpu:
            return self._cpu.fingerprint(integers.numpy().view(np.uint64), key)
        return self._elsewhere.fingerprint(integers, key)

    def fingerprint_finite(self, flat: Tensor, key: int) -> tuple[int, bool]:
        """Return the fingerprint of a floating-point tensor ``[n]``, and whether all values are finite: in one pass."""
        if self.on_cpu:
            found, largest = self.fingerprint_largest(flat, key)
            return found, math.isfinite(largest)
        return self._elsewhere.fingerprint_finite(_wide(flat), key)

    def fingerprint_largest(self, flat: Tensor, key: int) -> tuple[int, float]:
        """Return the fingerprint of a floating-point tensor ``[n]`` on the CPU, and its largest magnitude.

        That is infinite, or not a number, where an element is.
        """
        values = _wide(flat)
        return self._cpu.fingerprint_at(values.data_ptr(), values.numel(), values.itemsize, key)


def _wide(flat: Tensor) -> Tensor:
    return (flat if flat.dtype in (torch.float32, torch.float64) else flat.double()).contiguous()


def _device_kernel() -> DeviceKernel:
    """Return the kernel for a CUDA device: that in Triton, which comes with CUDA builds of torch for Linux."""
    try:
        from counterfoil_core.kernels.cuda.rounding import TritonKernel
    except ImportError:
        return TorchKernel()
    return TritonKernel()


class Fingerprinting:
    """Fingerprints the places of a step, and knows which rounding site is next."""

    def __init__(self, program: Program, kernels: Kernels) -> None:
        self._program = program
        self._kernels = kernels
        self._known = Known(program.sameness)
        self._key = 0
        self._keys = place_keys(0, len(program.places))
        """The fingerprint key of each place."""
        self._site = 0
        self.fingerprints = np.zeros(len(program.places), np.uint64)
        """uint64 ``[places]``: the fingerprints of the step so far."""
        self.unfit: Unfit | None = None
        """What ended the step, if an output of an operator of class rounded did."""

    def begin_step(self, key: int) -> None:
        """Start a step with its fingerprint key."""
        self.unfit = None
        self._key = key
        self._keys = place_keys(key, len(self._program.places))
        self._site = 0
        self._known.forget()
        self.fingerprints = np.zeros(len(self._program.places), np.uint64)

    def watch(self, place: int, value: Tensor, arguments: Callable[[], dict[str, Any]]) -> None:
        """Fingerprint a value that is not rounded.

        Args:
            place: Number of its place.
            value: The value, of any dtype.
            arguments: Returns the arguments of its operator by name.
        """
        flat, key = value.reshape(-1), self._keys[place]
        if self._kernels.on_cpu and flat.is_floating_point():
            self.fingerprints[place], largest = self._kernels.fingerprint_largest(flat, key)
            self._known.note(self._program.place_values[place], largest)
        else:
            self.fingerprints[place] = self._kernels.fingerprint(flat, key)

    def _watched(self, place: int, value: Tensor, arguments: Callable[[], dict[str, Any]]) -> Watched:
        """Keep a value that was fingerprinted."""
        return Watched(
            place=self._program.places[place],
            arguments=arguments(),
            value=value.reshape(-1).clone(),
            key=self._keys[place],
            fingerprint=int(self.fingerprints[place]),
        )
