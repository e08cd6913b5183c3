"""Judging one step: replay, compare, and look twice before anybody is accused."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch

from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import LogError, NonFiniteError, ProgramError
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.commit.merkle import MerkleComparison, leaf_hash
from counterfoil_core.judge.arbiter import arbitrate
from counterfoil_core.judge.exact_arbiter import arbitrate_exactly
from counterfoil_core.judge.findings import no_such_state, repeated_omissions, unreadable_log
from counterfoil_core.judge.locate import differing_inputs, first_differing_operator
from counterfoil_core.kernels.result import Counts
from counterfoil_core.program.graph import Program
from counterfoil_core.replay.replayer import (
    Job,
    NoResult,
    ReplayedStep,
    StepReplayer,
    differing_parts,
)
from counterfoil_core.replay.shares import SharedJob, State, UpdateJob
from counterfoil_core.values.dispute import Dispute, Finding, Right, accuses, stands_alone
from counterfoil_core.values.events import Event

Fingerprints = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class DisputedPart:
    """The part of a step with shares that differs."""

    name: str  #: Its name: a share, the combination, the update.
    program: Program | None = None  #: Its program; None of the combination, and where its log cannot be read.
    claimed: StepRecord | None = None  #: The trainer's record of it, as that of a step.
    fingerprints: Fingerprints | None = None  #: uint64 ``[places]``: the trainer's fingerprints of it.
    outcome: ReplayedStep | None = None  #: The replay of it; None where it came to no result.
    #: What a capsule of it is about: the number of the share, what the update takes, or the name of the first tensor of
    #: which the combination differs; of an update whose log cannot be read, what lies before it. None where that is not
    #: known.
    about: int | UpdateJob | str | None = None
    #: Of the combination, a share of which its party signed that it added something else than it gives.
    adder: int | None = None


@dataclass(frozen=True)
class SecondLook:
    """What a closer look at a step whose leaf differs brought."""

    #: Whether a second replay in another order of summation gave this machine's leaf again; also when the log cannot be
    #: read, so that there was nothing to replay.
    confirmed: bool
    finding: Finding | None  #: What is proven; None when this machine's result was not confirmed.
    #: The step as the trainer has it, where rounding explains the whole difference.
    reached: ReplayedStep | None = None
    end: NoResult | None = None  #: Where the step ended, when it came to no result here.
    part: DisputedPart | None = None  #: The part of the step that differs, where shares make it.

    @property
    def accuses(self) -> bool:
        """Whether the step is not what was ordered, beyond what any conforming machine gives."""
        return accuses(self.confirmed, None if self.finding is None else self.finding.right)

    @property
    def stands_alone(self) -> bool:
        """Whether it accuses, and this step alone shows it."""
        return stands_alone(self.confirmed, None if self.finding is None else self.finding.right)

    @property
    def share(self) -> int | None:
        """The share whose party answers for the difference, if there is a party: what it gives, or what was added."""
        if self.part is None:
            return None
        return self.part.about if isinstance(self.part.about, int) else self.part.adder

    @property
    def omits(self) -> bool:
        """Whether decisions are missing in the step's log that every conforming recorder writes down."""
        return self.finding is not None and self.finding.right is Right.OMISSION

    def with_omissions(self, steps: Sequence[int]) -> SecondLook:
        """Return the look, or an accusation where it is one omission too many.

        Args:
            steps: The steps of one trainer in whose logs decisions are missing, this one among them; ascending.
        """
        if self.finding is None or not self.omits:
            return self
        return replace(self, finding=repeated_omissions(self.finding, steps))


@dataclass(frozen=True)
class Judgement:
    """Whether a step is what was ordered, judged from an agreed state and the trainer's own log."""

    step: ReplayedStep | None  #: The replayed step; None where the log cannot be read, or the step comes to no result.
    look: SecondLook | None  #: The closer look; None where the replay's leaf is the trainer's.

    @property
    def right(self) -> bool:
        """Whether the replay's leaf is the trainer's."""
        return self.look is None

    @property
    def accuses(self) -> bool:
        """Whether the step is not what was ordered, beyond what any conforming machine gives."""
        return self.look is not None and self.look.accuses

    @property
    def agreed(self) -> ReplayedStep | None:
        """The step that replay and trainer agree on, rounding apart; None when they do not."""
        return self.step if self.look is None else self.look.reached

    @property
    def counts(self) -> Counts:
        """What following the log showed; it counts only when the leaves agree."""
        return self.step.total if self.step and self.right else Counts()


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
        return SecondLook(False, None)
    if isinstance(steps.job.manifest.precision, ExactPrecision):
        return SecondLook(True, (yield from arbitrate_exactly(steps, claimed, state, fingerprints, outcome)))
    arbitration = yield from arbitrate(steps, claimed, state, logs, outcome, fingerprints)
    return SecondLook(True, arbitration.finding, arbitration.reached)


