"""Replays in a process that has closed a box around itself, for whoever shows and signs what comes of them.

This side reads no file of a stranger's but to copy it. It holds the terminal, the outputs, the progress and, by way of
the signer, the key; the process in the box has pipes to this one, the files of the job to read, and a folder of its own
that both sides share.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Protocol, cast

import numpy as np

from counterfoil.audit.boxed.answers import Answers, take
from counterfoil.audit.boxed.messages import (
    BROUGHT,
    CAPSULE_NAME,
    PART_NAME,
    AdjudicationTask,
    Answer,
    AuditTask,
    Begin,
    CapsuleStarted,
    Done,
    Enclosure,
    Failed,
    Failure,
    Finished,
    FromInside,
    Loaded,
    PanelTask,
    PartTask,
    PlanTask,
    Question,
    Refused,
    Said,
    SegmentTrouble,
    Stop,
    Task,
    ToInside,
)
from counterfoil.audit.boxed.scratch import make_scratch, remove_scratch
from counterfoil.audit.boxed.start import started, why_open
from counterfoil.audit.parts.frames import receive, send
from counterfoil.audit.parts.processes import how_ended
from counterfoil.audit.parts.result import Part, read_part, write_part
from counterfoil.audit.values import events
from counterfoil.audit.values.plan import Plan, PlanProgress
from counterfoil.audit.values.request import AuditRequest
from counterfoil.audit.values.steptable import Recorded, StepTable
from counterfoil.audit.values.workers import LocalWorkers, PartFiles, RayWorkers
from counterfoil.base.cancel import CancelToken
from counterfoil.base.errors import CancelledError, CounterfoilError, WorkerError
from counterfoil.base.messages import decode
from counterfoil.base.sentence import say
from counterfoil.sandbox import box

if TYPE_CHECKING:
    from counterfoil.audit.panel import PanelEvent
    from counterfoil.audit.values.adjudication import AdjudicationReport
    from counterfoil.bundle.capsule import CapsuleContents
    from counterfoil.program.limits import Limits
    from counterfoil.signing.keys import PublicKey

LOOK_SECONDS = 0.1
"""How often the token of a caller is looked at."""
_NONSENSE = (LookupError, TypeError, ValueError, OverflowError)
"""What reading a message of the wrong kind raises."""
MOST_STEPS = 10**9
"""Of a run; a process that says more talks nonsense."""


@contextmanager
def open_session(device: str = "cpu") -> Iterator[Session]:
    """Provide whoever replays on a device: a process in a box, or this one where there can be none."""
    why = why_open(device)
    if why:
        with box.left_open(why):
            yield AtHome()
        return
    with _scratch() as scratch:
        session = InBox(scratch)
        try:
            yield session
        finally:
            session.close()


class Session(Protocol):
    """Does one task."""

    def audit(self, request: AuditRequest, cancel: CancelToken, *, capsule: bool = False) -> Iterator[events.Event]:
        """Audit as :func:`counterfoil.run_audit` does, which says what comes, but for the evidence of the last event.

        Args:
            request: What to audit.
            cancel: Stops it.
            capsule: Whether :meth:`write_capsule` may follow.

        Raises:
            GivenFileError: As there.
            ObstacleError: The process in the box ended.
            CounterfoilError: It said what it may not.
        """

    @property
    def has_capsule(self) -> bool:
        """Whether the audit ended with evidence for a dispute capsule."""

    def write_capsule(self, path: Path) -> None:
        """Write the dispute capsule; raises FileWriteError and BundleError."""

    def part(
        self, request: AuditRequest, path: Path, cancel: CancelToken
    ) -> Generator[PlanProgress, None, tuple[SegmentTrouble, ...]]:
        """Replay segments into a part file: :func:`counterfoil.audit.parts.partial.replay_part`."""

    def adjudicate(
        self,
        capsule: Path,
        cancel: CancelToken,
        *,
        order: Path | None,
        trainer_key: PublicKey | None,
        client_key: PublicKey | None,
        device: str,
        threads: int | None,
        limits: Limits,
    ) -> Iterator[events.Event | CapsuleStarted | AdjudicationReport]:
        """Replay a dispute capsule: :func:`counterfoil.adjudicate`; the report comes last."""

    def plan(
        self,
        run: Path,
        cancel: CancelToken,
        *,
        data: Path | None,
        bad_fraction: float,
        device: str,
        threads: int | None,
        limits: Limits,
    ) -> Iterator[PlanProgress | Plan]:
        """Measure a few steps: :func:`counterfoil.plan_audit`."""

    def panel(
        self,
        runs: Sequence[Path],
        cancel: CancelToken,
        *,
        order: Path | None,
        data: Path | None,
        device: str,
        threads: int | None,
        limits: Limits,
    ) -> Iterator[PanelEvent]:
        """Compare runs of one order: :func:`counterfoil.audit.panel.run_panel`."""


class AtHome:
    """Does it in this process; what it needs is loaded when it is called."""

    def __init__(self) -> None:
        self._evidence: CapsuleContents | None = None

    def audit(self, request: AuditRequest, cancel: CancelToken, *, capsule: bool = False) -> Iterator[events.Event]:
        """As :class:`Session`."""
        del capsule
        with cancel.at_once():
            from counterfoil.audit.session import run_audit
        for event in run_audit(request, cancel):
            if isinstance(event, events.AuditFinished):
                self._evidence = event.evidence
            yield event

    @property
    def has_capsule(self) -> bool:
        """As :class:`Session`."""
        return self._evidence is not None

    def write_capsule(self, path: Path) -> None:
        """As :class:`Session`."""
        from counterfoil.bundle.capsulewriter import write_capsule

        assert self._evidence is not None, "nobody is accused"
        write_capsule(self._evidence, path)

    def part(
        self, request: AuditRequest, path: Path, cancel: CancelToken
    ) -> Generator[PlanProgress, None, tuple[SegmentTrouble, ...]]:
        """As :class:`Session`."""
        with cancel.at_once():
            from counterfoil.audit.parts.partial import replay_part
        return troubles((yield from replay_part(request, path, cancel)))

    def adjudicate(
        self,
        capsule: Path,
        cancel: CancelToken,
        *,
        order: Path | None,
        trainer_key: PublicKey | None,
        client_key: PublicKey | None,
        device: str,
        threads: int | None,
        limits: Limits,
    ) -> Iterator[events.Event | CapsuleStarted | AdjudicationReport]:
        """As :class:`Session`."""
        with cancel.at_once():
            from counterfoil.audit.adjudicator import AdjudicationFinished, AdjudicationStarted, adjudicate
        for event in adjudicate(
            capsule, order=order, trainer_key=trainer_key, client_key=client_key, device=device, threads=threads,
            cancel=cancel, limits=limits,
        ):  # fmt: skip
            if isinstance(event, AdjudicationStarted):
                yield CapsuleStarted(event.first, event.last)
            else:
                yield event.report if isinstance(event, AdjudicationFinished) else event

    def plan(
        self,
        run: Path,
        cancel: CancelToken,
        *,
        data: Path | None,
        bad_fraction: float,
        device: str,
        threads: int | None,
        limits: Limits,
    ) -> Iterator[PlanProgress | Plan]:
        """As :class:`Session`."""
        with cancel.at_once():
            from counterfoil.audit.timing import plan_audit
        yield from plan_audit(
            run, data=data, bad_fraction=bad_fraction, device=device, threads=threads, cancel=cancel, limits=limits
        )

    def panel(
        self,
        runs: Sequence[Path],
        cancel: CancelToken,
        *,
        order: Path | None,
        data: Path | None,
        device: str,
        threads: int | None,
        limits: Limits,
    ) -> Iterator[PanelEvent]:
        """As :class:`Session`."""
        with cancel.at_once():
            from counterfoil.audit.panel import run_panel
        yield from run_panel(runs, order=order, data=data, device=device, threads=threads, cancel=cancel, limits=limits)


class InBox:
    """Does it in a process that has closed a box.

    Args:
        scratch: The folder that both sides share.
    """

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._has_capsule = False
        self._capsule_failure: Failure | None = None
        self._process = started()
        self._speaking = threading.Lock()

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                cast("BinaryIO", pipe).close()

    def audit(self, request: AuditRequest, cancel: CancelToken, *, capsule: bool = False) -> Iterator[events.Event]:
        """As :class:`Session`."""
        answers = Answers(self._scratch, request)
        table = StepTable()
        try:
            for said in self._work(_audit_task(request, capsule), _files_of(request), answers, cancel):
                match said:
                    case events.AuditStarted():
                        with _strictly():
                            table = _table(said.steps)
                    case events.StepReplayed():
                        with _strictly():
                            table.put([said.row])
                    case Finished():
                        self._has_capsule, self._capsule_failure = said.capsule, said.capsule_failure
                        leftover = () if said.interrupted else answers.leftover
                        yield events.AuditFinished(
                            said.report, None, said.kept, said.problem, table, leftover, said.interrupted
                        )
                        continue
                yield said
        finally:
            answers.close()

    @property
    def has_capsule(self) -> bool:
        """As :class:`Session`."""
        return self._has_capsule

    def write_capsule(self, path: Path) -> None:
        """As :class:`Session`."""
        if self._capsule_failure is not None:
            raise self._capsule_failure.error
        take(self._scratch, CAPSULE_NAME, path, say("the dispute capsule"))

    def part(
        self, request: AuditRequest, path: Path, cancel: CancelToken
    ) -> Generator[PlanProgress, None, tuple[SegmentTrouble, ...]]:
        """As :class:`Session`."""
        task = PartTask(
            _name(request.run), _named(request.data), request.device, request.threads, request.segments, request.limits
        )
        for said in self._work(task, (request.run, request.data), Answers(self._scratch), cancel):
            if isinstance(said, PlanProgress):
                yield said
        part = read_part(self._scratch / PART_NAME)
        write_part(part, path)
        return troubles(part)

    def adjudicate(
        self,
        capsule: Path,
        cancel: CancelToken,
        *,
        order: Path | None,
        trainer_key: PublicKey | None,
        client_key: PublicKey | None,
        device: str,
        threads: int | None,
        limits: Limits,
    ) -> Iterator[events.Event | CapsuleStarted | AdjudicationReport]:
        """As :class:`Session`."""
        task = AdjudicationTask(
            _name(capsule), _named(order), _pem(trainer_key), _pem(client_key), device, threads, limits
        )
        yield from self._work(task, (capsule, order), Answers(self._scratch), cancel)

    def plan(
        self,
        run: Path,
        cancel: CancelToken,
        *,
        data: Path | None,
        bad_fraction: float,
        device: str,
        threads: int | None,
        limits: Limits,
    ) -> Iterator[PlanProgress | Plan]:
        """As :class:`Session`."""
        task = PlanTask(_name(run), _named(data), bad_fraction, device, threads, limits)
        yield from self._work(task, (run, data), Answers(self._scratch), cancel)

    def panel(
        self,
        runs: Sequence[Path],
        cancel: CancelToken,
        *,
        order: Path | None,
        data: Path | None,
        device: str,
        threads: int | None,
        limits: Limits,
    ) -> Iterator[PanelEvent]:
        """As :class:`Session`."""
        task = PanelTask(tuple(map(_name, runs)), _named(order), _named(data), device, threads, limits)
        yield from self._work(task, (*runs, order, data), Answers(self._scratch), cancel)

    def _work(self, task: Task, files: Iterable[Path | None], answers: Answers, cancel: CancelToken) -> Iterator[Any]:
        """Give the process its task, answer what it asks, and yield what it says."""
        reads = tuple(_name(each) for each in files if each is not None)
        self._tell(Enclosure(reads, _name(self._scratch)))
        self._tell(Begin(task))
        kinds = BROUGHT[type(task)]
        loaded, ended = threading.Event(), threading.Event()
        watch = threading.Thread(target=self._watch, args=(cancel, loaded, ended), daemon=True)
        watch.start()
        try:
            while True:
                with _strictly():
                    message = self._hear()
                match message:
                    case None:
                        raise self._gone(cancel)
                    case Loaded():
                        loaded.set()
                    case Said(name, body):
                        with _strictly():
                            value: Any = decode(body, kinds[name])
                        yield value
                    case Failed(failure):
                        raise failure.error if failure.name else _bug(failure)
                    case Done():
                        return
                    case question:
                        self._tell(_answer(answers, question))
        finally:
            ended.set()
            watch.join()

    def _hear(self) -> Any:
        return receive(cast("BinaryIO", self._process.stdout), FromInside)

    def _tell(self, message: object) -> None:
        with self._speaking, suppress(OSError):  # where nobody reads any more, the other pipe says so
            send(cast("BinaryIO", self._process.stdin), message)

    def _watch(self, cancel: CancelToken, loaded: threading.Event, ended: threading.Event) -> None:
        """Hand on the wish to stop; a process that has not begun is ended."""
        while not ended.wait(LOOK_SECONDS):
            if cancel.cancelled:
                if loaded.is_set():
                    self._tell(Stop())
                else:
                    self._process.kill()
                return

    def _gone(self, cancel: CancelToken) -> CounterfoilError:
        if cancel.cancelled:
            return CancelledError(say("The work was cancelled; nothing was concluded."))
        return WorkerError(
            say("The process that replays the run ended: {0}. Nothing was concluded.", how_ended(self._process.wait())),
            remedy=say("It may have been short of memory. What was judged is kept: go on with --resume."),
        )


def troubles(part: Part) -> tuple[SegmentTrouble, ...]:
    """Return the segments of a part, and what kept each from its end."""
    return tuple(SegmentTrouble(each.number, each.trouble) for each in part.segments)


@contextmanager
def _strictly() -> Iterator[None]:
    """Read what the process says as a stranger's; raises CounterfoilError where it is not what it should be."""
    try:
        yield
    except _NONSENSE as error:
        raise CounterfoilError(
            say("The process that replays the run said what it may not say."),
            remedy=say("Do not use its results: the file that was audited may have taken it over."),
            detail=repr(error),
        ) from error


