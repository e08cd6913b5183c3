"""Following a recording: what is asked for, and what is said while it goes on; plain frozen values."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil_core.program.limits import Limits
from counterfoil_core.values.dispute import Dispute
from counterfoil_core.values.events import CheckChanged, DisputeLocated, OperatorDone
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.workers import Followed

if TYPE_CHECKING:
    from counterfoil_core.signing.keys import PublicKey

POLL_SECONDS = 0.5
"""How often a recording is looked at while there is nothing to replay."""


@dataclass(frozen=True)
class FollowRequest:
    """What to follow and how."""

    folder: Path  #: The folder of the unfinished recording.
    run: Path  #: Where its run will lie.
    order: Path  #: The client's own order.
    device: str = "cpu"  #: ``cpu`` or ``cuda:0``.
    threads: int | None = None  #: Threads on the CPU; None for torch's choice.
    trainer_key: PublicKey | None = None  #: The trainer's public key, when it is known.
    data: Path | None = None  #: The data file, for an order that keeps data outside.
    heads: Path | None = None  #: Where tree heads come in that the trainer publishes; need not be there yet.
    limits: Limits = field(default_factory=Limits)  #: How large the program may be that is replayed.
    #: Seconds without anything new in the folder, while there is nothing to replay, after which its recorder counts as
    #: ended; None waits for ever.
    patience: float | None = None
    poll: float = POLL_SECONDS  #: Seconds between two looks, while there is nothing to replay.
    #: Whether steps are replayed; else the recording is only watched, and nothing is said of its steps.
    replays: bool = True

    def audit(self, part: Path) -> AuditRequest:
        """Return the audit that concludes: that of the run, which takes over what was followed.

        Args:
            part: The file in which that lies.
        """
        return AuditRequest(
            run=self.run,
            order=self.order,
            device=self.device,
            threads=self.threads,
            trainer_key=self.trainer_key,
            data=self.data,
            heads=self.heads,
            limits=self.limits,
            workers=Followed(part),
            recheck=0,
        )


@dataclass(frozen=True)
class FollowStarted:
    """The recording lies there, and is one of the client's order."""

    steps: int  #: Number of ordered steps.
    segments: int  #: Number of segments of so many steps.
    device: str  #: The device of the replay.
    title: str  #: The order's title.
    trainer_key: str  #: Key id of the key that the recording was begun with.
    accepted_at: str  #: When that key accepted the order, by the trainer's clock.


@dataclass(frozen=True)
class StepSealed:
    """The trainer has recorded a step."""

    step: int  #: The step.
    loss: float  #: Its loss, as the trainer says.


@dataclass(frozen=True)
class RecordingWentBack:
    """The recorder has lost steps that were read before, and makes them again."""

    step: int  #: The last step that lies there now.


@dataclass(frozen=True)
class HeadsChecked:
    """Tree heads that the trainer published are over the history that is followed."""

    heads: int  #: How many.
    step: int  #: The last step that one of them covers.


@dataclass(frozen=True)
class StepFollowed:
    """A step was replayed."""

    step: int  #: The step.
    trainer_loss: float  #: Its loss, as the trainer recorded it.
    replay_loss: float  #: Its loss in the replay.
    match: bool  #: Whether its Merkle leaf is the trainer's.
    seconds: float  #: Wall-clock time of its replay.


@dataclass(frozen=True)
class FollowState:
    """Where following stands."""

    sealed: int  #: Steps that the trainer has recorded.
    replayed: int  #: Steps that were replayed: all up to this one.
    segment: int  #: The segment that is replayed next; 0 where there is none.
    last: int  #: Its last step.
    waiting: str = ""  #: What is waited for, as a sentence; empty while it is replayed.

    @property
    def behind(self) -> int:
        """How many steps the trainer is ahead."""
        return max(0, self.sealed - self.replayed)


@dataclass(frozen=True)
class FollowEnded:
    """Last event of following."""

    #: What an audit would end with by now; None where the run lies there, whose audit concludes unless the recording
    #: was only watched.
    outcome: Outcome | None
    reason: str  #: Why, as sentences.
    sealed: int  #: Steps that the trainer has recorded.
    matching: int  #: Steps that were replayed and came out as the trainer recorded them.
    dispute: Dispute | None = None  #: The step that accuses the trainer; None where none does.


FollowEvent = (
    FollowStarted
    | StepSealed
    | RecordingWentBack
    | HeadsChecked
    | StepFollowed
    | FollowState
    | CheckChanged
    | OperatorDone
    | DisputeLocated
    | FollowEnded
)
