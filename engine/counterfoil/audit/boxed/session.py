"""Replays in a process that has closed a box around itself, for whoever shows and signs what comes of them.

This side reads no file of a stranger's but to copy it. It holds the terminal, the outputs, the progress and, by way of
the signer, the key; the process in the box has pipes to this one, the files of the job to read, and a folder of its own
that both sides share.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np

from counterfoil.audit.boxed import tasks
from counterfoil.audit.boxed.answers import QUESTIONS, Answers, take
from counterfoil.audit.boxed.files import CAPSULE_NAME, PART_NAME, absolute, make_scratch, paths_in, remove_scratch
from counterfoil.audit.boxed.start import replay_process, why_open
from counterfoil.audit.boxed.tasks import TASKS, CapsuleMade, Inside
from counterfoil.audit.boxed.words import ReplayWords
from counterfoil.audit.parts.partfile import Part, read_part, write_part
from counterfoil.audit.values.capsulecontents import HandedOut
from counterfoil.audit.values.follow import FollowEnded, FollowEvent, FollowRequest
from counterfoil.audit.values.plan import PlanProgress
from counterfoil.audit.values.signers import Signers
from counterfoil.sandbox import box
from counterfoil.talk.port import Enclosure
from counterfoil.talk.process import Process
from counterfoil.talk.table import LOOKUP, REPLAY, Program
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.sentence import say
from counterfoil_core.remote.address import Address
from counterfoil_core.values import events
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.steptable import Recorded, StepTable
from counterfoil_core.values.workers import LocalWorkers, RayWorkers, Workers

if TYPE_CHECKING:
    from counterfoil_core.bundle.capsule import CapsuleContents
    from counterfoil_core.signing.keys import PublicKey

Given = ParamSpec("Given")
Brought = TypeVar("Brought")
Task = Callable[Concatenate[Inside, Given], Iterator[Brought]]
_NONSENSE = (LookupError, TypeError, ValueError, OverflowError)
"""What reading a message of the wrong kind raises."""
MOST_STEPS = 10**9
"""Of a run; a process that says more talks nonsense."""


@contextmanager
def open_session(device: str = "cpu", program: Program = REPLAY) -> Iterator[Session]:
    """Provide whoever replays on a device: a process in a box, or this one where there can be none.

    Args:
        device: The device.
        program: The process; another than that of replays loads less, and does fewer tasks.
    """
    why = why_open(device)
    if why:
        with box.without_box(why):
            yield AtHome()
        return
    with _scratch() as scratch:
        session = InBox(scratch, replay_process() if program is REPLAY else Process(program, ReplayWords()))
        try:
            yield session
        finally:
            session.close()


def signers_in_box(file: Path | Address, cancel: CancelToken, *, is_capsule: bool = False) -> Signers:
    """Say who signed a run, or what a capsule is about, as a process in a box of its own reads it.

    Raises:
        BundleError: The file is no bundle, or no capsule.
        ObstacleError: It cannot be read, or the process ended.
        CancelledError: ``cancel`` was set.
    """
    with open_session(program=LOOKUP) as session:
        (found,) = session.do(tasks.signers, cancel, file, is_capsule=is_capsule)
    return found


class Session(Protocol):
    """Does one task."""

    def do(
        self, task: Task[Given, Brought], cancel: CancelToken, *arguments: Given.args, **named: Given.kwargs
    ) -> Iterator[Brought]:
        """Do one of :mod:`counterfoil.audit.boxed.tasks` that leaves nothing but what it yields: no audit, no part.

        Args:
            task: It.
            cancel: Stops it.
            arguments: What it takes behind :class:`Inside`.
            named: The same, by name.

        Raises:
            ObstacleError: The process in the box ended.
            CounterfoilError: As the task, or the process said what it may not.
        """

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

    @property
    def handed(self) -> HandedOut | None:
        """What the dispute capsule hands to whoever gets it; None where there is none."""

    def write_capsule(self, path: Path) -> None:
        """Write the dispute capsule; raises FileWriteError and BundleError."""

    def part(self, request: AuditRequest, path: Path, cancel: CancelToken) -> Generator[PlanProgress, None, Part]:
        """Replay segments into a part file: :func:`counterfoil.audit.parts.partial.replay_part`."""

    def follow(self, request: FollowRequest, path: Path, cancel: CancelToken) -> Iterator[FollowEvent]:
        """Follow a recording whose folder is there, into a part file: :func:`counterfoil.follow`."""


class AtHome:
    """Does it in this process; what it needs is loaded when it is called."""

    def __init__(self) -> None:
        self._evidence: CapsuleContents | None = None

    def do(
        self, task: Task[Given, Brought], cancel: CancelToken, *arguments: Given.args, **named: Given.kwargs
    ) -> Iterator[Brought]:
        """As :class:`Session`."""
        return task(Inside(cancel), *arguments, **named)

    def audit(self, request: AuditRequest, cancel: CancelToken, *, capsule: bool = False) -> Iterator[events.Event]:
        """As :class:`Session`."""
        del capsule
        with cancel.at_once():
            from counterfoil.audit.hearings import run_audit
        for event in run_audit(request, cancel):
            if isinstance(event, events.AuditFinished):
                self._evidence = event.evidence
            yield event

    @property
    def has_capsule(self) -> bool:
        """As :class:`Session`."""
        return self._evidence is not None

    @property
    def handed(self) -> HandedOut | None:
        """As :class:`Session`."""
        from counterfoil.audit.capsulecontents import count_contents

        return None if self._evidence is None else count_contents(self._evidence)

    def write_capsule(self, path: Path) -> None:
        """As :class:`Session`."""
        from counterfoil.bundle.capsulewriter import write_capsule

        assert self._evidence is not None, "nobody is accused"
        write_capsule(self._evidence, path)

    def part(self, request: AuditRequest, path: Path, cancel: CancelToken) -> Generator[PlanProgress, None, Part]:
        """As :class:`Session`."""
        with cancel.at_once():
            from counterfoil.audit.parts.partial import replay_part
        return (yield from replay_part(request, path, cancel))

    def follow(self, request: FollowRequest, path: Path, cancel: CancelToken) -> Iterator[FollowEvent]:
        """As :class:`Session`."""
        with cancel.at_once():
            from counterfoil.audit.follow import follow
        yield from follow(request, path, cancel)


class InBox:
    """Does it in a process that has closed a box.

    Args:
        scratch: The folder that both sides share.
        process: The process.
    """

    def __init__(self, scratch: Path, process: Process) -> None:
        self._scratch, self._process = scratch, process
        self._capsule: CapsuleMade | None = None

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.end(now=True)

    def do(
        self, task: Task[Given, Brought], cancel: CancelToken, *arguments: Given.args, **named: Given.kwargs
    ) -> Iterator[Brought]:
        """As :class:`Session`."""
        elsewhere = next((each for each in arguments if isinstance(each, Address)), None)
        answers = Answers(self._scratch, None if elsewhere is None else AuditRequest(elsewhere), cancel=cancel)
        return self._work(answers, cancel, task, *arguments, **named)

    def audit(self, request: AuditRequest, cancel: CancelToken, *, capsule: bool = False) -> Iterator[events.Event]:
        """As :class:`Session`."""
        answers = Answers(self._scratch, request, cancel=cancel)
        table = StepTable()
        asked = replace(request, trainer_key=None, client_key=None, workers=_without_place(request.workers))
        keys = _pem(request.trainer_key), _pem(request.client_key)
        try:
            for said in self._work(answers, cancel, tasks.audit, asked, *keys, capsule):
                match said:
                    case events.AuditStarted():
                        with _strictly():
                            table = _table(said.steps)
                    case events.StepReplayed():
                        with _strictly():
                            table.put([said.row])
                    case events.AuditFinished():
                        leftover = () if said.interrupted else answers.leftover
                        said = replace(said, steps=table, leftover=leftover)
                if isinstance(said, CapsuleMade):
                    self._capsule = said
                else:
                    yield said
        finally:
            answers.close()
            answers.close_run()

    @property
    def has_capsule(self) -> bool:
        """As :class:`Session`."""
        return self._capsule is not None

    @property
    def handed(self) -> HandedOut | None:
        """As :class:`Session`."""
        return None if self._capsule is None else self._capsule.handed

    def write_capsule(self, path: Path) -> None:
        """As :class:`Session`."""
        if self._capsule is not None and self._capsule.failure is not None:
            raise self._capsule.failure.error
        take(self._scratch, CAPSULE_NAME, path, say("the dispute capsule"))

    def part(self, request: AuditRequest, path: Path, cancel: CancelToken) -> Generator[PlanProgress, None, Part]:
        """As :class:`Session`."""
        # Whoever merges the parts has order, keys and heads.
        asked = replace(request, order=None, heads=None, trainer_key=None, client_key=None, progress=None, workers=None)
        yield from self.do(tasks.part, cancel, asked)
        part = read_part(self._scratch / PART_NAME)
        write_part(part, path)
        return part

    def follow(self, request: FollowRequest, path: Path, cancel: CancelToken) -> Iterator[FollowEvent]:
        """As :class:`Session`."""
        asked = replace(request, trainer_key=None)
        for said in self.do(tasks.follow, cancel, asked, _pem(request.trainer_key)):
            if isinstance(said, FollowEnded) and said.outcome is None:
                write_part(read_part(self._scratch / PART_NAME), path)
            yield said

    def _work(
        self,
        answers: Answers,
        cancel: CancelToken,
        task: Task[Given, Brought],
        *arguments: Given.args,
        **named: Given.kwargs,
    ) -> Iterator[Brought]:
        """Give the process its task, answer what it asks, and yield what it says."""
        call = TASKS.call(task, absolute(arguments), {name: absolute(each) for name, each in named.items()})
        reads = tuple(map(str, paths_in(call.arguments)))
        self._process.enclose(Enclosure(reads, scratch=os.path.abspath(self._scratch)))
        yield from self._process.ask(TASKS, call, cancel, [(QUESTIONS, answers)], at_once=True)


@contextmanager
def _strictly() -> Iterator[None]:
    """Read what the process says as a stranger's; raises CounterfoilError where it is not what it should be."""
    try:
        yield
    except _NONSENSE as error:
        raise ReplayWords().nonsense(error) from error


@contextmanager
def _scratch() -> Iterator[Path]:
    folder = make_scratch()
    try:
        yield folder
    finally:
        remove_scratch(folder)


def _without_place(workers: Workers | None) -> Workers | None:
    """The same kind of workers: who starts them knows how many they are and where."""
    bare: dict[type, Workers] = {LocalWorkers: LocalWorkers(1), RayWorkers: RayWorkers("")}
    return bare.get(type(workers), workers)


def _table(steps: int) -> StepTable:
    if not 0 <= steps <= MOST_STEPS:
        raise ValueError("a run of impossible length")
    nothing = np.zeros(steps)
    return StepTable(Recorded.of(nothing, nothing, nothing))


def _pem(key: PublicKey | None) -> str:
    return "" if key is None else key.pem
