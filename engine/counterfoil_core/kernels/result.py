"""What a rounding kernel reports about one tensor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# What following a log showed, as numbers that add with `+`: sites to a step, steps to a run.


@dataclass(frozen=True)
class Counts:
    """What following the trainer's log showed, at one rounding site or at several.

    ``sum(counts, Counts())`` adds them up.
    """

    entries: int = 0  #: Logged rounding decisions.
    corrections: int = 0  #: Entries whose direction differed from the own rounding.
    #: Entries that no honest trainer writes, and a scale exponent that the own scale does not explain.
    contradictions: int = 0
    omissions: int = 0  #: Own values within a quarter of the margin that the trainer did not log.
    #: Accepted entries whose own value is so far from the midpoint that honest hardware agrees on the direction: a
    #: sixteenth of a calibrated margin, and as a bound proves.
    steerable: int = 0
    steered: int = 0  #: Corrections among these.
    ties: int = 0  #: Accepted entries whose own value is the midpoint itself, frequent where inputs are small integers.
    #: Corrections among these. They say nothing alone: where sums are not exact, the direction of a tie honestly
    #: depends on the last bit (:mod:`counterfoil_core.replay.steering`).
    broken_ties: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Add two, name by name; written out, since every rounding site of every replayed step does it."""
        return Counts(
            self.entries + other.entries,
            self.corrections + other.corrections,
            self.contradictions + other.contradictions,
            self.omissions + other.omissions,
            self.steerable + other.steerable,
            self.steered + other.steered,
            self.ties + other.ties,
            self.broken_ties + other.broken_ties,
        )


NOTHING = Counts()
"""What most sites show: the very object, which adding up may pass over."""


def add_counts(counts: Iterable[Counts]) -> Counts:
    """Add several up."""
    return sum((some for some in counts if some is not NOTHING), NOTHING)


class Rounded(NamedTuple):
    """The close decisions and the fingerprint of one tensor."""

    #: int64 ``[k]``: flat C-order indices of the decisions close to a midpoint, ascending.
    indices: npt.NDArray[np.int64]
    ups: npt.NDArray[np.bool_]  #: bool ``[k]``: whether each was rounded up, towards plus infinity.
    fingerprint: int  #: Sum mod 2^64 over the elements of a mixing function of index, bits and key.
    #: floor(log2) of the largest magnitude before rounding; 1024 when infinite or not a number, -1023 when every
    #: element is zero or subnormal.
    largest_exponent: int
    #: The largest magnitude after rounding; without meaning when one is infinite or not a number before it.
    largest: float
