"""From what a replay found, of a run or of a capsule, to an outcome and its reason.

Pure: no file, no clock, no arithmetic on tensors.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from counterfoil_core.base.errors import (
    CancelledError,
    CounterfoilError,
    FileChangedError,
    NonFiniteError,
    ObstacleError,
    RefusedError,
)
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.kernels.result import Counts
from counterfoil_core.values.account import accusation
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.dispute import Dispute
from counterfoil_core.values.outcome import Check, CheckNumber, CheckState, Outcome, without_log
from counterfoil_core.values.report import Steering
from counterfoil_core.values.sampling import Sample, bad_segments, passing_probability, shortfall
from counterfoil_core.values.steptable import Tally

SHARE_FRACTION = 0.01
"""The share of bad pairs of a step and a share for which an audit of chosen shares says how likely they pass."""


@dataclass(frozen=True)
class Coverage:
    """How much of the run an audit set out to replay."""

    ordered: int  #: Number of steps of the order.
    recorded: int  #: Number of steps of the run.
    planned: int  #: Number of steps in the chosen segments.
    sample: Sample | None = None  #: The chosen segments; None when the audit ended before it could choose.
    may_stop: bool = False  #: Whether the order has a rule by which the run ends early.
    shares: int = 0  #: How many shares of a step were chosen to be judged by themselves; 0 where whole steps are.
    shares_of: int = 0  #: How many shares a step has.
    shares_matched: int = 0  #: How many shares of steps were judged so, and give what the trainer signed.

    @property
    def partial(self) -> Sample | None:
        """The sample, if it leaves segments out."""
        return None if self.sample is None or self.sample.whole else self.sample


def conclude(
    tally: Tally,
    *,
    dispute: Dispute | None,
    coverage: Coverage,
    error: CounterfoilError | None,
    cancelled: bool,
    steering: Steering | None = None,
    exact: bool = False,
) -> tuple[Outcome, str, tuple[Check, ...]]:
    """Return the outcome, its reason in plain sentences, and the final state of checks 8 to 10.

    Args:
        tally: Sums over the steps of the replay.
        dispute: The first mismatch, or the one that accuses, located; None while there is none.
        coverage: What it set out to replay.
        error: What ended the audit early, or None.
        cancelled: Whether the user stopped it.
        steering: How far the trainer could have steered the matching steps; None when nothing was replayed, and under
            an exact profile.
        exact: Whether the order's profile is an exact one.
    """
    # The order of the questions is the argument. What nobody can be blamed for comes first: a file that changed under
    # the audit. Then what the trainer signed and cannot take back: a broken file, an accusation that two replays and
    # exact arithmetic bear out. Then everything that leaves a doubt about this machine or this audit, which accuses
    # nobody. VERIFIED is what is left when no question is open.
    checks = _checks(tally, coverage, steering, exact) if tally.judged else ()
    # Of a run that was refused before a step was judged, the refusal says all.
    short = shortfall(coverage.recorded, coverage.ordered) if tally.judged else ""
    if isinstance(error, FileChangedError):
        return Outcome.INCONCLUSIVE, _file_changed(error, dispute), checks
    if isinstance(error, RefusedError) and dispute is None:
        return Outcome.REFUSED, joined(_refused(tally, coverage, error), short), checks
    if dispute is not None:
        beside = error.sentence if isinstance(error, (RefusedError, NonFiniteError)) else ""
        outcome = Outcome.DISPUTED if dispute.accuses else Outcome.INCONCLUSIVE
        return outcome, joined(_differs(tally, dispute, exact), beside, short), checks
    if error is not None:
        blameless = isinstance(error, (NonFiniteError, ObstacleError))
        return Outcome.INCONCLUSIVE if blameless else Outcome.ERROR, str(error), checks
    if coverage.shares and not cancelled:
        return Outcome.INCONCLUSIVE, joined(_of_shares(coverage), short), checks
    doubt = _stopped(tally, coverage, cancelled) or _doubt_of_log(tally, steering)
    if not doubt and tally.judged < coverage.planned:
        doubt = say("Only {0} of the {1} chosen steps could be judged.", tally.judged, coverage.planned)
    if doubt:
        return Outcome.INCONCLUSIVE, joined(doubt, short), checks
    return Outcome.VERIFIED, joined(_verified(tally, coverage), _ended(coverage)), checks


def _differs(tally: Tally, dispute: Dispute, exact: bool) -> str:
    if dispute.accuses:
        return _disputed(tally, dispute)
    if dispute.confirmed and dispute.finding is not None:
        return say("Step {0} came out different from the trainer's. {1}", dispute.step, dispute.finding.sentence)
    return _unconfirmed(dispute, exact)


def _stopped(tally: Tally, coverage: Coverage, cancelled: bool) -> str:
    """Where an audit was stopped before it could tell; empty where it was not."""
    if tally.mismatched:
        return say(
            "Step {0} came out different from the trainer's, but the audit was stopped before a second replay "
            "of it could confirm this machine's result. Audit the run again.",
            tally.mismatched[0],
        )
    if cancelled and not tally.judged:
        return say("The audit was stopped before any step was judged.")
    if cancelled:
        return say("The audit was stopped after {0} of {1} steps; all of these match.", tally.judged, coverage.planned)
    return ""


def _doubt_of_log(tally: Tally, steering: Steering | None) -> str:
    """What makes the log of matching steps doubtful; empty where nothing does."""
    if tally.contradictions or tally.omissions:
        return say(
            "Every replayed step matches, but the rounding log has {0} contradictions and {1} omissions, which "
            "an honest run on sound hardware does not have: either the log was altered, or this machine's "
            "arithmetic lies outside the margin.",
            tally.contradictions,
            tally.omissions,
        )
    if steering is not None and steering.suspects:
        return say(
            "Every replayed step matches, but {0} of {1} logged directions that hardware does not flip differ "
            "from this machine's own rounding, more than chance explains in {2}: the trainer seems to have "
            "chosen them at will.",
            steering.steered,
            steering.steerable,
            ", ".join(steering.suspects),
        )
    return ""


def _verified(tally: Tally, coverage: Coverage) -> str:
    if coverage.partial is None:
        return say(
            "All {0} steps were replayed, and every one came out exactly as the trainer signed it.", coverage.recorded
        )
    return say(
        "{0} of {1} steps were replayed, and every one came out exactly as the trainer signed it. {2}",
        tally.judged,
        coverage.recorded,
        coverage.partial.describe(),
    )


def _of_shares(coverage: Coverage) -> str:
    """Say what it means that chosen shares of chosen steps are as the trainer signed them, and what it does not."""
    sample = coverage.sample
    assert sample is not None
    pairs, wanted = sample.total * coverage.shares_of, sample.count * coverage.shares
    if coverage.shares_matched < wanted:
        return say("Only {0} of the {1} chosen shares could be judged.", coverage.shares_matched, wanted)
    bad = bad_segments(pairs, SHARE_FRACTION)
    return say(
        "{0} shares of the first steps of {1} of {2} segments were replayed, each by itself from the stored state "
        "before it, and each gives what the trainer signed. If {3} or more of these {4} pairs of such a step and a "
        "share were wrong, so many pairs drawn at random would show none with a probability of {5:.3g}. Nothing is "
        "said of other steps, nor of combination and update, which take all shares: whole steps are replayed for that.",
        wanted,
        sample.count,
        sample.total,
        bad,
        pairs,
        passing_probability(pairs, bad, wanted),
    )


def _ended(coverage: Coverage) -> str:
    """Say what is known of where the run ends; empty where there is nothing to say.

    Losses of steps that were not replayed are the trainer's word, and where the run ends hangs on each of them.
    """
    if not coverage.may_stop or (coverage.partial is None and coverage.recorded == coverage.ordered):
        return ""
    if coverage.partial is None:
        return say(
            "The run has {0} of {1} ordered steps: by the losses of these steps the order's rule ends it there.",
            coverage.recorded,
            coverage.ordered,
        )
    return say(
        "The run has {0} of {1} ordered steps. That the order's rule ends it there, and not elsewhere, follows from "
        "the losses of all its steps; those of steps that were not replayed are the trainer's word, and one of them is "
        "enough to end a run elsewhere.",
        coverage.recorded,
        coverage.ordered,
    )


def _refused(tally: Tally, coverage: Coverage, error: RefusedError) -> str:
    if not tally.judged or tally.mismatched:
        return say("{0} Nothing was concluded about the training.", error.sentence)
    return say(
        "{0} {1} of {2} chosen steps were judged, and none of them differs from what the trainer signed. Nothing more "
        "was concluded about the training.",
        error.sentence,
        tally.judged,
        coverage.planned,
    )


def _unconfirmed(dispute: Dispute, exact: bool) -> str:
    if exact:
        return say(
            "Step {0} came out different from the trainer's, but this machine does not give its own result again when "
            "it computes products in another form and sums in another order, although every result is defined: its "
            "arithmetic is off. Nobody is accused; replay the run on another machine.",
            dispute.step,
        )
    return say(
        "Step {0} came out different from the trainer's, but this machine does not give its own result "
        "again when reductions run in another order: its arithmetic lies outside the margin. Nobody is "
        "accused; replay the run on another machine.",
        dispute.step,
    )


def _file_changed(error: FileChangedError, dispute: Dispute | None) -> str:
    if dispute is None or not dispute.stands_alone:
        return say("{0} Nobody is to blame for what such a file says.", error)
    return say(
        "{0} Before that, step {1} came out different from the trainer's; a verdict would name a file that is "
        "no more, but the dispute capsule of that step stands by itself.",
        error,
        dispute.step,
    )


def _disputed(tally: Tally, dispute: Dispute) -> str:
    before = sum(step < dispute.step for step in tally.mismatched)
    after = sum(step > dispute.step for step in tally.mismatched)
    earlier = say("Earlier steps that differ: {0}.", before) if before else ""
    later = say("Later steps that differ, judged from the trainer's own checkpoints: {0}.", after) if after else ""
    return joined(accusation(dispute), earlier, later)


def _differing(tally: Tally) -> str:
    first = tally.mismatched[0]
    if len(tally.mismatched) == 1:
        return say("Of {0} judged steps one differs: {1}.", tally.judged, first)
    return say("Of {0} judged steps {1} differ; the first is {2}.", tally.judged, len(tally.mismatched), first)


def _checks(tally: Tally, coverage: Coverage, steering: Steering | None, exact: bool) -> tuple[Check, ...]:
    replay = (
        Check(
            CheckNumber.REPLAY,
            CheckState.FAILED,
            _differing(tally),
        )
        if tally.mismatched
        else Check(CheckNumber.REPLAY, CheckState.PASSED, say("All {0} judged steps match.", tally.judged))
    )
    suspects = steering.suspects if steering is not None else ()
    bad = tally.contradictions or tally.omissions or suspects
    chosen = say("Directions look chosen in {0}.", ", ".join(suspects)) if suspects else ""
    log = Check(
        CheckNumber.LOG,
        CheckState.FAILED if bad else CheckState.PASSED,
        joined(
            say(
                "{0} entries for {1} rounded values: {2} corrections, {3} contradictions, {4} omissions.",
                tally.log_entries,
                tally.rounded_values,
                tally.corrections,
                tally.contradictions,
                tally.omissions,
            ),
            chosen,
        ),
    )
    detail = say("{0} of {1} steps were judged.", tally.judged, coverage.recorded)
    detail = joined(detail, shortfall(coverage.recorded, coverage.ordered))
    if coverage.partial is not None:
        detail = joined(detail, coverage.partial.describe())
    whole = tally.judged == coverage.recorded
    covered = Check(CheckNumber.COVERAGE, CheckState.PASSED if whole else CheckState.WARNING, detail)
    return replay, without_log() if exact else log, covered


@dataclass
class StepTally:
    """What the replay of a capsule's steps showed. The log is judged on matching steps only."""

    replayed: int = 0  #: Steps replayed and judged.
    matching: int = 0  #: Steps whose leaf was the trainer's.
    #: The step that accuses the trainer, after which nothing is replayed; else the first that differs.
    dispute: Dispute | None = None
    counts: Counts = field(default_factory=Counts)  #: What following the log showed, over the matching steps.
    seconds: float = 0.0  #: Wall-clock time.
    exact: bool = False  #: Whether the order's profile is an exact one.


