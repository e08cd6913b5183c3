"""The judged steps of a capsule, and what an adjudication concludes from them. Pure: no file, no clock, no tensors."""

from __future__ import annotations

from dataclasses import dataclass, field

from counterfoil.audit.values.account import accusation
from counterfoil.audit.values.adjudication import AdjudicationOutcome
from counterfoil.audit.values.dispute import Dispute
from counterfoil.audit.values.outcome import Check, CheckNumber, CheckState, without_log
from counterfoil.base.errors import CancelledError, CounterfoilError, NonFiniteError, ObstacleError, RefusedError
from counterfoil.base.sentence import joined, say
from counterfoil.kernels.counts import Counts


@dataclass
class StepTally:
    """What the replay of a capsule's steps showed. The log is judged on matching steps only.

    Attributes:
        replayed: Steps replayed and judged.
        matching: Steps whose leaf was the trainer's.
        dispute: The step that accuses the trainer, after which nothing is replayed; else the first that differs.
        counts: What following the log showed, over the matching steps.
        seconds: Wall-clock time.
        exact: Whether the order's profile is an exact one.
    """

    replayed: int = 0
    matching: int = 0
    dispute: Dispute | None = None
    counts: Counts = field(default_factory=Counts)
    seconds: float = 0.0
    exact: bool = False


def conclude_adjudication(
    tally: StepTally, step: int, error: CounterfoilError | None
) -> tuple[AdjudicationOutcome, str]:
    """Return the outcome and its reason in plain sentences. Pure.

    Args:
        tally: What the replay found.
        step: The step that the capsule disputes.
        error: What ended the adjudication early, or None.
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
    return (
        AdjudicationOutcome.REJECTED,
        say(
            "The trainer's step {0} is right: the replay has its Merkle leaf bit for bit, so there is nothing to "
            "dispute in it. Other steps of the run were not looked at.",
            step,
        ),
    )


def replay_checks(tally: StepTally, steps_ordered: int) -> tuple[Check, Check, Check]:
    """Return checks 8 to 10 after the replay."""
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
        say(
            "{0} of {1} steps were replayed: a capsule is about one step, from the last committed state before it.",
            tally.replayed,
            steps_ordered,
        ),
    )
    return replay, without_log() if tally.exact else log, coverage
