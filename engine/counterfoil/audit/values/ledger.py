"""What verdicts say of each trainer's key over many runs, and how much of the next run to replay: plain values.

The model, its assumptions and what it does not know are in docs/ledger.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import GivenFileError
from counterfoil_core.base.sentence import say
from counterfoil_core.values.sampling import bad_segments, passing_probability, probability_text, sample_size

PRIOR_BAD = 1.0
PRIOR_GOOD = 1.0
"""The Beta distribution of what share of a trainer's runs is bad, before anything is known: all shares alike."""


class RunOutcome(Enum):
    """What the verdicts that count say of one run together."""

    CLEAN = "CLEAN"
    """VERIFIED by one at least, and disputed by none."""
    DISPUTED = "DISPUTED"
    """DISPUTED by one at least, whose dispute nobody rejected."""
    UNDECIDED = "UNDECIDED"
    """Neither: stopped, refused, failed, or a dispute that an adjudication rejected."""


@dataclass(frozen=True)
class LedgerVerdict:
    """A verdict or an adjudication that counts."""

    name: str  #: Its file, below the folder.
    kind: str  #: ``verdict`` or ``adjudication``.
    outcome: str  #: Its outcome, by name.
    auditor: str  #: Key id of the key that signed it.
    signed_at: str  #: ISO 8601 time in UTC, as that auditor says.
    run_root: Digest | None  #: The run that it is about; None where its root could not be read.
    order: Digest | None  #: The digest of the order that the run holds; None where it could not be read.
    title: str  #: Title of the order, as the client named it.
    steps_replayed: int  #: Steps that were replayed and judged.
    steps_recorded: int  #: Steps of the run.
    segments: int  #: Segments of the run; 0 where none could be chosen.
    chosen: int  #: How many of them were replayed.
    random: bool  #: Whether they were drawn at random, or all were taken; others a trainer may have foreseen.
    disputed_step: int | None  #: The first step that differs; None when none does.
    replied: bool  #: Whether the trainer answered it.
    judged: tuple[int, int] | None = None  #: First and last step that an adjudication is about; None of a verdict.


@dataclass(frozen=True)
class LedgerRun:
    """One run of a trainer."""

    run_root: Digest  #: Its root.
    outcome: RunOutcome  #: What the verdicts say of it together.
    verdicts: tuple[LedgerVerdict, ...]  #: All that count, by time; adjudications among them.
    #: The probability with which the verdict that looked at most would have found it bad, if that share of its segments
    #: had been bad which :class:`RatePolicy` names; 0 for a run that is not clean.
    detection: float

    @property
    def first_signed(self) -> str:
        """When the first of them was signed, ISO 8601 in UTC."""
        return self.verdicts[0].signed_at

    @property
    def last_signed(self) -> str:
        """When the last of them was signed, ISO 8601 in UTC."""
        return self.verdicts[-1].signed_at


@dataclass(frozen=True)
class RatePolicy:
    """What whoever orders wants to be sure of."""

    segments: int = 100  #: Segments of the next run.
    bad_fraction: float = 0.01  #: The share of its segments that a bad run has at least; as ``plan --bad-fraction``.
    risk: float = 0.05  #: How probable it may be at most that the next run is bad and passes.
    floor: float = 0.05  #: The least share of segments, whatever a trainer's past is.
    clean_runs: int = 5  #: How many clean runs after a dispute end that all segments are replayed.

    def __post_init__(self) -> None:
        shares = (self.bad_fraction, self.risk, self.floor)
        if not all(0.0 < share < 1.0 for share in shares) or not 1 <= self.segments <= 10**9 or self.clean_runs < 1:
            raise GivenFileError(
                say("No sampling rate can be proposed for these wishes."),
                remedy=say(
                    "Shares and risks lie between 0 and 1, without them; a run has at least one segment, and at least "
                    "one clean run ends the time after a dispute."
                ),
            )


@dataclass(frozen=True)
class Rate:
    """How much of a trainer's next run to replay."""

    chosen: int  #: Segments to replay.
    segments: int  #: Segments of the run.
    chance_bad: float  #: How probable it is that the next run is bad, by the model.
    reasons: tuple[str, ...]  #: Why, in plain sentences.


@dataclass(frozen=True)
class TrainerRecord:
    """What is known of a trainer's key."""

    key_id: str  #: SHA-256 key id of the key that signed the runs.
    runs: tuple[LedgerRun, ...]  #: By time, as :func:`by_time` has them.
    rate: Rate  #: What is proposed for the next run.


