"""What an audit knows of a run: one value, which every event makes into the next.

``known = fold(known, event)`` is all that changes in an audit. The report is made of the last value, and what is kept
between two segments is its :attr:`Known.judged`, so that both say the same. Most events are those that command line and
window hear (:mod:`counterfoil_core.values.events`); the others (:data:`Fact`) are the audit's own.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self, TypeVar

import msgspec
from msgspec.structs import replace as changed

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import (
    CancelledError,
    CommitmentError,
    CounterfoilError,
    NonFiniteError,
    ProgramError,
    RefusedError,
    WorkerError,
)
from counterfoil_core.base.sentence import Sentence, enumeration, joined, say
from counterfoil_core.base.timestamps import timestamp
from counterfoil_core.bundle.capsule import CapsuleContents
from counterfoil_core.bundle.schema import MAX_STEPS
from counterfoil_core.hearing.inspection import Inspection
from counterfoil_core.replay.steering import Account
from counterfoil_core.values.dispute import Dispute, TensorDivergence
from counterfoil_core.values.events import (
    AuditStarted,
    CheckChanged,
    DisputeLocated,
    DivergenceMeasured,
    Event,
    StepReplayed,
)
from counterfoil_core.values.outcome import Check, CheckNumber, CheckState
from counterfoil_core.values.runfacts import RunFacts
from counterfoil_core.values.sampling import Sample, ranges
from counterfoil_core.values.steptable import StepRow, StepTable
from counterfoil_core.values.workers import ReplayedAt, Where, with_segment

NAMED_STATES = 8
"""Damaged stored states that are named one by one."""

StepNumber = Annotated[int, msgspec.Meta(ge=1, le=MAX_STEPS)]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Moment = Annotated[str, msgspec.Meta(pattern=r"\A([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?\Z")]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e12)]


class Divergence(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """How far the states lay apart after a segment: the tensors that differ; the others are equal."""

    step: StepNumber  #: The last step of the segment.
    differing: tuple[TensorDivergence, ...]  #: Those that differ.

    @classmethod
    def of(cls, step: int, tensors: Iterable[TensorDivergence]) -> Self:
        """Take what differs from a comparison of two states."""
        return cls(step, tuple(tensor for tensor in tensors if tensor.differing))

    def all_tensors(self, shapes: Mapping[str, tuple[int, ...]]) -> tuple[TensorDivergence, ...]:
        """Return the whole comparison again; ``shapes`` has the shape of every state tensor, by name, sorted."""
        found: dict[str, Any] = {tensor.name: tensor for tensor in self.differing}
        return tuple(
            found.get(name) or TensorDivergence(name, shape, 0, 0.0, 0, 0.0, (), 0.0, 0.0)
            for name, shape in shapes.items()
        )


class Judged(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was judged of the chosen segments, but for the rows of the step table: what a later audit can go on from."""

    sample: Sample | None = None  #: The chosen segments; None before they are chosen.
    segments: int = 0  #: How many of these are judged.
    #: How far the states lay apart after those in which they could be compared.
    divergences: tuple[Divergence, ...] = ()
    dispute: Dispute | None = None  #: The first mismatch, or the one that accuses, located; None while there is none.
    omissions: tuple[StepNumber, ...] = ()  #: Steps in whose log decisions are missing.
    #: Matching steps of each program that were added to the account of steering.
    steering_steps: tuple[Count, ...] = ()
    steering_sums: tuple[tuple[Count, ...], ...] = ()  #: ``[sites, 6]``: the account.
    seconds: Seconds = 0.0  #: Wall-clock time of the replay so far.
    replayed_at: tuple[ReplayedAt, ...] = ()  #: Who replayed the segments, and where.
    shares: int = 0  #: How many shares of steps, judged by themselves, give what the trainer signed.
    begun: Moment = ""  #: When the replay began, as files hold times; empty before.
    ended: Moment = ""  #: When its time was last taken.
    sittings: Annotated[int, msgspec.Meta(ge=0, le=2**31)] = 0  #: In how many goes it came this far.

    @property
    def account(self) -> Account:
        """What the log of the matching steps left to the trainer; empty under an exact profile."""
        return Account(self.steering_steps, self.steering_sums)

    @property
    def is_settled(self) -> bool:
        """Whether a step was found that accuses by itself; a difference that does not is no reason to stop."""
        return self.dispute is not None and self.dispute.stands_alone


