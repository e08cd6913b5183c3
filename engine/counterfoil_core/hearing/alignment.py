"""Where the replay stands within a segment: on the trainer's states, on its own, or nowhere. Pure.

A segment starts from a state that the trainer signed. While every step gives the state that the trainer signed, the
replay *agrees*. From a step on that gives another one it *drifts*: it goes on from its own state, which says how far
the two part, and judges nobody by it. Where a log cannot be read, or a drifting replay runs out of numbers, it has
*ended*: there is no state to go on from until the next stored one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from counterfoil_core.values.steptable import StepMatch

StateT = TypeVar("StateT")


@dataclass(frozen=True)
class Agreed(Generic[StateT]):
    """The state is the one that the trainer signed."""

    state: StateT  #: After the last step.
    committed: StateT  #: After the last step whose state is digested: where a dispute about the next step starts from.


@dataclass(frozen=True)
class Drifting(Generic[StateT]):
    """The replay has parted from the trainer, and goes on from its own state."""

    state: StateT


@dataclass(frozen=True)
class Ended:
    """There is no state to go on from."""


@dataclass(frozen=True)
class Reached(Generic[StateT]):
    """What a step that was replayed came to."""

    state: StateT  #: The state after it.
    agrees: bool  #: Whether that is what the trainer signed, as far as the step's record tells.
    committed: bool  #: Whether the state after this step is digested.


@dataclass(frozen=True)
class Lost:
    """The step could not be replayed: its log cannot be read, or its values are no numbers any more."""


def match_of(alignment: Agreed[StateT] | Drifting[StateT] | Ended, equal: bool) -> StepMatch:
    """Return what a step is worth: only one that starts from the agreed state judges the trainer.

    Args:
        alignment: Where the replay stood before it.
        equal: Whether its leaf is the trainer's.
    """
    if not isinstance(alignment, Agreed):
        return StepMatch.UNJUDGED
    return StepMatch.MATCH if equal else StepMatch.MISMATCH


def after(
    alignment: Agreed[StateT] | Drifting[StateT] | Ended, found: Reached[StateT] | Lost
) -> Agreed[StateT] | Drifting[StateT] | Ended:
    """Return where the replay stands after a step."""
    if isinstance(alignment, Ended) or isinstance(found, Lost):
        return Ended()
    if isinstance(alignment, Drifting) or not found.agrees:
        return Drifting(found.state)
    return Agreed(found.state, found.state if found.committed else alignment.committed)
