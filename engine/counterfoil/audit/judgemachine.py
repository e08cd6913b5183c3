"""The machine of a judge: as :mod:`counterfoil_core.arithmetic.machine` opens it, and how far its box is closed."""

from __future__ import annotations

from dataclasses import replace

from counterfoil.sandbox.box import sandbox
from counterfoil_core.arithmetic.machine import Machine, open_machine


def open_judge(device: str, threads: int | None = None) -> Machine:
    """Set this machine up to judge: its environment says how far the box around this process is closed.

    Args:
        device: ``cpu`` or ``cuda:0``.
        threads: Threads on the CPU; None for torch's choice, one for each core.

    Raises:
        DeviceError: There is no such device, ``threads`` is not positive, or torch does not take a switch.
    """
    return replace(open_machine(device, threads), beside=(("sandbox", sandbox()),))
