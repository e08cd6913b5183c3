"""Where compiled loops may be used: on tensors in the CPU's memory. Everything has a form in torch's operators too."""

from __future__ import annotations

import torch


def reach(device: torch.device) -> bool:
    """Return whether numba's loops reach the tensors of a device."""
    return device.type == "cpu"
