"""The devices of this machine that can replay, and what is said of them."""

from __future__ import annotations

import platform
from fractions import Fraction

import torch

from counterfoil.arithmetic.compute.devicename import Device
from counterfoil.base.cards import CPU, float64_note, float64_share
from counterfoil_core.program.limits import Estimate


def list_devices() -> tuple[Device, ...]:
    """Return the CPU and every CUDA device."""
    found = [_device("cpu", platform.processor() or platform.machine(), CPU)]
    if torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            properties = torch.cuda.get_device_properties(index)
            share = float64_share((properties.major, properties.minor), getattr(properties, "gcnArchName", ""))
            found.append(_device(f"cuda:{index}", properties.name, share))
    return tuple(found)


def _device(name: str, title: str, share: Fraction | None) -> Device:
    return Device(name, title, float64_note(share), None if share is None else float(share))


def device_advice(compute: str, step: Estimate | None = None, name: str | None = None) -> tuple[str, ...]:
    """Say which devices of this machine an order computes slowly on, and what to order in its place.

    Args:
        compute: Dtype in which the profile of the order computes.
        step: What a step takes; None where that is not known.
        name: The device that is asked for; all of them unless given.

    Returns:
        A sentence for each such device.
    """
    wanted = f"{name}:0" if name == "cuda" else name
    said = (device.advice(compute, step) for device in list_devices() if wanted in (None, device.name))
    return tuple(advice for advice in said if advice)
