"""What a replay reports while it runs: plain frozen values, consumed alike by the command line and the window."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil_core.values.adjudication import AdjudicationReport
from counterfoil_core.values.dispute import Dispute, TensorDivergence
from counterfoil_core.values.outcome import Check
from counterfoil_core.values.report import AuditReport, Kept
from counterfoil_core.values.sampling import Sample
from counterfoil_core.values.steptable import StepRow, StepTable
from counterfoil_core.values.workers import WorkerState

if TYPE_CHECKING:
    from counterfoil_core.bundle.capsule import CapsuleContents


@dataclass(frozen=True)
class AuditStarted:
    """First event of every audit, but for what it says while it hashes a large file."""

    steps: int  #: Number of steps of the run.
    tensor_names: tuple[str, ...]  #: Names of the state tensors, sorted.
    device: str  #: The device of the replay, for instance ``cpu`` or ``cuda:0``.
    checks: tuple[Check, ...]  #: Every check with its state so far.
    planned_steps: int = 0  #: Number of steps that will be replayed.
    #: The segments that will be replayed; None when the audit ended before it could choose.
    sample: Sample | None = None
    kept: Kept | None = None  #: Progress of an earlier audit that this one could have gone on from, or does go on from.
    drawn_before: bool = False  #: Whether the sample is that of an earlier audit which did not come to its end.


@dataclass(frozen=True)
class ProgressRestored:
    """The steps, comparisons and disputes reported since the start are those of an earlier audit; it goes on now."""

    kept: Kept  #: What it goes on from.
    steps: int  #: How many steps were reported.


@dataclass(frozen=True)
class CheckChanged:
    """A check changed its state."""

    check: Check


@dataclass(frozen=True)
class OperatorDone:
    """Progress inside a step, so that a step of minutes shows movement."""

    step: int  #: The step being replayed.
    done: int  #: Operators done so far.
    total: int  #: Operators in the step.


@dataclass(frozen=True)
class StepReplayed:
    """A step was replayed and compared."""

    row: StepRow


@dataclass(frozen=True)
class DivergenceMeasured:
    """The replay's state was compared with one of the trainer's checkpoints."""

    step: int  #: Step of the checkpoint.
    tensors: tuple[TensorDivergence, ...]  #: One entry for every state tensor, sorted by name.


@dataclass(frozen=True)
class DisputeLocated:
    """The first differing step is known. A later event of this kind for the same step adds what was found since."""

    dispute: Dispute


@dataclass(frozen=True)
class ResumedFromCheckpoint:
    """The replay goes on from the trainer's stored state: after a dispute, or at the start of a segment of a sample."""

    step: int


@dataclass(frozen=True)
class WorkersReported:
    """What the workers of an audit do at this moment."""

    workers: tuple[WorkerState, ...]  #: One entry for each.

    @property
    def steps(self) -> int:
        """How many steps they have replayed, whether the audit has heard of them or not."""
        return sum(worker.steps for worker in self.workers)


IMITATION = "imitation"


@dataclass(frozen=True)
class AuditFinished:
    """Last event of every audit."""

    report: AuditReport  #: What was found.
    #: What a dispute capsule about the dispute would hold; None when nobody is accused, or no single step shows why.
    evidence: CapsuleContents | None = field(default=None, repr=False, compare=False)
    #: Progress that another audit can go on from; None when the audit came to its end, or kept none.
    kept: Kept | None = None
    problem: str = ""  #: Why progress could not be kept, or removed, as a sentence; else empty.
    #: The step table; None where it does not lie in this process.
    steps: StepTable | None = field(default=None, repr=False, compare=False)
    #: Files with the progress of an audit that came to its end, which was asked to retain them.
    leftover: tuple[Path, ...] = ()
    interrupted: bool = False  #: Whether it did not come to its end, for no reason that lies in the run.


Event = (
    AuditStarted
    | ProgressRestored
    | CheckChanged
    | OperatorDone
    | StepReplayed
    | DivergenceMeasured
    | DisputeLocated
    | ResumedFromCheckpoint
    | WorkersReported
    | AuditFinished
)


@dataclass(frozen=True)
class AdjudicationStarted:
    """The capsule holds what it should; the steps ``first`` to ``last`` are replayed now."""

    first: int
    last: int


@dataclass(frozen=True)
class AdjudicationFinished:
    """Last event of every adjudication."""

    report: AdjudicationReport


AdjudicationEvent = AdjudicationStarted | Event | AdjudicationFinished
