"""Whether what a worker says of a segment can be taken: pure, and the only way by which it counts.

What is taken has, in every step, the Merkle leaf and the loss that the trainer signed, exactly the log entries that the
signed log has at every rounding site, and a log without a fault. Anything else is left to the audit's own replay. What
no run can bind, since each machine has its own, is bounded: corrections and steerable entries are entries.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from counterfoil_core.base.digest import Digest
from counterfoil_core.hearing.result import COUNTED, SegmentResult, StepResult
from counterfoil_core.kernels.result import Counts
from counterfoil_core.replay.steering import COLUMNS
from counterfoil_core.values.sampling import Segment


@dataclass(frozen=True)
class SignedStep:
    """What the trainer signed of a step, as the audit itself reads it from the run."""

    leaf: Digest  #: The Merkle leaf hash.
    loss: float  #: The loss.
    first_site: int  #: Where the rounding sites of its program begin among those of all programs.
    entries: tuple[int, ...]  #: How many entries the log has at each of them.


def unfit(result: SegmentResult, part: Segment, sites: int | None, signed: Callable[[int], SignedStep]) -> str:
    """Return why a segment cannot be taken from a worker, in a few words; empty when it can.

    Args:
        result: What the worker said.
        part: The segment.
        sites: Number of rounding sites; None under an exact profile, which keeps no account.
        signed: What the trainer signed of a step; called for steps that the worker says came out right.
    """
    if result.number != part.number:
        return "it is another segment"
    if result.trouble:
        return result.trouble
    if [step.step for step in result.steps] != list(range(part.first, part.last + 1)):
        return "its steps are not those of the segment"
    entries = np.zeros(sites or 0, np.int64)
    for step in result.steps:
        own = signed(step.step)
        why = _wrong(step, own)
        if why:
            return why
        entries[own.first_site : own.first_site + len(own.entries)] += np.array(own.entries, np.int64)
    return _unbalanced(result, sites, entries.tolist())


def _wrong(step: StepResult, signed: SignedStep) -> str:
    """Why a step cannot be taken."""
    if step.leaf != signed.leaf.value:
        return f"step {step.step} differs"
    if np.float64(step.loss).tobytes() != np.float64(signed.loss).tobytes():
        return f"the loss of step {step.step} is not the one in its leaf"
    if len(step.counts) != len(COUNTED) or not (math.isfinite(step.seconds) and step.seconds >= 0):
        return f"the counts of step {step.step} cannot be"
    counts = step.counted
    if counts.entries != sum(signed.entries):
        return f"the log of step {step.step} has another number of entries"
    if _impossible(counts):
        return f"the counts of step {step.step} cannot be"
    if counts.contradictions or counts.omissions or counts.steered:
        return f"the log of step {step.step} is at fault"
    return ""


def _impossible(counts: Counts) -> bool:
    """Whether a part is larger than its whole. An entry is steerable, or a tie, or neither."""
    return (
        min(getattr(counts, name) for name in COUNTED) < 0
        or max(counts.corrections, counts.steerable + counts.ties) > counts.entries
        or counts.steered > min(counts.steerable, counts.corrections)
        or counts.broken_ties > min(counts.ties, counts.corrections)
    )


def _unbalanced(result: SegmentResult, sites: int | None, entries: list[int]) -> str:
    """Whether the account of steering is that of another program or log, or does not add up to the steps."""
    if sites is None:
        return "it accounts for a log that there is not" if result.sums else ""
    if len(result.sums) != sites or any(len(row) != len(COLUMNS) for row in result.sums):
        return "its account has other rounding sites"
    for row, logged in zip(result.sums, entries, strict=True):
        if row[0] != logged or _impossible(Counts(**dict(zip(COLUMNS, row, strict=True)))):
            return "its account is not that of the log"
    for column, name in enumerate(COLUMNS):
        if sum(row[column] for row in result.sums) != sum(getattr(step.counted, name) for step in result.steps):
            return f"its account of {name} does not add up"
    return ""
