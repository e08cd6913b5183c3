"""``make gpu`` on a device that is not there: ``python -m tests.ptx.rehearsal``, with arguments of ``benchmarks gpu``.

What is opened as ``cuda:0`` computes as a CUDA device does: rounders run ahead, states are hashed where they lie, and
no compiled loop of the CPU is called. The kernels are those in Triton, under its interpreter or, with
``REHEARSED_ON=90`` in the environment, compiled for such a device and executed by the machine beside this file. Its
tensors lie in the CPU's memory all the same. torch's name for the CPU with a number, ``cpu:0``, is the device's, so
that one process can be both machines: whichever computed last says what reaches the tensors.

Processes that are started by name, as those of the example, compute on the CPU.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ON = "REHEARSED_ON"
"""The variable that names the compute capability, times ten; without it Triton's interpreter runs the kernels."""
NAME = "cuda:0"
CARD = "PTX machine, no GPU"
_ALL_MEMORY = 1 << 34
_MOST_HASHED = 1 << 10
"""Bytes of a state that is hashed by the kernel."""

# Before Triton is imported; and audits compute in this process, which alone has the device.
os.environ["TRITON_INTERPRET"] = "1"
os.environ["COUNTERFOIL_SANDBOX"] = "off"


class Device:
    """The device, and which of both machines of this process computed last."""

    def __init__(self) -> None:
        import torch

        self.there, self.is_at_work, self.is_full = torch.device("cpu:0"), False, False

    def enter(self, device: Any) -> None:
        """Say that a device is about to compute."""
        self.is_at_work = device == self.there

    def reaches(self, device: Any) -> bool:
        """Whether tensors of a device are those of the imitated one."""
        return device == self.there or (device.type == "cpu" and self.is_at_work)


def install() -> Device:
    """Put the device in its place, for good; before anything has taken what it replaces by name."""
    import torch

    from counterfoil_core.arithmetic.compute import devices as computing
    from counterfoil_core.commit import statedigest
    from counterfoil_core.kernels import devices

    device, opened, root = Device(), computing.open_device, statedigest.root_on_device

    def open_device(name: str) -> torch.device:
        found = device.there if name == NAME else opened(name)
        device.enter(found)
        return found

    computing.open_device = open_device
    devices.loops_reach = lambda given: given.type == "cpu" and not device.reaches(given)
    devices.triton_reaches = computing.triton_reaches = device.reaches

    def root_on_device(state: Mapping[str, Any], **settings: Any) -> Any:
        # A larger state takes minutes.
        held = sum(tensor.nbytes for tensor in state.values())
        return root(state, **{"anywhere": device.is_at_work and held <= _MOST_HASHED, **settings})

    statedigest.root_on_device = root_on_device
    _install_in_classes(device)
    _install_in_torch(device)
    return device


def _install_in_classes(device: Device) -> None:
    from counterfoil_core.arithmetic.compute.interpreter import Interpreter
    from counterfoil_core.arithmetic.grid import fingerprints
    from counterfoil_core.kernels.cuda.rounding import TritonKernel
    from counterfoil_core.kernels.exact import forms
    from counterfoil_core.kernels.exact.forms import Profile

    # Products of known answers would be most of a rehearsal.
    forms._INNER = 131

    class Kernels(fingerprints.Kernels):
        def __init__(self, given: Any, threads: int, *, run_ahead: bool | None = None) -> None:
            super().__init__(given, threads, run_ahead=run_ahead)
            if given == device.there:
                self.on_cpu, self._elsewhere, self.run_ahead = False, TritonKernel(), run_ahead is not False

    fingerprints.Kernels = Kernels  # type: ignore[misc]
    made, execute, chosen = Interpreter.__init__, Interpreter._execute, Profile.on

    @functools.wraps(made)
    def make(self: Interpreter, program: Any, given: Any, *settings: Any, **named: Any) -> None:
        device.enter(given)
        made(self, program, given, *settings, **named)
        if given == device.there:
            self._run_chain = None

    def compute(self: Interpreter, *given: Any) -> Generator[int, None, Any]:
        device.enter(self.device)
        with _memory(device):
            return (yield from execute(self, *given))

    def on(given: Any, bits: int) -> Profile:
        device.enter(given)
        return chosen(given, bits)

    Interpreter.__init__, Interpreter._execute, Profile.on = make, compute, on  # type: ignore[method-assign,assignment]


@contextmanager
def _memory(device: Device) -> Iterator[None]:
    """Let no operator of the device find memory while there is none."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Full(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise torch.OutOfMemoryError("CUDA out of memory (imitated)")

    if device.is_full and device.is_at_work:
        with Full():
            yield
    else:
        yield


def _install_in_torch(device: Device) -> None:
    import torch

    def limit(fraction: float, _device: Any) -> None:
        device.is_full = fraction < 1

    properties = SimpleNamespace(name=CARD, major=9, minor=0, total_memory=_ALL_MEMORY)
    for name, function in {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "get_device_name": lambda _device: CARD,
        "get_device_properties": lambda _device: properties,
        "get_device_capability": lambda _device: (9, 0),
        "synchronize": lambda _device: None,
        "empty_cache": lambda: None,
        "max_memory_allocated": lambda _device: 0,
        "memory_allocated": lambda _device: 0,
        "reset_peak_memory_stats": lambda _device: None,
        "set_per_process_memory_fraction": limit,
    }.items():
        setattr(torch.cuda, name, function)


def _compiled() -> list[str]:
    """Have the kernels compiled for a device from now on; returns where their faults are written."""
    from counterfoil_core.kernels.cuda import exact, philox, products, rounding, sha256  # noqa: F401

    from .driver import compiled_for

    # Until the process ends.
    context = compiled_for(int(os.environ[ON]))
    _KEPT.append(context)
    return context.__enter__().faults


_KEPT: list[Any] = []


def main(arguments: Sequence[str]) -> int:
    """Rehearse; returns the exit code of ``benchmarks gpu``."""
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]
    install()
    from benchmarks import gpu, gpu_agreement, gpu_costs, measure
    from counterfoil.cli.exits import show_error
    from counterfoil_core.base.errors import CounterfoilError

    faults = _compiled() if os.environ.get(ON) else []

    def checked(options: Any, key: str) -> Mapping[str, Any]:
        faults.clear()
        values = gpu.GPU.measure(options, key)
        return {**values, "strange": [*values.get("strange", ()), *(f"{key}: {fault}" for fault in faults)]}

    def elsewhere(run: Callable[..., Any]) -> Callable[..., Any]:
        return lambda words, *rest: run(["cpu" if word == NAME else word for word in words], *rest)

    # The tests that would run on a device run on the machine, a sample of them; nothing is timed.
    gpu_agreement.MARK, gpu_agreement.run_command = "ptx and often", elsewhere(gpu_agreement.run_command)
    gpu_costs._WARM_UP, gpu_costs._ROUNDS = 0, 1
    measure.command = lambda _name, *words: [sys.executable, "-m", "tests.ptx.rehearsal", *words]
    try:
        return replace(gpu.GPU, measure=checked).main("gpu", arguments)
    except CounterfoilError as error:
        return show_error(error)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
