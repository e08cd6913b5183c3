"""The engine in a process of its own, as the window sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from counterfoil import CancelToken, CounterfoilError
from counterfoil.audit.boxed.start import why_open
from counterfoil.talk import table
from counterfoil.talk.failure import FaultError
from counterfoil.talk.line import SIGNING
from counterfoil.talk.process import Process, Start, Words
from counterfoil_app.engine.port import ENGINE, Engine
from counterfoil_app.engine.recordings import Sign
from counterfoil_app.engine.worker import Failure, ReportedError
from counterfoil_core.base.errors import CancelledError
from counterfoil_core.base.sentence import say

P = ParamSpec("P")
T = TypeVar("T")


class MessageError(CounterfoilError):
    """A message is none that the engine's process sends."""

    def __init__(self, error: Exception) -> None:
        super().__init__(
            say("A message of the engine's process cannot be read."),
            remedy=say("The process was ended. Do not use its results: the file that was open may have taken it over."),
            detail=str(error),
        )


class EngineWords(Words):
    """What is said where the engine's process does not do what it should."""

    def unstarted(self, error: OSError) -> CounterfoilError:
        """The system does not start it."""
        return CounterfoilError(
            say("The engine's process cannot be started: {0}.", error.strerror or error),
            remedy=say("Close other programs, and try again."),
        )

    def ended(self, code: int) -> CounterfoilError:
        """It ended before its work was done."""
        how = say("was ended by signal {0}", -code) if code < 0 else say("ended with code {0}", code)
        return CounterfoilError(
            say("The engine's process {0} before its work was done. Nothing was concluded.", how),
            remedy=say("Most often the machine ran out of memory. Close other programs, and try again."),
        )

    def nonsense(self, error: Exception) -> CounterfoilError:
        """It said what it may not say."""
        return MessageError(error)


class _Signing:
    """Signs what a recorder asks for; nothing any more once the recording was stopped, which is told."""

    def __init__(self, sign: Sign, cancel: CancelToken | None) -> None:
        self._sign, self._cancel = sign, cancel

    def sign(self, statement: bytes) -> bytes:
        """Have a statement signed; raises CancelledError."""
        if self._cancel is not None and self._cancel.cancelled:
            raise CancelledError(say("The work was cancelled; nothing was concluded."))
        return self._sign(statement)


class ProcessEngine(Engine):
    """Carries out each call in another process, which starts with the first call and again after it died.

    To be called from one thread at a time.
    """

    def __init__(self) -> None:
        super().__init__()
        self._process: Process | None = None

    @property
    def process_id(self) -> int | None:
        """The id of the process; None while there is none."""
        return None if self._process is None or self._process.closed else self._process.process_id

    def another(self) -> Engine:
        """Return an engine with a process of its own."""
        return ProcessEngine()

    def start(self) -> None:
        """Start the process before its first call, which says what is wrong where that fails."""
        with suppress(CounterfoilError):
            self._started()

    def close(self) -> None:
        """End the process; a later call starts it again."""
        if self._process is not None and not self._process.closed:
            self._process.end()
        self._process = None

    def _carry_out(self, method: Callable[Concatenate[Any, P], T], /, *arguments: P.args, **named: P.kwargs) -> T:
        asked = self._asked(method, arguments, named)
        return cast("T", asked if ENGINE.form(method.__name__).yields else next(asked))

    def _asked(self, method: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Iterator[Any]:
        given = {**dict(zip(list(signature(method).parameters)[1:], arguments, strict=False)), **named}
        cancel, sign = given.get("cancel"), given.get("sign")
        offers = () if sign is None else ((SIGNING, _Signing(sign, cancel)),)
        try:
            yield from self._started().ask(ENGINE, ENGINE.call(method, arguments, named), cancel, offers)
        except FaultError as error:
            raise ReportedError(Failure.of(error)) from error

    def _started(self) -> Process:
        if self._process is None or self._process.closed:
            self._process = self._start()
        return self._process

    def _start(self) -> Process:
        """Start the process; raises CounterfoilError."""
        return Process(table.ENGINE if why_open("") else table.BROKER, EngineWords(), Start(shows_errors=True))