def conclude_adjudication(
    tally: StepTally, step: int, error: CounterfoilError | None, part: str = ""
) -> tuple[AdjudicationOutcome, str]:
    """Return the outcome and its reason in plain sentences. Pure.

    Args:
        tally: What the replay found.
        step: The step that the capsule disputes.
        error: What ended the adjudication early, or None.
        part: The part of the step that it disputes, where shares make it.
    """
    dispute, counts = tally.dispute, tally.counts
    if isinstance(error, RefusedError):
        return AdjudicationOutcome.REFUSED, say("{0} Nothing was concluded about the dispute.", error.sentence)
    if isinstance(error, CancelledError):
        return AdjudicationOutcome.INCONCLUSIVE, say("The adjudication was stopped before it came to an end.")
    if isinstance(error, (NonFiniteError, ObstacleError)):
        return AdjudicationOutcome.INCONCLUSIVE, str(error)
    if error is not None:
        return AdjudicationOutcome.ERROR, str(error)
    if dispute is not None and not dispute.accuses and dispute.finding is not None:
        return (
            AdjudicationOutcome.INCONCLUSIVE,
            say("Step {0} came out different from the trainer's. {1}", dispute.step, dispute.finding.sentence),
        )
    if dispute is not None and not dispute.confirmed and tally.exact:
        return (
            AdjudicationOutcome.INCONCLUSIVE,
            say(
                "Step {0} came out different from the trainer's, but this machine does not give its own result again "
                "when it computes products in another form and sums in another order, although every result is "
                "defined: its arithmetic is off. Nobody is accused; adjudicate on another machine.",
                dispute.step,
            ),
        )
    if dispute is not None and not dispute.confirmed:
        return (
            AdjudicationOutcome.INCONCLUSIVE,
            say(
                "Step {0} came out different from the trainer's, but this machine does not give its own result "
                "again when reductions run in another order: its arithmetic lies outside the margin. Nobody is "
                "accused; adjudicate on another machine.",
                dispute.step,
            ),
        )
    if dispute is not None:
        earlier = (
            say("The capsule disputes step {0}; already the earlier step {1} is wrong.", step, dispute.step)
            if dispute.step != step
            else ""
        )
        return AdjudicationOutcome.CONFIRMED, joined(accusation(dispute, capsule=True), earlier)
    if counts.contradictions or counts.omissions:
        return (
            AdjudicationOutcome.INCONCLUSIVE,
            say(
                "Step {0} has the trainer's Merkle leaf, but the log has {1} contradictions and {2} omissions, "
                "which an honest run on sound hardware does not have.",
                step,
                counts.contradictions,
                counts.omissions,
            ),
        )
    if part:
        return (
            AdjudicationOutcome.REJECTED,
            say(
                "In the trainer's step {0} the disputed part ({1}) is right: it gives what the trainer signed, bit for "
                "bit, so there is nothing to dispute in it. Other parts of the step, and other steps, were not looked "
                "at.",
                step,
                part,
            ),
        )
    return (
        AdjudicationOutcome.REJECTED,
        say(
            "The trainer's step {0} is right: the replay has its Merkle leaf bit for bit, so there is nothing to "
            "dispute in it. Other steps of the run were not looked at.",
            step,
        ),
    )


