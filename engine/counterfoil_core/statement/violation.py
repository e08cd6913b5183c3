"""How a rule of a signed statement says that it is broken. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from counterfoil_core.base.sentence import say
from counterfoil_core.statement.judgement import Signed

Broken = Iterator[str]
"""Sentences that say what is broken; none when the rule is kept."""


def contradiction(said: Signed, words: str) -> str:
    """Say that a statement contradicts itself, and in what."""
    return say("The {0} contradicts itself: {1}.", said.kind, words)


def outside(field: str, what: str, number: int, low: int, high: int) -> Broken:
    """Yield a sentence where a number does not lie in ``low`` to ``high``, both included."""
    if not low <= number <= high:
        yield say("The field {0} of the {1} is {2}; it must lie in {3} to {4}.", repr(field), what, number, low, high)


def not_spans(spans: Sequence[tuple[int, int]], high: int, what: str) -> Broken:
    """Yield what is wrong with ranges that must lie in 1 to ``high``, ascending and apart."""
    if not all(1 <= first <= last <= high for first, last in spans):
        yield say("The verdict's {0} are not ranges of 1 to {1}.", what, high)
    if any(later[0] <= earlier[1] + 1 for earlier, later in pairwise(spans)):
        yield say("The verdict's {0} are not in order.", what)
