"""What somebody asks an audit to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil_core.base.errors import GivenFileError
from counterfoil_core.base.sentence import say
from counterfoil_core.program.limits import Limits
from counterfoil_core.remote.address import Address
from counterfoil_core.values.sampling import SegmentRequest
from counterfoil_core.values.workers import Workers

if TYPE_CHECKING:
    from counterfoil_core.signing.keys import PublicKey


@dataclass(frozen=True)
class AuditRequest:
    """What to audit and how."""

    run: Path | Address  #: The trainer's run: a file of this machine, or the address of one that is read in pieces.
    order: Path | None = None  #: The client's own order; None takes the order from the run, and the verdict says so.
    device: str = "cpu"  #: ``cpu`` or ``cuda:0``.
    threads: int | None = None  #: Threads on the CPU; None for torch's choice.
    #: Go on from the trainer's next checkpoint after a dispute, to judge later steps too.
    continue_after_dispute: bool = True
    trainer_key: PublicKey | None = None  #: The trainer's public key, when it is known.
    data: Path | None = None  #: The data file, for an order that keeps data outside.
    segments: SegmentRequest = field(default_factory=SegmentRequest)  #: Which segments to replay.
    heads: Path | None = None  #: Tree heads that the trainer published while training.
    limits: Limits = field(default_factory=Limits)  #: How large the program may be that is replayed.
    #: Where progress is kept while the audit runs: a file, or a folder in which each audit has one of its own. None
    #: keeps none.
    progress: Path | None = None
    resume: bool = False  #: Go on from the progress that was kept there.
    begin: bool = False  #: With ``resume``: begin from the start where nothing was kept at all; an error otherwise.
    #: Leave progress where it is when the audit comes to its end, until what is made of it is written; who asks for it
    #: removes :attr:`AuditFinished.leftover` then.
    retain: bool = False
    workers: Workers | None = None  #: Who replays segments for the audit; None when it replays everything itself.
    recheck: int = 1  #: How many of the segments that were taken from workers, drawn at random, the audit replays too.
    client_key: PublicKey | None = None  #: The client's public key, when it is known: the order must be signed with it.
    #: Judge only these shares, each by itself, of the first step of every chosen segment, before which a state is
    #: stored; the whole step where one differs. Such an audit verifies nothing. None for whole steps.
    shares: tuple[int, ...] = ()
    facts: bool = False  #: Count what the run shows of itself, for the verdict to say.

    @property
    def file(self) -> Path:
        """The run, for what needs all of it; raises GivenFileError where it lies elsewhere."""
        if isinstance(self.run, Address):
            raise GivenFileError(
                say("Workers and parts of an audit need the run as a file, and {0} lies elsewhere.", self.run.shown),
                remedy=say("Download it, and give the path of the copy."),
            )
        return self.run
