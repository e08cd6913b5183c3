"""How fast devices compute, by what their makers publish: float64 by float32, and data sheets of some cards. Pure.

Cards for games and most for inference have next to no float64 units, so that a profile that computes in float64 takes
many times as long there; exact profiles compute without (docs/profiles.md).

Sources: for NVIDIA the "Throughput of Native Arithmetic Instructions" in the CUDA programming guide, results a clock
and multiprocessor; of compute capability 10.3 the data sheet of B300 (1.2 TFLOP/s of float64 by 75 of float32), of 12.1
that of its relative 12.0. For AMD the data sheets of the Instinct cards (MI50, MI100, MI200, MI300, MI350) and of the
Radeon RX 6000 and 7000. Metal has no float64 at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from counterfoil_core.base.sentence import say
from counterfoil_core.kernels.carriers import Carrier, carrier_of
from counterfoil_core.program.limits import Estimate

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


EFFICIENCY = 0.5
"""Share of a published rate that is reached, of products and of memory alike."""


@dataclass(frozen=True)
class Gpu:
    """A GPU by its data sheet: dense rates, without sparsity, in operations a second."""

    name: str  #: Its name.
    float64: float  #: Of products in float64, on tensor cores where it has them for that.
    float32: float  #: Of products in float32, without TensorFloat-32.
    bfloat16: float  #: Of products in bfloat16 with sums in float32.
    int8: float  #: Of products in int8 with sums in int32.
    bandwidth: float  #: Bytes that its memory moves in a second.
    memory: float  #: Bytes that it has.
    maker: str  #: Who publishes these figures.
    capability: tuple[int, int]  #: Its compute capability.

    @property
    def float64_share(self) -> Fraction | None:
        """Rate of its float64 by that of its float32, leaving out tensor cores."""
        return float64_share(self.capability)

    @property
    def digits(self) -> float:
        """Operations a second of products of the digits of exact profiles, in what carries them there."""
        return self.bfloat16 if carrier_of(self.capability) is Carrier.BFLOAT16 else self.int8


# NVIDIA's data sheets of L4, A100 80GB SXM, H100 SXM, H200 SXM, HGX B200 and HGX B300 (whose int8 it cut down for the
# sake of four-bit numbers), and its papers on the architectures Ada and RTX Blackwell.
GPUS: Mapping[str, Gpu] = {
    gpu.name: gpu
    for gpu in (
        Gpu("L4", 0.49e12, 30.3e12, 121e12, 242e12, 0.3e12, 24e9, "NVIDIA", (8, 9)),
        Gpu("A100", 19.5e12, 19.5e12, 312e12, 624e12, 2.039e12, 80e9, "NVIDIA", (8, 0)),
        Gpu("H100", 67e12, 67e12, 989e12, 1979e12, 3.35e12, 80e9, "NVIDIA", (9, 0)),
        Gpu("H200", 67e12, 67e12, 989e12, 1979e12, 4.8e12, 141e9, "NVIDIA", (9, 0)),
        Gpu("B200", 37e12, 75e12, 2250e12, 4500e12, 7.7e12, 180e9, "NVIDIA", (10, 0)),
        Gpu("B300", 1.2e12, 77e12, 2250e12, 300e12, 8e12, 288e9, "NVIDIA", (10, 3)),
        Gpu("RTX 4090", 1.29e12, 82.6e12, 165.2e12, 660.6e12, 1.008e12, 24e9, "NVIDIA", (8, 9)),
        Gpu("RTX 5090", 1.64e12, 104.8e12, 209.5e12, 838e12, 1.792e12, 32e9, "NVIDIA", (12, 0)),
    )
}
_SWEPT, _ROUNDED = 3, 6
"""How often a value is moved: written and read twice; and where it is rounded, read, read and written once more."""
_MUCH = 2
"""So many times as long is worth a sentence."""
_SHORT = 0.01
"""Of steps of fewer seconds launches decide, which the model leaves out."""


def data_sheet(title: str) -> Gpu | None:
    """Return what is published of a card by the name that its driver gives it, such as ``NVIDIA H100 80GB HBM3``."""
    words = f" {' '.join(re.findall('[A-Za-z0-9]+', title))} "
    # A card for laptops has the name of one that is twice as fast.
    return None if " Laptop " in words else next((gpu for name, gpu in GPUS.items() if f" {name} " in words), None)


def step_seconds(gpu: Gpu, step: Estimate, digits: int | None = None) -> float:
    """Return how long a step takes by a card's data sheet: its operations and its bytes, one after the other.

    Args:
        gpu: The card.
        step: What a step takes, of a program that computes in float64.
        digits: Bytes of the integers of an exact profile; None for float64 with rounding.
    """
    if digits is None:
        return (step.flops / gpu.float64 + _ROUNDED * step.total_bytes / gpu.bandwidth) / EFFICIENCY
    # Values are float32: half as many bytes.
    return (digits**2 * step.flops / gpu.digits + _SWEPT * step.total_bytes / 2 / gpu.bandwidth) / EFFICIENCY


def float64_advice(title: str, share: Fraction | None, compute: str, step: Estimate | None = None) -> str:
    """Say what to order for a device that computes much faster without float64; empty where there is nothing to say.

    By its data sheet where that is held and a step is given, else by how little float64 it has.

    Args:
        title: Name of the device.
        share: Rate of its float64 by that of its float32; None where it is not known.
        compute: Dtype in which the profile of the order computes.
        step: What a step takes; None where that is not known.
    """
    if compute != "float64":
        return ""
    gpu = data_sheet(title)
    if gpu is not None and step is not None and (ordered := step_seconds(gpu, step)) >= _SHORT:
        twenty, thirteen = step_seconds(gpu, step, 3), step_seconds(gpu, step, 2)
        if ordered < _MUCH * twenty:
            return ""
        return say(
            "On {0} a step of this order takes {1:.2g} s, one under exact-20 {2:.2g} s, and one under exact-13 "
            "{3:.2g} s: by a model of its data sheet, and not measured. Exact profiles do without float64.",
            title,
            ordered,
            twenty,
            thirteen,
        )
    if share is None or share >= _ENOUGH:
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
