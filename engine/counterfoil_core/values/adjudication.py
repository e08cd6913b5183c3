"""What an adjudication says of the dispute in a capsule: plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from counterfoil_core.base.digest import Digest
from counterfoil_core.values.report import Report


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


@dataclass(frozen=True, kw_only=True)
class AdjudicationReport(Report):
    """What an adjudication found."""

    outcome: AdjudicationOutcome  #: The conclusion about the dispute.
    capsule_name: str  #: File name of the capsule.
    capsule_digest: Digest | None  #: SHA-256 of the file; None when it could not be read.
    agreed_step: int  #: The step after which the capsule's state is taken; 0 for the initial state.
    step: int  #: The disputed step; 0 when it could not be read.
