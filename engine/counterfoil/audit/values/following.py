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
    """What to follow and how.

    Attributes:
        folder: The folder of the unfinished recording.
        run: Where its run will lie.
        order: The client's own order.
        device: ``cpu`` or ``cuda:0``.
        threads: Threads on the CPU; None for torch's choice.
        trainer_key: The trainer's public key, when it is known.
        data: The data file, for an order that keeps data outside.
        heads: Where tree heads come in that the trainer publishes; need not be there yet.
        limits: How large the program may be that is replayed.
        patience: Seconds without anything new in the folder, while there is nothing to replay, after which its recorder
            counts as ended; None waits for ever.
        poll: Seconds between two looks, while there is nothing to replay.
        replays: Whether steps are replayed; else the recording is only watched, and nothing is said of its steps.
    """

    folder: Path
    run: Path
    order: Path
    device: str = "cpu"
    threads: int | None = None
    trainer_key: PublicKey | None = None
    data: Path | None = None
    heads: Path | None = None
    limits: Limits = field(default_factory=Limits)
    patience: float | None = None
    poll: float = POLL_SECONDS
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
    """The recording lies there, and is one of the client's order.

    Attributes:
        steps: Number of ordered steps.
        segments: Number of segments of so many steps.
        device: The device of the replay.
        title: The order's title.
        trainer_key: Key id of the key that the recording was begun with.
        accepted_at: When that key accepted the order, by the trainer's clock.
    """

    steps: int
    segments: int
    device: str
    title: str
    trainer_key: str
    accepted_at: str


@dataclass(frozen=True)
class StepSealed:
    """The trainer has recorded a step.

    Attributes:
        step: The step.
        loss: Its loss, as the trainer says.
    """

    step: int
    loss: float


@dataclass(frozen=True)
class RecordingWentBack:
    """The recorder has lost steps that were read before, and makes them again.

    Attributes:
        step: The last step that lies there now.
    """

    step: int


@dataclass(frozen=True)
class HeadsChecked:
    """Tree heads that the trainer published are over the history that is followed.

    Attributes:
        heads: How many.
        step: The last step that one of them covers.
    """

    heads: int
    step: int


@dataclass(frozen=True)
class StepFollowed:
    """A step was replayed.

    Attributes:
        step: The step.
        trainer_loss: Its loss, as the trainer recorded it.
        replay_loss: Its loss in the replay.
        match: Whether its Merkle leaf is the trainer's.
        seconds: Wall-clock time of its replay.
    """

    step: int
    trainer_loss: float
    replay_loss: float
    match: bool
    seconds: float


@dataclass(frozen=True)
class FollowState:
    """Where following stands.

    Attributes:
        sealed: Steps that the trainer has recorded.
        replayed: Steps that were replayed: all up to this one.
        segment: The segment that is replayed next; 0 where there is none.
        last: Its last step.
        waiting: What is waited for, as a sentence; empty while it is replayed.
    """

    sealed: int
    replayed: int
    segment: int
    last: int
    waiting: str = ""

    @property
    def behind(self) -> int:
        """How many steps the trainer is ahead."""
        return max(0, self.sealed - self.replayed)


@dataclass(frozen=True)
class FollowEnded:
    """Last event of following.

    Attributes:
        outcome: What an audit would end with by now; None where the run lies there, whose audit concludes unless the
            recording was only watched.
        reason: Why, as sentences.
        sealed: Steps that the trainer has recorded.
        matching: Steps that were replayed and came out as the trainer recorded them.
        dispute: The step that accuses the trainer; None where none does.
    """

    outcome: Outcome | None
    reason: str
    sealed: int
    matching: int
    dispute: Dispute | None = None


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
