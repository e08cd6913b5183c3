"""What precision profiles cost, as it was measured: docs/profiles.md and docs/accuracy.md have the same figures.

A test holds these constants to the pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

TIMED = ("gpt2, 2 layers, width 768", "digits-cnn, width 16")
"""The steps whose time is given, a large one and the smallest, as docs/profiles.md calls them."""
LEARNT = "gpt2"
"""The task whose loss is given, as docs/accuracy.md calls it: the one whose training does not blow up last bits."""


@dataclass(frozen=True)
class ProfileCost:
    """What a precision profile costs."""

    #: Processor time of a recorded step over that of an ordinary float32 step, for each of :data:`TIMED`; empty where
    #: it was not measured.
    times: tuple[float, ...]
    log: bool  #: Whether a step has a rounding log.
    #: How much larger the loss on held-out data was than in float32 after the training :data:`LEARNT`, the mean of five
    #: seeds; None where it was not measured.
    loss_difference: float | None
    #: Whether the mean of a loss lay further from float32's than one seed lies from another.
    beyond_spread: bool = False


PROFILE_COSTS: Mapping[str, ProfileCost] = {
    "float64-24": ProfileCost((3.15, 5.16), True, -4e-05),
    "exact-20": ProfileCost((1.77, 5.77), False, -7e-07),
    "exact-13": ProfileCost((1.31, 4.83), False, 8e-06),
    "exact-10": ProfileCost((), False, 0.0159),
    "exact-8": ProfileCost((), False, 0.0970, beyond_spread=True),
    "float32-bfloat16": ProfileCost((), True, 0.0165),
}
"""Of the profiles that were measured."""
