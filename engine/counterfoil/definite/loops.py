"""Where kernels of our own may be used; everything has a form in torch's operators too."""

from __future__ import annotations

from functools import cache

import torch


def reach(device: torch.device) -> bool:
    """Return whether numba's loops reach the tensors of a device: in the CPU's memory they do."""
    return device.type == "cpu"


def triton_reaches(device: torch.device) -> bool:
    """Return whether Triton's kernels are for the tensors of a device: a CUDA device's, where there is Triton."""
    return device.type == "cuda" and _has_triton()


@cache
def _has_triton() -> bool:
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True
