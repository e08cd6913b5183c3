"""Where kernels of our own may be used; everything has a form in torch's operators too."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache

import torch
from torch import Tensor


def loops_reach(device: torch.device) -> bool:
    """Return whether numba's loops reach the tensors of a device: in the CPU's memory they do."""
    return device.type == "cpu"


def triton_reaches(device: torch.device) -> bool:
    """Return whether Triton's kernels are for the tensors of a device: a CUDA device's, where Triton can compile."""
    return device.type == "cuda" and (device.index or 0) not in _without_triton and _has_triton()


def leave_triton_out(device: torch.device) -> None:
    """Let torch's operators compute on a CUDA device, at their speed: Triton's kernels do not run there."""
    _without_triton.add(device.index or 0)


def device_of(x: Tensor) -> AbstractContextManager[object]:
    """Return a context in which Triton launches kernels on the device of a tensor: by default it takes the first."""
    return torch.cuda.device(x.device) if x.is_cuda else nullcontext()


@cache
def _has_triton() -> bool:
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True


_without_triton: set[int] = set()
"""Numbers of devices on which it does not run."""
