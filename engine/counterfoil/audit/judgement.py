"""Judging one step: replay, compare, and look twice before anybody is accused."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterfoil.audit.arbiter import arbitrate
from counterfoil.audit.events import Event, Finding, accuses
from counterfoil.audit.steps import ReplayedStep, State, StepReplayer
from counterfoil.bundle.schema import StepRecord
from counterfoil.commit.merkle import leaf_hash
from counterfoil.rounding.log import SiteLog

Fingerprints = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class SecondLook:
    """What a closer look at a step whose leaf differs brought.

    Attributes:
        confirmed: Whether a second replay in another order of summation gave this machine's leaf again.
        finding: What exact arithmetic says; None when this machine's result was not confirmed.
        reached: The step as the trainer has it, where rounding within the margin explains the whole difference.
    """

    confirmed: bool
    finding: Finding | None
    reached: ReplayedStep | None


@dataclass(frozen=True)
class Judgement:
    """Whether a step is what was ordered, judged from an agreed state and the trainer's own log.

    Attributes:
        step: The replayed step.
        look: The closer look; None where the replay's leaf is the trainer's.
    """

    step: ReplayedStep
    look: SecondLook | None

    @property
    def right(self) -> bool:
        """Whether the replay's leaf is the trainer's."""
        return self.look is None

    @property
    def confirmed(self) -> bool:
        """Whether this machine gives its own result again; it does where that is the trainer's."""
        return self.look is None or self.look.confirmed

    @property
    def accuses(self) -> bool:
        """Whether the step is not what was ordered, beyond the doubt that this machine or the margin leave."""
        if self.look is None:
            return False
        return accuses(self.look.confirmed, None if self.look.finding is None else self.look.finding.right)

    @property
    def agreed(self) -> ReplayedStep | None:
        """The step that replay and trainer agree on, rounding within the margin apart; None when they do not."""
        return self.step if self.look is None else self.look.reached

    @property
    def contradictions(self) -> int:
        """Contradictions of the log; they count only when the leaves agree."""
        return sum(count.contradictions for count in self.step.counts) if self.right else 0

    @property
    def corrections(self) -> int:
        """Rounding decisions that this machine took from the log; they count only when the leaves agree."""
        return sum(count.corrections for count in self.step.counts) if self.right else 0


def judge(
    steps: StepReplayer, claimed: StepRecord, state: State, logs: Sequence[SiteLog], fingerprints: Fingerprints
) -> Generator[Event, None, Judgement]:
    """Replay a step, compare its leaf with the claimed one, and look closer where it differs.

    Args:
        steps: Replays the step.
        claimed: The trainer's record of it.
        state: The agreed state before it.
        logs: The trainer's log of it.
        fingerprints: uint64 ``[places]``: the trainer's fingerprints.

    Raises:
        CancelledError: The replayer's token was cancelled.
        NonFiniteError: The step leads to a value that does not fit float32.
    """
    outcome = yield from steps.replay(claimed, state, logs)
    if outcome.leaf == leaf_hash(claimed.to_bytes()):
        return Judgement(outcome, None)
    return Judgement(outcome, (yield from second_look(steps, claimed, state, logs, outcome, fingerprints)))


def second_look(
    steps: StepReplayer,
    claimed: StepRecord,
    state: State,
    logs: Sequence[SiteLog],
    outcome: ReplayedStep,
    fingerprints: Fingerprints,
) -> Generator[Event, None, SecondLook]:
    """Look closer at a step whose leaf differs: a replay in another order of summation, then exact arithmetic."""
    if not (yield from steps.confirm(claimed, state, logs, outcome)):
        return SecondLook(False, None, None)
    arbitration = yield from arbitrate(steps, claimed, state, logs, outcome, fingerprints)
    return SecondLook(True, arbitration.finding, arbitration.reached)
