"""What a process in a box and whoever started it say to each other.

What comes out of the box is a stranger's: :mod:`counterfoil.base.messages` reads it by the types that are declared
here, or refuses it.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Literal, Self

from counterfoil.audit.keeping import Basis
from counterfoil.audit.values import events
from counterfoil.audit.values.adjudication import AdjudicationReport
from counterfoil.audit.values.panel import PanelCompared, PanelFinished, PanelRuled, StepJudged
from counterfoil.audit.values.plan import Plan, PlanProgress
from counterfoil.audit.values.report import AuditReport, Kept
from counterfoil.audit.values.sampling import SegmentRequest
from counterfoil.base import errors
from counterfoil.base.digest import Digest
from counterfoil.base.errors import CounterfoilError, FileRole
from counterfoil.base.sentence import say
from counterfoil.program.limits import Limits

_ERRORS: dict[str, type[CounterfoilError]] = {
    name: found for name, found in inspect.getmembers(errors, inspect.isclass) if issubclass(found, CounterfoilError)
}
KEPT_NAME = "kept"
"""The progress whose capsule lies beside it, in the folder that both sides share."""
CAPSULE_NAME = "dispute.cfoil"
PART_NAME = "segments.part"


@dataclass(frozen=True)
class Failure:
    """An error of ours.

    Attributes:
        name: Its class.
        sentence: What happened.
        remedy: What to do.
        detail: For a report.
        role: Of a :class:`GivenFileError`.
    """

    name: str
    sentence: str
    remedy: str = ""
    detail: str = ""
    role: FileRole = "file"

    @classmethod
    def of(cls, error: CounterfoilError) -> Self:
        """Take an error apart."""
        found = next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _ERRORS)
        return cls(found, error.sentence, error.remedy, error.detail, getattr(error, "role", "file"))

    @property
    def error(self) -> CounterfoilError:
        """The error again."""
        kind = _ERRORS.get(self.name, CounterfoilError)
        given: dict[str, Any] = {"role": self.role} if issubclass(kind, errors.GivenFileError) else {}
        return kind(say("{0}", self.sentence), remedy=say("{0}", self.remedy), detail=self.detail, **given)


# What is to be done.


@dataclass(frozen=True)
class AuditTask:
    """Audit a run: the fields of :class:`AuditRequest`.

    Attributes:
        trainer_key: The trainer's public key as PEM; empty when it is not known.
        client_key: The same of the client's.
        workers: Who replays segments beside: nobody, processes, a cluster's, or part files.
        parts: The part files.
        capsule: Whether a dispute capsule is to be written.
    """

    run: str
    order: str | None
    device: str
    threads: int | None
    continue_after_dispute: bool
    trainer_key: str
    data: str | None
    segments: SegmentRequest
    heads: str | None
    limits: Limits
    progress: str | None
    resume: bool
    begin: bool
    workers: Literal["", "processes", "cluster", "parts"]
    parts: tuple[str, ...]
    recheck: int
    client_key: str
    capsule: bool


@dataclass(frozen=True)
class PartTask:
    """Replay segments for another audit, into a part file."""

    run: str
    data: str | None
    device: str
    threads: int | None
    segments: SegmentRequest
    limits: Limits


@dataclass(frozen=True)
class AdjudicationTask:
    """Replay a dispute capsule: the arguments of :func:`counterfoil.adjudicate`."""

    capsule: str
    order: str | None
    trainer_key: str
    client_key: str
    device: str
    threads: int | None
    limits: Limits


@dataclass(frozen=True)
class PlanTask:
    """Measure a few steps: the arguments of :func:`counterfoil.plan_audit`."""

    run: str
    data: str | None
    bad_fraction: float
    device: str
    threads: int | None
    limits: Limits


@dataclass(frozen=True)
class PanelTask:
    """Compare runs of one order: the arguments of :func:`counterfoil.audit.panel.run_panel`."""

    runs: tuple[str, ...]
    order: str | None
    data: str | None
    device: str
    threads: int | None
    limits: Limits


Task = AuditTask | PartTask | AdjudicationTask | PlanTask | PanelTask


@dataclass(frozen=True)
class Enclosure:
    """The first message to the process.

    Attributes:
        reads: Files that it reads, beside the installation.
        scratch: The one folder that it writes to.
    """

    reads: tuple[str, ...]
    scratch: str


@dataclass(frozen=True)
class Begin:
    """The first message behind the box."""

    task: Task


@dataclass(frozen=True)
class Stop:
    """Stop the work, as Ctrl-C does."""


@dataclass(frozen=True)
class Answer:
    """What a question brought."""

    body: object


@dataclass(frozen=True)
class Refused:
    """Why it brought nothing."""

    failure: Failure


# What the process asks for.


@dataclass(frozen=True)
class Fitting:
    """Which progress is there to go on from; answered by :class:`Held`."""

    basis: Basis
    begin: bool


@dataclass(frozen=True)
class Earlier:
    """Which progress of this very audit lies there; answered by :class:`Held`."""

    basis: Basis


@dataclass(frozen=True)
class Find:
    """What is kept of audits that differ from this one in the file at most; answered by :class:`Kept`, or None."""

    basis: Basis


@dataclass(frozen=True)
class Remove:
    """Remove the progress and the nonce of the audit, which has come to its end; answered by what could not be."""


@dataclass(frozen=True)
class Place:
    """Put the dispute capsule, which lies in the shared folder, where the user wants it."""


@dataclass(frozen=True)
class Keep:
    """Keep progress: what :func:`counterfoil.audit.keeping.body_of` makes of it."""

    body: bytes


@dataclass(frozen=True)
class FindNonce:
    """Which nonce is kept; answered by its digits, or nothing."""

    order: Digest
    run_root: Digest


@dataclass(frozen=True)
class DrawNonce:
    """Draw one and keep it; answered by its digits, and why it could not be kept."""

    order: Digest
    run_root: Digest


@dataclass(frozen=True)
class Compile:
    """Compile kernels, which are kept where a process in a box cannot write."""


@dataclass(frozen=True)
class OpenWorkers:
    """Provide workers for so many segments; answered by how many there are."""

    segments: int


@dataclass(frozen=True)
class StartWorker:
    """As :class:`counterfoil.audit.parts.executor.Executor`, and so the next ones."""

    worker: int


@dataclass(frozen=True)
class GiveWorker:
    """Let a worker replay a segment."""

    worker: int
    number: int


@dataclass(frozen=True)
class WaitForWorkers:
    """Answered by what the workers said."""

    seconds: float


@dataclass(frozen=True)
class CloseWorkers:
    """End all workers."""


Question = (
    Fitting | Earlier | Find | Remove | Place | Keep | FindNonce | DrawNonce | Compile
    | OpenWorkers | StartWorker | GiveWorker | WaitForWorkers | CloseWorkers
)  # fmt: skip


@dataclass(frozen=True)
class Held:
    """Progress that lies there, without its seal; None where there is none. Its capsule lies in the shared folder."""

    body: bytes | None


# What the process says.


@dataclass(frozen=True)
class Loaded:
    """The process has closed its box and loaded what it needs."""


@dataclass(frozen=True)
class Said:
    """A value that the work yielded.

    Attributes:
        name: Its class, one of those that the task brings.
        body: What it is.
    """

    name: str
    body: object


@dataclass(frozen=True)
class Failed:
    """The work ended in an error of ours, or of a program's: then it has no name."""

    failure: Failure


