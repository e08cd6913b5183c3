"""The engine's own process: takes calls from the window through a pipe and sends back what they bring.

Why a process: importing torch and compiling kernels hold the interpreter for up to half a second at a time, whatever
thread does it (docs/adr/0007). It also keeps the window alive when the engine dies.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, BinaryIO

from counterfoil import (
    CancelToken,
    DeliveryProgress,
    DifferenceProgress,
    FactsProgress,
    FollowState,
    LedgerProgress,
    LocateProgress,
    LookProgress,
    MachineProgress,
    OperatorDone,
    PlanProgress,
)
from counterfoil.audit.boxed.messages import Answer as Answered, Refused
from counterfoil.sandbox import box
from counterfoil.talk import port as calls
from counterfoil.talk.frames import own_pipes, read_frame, write_frame
from counterfoil.talk.messages import FormError, decode, encode
from counterfoil_app.engine.enclosures import BoxQuestion, Enclosure
from counterfoil_app.engine.messages import (
    MAX_BYTES,
    MOST_MESSAGES,
    SIGNING,
    Answer,
    Call,
    Item,
    Question,
    Raised,
    Returned,
    Signed,
    Steer,
    methods,
)
from counterfoil_app.engine.port import LibraryEngine
from counterfoil_app.engine.recordings import InsideStep, RecordingSize, Sign, Unsigned
from counterfoil_app.engine.sample import SampleProgress
from counterfoil_app.engine.worker import Failure

if TYPE_CHECKING:
    from counterfoil.audit.outside import LocalOutside

FLUSH_SECONDS = 0.02
SIGNED_LOOK_SECONDS = 0.1
"""How often a call that waits for a signature looks whether it was stopped."""
PROGRESS = (
    DeliveryProgress, DifferenceProgress, FactsProgress, FollowState, InsideStep, LedgerProgress, LocateProgress,
    LookProgress, MachineProgress, OperatorDone, PlanProgress, RecordingSize, SampleProgress,
)  # fmt: skip
"""Kinds of values of which only the newest matters."""


class Outbox:
    """Sends messages from a thread of its own, several at a time; a slow reader slows the sender down.

    Of neighbouring messages that only say how far the work has come, the newest is sent.

    Args:
        write: Sends bytes; raises OSError where nobody reads any more.
    """

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._changed = threading.Condition()
        self._waiting: list[Answer] = []
        self._closed = False
        self._thread = threading.Thread(target=self._send, name="outbox", daemon=True)
        self._thread.start()

    def put(self, message: Answer) -> None:
        """Queue a message; waits while too many are queued."""
        with self._changed:
            if self._waiting and _supersedes(message, self._waiting[-1]):
                self._waiting[-1] = message
                return
            self._changed.wait_for(lambda: len(self._waiting) < MOST_MESSAGES or self._closed)
            self._waiting.append(message)
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
                batch, self._waiting = self._waiting, []
                self._changed.notify_all()
            if not batch:
                return
            try:
                self._write(_delivery(batch))
            except OSError:  # the window is gone: nobody will read the rest
                with self._changed:
                    self._closed = True
                    self._changed.notify_all()
                return
            time.sleep(FLUSH_SECONDS)


def _delivery(batch: list[Answer]) -> bytes:
    """Write answers; one that no message carries is the failure of its call, and the others are sent all the same."""
    try:
        return encode(batch)
    except FormError:
        return encode([_sendable(answer) for answer in batch])


def _sendable(answer: Answer) -> Answer:
    try:
        encode(answer)
    except FormError as error:
        return Raised(answer.number, Failure.of(error))
    return answer


def _supersedes(new: Answer, old: Answer) -> bool:
    return (
        isinstance(new, Item)
        and isinstance(old, Item)
        and isinstance(new.value, PROGRESS)
        and type(new.value) is type(old.value)
    )


class Inbox:
    """Takes calls and steering from the window, in a thread of its own."""

    def __init__(self, questions: BinaryIO) -> None:
        self._questions = questions
        self._lock = threading.Lock()
        self._calls: SimpleQueue[Call | None] = SimpleQueue()
        self._tokens: dict[int, CancelToken] = {}
        self._signed: SimpleQueue[Signed] = SimpleQueue()
        threading.Thread(target=self._receive, name="inbox", daemon=True).start()

    def calls(self) -> Iterator[tuple[Call, CancelToken]]:
        """Yield calls, each with its token, until the window hangs up."""
        while (call := self._calls.get()) is not None:
            yield call, self._tokens[call.number]
            with self._lock:
                del self._tokens[call.number]

    def envelope(self, number: int, token: CancelToken) -> bytes:
        """Wait for what a call asked to have signed; raises CancelledError where the window did not have it signed.

        The window either has it signed and says so, or says that the call was stopped: what was signed is taken,
        though the call was stopped since, or the signer would have signed what nobody has.
        """
        while True:
            # Looked at first: whatever the window said before it stopped the call is there by then.
            stopped = token.cancelled
            try:
                signed = self._signed.get(not stopped, SIGNED_LOOK_SECONDS)
            except Empty:
                if stopped:
                    token.check()
                continue
            if signed.number == number:
                return signed.envelope

    def _receive(self) -> None:
        while True:
            message = self._next()
            with self._lock:
                if message is None:
                    for token in self._tokens.values():
                        token.cancel()
                    self._calls.put(None)
                    return
                if isinstance(message, Call):
                    self._tokens[message.number] = CancelToken()
                    self._calls.put(message)
                elif isinstance(message, Signed):
                    self._signed.put(message)
                elif message.number in self._tokens:
                    _steer(self._tokens[message.number], message)

    def _next(self) -> Question | None:
        """Return what the window says next; None when it hung up, is gone, or says what no window does."""
        try:
            data = read_frame(self._questions, MAX_BYTES)
            message: Question | None = None if data is None else decode(data, Question)
        except (OSError, ValueError):
            return None
        return message


def _steer(token: CancelToken, wish: Steer) -> None:
    if wish.cancelled:
        token.cancel()
    elif wish.paused:
        token.pause()
    else:
        token.resume()


def main() -> None:
    """Carry out calls until the window hangs up: what the engine's process is.

    With two descriptors as arguments, to ask through and to be answered through, it is a process of a broker
    (engine/broker.py), which says in which box it is to be; ``light`` behind them leaves out what computes.
    """
    questions, answers = own_pipes()
    asking: _Asking | None = None
    if sys.argv[1:]:
        asks, heard = map(int, sys.argv[1:3])
        asking = _Asking(os.fdopen(asks, "wb"), os.fdopen(heard, "rb"))
        if sys.argv[3:]:
            import counterfoil.audit.overview
            import counterfoil.audit.recognition
            import counterfoil.training.previews
        else:
            import counterfoil.audit.boxed.work  # noqa: F401  with all that an audit loads
        enclosure = _enclosed(questions, answers)
        if enclosure is None:
            return
        asking.scratch = Path(enclosure.scratch)
    outbox = Outbox(partial(write_frame, answers))
    engine = LibraryEngine() if asking is None else LibraryEngine(asking.outside, asking.scratch)
    inbox = Inbox(questions)
    for call, token in inbox.calls():
        if asking is not None:
            asking.call = call.number
        outbox.put(_carry_out(engine, call, token, outbox, inbox))
    outbox.close()
    engine.close()


class _Asking:
    """Asks the broker, for the call that is carried out."""

    def __init__(self, asks: BinaryIO, heard: BinaryIO) -> None:
        self._asks = asks
        self._heard = heard
        self.scratch = Path()
        self.call = 0

    @property
    def outside(self) -> LocalOutside:
        """How an audit reaches what lies outside of the box."""
        from counterfoil.audit.boxed.asking import Asking

        return Asking(self.ask, self.scratch)

    def ask(self, question: calls.Call) -> object:
        """Ask, and wait; raises the error with which it was refused."""
        write_frame(self._asks, encode(BoxQuestion(self.call, question)))
        answered: Answered | Refused = decode(read_frame(self._heard, MAX_BYTES), Answered | Refused)
        if isinstance(answered, Refused):
            raise answered.failure.error
        return answered.body


def _enclosed(questions: BinaryIO, answers: BinaryIO) -> Enclosure | None:
    """Close the box, and return what it is; None where the broker is gone.

    Calls that read nothing of a stranger's may come before.
    """
    while (frame := read_frame(questions, MAX_BYTES)) is not None:
        message: Enclosure | Call | Steer = decode(frame, Enclosure | Call | Steer)
        if isinstance(message, Call):
            engine = LibraryEngine()
            write_frame(answers, _delivery([_carry_out(engine, message, CancelToken(), None)]))
        elif isinstance(message, Enclosure):
            if message.open:
                box.leave_open(message.open)
            else:
                box.enter(message.reads, [message.scratch], message.lists)
            return message
    return None


def _signing(call: Call, token: CancelToken, outbox: Outbox, inbox: Inbox) -> Sign:
    """Have the window sign for a call."""

    def sign(statement: bytes) -> bytes:
        outbox.put(Item(call.number, Unsigned(statement)))
        return inbox.envelope(call.number, token)

    return sign


def _carry_out(
    engine: LibraryEngine, call: Call, token: CancelToken, outbox: Outbox | None, inbox: Inbox | None = None
) -> Answer:
    try:
        method = methods()[call.method]
        arguments = decode(call.arguments, method.arguments)
        carry_out = getattr(engine, call.method)
        if not method.yields:
            return Returned(call.number, carry_out(*arguments))
        assert outbox is not None, "what yields values comes behind the box"
        signing = (_signing(call, token, outbox, inbox),) if call.method in SIGNING and inbox is not None else ()
        for value in carry_out(*arguments, *signing, token):
            outbox.put(Item(call.number, value))
        return Returned(call.number, None)
    except Exception as error:  # the window shows every failure; none may end the process
        return Raised(call.number, Failure.of(error))