def replay_checks(tally: StepTally, ordered: int, recorded: int) -> tuple[Check, Check, Check]:
    """Return checks 8 to 10 after the replay.

    Args:
        tally: What the replay found.
        ordered: Number of steps of the order.
        recorded: Number of steps of the run, as its trainer signed it.
    """
    dispute, counts = tally.dispute, tally.counts
    found = (
        say("{0} of {1} judged steps match.", tally.matching, tally.replayed)
        if dispute is None
        else say("{0} of {1} judged steps match; step {2} does not.", tally.matching, tally.replayed, dispute.step)
    )
    replay = Check(
        CheckNumber.REPLAY,
        CheckState.PASSED if dispute is None else CheckState.FAILED,
        found,
    )
    log = (
        Check(
            CheckNumber.LOG,
            CheckState.FAILED if counts.contradictions or counts.omissions else CheckState.PASSED,
            say(
                "{0} entries in matching steps: {1} corrections, {2} contradictions, {3} omissions.",
                counts.entries,
                counts.corrections,
                counts.contradictions,
                counts.omissions,
            ),
        )
        if tally.matching
        else Check(CheckNumber.LOG, CheckState.SKIPPED, say("The log of a step that differs belongs to other values."))
    )
    coverage = Check(
        CheckNumber.COVERAGE,
        CheckState.WARNING,
        joined(
            say(
                "{0} of {1} steps were replayed: a capsule is about one step, from the last committed state before it.",
                tally.replayed,
                recorded,
            ),
            shortfall(recorded, ordered),
        ),
    )
    return replay, without_log() if tally.exact else log, coverage
