"""The process that loads what computes, looks at it, and tests it.

It is one of its own, since a library that does not fit the machine may end the process that loads it. It says what it
saw piece by piece, so that whatever came before is known. It reads nothing but the installation.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator

from counterfoil.base.foreignerrors import describe_error
from counterfoil.doctor.observations import LOOKS, Broken, FormInUse, Kernels, Loaded, Seen, SelfTest
from counterfoil.talk.line import Line
from counterfoil.talk.table import LOOK_AT_KERNELS
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.base.sentence import say

FAMILIES = ("float64-24", "float32-bfloat16", "exact-20", "exact-13")
"""A profile of each family: what rounds in float64 and in float32, and what is exact with three digits and with two."""
INSTRUCTIONS = (
    "avx", "avx2", "fma", "avx512f", "avx512vnni", "avxvnni", "amx-int8", "sha", "neon", "dotprod", "i8mm", "sve",
    "sha2",
)  # fmt: skip
"""Instruction sets, as LLVM names them, that torch's products, our loops or OpenSSL's digests are made of."""


def main() -> None:
    """Say what is seen, a message each."""
    Line(LOOK_AT_KERNELS, LOOKS).serve(probe)


def probe() -> Iterator[Seen]:
    """Load what computes, and yield what is seen of it; what fails is said and not raised."""
    for name in ("torch", "numba"):
        try:
            # numba comes through the door that keeps it from settings in the folder that one is in.
            importlib.import_module("counterfoil_core.kernels.cache" if name == "numba" else name)
        except Exception as error:  # whatever a library raises that does not fit this machine
            yield Broken(name, describe_error(error), missing=isinstance(error, ModuleNotFoundError))
            return
    try:
        yield from _computing()
    except CounterfoilError as error:
        yield Broken("kernels", error.sentence, error.remedy)
    except Exception as error:
        yield Broken("kernels", describe_error(error))


def _computing() -> Iterator[Seen]:
    import torch
    from llvmlite import binding

    from counterfoil.arithmetic.compute.devicelist import list_devices

    devices = list_devices()
    features = binding.get_host_cpu_features()
    yield Loaded(
        processor=binding.get_host_cpu_name(),
        instructions=tuple(name for name in INSTRUCTIONS if features.get(name, False)),
        capability=torch.backends.cpu.get_cpu_capability(),
        threads=torch.get_num_threads(),
        devices=devices,
    )
    yield _kernels()
    for device in devices:
        yield from _forms(device.name)
    for device in devices:
        for profile in FAMILIES:
            yield _tested(device.name, profile)


def _kernels() -> Kernels:
    from counterfoil.audit.boxed.kernels import HOMES
    from counterfoil_core.kernels import cache

    for home in HOMES:
        importlib.import_module(f"counterfoil_core.{home}")
    folders = cache.kept_folders()
    kept = [folder for folder in folders if folder is not None]
    return Kernels(str(kept[0].parent) if kept else "", sum(each.is_dir() for each in kept), len(folders))


def _forms(name: str) -> Iterator[FormInUse]:
    import torch

    from counterfoil_core.commit import sha256
    from counterfoil_core.kernels.devices import loops_reach, triton_reaches
    from counterfoil_core.kernels.exact.forms import Profile

    device = torch.device(name)
    loops = (
        say("compiled loops") if loops_reach(device)
        else say("Triton's kernels") if triton_reaches(device)
        else say("torch's operators")
    )  # fmt: skip
    yield FormInUse(name, say("Rounding, fingerprints, draws"), loops)
    for bits in (20, 13):
        chosen = Profile.on(device, bits)
        form = say(
            "matrices in {0}, batches in {1}, convolutions in {2}",
            chosen.matrices.value, chosen.batches.value, chosen.kernels.value,
        )  # fmt: skip
        yield FormInUse(name, say("Exact products, {0} bits", bits), form)
    if loops_reach(device):
        loops_of_digests = (
            say("hashlib") if sha256.compiled_loops() is None else say("compiled loops over OpenSSL's functions")
        )
        yield FormInUse(name, say("SHA-256 of states"), loops_of_digests)


def _tested(device: str, name: str) -> SelfTest:
    from counterfoil_core.arithmetic.machine import open_machine
    from counterfoil_core.arithmetic.selftest import run_selftest

    begun = time.monotonic()
    try:
        run_selftest(open_machine(device), PROFILES[name])
    except CounterfoilError as error:
        return SelfTest(device, name, time.monotonic() - begun, error.sentence, error.remedy)
    except Exception as error:  # a kernel that cannot be compiled, a device that is gone
        return SelfTest(device, name, time.monotonic() - begun, describe_error(error))
    return SelfTest(device, name, time.monotonic() - begun)
