"""The replay of segments: executes what was ordered and compares every Merkle leaf with the trainer's."""

from __future__ import annotations

import secrets
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TypeVar

import torch

from counterfoil.audit.chain import Agreed, Drifting, Ended, Lost, Reached, after, match_of
from counterfoil.audit.evidence import gather
from counterfoil.audit.inspection import Inspection
from counterfoil.audit.keeping import (
    KeptAudit,
    KeptDivergence,
    all_tensors,
    kept_divergence,
    misfit,
)
from counterfoil.audit.known import Progress
from counterfoil.audit.parts.check import SignedStep, unfit
from counterfoil.audit.parts.crew import Found, Missing
from counterfoil.audit.parts.helpers import Helpers
from counterfoil.audit.parts.result import SegmentResult
from counterfoil.audit.parts.work import Opened, here, replay_segment
from counterfoil.audit.step.compare import compare_states, detail_difference
from counterfoil.audit.step.judgement import (
    Omissions,
    SecondLook,
    dispute_of,
    look_at_end,
    look_at_state,
    no_result,
    second_look,
    unreadable,
)
from counterfoil.audit.step.replayer import (
    Ahead,
    Arrays,
    Logs,
    ReplayedStep,
    State,
    StepEndedError,
    StepReplayer,
    differing_parts,
    read_log,
)
from counterfoil.audit.step.steering import SteeringAccount
from counterfoil.audit.values.dispute import TensorDivergence
from counterfoil.audit.values.events import (
    DisputeLocated,
    DivergenceMeasured,
    Event,
    ProgressRestored,
    ResumedFromCheckpoint,
    StepReplayed,
)
from counterfoil.audit.values.outcome import CheckNumber, CheckState
from counterfoil.audit.values.request import AuditRequest
from counterfoil.audit.values.sampling import Segment, ranges, segment
from counterfoil.audit.values.steptable import StepMatch, StepRow, unpack
from counterfoil.audit.values.workers import ReplayedBy, Where, by_place, segment_places
from counterfoil.base.digest import Digest
from counterfoil.base.errors import (
    CommitmentError,
    CounterfoilError,
    LogError,
    NonFiniteError,
    ProgramError,
    WorkerError,
)
from counterfoil.base.generators import relay
from counterfoil.base.sentence import Sentence, enumeration, joined, say
from counterfoil.commit.merkle import MerkleComparison, MerkleTree, first_difference
from counterfoil.kernels.counts import Counts
from counterfoil.training.loaded import LoadedOrder

Result = TypeVar("Result")
Chain = Agreed[State] | Drifting[State] | Ended
NAMED_STATES = 8
"""Damaged stored states that are named one by one."""
DETAILED = 32
"""Differing tensors of a dispute that are described down to single elements."""


