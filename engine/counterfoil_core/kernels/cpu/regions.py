"""Compiled loops that several threads run at once: torch's own threads, where they can be had.

After an operator the threads of torch's OpenMP library spin for milliseconds, in wait for the next one. Threads of
another pool fight with them for the cores: on two cores a second thread of our own brought nothing at all.
So a region is run by ``GOMP_parallel`` of the very library that torch has loaded, which finds its threads awake. Where
torch has none, or :data:`SWITCH` says so, a pool of our own does it, with the same results.

A region is a function of the address of its *job*: a record of 64-bit numbers, declared once as a NumPy dtype, which
Python fills by position (:meth:`Region.run`) and compiled code reads by name (:func:`record_at`). Each thread claims
parts (:func:`claimed`) until none is left. How a range is cut into parts must not depend on the number of threads; then
no result does.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property, lru_cache
from pathlib import Path
from struct import Struct
from typing import Any, ClassVar

import numpy as np
import torch
from llvmlite import ir

from counterfoil_core.kernels.cache import callback, inlined, intrinsic, numba, types

carray: Any = numba.carray  # type: ignore[attr-defined]
"""An array over memory, inside compiled code."""
_POINTER: Any = types.CPointer(types.uint64)  # type: ignore[no-untyped-call]
_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_SIGNATURE = types.void(_POINTER)
_WORD = ir.IntType(64)


def _record_at(typing_context: Any, place: Any = None, dtype: Any = None) -> Any:
    """Return the record at a pointer or at an address, uint64 or int64, of a dtype; inside compiled code.

    Its fields have names, and may be written.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        turned = builder.inttoptr if isinstance(place, types.Integer) else builder.bitcast
        return turned(arguments[0], context.get_value_type(dtype.dtype))

    return dtype.dtype(place, dtype), build


record_at: Any = intrinsic(_record_at)