@dataclass(frozen=True)
class Trouble:
    """What kept segments from being judged; it does not keep the others, and ends the audit when these are judged.

    Troubles can be added up.
    """

    damaged: tuple[int, ...] = ()  #: Steps whose stored state is not the one that the run commits to.
    unreached: tuple[int, ...] = ()  #: Chosen steps before which no state to start from was left.
    #: Why the first step that came to no result, and accuses nobody, did not.
    no_result: NonFiniteError | ProgramError | None = None
    not_replayed: str = ""  #: Why the first segment that nobody replayed was not, as a sentence.

    def __add__(self, other: Trouble) -> Trouble:
        return Trouble(
            tuple(dict.fromkeys((*self.damaged, *other.damaged))),
            (*self.unreached, *other.unreached),
            self.no_result or other.no_result,
            self.not_replayed or other.not_replayed,
        )

    def __bool__(self) -> bool:
        return self != Trouble()

    def error(self) -> CounterfoilError | None:
        """What the audit ends with; None where there was no trouble."""
        if self.damaged:
            return CommitmentError(self.damage, remedy=say("Ask the trainer for the file again."))
        if self.no_result is not None:
            return self.no_result
        if self.not_replayed:
            return WorkerError(
                self.not_replayed,
                remedy=say("Go on with --resume without workers, or on machines with more memory."),
            )
        return None

    @property
    def damage(self) -> Sentence:
        """What is wrong with the stored states, and what could not be judged for it."""
        steps = enumeration([str(step) for step in self.damaged[:NAMED_STATES]])
        what = (
            say("The stored state of step {0} differs from the state root of that step.", steps)
            if len(self.damaged) == 1
            else say("{0} stored states differ from the state roots of their steps ({1}).", len(self.damaged), steps)
        )
        unreached = ", ".join(
            str(first) if first == last else f"{first}-{last}" for first, last in ranges(self.unreached)
        )
        return joined(
            what,
            say(
                "The file was damaged or altered after it was signed, or the trainer signed another state than it "
                "stored."
            ),
            say("Steps that could not be judged for it: {0}.", unreached) if unreached else "",
        )


def all_checks(known: Mapping[CheckNumber, Check]) -> tuple[Check, ...]:
    """All ten checks in order; those that are not known yet are pending."""
    return tuple(known.get(number, Check(number, CheckState.PENDING)) for number in CheckNumber)


@dataclass(frozen=True)
class Known:
    """What an audit knows after some of its events.

    The step table alone grows in place, since a copy for each step would cost more than the step; its rows never
    change, and those of this value are the ones that were there when :attr:`step` came in.
    """

    client_order: Digest | None = None  #: Digest of the client's own order, when one was given.
    #: SHA-256 of the bundle file; None before it is hashed, and where it changed meanwhile.
    bundle_digest: Digest | None = None
    inspection: Inspection | None = None  #: Checks 1 to 6; None before the file is open.
    #: What the run shows of itself; None where nobody asked, and before checks 1 to 6 are made.
    facts: RunFacts | None = None
    #: Device, library versions and switches of this machine; empty before the device is open.
    environment: tuple[tuple[str, str], ...] = ()
    started: bool = False  #: Whether the audit has said what it will replay.
    checks: tuple[Check, ...] = all_checks({})  #: All ten checks, in order.
    steps: StepTable = field(default_factory=StepTable)  #: The step table.
    step: int = 0  #: The step whose row came in last; 0 while there is none.
    judged: Judged = field(default_factory=Judged)  #: What was judged of the chosen segments.
    evidence: CapsuleContents | None = None  #: What a dispute capsule about the dispute would hold.
    trouble: Trouble = field(default_factory=Trouble)  #: What kept segments from being judged.
    #: Why the file is refused that says of a log that it has another number of entries than it has, in the first step
    #: in which it does; nothing signed binds that number, so it accuses nobody.
    miscount: CommitmentError | None = None
    error: CounterfoilError | None = None  #: What ended the audit early; None where nothing did.

    @property
    def interrupted(self) -> bool:
        """Whether the audit did not come to its end, for no reason that lies in the run."""
        return not isinstance(self.error, (RefusedError, NonFiniteError, type(None)))

    @property
    def cancelled(self) -> bool:
        """Whether the user stopped it."""
        return isinstance(self.error, CancelledError)

    @property
    def sample(self) -> Sample:
        """The chosen segments, once they are chosen."""
        assert self.judged.sample is not None
        return self.judged.sample


@dataclass(frozen=True)
class Learned:
    """Something is known now, once and for all; or it is not after all."""

    fields: Mapping[str, Any]  #: Attributes of :class:`Known`, by name.


@dataclass(frozen=True)
class DecisionsOmitted:
    """Decisions are missing in the log of a step that every conforming recorder writes down."""

    step: int


