"""This machine, set up to compute: its device opened, torch's switches set, its memory compared with a step's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch

from counterfoil_core.arithmetic.compute.allocation import give_back_freed_memory, keep_freed_memory
from counterfoil_core.arithmetic.compute.devices import (
    check_memory,
    environment,
    environment_after,
    open_device,
    set_determinism,
)
from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.arithmetic.compute.operation import Compute, native
from counterfoil_core.arithmetic.grid.chains import run_chain
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.otherwise.perturbation import exactly_perturbed, perturb
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision
from counterfoil_core.kernels import buffers, devices
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.program.estimate import least_memory
from counterfoil_core.program.graph import Program
from counterfoil_core.program.torchdtypes import TORCH_DTYPES


@dataclass(frozen=True)
class Machine:
    """A device that is ready to compute."""

    device: torch.device  #: The device.
    threads: int  #: Threads on the CPU.
    #: Other hardware in whose manner it records and replays, by name
    #: (:mod:`counterfoil_core.arithmetic.otherwise.perturbation`); None as it is. Its self-test is its own.
    imitates: str | None = None
    #: What else is to be said of a judge's environment: pairs of text, of whoever opened the machine.
    beside: tuple[tuple[str, str], ...] = ()

    @property
    def environment(self) -> tuple[tuple[str, str], ...]:
        """What a claim or a verdict says about it: sorted pairs of text."""
        return environment_after(environment(self.device))

    @property
    def title(self) -> str:
        """Its device in a few words."""
        found = dict(self.environment)
        return f"{found['device']} ({found['device_title']})"

    @property
    def environment_of_a_judge(self) -> tuple[tuple[str, str], ...]:
        """The same with what stands beside it: for instance how far the box is closed that it computes in."""
        return tuple(sorted((*self.environment, *self.beside)))

    def check_memory(self, programs: Iterable[Program], precision: AnyPrecision, beside: int = 0) -> None:
        """Check that it has the memory that a step of any program needs at the least; raises MemoryShortageError.

        Args:
            programs: The programs.
            precision: The precision profile.
            beside: What a step takes beside a program, in bytes.
        """
        item_bytes = TORCH_DTYPES[precision.compute].itemsize
        check_memory(self.device, beside + max(least_memory(program, item_bytes) for program in programs))

    def interpreter(self, program: Program, precision: AnyPrecision) -> Interpreter:
        """Return an interpreter of a program in the compute dtype of a precision profile."""
        dtype = TORCH_DTYPES[precision.compute]
        own = replace(self, imitates=None).compute(precision)
        if not devices.triton_reaches(self.device):
            return Interpreter(program, self.device, dtype, own, run_chain)
        from counterfoil_core.arithmetic.grid.devicechains import DEFINED, UNROUNDED, run_on_device

        rules = DEFINED if isinstance(precision, ExactPrecision) else UNROUNDED
        return Interpreter(program, self.device, dtype, own, run_on_device, rules)

    def compute(self, precision: AnyPrecision, perturbation: str | None = None) -> Compute:
        """Return what computes an operator under a precision profile.

        Args:
            precision: The profile.
            perturbation: Other hardware to imitate; unless given, that which this machine imitates, if any.

        Raises:
            ValueError: There is no perturbation of that name.
        """
        perturbation = perturbation or self.imitates
        if isinstance(precision, ExactPrecision):
            profile = Profile.on(self.device, precision.bits)
            return exactly(profile) if perturbation is None else exactly_perturbed(perturbation, profile)
        return native if perturbation is None else perturb(perturbation)

    @contextmanager
    def kernels(self) -> Iterator[Kernels]:
        """Provide rounding kernels, whose threads end with the block."""
        kernels = Kernels(self.device, self.threads)
        try:
            yield kernels
        finally:
            kernels.close()
            buffers.give_back()
            give_back_freed_memory()


OpenMachine = Callable[[str, int | None], Machine]
"""Sets up the machine that is to compute on a device with so many threads, as :func:`open_machine` does."""


def open_machine(device: str, threads: int | None = None) -> Machine:
    """Set this machine up; call before the first operator.

    Args:
        device: ``cpu`` or ``cuda:0``.
        threads: Threads on the CPU; None for torch's choice, one for each core.

    Raises:
        DeviceError: There is no such device, ``threads`` is not positive, or torch does not take a switch.
    """
    found = open_device(device)
    if found.type == "cpu":
        keep_freed_memory()
    used = set_determinism(threads)
    if devices.triton_reaches(found):
        from counterfoil_core.kernels.cuda import exact

        if not exact.gives_known_answer(found):
            devices.leave_triton_out(found)
    return Machine(found, used)
