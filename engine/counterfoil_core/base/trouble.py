"""The one place that knows how torch, numpy and the system say that memory is short or that a device failed.

On the CPU torch says it with a plain RuntimeError, as it does for a program that asks for what cannot be; so the text
has to be looked at. The texts are those of c10/core/impl/alloc_cpu.cpp (Linux, macOS and Windows), of CUDA's and its
libraries' status codes, and of the C++ standard library.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from counterfoil_core.base.errors import DeviceFailureError, MemoryShortageError, ObstacleError, RefusedError
from counterfoil_core.base.obstacles import memory_shortage
from counterfoil_core.base.sentence import say

_SHORTAGE = (
    "defaultcpuallocator: can't allocate memory", "defaultcpuallocator: not enough memory", "cannot allocate memory",
    "out of memory", "cuda_error_out_of_memory", "cudaerrormemoryallocation", "status_alloc_failed", "std::bad_alloc",
    "bad allocation", "can't start new thread",
)  # fmt: skip
_SPOKEN = (MemoryError, OSError, RuntimeError, SystemError, RefusedError)
"""What may be about the machine, or made of something that is."""
_COMPILER = "failed to find c compiler"
_FAILURE = (
    "triton error [cuda]",
    "cuda error:",
    "cuda driver error:",
    "cublas_status_",
    "cudnn_status_",
    "cudnn error:",
)


def obstacle(error: BaseException) -> ObstacleError | None:
    """Return the obstacle that an exception stands for; None when it is about the program, or a bug."""
    text = str(error).casefold()
    detail = f"{type(error).__name__}: {error}"
    if isinstance(error, MemoryError) or _is_of(error, "torch", "OutOfMemoryError"):
        return memory_shortage(detail)
    if isinstance(error, OSError):
        if "triton" in str(error.filename):  # its folder of compiled kernels, which may be full
            return _uncompiled(detail)
        return memory_shortage(detail) if error.errno == errno.ENOMEM else None
    if _is_of(error, "triton"):
        return _uncompiled(detail)
    if isinstance(error, SystemError):  # a library in C failed and said nothing, as some do where memory is short
        return memory_shortage(detail)
    if not isinstance(error, RuntimeError):
        return None
    if _COMPILER in text:
        return _uncompiled(detail)
    if any(words in text for words in _SHORTAGE):
        return memory_shortage(detail)
    if _is_of(error, "torch", "AcceleratorError") or any(words in text for words in _FAILURE):
        return DeviceFailureError(
            say("The device failed in the middle of a computation."),
            remedy=say("Start again on another device, for instance cpu; if it fails there too, restart the machine."),
            detail=detail,
        )
    return None


def raise_shortage(error: BaseException) -> None:
    """Raise what an exception stands for where memory is short; every other one is left to the caller.

    Raises:
        MemoryShortageError: Memory is short.
    """
    found = obstacle(error)
    if isinstance(found, MemoryShortageError):
        raise found from error


def _uncompiled(detail: str) -> ObstacleError:
    return ObstacleError(
        say("A kernel could not be compiled, or not be started on the device."),
        remedy=say("Look at the room on the disk and for a C compiler, and start again; or use the device cpu."),
        detail=detail,
    )


def _is_of(error: BaseException, package: str, name: str = "") -> bool:
    """Whether an exception is one of a package's, of this name if one is given: it need not be loaded."""
    return any(
        kind.__module__.partition(".")[0] == package and name in ("", kind.__name__) for kind in type(error).__mro__
    )


def obstacle_behind(error: BaseException) -> ObstacleError | None:
    """Return the obstacle that an exception, or one that it was made of, stands for; None when there is none."""
    cause: BaseException | None = error
    while cause is not None:
        found = obstacle(cause)
        if found is not None:
            return found
        cause = cause.__cause__
    return None


@contextmanager
def obstacles_noticed() -> Iterator[None]:
    """Turn every exception inside the block that is about this machine into an ObstacleError.

    A refusal that was made of such an exception is one too: what this machine lacks is nobody's fault.
    """
    try:
        yield
    except Exception as error:
        if not (isinstance(error, _SPOKEN) or _is_of(error, "triton")):
            raise
        found = obstacle_behind(error)
        if found is None:
            raise
        raise found from error
