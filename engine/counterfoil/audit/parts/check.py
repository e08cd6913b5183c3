"""Whether what a worker says of a segment can be taken: pure, and the only way by which it counts.

What is taken has, in every step, the Merkle leaf that the trainer signed, and a log without a fault. Anything else is
left to the audit's own replay.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from counterfoil.audit.parts.result import SegmentResult
from counterfoil.audit.values.sampling import Segment
from counterfoil.commit.digest import Digest
from counterfoil.sentence import say

_COLUMNS = ("entries", "corrections", "steerable", "steered")
"""What a step counts and the account of steering adds up site by site, in the account's order."""


def unfit(result: SegmentResult, part: Segment, sites: int | None, leaf: Callable[[int], Digest]) -> str:
    """Return why a segment cannot be taken from a worker, in a few words; empty when it can.

    Args:
        result: What the worker said.
        part: The segment.
        sites: Number of rounding sites; None under an exact profile, which keeps no account.
        leaf: The trainer's Merkle leaf hash of a step.
    """
    if result.number != part.number:
        return "it is another segment"
    if result.trouble:
        return result.trouble
    if [step.step for step in result.steps] != list(range(part.first, part.last + 1)):
        return "its steps are not those of the segment"
    for step in result.steps:
        if step.leaf != leaf(step.step).value:
            return f"step {step.step} differs"
        if len(step.counts) != len(_COUNTS) or min(step.counts) < 0:
            return f"the counts of step {step.step} cannot be"
        counts = step.counted
        if counts.contradictions or counts.omissions or counts.steered:
            return f"the log of step {step.step} is at fault"
    return _unbalanced(result, sites)


_COUNTS = ("entries", "corrections", "contradictions", "omissions", "steerable", "steered", "ties", "broken_ties")


def _unbalanced(result: SegmentResult, sites: int | None) -> str:
    """Whether the account of steering is that of another program, or does not add up to the steps."""
    if sites is None:
        return "it accounts for a log that there is not" if result.sums else ""
    if len(result.sums) != sites or any(len(row) != 6 or min(row) < 0 for row in result.sums):
        return "its account has other rounding sites"
    table = np.array(result.sums, np.object_).reshape(sites, 6)
    for column, name in enumerate(_COLUMNS):
        if sum(table[:, column]) != sum(getattr(step.counted, name) for step in result.steps):
            return f"its account of {name} does not add up"
    return ""


def parted(one: SegmentResult, other: SegmentResult) -> str:
    """Return where two replays of a segment part, in a few words; empty when they do not.

    Both came out right. What all machines agree upon is compared: leaf and loss, and how many decisions are logged. How
    many of these a machine would have rounded otherwise is its own.
    """
    pairs = zip(one.steps, other.steps, strict=False)
    for mine, theirs in pairs:
        if (mine.step, mine.leaf, np.float64(mine.loss).tobytes(), mine.counted.entries) != (
            theirs.step,
            theirs.leaf,
            np.float64(theirs.loss).tobytes(),
            theirs.counted.entries,
        ):
            return say("step {0} differs", mine.step)
    if len(one.steps) != len(other.steps):
        return say("the number of steps differs")
    return ""