@contextmanager
def _scratch() -> Iterator[Path]:
    folder = make_scratch()
    try:
        yield folder
    finally:
        remove_scratch(folder)


def _answer(answers: Answers, question: Question) -> ToInside:
    try:
        return Answer(answers.answer(question))
    except CounterfoilError as error:
        return Refused(Failure.of(error))


def _audit_task(request: AuditRequest, capsule: bool) -> AuditTask:
    workers = request.workers
    kinds: dict[type, Literal["processes", "cluster", "parts"]] = {
        LocalWorkers: "processes", RayWorkers: "cluster", PartFiles: "parts"
    }  # fmt: skip
    return AuditTask(
        run=_name(request.run),
        order=_named(request.order),
        device=request.device,
        threads=request.threads,
        continue_after_dispute=request.continue_after_dispute,
        trainer_key=_pem(request.trainer_key),
        data=_named(request.data),
        segments=request.segments,
        heads=_named(request.heads),
        limits=request.limits,
        progress=_named(request.progress),
        resume=request.resume,
        begin=request.begin,
        workers="" if workers is None else kinds[type(workers)],
        parts=tuple(map(_name, workers.paths)) if isinstance(workers, PartFiles) else (),
        recheck=request.recheck,
        client_key=_pem(request.client_key),
        capsule=capsule,
    )


def _files_of(request: AuditRequest) -> tuple[Path | None, ...]:
    parts = request.workers.paths if isinstance(request.workers, PartFiles) else ()
    return request.run, request.order, request.data, request.heads, *parts


def _table(steps: int) -> StepTable:
    if not 0 <= steps <= MOST_STEPS:
        raise ValueError("a run of impossible length")
    return StepTable(Recorded.of(*(np.zeros(steps) for _ in range(3))))


def _bug(failure: Failure) -> Exception:
    error = RuntimeError(failure.sentence)
    error.add_note(failure.detail)
    return error


def _name(path: str | os.PathLike[str]) -> str:
    return os.path.abspath(path)


def _named(path: Path | None) -> str | None:
    return None if path is None else _name(path)


def _pem(key: PublicKey | None) -> str:
    return "" if key is None else key.pem
