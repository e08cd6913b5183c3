"""A Triton driver without a device: kernels are compiled for one, and launched on the machine.

Triton chooses between its interpreter and its compiler when a kernel is decorated. :func:`compiled_for` makes of each
interpreted function of the kernels and of Triton's own library a compiled one beside it, from the same source, and puts
these in their places for a while; so one process tests both.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime.driver import driver as active
from triton.runtime.jit import JITFunction

from counterfoil_core.kernels.cuda import zeros

from . import accesses, instructions, tensorcores  # noqa: F401  They fill the machine's table.
from .machine import Launch, Machine
from .memory import Storages
from .program import Fault, Program

_LANES = 1 << 15
"""Threads that go in step; blocks beyond come after."""
_COMPILED = re.compile(r"triton\.language(\.|$)|counterfoil_core\.kernels\.cuda\.|(tests\.)?ptx\.")
"""Modules whose functions are compiled; others may be added."""
_SHARED_MEMORY = {75: 64, 80: 163, 86: 99, 89: 99, 90: 227, 100: 227, 103: 227, 120: 99}
"""KiB that a block may have, by the target (CUDA C++ Programming Guide, "Compute Capabilities")."""

_ADDRESSED = {"_leaves": ("starts", "lengths")}
"""Kernels that read at addresses which they find in memory: what has those, and how many bytes may be read there."""


@dataclass
class Record:
    """What was launched meanwhile."""

    launches: list[tuple[str, int]] = field(default_factory=list)
    """Names of kernels, and the blocks of their grids."""
    faults: list[str] = field(default_factory=list)
    """What programs did wrong, whoever caught it."""


class _Utilities:
    """What Triton asks of a device."""

    def __init__(self, sm: int, noted: Callable[[], AbstractContextManager[None]]) -> None:
        self._sm, self._noted = sm, noted
        self._programs: dict[bytes, Program] = {}

    def get_device_properties(self, device: int) -> dict[str, int]:
        return {"max_shared_mem": _SHARED_MEMORY[self._sm] * 1024, "multiprocessor_count": 1, "warpSize": 32}

    def load_binary(self, name: str, text: bytes, shared: int, device: int) -> tuple[None, Program, int, int, int]:
        if text not in self._programs:
            with self._noted():
                self._programs[text] = Program(text.decode())
        # No module, which somebody would have to unload.
        return None, self._programs[text], 0, 0, 1024


class PtxDriver(DriverBase):
    """Compiles for a target and launches on the machine.

    Args:
        sm: The compute capability, times ten.
    """

    def __init__(self, sm: int) -> None:
        super().__init__()
        self.utils = _Utilities(sm, self._noted)
        self._sm = sm
        self.begin(None)

    def begin(self, seed: int | None) -> None:
        """Begin a new record; ``seed`` is that of the order of blocks and of atomic operations, None for their own."""
        self.record = Record()
        self._rng = None if seed is None else np.random.default_rng(seed)

    @contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except Fault as fault:
            self.record.faults.append(str(fault))
            raise

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self._sm, 32)

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cpu")

    def get_benchmarker(self) -> Any:
        raise NotImplementedError

    def get_current_device(self) -> int:
        # Triton keeps what it has compiled by the device.
        return self._sm

    def get_current_stream(self, device: int) -> int:
        return 0

    def launcher_cls(self, source: Any, metadata: Any) -> Callable[..., None]:
        """Return what launches a compiled kernel; Triton calls it as it would a class."""
        names = list(source.signature)
        constant = {path[0] for path in source.constants if len(path) == 1}
        constant.update(place for place, kind in enumerate(source.signature.values()) if kind == "constexpr")
        kept = [place for place in range(len(names)) if place not in constant]

        def without_constants(place: int, value: Any) -> Any:
            # Of a tuple each number that is 1 is a constant.
            if not isinstance(value, tuple):
                return value
            return tuple(one for number, one in enumerate(value) if (place, number) not in source.constants)

        def launch(x: int, y: int, z: int, _stream: int, program: Program, *rest: Any) -> None:
            # Before the arguments come what Triton's own launchers are told.
            given = {names[place]: without_constants(place, rest[4 + place]) for place in kept}
            self._launch(program, Launch((x, y, z), metadata.num_warps * 32, {}, metadata.shared), given)

        return launch

    def _launch(self, program: Program, launch: Launch, given: dict[str, Any]) -> None:
        # Behind the kernel's own come two addresses of scratch memory, which none of them asks for.
        values = [one for value in given.values() for one in (value if isinstance(value, tuple) else (value,))]
        values += [0] * (len(program.parameters) - len(values))
        parameters = {name: _bits(value, kind) for (kind, name), value in zip(program.parameters, values, strict=True)}
        ranges = []
        for value in values:
            if isinstance(value, torch.Tensor):
                storage = value.untyped_storage()
                ranges.append((storage.data_ptr(), storage.data_ptr() + storage.nbytes()))
        if program.name in _ADDRESSED:
            starts, lengths = (given[name].tolist() for name in _ADDRESSED[program.name])
            ranges += [(start, start + length) for start, length in zip(starts, lengths, strict=True)]
        storages, launch = Storages(ranges), replace(launch, parameters=parameters)
        blocks = np.arange(math.prod(launch.grid))
        if self._rng is not None:
            blocks = self._rng.permutation(blocks)
        step = max(1, _LANES // launch.threads)
        for start in range(0, len(blocks), step):
            with self._noted():
                Machine(program, launch, storages, blocks[start : start + step], self._rng).run()
        self.record.launches.append((program.name, len(blocks)))


def _bits(value: Any, kind: str) -> int:
    """The bits of an argument, a tensor's address or a number, of a parameter's type."""
    if isinstance(value, torch.Tensor):
        return value.data_ptr()
    if isinstance(value, float):
        return int(np.float32(value).view(np.uint32) if kind[1:] == "32" else np.float64(value).view(np.uint64))
    return int(value)


def _instead_of_assembly(self: Any = None, stages: Any = None, *_: Any) -> tuple[str, str] | None:
    """The last of Triton's stages leaves the text as it is; without arguments, what its cache calls that."""
    if stages is None:
        return "ptx", "ptx"
    if "cubin" in stages:
        stages["cubin"] = lambda text, metadata: text.encode()
    return None


