"""The events of :func:`counterfoil.training.recorder.record`, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from torch import Tensor

from counterfoil_core.base.digest import Digest


@dataclass(frozen=True)
class RecordStarted:
    """First event of a recording.

    Attributes:
        steps: The number of ordered steps.
        device: The device.
        client_key: Key id of who signed the order as its client; None for an unsigned one.
        ranks: How many processes record it together.
        shares: How many shares a step has.
    """

    steps: int
    device: str
    client_key: str | None = None
    ranks: int = 1
    shares: int = 1


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
    """A step was executed and recorded.

    Attributes:
        step: Step number, from 1.
        steps: Number of steps that the run will have, as far as is known: the last step is that of this number.
        loss: Its loss.
        log_entries: Logged rounding decisions.
        log_bytes: Size of its log.
        seconds: Wall-clock time since it began or since the step before it was recorded, hashing and writing included.
        state: The state after it, by name, where it was asked for; its tensors must not be changed.
    """

    step: int
    steps: int
    loss: float
    log_entries: int
    log_bytes: int
    seconds: float
    state: Mapping[str, Tensor] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class RunAssembled:
    """Progress of making the run from what was recorded: steps done and their total."""

    done: int
    total: int


@dataclass(frozen=True)
class RecordFinished:
    """Last event.

    Attributes:
        path: Where the run lies.
        run_root: Its run root.
        seconds: The time it took.
        steps: Number of its steps.
        steps_ordered: Number of ordered steps, which are more where the order's rule ended the run early.
    """

    path: Path
    run_root: Digest
    seconds: float
    steps: int
    steps_ordered: int


@dataclass(frozen=True)
class RankFinished:
    """Last event of a rank that is not rank 0, which alone writes the run.

    Attributes:
        rank: The rank.
        steps: Number of the run's steps.
        steps_ordered: Number of ordered steps.
    """

    rank: int
    steps: int
    steps_ordered: int


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
