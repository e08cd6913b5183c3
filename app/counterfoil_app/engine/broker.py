"""The process between the window and those in boxes: starts them, hands calls on, and does what they may not.

A process in a box computes for the files that it was started for, and for no others: a call that names another file
gets another process. So each starts without having seen anything of a stranger's, loads what it needs, closes its box,
and takes calls until one comes that it is not let do. Spare ones are kept loaded, so that nobody waits for the loading.
Files are looked at by a process of their own: a replay's evidence stays where it is, and what a replay loads takes
seconds, which the first figures of a run do not wait for. What computes holds hundreds of MiB: it ends when another
file is looked at. When nobody has asked for minutes all of them end, but for one whose evidence lies nowhere else, and
start again with the next call.

The broker itself reads nothing of a stranger's but to copy it, and nothing of what the processes say to the window,
which reads that as a stranger's.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, BinaryIO

from counterfoil import AuditRequest
from counterfoil.audit.boxed.answers import QUESTIONS, Answers, take
from counterfoil.audit.boxed.files import PART_NAME, make_scratch, remove_scratch
from counterfoil.audit.boxed.start import why_open
from counterfoil.audit.boxed.words import ReplayWords
from counterfoil.talk import table
from counterfoil.talk.failure import Failure
from counterfoil.talk.frames import own_pipes, read_frame, write_frame
from counterfoil.talk.messages import FormError, decode
from counterfoil.talk.port import Call, Delivery, Enclosure, Question, Raised, Returned
from counterfoil.talk.process import Heard, Process, Start, answer
from counterfoil_app.engine.child import LIGHT, WHOLE
from counterfoil_app.engine.enclosures import enclosure_of
from counterfoil_app.engine.port import ENGINE, TRAITS, Engine, Traits, keeping, with_key
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.sentence import say

SPARE_SECONDS = {True: 0.0, False: 3.0}
"""How long after the last call in a new box the next process is started that only looks, and that computes: loading
what computes keeps a processor busy for seconds."""
IDLE_SECONDS = 180.0
"""So long after the last call processes are kept loaded."""
_KEPT_CALLS = 8
"""So many of the last calls may still ask for something: those that nobody waits for any more come to their end."""


@dataclass(eq=False)
class _Inner:
    """A process that computes."""

    scratch: Path  #: The folder that both sides share.
    enclosure: Enclosure | None = None  #: Its box; None before it is closed.
    answers: dict[int, Answers] = field(default_factory=dict)  #: What answers it, by call.
    at_work: set[int] = field(default_factory=set)  #: The calls that it has not come to the end of.
    holds: bool = False  #: Whether it may have in memory what a later call needs.
    process: Process = field(init=False)


class Broker:
    """Hands calls on.

    Args:
        answers: Where the window reads.
    """

    def __init__(self, answers: BinaryIO) -> None:
        self._answers = answers
        self._writing = threading.Lock()
        self._slots: dict[bool, _Inner] = {}
        """Who computes, and who looks at files beside it."""
        self._called: _Inner | None = None
        """Whom the last call went to: whatever another one says belongs to calls that nobody waits for."""
        self._spares: dict[bool, _Inner] = {}
        self._apart: list[_Inner] = []
        """Those that start a process for each file."""
        self._later: dict[bool, threading.Timer] = {}
        self._rest: threading.Timer | None = None
        self._closed = False
        self._lock = threading.RLock()

    def get_ready(self) -> None:
        """Start a process that looks at files, before anybody has named one."""
        self._make_spare(True)

    def hand_on(self, frame: bytes) -> None:
        """Hand on what the window said; raises FormError where it is nothing that a window says."""
        message = decode(frame, Question)
        if isinstance(message, Call):
            traits, arguments = TRAITS.get(message.name, Traits()), _arguments(message)
            with self._lock:  # what rests ends beside this
                inner = self._called = self._process_for(message.name, traits, arguments)
                inner.at_work.add(message.number)
                inner.holds = traits.leaves or (inner.holds and message.name != Engine.release.__name__)
            inner.answers[message.number] = _answers(inner.scratch, message.name, traits, arguments)
            while len(inner.answers) > _KEPT_CALLS:
                inner.answers.pop(min(inner.answers)).close()
        if self._called is not None:
            self._called.process.hand_on(frame)

    def close(self) -> None:
        """End all processes, which may come to the end of what they do."""
        with self._lock:
            self._closed = True
            for timer in (*self._later.values(), self._rest):
                if timer is not None:
                    timer.cancel()
            inners = [*self._slots.values(), *self._spares.values(), *self._apart]
        for inner in inners:
            if inner.enclosure is None and not inner.at_work:  # it does nothing yet
                inner.process.kill()
            inner.process.hang_up()
        for inner in inners:
            inner.process.wait()
            remove_scratch(inner.scratch)

    def _process_for(self, name: str, traits: Traits, arguments: Mapping[str, Any]) -> _Inner:
        if traits.apart:  # who starts processes has no box, and is asked nothing else
            apart = self._take_spare(True)
            self._apart.append(apart)
            self._make_spare_after(True)
            return apart
        current = self._slots.get(traits.beside)
        if traits.early:  # asked before anybody knows which files there will be
            return self._slots.setdefault(traits.beside, current or self._take_spare(traits.beside))
        open_for = "it reads nothing of a stranger's" if traits.own else why_open(_device(arguments))
        wanted = enclosure_of(traits, arguments, open_for)
        if current is not None and current.enclosure is not None and current.enclosure.lets(wanted):
            return current
        if current is None or current.enclosure is not None:
            before, current = current, self._take_spare(traits.beside)
            self._slots[traits.beside] = current
            if before is not None:
                if name == "audit_followed":  # by another process, since the run was not there for the first
                    _take_part(before.scratch, current.scratch)
                self._begin_to_retire(before)
            if traits.beside:
                self._end_computing(wanted)
        current.enclosure = replace(wanted, scratch=str(current.scratch))
        current.process.enclose(current.enclosure)
        self._make_spare_after(True)
        if not traits.own:  # what is one's own is recorded, or examined, by itself
            self._make_spare_after(False)
        return current

    def _make_spare_after(self, light: bool) -> None:
        if light in self._later:
            self._later[light].cancel()
        self._later[light] = _after(SPARE_SECONDS[light], self._make_spare, light)

    def _end_computing(self, wanted: Enclosure | None = None) -> None:
        """End the process that computes where it does nothing and has nothing that is needed, and not this box."""
        inner = self._slots.get(False)
        if inner is None or inner.at_work or inner.holds:
            return
        if wanted is None or not (inner.enclosure is None or inner.enclosure.lets(wanted)):
            self._begin_to_retire(self._slots.pop(False))

    def _rest_now(self) -> None:
        """Nobody has asked for a while: what is needed is loaded again when somebody does."""
        with self._lock:
            if self._closed or any(inner.at_work for inner in self._slots.values()):
                return
            for light in [light for light, inner in self._slots.items() if not inner.holds]:
                self._begin_to_retire(self._slots.pop(light))
            for spare in self._spares.values():
                spare.process.kill()
                self._begin_to_retire(spare)
            self._spares.clear()

    def _make_spare(self, light: bool) -> None:
        with (
            self._lock,
            suppress(CounterfoilError),
        ):  # it is started again when it is needed, and then somebody says what fails
            if not self._closed and light not in self._spares:
                self._spares[light] = self._started(light)

    def _take_spare(self, light: bool) -> _Inner:
        with self._lock:
            spare = self._spares.pop(light, None)
        return spare if spare is not None and spare.process.alive else self._started(light)

    def _begin_to_retire(self, inner: _Inner) -> None:
        inner.process.hang_up()
        threading.Thread(target=self._retire, args=(inner,), daemon=True).start()

    def _retire(self, inner: _Inner) -> None:
        inner.process.wait()
        remove_scratch(inner.scratch)

    def _started(self, light: bool) -> _Inner:
        """Start a process; ``light`` leaves out what computes."""
        inner = _Inner(make_scratch())
        start = Start(arguments=(LIGHT if light else WHOLE,), shows_errors=True)
        inner.process = Process(table.ENGINE, ReplayWords(), start, partial(self._hear, inner))
        return inner

    def _hear(self, inner: _Inner, process: Process, said: Heard) -> None:
        """Answer what a process asks, and hand on what else it says, as long as it is the one that calls go to."""
        if isinstance(said, bytes):
            delivery: tuple[object, ...] = ()
            with suppress(FormError):  # the window, for which it is, says so
                delivery = decode(said, Delivery)
            self._note_ends(inner, delivery)
            match delivery:
                case (Call(name=name) as asked,) if name in QUESTIONS.names:
                    self._answer(inner, process, asked)
                case _ if inner is self._called:
                    with self._writing, suppress(OSError, ValueError):
                        write_frame(self._answers, said)
            return
        inner.at_work.clear()
        process.kill()  # where it says too much
        code = process.wait()
        if inner is self._called and not process.closed:
            _end_as(code)

    def _note_ends(self, inner: _Inner, delivery: tuple[object, ...]) -> None:
        ended = {message.number for message in delivery if isinstance(message, Returned | Raised)}
        if ended:
            with self._lock:
                inner.at_work -= ended
                if inner in self._apart and not self._closed:
                    self._apart.remove(inner)
                    self._begin_to_retire(inner)
                if self._rest is not None:
                    self._rest.cancel()
                self._rest = None if self._closed else _after(IDLE_SECONDS, self._rest_now)

    def _answer(self, inner: _Inner, process: Process, asked: Call) -> None:
        try:
            answers = inner.answers.get(asked.number)
            if answers is None:
                raise CounterfoilError(say("The call that this was for is over."))
            process.send(Returned(asked.number, answer(asked, [(QUESTIONS, answers)])))
        except FormError:
            process.kill()
        except (CounterfoilError, OSError) as error:
            process.send(Raised(asked.number, Failure.of(error)))


def main() -> None:
    """Hand calls on until the window hangs up."""
    questions, answers = own_pipes()
    broker = Broker(answers)
    broker.get_ready()
    while (frame := read_frame(questions, table.BROKER.hears)) is not None:
        broker.hand_on(frame)
    broker.close()


def _after(seconds: float, work: Callable[..., None], *arguments: Any) -> threading.Timer:
    timer = threading.Timer(seconds, work, arguments)
    timer.daemon = True
    timer.start()
    return timer


def _arguments(call: Call) -> Mapping[str, Any]:
    try:
        found = decode(call.arguments, ENGINE.form(call.name).arguments)
    except FormError:  # whoever is to carry it out says so
        return {}
    return name_arguments(call.name, found)


def name_arguments(name: str, arguments: tuple[Any, ...]) -> Mapping[str, Any]:
    """Return the arguments of a question by the names of its parameters."""
    return dict(zip(list(signature(getattr(Engine, name)).parameters)[1:], arguments, strict=False))


def _answers(scratch: Path, name: str, traits: Traits, arguments: Mapping[str, Any]) -> Answers:
    request = arguments.get("request")
    if name == "audit_followed":  # it keeps no progress: what was followed is in the part file
        return Answers(scratch, None if request is None else with_key(request).audit(scratch / PART_NAME))
    target = arguments.get(traits.writes) if name == "write_capsule" else None
    return Answers(scratch, keeping(request) if isinstance(request, AuditRequest) else None, target)


def _take_part(before: Path, after: Path) -> None:
    """Take along what was followed; where that fails, the audit says that it is not there."""
    with suppress(CounterfoilError):
        take(before, PART_NAME, after / PART_NAME, say("what was followed"))


def _device(arguments: Mapping[str, Any]) -> str:
    """Return the devices that a call names, if any."""
    named = [getattr(each, "device", each) for each in arguments.values()]
    return " ".join(each for each in named if isinstance(each, str) and each.startswith("cuda"))


def _end_as(code: int) -> None:
    """End this process as one ended to which a call went: the window says how."""
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    os._exit(code or 1)
