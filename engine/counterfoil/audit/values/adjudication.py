"""What an adjudication says of the dispute in a capsule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from counterfoil.audit.values.dispute import Dispute
from counterfoil.audit.values.outcome import Check
from counterfoil.commit.digest import Digest


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
