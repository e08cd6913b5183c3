"""How a device is called: a plain value, which the window may hold without loading torch."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from counterfoil.base.cards import float64_advice
from counterfoil_core.program.limits import Estimate


@dataclass(frozen=True)
class Device:
    """A device that can replay."""

    name: str  #: Name for torch: ``cpu`` or ``cuda:0``.
    title: str  #: Name for people, for instance ``NVIDIA H200``.
    float64_note: str  #: How well it computes in float64, in a few words.
    float64_share: float | None = None  #: Rate of its float64 by that of its float32; None where it is not known.

    def advice(self, compute: str, step: Estimate | None = None) -> str:
        """Say what to order in place of what this device computes slowly; empty where there is nothing to say.

        Args:
            compute: Dtype in which the profile of the order computes.
            step: What a step takes; None where that is not known.
        """
        share = None if self.float64_share is None else Fraction(self.float64_share)
        return float64_advice(f"{self.name} ({self.title})", share, compute, step)
