"""A training step in the forms whose times are compared: unrounded, recorded, replayed; and the memory it took."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.compute.interpreter import Draws, StepInputs, StepResult
from counterfoil_core.arithmetic.compute.operation import Compute
from counterfoil_core.arithmetic.compute.plan import Round
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, step_key
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.kernels.result import Counts


class Forms:
    """Runs the first step of an order, whose arrays lie on the device already; returns when the device is done.

    Args:
        order: The order.
        machine: Where to compute.
        kernels: Its rounding kernels.
    """

    def __init__(self, order: OrderDraft, machine: Machine, kernels: Kernels) -> None:
        manifest, rows = order.manifest, order.schedule[0]
        self._device = machine.device
        self._interpreter = machine.interpreter(order.program, manifest.precision)
        self._inputs = StepInputs(
            state={name: torch.from_numpy(array).to(self._device) for name, array in order.initial.items()},
            batch={name: torch.from_numpy(array[rows]).to(self._device) for name, array in order.data.items()},
            scalars=dict(zip(manifest.scalar_names, order.scalars[0].tolist(), strict=True)),
            draws=Draws(manifest.seed, 1),
        )
        self._key = step_key(manifest.digest, 1)
        self._recording = arithmetic_of(manifest.precision).recorder(order.program, kernels)
        self._replaying = arithmetic_of(manifest.precision).replayer(order.program, kernels)

    @property
    def logs(self) -> Sequence[SiteLog]:
        """The log of the last recording, by site."""
        return self._recording.logs

    @property
    def fingerprints(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """The fingerprints of the last recording and of the last replay, uint64 ``[places]`` each."""
        return self._recording.fingerprints, self._replaying.fingerprints

    @property
    def counts(self) -> Sequence[Counts]:
        """What the last replay met, by site."""
        return self._replaying.counts

    def run(self, rounder: Round | None = None, compute: Compute | None = None) -> StepResult:
        """Run the step without rounding, or with what a rounder does."""
        result = self._interpreter.run(self._inputs, rounder=rounder, compute=compute)
        wait(self._device)
        return result

    def record(self) -> StepResult:
        """Run the step rounded, and keep :attr:`logs`."""
        self._recording.begin_step(self._key)
        return self.run(self._recording)

    def replay(self, compute: Compute | None = None, logs: Sequence[SiteLog] | None = None) -> StepResult:
        """Run the step following a log, :attr:`logs` unless another is given, and keep :attr:`counts`."""
        self._replaying.follow(self._key, self.logs if logs is None else logs)
        return self.run(self._replaying, compute)


def wait(device: torch.device) -> None:
    """Return when a device has done what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def peak_memory(device: torch.device) -> int:
    """Return the peak memory of this process, or on CUDA that of the device, in bytes; 0 where it is not known."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    status = Path("/proc/self/status")
    if status.exists():
        # Not ru_maxrss: on Linux a child starts with its parent's.
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    if sys.platform == "win32":
        return 0
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024