_FUNCTIONS: dict[Any, JITFunction] = {}
_DRIVERS: dict[int, PtxDriver] = {}


def _library() -> list[Any]:
    """What Triton's interpreter changes in Triton's library, and does not put back after functions within functions."""
    from triton.language import core, math

    return [triton.language, core, math, *(value for value in vars(core).values() if isinstance(value, type))]


_ORIGINAL = [(owner, dict(vars(owner))) for owner in _library()]
"""As it was when this module was imported, before anything was interpreted."""


def _restore(states: list[tuple[Any, dict[str, Any]]]) -> list[tuple[Any, dict[str, Any]]]:
    """Put what owners had back into them, and return what they had instead."""
    before = []
    for owner, state in states:
        now = dict(vars(owner))
        before.append((owner, now))
        for name in now.keys() | state.keys():
            if name not in state:
                delattr(owner, name)
            elif now.get(name) is not state[name]:
                setattr(owner, name, state[name])
    return before


def _places(modules: tuple[ModuleType, ...]) -> Iterator[tuple[Any, str, Any]]:
    """Where interpreted functions are: their owner, name and selves."""
    from triton.language import core
    from triton.runtime.interpreter import InterpretedFunction

    owners: list[Any] = [module for name, module in list(sys.modules.items()) if _COMPILED.match(name)]
    for owner in [*owners, *modules, core.tensor]:
        for name, value in list(vars(owner).items()):
            if isinstance(value, InterpretedFunction):
                yield owner, name, value


@contextmanager
def compiled_for(sm: int, seed: int | None = None, *modules: ModuleType) -> Iterator[Record]:
    """Compile kernels for a device meanwhile, and launch them on the machine, with the CPU's tensors.

    Args:
        sm: The compute capability, times ten: 75, 80, 86, 89, 90, 100, 103 or 120.
        seed: Of the order of blocks and of atomic operations; None for their numbers' order.
        modules: What has kernels, beside ``counterfoil_core.kernels.cuda`` and this package.
    """
    chosen, before = _DRIVERS.setdefault(sm, PtxDriver(sm)), active._active
    chosen.begin(seed)
    interpreted = _restore(_ORIGINAL)
    places = list(_places(modules))
    # The machine has no wgmma and no tcgen05.
    environment = {"DISABLE_MMA_V3": "1", "DISABLE_MMA_V5": "1"}
    kept = {name: os.environ.get(name) for name in environment}
    # Zeros of their own each: an access beyond their end is within the storage of a piece, and would not be seen.
    with triton.knobs.runtime.scope(), patch.object(zeros, "_PIECE", 0):
        try:
            os.environ.update(environment)
            triton.knobs.runtime.interpret = False
            triton.knobs.runtime.add_stages_inspection_hook = _instead_of_assembly
            # It would load a kernel at each launch.
            triton.knobs.runtime.launch_enter_hook = None
            active.set_active(chosen)
            for owner, name, function in places:
                if function not in _FUNCTIONS:
                    _FUNCTIONS[function] = JITFunction(function.fn)
                setattr(owner, name, _FUNCTIONS[function])
            yield chosen.record
        finally:
            for owner, name, function in places:
                setattr(owner, name, function)
            _restore(interpreted)
            active._active = before
            for name, value in kept.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
