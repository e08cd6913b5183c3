"""What a process in a box and whoever started it say to each other: bytes of msgpack, each message with its length.

What comes out of the box is a stranger's: every message is read into a type that was declared here, or refused.
"""

from __future__ import annotations

import inspect
from numbers import Integral, Real
from pathlib import Path
from typing import Any, BinaryIO, Literal, Self, TypeVar

import msgspec

from counterfoil import errors
from counterfoil.audit.kept import Basis
from counterfoil.audit.parts.frames import send
from counterfoil.audit.values import events
from counterfoil.audit.values.adjudication import AdjudicationReport
from counterfoil.audit.values.panel import PanelCompared, PanelFinished, PanelRuled, StepJudged
from counterfoil.audit.values.plan import Plan, PlanProgress
from counterfoil.audit.values.report import AuditReport, Kept
from counterfoil.audit.values.sampling import SegmentRequest
from counterfoil.commit.digest import Digest
from counterfoil.errors import CounterfoilError, Role
from counterfoil.program.limits import Limits
from counterfoil.sentence import Sentence, say

T = TypeVar("T")
_ERRORS: dict[str, type[CounterfoilError]] = {
    name: found for name, found in inspect.getmembers(errors, inspect.isclass) if issubclass(found, CounterfoilError)
}
KEPT_NAME = "kept"
"""The progress whose capsule lies beside it, in the folder that both sides share."""
CAPSULE_NAME = "dispute.cfoil"
PART_NAME = "segments.part"


class Failure(msgspec.Struct, frozen=True):
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
    role: Role = "file"

    @classmethod
    def of(cls, error: CounterfoilError) -> Self:
        """Take an error apart."""
        found = next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _ERRORS)
        return cls(found, str(error.sentence), str(error.remedy), error.detail, getattr(error, "role", "file"))

    @property
    def error(self) -> CounterfoilError:
        """The error again."""
        kind = _ERRORS.get(self.name, CounterfoilError)
        given: dict[str, Any] = {"role": self.role} if issubclass(kind, errors.GivenFileError) else {}
        return kind(say("{0}", self.sentence), remedy=say("{0}", self.remedy), detail=self.detail, **given)


# What is to be done.


class AuditTask(msgspec.Struct, frozen=True, tag=True):
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


class PartTask(msgspec.Struct, frozen=True, tag=True):
    """Replay segments for another audit, into a part file."""

    run: str
    data: str | None
    device: str
    threads: int | None
    segments: SegmentRequest
    limits: Limits


class AdjudicationTask(msgspec.Struct, frozen=True, tag=True):
    """Replay a dispute capsule: the arguments of :func:`counterfoil.adjudicate`."""

    capsule: str
    order: str | None
    trainer_key: str
    client_key: str
    device: str
    threads: int | None
    limits: Limits


class PlanTask(msgspec.Struct, frozen=True, tag=True):
    """Measure a few steps: the arguments of :func:`counterfoil.plan_audit`."""

    run: str
    data: str | None
    bad_fraction: float
    device: str
    threads: int | None
    limits: Limits


class PanelTask(msgspec.Struct, frozen=True, tag=True):
    """Compare runs of one order: the arguments of :func:`counterfoil.run_panel`."""

    runs: tuple[str, ...]
    order: str | None
    data: str | None
    device: str
    threads: int | None
    limits: Limits


Task = AuditTask | PartTask | AdjudicationTask | PlanTask | PanelTask


class Begin(msgspec.Struct, frozen=True, tag=True):
    """The first message behind the box."""

    task: Task


class Stop(msgspec.Struct, frozen=True, tag=True):
    """Stop the work, as Ctrl-C does."""


class Answer(msgspec.Struct, frozen=True, tag=True):
    """What a question brought."""

    body: msgspec.Raw


class Refused(msgspec.Struct, frozen=True, tag=True):
    """Why it brought nothing."""

    failure: Failure


# What the process asks for.


