"""A training step in the forms whose times are compared: unrounded, recorded, replayed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch

from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.compute.interpreter import Draws, StepInputs, StepResult
from counterfoil_core.arithmetic.compute.operation import Compute
from counterfoil_core.arithmetic.compute.plan import Round
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, step_key
from counterfoil_core.arithmetic.grid.log import SiteLog, encode
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
        self._key, self._program = step_key(manifest.digest, 1), order.program
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

    @property
    def calls(self) -> Mapping[str, Callable[[], object]]:
        """Every form as a call without arguments; a replay follows the last recording."""
        return {"unrounded": self.run, "recorded": self.record, "replayed": self.replay}

    @property
    def counted(self) -> dict[str, int]:
        """What the step has: operators, values rounded, entries of the last log and bytes of it."""
        return {
            "operators": len(self._program.nodes),
            "values": sum(site.elements for site in self._program.sites),
            "entries": sum(len(site.indices) for site in self.logs),
            "log_bytes": len(encode(self.logs)) if self.logs else 0,
        }

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
