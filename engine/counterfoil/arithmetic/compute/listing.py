"""How a device is called: a plain value, which the window may hold without loading torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Device:
    """A device that can replay.

    Attributes:
        name: Name for torch: ``cpu`` or ``cuda:0``.
        title: Name for people, for instance ``NVIDIA H200``.
        float64_note: How well it computes in float64, in a few words.
    """

    name: str
    title: str
    float64_note: str