@dataclass(frozen=True)
class NotCounted:
    """A file that changes nothing, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Ledger:
    """What a folder of signed files says."""

    trainers: tuple[TrainerRecord, ...]  #: By key id.
    not_counted: tuple[NotCounted, ...]  #: Files that change nothing, by name.


@dataclass(frozen=True)
class LedgerProgress:
    """How many of how many files of a folder are read."""

    done: int
    total: int


def with_policy(ledger: Ledger, policy: RatePolicy) -> Ledger:
    """Propose other rates for what was read of a folder. Pure."""

    def again(trainer: TrainerRecord) -> TrainerRecord:
        runs = by_time(run_of(run.run_root, run.verdicts, policy.bad_fraction) for run in trainer.runs)
        return TrainerRecord(trainer.key_id, runs, propose(runs, policy))

    return Ledger(tuple(map(again, ledger.trainers)), ledger.not_counted)


def run_of(run_root: Digest, verdicts: Iterable[LedgerVerdict], bad_fraction: float) -> LedgerRun:
    """Put together what the verdicts that count say of a run. Pure.

    A dispute counts unless an adjudication rejected it and none confirmed it; a confirmed one counts without the
    verdict that raised it. Only an adjudication of the disputed step, under the order of the verdict, rejects it: of
    any other step of the run, or of another order for which the same run root was signed, a capsule can be had that
    an honest auditor rejects.
    """
    told = tuple(sorted(verdicts, key=lambda one: (one.signed_at, one.name)))
    judged = {one.outcome for one in told if one.kind == "adjudication"}
    disputes = [one for one in told if one.kind == "verdict" and one.outcome == "DISPUTED"]
    if "CONFIRMED" in judged or not all(any(_rejects(one, dispute) for one in told) for dispute in disputes):
        return LedgerRun(run_root, RunOutcome.DISPUTED, told, 0.0)
    clean = [one for one in told if one.kind == "verdict" and one.outcome == "VERIFIED"]
    if not clean or disputes:
        return LedgerRun(run_root, RunOutcome.UNDECIDED, told, 0.0)
    return LedgerRun(run_root, RunOutcome.CLEAN, told, max(_detection(one, bad_fraction) for one in clean))


def by_time(runs: Iterable[LedgerRun]) -> tuple[LedgerRun, ...]:
    """Sort the runs of a trainer so that those behind a dispute came after it. Pure.

    A run stands at its first verdict, so that to audit an old one again makes it no newer; a disputed one at its last.
    """

    def place(run: LedgerRun) -> tuple[str, bool, str]:
        disputed = run.outcome is RunOutcome.DISPUTED
        return run.last_signed if disputed else run.first_signed, disputed, run.run_root.hex

    return tuple(sorted(runs, key=place))


def propose(runs: Sequence[LedgerRun], policy: RatePolicy) -> Rate:
    """Propose how many segments of a trainer's next run to replay. Pure.

    The share of bad runs has a Beta(1, 1) distribution beforehand. A disputed run counts as one bad one; a clean run as
    that part of a good one with which its audit would have found it bad. The expected share p of bad runs is how
    probable it is that the next run is bad; the sample is the least one that lets a bad run pass with a probability of
    at most risk / p. It never falls below the floor, and it is the whole run after a dispute.

    Args:
        runs: The trainer's runs, as :func:`by_time` has them.
        policy: What is wanted.
    """
    bad = sum(run.outcome is RunOutcome.DISPUTED for run in runs)
    seen = sum(run.detection for run in runs)
    chance = (PRIOR_BAD + bad) / (PRIOR_BAD + PRIOR_GOOD + bad + seen)
    total = policy.segments
    floor = bad_segments(total, policy.floor)
    since = _clean_since_dispute(runs)
    if since is not None and since < policy.clean_runs:
        return Rate(
            total,
            total,
            chance,
            (
                say(
                    "A dispute counts, and {0} clean runs that were replayed whole came after it; all is replayed "
                    "until there are {1}.",
                    since,
                    policy.clean_runs,
                ),
            ),
        )
    said = say(
        "Disputed runs: {0}. Clean ones count as {1} that were replayed whole. The next is bad with probability {2}.",
        bad,
        f"{seen:.2f}",
        probability_text(chance),
    )
    passing = min(1.0, policy.risk / chance)
    wanted = 0 if passing >= 1.0 else sample_size(total, bad_segments(total, policy.bad_fraction), 1.0 - passing)
    if wanted <= floor:
        why = say("The floor of {0} segments holds: a good past may be saved up for one bad run.", floor)
        return Rate(floor, total, chance, (said, why))
    why = say(
        "{0} of {1} segments let a run with {2} of bad segments pass with a probability of at most {3}.",
        wanted,
        total,
        policy.bad_fraction,
        probability_text(passing),
    )
    return Rate(wanted, total, chance, (said, why))


def _rejects(one: LedgerVerdict, dispute: LedgerVerdict) -> bool:
    """Whether an adjudication says that the step of a dispute came out as the trainer signed it."""
    if one.kind != "adjudication" or one.outcome != "REJECTED" or one.judged is None or dispute.disputed_step is None:
        return False
    first, last = one.judged
    return one.order is not None and one.order == dispute.order and first <= dispute.disputed_step <= last


def _clean_since_dispute(runs: Sequence[LedgerRun]) -> int | None:
    """Clean runs, replayed whole, since the last dispute; None where there was none."""
    last = max((place for place, run in enumerate(runs) if run.outcome is RunOutcome.DISPUTED), default=None)
    if last is None:
        return None
    return sum(run.outcome is RunOutcome.CLEAN and run.detection == 1.0 for run in runs[last + 1 :])


def _detection(verdict: LedgerVerdict, bad_fraction: float) -> float:
    if verdict.segments == 0 or not verdict.random:
        return 0.0
    if verdict.chosen >= verdict.segments:
        return 1.0
    bad = bad_segments(verdict.segments, bad_fraction)
    return 1.0 - passing_probability(verdict.segments, bad, verdict.chosen)
