"""A process as it is from within: it hears calls through one pipe, and says through another what comes of them."""

from __future__ import annotations

import os
import select
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from queue import SimpleQueue
from typing import Annotated, Any, BinaryIO, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast

from msgspec import Meta

from counterfoil.talk.failure import Failure
from counterfoil.talk.frames import own_pipes, read_frame, write_frame
from counterfoil.talk.messages import FormError, decode, encode
from counterfoil.talk.port import MOST_MESSAGES, Answer, Call, Enclosure, Item, Port, Question, Raised, Returned, Steer
from counterfoil.talk.table import Program
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, CounterfoilError
from counterfoil_core.base.sentence import say

FLUSH_SECONDS = 0.02
"""The time between two deliveries of values; what somebody waits for is sent at once."""
MOST_SIGNED = 2**26
"""Bytes of a statement that is signed."""
TIMED_OUT = 3
"""Exit code of a process that did not hear the end of a message."""
Given = TypeVar("Given")
P = ParamSpec("P")
T = TypeVar("T")


class Outbox:
    """Sends messages from a thread of its own, several at a time; a slow reader slows the sender down.

    Args:
        write: Sends bytes; raises OSError where nobody reads any more.
        newest: Kinds of values of which, among neighbours, only the newest matters.
    """

    def __init__(self, write: Callable[[bytes], None], newest: tuple[type, ...] = ()) -> None:
        self._write = write
        self._newest = newest
        self._changed = threading.Condition()
        self._waiting: list[Answer] = []
        self._urgent = self._closed = False
        self._thread = threading.Thread(target=self._send, name="outbox", daemon=True)
        self._thread.start()

    def put(self, message: Answer) -> None:
        """Queue a message; waits while too many are queued."""
        with self._changed:
            if self._waiting and self._supersedes(message, self._waiting[-1]):
                self._waiting[-1] = message
                return
            self._changed.wait_for(lambda: len(self._waiting) < MOST_MESSAGES or self._closed)
            self._waiting.append(message)
            self._urgent |= not isinstance(message, Item)
            self._changed.notify_all()

    def close(self) -> None:
        """Send what is queued and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _send(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                batch, self._waiting, self._urgent = self._waiting, [], False
                self._changed.notify_all()
            if not batch:
                return
            try:
                for delivery in _deliveries(batch):
                    self._write(delivery)
            except (OSError, ValueError):  # whoever asked is gone: nobody will read the rest
                with self._changed:
                    self._closed = True
                    self._changed.notify_all()
                return
            with self._changed:
                self._changed.wait_for(lambda: self._urgent or self._closed, FLUSH_SECONDS)

    def _supersedes(self, new: Answer, old: Answer) -> bool:
        return (
            isinstance(new, Item)
            and isinstance(old, Item)
            and isinstance(new.value, self._newest)
            and type(new.value) is type(old.value)
        )


def _deliveries(batch: list[Answer]) -> Iterator[bytes]:
    """Write messages: a question, which another reader may answer, by itself; one that none carries as a failure."""
    together: list[Answer] = []
    for message in (*batch, None):
        if together and (message is None or isinstance(message, Call)):
            try:
                yield encode(together)
            except FormError:
                yield encode([_sendable(each) for each in together])
            together = []
        if isinstance(message, Call):
            yield encode([message])
        elif message is not None:
            together.append(message)


def _sendable(answer: Answer) -> Answer:
    try:
        encode(answer)
    except FormError as error:
        return Raised(answer.number, Failure.of(error))
    return answer


class Line(Generic[Given]):
    """What this process is told and says; its threads start with :meth:`serve`, behind the box.

    Args:
        program: What this process is.
        port: What it may be asked.
        newest: Kinds of values of which, among neighbours, only the newest matters.
        leaves: Whether the process ends at once where nobody waits any more for what it computes.
        patience: Seconds in which the first message must come, and any that has begun to its end; None for any time.
        pipes: What it hears and says through; its own standard ones unless given.
    """

    def __init__(
        self,
        program: Program,
        port: Port[Given],
        *,
        newest: tuple[type, ...] = (),
        leaves: bool = True,
        patience: float | None = None,
        pipes: tuple[BinaryIO, BinaryIO] | None = None,
    ) -> None:
        self._questions, self._answers = pipes or own_pipes()
        self._program = program
        self._port = port
        self._newest = newest
        self._new_token: Callable[[], CancelToken] = CancelToken
        self._stop: Callable[[CancelToken], None] = CancelToken.cancel
        self._first: Callable[[], None] | None = None
        self._leaves = leaves
        self._patience = patience
        self._lock = threading.Lock()
        self._calls: SimpleQueue[tuple[Call, CancelToken] | None] = SimpleQueue()
        self._tokens: dict[int, CancelToken] = {}
        self._told: SimpleQueue[Returned | Raised | None] = SimpleQueue()
        self._outbox: Outbox | None = None
        self._number = self._code = 0

    def enclosed(self, early: Given | None = None) -> Enclosure | None:
        """Close the box that the first message describes, and return it; None where nobody asks any more.

        Args:
            early: Carries out calls that come before it, which read nothing of a stranger's.
        """
        from counterfoil.sandbox import box  # which a process without one has no use for

        while (message := self._next(Enclosure | Question)) is not None:
            if isinstance(message, Call) and early is not None:
                token = _Hearing(self, message.number)
                self._carry_out(message, early, token, self._deliver)
                if token.hung_up:
                    return None
            elif isinstance(message, Enclosure):
                if message.open:
                    box.leave_open(message.open)
                else:
                    box.enter(message.reads, [message.scratch] if message.scratch else (), message.lists)
                return message
        return None

    def serve(
        self,
        given: Given,
        *,
        first: Callable[[], None] | None = None,
        tokens: Callable[[], CancelToken] = CancelToken,
        stop: Callable[[CancelToken], None] = CancelToken.cancel,
    ) -> int:
        """Carry out calls, one after the other, until nobody asks any more.

        Args:
            given: The first parameter of each function.
            first: Done before the first call, as part of it.
            tokens: Makes the token of a call.
            stop: Stops a call, from another thread.

        Returns:
            The exit code of the process: 1 where it was told what nobody says who starts it.
        """
        self._first, self._new_token, self._stop = first, tokens, stop
        outbox = self._outbox = Outbox(partial(write_frame, self._answers), self._newest)
        threading.Thread(target=self._hear, name="inbox", daemon=True).start()
        while (waiting := self._calls.get()) is not None:
            call, token = waiting
            self._number = call.number
            self._carry_out(call, given, token, outbox.put)
            with self._lock:
                self._tokens.pop(call.number, None)
        outbox.close()
        return self._code

    def serve_one(self, given: Given) -> int:
        """Carry out the one call that comes, with no thread beside it: it may look at all that its process has.

        Args:
            given: As for :meth:`serve`, whose exit code it returns.
        """
        if hasattr(os, "register_at_fork"):
            for pipe in (self._questions, self._answers):  # else one that outlives it would keep them open
                os.register_at_fork(after_in_child=pipe.close)
        call = self._next(Question)
        if isinstance(call, Call):
            self._number = call.number
            self._carry_out(call, given, CancelToken(), self._deliver)
        return self._code

    def ask(
        self, port: Port[Any], question: Callable[Concatenate[Any, P], T], *arguments: P.args, **named: P.kwargs
    ) -> T:
        """Ask whoever started this process, for the call that is carried out, and wait.

        Raises:
            CounterfoilError: It was refused, or nobody is there any more.
        """
        alone = self._outbox is None
        put = self._deliver if self._outbox is None else self._outbox.put
        put(port.call(question, arguments, named, self._number))
        while (told := self._next(Question) if alone else self._told.get()) is not None:
            if isinstance(told, Steer) or told.number != self._number:  # of a call that is over
                continue
            if isinstance(told, Raised):
                raise told.failure.error
            return cast("T", decode(told.value, port.form(question.__name__).brings))
        self._told.put(None)  # for whoever asks again
        raise CancelledError(say("The work was cancelled; nothing was concluded."))

    def _carry_out(self, call: Call, given: Given, token: CancelToken, put: Callable[[Answer], None]) -> None:
        try:
            first, self._first = self._first, None
            if first is not None:
                first()
            tell = partial(self._tell, call.number, put)
            brought = self._port.read(call)(given, cancel=token, sign=self._sign, tell=tell)
            if self._port.form(call.name).yields:
                for value in brought:
                    put(Item(call.number, value))
                brought = None
        except BaseException as error:  # whoever asked is told of every failure; none may end the process
            if isinstance(error, KeyboardInterrupt) or (token.cancelled and not isinstance(error, CounterfoilError)):
                # What is interrupted anywhere may leave a library in disorder; that is no bug then.
                error = CancelledError(say("Stopped; nothing was concluded."))
            put(Raised(call.number, self._failure(error)))
        else:
            put(Returned(call.number, brought))

    def _failure(self, error: BaseException) -> Failure:
        if self._program.secret:
            from counterfoil.base.joberrors import SignerError

            return Failure.told_apart(error, SignerError, say("The signer failed."))
        if isinstance(error, CounterfoilError) or not isinstance(error, Exception):
            return Failure.of(error)
        from counterfoil_core.base.trouble import obstacle_behind

        return Failure.of(obstacle_behind(error) or error)

    def _sign(self, statement: bytes) -> bytes:
        return self.ask(SIGNING, sign, statement)

    def _tell(self, number: int, put: Callable[[Answer], None], value: object) -> None:
        put(Item(number, value))

    def _deliver(self, message: Answer) -> None:
        for delivery in _deliveries([message]):
            write_frame(self._answers, delivery)

    def _hear(self) -> None:
        try:
            self._listen()
        except BaseException:  # nobody would be heard any more
            traceback.print_exc()
            os._exit(1)

    def _listen(self) -> None:
        first: AbstractContextManager[None] = deadline(self._patience) if self._patience else nullcontext()
        while True:
            with first:
                message = self._next(Question)
            first = nullcontext()
            with self._lock:
                if message is None:
                    if self._leaves:
                        os._exit(self._code)  # nobody waits for what is being computed
                    for token in self._tokens.values():
                        self._stop(token)
                    self._told.put(None)
                    self._calls.put(None)
                    return
                if isinstance(message, Call):
                    token = self._tokens[message.number] = self._new_token()
                    self._calls.put((message, token))
                elif isinstance(message, (Returned, Raised)):
                    self._told.put(message)
                elif message.number in self._tokens:
                    self._steer(self._tokens[message.number], message)

    def _steer(self, token: CancelToken, wish: Steer) -> None:
        if wish.cancelled:
            self._stop(token)
        elif wish.paused:
            token.pause()
        else:
            token.resume()

    def _next(self, kind: Any) -> Any:
        """Return what it is told next; None where nobody is there, or says what nobody says who starts it."""
        begun: Callable[[], AbstractContextManager[None]] = nullcontext
        if self._patience is not None:
            begun = partial(deadline, self._patience)
        try:
            data = read_frame(self._questions, self._program.hears, begun)
            return None if data is None else decode(data, kind)
        except (OSError, ValueError):
            self._code = 1
            return None


class _Hearing(CancelToken):
    """Hears by itself whether its call is stopped, in a process that has no thread for that."""

    def __init__(self, line: Line[Any], number: int) -> None:
        super().__init__()
        self._line = line
        self._call = number
        self.hung_up = False

    def check(self) -> None:
        """As :class:`CancelToken`."""
        pipe = self._line._questions
        while not self.hung_up and select.select([pipe], [], [], 0)[0]:
            message = self._line._next(Question)
            self.hung_up = message is None
            if message is None or (isinstance(message, Steer) and message.number == self._call and message.cancelled):
                self.cancel()
        super().check()


class Signer(Protocol):
    """Whoever has statements signed for a process that has no key."""

    def sign(self, statement: bytes) -> bytes:
        """Have a statement signed; returns the envelope."""


def sign(signer: Signer, statement: Annotated[bytes, Meta(max_length=MOST_SIGNED)]) -> bytes:
    """Have a statement signed by whoever holds the key; returns the envelope."""
    return signer.sign(statement)


SIGNING = Port[Signer](sign, given="signer")
"""What a process may ask of whoever holds a key."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """End the process when the block takes longer: reading a pipe cannot be interrupted on every system."""
    timer = threading.Timer(seconds, os._exit, (TIMED_OUT,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
