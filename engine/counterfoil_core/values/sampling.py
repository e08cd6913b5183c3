"""Segments of a run, which of them an audit replays, and what a clean sample proves. Pure.

A segment leads from one stored state to the next: from the initial state or a checkpoint to the following checkpoint.
Each can be replayed by itself, since the state it starts from is committed to.

A random sample is drawn by ranking the segments by SHA-256 of a nonce, the run root and the segment's number, and
taking the first k. Where the nonce was not known when the trainer signed the run root, the trainer cannot know the
sample, nor search for a run root whose sample suits it; anyone who has nonce and run root can draw it again.

Of N segments with b bad ones, a sample of k without replacement misses all of them with the hypergeometric probability
C(N - b, k) / C(N, k).
"""

from __future__ import annotations

import hashlib
import heapq
import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import ceil, prod

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.bundle.extent import Extent
from counterfoil_core.values.beacon import Beacon
from counterfoil_core.values.outcome import Outcome

NONCE = re.compile(r"[0-9a-f]{64}")
"""What a nonce looks like: 32 bytes."""
_DOMAIN = b"counterfoil segment sample v1"
_LIST = re.compile(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*")
_FEW = say("Choose numbers as in 1,4,7-9, or a count, or all.")


class Selection(Enum):
    """How the segments of an audit were chosen."""

    ALL = "all"
    """Every segment."""
    RANDOM = "random"
    """By the auditor's nonce and the run root."""
    LISTED = "listed"
    """By the auditor, by number: says nothing about the others."""


class NonceSource(Enum):
    """Where the nonce of a random sample came from."""

    DRAWN = "drawn"
    """The audit drew it from the operating system, when it had read the signed run."""
    GIVEN = "given"
    """Somebody gave it to the audit, which does not know who else had it, and when."""
    BEACON = "beacon"
    """It is the randomness of a round of a public beacon."""


@dataclass(frozen=True)
class Segment:
    """A stretch of a run between two stored states."""

    number: int  #: From 1.
    first: int  #: Its first step.
    last: int  #: Its last step, after which a checkpoint is stored.

    @property
    def steps(self) -> int:
        """Number of steps."""
        return self.last - self.first + 1


def segment_count(extent: Extent) -> int:
    """Return the number of segments of a run."""
    return extent.checkpoint_count


def segment(extent: Extent, number: int) -> Segment:
    """Return a segment by its number, from 1; raises IndexError when there is none."""
    if not 1 <= number <= segment_count(extent):
        raise IndexError(number)
    last = min(number * extent.checkpoint_every, extent.steps)
    return Segment(number, extent.checkpoint_before(last) + 1, last)


Spans = tuple[tuple[int, int], ...]
"""Segments as first and last of each run of neighbours, ascending."""


@dataclass(frozen=True)
class Sample:
    """Which segments of a run an audit replays."""

    total: int  #: Number of segments of the run.
    spans: Spans  #: The chosen ones as first and last of each run of neighbours, ascending.
    selection: Selection  #: How they were chosen.
    nonce: str = ""  #: The auditor's nonce as hexadecimal digits; empty unless the selection is random.
    bad: int = 0  #: The number of bad segments for which :attr:`passing` is given; 0 unless the selection is random.
    source: NonceSource | None = None  #: Where the nonce came from; None unless the selection is random.
    beacon: Beacon | None = None  #: The round that it was taken from; None unless it was.

    @property
    def count(self) -> int:
        """Number of chosen segments."""
        return sum(last - first + 1 for first, last in self.spans)

    @property
    def whole(self) -> bool:
        """Whether every segment is replayed."""
        return self.count == self.total

    @property
    def reaches_end(self) -> bool:
        """Whether the last segment is replayed, which ends in the run's final state."""
        return self.spans[-1][1] == self.total

    @property
    def passing(self) -> float:
        """Probability that a run with :attr:`bad` bad segments shows none in such a sample; 1.0 unless random."""
        return passing_probability(self.total, self.bad, self.count) if self.bad else 1.0

    def step_spans(self, checkpoint_every: int, steps: int) -> Iterator[tuple[int, int]]:
        """Yield the first and the last step of each run of neighbouring segments, ascending.

        Args:
            checkpoint_every: Steps of a segment, but for the last.
            steps: Steps of the run.
        """
        for first, last in self.spans:
            yield (first - 1) * checkpoint_every + 1, min(last * checkpoint_every, steps)

    def numbers(self) -> Iterator[int]:
        """Yield the numbers of the chosen segments, ascending."""
        for first, last in self.spans:
            yield from range(first, last + 1)

    def describe(self) -> str:
        """How the segments were chosen, and what follows from finding nothing in them, as a sentence."""
        if self.whole:
            return say("These are all {0}.", _segments(self.total))
        if self.selection is Selection.RANDOM:
            return self._describe_random()
        return say(
            "The {0} of {1} were chosen by the auditor; nothing follows for the others.",
            self.count,
            _segments(self.total),
        )

    def _describe_random(self) -> str:
        total, plural, passing = _segments(self.total), "s" * (self.bad > 1), probability_text(self.passing)
        if self.source is NonceSource.DRAWN:
            return say(
                "The {0} of {1} were drawn at random after the run was signed; a run with at least {2} bad "
                "segment{3} would have passed with probability {4}.",
                self.count,
                total,
                self.bad,
                plural,
                passing,
            )
        if self.beacon is not None:
            return say(
                "The {0} of {1} were drawn by round {5} of the public beacon {6}, published at {7}; if the run was "
                "signed before that, a run with at least {2} bad segment{3} would have passed with probability {4}.",
                self.count,
                total,
                self.bad,
                plural,
                passing,
                self.beacon.round,
                self.beacon.name,
                timestamp(self.beacon.published),
            )
        return say(
            "The {0} of {1} were drawn with a nonce that was given to the audit; if the trainer could not know it "
            "before the run was signed, a run with at least {2} bad segment{3} would have passed with probability {4}.",
            self.count,
            total,
            self.bad,
            plural,
            passing,
        )


def _segments(count: int) -> str:
    return say("{0} segments", count) if count > 1 else say("{0} segment", count)


@dataclass(frozen=True)
class SegmentRequest:
    """Which segments an auditor wants replayed; without anything said, all.

    Raises:
        DataError: More than one of ``numbers``, ``count`` and ``confidence`` is given, or a number is out of range.
    """

    numbers: tuple[int, ...] = ()  #: These, by number.
    count: int | None = None  #: So many, at random.
    #: As many at random as it takes: a run with ``bad_fraction`` of bad segments is caught with at least this
    #: probability.
    confidence: float | None = None
    bad_fraction: float = 0.01  #: Share of bad segments that must not pass.
    #: Randomness of the auditor, 32 bytes as hexadecimal digits; drawn from the operating system when empty. An auditor
    #: who wants to show that the nonce was not picked for its result commits to it beforehand.
    nonce: str = ""
    beacon: Beacon | None = None  #: A round of a public beacon, whose randomness is the nonce.

    def __post_init__(self) -> None:
        if bool(self.numbers) + (self.count is not None) + (self.confidence is not None) > 1:
            raise DataError(say("Segments are chosen by number, by count, or by confidence; only one of them."))
        if self.count is not None and self.count < 1:
            raise DataError(say("A sample has at least one segment."), remedy=_FEW)
        if self.confidence is not None and not 0 < self.confidence < 1:
            raise DataError(
                say("A confidence lies between 0 and 1; {0} does not.", self.confidence),
                remedy=say("Choose one such as 0.99."),
            )
        if not 0 < self.bad_fraction <= 1:
            raise DataError(
                say("A bad fraction is more than 0 and at most 1; {0} is not.", self.bad_fraction),
                remedy=say("Choose one such as 0.01."),
            )
        if self.nonce and not NONCE.fullmatch(self.nonce):
            raise DataError(
                say("A nonce is 64 lower-case hexadecimal digits."), remedy=say("Leave it out to have one drawn.")
            )
        if self.nonce and self.beacon is not None:
            raise DataError(say("A nonce is given, or taken from a beacon, not both."))
        if (self.nonce or self.beacon is not None) and not self.random:
            raise DataError(say("A nonce draws a sample."), remedy=say("Choose a count or a confidence too."))

    @property
    def random(self) -> bool:
        """Whether the segments are chosen at random."""
        return self.count is not None or self.confidence is not None

    @property
    def draws(self) -> bool:
        """Whether the audit is to draw the nonce."""
        return self.random and not self.nonce and self.beacon is None

    @classmethod
    def parse(
        cls,
        text: str | None,
        confidence: float | None = None,
        bad_fraction: float = 0.01,
        nonce: str | None = None,
        beacon: Beacon | None = None,
    ) -> SegmentRequest:
        """Read what stands on the command line; nothing means all.

        Args:
            text: ``all``, a count (``5``), or numbers (``3,7-9``; a single one as ``7-7``).
            confidence: As the attribute.
            bad_fraction: As the attribute.
            nonce: As the attribute.
            beacon: As the attribute.

        Raises:
            DataError: It cannot be read, or does not fit together.
        """
        count: int | None = None
        numbers: tuple[int, ...] = ()
        if text is not None and re.fullmatch(r"[0-9]{1,9}", text):
            count = int(text)
        elif text not in (None, "all"):
            numbers = tuple(_listed(text or ""))
        if text is not None and confidence is not None:
            raise DataError(say("Segments are chosen by --segments or by --confidence, not by both."))
        return cls(numbers, count, confidence, bad_fraction, nonce or "", beacon)

    def resolve(self, extent: Extent, run_root: Digest, drawn: str = "") -> Sample:
        """Choose the segments of a run.

        Args:
            extent: Its steps.
            run_root: The signed run root.
            drawn: A nonce that was drawn for this run root already, if one is to be drawn.

        Raises:
            DataError: The run does not have so many segments.
        """
        total = segment_count(extent)
        if self.numbers:
            numbers = tuple(sorted(set(self.numbers)))
            if not 1 <= numbers[0] <= numbers[-1] <= total:
                raise DataError(say("The run has the segments 1 to {0}.", total), remedy=_FEW)
            return Sample(total, tuple(ranges(numbers)), Selection.LISTED)
        if self.count is None and self.confidence is None:
            return Sample(total, ((1, total),), Selection.ALL)
        bad = bad_segments(total, self.bad_fraction)
        count = self.count
        if count is None:
            assert self.confidence is not None
            count = sample_size(total, bad, self.confidence)
        if count > total:
            raise DataError(
                say("The run has {0} segments; {1} were asked for.", total, count), remedy=say("Ask for fewer, or all.")
            )
        if self.beacon is not None:
            nonce, source = self.beacon.nonce, NonceSource.BEACON
        elif self.nonce:
            nonce, source = self.nonce, NonceSource.GIVEN
        else:
            nonce, source = drawn or secrets.token_hex(32), NonceSource.DRAWN
        spans = tuple(ranges(draw_segments(total, count, nonce, run_root)))
        return Sample(total, spans, Selection.RANDOM, nonce, bad, source, self.beacon)


def planned_steps(extent: Extent, sample: Sample) -> int:
    """Return the number of steps in the segments of a sample."""
    return sum(segment(extent, last).last - segment(extent, first).first + 1 for first, last in sample.spans)


def _listed(text: str) -> Iterator[int]:
    if len(text) > 10_000 or not _LIST.fullmatch(text):
        raise DataError(say("The segments {0} cannot be read.", repr(text[:40])), remedy=_FEW)
    for part in text.split(","):
        first, _, last = part.partition("-")
        low, high = int(first), int(last or first)
        if not 1 <= low <= high < 10**9 or high - low >= 10**7:
            raise DataError(say("{0} is not a range of segments.", repr(part)), remedy=_FEW)
        yield from range(low, high + 1)


def headline(outcome: Outcome, sample: Sample | None, recorded: int, ordered: int) -> str:
    """The outcome in words: of a clean one it says for how much of the run, and of the order, it holds.

    Args:
        outcome: The outcome.
        sample: The chosen segments, if any were.
        recorded: Number of steps of the run.
        ordered: Number of steps of its order.
    """
    parts = []
    if sample is not None and not sample.whole:
        parts.append(say("{0} of {1}", sample.count, _segments(sample.total)))
    if recorded < ordered:
        parts.append(say("{0} of {1} ordered steps", recorded, ordered))
    if outcome is not Outcome.VERIFIED or not parts:
        return outcome.value
    return say("{0} for {1}", outcome.value, joined(*parts, between=", "))


def shortfall(recorded: int, ordered: int) -> str:
    """Say how many of the ordered steps a run has; empty where it has all."""
    return say("The run has {0} of {1} ordered steps.", recorded, ordered) if recorded < ordered else ""


def bad_segments(total: int, fraction: float) -> int:
    """Return how many segments a share of them is: rounded up, at least one. Exact.

    The share is the decimal number that was written, not the float64 next to it: 0.07 of 100 segments are 7.
    """
    return max(1, min(total, ceil(_decimal(fraction) * total)))


def draw_segments(total: int, count: int, nonce: str, run_root: Digest) -> tuple[int, ...]:
    """Draw ``count`` of the segments 1 to ``total`` from a nonce and a run root; ascending.

    Segment i has the rank SHA-256("counterfoil segment sample v1", nonce, run root, i as 8 bytes, little-endian); those
    of the lowest ranks are drawn.
    """
    prefix = hashlib.sha256(_DOMAIN + bytes.fromhex(nonce) + run_root.value)

    def rank(number: int) -> bytes:
        digest = prefix.copy()
        digest.update(number.to_bytes(8, "little"))
        return digest.digest()

    return tuple(sorted(heapq.nsmallest(count, range(1, total + 1), key=rank)))


def passing_probability(total: int, bad: int, count: int) -> float:
    """Return the probability C(N - b, k) / C(N, k) that a sample of k of N segments holds none of b bad ones.

    Multiplied up in a fixed order with IEEE-754 division and multiplication alone, so that every machine gets the same
    float64.
    """
    if not 0 <= bad <= total or not 0 <= count <= total:
        raise ValueError("the sample does not fit the run")
    # The roles of b and k can be exchanged; the shorter product is as good.
    few, many = min(bad, count), max(bad, count)
    probability = 1.0
    for i in range(few):
        probability *= max(total - many - i, 0) / (total - i)
        if probability == 0.0:
            break
    return probability


def sample_size(total: int, bad: int, confidence: float) -> int:
    """Return the least sample that catches a run with ``bad`` bad segments with at least this probability. Exact."""
    low, high = 1, total - bad + 1  # One more than the good ones holds a bad one for certain.
    while low < high:
        middle = (low + high) // 2
        if 1.0 - passing_probability(total, bad, middle) >= confidence:
            high = middle
        else:
            low = middle + 1
    # Float64 numbers lead there, or next to it.
    allowed = 1 - _decimal(confidence)
    while low < total - bad + 1 and not _passes_at_most(total, bad, low, allowed):
        low += 1
    while low > 1 and _passes_at_most(total, bad, low - 1, allowed):
        low -= 1
    return low


def _decimal(number: float) -> Fraction:
    """The decimal number that a float64 was written as."""
    return Fraction(repr(number))


def _passes_at_most(total: int, bad: int, count: int, allowed: Fraction) -> bool:
    """Whether :func:`passing_probability` is at most a number, in integers."""
    few, many = min(bad, count), max(bad, count)
    missing = prod(max(total - many - i, 0) for i in range(few))
    return missing * allowed.denominator <= allowed.numerator * prod(total - i for i in range(few))


def probability_text(probability: float) -> str:
    """Write a probability with three significant digits, never as plain 0 or 1 unless it is."""
    if probability in (0.0, 1.0):
        return say("{0:.0f}", probability)
    return say("{0:.3g}", probability) if probability < 0.9995 else say("1 - {0:.2g}", 1 - probability)


def ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Merge ascending numbers into first and last of each run of neighbours, so that a million of them stay short."""
    merged: list[tuple[int, int]] = []
    for number in numbers:
        if merged and number == merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], number)
        else:
            merged.append((number, number))
    return merged