@dataclass(frozen=True)
class SegmentJudged:
    """A segment is judged."""

    number: int  #: Its number.
    where: Where | None  #: Who replayed it, and where; None where nobody did.


@dataclass(frozen=True)
class SharesMatched:
    """So many shares of a step, judged by themselves, give what the trainer signed."""

    count: int


@dataclass(frozen=True)
class ReplayBegan:
    """The replay begins, or goes on with what an earlier one kept: a sitting more."""

    at: str


@dataclass(frozen=True)
class TimePassed:
    """The replay took so many seconds more, until a moment."""

    seconds: float
    at: str = ""


Fact = Learned | Account | DecisionsOmitted | ReplayBegan | SegmentJudged | SharesMatched | TimePassed | Trouble
"""What an audit comes to know and says nobody at once. An account is that of steps which match, for each of them."""


def fold(known: Known, event: Event | Fact) -> Known:
    """Return what is known after an event. Those that only say where the replay stands change nothing."""
    match event:
        case Learned(fields):
            return replace(known, **fields)
        case AuditStarted(checks=checks, sample=sample):
            return replace(known, started=True, checks=checks, judged=changed(known.judged, sample=sample))
        case CheckChanged(check):
            return replace(known, checks=tuple(check if one.number is check.number else one for one in known.checks))
        case StepReplayed(row):
            return _with_row(known, row)
        case Trouble():
            return replace(known, trouble=known.trouble + event)
    return replace(known, judged=_judging(known.judged, event))


def _judging(judged: Judged, event: Event | Fact) -> Judged:
    match event:
        case DivergenceMeasured(step, tensors):
            return changed(judged, divergences=(*judged.divergences, Divergence.of(step, tensors)))
        case DisputeLocated(dispute):
            return changed(judged, dispute=dispute)
        case DecisionsOmitted(step):
            return changed(judged, omissions=(*judged.omissions, step))
        case Account():
            total = judged.account + event
            return changed(judged, steering_steps=total.steps, steering_sums=total.sums)
        case SegmentJudged(number, where):
            at = judged.replayed_at if where is None else with_segment(judged.replayed_at, number, where)
            return changed(judged, segments=judged.segments + 1, replayed_at=at)
        case SharesMatched(count):
            return changed(judged, shares=judged.shares + count)
        case ReplayBegan(at):
            return changed(judged, begun=judged.begun or at, sittings=judged.sittings + 1)
        case TimePassed(seconds, at):
            return changed(judged, seconds=judged.seconds + seconds, ended=at or judged.ended)
    return judged


def _with_row(known: Known, row: StepRow) -> Known:
    said = known.steps.column("log_entries").item(row.step - 1)
    known.steps.put([row])
    miscount = known.miscount
    if miscount is None and row.replay_leaf is not None and row.log_entries != said:
        sentence = say(
            "The file says that the rounding log of step {0} has {1} entries, and the log itself, which the "
            "trainer signed, has {2}. Nobody signed that number: the file was altered or damaged, or was not "
            "recorded by Counterfoil.",
            row.step,
            said,
            row.log_entries,
        )
        miscount = CommitmentError(sentence, remedy=say("Ask the trainer for the file again."))
    return replace(known, step=row.step, miscount=miscount)


Said = TypeVar("Said", bound=Event | Fact)


class Ledger:
    """The one thing in an audit that changes.

    Attributes:
        known: What is known now.
    """

    def __init__(self) -> None:
        self.known = Known()
        self._looked = time.perf_counter()

    def note(self, event: Said) -> Said:
        """Fold an event into what is known, and return it, to be said."""
        self.known = fold(self.known, event)
        return event

    def learn(self, **fields: object) -> None:
        """Note what is known now, by attributes of :class:`Known`."""
        self.note(Learned(fields))

    def check(self, number: CheckNumber, state: CheckState, detail: str = "") -> CheckChanged:
        """Note how a check stands."""
        return self.note(CheckChanged(Check(number, state, detail)))

    def start_clock(self) -> None:
        """The time of the replay begins."""
        self._looked = time.perf_counter()
        self.note(ReplayBegan(timestamp()))

    def go_on_with(self, kept: Judged) -> None:
        """What an earlier sitting kept is what is known; this one is a sitting more."""
        now = self.known.judged
        self.learn(judged=changed(kept, begun=kept.begun or now.begun, sittings=kept.sittings + now.sittings))

    def look_at_clock(self) -> None:
        """Note the time since the last look."""
        now = time.perf_counter()
        self.note(TimePassed(now - self._looked, timestamp()))
        self._looked = now