class Fitting(msgspec.Struct, frozen=True, tag=True):
    """Which progress is there to go on from; answered by :class:`Held`."""

    basis: Basis
    begin: bool


class Earlier(msgspec.Struct, frozen=True, tag=True):
    """Which progress of this very audit lies there; answered by :class:`Held`."""

    basis: Basis


class Keep(msgspec.Struct, frozen=True, tag=True):
    """Keep progress: what :func:`counterfoil.audit.kept.body_of` makes of it."""

    body: bytes


class FindNonce(msgspec.Struct, frozen=True, tag=True):
    """Which nonce is kept; answered by its digits, or nothing."""

    order: Digest
    run_root: Digest


class DrawNonce(msgspec.Struct, frozen=True, tag=True):
    """Draw one and keep it; answered by its digits, and why it could not be kept."""

    order: Digest
    run_root: Digest


class Compile(msgspec.Struct, frozen=True, tag=True):
    """Compile kernels, which are kept where a process in a box cannot write."""


class OpenWorkers(msgspec.Struct, frozen=True, tag=True):
    """Provide workers for so many segments; answered by how many there are."""

    segments: int


class StartWorker(msgspec.Struct, frozen=True, tag=True):
    """As :class:`counterfoil.audit.parts.executor.Executor`, and so the next ones."""

    worker: int


class GiveWorker(msgspec.Struct, frozen=True, tag=True):
    """Let a worker replay a segment."""

    worker: int
    number: int


class WaitForWorkers(msgspec.Struct, frozen=True, tag=True):
    """Answered by what the workers said."""

    seconds: float


class CloseWorkers(msgspec.Struct, frozen=True, tag=True):
    """End all workers."""


Question = (
    Fitting | Earlier | Keep | FindNonce | DrawNonce | Compile
    | OpenWorkers | StartWorker | GiveWorker | WaitForWorkers | CloseWorkers
)  # fmt: skip


class Held(msgspec.Struct, frozen=True):
    """Progress that lies there, without its seal; None where there is none. Its capsule lies in the shared folder."""

    body: bytes | None


# What the process says.


class Loaded(msgspec.Struct, frozen=True, tag=True):
    """The process has closed its box and loaded what it needs."""


class Said(msgspec.Struct, frozen=True, tag=True):
    """A value that the work yielded.

    Attributes:
        name: Its class, one of those that the task brings.
        body: What it is.
    """

    name: str
    body: msgspec.Raw


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The work ended in an error of ours, or of a program's: then it has no name."""

    failure: Failure


class Done(msgspec.Struct, frozen=True, tag=True):
    """The work came to its end."""


FromInside = Loaded | Said | Failed | Done | Question
ToInside = Stop | Answer | Refused


# What the work yields, where the engine's own value is none for a pipe.


class Finished(msgspec.Struct, frozen=True):
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


class CapsuleStarted(msgspec.Struct, frozen=True):
    """:class:`counterfoil.audit.adjudicator.AdjudicationStarted`."""

    first: int
    last: int


class SegmentTrouble(msgspec.Struct, frozen=True):
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


def encode(value: object) -> msgspec.Raw:
    """Return a value for a message; sentences lose what they were made of."""
    return msgspec.Raw(msgspec.msgpack.encode(value, enc_hook=_plain))


def decode(body: msgspec.Raw, kind: type[T]) -> T:
    """Read a value of a declared type; raises msgspec.MsgspecError, and whatever the type's own checks raise."""
    return msgspec.msgpack.decode(body, type=kind, dec_hook=_made)


def say_to(stream: BinaryIO, message: msgspec.Struct) -> None:
    """Write a message that holds values of the engine's; raises OSError or ValueError where nobody reads."""
    send(stream, message, _plain)


def _plain(value: Any) -> Any:
    if isinstance(value, (str, Path)):
        return str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    raise TypeError(f"{type(value).__name__} is no value of a message")


def _made(kind: type, value: Any) -> Any:
    if kind is Sentence and isinstance(value, str):
        return say("{0}", value)
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise TypeError(f"{kind.__name__} is no value of a message")