def look_at_end(
    steps: StepReplayer, claimed: StepRecord, state: State, logs: Sequence[SiteLog], fingerprints: Fingerprints
) -> Generator[Event, None, SecondLook]:
    """Look closer at a step that comes to no result here, although the trainer signed one.

    Where it ends by other algorithms too, the first place before that which differs is judged as in any other step; if
    none does, whether any conforming machine can come to a result.
    """
    end = yield from steps.end(claimed, state, logs)
    if end is None:
        return SecondLook(False, None)
    if isinstance(steps.job.manifest.precision, ExactPrecision):
        finding = yield from arbitrate_exactly(steps, claimed, state, fingerprints, end)
        return SecondLook(True, finding, end=end)
    arbitration = yield from arbitrate(steps, claimed, state, logs, end, fingerprints)
    return SecondLook(True, arbitration.finding, arbitration.reached, end)


def look_at_state(job: Job, step: int, state: State) -> SecondLook | None:
    """Look at a state from which a replay is to go on: one that no step leaves shows that nobody recorded the next.

    Args:
        job: What was ordered.
        step: The step after which the trainer signed it; not 0, which is the client's.
        state: It.
    """
    # A capsule holds the programs of the steps behind the state: which tensors another one changed is not known then.
    updates = job.updates if isinstance(job, SharedJob) else None
    programs = [turns.parts.get(turns.name(step)) for turns in (job.programs, updates) if turns is not None]
    changed = {name for program in programs if program is not None for name in program.updates}
    names = [
        name
        for name, tensor in sorted(state.items())
        if name in changed and tensor.is_floating_point() and not bool(torch.isfinite(tensor).all())
    ]
    if not names:
        return None
    nothing = np.zeros(len(job.programs.of(step + 1).places), np.uint64)
    return SecondLook(True, no_such_state(names, step), end=NoResult(None, 0, nothing))


def no_result(
    step: int, error: NonFiniteError | ProgramError, look: SecondLook | None
) -> NonFiniteError | ProgramError:
    """Return the error for a step that comes to no result here, which accuses nobody."""
    made = ProgramError if isinstance(error, ProgramError) else NonFiniteError
    return made(
        joined(
            say("Step {0} cannot be replayed, although the trainer recorded it. {1}", step, error.sentence),
            "" if look is None or look.finding is None else look.finding.sentence,
        ),
        remedy=say("Replay the run on another machine; if it ends there too, ask the trainer how it went on."),
        detail=error.detail,
    )


def unreadable(step: int, error: LogError) -> SecondLook:
    """What there is to say of a step whose log cannot be read: there is nothing to replay it with."""
    return SecondLook(True, unreadable_log(step, error.sentence))


def dispute_of(
    program: Program | None,
    claimed: StepRecord,
    proof: Sequence[Digest],
    fingerprints: Fingerprints,
    outcome: ReplayedStep | None,
    look: SecondLook,
    path: Sequence[MerkleComparison] = (),
) -> Dispute:
    """Describe a step that differs.

    Args:
        program: The program of the step; None where a part without one is judged by itself.
        claimed: The trainer's record of the step.
        proof: Inclusion proof of its leaf in the signed run root.
        fingerprints: uint64 ``[places]``: the trainer's fingerprints.
        outcome: The replay of it; None where the log cannot be read, or the step came to no result.
        look: The closer look.
        path: The comparisons that lead from the run root to the leaf.
    """
    part, played = look.part, outcome
    parts = parts_of(claimed, outcome, look)
    if part is not None:
        # Which operator differs is to be seen in the part that does.
        theirs = np.zeros(0, np.uint64) if part.fingerprints is None else part.fingerprints
        program, fingerprints, played = part.program or program, theirs, part.outcome
    theirs, ours = fingerprints, fingerprints if played is None else played.fingerprints
    if look.end is not None:
        ours = _up_to_the_end(theirs, look.end)
    return Dispute(
        step=claimed.step,
        trainer_leaf=leaf_hash(claimed.to_bytes()),
        replay_leaf=None if outcome is None else outcome.leaf,
        parts=parts,
        path=tuple(path),
        inclusion_proof=tuple(proof),
        compared_at=None,
        tensors=(),
        trainer_loss=float("nan") if claimed.loss is None else claimed.loss,
        replay_loss=float("nan") if outcome is None else outcome.result.loss,
        confirmed=look.confirmed,
        operator=None if program is None else first_differing_operator(program, theirs, ours),
        finding=look.finding,
        inputs=() if program is None else differing_inputs(program, theirs, ours),
        part="" if part is None else part.name,
    )


def parts_of(claimed: StepRecord, outcome: ReplayedStep | None, look: SecondLook) -> tuple[str, ...]:
    """Return which parts of a leaf differ: as :attr:`Dispute.parts`."""
    if outcome is not None:
        return differing_parts(claimed, outcome.record)
    return ("log",) if look.end is None else ("result",)


def _up_to_the_end(theirs: Fingerprints, end: NoResult) -> Fingerprints:
    """Return the fingerprints of a step that ended: where it did the place differs, and after that nothing is known."""
    ours = theirs.copy()
    ours[: end.known] = end.fingerprints[: end.known]
    if end.node is not None and end.known < len(ours) and np.array_equal(ours, theirs):
        ours[end.known] = ~ours[end.known]
    return ours
