"""How fast devices compute in float64, by their float32: a table of what their makers publish. Pure.

Cards for games and most for inference have next to no float64 units, so that a profile that computes in float64 takes
many times as long there; exact profiles compute without (docs/profiles.md).

Sources: for NVIDIA the "Throughput of Native Arithmetic Instructions" in the CUDA programming guide, results a clock
and multiprocessor; of compute capability 10.3 the data sheet of B300 (1.2 TFLOP/s of float64 by 75 of float32), of 12.1
that of its relative 12.0. For AMD the data sheets of the Instinct cards (MI50, MI100, MI200, MI300, MI350) and of the
Radeon RX 6000 and 7000. Metal has no float64 at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from counterfoil_core.base.sentence import say

CUDA: Mapping[tuple[int, int], Fraction] = {
    (6, 0): Fraction(1, 2),
    (6, 1): Fraction(1, 32),
    (6, 2): Fraction(1, 32),
    (7, 0): Fraction(1, 2),
    (7, 5): Fraction(1, 32),
    (8, 0): Fraction(1, 2),
    (8, 6): Fraction(1, 64),
    (8, 7): Fraction(1, 64),
    (8, 9): Fraction(1, 64),
    (9, 0): Fraction(1, 2),
    (10, 0): Fraction(1, 2),
    (10, 3): Fraction(1, 64),
    (12, 0): Fraction(1, 64),
    (12, 1): Fraction(1, 64),
}
"""Rate of float64 by that of float32, by compute capability."""
AMD: Mapping[str, Fraction] = {
    "gfx906": Fraction(1, 2),
    "gfx908": Fraction(1, 2),
    "gfx90a": Fraction(1),
    "gfx942": Fraction(1, 2),
    "gfx950": Fraction(1, 2),
    "gfx103": Fraction(1, 16),
    "gfx110": Fraction(1, 32),
}
"""The same by how the name of the architecture begins."""
CPU = Fraction(1, 2)
"""Vectors of a processor hold half as many float64 numbers."""
_ENOUGH = Fraction(1, 4)
"""From here on a float64 profile is not told off."""


def float64_share(capability: tuple[int, int], architecture: str = "") -> Fraction | None:
    """Return the rate of float64 by that of float32 of a GPU; None where no table has it.

    Args:
        capability: Compute capability; of a GPU of AMD it says nothing.
        architecture: Of a GPU of AMD, such as ``gfx942:sramecc+:xnack-``; else empty.
    """
    if architecture.startswith("gfx"):
        return next((share for name, share in AMD.items() if architecture.startswith(name)), None)
    return CUDA.get(capability)


def float64_note(share: Fraction | None) -> str:
    """Say in a few words how well a device computes in float64."""
    if share is None:
        return say("float64 at a rate that is not known: measure it")
    if share == 0:
        return say("no float64")
    if share == CPU:
        return say("float64 at half the rate of float32")
    if share == 1:
        return say("float64 at the rate of float32")
    return say("little float64, 1/{0} of the rate of float32: expect a slow replay", round(1 / share))


def float64_advice(title: str, share: Fraction | None, compute: str) -> str:
    """Say what to order for a device that has next to no float64; empty where there is nothing to say.

    Args:
        title: Name of the device.
        share: Rate of its float64 by that of its float32; None where it is not known.
        compute: Dtype in which the profile of the order computes.
    """
    if compute != "float64" or share is None or share >= _ENOUGH:
        return ""
    instead = say("An order under exact-20 or exact-13 does without float64.")
    if share == 0:
        return say("{0} has no float64, in which this order computes. {1}", title, instead)
    return say(
        "{0} has little float64, 1/{1} of the rate of its float32, and this order computes in it: a step takes many "
        "times as long there. {2}",
        title,
        round(1 / share),
        instead,
    )
