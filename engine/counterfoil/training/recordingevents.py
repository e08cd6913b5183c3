"""The events of :func:`counterfoil.training.recorder.record`, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from torch import Tensor

from counterfoil_core.base.digest import Digest


@dataclass(frozen=True)
class RecordStarted:
    """First event of a recording."""

    steps: int  #: The number of ordered steps.
    device: str  #: The device.
    client_key: str | None = None  #: Key id of who signed the order as its client; None for an unsigned one.
    ranks: int = 1  #: How many processes record it together.
    shares: int = 1  #: How many shares a step has.


@dataclass(frozen=True)
class DataChecked:
    """Progress of the check of the data file: bytes done and their total."""

    done: int
    total: int


@dataclass(frozen=True)
class RecordingChecked:
    """Progress of the check of an unfinished recording: bytes done and their total."""

    done: int
    total: int


@dataclass(frozen=True)
class RecordingResumed:
    """A recording is gone on with: so many finished steps are kept, and those after ``state`` are computed again."""

    steps: int
    state: int


@dataclass(frozen=True)
class StepRestored:
    """A finished step was computed again, following its log, and came out as it was recorded."""

    step: int
    steps: int


@dataclass(frozen=True)
class OperatorRecorded:
    """Progress inside a step: operators done and their total."""

    step: int
    done: int
    total: int


@dataclass(frozen=True)
class StepRecorded:
    """A step was executed and recorded."""

    step: int  #: Step number, from 1.
    steps: int  #: Number of steps that the run will have, as far as is known: the last step is that of this number.
    loss: float  #: Its loss.
    log_entries: int  #: Logged rounding decisions.
    log_bytes: int  #: Size of its log.
    #: Wall-clock time since it began or since the step before it was recorded, hashing and writing included.
    seconds: float
    #: The state after it, by name, where it was asked for; its tensors must not be changed.
    state: Mapping[str, Tensor] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class RunAssembled:
    """Progress of making the run from what was recorded: steps done and their total."""

    done: int
    total: int


@dataclass(frozen=True)
class RecordFinished:
    """Last event."""

    path: Path  #: Where the run lies.
    run_root: Digest  #: Its run root.
    seconds: float  #: The time it took.
    steps: int  #: Number of its steps.
    steps_ordered: int  #: Number of ordered steps, which are more where the order's rule ended the run early.


@dataclass(frozen=True)
class RankFinished:
    """Last event of a rank that is not rank 0, which alone writes the run."""

    rank: int  #: The rank.
    steps: int  #: Number of the run's steps.
    steps_ordered: int  #: Number of ordered steps.


RecordEvent = (
    RecordStarted
    | DataChecked
    | RecordingChecked
    | RecordingResumed
    | StepRestored
    | OperatorRecorded
    | StepRecorded
    | RunAssembled
    | RecordFinished
    | RankFinished
)