class Replay:
    """Replays segments, ascending; each from the agreed state before it, which is the replay's own where it has one."""

    def __init__(
        self,
        request: AuditRequest,
        inspection: Inspection,
        order: LoadedOrder,
        progress: Progress,
        account: SteeringAccount | None,
        steps: StepReplayer,
    ) -> None:
        assert inspection.tree is not None
        self._request = request
        self._inspection = inspection
        self._reader = inspection.reader
        self._records = inspection.records
        self._tree = inspection.tree
        self._order = order
        self._progress = progress
        self._account = account
        self._steps = steps
        # Under an exact profile nothing is rounded to a grid.
        self._rounded_values = order.programs.map(
            lambda program: 0 if account is None else sum(site.elements for site in program.sites)
        )
        self._agreed: tuple[int, State] = (0, order.initial)
        self._ahead: Ahead | None = None
        """The replay of the next step, where it was begun before this one was judged."""
        self._omissions = Omissions()
        self._begun = time.perf_counter()
        self._divergences: list[KeptDivergence] = []
        self._segments = 0
        """How many of the chosen segments are judged."""
        self._not_replayed = ""
        """Why a segment was replayed by nobody, as a sentence."""
        self._here: Where = ReplayedBy.AUDIT, here(progress.environment)
        self._log_entries = self._reader.log_entries()
        """What the run says of the length of each log, which nothing signed binds."""
        self._miscounted: list[tuple[int, int]] = []
        """Steps of which it says something else than their log, with the entries of that."""
        self._damaged: list[int] = []
        """Steps whose stored state is not the one that the run commits to."""
        self._ended: NonFiniteError | ProgramError | None = None
        """Why the first step that came to no result, and accuses nobody, did not."""
        self._unreached: list[int] = []
        """Chosen steps before which no state to start from was left."""

    def _chosen(self, first: int, end: int | None) -> Iterator[Segment]:
        """Yield the chosen segments, counted from 0, from one on to before another."""
        assert self._progress.sample is not None
        for number in islice(self._progress.sample.numbers(), first, end):
            yield segment(self._order.manifest, number)

    def restore(self, kept: KeptAudit) -> Iterator[Event]:
        """Take over what an earlier audit kept, and report it again.

        Raises:
            ProgressError: It does not fit the run after all.
        """
        judged = [step for part in self._chosen(0, kept.segments) for step in range(part.first, part.last + 1)]
        try:
            rows = list(unpack(kept.steps, self._tree.leaf))
            if self._account is not None:
                self._account.restore(kept.steering_steps, kept.steering_sums)
        except (IndexError, ValueError) as error:
            raise misfit(str(error)) from error
        if [row.step for row in rows] != judged:
            raise misfit("its steps are not those of its segments")
        shapes = self._shapes
        for row in rows:
            yield self._judged(row)
        for divergence in kept.divergences:
            self._divergences.append(divergence)
            yield DivergenceMeasured(divergence.step, all_tensors(divergence, shapes))
        if kept.dispute is not None:
            self._progress.dispute = kept.dispute
            yield DisputeLocated(kept.dispute)
        self._progress.seconds = kept.seconds
        self._omissions = Omissions(kept.omissions)
        self._segments = kept.segments
        self._progress.places = segment_places(kept.replayed_at)
        assert self._progress.keeper is not None
        assert self._progress.keeper.kept is not None
        yield ProgressRestored(self._progress.keeper.kept, len(rows))

    @property
    def left(self) -> tuple[int, ...]:
        """The numbers of the chosen segments that are not judged yet."""
        return tuple(part.number for part in self._chosen(self._segments, None))

    def run(self, helpers: Helpers | None = None) -> Iterator[Event]:
        """Judge the chosen segments that are not judged yet, ascending.

        Args:
            helpers: Who replays segments too. What came out right there is taken; all else is replayed here.

        What keeps one segment from being judged does not keep the others: it is raised when these are judged.

        Raises:
            CommitmentError: A stored state is not the one that the run commits to.
            NonFiniteError: A step comes to no result, although the trainer recorded one.
            ProgramError: The same, since an operator rejects its arguments.
            WorkerError: No worker is left, one is refuted, or a segment was replayed by nobody.
        """
        drawn = () if helpers is None else self._drawn(helpers.offered(self.left))
        for part in self._chosen(self._segments, None):
            if self._is_settled and not self._request.continue_after_dispute:
                return
            if helpers is None:
                yield from self._here_alone(part)
            else:
                yield from self._helped(part, helpers, part.number in drawn)
            self._segments += 1
            if not (self._not_replayed or self._damaged or self._ended):  # what is kept ends before it
                self._keep(part.last)
        if helpers is not None:
            yield from helpers.report()
        if self._damaged:
            raise CommitmentError(self._damage, remedy=say("Ask the trainer for the file again."))
        if self._ended is not None:
            raise self._ended
        if self._not_replayed:
            raise WorkerError(
                self._not_replayed,
                remedy=say("Go on with --resume without workers, or on machines with more memory."),
            )
        self._check_counted()

    def _check_counted(self) -> None:
        """Refuse a run that says another number of log entries than its logs have; raises CommitmentError.

        Nothing signed binds the number, so it accuses nobody, and it comes last, so that it hides nothing.
        """
        for step, entries in self._miscounted[:1]:
            sentence = say(
                "The file says that the rounding log of step {0} has {1} entries, and the log itself, which the "
                "trainer signed, has {2}. Nobody signed that number: the file was altered or damaged, or was not "
                "recorded by Counterfoil.",
                step,
                int(self._log_entries[step - 1]),
                entries,
            )
            self._progress.note(CheckNumber.LOG, CheckState.FAILED, sentence)
            raise CommitmentError(sentence, remedy=say("Ask the trainer for the file again."))

    def _here_alone(self, part: Segment) -> Generator[Event, None, None]:
        """Judge a segment here, and note that it was."""
        yield from self._segment(part)
        self._progress.places[part.number] = self._here

    @property
    def _is_settled(self) -> bool:
        """Whether a step was found that accuses by itself; a difference that does not is no reason to stop."""
        return self._progress.dispute is not None and self._progress.dispute.stands_alone

    def _drawn(self, numbers: Sequence[int]) -> frozenset[int]:
        """Draw the segments that are replayed here too; whoever replays them does not know it."""
        return frozenset(secrets.SystemRandom().sample(numbers, min(self._request.recheck, len(numbers))))

    def _helped(self, part: Segment, helpers: Helpers, again: bool) -> Iterator[Event]:
        """Judge a segment that somebody else has replayed; ``again`` says that it is replayed here too."""
        found = yield from helpers.result(part.number)
        if isinstance(found, Missing) and found.left_out:
            self._not_replayed = self._not_replayed or found.why
            for step in range(part.first, part.last + 1):
                yield self._judged(self._row(step, StepMatch.UNJUDGED, None, time.perf_counter()))
            return
        if isinstance(found, Missing) or self._unfit(found.result, part):
            if isinstance(found, Missing):
                yield self._progress.note(CheckNumber.REPLAY, CheckState.RUNNING, found.why)
            yield from _attended(self._here_alone(part), helpers)
            return
        if again:
            yield from self._again(part, found, helpers)
        yield from self._take(part, found.result)
        self._progress.places[part.number] = found.by, found.place

    def _unfit(self, result: SegmentResult, part: Segment) -> str:
        """Why what was found elsewhere cannot be taken, in a few words; empty when it can."""
        try:
            return unfit(result, part, None if self._account is None else self._account.sites, self._signed)
        except LogError as error:  # the audit's own replay says what that means
            return error.sentence

    def _signed(self, step: int) -> SignedStep:
        """Return what the trainer signed of a step, as it stands in the run; raises LogError."""
        logs, loss = read_log(self._order, self._records[step], self._reader.log(step)), self._records[step].loss
        first = 0 if self._account is None else self._account.first_site(step)
        entries = tuple(len(log.indices) for log in logs)
        return SignedStep(self._tree.leaf(step), float("nan") if loss is None else loss, first, entries)

    def _again(self, part: Segment, found: Found, helpers: Helpers) -> Iterator[Event]:
        """Replay a segment that came out right elsewhere; raises WorkerError when it does not come out so here."""
        progress, machine = self._progress, found.place.machine
        doing = say("Replaying segment {0} here too, as a check of {1}.", part.number, machine)
        yield progress.note(CheckNumber.REPLAY, CheckState.RUNNING, doing)
        opened = Opened(self._reader, self._records, self._tree, self._order, self._steps)
        own = yield from _attended(relay(replay_segment(opened, part), lambda _: None), helpers)
        # Whatever all machines agree on is bound by the run already; a fault of the log shows in the replay alone.
        where = self._unfit(own, part)
        yield progress.note(CheckNumber.REPLAY, CheckState.RUNNING, "")
        if where:
            # What this machine finds counts, a dispute too.
            yield from self._here_alone(part)
            raise WorkerError(
                say(
                    "Segment {0} came out right on the machine {1}, it said, and here it does not ({2}). What the "
                    "workers say cannot be relied on.",
                    part.number,
                    machine,
                    where,
                ),
                remedy=say("Audit the run again without workers, and look what is wrong with that machine."),
            )

    def _take(self, part: Segment, result: SegmentResult) -> Iterator[Event]:
        """Take a segment that came out right elsewhere: leaves, and so states, are the trainer's."""
        for step in result.steps:
            leaf, counts = Digest(step.leaf), step.counted
            yield self._judged(self._row_of(step.step, StepMatch.MATCH, leaf, step.loss, counts, step.seconds))
        if self._account is not None:
            self._account.take(range(part.first, part.last + 1), result.sums)
        # What is stored after it lies in the audit's own file, so nobody needs to be believed about it.
        if (yield from self._stored(part.last)) is not None:
            divergence = KeptDivergence(part.last, ())
            self._divergences.append(divergence)
            yield DivergenceMeasured(part.last, all_tensors(divergence, self._shapes))

    @property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: tuple(tensor.shape) for name, tensor in sorted(self._order.initial.items())}

    def _keep(self, step: int) -> None:
        """Note what is known between two segments; the next one can start from a state that the trainer signed."""
        progress = self._progress
        keeper, basis, sample = progress.keeper, progress.basis, progress.sample
        if keeper is None or basis is None or sample is None:
            return
        segments, divergences = self._segments, len(self._divergences)
        dispute, omissions, sums = (
            progress.dispute,
            self._omissions.steps,
            ((), ()) if self._account is None else self._account.sums,
        )
        seconds = progress.seconds + time.perf_counter() - self._begun
        replayed_at = by_place(progress.places)

        def data(capsule: Digest | None) -> KeptAudit:
            return KeptAudit(
                basis=basis,
                sample=sample,
                segments=segments,
                steps=progress.steps.pack(step),
                divergences=tuple(self._divergences[:divergences]),
                dispute=dispute,
                omissions=omissions,
                steering_steps=sums[0],
                steering_sums=sums[1],
                seconds=seconds,
                capsule=None if capsule is None else capsule.value,
                replayed_at=replayed_at,
            )

        keeper.keep(segments, sample.count, step, data, progress.evidence)

    def _segment(self, part: Segment) -> Generator[Event, None, None]:
        """Replay a segment from the agreed state before it, and compare what it comes to with the stored state."""
        state = yield from self._state_before(part)
        chain: Chain = Ended() if state is None else Agreed(state, state)
        outcome: ReplayedStep | None = None
        first = part.first
        look = None if state is None or first == 1 else look_at_state(self._order, first - 1, state)
        if look is not None:
            yield self._judged(self._row(first, StepMatch.MISMATCH, None, time.perf_counter()))
            if self._asks_arbiter:
                yield from self._dispute(first, None, look, state)
            chain, first = Ended(), first + 1
        for step in range(first, part.last + 1):
            chain, outcome = yield from self._step(step, chain, part.last)
        trainer = yield from self._stored(part.last)
        # Nothing is compared where the last step was not replayed: there is no state of the replay's to compare.
        if outcome is not None and trainer is not None:
            yield from self._measure(part, trainer, outcome)
        # Otherwise the next segment starts from the trainer's stored state, so that one lie is not counted again and
        # again, and a later one is still found.
        if isinstance(chain, Agreed):
            self._agreed = part.last, chain.state

    def _step(self, step: int, chain: Chain, last: int) -> Generator[Event, None, tuple[Chain, ReplayedStep | None]]:
        """Replay and judge a step of a segment that ends with ``last``.

        While its new state is digested the next step is replayed on, which is of use if this one turns out right.

        Returns:
            Where the replay stands then, and what the step gave, if anything.
        """
        begun = time.perf_counter()
        try:
            logs = read_log(self._order, self._records[step], self._reader.log(step))
        except LogError as error:
            yield from self._unreadable(step, error, chain.committed if isinstance(chain, Agreed) else None, begun)
            return after(chain, Lost()), None
        # A step after the end of its chain has no state to start from; it says nothing of the trainer.
        outcome = None if isinstance(chain, Ended) else (yield from self._attempt(step, chain, logs))
        if isinstance(outcome, CounterfoilError):
            assert isinstance(chain, Agreed)
            return (yield from self._no_result(step, chain, logs, outcome, begun))
        if outcome is None:
            yield self._judged(self._row(step, StepMatch.UNJUDGED, None, begun))
            return after(chain, Lost()), None
        ahead: Ahead | None = None
        if isinstance(chain, Agreed) and step < last:
            following = partial(self._reader.log, step + 1)
            ahead = self._steps.look_ahead(outcome, self._records[step + 1], following)
        match = match_of(chain, outcome.leaf == self._tree.leaf(step))
        if match is StepMatch.MATCH and self._account is not None:
            self._account.add(step, outcome.counts)
        self._ahead = ahead if match is StepMatch.MATCH else None
        yield self._judged(self._row(step, match, outcome, begun))
        # A step that matches has the trainer's state. One of a drifting chain never leads back: ``after`` sees to it.
        agrees = True
        if match is StepMatch.MISMATCH:
            assert isinstance(chain, Agreed)
            outcome, agrees = yield from self._differs(step, chain, logs, outcome)
        found: Reached[State] = Reached(outcome.result.state, agrees, self._order.manifest.is_committed(step))
        return after(chain, found), outcome

    def _differs(
        self, step: int, chain: Agreed[State], logs: Logs, outcome: ReplayedStep
    ) -> Generator[Event, None, tuple[ReplayedStep, bool]]:
        """Look closer at a step that differs; returns what to go on from, and whether that is the trainer's."""
        if self._asks_arbiter:
            reached = yield from self._locate(step, chain, logs, outcome)
            if reached is not None:  # rounding explains the difference, and this is the trainer's own state
                return reached, True
        # Where the state is not digested, fingerprints that differ are the sign that it differs too.
        sign = "state" if outcome.record.state_root is not None else "fingerprints"
        return outcome, sign not in differing_parts(self._records[step], outcome.record)

    def _judged(self, row: StepRow) -> StepReplayed:
        self._progress.steps.put([row])
        if row.replay_leaf is not None and row.log_entries != int(self._log_entries[row.step - 1]):
            self._miscounted.append((row.step, row.log_entries))
        return StepReplayed(row)

    def _unreadable(self, step: int, error: LogError, committed: State | None, begun: float) -> Iterator[Event]:
        """A log that the trainer signed and nobody can read; ``committed`` is the agreed state before it, if any."""
        yield self._judged(self._row(step, StepMatch.MISMATCH, None, begun))
        if self._asks_arbiter:
            yield from self._dispute(step, None, unreadable(step, error), committed)

    def _no_result(
        self, step: int, chain: Agreed[State], logs: Logs, error: NonFiniteError | ProgramError, begun: float
    ) -> Generator[Event, None, tuple[Chain, ReplayedStep | None]]:
        """A step that comes to no result from the agreed state, although the trainer signed one; returns as _step."""
        look = None
        if isinstance(error, StepEndedError) and self._asks_arbiter:
            record, theirs = self._records[step], self._reader.fingerprints(step)
            look = self._omissions.note(step, (yield from look_at_end(self._steps, record, chain.state, logs, theirs)))
        if look is None or not (look.accuses or look.reached):
            yield self._judged(self._row(step, StepMatch.UNJUDGED, None, begun))
            self._ended = self._ended or no_result(step, error, look)
            return after(chain, Lost()), None
        yield self._judged(self._row(step, StepMatch.MISMATCH, None, begun))
        yield from self._dispute(step, None, look, chain.committed)
        if look.reached is None:
            return after(chain, Lost()), None
        found: Reached[State] = Reached(look.reached.result.state, True, self._order.manifest.is_committed(step))
        return after(chain, found), look.reached

    def _state_before(self, part: Segment) -> Generator[Event, None, State | None]:
        """Return the agreed state before a segment: the one that the replay came to, or the trainer's stored one.

        None where the replay did not come to it, and what is stored is not what the run commits to.
        """
        step, state = self._agreed
        if step == part.first - 1:
            return state
        stored = yield from self._stored(part.first - 1)
        if stored is None:
            self._unreached += range(part.first, part.last + 1)
            return None
        yield ResumedFromCheckpoint(part.first - 1)
        return {name: torch.from_numpy(array) for name, array in stored.items()}

    def _attempt(
        self, step: int, chain: Agreed[State] | Drifting[State], logs: Logs
    ) -> Generator[Event, None, ReplayedStep | NonFiniteError | ProgramError | None]:
        """Replay a step; returns the error where it comes to no result, or None if it need not come to one.

        It need not where the replay has parted from the trainer.
        """
        ahead, self._ahead = self._ahead, None
        try:
            if ahead is not None:
                return (yield from ahead.finish())
            return (yield from self._steps.replay(self._records[step], chain.state, logs))
        except (NonFiniteError, ProgramError) as error:
            return error if isinstance(chain, Agreed) else None

    def _row(self, step: int, match: StepMatch, outcome: ReplayedStep | None, begun: float) -> StepRow:
        leaf, loss = (None, float("nan")) if outcome is None else (outcome.leaf, outcome.result.loss)
        counts = outcome.total if outcome is not None else Counts()
        return self._row_of(step, match, leaf, loss, counts, time.perf_counter() - begun)

    def _row_of(
        self, step: int, match: StepMatch, leaf: Digest | None, loss: float, counts: Counts, seconds: float
    ) -> StepRow:
        trainer_loss = self._records[step].loss
        return StepRow(
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
            rounded_values=self._rounded_values.of(step) if leaf is not None else 0,
            seconds=seconds,
            steerable=counts.steerable,
            steered=counts.steered,
        )

    def _stored(self, step: int) -> Generator[Event, None, Arrays | None]:
        """Return the trainer's stored state after a step; None where it is not the one that the run commits to."""
        try:
            return self._reader.checkpoint(step)
        except CommitmentError:
            # A file that is being written to may show anything.
            self._reader.file.check_unchanged()
            if step not in self._damaged:
                self._damaged.append(step)
            yield self._progress.note(CheckNumber.COMMITMENTS, CheckState.FAILED, self._damage)
            return None

    @property
    def _damage(self) -> Sentence:
        """What is wrong with the stored states, and what could not be judged for it."""
        steps = enumeration([str(step) for step in self._damaged[:NAMED_STATES]])
        what = (
            say("The stored state of step {0} differs from the state root of that step.", steps)
            if len(self._damaged) == 1
            else say("{0} stored states differ from the state roots of their steps ({1}).", len(self._damaged), steps)
        )
        unreached = ", ".join(
            str(first) if first == last else f"{first}-{last}" for first, last in ranges(self._unreached)
        )
        return joined(
            what,
            say(
                "The file was damaged or altered after it was signed, or the trainer signed another state than it "
                "stored."
            ),
            say("Steps that could not be judged for it: {0}.", unreached) if unreached else "",
        )

    def _measure(self, part: Segment, trainer: Arrays, outcome: ReplayedStep) -> Iterator[Event]:
        tensors = compare_states(trainer, outcome.arrays)
        self._divergences.append(kept_divergence(part.last, tensors))
        yield DivergenceMeasured(part.last, tensors)
        dispute = self._progress.dispute
        # The state at the end of this segment says nothing of a dispute in an earlier one, whose chain was lost.
        if dispute is not None and dispute.compared_at is None and dispute.step >= part.first:
            self._progress.dispute = replace(
                dispute,
                compared_at=part.last,
                tensors=_differing(tensors, trainer, outcome.arrays),
                trainer_state=self._records[part.last].state_root,
                replay_state=outcome.record.state_root,
            )
            yield DisputeLocated(self._progress.dispute)

    @property
    def _asks_arbiter(self) -> bool:
        """Whether to look closer at a step that differs: until one accuses by itself.

        A trainer whose first differences are rounding, honest or left out of its log, must not get away with a later
        one that is not, however many there are; and only a step that stands alone can be handed on in a capsule.
        """
        return not self._is_settled

    def _locate(
        self, step: int, chain: Agreed[State], logs: Logs, outcome: ReplayedStep
    ) -> Generator[Event, None, ReplayedStep | None]:
        """Look closer at a step that differs; returns the step as the trainer has it, if rounding explains it all."""
        fingerprints = self._reader.fingerprints(step)
        look = yield from second_look(self._steps, self._records[step], chain.state, logs, outcome, fingerprints)
        look = self._omissions.note(step, look)
        yield from self._dispute(step, outcome, look, chain.committed)
        return look.reached

    def _dispute(
        self, step: int, outcome: ReplayedStep | None, look: SecondLook, committed: State | None
    ) -> Iterator[Event]:
        """Keep what a closer look brought, if it is the first, the first that accuses, or one that stands alone."""
        found = self._progress.dispute
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
        self._progress.dispute = dispute
        yield DisputeLocated(dispute)
        if dispute.stands_alone and committed is not None:
            self._progress.evidence = gather(self._inspection, self._order, step, committed)

    def _path(self, step: int, leaf: Digest) -> tuple[MerkleComparison, ...]:
        """Return the comparisons that lead from the run root to the leaf of a step."""
        leaves = [self._tree.leaf(index) for index in range(self._tree.size)]
        leaves[step] = leaf
        return first_difference(self._tree, MerkleTree(leaves))[1]


def _attended(work: Generator[Event, None, Result], helpers: Helpers) -> Generator[Event, None, Result]:
    """Do work here, while helpers are kept busy."""
    while True:
        try:
            event = next(work)
        except StopIteration as end:
            result: Result = end.value
            return result
        yield event
        yield from helpers.pump()


def _differing(tensors: tuple[TensorDivergence, ...], trainer: Arrays, replay: Arrays) -> tuple[TensorDivergence, ...]:
    """Return the differing tensors, worst first, the worst of them in detail: a detail costs hashing both sides."""
    found = sorted((t for t in tensors if t.differing), key=lambda t: (-t.max_abs, t.name))
    detailed = (replace(t, detail=detail_difference(t.name, trainer[t.name], replay[t.name])) for t in found[:DETAILED])
    return (*detailed, *found[DETAILED:])
