"""Questions to the engine that take a while: how far each is, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

from PySide6.QtCore import QObject, QTimer, Signal
from shiboken6 import isValid

from counterfoil import (
    AdjudicationFinished,
    AdjudicationReport,
    AdjudicationStarted,
    AuditReport,
    AuditRequest,
    CancelToken,
    CapsuleSubject,
    Check,
    CheckChanged,
    CheckNumber,
    CheckState,
    DeliveryProgress,
    DeliveryReport,
    OperatorDone,
    Outcome,
    Plan,
    PlanProgress,
    TrustStore,
)
from counterfoil_app.engine.port import PROGRESS, Engine
from counterfoil_app.engine.snapshot import Latest
from counterfoil_app.engine.strangers import plain
from counterfoil_app.engine.worker import Failure, JobResult

if TYPE_CHECKING:
    from counterfoil_app.model.session import Session

LOOK_MILLISECONDS = 60
Ask = Callable[[Callable[[Engine], object], Callable[[JobResult], None]], None]
"""Lets the worker ask the engine something, and hands the answer over in the window's thread."""
Seen = TypeVar("Seen")
"""What the worker thread puts down of its progress."""
Found = TypeVar("Found")
"""What is found in the end."""


class Counted(Protocol):
    """Progress that is counted."""

    @property
    def done(self) -> float:
        """How much is done."""

    @property
    def total(self) -> float:
        """Of how much; 0 where nobody knows."""


Step = TypeVar("Step", bound=Counted)
"""What the worker thread puts down of its progress, where it is counted."""


class Inquiry(QObject, Generic[Seen]):
    """Asks the engine in the session's worker; what it is asked, and what becomes of the answer, a subclass says.

    Args:
        ask: Lets the worker ask the engine, and hands the answer over.

    Attributes:
        failure: Why there is no report.
        share: How much of it is done, 0 to 1; None while nobody knows.
    """

    changed = Signal()

    def __init__(self, ask: Ask, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ask = ask
        self._token: CancelToken | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MILLISECONDS)
        self._timer.timeout.connect(self._look)
        self._forget()

    @property
    def working(self) -> bool:
        """Whether it is under way."""
        return self._token is not None

    def start(self) -> None:
        """Begin, unless it is under way; :attr:`changed` follows, several times."""
        if self.working:
            return
        self._forget()
        token = self._token = CancelToken()
        self._ask(self._question(token), partial(self._ended, token))
        self._timer.start()
        self.changed.emit()

    def stop(self) -> None:
        """Stop; what still comes is ignored."""
        if self.working:
            self._leave()
            self.changed.emit()

    def _leave(self) -> None:
        """Stop without a word."""
        if self._token is not None:
            self._token.cancel()
        self._token = None
        self._timer.stop()

    def _forget(self) -> None:
        """Go back to where nothing is known."""
        self.failure: Failure | None = None
        self.share: float | None = None
        self._seen: Latest[Seen] = Latest()

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        """Return what is done in the worker thread; it puts its progress into ``_seen``."""
        raise NotImplementedError

    def _show(self, seen: Seen) -> None:
        """Take over what the worker thread put down."""
        raise NotImplementedError

    def _answer(self, value: object) -> None:
        """Take over what the worker thread returned; None where it failed."""

    def _look(self) -> None:
        if (seen := self._seen.take()) is not None:
            self._show(seen)
            self.changed.emit()

    def _ended(self, token: CancelToken, result: JobResult) -> None:
        if token is not self._token:
            return
        self._look()
        self._token = None
        self._timer.stop()
        self.failure = result.failure
        self._answer(result.value)
        self.changed.emit()


def share_of(seen: Counted) -> float | None:
    """How much is done, 0 to 1; None while nobody knows."""
    return min(1.0, seen.done / seen.total) if seen.total else None


class Query(Inquiry[Step], Generic[Step, Found]):
    """An inquiry whose question says how far it is until it has found what it was asked for.

    Attributes:
        progress: How far it is, as it is shown; None before it begins.
        found: What was found, as it is shown; None until it is.
        said: The same as the engine said it.
    """

    def _forget(self) -> None:
        super()._forget()
        self.progress: Step | None = None
        self.found: Found | None = None
        self.said: Found | None = None

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        return partial(self._find, self._asked(token), self._seen)

    def _asked(self, token: CancelToken) -> Callable[[Engine], Iterator[Step | Found]]:
        """Return the question; it is asked in the worker thread."""
        raise NotImplementedError

    def _find(
        self, asked: Callable[[Engine], Iterator[Step | Found]], seen: Latest[Step], engine: Engine
    ) -> tuple[Found, Found] | None:
        for value in asked(engine):
            if not isinstance(value, PROGRESS):
                found = cast("Found", value)
                return found, plain(found)
            seen.put(cast("Step", value))
        return None

    def _show(self, seen: Step) -> None:
        self.progress = plain(seen)
        self.share = share_of(seen)

    def _answer(self, value: object) -> None:
        if value is not None:
            self.said, self.found = cast("tuple[Found, Found]", value)


