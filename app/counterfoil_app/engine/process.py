"""The engine in a process of its own, as the window sees it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from counterfoil import (
    CancelToken,
    CounterfoilError,
    OrderProgress,
    OrderWritten,
    StepTable,
    make_order,
    write_steps_csv,
)
from counterfoil.audit.boxed.start import why_open
from counterfoil.talk.messages import FormError, decode, encode
from counterfoil_app.engine.link import Link
from counterfoil_app.engine.messages import (
    MAX_BYTES,
    Answer,
    Call,
    Delivery,
    Item,
    MessageError,
    Question,
    Raised,
    Returned,
    Signed,
    Steer,
    methods,
)
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.recordings import RecordingEvent, RecordRequest, Sign, Unsigned
from counterfoil_app.engine.worker import ReportedError
from counterfoil_core.base.sentence import say

LOOK_SECONDS = 0.02
"""How often a call looks whether it was cancelled or paused."""
BOXED, OPEN = "counterfoil_app.engine.broker", "counterfoil_app.engine.child"
"""What is started: the broker of processes in boxes, or one process that does all."""
P = ParamSpec("P")
T = TypeVar("T")


def _carried_out(method: Callable[Concatenate[Engine, P], T]) -> Callable[Concatenate[ProcessEngine, P], T]:
    """Return the method of the port as one that is carried out in the process."""
    signature = inspect.signature(method)

    @wraps(method)
    def call(engine: ProcessEngine, /, *given: P.args, **named: P.kwargs) -> T:
        _, *arguments = signature.bind(engine, *given, **named).args
        found: T = engine._carry_out(
            method.__name__, [tuple(each) if isinstance(each, list) else each for each in arguments]
        )
        return found

    return call


class ProcessEngine:
    """Carries out each call in another process, which starts with the first call and again after it died.

    To be called from one thread at a time.
    """

    def __init__(self) -> None:
        self._link: Link | None = None
        self._last = 0

    @property
    def process_id(self) -> int | None:
        """The id of the process; None while there is none."""
        return self._link.process_id if self._link is not None else None

    devices = _carried_out(Engine.devices)
    examine = _carried_out(Engine.examine)
    outline = _carried_out(Engine.outline)
    inspect = _carried_out(Engine.inspect)
    client_order = _carried_out(Engine.client_order)
    plan = _carried_out(Engine.plan)
    kept = _carried_out(Engine.kept)
    audit = _carried_out(Engine.audit)
    make_sample = _carried_out(Engine.make_sample)
    recognise = _carried_out(Engine.recognise)
    find = _carried_out(Engine.find)
    capsule_subject = _carried_out(Engine.capsule_subject)
    handed_out = _carried_out(Engine.handed_out)
    adjudicate = _carried_out(Engine.adjudicate)
    verify_weights = _carried_out(Engine.verify_weights)
    read_ledger = _carried_out(Engine.read_ledger)
    locate = _carried_out(Engine.locate)
    compare_bundles = _carried_out(Engine.compare_bundles)
    disputed_rows = _carried_out(Engine.disputed_rows)
    operator_look = _carried_out(Engine.operator_look)
    tensor_sides = _carried_out(Engine.tensor_sides)
    compare_providers = _carried_out(Engine.compare_providers)
    run_facts = _carried_out(Engine.run_facts)
    facts_as_json = _carried_out(Engine.facts_as_json)
    check_rules = _carried_out(Engine.check_rules)
    preview = _carried_out(Engine.preview)
    read_verdict = _carried_out(Engine.read_verdict)
    preview_data = _carried_out(Engine.preview_data)
    read_key = _carried_out(Engine.read_key)
    read_revocations = _carried_out(Engine.read_revocations)
    write_capsule = _carried_out(Engine.write_capsule)
    follow = _carried_out(Engine.follow)
    audit_followed = _carried_out(Engine.audit_followed)
    has_begun = _carried_out(Engine.has_begun)
    hand_over_run = _carried_out(Engine.hand_over_run)
    list_folder = _carried_out(Engine.list_folder)

    def record_run(self, request: RecordRequest, sign: Sign, cancel: CancelToken) -> Iterator[RecordingEvent]:
        """Record a run; each statement is signed here, and the process gets the envelope.

        Nothing is signed any more once the recording was stopped: the process is told so, and would have no use for it.
        """
        for said in self._iterate("record_run", request, cancel=cancel):
            if not isinstance(said, Unsigned):
                yield said
            elif self._link is not None and not cancel.cancelled:
                self._send(self._link, Signed(self._last, sign(said.statement)))

    version = _carried_out(Engine.version)
    carry_capsule = _carried_out(Engine.carry_capsule)

    @property
    def where(self) -> str:
        """The machine that it works on; empty for this one."""
        return ""

    def note_file(self, path: Path) -> None:
        """Know that a path is one of the engine's machine, which is this one."""

    def another(self) -> Engine:
        """Return an engine with a process of its own."""
        return ProcessEngine()

    def write_steps(self, steps: StepTable, path: Path) -> None:
        """Write the step table as CSV, here: the table lies here, and nothing of the engine's process is needed."""
        write_steps_csv(steps, path)

    def order(
        self, arguments: Sequence[str], folder: Path | None, cancel: CancelToken
    ) -> Iterator[OrderProgress | OrderWritten]:
        """Write an order in a process that does nothing else: it runs the client's code, and is ended after it."""
        yield from make_order(arguments, folder, cancel)

    def start(self) -> None:
        """Start the process before its first call, which says what is wrong where that fails."""
        with suppress(CounterfoilError):
            self._linked()

    def close(self) -> None:
        """End the process; a later call starts it again."""
        if self._link is not None:
            self._link.end()
        self._link = None

    def _carry_out(self, method: str, arguments: Sequence[Any]) -> Any:
        """Call a method of the engine; the last argument of one that can be cancelled is its token."""
        if methods()[method].yields:
            return self._iterate(method, *arguments[:-1], cancel=arguments[-1])
        return self._call(method, *arguments)

    def _call(self, method: str, *arguments: Any) -> Any:
        link = self._linked()
        self._send(link, Call(self._next(), method, arguments))
        for message in self._messages(link, None):
            if isinstance(message, Returned):
                return self._read(link, message.value, methods()[method].brings)
        raise AssertionError("a call ends by returning or raising")

    def _iterate(self, method: str, *arguments: Any, cancel: CancelToken) -> Iterator[Any]:
        link = self._linked()
        number = self._next()
        self._send(link, Call(number, method, arguments))
        ended = False
        try:
            for message in self._messages(link, cancel):
                if isinstance(message, Item):
                    yield self._read(link, message.value, methods()[method].brings)
            ended = True
        except CounterfoilError:
            ended = True
            raise
        finally:
            if not ended and self._link is link:  # the caller lost interest
                self._send(link, Steer(number, cancelled=True, paused=False))

    def _messages(self, link: Link, cancel: CancelToken | None) -> Iterator[Item | Returned]:
        """Yield what the last call brings, to its end; raises what it raised."""
        number = self._last
        known = (False, False)
        while True:
            if cancel is not None and (cancel.cancelled, cancel.paused) != known:
                known = (cancel.cancelled, cancel.paused)
                self._send(link, Steer(number, *known))
            for message in self._receive(link):
                if message.number != number:  # of a call that nobody waits for any more
                    continue
                if isinstance(message, Raised):
                    raise ReportedError(message.failure)
                yield message
                if isinstance(message, Returned):
                    return

    def _receive(self, link: Link) -> tuple[Answer, ...]:
        try:
            data = link.receive(LOOK_SECONDS)
        except EOFError as error:
            raise self._died(link) from error
        except ValueError as error:  # too large
            raise self._broken(link, error) from error
        found: tuple[Answer, ...] = () if data is None else self._read(link, data, Delivery)
        return found

    def _read(self, link: Link, data: Any, kind: Any) -> Any:
        """Read what the process said; it is ended if that is none of ours."""
        try:
            return decode(data, kind)
        except FormError as error:
            raise self._broken(link, error) from error

    def _broken(self, link: Link, error: Exception) -> MessageError:
        link.end(now=True)
        self._link = None
        return MessageError(error)

    def _send(self, link: Link, message: Question) -> None:
        try:
            link.send(encode(message))
        except OSError as error:
            raise self._died(link) from error

    def _next(self) -> int:
        self._last += 1
        return self._last

    def _linked(self) -> Link:
        if self._link is None:
            try:
                self._link = self._start()
            except OSError as error:
                raise CounterfoilError(
                    say("The engine's process cannot be started: {0}.", error.strerror or error),
                    remedy=say("Close other programs, and try again."),
                ) from error
        return self._link

    def _start(self) -> Link:
        """Start the process; raises OSError and CounterfoilError."""
        return Link.to(OPEN if why_open("") else BOXED, MAX_BYTES)

    def _died(self, link: Link) -> CounterfoilError:
        code = link.end()
        self._link = None
        how = say("was ended by signal {0}", -code) if code < 0 else say("ended with code {0}", code)
        return CounterfoilError(
            say("The engine's process {0} before its work was done. Nothing was concluded.", how),
            remedy=say("Most often the machine ran out of memory. Close other programs, and try again."),
        )
