"""How large a program may be that somebody computes for a stranger: estimated and compared before anything is run.

A program of a few lines can ask for a year of computing and all memory that there is. Nobody is to blame for a large
order, so one that is larger than the limits is not refused: it is not computed unless whoever computes it allows it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

from counterfoil_core.base.canonical import MAX_BYTES, MAX_VALUES
from counterfoil_core.base.errors import LimitError, ProgramError
from counterfoil_core.base.memory import memory_total
from counterfoil_core.base.sentence import say

MAX_OPERATORS = 200_000
"""Most operators of a program that is read at all."""
_VALUES_PER_OPERATOR = 40
"""JSON values that a node takes at most, on average; those of GPT-2 take 29."""
_BYTES_PER_OPERATOR = 400
"""Bytes that it takes so; those of GPT-2 take 190."""
_REMEDY = say(
    "Nothing was computed. If you trust the order, and this machine has the memory and the time for it, allow "
    "large programs: with --allow-large on the command line, or in the plan of the window."
)


@dataclass(frozen=True)
class Estimate:
    """What a step of a program takes, as its declared shapes say."""

    operators: int  #: Number of operators.
    tensors: int  #: Number of values: inputs, and outputs of operators.
    #: Memory at the fullest moment: the values that are alive, what an operator may copy of the views that it reads,
    #: and under an exact profile what it needs inside (:mod:`counterfoil_core.program.workspaces`). A second replay in
    #: another order, and what a library needs for itself, are not counted.
    bytes: int
    flops: int  #: Floating-point operations.
    total_bytes: int  #: Size of all values that are computed, alive at once or not.


def largest_estimate(estimates: Sequence[Estimate]) -> Estimate:
    """Return the most that any of the steps takes, each count by itself."""
    return Estimate(*(max(getattr(found, item.name) for found in estimates) for item in fields(Estimate)))


@dataclass(frozen=True)
class Limits:
    """The largest program that is computed.

    The defaults leave room for a step of GPT-2 of 124 million parameters on 8 sequences of 512, a few hundred times
    over in time and ten times in memory.
    """

    operators: int = 50_000  #: Operators.
    tensors: int = 200_000  #: Values.
    bytes: float = 256 * 2**30  #: Memory of a step at its fullest moment.
    flops: float = 1e15  #: Floating-point operations of a step.

    @property
    def values(self) -> int:
        """JSON values that a program may have."""
        return max(MAX_VALUES, _VALUES_PER_OPERATOR * self.operators)

    @property
    def text(self) -> int:
        """Bytes that its JSON may have."""
        return max(MAX_BYTES, _BYTES_PER_OPERATOR * self.operators)


LARGE = Limits(MAX_OPERATORS, 100 * MAX_OPERATORS, math.inf, math.inf)
"""The limits of the format alone, for who allows large programs."""


def limits_for(allow_large: bool) -> Limits:
    """Return the limits under which a program is computed on this machine: it takes no more memory than there is."""
    if allow_large:
        return LARGE
    return Limits(bytes=min(Limits.bytes, memory_total() or math.inf))


def check_operators(count: int, limits: Limits) -> None:
    """Compare the number of operators with the limits, before a program is parsed.

    Raises:
        ProgramError: No program may have so many.
        LimitError: It has more than the limits allow.
    """
    if count > MAX_OPERATORS:
        raise ProgramError(say("The program has {0} operators; the limit is {1}.", count, MAX_OPERATORS))
    if count > limits.operators:
        raise LimitError(
            say("The program has {0:,} operators; the limit is {1:,}.", count, limits.operators), remedy=_REMEDY
        )


def check_estimate(estimate: Estimate, limits: Limits) -> None:
    """Compare an estimate with the limits.

    Raises:
        LimitError: The program is larger; the sentence says in what.
    """
    check_operators(estimate.operators, limits)
    if estimate.tensors > limits.tensors:
        raise LimitError(
            say("The program has {0:,} values; the limit is {1:,}.", estimate.tensors, limits.tensors), remedy=_REMEDY
        )
    if estimate.bytes > limits.bytes:
        raise LimitError(
            say(
                "A step of the program takes about {0:,.1f} GiB of memory; the limit is {1:,.0f} GiB.",
                estimate.bytes / 2**30,
                limits.bytes / 2**30,
            ),
            remedy=_REMEDY,
        )
    if estimate.flops > limits.flops:
        raise LimitError(
            say(
                "A step of the program takes about {0:.2g} floating-point operations; the limit is {1:.2g}.",
                estimate.flops,
                limits.flops,
            ),
            remedy=_REMEDY,
        )