class Planner(Inquiry[PlanProgress | Plan]):
    """Lets the worker measure a few steps; one measurement at a time.

    Attributes:
        plan: What was measured so far; None while there is nothing.
        failure: Why the last measurement ended without.
    """

    def measure(self, asked: AuditRequest, bad_fraction: float) -> None:
        """Measure for a replay; :attr:`changed` follows, several times."""
        self.forget()
        self._asked = asked, bad_fraction
        self.start()

    def forget(self) -> None:
        """Stop measuring, and forget what was measured."""
        self._leave()
        self._forget()

    def _forget(self) -> None:
        super()._forget()
        self.plan: PlanProgress | Plan | None = None

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        asked, seen = self._asked, self._seen
        return lambda engine: seen.put_all(engine.plan(*asked, token))

    def _show(self, seen: PlanProgress | Plan) -> None:
        self.plan = seen


_Standing = tuple[tuple[Check, ...], float]
"""Where the checks stand, and the share of the steps that is replayed."""


class Hearing(Inquiry[_Standing]):
    """Adjudicates a capsule in the session's worker.

    Args:
        session: Whose worker, device and threads are used.
        path: The capsule.

    Attributes:
        path: The capsule.
        filed: The file that stays: the capsule, or the sealed one that it was opened from.
        order: The client's order to compare with; None takes it from the capsule.
        subject: Which step the capsule says that it is about; None until it was read, and where it cannot be.
        checks: Where each check stands.
        report: What was found; None until it is over.
        found: The same as the engine said it, to be signed.
        signed: Where the signed adjudication lies, once there is one.
    """

    def __init__(self, session: Session, path: Path, parent: QObject | None = None) -> None:
        super().__init__(session.ask, parent)
        self._session = session
        self.path = self.filed = path
        self.order: Path | None = None
        self.subject: CapsuleSubject | None = None
        session.ask(lambda engine: engine.capsule_subject(path), self._named)

    def _named(self, result: JobResult) -> None:
        """Know the subject; what is wrong with a file that has none the adjudication says."""
        if isinstance(result.value, CapsuleSubject) and isValid(self):  # its window may be closed by now
            self.subject = plain(result.value)
            self.changed.emit()

    def _forget(self) -> None:
        super()._forget()
        self.checks = {number: Check(number, CheckState.PENDING) for number in list(CheckNumber)}
        self.report: AdjudicationReport | None = None
        self.found: AdjudicationReport | None = None
        self.signed: Path | None = None
        self.share = 0.0

    def files_read(self) -> tuple[Path, ...]:
        """The files that are open, over which nothing is written."""
        return (self.path,) if self.order is None else (self.path, self.order)

    def note_signed(self, report: AdjudicationReport, path: Path) -> None:
        """Know that a report was signed; one that was found before says nothing of what is shown now."""
        if report is self.found:
            self.signed = path
            self.changed.emit()

    def _question(self, token: CancelToken) -> Callable[[Engine], object]:
        return partial(self._hear, self.path, self.order, token)

    def _hear(self, path: Path, order: Path | None, token: CancelToken, engine: Engine) -> AdjudicationReport | None:
        """In the worker thread."""
        checks: dict[CheckNumber, Check] = {}
        first, count, share = 1, 1, 0.0
        for event in engine.adjudicate(path, order, self._session.device, self._session.threads, token):
            if isinstance(event, AdjudicationFinished):
                return event.report
            if isinstance(event, CheckChanged):
                checks[event.check.number] = event.check
            elif isinstance(event, AdjudicationStarted):
                first, count = event.first, event.last - event.first + 1
            elif isinstance(event, OperatorDone) and event.total:
                share = (event.step - first + event.done / event.total) / count
            self._seen.put((tuple(checks.values()), share))
        return None

    def _show(self, seen: _Standing) -> None:
        checks, self.share = seen
        self.checks.update({check.number: plain(check) for check in checks})

    def _answer(self, value: object) -> None:
        if isinstance(value, AdjudicationReport):
            self.found, self.report = value, plain(value)
            self.checks.update({check.number: check for check in self.report.checks})


class Delivery(Query[DeliveryProgress, DeliveryReport]):
    """Compares delivered weights with a run in the session's worker.

    Args:
        session: Whose worker is used.
        weights: The folder, or the file, of weights.
        run: The run.

    Attributes:
        weights: The folder, or the file, of weights.
        run: The run.
        verdict: A verdict on the run; None for none.
        store: What the user trusts, by which it is read.
        replay: The report of a replay of the run here; it counts where there is no verdict, and where it says VERIFIED.
    """

    def __init__(self, session: Session, weights: Path, run: Path, parent: QObject | None = None) -> None:
        super().__init__(session.ask, parent)
        self.weights = weights
        self.run = run
        self.verdict: Path | None = None
        self.store = TrustStore()
        self.replay: AuditReport | None = None

    @property
    def disputed(self) -> bool:
        """Whether the run was replayed here and disputed, so that its weights are not those of a verified run."""
        replay = self.replay if self.verdict is None else None
        return replay is not None and replay.outcome is Outcome.DISPUTED

    @property
    def verified_here(self) -> AuditReport | None:
        """The report of the replay that verified the run; None where there is none, or a verdict counts."""
        replay = self.replay if self.verdict is None else None
        return replay if replay is not None and replay.outcome is Outcome.VERIFIED else None

    def _asked(self, token: CancelToken) -> Callable[[Engine], Iterator[DeliveryProgress | DeliveryReport]]:
        given = self.weights, self.run, self.verdict, self.store, self.verified_here
        return lambda engine: engine.verify_weights(*given, token)
