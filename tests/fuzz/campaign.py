"""Runs cases of a target, and counts how they end."""

from __future__ import annotations

import gc
import hashlib
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from fuzz.targets import Target

SLOWEST_SECONDS = 5.0
"""Processor time that no case may take."""
LARGEST_GROWTH = 512 * 2**20
"""Bytes by which no case may make the process larger."""
_STORIES = 20


@dataclass
class Tally:
    """How the cases of a target ended.

    Attributes:
        outcomes: How often each outcome came about; those of :meth:`Target.outcome`, and ``failed``.
        failures: What is wrong, a sentence for each of the first cases that failed.
        slowest: Processor seconds of the slowest case.
        growth: By how many bytes the process became larger than it was before the first case.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0
    growth: int = 0

    def add(self, other: Tally) -> None:
        """Add the cases of another part of the same target."""
        self.outcomes += other.outcomes
        self.failures = [*self.failures, *other.failures][:_STORIES]
        self.slowest = max(self.slowest, other.slowest)
        self.growth = max(self.growth, other.growth)

    def fail(self, story: str) -> None:
        """Count a case that failed."""
        self.outcomes["failed"] += 1
        if len(self.failures) < _STORIES:
            self.failures.append(story)

    @property
    def cases(self) -> int:
        """How many cases there were."""
        return sum(self.outcomes.values())


def case(target: Target, seed: int, number: int) -> tuple[bytes, bytes]:
    """Return what is changed in a case, and what it is changed to; the same for the same numbers."""
    chance = random.Random(f"{target.name} {seed} {number}")
    original = chance.choice(target.seeds)
    return original, target.spoil(original, chance)


def run(target: Target, seed: int, first: int, count: int, begin: Callable[[int], None] = lambda number: None) -> Tally:
    """Try cases ``first`` to ``first + count - 1``; ``begin`` is called before each, with its number."""
    tally = Tally()
    before = _most_memory()
    for number in range(first, first + count):
        begin(number)
        original, spoiled = case(target, seed, number)
        name = f"{target.name}, case {number} of seed {seed} (SHA-256 {hashlib.sha256(spoiled).hexdigest()[:12]})"
        start = time.process_time()
        try:
            outcome = target.outcome(original, spoiled)
        except Exception as error:  # the point is to find out which escape
            tally.fail(f"{name}: {type(error).__name__}: {str(error)[:200]}")
        else:
            tally.outcomes[outcome] += 1
        took = time.process_time() - start
        if took > SLOWEST_SECONDS:
            tally.fail(f"{name}: took {took:.1f} s")
        if _most_memory() - before > max(tally.growth, LARGEST_GROWTH):
            tally.fail(f"{name}: took {(_most_memory() - before) >> 20} MiB")
        tally.slowest = max(tally.slowest, took)
        tally.growth = max(tally.growth, _most_memory() - before)
    gc.collect()
    return tally


def _most_memory() -> int:
    """The most memory that this process has had, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
