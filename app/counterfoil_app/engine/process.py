"""The engine in a process of its own, as the window sees it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from counterfoil import (
    AuditReport,
    BundleSummary,
    CancelToken,
    CounterfoilError,
    Device,
    Digest,
    Event,
    Kept,
    Plan,
    PlanProgress,
    Recognised,
    StepTable,
    write_steps_csv,
)
from counterfoil.audit.boxed.start import why_open
from counterfoil.base.messages import FormError, decode, encode
from counterfoil.base.sentence import say
from counterfoil_app.engine.link import Link
from counterfoil_app.engine.messages import (
    MAX_BYTES,
    Answer,
    Call,
    Delivery,
    Item,
    MessageError,
    Raised,
    Returned,
    Steer,
    methods,
)
from counterfoil_app.engine.port import Asked, DeliveryEvent, HearingEvent, Signable, VerdictReading
from counterfoil_app.engine.sample import SampleKind, SampleProgress
from counterfoil_app.engine.worker import ReportedError

LOOK_SECONDS = 0.02
"""How often a call looks whether it was cancelled or paused."""
BOXED, OPEN = "counterfoil_app.engine.broker", "counterfoil_app.engine.child"
"""What is started: the broker of processes in boxes, or one process that does all."""
T = TypeVar("T")


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

    def devices(self) -> Sequence[Device]:
        """Return the devices of this machine."""
        return self._call(tuple[Device, ...], "devices")

    def outline(self, path: Path) -> BundleSummary:
        """Say what a bundle says of itself before anything large is read; raises CounterfoilError."""
        return self._call(BundleSummary, "outline", path)

    def inspect(
        self, path: Path, order: Path | None, clients: Sequence[str], cancel: CancelToken
    ) -> Iterator[BundleSummary]:
        """Say what a bundle says of itself, more in each summary; raises CounterfoilError."""
        return self._iterate("inspect", path, order, tuple(clients), cancel=cancel)

    def client_order(self, path: Path, audited: Path) -> BundleSummary:
        """Say what a client's own order file holds, for a file that it is compared with; raises CounterfoilError."""
        return self._call(BundleSummary, "client_order", path, audited)

    def plan(self, request: Asked, bad_fraction: float, cancel: CancelToken) -> Iterator[PlanProgress | Plan]:
        """Measure a few steps and say what audits would cost; raises CounterfoilError."""
        return self._iterate("plan", request, bad_fraction, cancel=cancel)

    def kept(self, request: Asked, order: Digest, run_root: Digest) -> Kept | None:
        """Return what is kept of an earlier replay of this run, to go on from; raises CounterfoilError."""
        found = self._call(object, "kept", request, order, run_root)
        return found if isinstance(found, Kept) else None

    def audit(self, request: Asked, cancel: CancelToken) -> Iterator[Event]:
        """Replay a run; raises CounterfoilError."""
        return self._iterate("audit", request, cancel=cancel)

    def make_sample(self, folder: Path, kind: SampleKind, cancel: CancelToken) -> Iterator[SampleProgress]:
        """Record a run of the sample; raises CounterfoilError."""
        return self._iterate("make_sample", folder, kind, cancel=cancel)

    def recognise(self, path: Path) -> Recognised:
        """Say what a file is, by its content; raises CounterfoilError."""
        return self._call(Recognised, "recognise", path)

    def adjudicate(
        self, capsule: Path, order: Path | None, device: str, threads: int | None, cancel: CancelToken
    ) -> Iterator[HearingEvent]:
        """Replay the steps of a dispute capsule and say who is right; raises CounterfoilError."""
        return self._iterate("adjudicate", capsule, order, device, threads, cancel=cancel)

    def verify_weights(
        self,
        weights: Path,
        run: Path,
        verdict: Path | None,
        keys: Sequence[str],
        replay: AuditReport | None,
        cancel: CancelToken,
    ) -> Iterator[DeliveryEvent]:
        """Compare delivered weights with a run that a verdict, or a replay here, is about; raises CounterfoilError."""
        return self._iterate("verify_weights", weights, run, verdict, tuple(keys), replay, cancel=cancel)

    def preview(self, report: Signable, signed_at: datetime) -> bytes:
        """Return the statement that the signer is to sign, as canonical JSON; raises CounterfoilError."""
        return self._call(bytes, "preview", report, signed_at)

    def read_verdict(
        self, path: Path, keys: Sequence[str], bundle: Path | None, statements: Sequence[Path]
    ) -> VerdictReading:
        """Check a verdict file with the first of the public keys that signed it; raises CounterfoilError."""
        return self._call(VerdictReading, "read_verdict", path, tuple(keys), bundle, tuple(statements))

    def read_key(self, path: Path) -> str:
        """Return the public key in a file, as 64 hexadecimal digits; raises CounterfoilError."""
        return self._call(str, "read_key", path)

    def write_steps(self, steps: StepTable, path: Path) -> None:
        """Write the step table as CSV, here: the table lies here, and nothing of the engine's process is needed."""
        write_steps_csv(steps, path)

    def write_capsule(self, report: AuditReport, path: Path) -> None:
        """Write the dispute capsule of the last audit, whose report this is; raises CounterfoilError."""
        self._call(type(None), "write_capsule", report, path)

    def close(self) -> None:
        """End the process; a later call starts it again."""
        if self._link is not None:
            self._link.end()
        self._link = None

    def _call(self, _kind: type[T], method: str, *arguments: Any) -> T:
        link = self._linked()
        self._send(link, Call(self._next(), method, arguments))
        for message in self._messages(link, None):
            if isinstance(message, Returned):
                found: T = self._read(link, message.value, methods()[method].brings)
                return found
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

    def _send(self, link: Link, message: Call | Steer) -> None:
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
                self._link = Link(OPEN if why_open("") else BOXED, MAX_BYTES)
            except OSError as error:
                raise CounterfoilError(
                    say("The engine's process cannot be started: {0}.", error.strerror or error),
                    remedy=say("Close other programs, and try again."),
                ) from error
        return self._link

    def _died(self, link: Link) -> CounterfoilError:
        code = link.end()
        self._link = None
        how = say("was ended by signal {0}", -code) if code < 0 else say("ended with code {0}", code)
        return CounterfoilError(
            say("The engine's process {0} before its work was done. Nothing was concluded.", how),
            remedy=say("Most often the machine ran out of memory. Close other programs, and try again."),
        )
