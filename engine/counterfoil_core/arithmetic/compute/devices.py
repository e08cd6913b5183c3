"""The devices of this machine, and the switches that make torch's arithmetic as predictable as it can be."""

from __future__ import annotations

import os
import platform
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

import counterfoil_core
from counterfoil_core.base.errors import DeviceError, MemoryShortageError
from counterfoil_core.base.memory import memory_total
from counterfoil_core.base.sentence import say
from counterfoil_core.kernels.devices import triton_reaches

# Operators that have no deterministic algorithm on a device: allowed, and remembered by name. Adding in any order is
# within the margin, so a step may use them; a replay on the same device may then take other decisions the second time.
# torch has a warning in the place of an error for them, which names the function of the library. It is kept off the
# terminal and written down.

_ALERT = re.compile(r"(\S+) does not have a deterministic implementation")
_met: set[str] = set()
Show = Callable[..., None]


def allow_nondeterministic() -> None:
    """Use deterministic algorithms where the library has them; begin a new list of the functions that have none."""
    _met.clear()
    # As use_deterministic_algorithms(True, warn_only=True), which loads torch's compiler first: more than a second.
    torch.set_deterministic_debug_mode("warn")
    # Every time: what "once" would remember belongs to the process, and the list to the machine that was opened.
    warnings.filterwarnings("always", message=_ALERT.pattern, category=UserWarning)
    if not isinstance(warnings.showwarning, _Noticing):
        warnings.showwarning = _Noticing(warnings.showwarning)


def nondeterministic_functions() -> tuple[str, ...]:
    """The functions of the library without a deterministic algorithm that have run, sorted."""
    return tuple(sorted(_met))


class _Noticing:
    """Shows warnings as before, and writes down those about determinism."""

    def __init__(self, show: Show) -> None:
        self._show = show

    def __call__(self, message: Warning | str, *arguments: Any, **keywords: Any) -> None:
        found = _ALERT.match(str(message))
        if found is None:
            self._show(message, *arguments, **keywords)
        else:
            _met.add(found[1])


LIBRARIES: Mapping[str, str] = {
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    "CUBLAS_EMULATE_DOUBLE_PRECISION": "0",
    "CUBLAS_EMULATE_SINGLE_PRECISION": "0",
    "NVIDIA_TF32_OVERRIDE": "0",
}
"""What CUDA's libraries read when they are first used. With a fixed workspace the products of cuBLAS do not differ from
call to call; they form the products of the operands, and none of shorter ones: no bound here is one of an emulation."""


def open_device(name: str) -> torch.device:
    """Return the torch device of a name; ``cuda`` alone is the first one, whatever is current in this process.

    Raises:
        DeviceError: There is no such device on this machine.
    """
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise DeviceError(
            say("{0} is not the name of a device.", repr(name)), remedy=say("Use cpu, or cuda:0.")
        ) from error
    if device.type not in ("cpu", "cuda"):
        raise DeviceError(say("The device {0} is not supported.", repr(name)), remedy=say("Use cpu, or cuda:0."))
    if device.type == "cuda":
        device = torch.device("cuda", device.index or 0)
        if torch.version.hip is not None:
            # It calls itself cuda. Atomics, the order of lanes and tensor cores are others, and nobody has tried.
            raise DeviceError(
                say("Devices of AMD (ROCm) are not supported."), remedy=say("Use the device cpu, or one of NVIDIA.")
            )
        if not torch.cuda.is_available():
            raise DeviceError(say("No CUDA device can be used on this machine."), remedy=say("Use the device cpu."))
        if device.index >= torch.cuda.device_count():
            raise DeviceError(
                say("This machine has no device {0}.", name),
                remedy=say("Use cuda:0 to cuda:{0}.", torch.cuda.device_count() - 1),
            )
    return device


def check_memory(device: torch.device, needed: int) -> None:
    """Check that a device has the memory that a step needs at the least.

    Args:
        device: The device.
        needed: Bytes.

    Raises:
        MemoryShortageError: It has less.
    """
    held = memory_of(device)
    if held is not None and needed > held:
        raise MemoryShortageError(
            say(
                "A step of this order needs at least {0:.1f} GiB of memory; {1} has {2:.1f}.",
                needed / 2**30,
                device,
                held / 2**30,
            ),
            remedy=say("Replay it on a device with more memory."),
        )


def memory_of(device: torch.device) -> int | None:
    """Return the bytes of memory that a device has, or a container leaves of it; None where the system does not say."""
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory)
    return memory_total()


def set_determinism(threads: int | None = None) -> int:
    """Set torch's process-wide switches; call before the first operator.

    Args:
        threads: Threads for operators on the CPU; None leaves torch's choice, one for each core.

    Returns:
        The number of threads in force.

    Raises:
        DeviceError: ``threads`` is not positive, or a switch cannot be set any more.
    """
    if threads is not None:
        if threads < 1:
            raise DeviceError(say("{0} threads cannot be used.", threads), remedy=say("Give 1 or more."))
        torch.set_num_threads(threads)
    # setdefault would keep a value under which they may vary.
    os.environ.update(LIBRARIES)
    # Atomic additions in any order are within the margin; deterministic ones also make two replays on one device equal.
    # An operator that has none must not end a replay: it is noted (execution/alerts.py).
    allow_nondeterministic()
    # No operator of the allow-list reads uninitialised memory, so there is no need to fill it.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined,unused-ignore]
    # For float64 it may choose transforms (FFT), of which the proven bounds of direct sums say nothing.
    torch.backends.cudnn.enabled = False
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    # TensorFloat-32 has 10 bits; it concerns float32 only, but nothing may use it by accident.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")
    # Exact operators must keep subnormal values.
    torch.set_flush_denormal(False)
    if not torch.are_deterministic_algorithms_enabled():
        raise DeviceError(say("torch does not accept the switch for deterministic algorithms."))
    return torch.get_num_threads()


def environment(device: torch.device) -> tuple[tuple[str, str], ...]:
    """Describe this machine for a claim or a verdict: sorted pairs of text."""
    title, more = platform.processor() or platform.machine(), dict[str, str]()
    if device.type == "cuda":
        title = torch.cuda.get_device_name(device)
        more = {
            "cuda": str(torch.version.cuda),
            "kernels": "Triton" if triton_reaches(device) else "torch",
            "libraries": ", ".join(f"{name}={value}" for name, value in LIBRARIES.items()),
        }
    return tuple(
        sorted(
            {
                "counterfoil": counterfoil_core.__version__,
                "cpu_capability": torch.backends.cpu.get_cpu_capability(),
                "deterministic_algorithms": str(torch.are_deterministic_algorithms_enabled()).lower(),
                "device": str(device),
                "device_title": title,
                "numpy": np.__version__,
                "platform": platform.platform(),
                "python": platform.python_version(),
                "threads": str(torch.get_num_threads()),
                # A subclass of str, of which a copy in another process would import torch there.
                "torch": str(torch.__version__),
                **more,
            }.items()
        )
    )


def environment_after(before: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return the description of a machine with what its work has shown: functions without a deterministic algorithm."""
    met = nondeterministic_functions()
    return tuple(sorted({**dict(before), "nondeterministic": ", ".join(met)}.items())) if met else before