def _atomically(operation: str) -> Any:
    """Change the field of a record whose name is given, by a uint64, and return what was there."""

    def typed(typing_context: Any, record: Any, name: Any = None, value: Any = None) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            words = builder.bitcast(arguments[0], _WORD.as_pointer())
            place = builder.gep(words, [_WORD(record.offset(name.literal_value) // 8)])
            return builder.atomic_rmw(operation, place, arguments[2], "seq_cst")

        return types.uint64(record, name, types.uint64), build

    return intrinsic(prefer_literal=True)(typed)


add_atomically: Any = _atomically("add")
"""``add_atomically(record, "name", value)`` adds a uint64, mod 2^64."""
raise_atomically: Any = _atomically("umax")
"""``raise_atomically(record, "name", value)`` puts a uint64 in the place of a smaller one."""


def _add_behind_of(typing_context: Any, pointer: Any = None, place: Any = None, value: Any = None) -> Any:
    """Add a uint64 to the one at a place behind a pointer, mod 2^64, and return what was there."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", builder.gep(arguments[0], [arguments[1]]), arguments[2], "seq_cst")

    return types.uint64(_POINTER, types.intp, types.uint64), build


_add_behind: Any = intrinsic(_add_behind_of)


def _at_address(typing_context: Any, address: Any = None) -> Any:
    """Turn an address, uint64, into a pointer that ``numba.carray`` takes; inside compiled code."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.uint64), build


at_address: Any = intrinsic(_at_address)


@inlined
def floats_at(address: Any, shape: Any) -> Any:
    """The float64 array of a shape at an address; where there is none no element may be looked at."""
    return carray(at_address(address), shape, np.float64)


SWITCH = "COUNTERFOIL_REGIONS"
"""The environment variable with which whoever runs Counterfoil leaves torch's threads alone: ``0``."""
_ROOM = 32
"""64-bit numbers that a job has room for; behind them lie the next part that nobody has claimed, and the number of
threads that are at work."""
_NEXT, _AT_WORK = _ROOM, _ROOM + 1
_FORMATS = {"i8": "q", "u8": "Q", "f8": "d"}


@inlined
def entered(pointer: Any) -> None:
    """Say that a thread is at work: what a region does first."""
    _add_behind(pointer, _AT_WORK, np.uint64(1))


@inlined
def left(pointer: Any) -> None:
    """Say that it is done: what a region does last."""
    _add_behind(pointer, _AT_WORK, np.uint64(0xFFFFFFFFFFFFFFFF))


@inlined
def claimed(pointer: Any) -> Any:
    """Claim the next part of a job, int64: the parts are counted from 0, and it may be beyond the last."""
    return np.int64(_add_behind(pointer, _NEXT, np.uint64(1)))


class _Job(threading.local):
    """Memory for the job that a thread runs: its bytes, their address, and the same as 64-bit numbers."""

    def __init__(self) -> None:
        room = bytearray(8 * (_AT_WORK + 1))
        self.memory = room, ctypes.addressof((ctypes.c_char * len(room)).from_buffer(room)), memoryview(room).cast("Q")


_job = _Job()


def format_of(*kinds: np.dtype[Any]) -> str:
    """Return the format by which :mod:`struct` packs numbers, and arrays of them, of 64 bits each."""
    shaped = ((kind.base.str[1:], int(np.prod(kind.shape))) for kind in kinds)
    return "".join(f"{count}{_FORMATS[name]}" for name, count in shaped)


class Region:
    """A function of a job's address, compiled when it is first run.

    Args:
        function: Takes a pointer to uint64; claims parts by :func:`claimed`. It begins with :func:`entered` and ends
            with :func:`left`: compiled code that C calls cannot hand on what it raises, and its result is garbage when
            memory for it is lacking.
        job: What lies at the pointer: a dtype of fields of 64 bits each, and of arrays of them; first what the region
            is told, then what it finds.
        found: Name of the first field of what it finds; None for nothing.
    """

    _declared: ClassVar[list[Region]] = []

    def __init__(self, function: Callable[[Any], None], job: np.dtype[Any], found: str | None = None) -> None:
        self._function = function
        fields: Any = job.fields or {}
        whole, begun = 8 * _ROOM, job.itemsize if found is None else fields[found][1]
        assert job.itemsize <= whole, "a job that finds no room"
        told = format_of(*(kind for kind, at, *_ in fields.values() if at < begun))
        finds = format_of(*(kind for kind, at, *_ in fields.values() if at >= begun))
        # What is found begins as zeros, and so do the numbers behind the job.
        self._told, self._found, self._begun = Struct(f"<{told}{whole + 16 - begun}x"), Struct(f"<{finds}"), begun
        self._declared.append(self)

    @classmethod
    def declared(cls) -> Sequence[Region]:
        """Return every region of the modules that are loaded."""
        return tuple(cls._declared)

    @property
    def name(self) -> str:
        """What it is called: its module within the package, and its function."""
        return f"{self._function.__module__}.{self._function.__name__}".removeprefix("counterfoil_core.")

    def compile(self) -> None:
        """Compile it before it is first run."""
        _ = self._compiled

    @cached_property
    def _compiled(self) -> tuple[Any, ...]:
        compiled = callback(_SIGNATURE, self._function, error_model="numpy")
        # ctypes hands over the GIL for as long as it runs; the compiled function must outlive its address.
        entry = _ENTRY(compiled.address)
        return compiled.address, entry, self._told.pack_into, self._found.unpack_from, self._begun, compiled

    def run(self, threads: int, *told: float) -> tuple[Any, ...]:
        """Run a job on this thread and others.

        Args:
            threads: Threads that share it, the calling one included.
            *told: What the region is told, as many numbers as were declared, in their order.

        Returns:
            What it found, in the order of the declaration.

        Raises:
            MemoryError: A thread did not come to its end, since there was no memory for it.
            struct.error: More or fewer numbers were told than were declared.
        """
        # A microsecond in all: formulas of a few numbers are run a hundred times a step.
        function, entry, pack, unpack, begun, _ = self._compiled
        room, address, words = _job.memory
        pack(room, 0, *told)
        if threads < 2:
            entry(address)
        elif (team := _team()) is not None:
            team(function, address, threads, 0)
        else:
            others = [_pool(threads - 1).submit(entry, address) for _ in range(threads - 1)]
            entry(address)
            for other in others:
                other.result()
        if words[_AT_WORK]:
            raise MemoryError(f"no memory for {self._function.__name__}")
        found: tuple[Any, ...] = unpack(room, begun)
        return found


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
