"""The audit and those who help it: judges the chosen segments in order, whoever replayed them."""

from __future__ import annotations

import secrets
from collections.abc import Generator, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from counterfoil_core.base.errors import LogError, WorkerError
from counterfoil_core.base.generators import relay
from counterfoil_core.base.sentence import say
from counterfoil_core.hearing.check import unfit
from counterfoil_core.hearing.keptaudit import KeptAudit, misfit
from counterfoil_core.hearing.knowledge import Ledger, SegmentJudged, Trouble
from counterfoil_core.hearing.outside import Helpers, Keeper
from counterfoil_core.hearing.result import Found, Missing, SegmentResult
from counterfoil_core.hearing.segments import SegmentReplay
from counterfoil_core.hearing.work import Opened, here, replay_segment
from counterfoil_core.values.events import DisputeLocated, DivergenceMeasured, Event, ProgressRestored, StepReplayed
from counterfoil_core.values.outcome import CheckNumber, CheckState
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.sampling import Segment, segment
from counterfoil_core.values.steptable import unpack
from counterfoil_core.values.workers import ReplayedBy

Result = TypeVar("Result")


class Company:
    """Judges the chosen segments, ascending.

    Args:
        request: The audit.
        opened: The run, open for the replay of its segments.
        replay: Replays a segment here.
        ledger: Takes what is found.
        keeper: Keeps what is known wherever a segment ends; None keeps nothing.
    """

    def __init__(
        self, request: AuditRequest, opened: Opened, replay: SegmentReplay, ledger: Ledger, keeper: Keeper | None
    ) -> None:
        self._request = request
        self._opened = opened
        self._replay = replay
        self._ledger = ledger
        self._keeper = keeper
        if replay.sites is not None:
            ledger.note(replay.sites.nothing)

    def restore(self, kept: KeptAudit) -> Iterator[Event]:
        """Take over what an earlier audit kept, and report it again.

        Raises:
            ProgressError: It does not fit the run after all.
        """
        sites = self._replay.sites
        try:
            rows = list(unpack(kept.steps, self._opened.tree.leaf))
        except (IndexError, ValueError) as error:
            raise misfit(str(error)) from error
        if sites is not None and not sites.fits(kept.account):
            raise misfit("the account has other rounding sites")
        parts = self._chosen(0, kept.segments)
        if [row.step for row in rows] != [step for part in parts for step in range(part.first, part.last + 1)]:
            raise misfit("its steps are not those of its segments")
        for row in rows:
            yield self._ledger.note(StepReplayed(row))
        for divergence in kept.divergences:
            yield DivergenceMeasured(divergence.step, divergence.all_tensors(self._replay.shapes))
        if kept.dispute is not None:
            yield DisputeLocated(kept.dispute)
        self._ledger.go_on_with(kept.judged)
        assert self._keeper is not None
        assert self._keeper.kept is not None
        yield ProgressRestored(self._keeper.kept, len(rows))

    @property
    def left(self) -> tuple[int, ...]:
        """The numbers of the chosen segments that are not judged yet."""
        return tuple(part.number for part in self._chosen(self._ledger.known.judged.segments, None))

    def judge(self, helpers: Helpers | None = None) -> Iterator[Event]:
        """Judge the chosen segments that are not judged yet.

        Args:
            helpers: Who replays segments too. What came out right there is taken; all else is replayed here.

        What keeps one segment from being judged does not keep the others: it is raised when these are judged.

        Raises:
            CommitmentError: A stored state is not the one that the run commits to, or the file is wrong about a log.
            NonFiniteError: A step comes to no result, although the trainer recorded one.
            ProgramError: The same, since an operator rejects its arguments.
            WorkerError: No worker is left, one is refuted, or a segment was replayed by nobody.
        """
        drawn = () if helpers is None else self._drawn(helpers.offered(self.left))
        for part in self._chosen(self._ledger.known.judged.segments, None):
            if self._ledger.known.judged.is_settled and not self._request.continue_after_dispute:
                return
            if helpers is None:
                yield from self._here(part)
            else:
                yield from self._helped(part, helpers, part.number in drawn)
            self._ledger.look_at_clock()
            if self._keeper is not None and not self._ledger.known.trouble:  # what is kept ends before it
                self._keeper.keep(self._ledger.known)
        if helpers is not None:
            yield from helpers.report()
        self._raise_what_was_found()

    def _raise_what_was_found(self) -> None:
        error = self._ledger.known.trouble.error()
        if error is not None:
            raise error
        # It comes last, so that it hides nothing.
        if self._ledger.known.miscount is not None:
            self._ledger.check(CheckNumber.LOG, CheckState.FAILED, self._ledger.known.miscount.sentence)
            raise self._ledger.known.miscount

    def _chosen(self, first: int, end: int | None) -> Iterator[Segment]:
        """Yield the chosen segments, counted from 0, from one on to before another."""
        for number in islice(self._ledger.known.sample.numbers(), first, end):
            yield segment(self._opened.reader.extent, number)

    def _here(self, part: Segment) -> Generator[Event, None, None]:
        """Judge a segment by the audit's own replay."""
        yield from self._replay.replay(part)
        self._ledger.note(SegmentJudged(part.number, (ReplayedBy.AUDIT, here(self._ledger.known.environment))))

    def _drawn(self, numbers: Sequence[int]) -> frozenset[int]:
        """Draw the segments that are replayed here too; whoever replays them does not know it."""
        return frozenset(secrets.SystemRandom().sample(numbers, min(self._request.recheck, len(numbers))))

    def _helped(self, part: Segment, helpers: Helpers, again: bool) -> Iterator[Event]:
        """Judge a segment that somebody else has replayed; ``again`` says that it is replayed here too."""
        found = yield from helpers.result(part.number)
        if isinstance(found, Missing) and found.left_out:
            yield from self._replay.leave_out(part)
            self._ledger.note(Trouble(not_replayed=found.why))
            self._ledger.note(SegmentJudged(part.number, None))
            return
        unfit_for = "" if isinstance(found, Missing) else self._unfit(found.result, part)
        if isinstance(found, Missing) or unfit_for:
            why = found.why if isinstance(found, Missing) else _not_as_followed(part, found, unfit_for)
            if why:
                yield self._ledger.check(CheckNumber.REPLAY, CheckState.RUNNING, why)
            yield from _attended(self._here(part), helpers)
            return
        if again:
            yield from self._again(part, found, helpers)
        yield from self._replay.take(part, found.result)
        self._ledger.note(SegmentJudged(part.number, (found.by, found.place)))

    def _unfit(self, result: SegmentResult, part: Segment) -> str:
        """Why what was found elsewhere cannot be taken, in a few words; empty when it can."""
        sites = self._replay.sites
        try:
            return unfit(result, part, None if sites is None else len(sites), self._replay.signed)
        except LogError as error:  # the audit's own replay says what that means
            return error.sentence

    def _again(self, part: Segment, found: Found, helpers: Helpers) -> Iterator[Event]:
        """Replay a segment that came out right elsewhere; raises WorkerError when it does not come out so here."""
        machine = found.place.machine
        doing = say("Replaying segment {0} here too, as a check of {1}.", part.number, machine)
        yield self._ledger.check(CheckNumber.REPLAY, CheckState.RUNNING, doing)
        own = yield from _attended(relay(replay_segment(self._opened, part), lambda _: None), helpers)
        # Whatever all machines agree on is bound by the run already; a fault of the log shows in the replay alone.
        where = self._unfit(own, part)
        yield self._ledger.check(CheckNumber.REPLAY, CheckState.RUNNING)
        if where:
            # What this machine finds counts, a dispute too.
            yield from self._here(part)
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


def _not_as_followed(part: Segment, found: Found, why: str) -> str:
    """Say that the run is not what this audit followed; nothing of what somebody else says, which proves nothing."""
    if found.by is not ReplayedBy.AUDIT:
        return ""
    return say(
        "Segment {0} of the run is not as it was followed while it was recorded ({1}), so it is replayed here.",
        part.number,
        why,
    )


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