@dataclass(frozen=True)
class Done:
    """The work came to its end."""


FromInside = Loaded | Said | Failed | Done | Question
ToInside = Stop | Answer | Refused


# What the work yields, where the engine's own value is none for a pipe.


@dataclass(frozen=True)
class Finished:
    """:class:`AuditFinished`, without what stays in the box.

    Attributes:
        report: What was found.
        kept: Progress to go on from.
        problem: Why progress could not be kept.
        interrupted: Whether the audit did not come to its end.
        capsule: Whether a dispute capsule lies in the shared folder.
        capsule_failure: Why there is none although somebody is accused.
    """

    report: AuditReport
    kept: Kept | None
    problem: str
    interrupted: bool
    capsule: bool
    capsule_failure: Failure | None


@dataclass(frozen=True)
class CapsuleStarted:
    """:class:`counterfoil.audit.adjudicator.AdjudicationStarted`."""

    first: int
    last: int


@dataclass(frozen=True)
class SegmentTrouble:
    """A segment of a part, and why its replay did not come to an end; empty where it did."""

    number: int
    trouble: str


_EVENTS = (
    events.AuditStarted, events.ProgressRestored, events.CheckChanged, events.OperatorDone, events.StepReplayed,
    events.DivergenceMeasured, events.DisputeLocated, events.ResumedFromCheckpoint, events.WorkersReported,
)  # fmt: skip
BROUGHT: dict[type, dict[str, type]] = {
    task: {each.__name__: each for each in kinds}
    for task, kinds in {
        AuditTask: (*_EVENTS, Finished),
        PartTask: (PlanProgress,),
        AdjudicationTask: (*_EVENTS, CapsuleStarted, AdjudicationReport),
        PlanTask: (PlanProgress, Plan),
        PanelTask: (*_EVENTS, PanelCompared, StepJudged, PanelRuled, PanelFinished),
    }.items()
}
"""What each task brings, by name."""
