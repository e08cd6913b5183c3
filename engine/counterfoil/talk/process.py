"""A process as it is from outside: started, asked, heard, and ended; the one place for all that speak."""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, Concatenate, ParamSpec, TypeVar, cast

from counterfoil.talk.failure import Failure
from counterfoil.talk.frames import read_frame, write_frame
from counterfoil.talk.messages import FormError, decode, encode
from counterfoil.talk.port import Answer, Call, Delivery, Enclosure, Form, Item, Port, Question, Raised, Returned, Steer
from counterfoil.talk.programs import program_command, program_environment
from counterfoil.talk.table import Program
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, CounterfoilError
from counterfoil_core.base.sentence import say

LOOK_SECONDS = 0.02
"""How often a call looks whether it was cancelled or paused."""
_KEPT_ERRORS = 4000
"""So many bytes of what is said of errors are kept."""
_KEPT_MESSAGES = 2
"""Messages that wait here at most: a slow reader slows the sender down."""
P = ParamSpec("P")
T = TypeVar("T")
Heard = bytes | ValueError | None
"""A message, or that it is too large, or that there will be no more."""
Offer = tuple[Port[Any], Any]
"""What a process may ask meanwhile, and who carries it out."""


class Words:
    """What is said where a process does not do what it should; most of its users have words of their own."""

    def unstarted(self, error: OSError) -> CounterfoilError:
        """Say that the system does not start it."""
        return CounterfoilError(say("A process of Counterfoil cannot be started: {0}.", error.strerror or error))

    def ended(self, code: int) -> CounterfoilError:
        """Say that it ended before its work was done, with an exit code."""
        return CounterfoilError(say("A process of Counterfoil ended: {0}. Nothing was concluded.", how_ended(code)))

    def nonsense(self, error: Exception) -> CounterfoilError:
        """Say that it said what it may not say."""
        return CounterfoilError(say("A process of Counterfoil said what it may not say."), detail=repr(error))


@dataclass(frozen=True)
class Start:
    """How a process is started, where not as :func:`program_command` says."""

    command: Sequence[str] = ()  #: The command; that of the program unless given.
    environment: Mapping[str, str] | None = None  #: Its environment; that of every process of ours unless given.
    arguments: tuple[str, ...] = ()  #: What its ``main`` finds behind the first argument.
    descriptors: tuple[int, ...] = ()  #: Open file descriptors that it gets.
    keeps_errors: bool = False  #: Whether the last that it says of errors is kept here.
    shows_errors: bool = False  #: Whether what it says of errors is shown where this process shows its own.
    has_console: bool = False  #: Whether it may ask on the terminal.
    leads: bool = False  #: Whether what it starts ends with it.


