"""What a worker found, as it goes through a pipe and lies in a file."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Self

import msgspec
import numpy as np
from msgspec import Meta

import counterfoil_core
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.bundle.schema import MAX_STEPS
from counterfoil_core.kernels.result import Counts
from counterfoil_core.values.workers import Place, ReplayedBy

COUNTED = tuple(item.name for item in fields(Counts))
"""The columns of a step's counts."""
_MOST_RESULTS = MAX_STEPS + 1
"""Results of a segment, and rows of its account."""
LONGEST_TROUBLE = 1_000_000
"""Characters of a sentence; one may quote a stranger's program."""


@dataclass(frozen=True)
class Identity:
    """What is replayed, and by which rules."""

    file: Digest  #: SHA-256 of the run's file.
    order: Digest  #: Digest of the order.
    run_root: Digest  #: The signed run root.
    counterfoil: str = counterfoil_core.__version__  #: Version of Counterfoil.


class StepResult(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What the replay of a step gave."""

    step: int  #: Its number.
    leaf: Annotated[bytes, Meta(max_length=DIGEST_BYTES)]  #: The Merkle leaf hash.
    loss: float  #: The loss.
    #: What following the log showed: :class:`Counts`, column by column.
    counts: Annotated[tuple[int, ...], Meta(max_length=len(COUNTED))]
    seconds: float  #: Wall-clock time.

    @classmethod
    def of(cls, step: int, leaf: Digest, loss: float, counts: Counts, seconds: float) -> Self:
        """Write down what a step gave."""
        return cls(step, leaf.value, loss, tuple(getattr(counts, name) for name in COUNTED), seconds)

    @property
    def counted(self) -> Counts:
        """What following the log showed."""
        return Counts(*self.counts)


class SegmentResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the replay of a segment gave, up to the first step that did not come out as the trainer signed it."""

    number: int  #: The segment.
    #: Its steps, ascending; a step whose leaf differs is the last.
    steps: Annotated[tuple[StepResult, ...], Meta(max_length=_MOST_RESULTS)]
    #: ``[sites, 6]``: the account of steering (:mod:`counterfoil_core.replay.steering`); empty under an exact profile.
    sums: Annotated[
        tuple[Annotated[tuple[int, ...], Meta(max_length=len(COUNTED))], ...], Meta(max_length=_MOST_RESULTS)
    ]
    #: Why there are no more steps, as a sentence; empty when there is no trouble.
    trouble: Annotated[str, Meta(max_length=LONGEST_TROUBLE)] = ""

    def same_as(self, other: SegmentResult) -> bool:
        """Whether another result says the same, times apart."""
        return self._timeless() == other._timeless()

    def _timeless(self) -> object:
        steps = [(one.step, one.leaf, np.float64(one.loss).tobytes(), one.counts) for one in self.steps]
        return self.number, steps, self.sums, self.trouble


# What somebody else found in a segment, or that nobody did.


@dataclass(frozen=True)
class Found:
    """What somebody found in a segment."""

    result: SegmentResult  #: What the replay gave.
    place: Place  #: Where it was replayed, as that one says.
    by: ReplayedBy  #: Who it was.


@dataclass(frozen=True)
class Missing:
    """Nobody's word on a segment can be taken."""

    why: str  #: Why, as a sentence; empty where it is nothing that anybody need be told.
    left_out: bool = False  #: Whether the audit is not to replay it either: it ended those who tried.
