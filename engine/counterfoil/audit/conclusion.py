"""From what a replay found to an outcome and its reason. Pure: no file, no clock, no arithmetic on tensors."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil.audit.values.dispute import Dispute, Right
from counterfoil.audit.values.outcome import Check, CheckNumber, CheckState, Outcome
from counterfoil.audit.values.report import Steering
from counterfoil.audit.values.sampling import Sample
from counterfoil.audit.values.steptable import Tally
from counterfoil.errors import CounterfoilError, FileChangedError, NonFiniteError, ObstacleError, RefusedError


@dataclass(frozen=True)
class Coverage:
    """How much of the run an audit set out to replay.

    Attributes:
        ordered: Number of steps of the order.
        planned: Number of steps in the chosen segments.
        sample: The chosen segments; None when the audit ended before it could choose.
    """

    ordered: int
    planned: int
    sample: Sample | None = None

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
) -> tuple[Outcome, str, tuple[Check, ...]]:
    """Return the outcome, its reason in plain sentences, and the final state of checks 8 to 10.

    Args:
        tally: Sums over the steps of the replay.
        dispute: The first mismatch, or the one that accuses, located; None while there is none.
        coverage: What it set out to replay.
        error: What ended the audit early, or None.
        cancelled: Whether the user stopped it.
        steering: How far the trainer could have steered the matching steps; None when nothing was replayed.
    """
    # The order of the questions is the argument. What nobody can be blamed for comes first: a file that changed under
    # the audit. Then what the trainer signed and cannot take back: a broken file, an accusation that two replays and
    # exact arithmetic bear out. Then everything that leaves a doubt about this machine or this audit, which accuses
    # nobody. VERIFIED is what is left when no question is open.
    checks = _checks(tally, coverage, steering) if tally.judged else ()
    if isinstance(error, FileChangedError):
        return Outcome.INCONCLUSIVE, _file_changed(error, dispute), checks
    if isinstance(error, RefusedError) and dispute is None:
        return Outcome.REFUSED, f"{error.sentence} Nothing was concluded about the training.", checks
    if dispute is not None and dispute.accuses:
        return Outcome.DISPUTED, _disputed(tally, dispute), checks
    if dispute is not None and dispute.confirmed and dispute.finding is not None:
        sentence = f"Step {dispute.step} came out different from the trainer's. {dispute.finding.sentence}"
        return Outcome.INCONCLUSIVE, sentence, checks
    if dispute is not None:
        return (
            Outcome.INCONCLUSIVE,
            f"Step {dispute.step} came out different from the trainer's, but this machine does not give its own result "
            "again when reductions run in another order: its arithmetic lies outside the margin. Nobody is accused; "
            "replay the run on another machine.",
            checks,
        )
    if isinstance(error, (NonFiniteError, ObstacleError)):
        return Outcome.INCONCLUSIVE, str(error), checks
    if error is not None:
        return Outcome.ERROR, str(error), checks
    if tally.mismatched:
        return (
            Outcome.INCONCLUSIVE,
            f"Step {tally.mismatched[0]} came out different from the trainer's, but the audit was stopped before "
            "a second replay of it could confirm this machine's result. Audit the run again.",
            checks,
        )
    if cancelled:
        return (
            Outcome.INCONCLUSIVE,
            f"The audit was stopped after {tally.judged} of {coverage.planned} steps; all of these match.",
            checks,
        )
    if tally.contradictions or tally.omissions:
        return (
            Outcome.INCONCLUSIVE,
            f"Every replayed step matches, but the rounding log has {tally.contradictions} contradictions and "
            f"{tally.omissions} omissions, which an honest run on sound hardware does not have: either the log was "
            "altered, or this machine's arithmetic lies outside the margin.",
            checks,
        )
    if steering is not None and steering.suspects:
        return (
            Outcome.INCONCLUSIVE,
            f"Every replayed step matches, but {steering.steered} of {steering.steerable} logged directions that "
            "hardware does not flip differ from this machine's own rounding, more than chance explains in "
            f"{', '.join(steering.suspects)}: the trainer seems to have chosen them at will.",
            checks,
        )
    if tally.judged < coverage.planned:
        return (
            Outcome.INCONCLUSIVE,
            f"Only {tally.judged} of the {coverage.planned} chosen steps could be replayed and judged.",
            checks,
        )
    if coverage.partial is not None:
        return (
            Outcome.VERIFIED,
            f"{tally.judged} of {coverage.ordered} steps were replayed, and every one has the trainer's Merkle leaf "
            f"bit for bit. {coverage.partial.describe()}",
            checks,
        )
    return (
        Outcome.VERIFIED,
        f"All {coverage.ordered} steps were replayed, and every one has the trainer's Merkle leaf bit for bit.",
        checks,
    )


def _file_changed(error: FileChangedError, dispute: Dispute | None) -> str:
    if dispute is None or not dispute.stands_alone:
        return f"{error} Nobody is to blame for what such a file says."
    return (
        f"{error} Before that, step {dispute.step} came out different from the trainer's; a verdict would name a file "
        "that is no more, but the dispute capsule of that step stands by itself."
    )


def _disputed(tally: Tally, dispute: Dispute) -> str:
    more = len(tally.mismatched) - 1
    others = f" Later steps that differ, judged from the trainer's own checkpoints: {more}." if more else ""
    return f"{accusation(dispute)}{others}"


def accusation(dispute: Dispute) -> str:
    """What a dispute that accuses says of its step, in plain sentences."""
    finding = dispute.finding
    assert finding is not None, "nobody is accused without a finding"
    if finding.right is Right.UNREADABLE:
        return finding.sentence
    if finding.right is Right.OMISSIONS:
        return f"{finding.sentence} With these values the steps come out as the trainer signed them."
    *before, last = dispute.parts
    what = f"{', '.join(before)} and {last}" if before else last
    return (
        f"Step {dispute.step} is not what was ordered: replayed from the agreed state before it, it gives other values "
        f"than the trainer signed (in {what}). A second replay with every reduction in another order and exact "
        "arithmetic confirm this machine's result."
    )


def _checks(tally: Tally, coverage: Coverage, steering: Steering | None) -> tuple[Check, ...]:
    replay = (
        Check(
            CheckNumber.REPLAY,
            CheckState.FAILED,
            f"Of {tally.judged} replayed steps {len(tally.mismatched)} differ; the first is {tally.mismatched[0]}.",
        )
        if tally.mismatched
        else Check(CheckNumber.REPLAY, CheckState.PASSED, f"All {tally.judged} replayed steps match.")
    )
    suspects = steering.suspects if steering is not None else ()
    bad = tally.contradictions or tally.omissions or suspects
    chosen = f" Directions look chosen in {', '.join(suspects)}." if suspects else ""
    log = Check(
        CheckNumber.LOG,
        CheckState.FAILED if bad else CheckState.PASSED,
        f"{tally.log_entries} entries for {tally.rounded_values} rounded values: {tally.corrections} corrections, "
        f"{tally.contradictions} contradictions, {tally.omissions} omissions.{chosen}",
    )
    detail = f"{tally.judged} of {coverage.ordered} steps were replayed and judged."
    if coverage.partial is not None:
        detail += f" {coverage.partial.describe()}"
    whole = tally.judged == coverage.ordered
    covered = Check(CheckNumber.COVERAGE, CheckState.PASSED if whole else CheckState.WARNING, detail)
    return replay, log, covered