class Process:
    """A process of this program, and what is said to it and by it; to be called from one thread at a time.

    Args:
        program: What it is.
        words: What is said where it does not do what it should.
        start: How it is started.
        heard: Is given what it says, in a thread of its own; unless given, it waits for :meth:`receive`.

    Raises:
        CounterfoilError: The system does not start it.
    """

    def __init__(
        self,
        program: Program,
        words: Words | None = None,
        start: Start = Start(),
        heard: Callable[[Process, Heard], None] | None = None,
    ) -> None:
        self.program = program
        self.words = words or Words()
        # Who holds a key is spoken to through sockets: a pipe of this process can be opened by others of the same user
        # (/proc/PID/fd), who would have something signed.
        self._socket: socket.socket | None = None
        theirs: socket.socket | None = None
        if program.secret and os.name == "posix":
            self._socket, theirs = socket.socketpair()
        pipe = subprocess.PIPE if theirs is None else theirs.fileno()
        try:
            self._process = subprocess.Popen(
                start.command or program_command(program.module, *start.arguments),
                bufsize=0,
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.PIPE if start.keeps_errors else None if start.shows_errors else subprocess.DEVNULL,
                pass_fds=start.descriptors,
                start_new_session=start.leads and hasattr(os, "setsid"),
                # On Windows: no console window of its own.
                creationflags=0 if start.has_console else getattr(subprocess, "CREATE_NO_WINDOW", 0),
                env=start.environment or program_environment(**program.environment),
            )
        except (OSError, ValueError) as error:
            if self._socket is not None:
                self._socket.close()
            raise self.words.unstarted(error if isinstance(error, OSError) else OSError(str(error))) from error
        finally:
            if theirs is not None:
                theirs.close()
        own = None if self._socket is None else self._socket.makefile("rwb", buffering=0)
        self._questions = cast("BinaryIO", own or self._process.stdin)
        self._answers = cast("BinaryIO", own or self._process.stdout)
        self._leads = start.leads and hasattr(os, "killpg")
        self._errors = bytearray()
        self._said: queue.SimpleQueue[Heard] = queue.SimpleQueue()
        self._room = threading.Semaphore(_KEPT_MESSAGES)
        self._sending = threading.Lock()
        self._closed = self._spoke = False
        self._last = 0
        self._threads = [threading.Thread(target=self._read, args=(heard or Process._wait,), daemon=True)]
        if start.keeps_errors:
            self._threads.append(threading.Thread(target=self._listen, daemon=True))
        for thread in self._threads:
            thread.start()

    @property
    def process_id(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def closed(self) -> bool:
        """Whether it was ended from here."""
        return self._closed

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    @property
    def errors(self) -> str:
        """The last that the process said of errors, where that is kept."""
        return bytes(self._errors).decode("utf-8", "replace").strip()

    # What is asked

    def call(
        self,
        port: Port[Any],
        function: Callable[Concatenate[Any, P], T],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> T:
        """Return what a function brings that returns; raises as :meth:`ask`."""
        (brought,) = self.ask(port, port.call(function, arguments, named))
        return cast("T", brought)

    def ask(
        self,
        port: Port[Any],
        call: Call,
        cancel: CancelToken | None = None,
        offers: Sequence[Offer] = (),
        seconds: float | None = None,
        *,
        at_once: bool = False,
    ) -> Iterator[Any]:
        """Ask, and yield what a call brings: what its function yields, or the one value that it returns.

        Args:
            port: What the process may be asked.
            call: The call.
            cancel: Stops it, or lets it wait.
            offers: What the process may ask meanwhile.
            seconds: How long it may take at most.
            at_once: Whether a process that has said nothing yet is ended where the call is stopped.

        Raises:
            CounterfoilError: As the function raised; or the process ended, or said what it may not say.
            FaultError: It failed in a way in which it should not.
            CancelledError: It was stopped.
        """
        self._last += 1
        self._spoke = False
        self.send(Call(self._last, call.name, call.arguments))
        return self._brought(self._last, port.form(call.name), cancel, offers, seconds, at_once)

    def _brought(
        self,
        number: int,
        form: Form,
        cancel: CancelToken | None,
        offers: Sequence[Offer],
        seconds: float | None,
        at_once: bool,
    ) -> Iterator[Any]:
        until = None if seconds is None else time.monotonic() + seconds
        known, over = (False, False), False
        try:
            while True:
                if cancel is not None and (cancel.cancelled, cancel.paused) != known:
                    if at_once and cancel.cancelled and not self._spoke:
                        self.end(now=True)
                        cancel.check()
                    known = (cancel.cancelled, cancel.paused)
                    self.send(Steer(number, *known))
                    if cancel.cancelled and self.program.heeds is not None:
                        until = time.monotonic() + self.program.heeds
                if until is not None and time.monotonic() > until:
                    self._process.kill()
                for message in self._receive(None if cancel is None and until is None else LOOK_SECONDS, cancel):
                    if isinstance(message, Call):
                        self._answer(message, offers if message.number == number else (), cancel)
                    elif message.number != number:  # of a call that nobody waits for any more
                        continue
                    elif isinstance(message, Item):
                        yield self._value(message.value, form.brings)
                    else:
                        over = True
                        if isinstance(message, Raised):
                            raise message.failure.error
                        if not form.yields:
                            yield self._value(message.value, form.brings)
                        return
        finally:
            if not over and not self._closed:  # nobody waits any more
                with suppress(CounterfoilError):
                    self.send(Steer(number, cancelled=True, paused=False))

    def _answer(self, asked: Call, offers: Sequence[Offer], cancel: CancelToken | None) -> None:
        """Do what the process asks, or refuse it where nobody waits for that any more."""
        said: Question
        try:
            said = Returned(asked.number, answer(asked, offers))
        except FormError as error:
            if offers:
                raise self._broken(error) from error
            said = Raised(asked.number, Failure.of(CancelledError(say("The call that this was for is over."))))
        except (CounterfoilError, OSError) as error:
            said = Raised(asked.number, Failure.of(error))
        self.send(said)

    def _value(self, said: object, kind: Any) -> Any:
        try:
            return decode(said, kind)
        except FormError as error:
            raise self._broken(error) from error

    def _receive(self, seconds: float | None, cancel: CancelToken | None) -> Sequence[Answer]:
        try:
            data = None if self._closed else self.receive(seconds)
            if self._closed:
                raise EOFError
        except EOFError as error:
            code = self.end()
            if cancel is not None:
                cancel.check()
            raise self.words.ended(code) from error
        except ValueError as error:  # too large
            raise self._broken(error) from error
        if data is None:
            return ()
        self._spoke = True
        found: tuple[Answer, ...] = self._value(data, Delivery)
        return found

    def _broken(self, error: Exception) -> CounterfoilError:
        self.end(now=True)
        return self.words.nonsense(error)

    # What is said

    def enclose(self, enclosure: Enclosure) -> None:
        """Tell it its box."""
        self.send(enclosure)

    def send(self, message: Question | Enclosure) -> None:
        """Say something; where nobody listens any more, what it said last, or that it ended, says why."""
        self.hand_on(encode(message))

    def hand_on(self, body: bytes) -> None:
        """Say what was encoded before, likewise."""
        with self._sending, suppress(OSError, ValueError):
            write_frame(self._questions, body)

    def receive(self, seconds: float | None) -> bytes | None:
        """Return what the process said next; None when it said nothing for so many seconds.

        Raises:
            EOFError: It has ended.
            ValueError: It said more than it may.
        """
        try:
            said = self._said.get(timeout=seconds)
        except queue.Empty:
            return None
        self._room.release()
        if said is None:
            self._said.put(None)  # for whoever asks again
            raise EOFError
        if isinstance(said, ValueError):
            raise said
        return said

    # How it ends

    def kill(self) -> None:
        """End the process in the middle of its work; whoever waits for its answer is told that it is gone."""
        if self._leads:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process_id, signal.SIGKILL)
        self._process.kill()

    def hang_up(self) -> None:
        """Let it end by itself when it has done what it has."""
        self._closed = True
        with suppress(OSError):
            if self._socket is None:
                self._questions.close()
            else:
                self._socket.shutdown(socket.SHUT_WR)

    def wait(self) -> int:
        """Wait for its end; returns its exit code."""
        return self._process.wait()

    def end(self, *, now: bool = False) -> int:
        """End the process, which may take its leave unless it is ended now; returns its exit code."""
        self._closed = True
        self._room.release(_KEPT_MESSAGES)
        if now:
            self.kill()
        self.hang_up()
        try:
            self._process.wait(self.program.farewell)
        except subprocess.TimeoutExpired:
            self._process.kill()
        code = self._process.wait()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()
        for end in (self._answers, self._socket, self._process.stderr):
            if end is not None:
                end.close()
        return code

    def _read(self, hear: Callable[[Process, Heard], None]) -> None:
        said: Heard = b""
        while isinstance(said, bytes):
            try:
                said = read_frame(self._answers, self.program.says)
            except ValueError as error:
                said = error
            except OSError:
                said = None
            hear(self, said)

    def _wait(self, said: Heard) -> None:
        if not self._closed:
            self._room.acquire()
            self._said.put(said)

    def _listen(self) -> None:
        said = cast("BinaryIO", self._process.stderr)
        with suppress(OSError, ValueError):
            while piece := said.read(_KEPT_ERRORS):
                self._errors += piece
                del self._errors[:-_KEPT_ERRORS]


def answer(asked: Call, offers: Sequence[Offer]) -> object:
    """Carry out what a process asks.

    Raises:
        FormError: It may not ask that.
        CounterfoilError, OSError: As what carries it out.
    """
    for port, given in offers:
        if asked.name in port.names:
            return port.read(asked)(given)
    raise FormError("a call of something that is not to be called")


def how_ended(code: int) -> str:
    """Say how a process ended, in a few words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
