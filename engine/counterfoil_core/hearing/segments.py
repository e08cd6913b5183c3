"""The replay of one segment: executes what was ordered, step by step, and compares every Merkle leaf."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

import torch

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CommitmentError, CounterfoilError, LogError, NonFiniteError, ProgramError
from counterfoil_core.bundle.capsule import CapsuleContents
from counterfoil_core.commit.merkle import MerkleComparison, MerkleTree, first_difference
from counterfoil_core.hearing.check import SignedStep
from counterfoil_core.hearing.evidence import gather, gather_part
from counterfoil_core.hearing.inspection import Inspection
from counterfoil_core.hearing.knowledge import DecisionsOmitted, Divergence, Ledger, SharesMatched, Trouble
from counterfoil_core.hearing.result import SegmentResult
from counterfoil_core.hearing.work import Opened
from counterfoil_core.judge.compare import compare_states, detail_difference
from counterfoil_core.judge.judgement import (
    DisputedPart,
    SecondLook,
    dispute_of,
    look_at_state,
    no_result,
)
from counterfoil_core.judge.looks import added_tensor, judge_unreadable, look_closer
from counterfoil_core.kernels.result import Counts
from counterfoil_core.replay.replayer import Ahead, Arrays, ReplayedStep, StepEndedError, differing_parts
from counterfoil_core.replay.sharedreplay import SharedReplayer, entries_of, read_logs
from counterfoil_core.replay.shares import AnyLogs, PartLogError, SharedLogs, State
from counterfoil_core.replay.steering import Account, SteeringSites, rounded_values
from counterfoil_core.values.dispute import TensorDivergence
from counterfoil_core.values.events import (
    DisputeLocated,
    DivergenceMeasured,
    Event,
    ResumedFromCheckpoint,
    StepReplayed,
)
from counterfoil_core.values.outcome import CheckNumber, CheckState
from counterfoil_core.values.sampling import Segment
from counterfoil_core.values.steptable import StepMatch, StepRow

# Where the replay stands within a segment: on the trainer's states, on its own, or nowhere. Pure. A segment starts from
# a state that the trainer signed. While every step gives the state that the trainer signed, the replay *agrees*. From a
# step on that gives another one it *drifts*: it goes on from its own state, which says how far the two part, and judges
# nobody by it. Where a log cannot be read, or a drifting replay runs out of numbers, it has *ended*: there is no state
# to go on from until the next stored one.

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


Alignment = Agreed[State] | Drifting[State] | Ended
DETAILED = 32
"""Differing tensors of a dispute that are described down to single elements."""


class SegmentReplay:
    """Replays segments here, ascending.

    Each starts from the agreed state before it: the replay's own where it came to it, else the trainer's stored one.

    Args:
        inspection: The audited run, checks 1 to 6 passed; None of one that nobody has signed yet, of which no evidence
            can be gathered.
        opened: The same, open for the replay of its segments.
        ledger: Takes what is found.
        shares: Judges only these shares of the first step of each segment; none for whole steps.
    """

    def __init__(
        self, inspection: Inspection | None, opened: Opened, ledger: Ledger, shares: tuple[int, ...] = ()
    ) -> None:
        self._inspection = inspection
        self._shares = shares
        self._reader, self._records, self._tree = opened.reader, opened.records, opened.tree
        self._order, self._steps = opened.order, opened.steps
        self._ledger = ledger
        self._note = ledger.note
        self.sites = SteeringSites.of(self._order)
        # Under an exact profile nothing is rounded to a grid.
        self._rounded_values = None if self.sites is None else rounded_values(self._order)
        self._agreed: tuple[int, State] = (0, self._order.initial)
        self._ahead: Ahead | None = None
        """The replay of the next step, where it was begun before this one was judged."""

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every state tensor, by name, sorted."""
        return {name: tuple(tensor.shape) for name, tensor in sorted(self._order.initial.items())}

    def signed(self, step: int) -> SignedStep:
        """Return what the trainer signed of a step, as it stands in the run; raises LogError."""
        logs, loss = read_logs(self._order, self._records[step], self._reader), self._records[step].loss
        first = 0 if self.sites is None else self.sites.first_site(step)
        entries = entries_of(logs)
        return SignedStep(self._tree.leaf(step), float("nan") if loss is None else loss, first, entries)

    def leave_out(self, part: Segment) -> Iterator[Event]:
        """Judge no step of a segment."""
        for step in range(part.first, part.last + 1):
            yield self._judged(step, StepMatch.UNJUDGED, None, time.perf_counter())

    def take(self, part: Segment, result: SegmentResult) -> Iterator[Event]:
        """Take a segment that came out right elsewhere: leaves, and so states, are the trainer's."""
        for step in result.steps:
            leaf, counts = Digest(step.leaf), step.counted
            yield self._note(self._row(step.step, StepMatch.MATCH, leaf, step.loss, counts, step.seconds))
        if self.sites is not None:
            self._note(Account(self.sites.steps(range(part.first, part.last + 1)), result.sums))
        # What is stored after it lies in the audit's own file, so nobody needs to be believed about it.
        if (yield from self._stored(part.last)) is not None:
            yield self._note(DivergenceMeasured(part.last, Divergence(part.last, ()).all_tensors(self.shapes)))

    def replay(self, part: Segment) -> Generator[Event, None, None]:
        """Replay a segment from the agreed state before it, and compare what it comes to with the stored state."""
        state = yield from self._state_before(part)
        if self._shares:
            yield from self._only_shares(part, state)
            return
        alignment: Alignment = Ended() if state is None else Agreed(state, state)
        outcome: ReplayedStep | None = None
        first = part.first
        look = None if state is None or first == 1 else look_at_state(self._order, first - 1, state)
        if look is not None:
            yield self._judged(first, StepMatch.MISMATCH, None, time.perf_counter())
            if self._asks_arbiter:
                yield from self._dispute(first, None, look, state)
            alignment, first = Ended(), first + 1
        for step in range(first, part.last + 1):
            alignment, outcome = yield from self._step(step, alignment, part.last)
        trainer = yield from self._stored(part.last)
        # Nothing is compared where the last step was not replayed: there is no state of the replay's to compare.
        if outcome is not None and trainer is not None:
            yield from self._measure(part, trainer, outcome)
        # Otherwise the next segment starts from the trainer's stored state, so that one lie is not counted again and
        # again, and a later one is still found.
        if isinstance(alignment, Agreed):
            self._agreed = part.last, alignment.state

    def _only_shares(self, part: Segment, state: State | None) -> Generator[Event, None, None]:
        """Judge the chosen shares of the first step of a segment, each by itself; the whole step if one differs."""
        step, begun = part.first, time.perf_counter()
        if state is None:
            yield from self.leave_out(part)
            return
        look = None if step == 1 else look_at_state(self._order, step - 1, state)
        if look is not None:
            yield self._judged(step, StepMatch.MISMATCH, None, begun)
            if self._asks_arbiter:
                yield from self._dispute(step, None, look, state)
        elif (yield from self._shares_match(step, state)):
            self._note(SharesMatched(len(self._shares)))
            yield self._judged(step, StepMatch.UNJUDGED, None, begun)
        else:
            yield from self._step(step, Agreed(state, state), step)
        yield from self.leave_out(Segment(part.number, step + 1, part.last))

    def _shares_match(self, step: int, state: State) -> Generator[Event, None, bool]:
        """Return whether each of the chosen shares of a step gives what the trainer signed."""
        assert isinstance(self._steps, SharedReplayer)
        record = self._records[step]
        try:
            logs = read_logs(self._order, record, self._reader)
        except LogError:
            return False
        assert isinstance(logs, SharedLogs)
        return (yield from self._steps.shares_match(record, state, logs, self._shares))

    def _step(
        self, step: int, alignment: Alignment, last: int
    ) -> Generator[Event, None, tuple[Alignment, ReplayedStep | None]]:
        """Replay and judge a step of a segment that ends with ``last``.

        While its new state is digested the next step is replayed on, which is of use if this one turns out right.

        Returns:
            Where the replay stands then, and what the step gave, if anything.
        """
        begun = time.perf_counter()
        try:
            logs = read_logs(self._order, self._records[step], self._reader)
        except LogError as error:
            yield from self._unreadable(
                step, error, alignment.committed if isinstance(alignment, Agreed) else None, begun
            )
            return after(alignment, Lost()), None
        # A step after the replay has ended has no state to start from; it says nothing of the trainer.
        outcome = None if isinstance(alignment, Ended) else (yield from self._attempt(step, alignment, logs))
        if isinstance(outcome, CounterfoilError):
            assert isinstance(alignment, Agreed)
            return (yield from self._no_result(step, alignment, logs, outcome, begun))
        if outcome is None:
            yield self._judged(step, StepMatch.UNJUDGED, None, begun)
            return after(alignment, Lost()), None
        ahead: Ahead | None = None
        if isinstance(alignment, Agreed) and step < last:
            following = partial(read_logs, self._order, self._records[step + 1], self._reader)
            ahead = self._steps.look_ahead(outcome, self._records[step + 1], following)
        match = match_of(alignment, outcome.leaf == self._tree.leaf(step))
        if match is StepMatch.MATCH and self.sites is not None:
            self._note(self.sites.account(step, outcome.counts))
        self._ahead = ahead if match is StepMatch.MATCH else None
        yield self._judged(step, match, outcome, begun)
        # A step that matches has the trainer's state. One of a drifting replay never leads back: ``after`` sees to it.
        agrees = True
        if match is StepMatch.MISMATCH:
            assert isinstance(alignment, Agreed)
            outcome, agrees = yield from self._differs(step, alignment, logs, outcome)
        found: Reached[State] = Reached(outcome.result.state, agrees, self._reader.extent.is_committed(step))
        return after(alignment, found), outcome

    def _differs(
        self, step: int, alignment: Agreed[State], logs: AnyLogs, outcome: ReplayedStep
    ) -> Generator[Event, None, tuple[ReplayedStep, bool]]:
        """Look closer at a step that differs; returns what to go on from, and whether that is the trainer's."""
        if self._asks_arbiter:
            reached = yield from self._locate(step, alignment, logs, outcome)
            if reached is not None:  # rounding explains the difference, and this is the trainer's own state
                return reached, True
        # Where the state is not digested, fingerprints that differ are the sign that it differs too.
        sign = "state" if outcome.record.state_root is not None else "fingerprints"
        return outcome, sign not in differing_parts(self._records[step], outcome.record)

    def _unreadable(self, step: int, error: LogError, committed: State | None, begun: float) -> Iterator[Event]:
        """A log that the trainer signed and nobody can read; ``committed`` is the agreed state before it, if any.

        What it goes on from stays unknown, also where a part before that log differs.
        """
        yield self._judged(step, StepMatch.MISMATCH, None, begun)
        if self._asks_arbiter:
            found = yield from judge_unreadable(self._steps, self._records[step], committed, error)
            assert found.look is not None
            yield from self._dispute(step, found.step, found.look, committed)

    def _no_result(
        self, step: int, alignment: Agreed[State], logs: AnyLogs, error: NonFiniteError | ProgramError, begun: float
    ) -> Generator[Event, None, tuple[Alignment, ReplayedStep | None]]:
        """A step that comes to no result from the agreed state, although the trainer signed one; returns as _step."""
        look = None
        if isinstance(error, StepEndedError) and self._asks_arbiter:
            record, theirs = self._records[step], self._reader.fingerprints(step)
            found = yield from look_closer(self._steps, record, alignment.state, logs, None, theirs)
            look = self._look_of(step, found)
        if look is None or not (look.accuses or look.reached):
            yield self._judged(step, StepMatch.UNJUDGED, None, begun)
            self._note(Trouble(no_result=no_result(step, error, look)))
            return after(alignment, Lost()), None
        yield self._judged(step, StepMatch.MISMATCH, None, begun)
        yield from self._dispute(step, None, look, alignment.committed)
        if look.reached is None:
            return after(alignment, Lost()), None
        reached: Reached[State] = Reached(look.reached.result.state, True, self._reader.extent.is_committed(step))
        return after(alignment, reached), look.reached

    def _state_before(self, part: Segment) -> Generator[Event, None, State | None]:
        """Return the agreed state before a segment: the one that the replay came to, or the trainer's stored one.

        None where the replay did not come to it, and what is stored is not what the run commits to.
        """
        step, state = self._agreed
        if step == part.first - 1:
            return state
        stored = yield from self._stored(part.first - 1)
        if stored is None:
            self._note(Trouble(unreached=tuple(range(part.first, part.last + 1))))
            return None
        yield ResumedFromCheckpoint(part.first - 1)
        return {name: torch.from_numpy(array) for name, array in stored.items()}

    def _attempt(
        self, step: int, alignment: Agreed[State] | Drifting[State], logs: AnyLogs
    ) -> Generator[Event, None, ReplayedStep | NonFiniteError | ProgramError | None]:
        """Replay a step; returns the error where it comes to no result, or None if it need not come to one.

        It need not where the replay has parted from the trainer.
        """
        ahead, self._ahead = self._ahead, None
        try:
            if ahead is not None:
                return (yield from ahead.finish())
            return (yield from self._steps.replay(self._records[step], alignment.state, logs))
        except (NonFiniteError, ProgramError) as error:
            return error if isinstance(alignment, Agreed) else None

    def _judged(self, step: int, match: StepMatch, outcome: ReplayedStep | None, begun: float) -> StepReplayed:
        leaf, loss = (None, float("nan")) if outcome is None else (outcome.leaf, outcome.result.loss)
        counts = outcome.total if outcome is not None else Counts()
        return self._note(self._row(step, match, leaf, loss, counts, time.perf_counter() - begun))

    def _row(
        self, step: int, match: StepMatch, leaf: Digest | None, loss: float, counts: Counts, seconds: float
    ) -> StepReplayed:
        trainer_loss = self._records[step].loss
        row = StepRow(
            step=step,
            match=match,
            trainer_leaf=self._tree.leaf(step),
            replay_leaf=leaf,
            trainer_loss=float("nan") if trainer_loss is None else trainer_loss,
            replay_loss=loss,
            log_entries=counts.entries,
            log_bytes=self._reader.log_size(step),
            corrections=counts.corrections,
            contradictions=counts.contradictions,
            omissions=counts.omissions,
            rounded_values=0 if leaf is None or self._rounded_values is None else self._rounded_values.of(step),
            seconds=seconds,
            steerable=counts.steerable,
            steered=counts.steered,
        )
        return StepReplayed(row)

    def _stored(self, step: int) -> Generator[Event, None, Arrays | None]:
        """Return the trainer's stored state after a step; None where it is not the one that the run commits to."""
        try:
            return self._reader.checkpoint(step)
        except CommitmentError as error:
            # A file that is being written to may show anything, and so may a server.
            self._reader.stand_by(error)
            self._note(Trouble(damaged=(step,)))
            yield self._ledger.check(CheckNumber.COMMITMENTS, CheckState.FAILED, self._ledger.known.trouble.damage)
            return None

    def _measure(self, part: Segment, trainer: Arrays, outcome: ReplayedStep) -> Iterator[Event]:
        tensors = compare_states(trainer, outcome.arrays)
        yield self._note(DivergenceMeasured(part.last, tensors))
        dispute = self._ledger.known.judged.dispute
        # The state at the end of this segment says nothing of a dispute in an earlier one, whose alignment was lost.
        if dispute is not None and dispute.compared_at is None and dispute.step >= part.first:
            located = replace(
                dispute,
                compared_at=part.last,
                tensors=_differing(tensors, trainer, outcome.arrays),
                trainer_state=self._records[part.last].state_root,
                replay_state=outcome.record.state_root,
            )
            yield self._note(DisputeLocated(located))

    @property
    def _asks_arbiter(self) -> bool:
        """Whether to look closer at a step that differs: until one accuses by itself.

        A trainer whose first differences are rounding, honest or left out of its log, must not get away with a later
        one that is not, however many there are; and only a step that stands alone can be handed on in a capsule.
        """
        return not self._ledger.known.judged.is_settled

    def _locate(
        self, step: int, alignment: Agreed[State], logs: AnyLogs, outcome: ReplayedStep
    ) -> Generator[Event, None, ReplayedStep | None]:
        """Look closer at a step that differs; returns the step as the trainer has it, if rounding explains it all."""
        fingerprints = self._reader.fingerprints(step)
        look = yield from look_closer(self._steps, self._records[step], alignment.state, logs, outcome, fingerprints)
        look = self._look_of(step, look)
        yield from self._dispute(step, outcome, look, alignment.committed)
        return look.reached

    def _look_of(self, step: int, look: SecondLook) -> SecondLook:
        """Note decisions that are missing in a log; returns an accusation when they are missing once too often."""
        if look.omits:
            self._note(DecisionsOmitted(step))
        return look.with_omissions(self._ledger.known.judged.omissions)

    def _dispute(
        self, step: int, outcome: ReplayedStep | None, look: SecondLook, committed: State | None
    ) -> Iterator[Event]:
        """Keep what a closer look brought, if it is the first, the first that accuses, or one that stands alone."""
        found = self._ledger.known.judged.dispute
        if found is not None and not look.stands_alone and (found.accuses or not look.accuses):
            return
        dispute = dispute_of(
            self._order.programs.of(step),
            self._records[step],
            self._tree.inclusion_proof(step),
            self._reader.fingerprints(step),
            outcome,
            look,
            () if outcome is None else self._path(step, outcome.leaf),
        )
        shares = self._order.manifest.shares
        dispute = dispute if shares is None else dispute.answered_for(shares.signers, look.share)
        yield self._note(DisputeLocated(dispute))
        if dispute.stands_alone and committed is not None and self._inspection is not None:
            self._ledger.learn(evidence=(yield from self._evidence(self._inspection, step, look.part, committed)))

    def _evidence(
        self, inspection: Inspection, step: int, part: DisputedPart | None, state: State
    ) -> Generator[Event, None, CapsuleContents | None]:
        """Gather what a capsule holds of a step, or of the part of it that differs; None where it cannot be had."""
        if self._order.updates is None:
            return gather(inspection, self._order, step, state)
        # What is wrong with the state itself is seen before any part: the first of them starts from it.
        about = 0 if part is None else part.about
        if about is None:
            return None
        if not isinstance(about, str):
            return gather_part(inspection, self._order, step, state, about)
        try:
            logs: object = read_logs(self._order, self._records[step], self._reader)
        except PartLogError as error:  # that of the update, whose shares can be read
            logs = error.read
        assert isinstance(logs, SharedLogs)
        assert isinstance(self._steps, SharedReplayer)
        try:
            added = yield from added_tensor(self._steps, self._records[step], state, logs, about)
        except MemoryError:  # it needs the tensor of every share at once; the dispute stands without a capsule
            added = None
        return None if added is None else gather_part(inspection, self._order, step, state, added)

    def _path(self, step: int, leaf: Digest) -> tuple[MerkleComparison, ...]:
        """Return the comparisons that lead from the run root to the leaf of a step."""
        leaves = [self._tree.leaf(index) for index in range(self._tree.size)]
        leaves[step] = leaf
        return first_difference(self._tree, MerkleTree(leaves))[1]


def _differing(tensors: tuple[TensorDivergence, ...], trainer: Arrays, replay: Arrays) -> tuple[TensorDivergence, ...]:
    """Return the differing tensors, worst first, the worst of them in detail: a detail costs hashing both sides."""
    found = sorted((t for t in tensors if t.differing), key=lambda t: (-t.max_abs, t.name))
    detailed = (replace(t, detail=detail_difference(t.name, trainer[t.name], replay[t.name])) for t in found[:DETAILED])
    return (*detailed, *found[DETAILED:])
