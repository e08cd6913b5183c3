"""What an adjudication concludes about a dispute, and from what. Pure: no file, no clock, no tensors."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from counterfoil.audit.events import Dispute, Right
from counterfoil.audit.outcome import Check, CheckNumber, CheckState
from counterfoil.commit.digest import Digest
from counterfoil.errors import CancelledError, CounterfoilError, NonFiniteError, ObstacleError, RefusedError


class AdjudicationOutcome(Enum):
    """What an adjudication concludes about the dispute."""

    REJECTED = "REJECTED"
    """The step is what was ordered: the trainer's leaf came out, bit for bit."""
    CONFIRMED = "CONFIRMED"
    """A step of the capsule is not what was ordered."""
    INCONCLUSIVE = "INCONCLUSIVE"
    """Stopped, or this machine could not decide."""
    REFUSED = "REFUSED"
    """The capsule is damaged, does not prove what it should, or is about another order."""
    ERROR = "ERROR"
    """Counterfoil itself failed."""

    @property
    def exit_code(self) -> int:
        """The exit code of the command line: 0 to 4 in this order."""
        return list(AdjudicationOutcome).index(self)


@dataclass(frozen=True)
class AdjudicationReport:
    """What an adjudication found.

    Attributes:
        outcome: The conclusion.
        reason: The same in plain sentences.
        checks: All ten checks, in order.
        capsule_name: File name of the capsule.
        capsule_digest: SHA-256 of the file; None when it could not be read.
        order_digest: Digest of the order; None when it could not be read.
        order_source: ``client`` when the order was compared with the client's file, ``bundle`` when it was not.
        run_root: The signed run root; None when the signature does not hold.
        trainer_key: SHA-256 key id of the trainer's public key; empty when unsigned.
        title: Title of the order.
        steps_ordered: Number of steps of the order.
        agreed_step: The step after which the capsule's state is taken; 0 for the initial state.
        step: The disputed step; 0 when it could not be read.
        steps_replayed: Number of steps replayed and judged.
        dispute: What differs, in the first step that does; None when none does.
        corrections: Rounding decisions that were taken from the log, over the matching steps.
        contradictions: Log entries that no honest trainer writes, over the matching steps.
        omissions: Values close to a midpoint that the log lacks, over the matching steps.
        seconds: Wall-clock time of the replay.
        environment: Device, library versions and switches of this machine.
        trainer_environment: The same of the trainer's, as the trainer signed it.
    """

    outcome: AdjudicationOutcome
    reason: str
    checks: tuple[Check, ...]
    capsule_name: str
    capsule_digest: Digest | None
    order_digest: Digest | None
    order_source: str
    run_root: Digest | None
    trainer_key: str
    title: str
    steps_ordered: int
    agreed_step: int
    step: int
    steps_replayed: int
    dispute: Dispute | None
    corrections: int
    contradictions: int
    omissions: int
    seconds: float
    environment: tuple[tuple[str, str], ...]
    trainer_environment: tuple[tuple[str, str], ...]


@dataclass
class StepTally:
    """What the replay of a capsule's steps showed. The log is judged on matching steps only.

    Attributes:
        replayed: Steps replayed and judged.
        matching: Steps whose leaf was the trainer's.
        dispute: The step that accuses the trainer, after which nothing is replayed; else the first that differs.
        corrections: Sum over matching steps.
        contradictions: Sum over matching steps.
        omissions: Sum over matching steps.
        entries: Log entries of the matching steps.
        seconds: Wall-clock time.
    """

    replayed: int = 0
    matching: int = 0
    dispute: Dispute | None = None
    corrections: int = 0
    contradictions: int = 0
    omissions: int = 0
    entries: int = 0
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
    dispute = tally.dispute
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
    if tally.contradictions or tally.omissions:
        return (
            AdjudicationOutcome.INCONCLUSIVE,
            f"Step {step} has the trainer's Merkle leaf, but the log has {tally.contradictions} contradictions and "
            f"{tally.omissions} omissions, which an honest run on sound hardware does not have.",
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
    dispute = tally.dispute
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
            CheckState.FAILED if tally.contradictions or tally.omissions else CheckState.PASSED,
            f"{tally.entries} entries in matching steps: {tally.corrections} corrections, {tally.contradictions} "
            f"contradictions, {tally.omissions} omissions.",
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
