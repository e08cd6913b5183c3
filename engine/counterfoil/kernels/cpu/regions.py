"""Compiled loops that several threads run at once: torch's own threads, where they can be had.

After an operator the threads of torch's OpenMP library spin for milliseconds, in wait for the next one. Threads of
another pool fight with them for the cores: on two cores a second thread of our own brought nothing at all.
So a region is run by ``GOMP_parallel`` of the very library that torch has loaded, which finds its threads awake. Where
torch has none, or :data:`SWITCH` says so, a pool of our own does it, with the same results.

A region is a function of the address of its *job*, 64-bit numbers, of which the first two are the next part that nobody
has claimed, 0, and the number of parts. Each thread claims parts until none is left. How a range is cut into parts must
not depend on the number of threads; then no result does.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from llvmlite import ir

from counterfoil.kernels.cache import callback, inlined, intrinsic, numba, types

carray: Any = numba.carray  # type: ignore[attr-defined]
"""An array over memory, inside compiled code."""
_POINTER: Any = types.CPointer(types.uint64)  # type: ignore[no-untyped-call]
_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_SIGNATURE = types.void(_POINTER)


def _add_atomically(typing_context: Any, pointer: Any, place: Any = None, value: Any = None) -> Any:
    """Add a uint64 to the one at a place behind a pointer, and return what was there; wraps."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", builder.gep(arguments[0], [arguments[1]]), arguments[2], "seq_cst")

    return types.uint64(_POINTER, types.intp, types.uint64), build


def _raise_atomically(typing_context: Any, pointer: Any, place: Any = None, value: Any = None) -> Any:
    """Put a uint64 in the place of a smaller one behind a pointer, and return what was there."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("umax", builder.gep(arguments[0], [arguments[1]]), arguments[2], "seq_cst")

    return types.uint64(_POINTER, types.intp, types.uint64), build


def _at_address(typing_context: Any, address: Any = None) -> Any:
    """Turn an address, uint64, into a pointer that ``numba.carray`` takes."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.uint64), build


add_atomically: Any = intrinsic(_add_atomically)
raise_atomically: Any = intrinsic(_raise_atomically)
at_address: Any = intrinsic(_at_address)


SWITCH = "COUNTERFOIL_REGIONS"
"""The environment variable with which whoever runs Counterfoil leaves torch's threads alone: ``0``."""
JOB_WORDS = 32
"""64-bit numbers that a job has room for."""


@inlined
def entered(pointer: Any) -> None:
    """Say that a thread is at work: what a region does first."""
    add_atomically(pointer, JOB_WORDS, np.uint64(1))


@inlined
def left(pointer: Any) -> None:
    """Say that it is done: what a region does last."""
    add_atomically(pointer, JOB_WORDS, np.uint64(0xFFFFFFFFFFFFFFFF))


class _Job(threading.local):
    """Memory for the job that a thread runs, and after it the number of threads that are at work."""

    def __init__(self) -> None:
        self.words = bytearray(8 * (JOB_WORDS + 1))
        self.address = ctypes.addressof((ctypes.c_char * len(self.words)).from_buffer(self.words))
        self.at_work = ctypes.c_uint64.from_buffer(self.words, 8 * JOB_WORDS)


job = _Job()
"""The job of this thread: fill it with ``struct``, run it, read it, all in one go."""


class Region:
    """A function of a job's address, compiled when it is first run.

    Args:
        function: Takes a pointer to uint64; claims parts by :func:`add_atomically` at place 0. It begins with
            :func:`entered` and ends with :func:`left`: compiled code that C calls cannot hand on what it raises, and
            its result is garbage when memory for it is lacking.
    """

    _declared: ClassVar[list[Region]] = []

    def __init__(self, function: Callable[[Any], None]) -> None:
        self._function = function
        self._declared.append(self)

    @classmethod
    def compile_all(cls) -> None:
        """Compile every region of the modules that are loaded."""
        for region in cls._declared:
            _ = region._compiled

    @cached_property
    def _compiled(self) -> tuple[int, Any]:
        compiled = callback(_SIGNATURE, self._function, error_model="numpy")
        # ctypes hands over the GIL for as long as it runs; the compiled function must outlive its address.
        return compiled.address, (compiled, _ENTRY(compiled.address))

    def run(self, threads: int) -> None:
        """Run the job of this thread.

        Args:
            threads: Threads that share it, the calling one included.

        Raises:
            MemoryError: A thread did not come to its end, since there was no memory for it.
        """
        function, (_, entry) = self._compiled
        address, at_work = job.address, job.at_work
        at_work.value = 0
        if threads < 2:
            entry(address)
        elif (team := _team()) is not None:
            team(function, address, threads, 0)
        else:
            others = [_pool(threads - 1).submit(entry, address) for _ in range(threads - 1)]
            entry(address)
            for other in others:
                other.result()
        if at_work.value:
            raise MemoryError(f"no memory for {self._function.__name__}")


@cache
def _team() -> Any:
    """Return ``GOMP_parallel`` of the OpenMP library that torch itself uses; None where there is none to use."""
    if os.environ.get(SWITCH) == "0":
        return None
    for path in sorted((Path(torch.__file__).parent / "lib").glob("libtorch_cpu.*")):
        try:
            # Looked up through torch's library, so that it is found in what that was linked with, and nothing else.
            function = ctypes.CDLL(str(path)).GOMP_parallel
        except (OSError, AttributeError):
            continue
        function.restype, function.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
        return function
    return None


@lru_cache(maxsize=1)
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="regions")
