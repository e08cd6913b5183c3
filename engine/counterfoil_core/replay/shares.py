"""The parts of a step that shares make, each as a job of its own: a share, or the update.

A part has its program, its inputs and its claim, as a whole step of an order without shares has: so whatever replays,
confirms and judges such a step does the same to a part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from torch import Tensor

from counterfoil_core.arithmetic.compute.interpreter import StepInputs, StepResult
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import FileChangedError, LogError
from counterfoil_core.base.sentence import say
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.schema import OrderManifest, StepRecord
from counterfoil_core.bundle.shares import ShareRecord
from counterfoil_core.bundle.stepshares import StepShares
from counterfoil_core.commit.statedigest import root_of
from counterfoil_core.order.executable import draws_of
from counterfoil_core.order.sharerecord import count_of
from counterfoil_core.program.graph import Program
from counterfoil_core.values.dispute import SHARE

State = Mapping[str, Tensor]
Logs = tuple[SiteLog, ...]


def share_name(share: int) -> str:
    """Return the name of a share as a part of a step; shares count from 0, as in the definition."""
    return f"{SHARE}{share}"


@runtime_checkable
class SharedJob(Protocol):
    """What steps with shares are replayed from: an order, or the part of one that a capsule holds."""

    @property
    def manifest(self) -> OrderManifest:
        """What was ordered."""

    @property
    def programs(self) -> Turns[Program]:
        """The gradient programs of the steps, checked."""

    @property
    def updates(self) -> Turns[Program] | None:
        """The update programs; None where steps have no shares."""

    def inputs(self, step: int, state: State, /) -> StepInputs:
        """Not for steps with shares: their parts have inputs."""

    def share_inputs(self, step: int, share: int, state: State, /) -> StepInputs:
        """Return the inputs of a share of a step that starts from ``state``."""

    def update_inputs(self, step: int, state: State, combined: Mapping[str, Tensor], /) -> StepInputs:
        """Return the inputs of the update of a step that starts from ``state``."""


@dataclass(frozen=True)
class ShareJob:
    """A share of each step of a job, as a job."""

    whole: SharedJob  #: The job.
    share: int  #: Number of the share.

    @property
    def manifest(self) -> OrderManifest:
        """What was ordered."""
        return self.whole.manifest

    @property
    def programs(self) -> Turns[Program]:
        """The gradient programs."""
        return self.whole.programs

    def inputs(self, step: int, state: State) -> StepInputs:
        """Return the inputs of the share."""
        return self.whole.share_inputs(step, self.share, state)

    def root(self, step: int, result: StepResult) -> Digest:
        """Return what stands for the state root of a step: what the share gives, its buffers, and its count."""
        buffers = {name: result.state[name] for name in self.programs.of(step).updates}
        return _given(root_of(result.combined), root_of(buffers), count_of(result))


@dataclass(frozen=True)
class UpdateJob:
    """The update of a step of a job, as a job."""

    whole: SharedJob  #: The job.
    combined: Mapping[str, Tensor] = field(default_factory=dict)  #: What the shares gave, combined.
    buffers: Mapping[str, Tensor] = field(default_factory=dict)  #: The state tensors that share 0 changed.

    @property
    def manifest(self) -> OrderManifest:
        """What was ordered."""
        return self.whole.manifest

    @property
    def programs(self) -> Turns[Program]:
        """The update programs."""
        assert self.whole.updates is not None
        return self.whole.updates

    def inputs(self, step: int, state: State) -> StepInputs:
        """Return the inputs of the update."""
        return self.whole.update_inputs(step, state, self.combined)


def share_claim(step: int, record: ShareRecord) -> StepRecord:
    """Return the record of a share as that of a step, whose state root stands for all that the share gives."""
    root = _given(record.gradients, record.buffers, record.count)
    return StepRecord(step, root, record.log, record.fingerprints, record.loss)


def _given(gradients: Digest, buffers: Digest, count: float) -> Digest:
    return Digest.of(gradients.value + buffers.value + canonical.float_text(count).encode())


def first_draw(job: object, step: int) -> int:
    """Return what is added to the numbers of the draws of a step, or of the part of one that a job is."""
    if isinstance(job, ShareJob):
        return job.share * draws_of(job.programs.of(step))
    if isinstance(job, UpdateJob) and job.manifest.shares is not None:
        return job.manifest.shares.count * draws_of(job.whole.programs.of(step))
    return 0


@dataclass(frozen=True)
class SharedLogs:
    """What a trainer left of a step with shares, to be followed and compared: its logs, read, and what it held."""

    shares: StepShares  #: What the run holds of the shares.
    of_shares: tuple[Logs, ...]  #: The log of each share, one part for each rounding site of the gradient program.
    update: Logs  #: The log of the update.


AnyLogs = Sequence[SiteLog] | SharedLogs
"""What a trainer left of a step to be followed: its log, read, or what shares left."""


def read_shared_logs(job: SharedJob, claimed: StepRecord, log: bytes, shares: StepShares) -> SharedLogs:
    """Read the trainer's logs of a step with shares.

    Args:
        job: What was ordered.
        claimed: The trainer's record of the step.
        log: All logs of the step, those of the shares one behind the other, and the update's.
        shares: What the run holds of the shares.

    Raises:
        FileChangedError: They are not those that the step's record commits to.
        PartLogError: They are, and one cannot be decoded: the trainer signed it.
    """
    assert job.updates is not None
    own = log[int(shares.log_ends[-1]) :]
    if Digest.of(own) != claimed.log or shares.root != claimed.shares:
        raise FileChangedError(
            say("The rounding logs of step {0} are no longer those that were checked.", claimed.step),
            remedy=say("Audit a copy of the file that nobody else can write to."),
        )
    program = job.programs.of(claimed.step)
    pieces = [log[first:last] for first, last in shares.log_ranges()]
    decode = arithmetic_of(job.manifest.precision).decode_log
    read = SharedLogs(shares, (), ())
    try:
        for piece in pieces:
            read = replace(read, of_shares=(*read.of_shares, decode(program, piece)))
        return replace(read, update=decode(job.updates.of(claimed.step), own))
    except LogError as error:
        raise PartLogError(error, read) from error


class PartLogError(LogError):
    """A log of a part of a step that cannot be decoded.

    Args:
        error: Why.
        read: What was read before it: the logs of the shares with lower numbers, of all where it is the update's.
    """

    def __init__(self, error: LogError, read: SharedLogs) -> None:
        super().__init__(error.sentence, remedy=error.remedy, detail=error.detail)
        self.read = read
