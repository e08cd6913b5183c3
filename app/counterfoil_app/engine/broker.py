"""The process between the window and those in boxes: starts them, hands calls on, and does what they may not.

A process in a box computes for the files that it was started for, and for no others: a call that names another file
gets another process. So each starts without having seen anything of a stranger's, loads what it needs, closes its box,
and takes calls until one comes that it is not let do. Spare ones are kept loaded, so that nobody waits for the loading.
Files are looked at by a process of their own: a replay's evidence stays where it is, and what a replay loads takes
seconds, which the first figures of a run do not wait for.

The broker itself reads nothing of a stranger's but to copy it, and nothing of what the processes say to the window,
which reads that as a stranger's.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from counterfoil import AuditRequest
from counterfoil.audit.boxed.answers import QUESTIONS, Answers, take
from counterfoil.audit.boxed.messages import PART_NAME, Answer, Failure, Refused
from counterfoil.audit.boxed.scratch import make_scratch, remove_scratch
from counterfoil.audit.boxed.start import why_open
from counterfoil.talk.frames import own_pipes, read_frame, write_frame
from counterfoil.talk.messages import FormError, decode, encode
from counterfoil.talk.programs import program_command, program_environment
from counterfoil_app.engine.enclosures import BESIDE, OUTPUTS, OWN, BoxQuestion, Enclosure, enclosure_of
from counterfoil_app.engine.messages import MAX_BYTES, Call, Question, methods
from counterfoil_app.engine.port import keeping, with_key
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.sentence import say

CHILD = "counterfoil_app.engine.child"
SPARE_SECONDS = {True: 0.0, False: 3.0}
"""How long after the last call in a new box the next process is started that only looks, and that computes: loading
what computes keeps a processor busy for seconds."""
MOST_INQUIRY = 2**30
AT_ONCE = ("devices", "version")
"""Calls that a process carries out that has no box yet."""
_KEPT_CALLS = 8
"""So many of the last calls may still ask for something: those that nobody waits for any more come to their end."""


@dataclass
class _Inner:
    """A process that computes.

    Attributes:
        process: The process.
        asks: Where it asks.
        heard: Where it is answered.
        scratch: The folder that both sides share.
        enclosure: Its box; None before it is closed.
        answers: What answers it, by call.
    """

    process: subprocess.Popen[bytes]
    asks: BinaryIO
    heard: BinaryIO
    scratch: Path
    enclosure: Enclosure | None = None
    answers: dict[int, Answers] = field(default_factory=dict)

    def tell(self, frame: bytes) -> None:
        """Hand on a frame; where nobody reads any more, the other pipe says so."""
        with suppress(OSError, ValueError):
            write_frame(cast("BinaryIO", self.process.stdin), frame)

    def hang_up(self) -> None:
        """Let it end by itself when it has done what it has."""
        with suppress(OSError):
            cast("BinaryIO", self.process.stdin).close()


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
        self._later: dict[bool, threading.Timer] = {}
        self._closed = False
        self._lock = threading.Lock()

    def get_ready(self) -> None:
        """Start a process that looks at files, before anybody has named one."""
        self._make_spare(True)

    def hand_on(self, frame: bytes) -> None:
        """Hand on what the window said; raises FormError where it is nothing that a window says."""
        message = decode(frame, Question)
        if isinstance(message, Call):
            arguments = _arguments(message)
            inner = self._called = self._process_for(message.method, arguments)
            inner.answers[message.number] = _answers(inner.scratch, message.method, arguments)
            while len(inner.answers) > _KEPT_CALLS:
                inner.answers.pop(min(inner.answers)).close()
        if self._called is not None:
            self._called.tell(frame)

    def close(self) -> None:
        """End all processes, which may come to the end of what they do."""
        with self._lock:
            self._closed = True
            for timer in self._later.values():
                timer.cancel()
            inners = [*self._slots.values(), *self._spares.values()]
        for inner in inners:
            if inner.enclosure is None:  # it does nothing yet
                inner.process.kill()
            inner.hang_up()
        for inner in inners:
            inner.process.wait()
            remove_scratch(inner.scratch)

    def _process_for(self, method: str, arguments: tuple[Any, ...]) -> _Inner:
        beside = method in BESIDE
        current = self._slots.get(beside)
        if method in AT_ONCE:  # asked before anybody knows which files there will be
            return self._slots.setdefault(beside, current or self._take_spare(beside))
        open_for = "it reads nothing of a stranger's" if method in OWN else why_open(_device(arguments))
        wanted = enclosure_of(method, arguments, open_for)
        if current is not None and current.enclosure is not None and current.enclosure.lets(wanted):
            return current
        if current is None or current.enclosure is not None:
            before, current = current, self._take_spare(beside)
            self._slots[beside] = current
            if before is not None:
                if method == "audit_followed":  # by another process, since the run was not there for the first
                    _take_part(before.scratch, current.scratch)
                threading.Thread(target=self._retire, args=(before,), daemon=True).start()
        self._enclose(current, replace(wanted, scratch=str(current.scratch)))
        return current

    def _enclose(self, inner: _Inner, enclosure: Enclosure) -> None:
        inner.enclosure = enclosure
        inner.tell(encode(enclosure))
        with self._lock:
            for light, seconds in SPARE_SECONDS.items():
                if light in self._later:
                    self._later[light].cancel()
                self._later[light] = threading.Timer(seconds, self._make_spare, [light])
                self._later[light].daemon = True
                self._later[light].start()

    def _make_spare(self, light: bool) -> None:
        with self._lock, suppress(OSError):  # it is started again when it is needed, and then somebody says what fails
            if not self._closed and light not in self._spares:
                self._spares[light] = self._started(light)

    def _take_spare(self, light: bool) -> _Inner:
        with self._lock:
            spare = self._spares.pop(light, None)
        return spare if spare is not None and spare.process.poll() is None else self._started(light)

    def _retire(self, inner: _Inner) -> None:
        inner.hang_up()
        inner.process.wait()
        remove_scratch(inner.scratch)

    def _started(self, light: bool) -> _Inner:
        """Start a process; ``light`` leaves out what computes."""
        asks, theirs = os.pipe()
        heard, ours = os.pipe()
        try:
            process = subprocess.Popen(
                program_command(CHILD, str(theirs), str(heard), *(["light"] if light else [])),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=(theirs, heard),
                env=program_environment(OPENBLAS_NUM_THREADS="1"),
            )
        finally:
            os.close(theirs)
            os.close(heard)
        inner = _Inner(process, os.fdopen(asks, "rb"), os.fdopen(ours, "wb"), make_scratch())
        for work in (self._relay, self._serve):
            threading.Thread(target=work, args=(inner,), daemon=True).start()
        return inner

    def _relay(self, inner: _Inner) -> None:
        """Hand on what a process says, as long as it is the one that calls go to; end as it ends."""
        said = cast("BinaryIO", inner.process.stdout)
        with suppress(OSError, ValueError), said:
            while (frame := read_frame(said, MAX_BYTES)) is not None:
                if inner is self._called:
                    with self._writing:
                        write_frame(self._answers, frame)
        code = inner.process.wait()
        if inner is self._called and not cast("BinaryIO", inner.process.stdin).closed:
            _end_as(code)

    def _serve(self, inner: _Inner) -> None:
        """Answer what a process asks."""
        with suppress(OSError, ValueError), inner.asks, inner.heard:
            while (frame := read_frame(inner.asks, MOST_INQUIRY)) is not None:
                try:
                    asked: BoxQuestion = decode(frame, BoxQuestion)
                    question = QUESTIONS.read(asked.question)
                except FormError:
                    inner.process.kill()
                    return
                write_frame(inner.heard, encode(_answered(inner.answers.get(asked.call), question)))


def main() -> None:
    """Hand calls on until the window hangs up."""
    questions, answers = own_pipes()
    broker = Broker(answers)
    broker.get_ready()
    while (frame := read_frame(questions, MAX_BYTES)) is not None:
        broker.hand_on(frame)
    broker.close()


def _answered(answers: Answers | None, question: Callable[[Answers], object]) -> Answer | Refused:
    if answers is None:
        return Refused(Failure.of(CounterfoilError(say("The call that this was for is over."))))
    return answers.answer(question)


def _arguments(call: Call) -> tuple[Any, ...]:
    try:
        found: tuple[Any, ...] = decode(call.arguments, methods()[call.method].arguments)
    except FormError:  # whoever is to carry it out says so
        return ()
    return found


def _answers(scratch: Path, method: str, arguments: tuple[Any, ...]) -> Answers:
    if method == "audit_followed":  # it keeps no progress: what was followed is in the part file
        return Answers(scratch, with_key(arguments[0]).audit(scratch / PART_NAME)) if arguments else Answers(scratch)
    request = next((each for each in arguments if isinstance(each, AuditRequest)), None)
    target = arguments[OUTPUTS[method]] if arguments and method == "write_capsule" else None
    return Answers(scratch, None if request is None else keeping(request), target)


def _take_part(before: Path, after: Path) -> None:
    """Take along what was followed; where that fails, the audit says that it is not there."""
    with suppress(CounterfoilError):
        take(before, PART_NAME, after / PART_NAME, say("what was followed"))


def _device(arguments: tuple[Any, ...]) -> str:
    """Return the devices that a call names, if any."""
    named = [getattr(each, "device", each) for each in arguments]
    return " ".join(each for each in named if isinstance(each, str) and each.startswith("cuda"))


def _end_as(code: int) -> None:
    """End this process as one ended to which a call went: the window says how."""
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    os._exit(code or 1)
