"""The judged steps of a capsule, and what an adjudication concludes from them. Pure: no file, no clock, no tensors."""

from __future__ import annotations

from dataclasses import dataclass, field

from counterfoil.audit.values.adjudication import AdjudicationOutcome
from counterfoil.audit.values.dispute import Dispute, Right
from counterfoil.audit.values.outcome import Check, CheckNumber, CheckState
from counterfoil.errors import CancelledError, CounterfoilError, NonFiniteError, ObstacleError, RefusedError
from counterfoil.rounding.counts import Counts


@dataclass
class StepTally:
    """What the replay of a capsule's steps showed. The log is judged on matching steps only.

    Attributes:
        replayed: Steps replayed and judged.
        matching: Steps whose leaf was the trainer's.
        dispute: The step that accuses the trainer, after which nothing is replayed; else the first that differs.
        counts: What following the log showed, over the matching steps.
        seconds: Wall-clock time.
    """

    replayed: int = 0
    matching: int = 0
    dispute: Dispute | None = None
    counts: Counts = field(default_factory=Counts)
    seconds: float = 0.0


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
        return AdjudicationOutcome.REFUSED, f"{error.sentence} Nothing was concluded about the dispute."
    if isinstance(error, CancelledError):
        return AdjudicationOutcome.INCONCLUSIVE, "The adjudication was stopped before it came to an end."
    if isinstance(error, (NonFiniteError, ObstacleError)):
        return AdjudicationOutcome.INCONCLUSIVE, str(error)
    if error is not None:
        return AdjudicationOutcome.ERROR, str(error)
    if dispute is not None and not dispute.accuses and dispute.finding is not None:
        return (
            AdjudicationOutcome.INCONCLUSIVE,
            f"Step {dispute.step} came out different from the trainer's. {dispute.finding.sentence}",
        )
    if dispute is not None and not dispute.confirmed:
        return (
            AdjudicationOutcome.INCONCLUSIVE,
            f"Step {dispute.step} came out different from the trainer's, but this machine does not give its own result "
            "again when reductions run in another order: its arithmetic lies outside the margin. Nobody is accused; "
            "adjudicate on another machine.",
        )
    if dispute is not None:
        earlier = (
            f" The capsule disputes step {step}; already the earlier step {dispute.step} is wrong."
            if dispute.step != step
            else ""
        )
        return AdjudicationOutcome.CONFIRMED, f"{_confirmed(dispute)}{earlier}"
    if counts.contradictions or counts.omissions:
        return (
            AdjudicationOutcome.INCONCLUSIVE,
            f"Step {step} has the trainer's Merkle leaf, but the log has {counts.contradictions} contradictions and "
            f"{counts.omissions} omissions, which an honest run on sound hardware does not have.",
        )
    return (
        AdjudicationOutcome.REJECTED,
        f"The trainer's step {step} is right: the replay has its Merkle leaf bit for bit, so there is nothing to "
        "dispute in it. Other steps of the run were not looked at.",
    )


def _confirmed(dispute: Dispute) -> str:
    assert dispute.finding is not None, "nobody is accused without a finding"
    if dispute.finding.right is Right.UNREADABLE:
        return dispute.finding.sentence
    *before, last = dispute.parts
    what = f"{', '.join(before)} and {last}" if before else last
    return (
        f"Step {dispute.step} is not what was ordered: replayed from the state that the run itself commits to, it "
        f"gives other values than the trainer signed (in {what}). A second replay with every reduction in another "
        "order and exact arithmetic confirm this machine's result."
    )


def replay_checks(tally: StepTally, steps_ordered: int) -> tuple[Check, Check, Check]:
    """Return checks 8 to 10 after the replay."""
    dispute, counts = tally.dispute, tally.counts
    sentence = f"{tally.matching} of {tally.replayed} replayed steps match"
    if dispute is not None:
        sentence += f"; step {dispute.step} does not"
    replay = Check(
        CheckNumber.REPLAY,
        CheckState.PASSED if dispute is None else CheckState.FAILED,
        f"{sentence}.",
    )
    log = (
        Check(
            CheckNumber.LOG,
            CheckState.FAILED if counts.contradictions or counts.omissions else CheckState.PASSED,
            f"{counts.entries} entries in matching steps: {counts.corrections} corrections, {counts.contradictions} "
            f"contradictions, {counts.omissions} omissions.",
        )
        if tally.matching
        else Check(CheckNumber.LOG, CheckState.SKIPPED, "The log of a step that differs belongs to other values.")
    )
    coverage = Check(
        CheckNumber.COVERAGE,
        CheckState.WARNING,
        f"{tally.replayed} of {steps_ordered} steps were replayed: a capsule is about one step, from the "
        "last committed state before it.",
    )
    return replay, log, coverage
