"""The adjudication of one dispute capsule: what was found so far, and what comes back from the engine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from counterfoil import (
    AdjudicationReport,
    CancelToken,
    Check,
    CheckChanged,
    CheckNumber,
    CheckState,
    OperatorDone,
)
from counterfoil_app.engine.port import Engine, HearingStarted
from counterfoil_app.engine.strangers import plain
from counterfoil_app.model.inquiry import Inquiry
from counterfoil_app.model.session import Session

_Standing = tuple[tuple[Check, ...], float]
"""Where the checks stand, and the share of the steps that is replayed."""


class Hearing(Inquiry[_Standing]):
    """Adjudicates a capsule in the session's worker.

    Args:
        session: Whose worker, device and threads are used.
        path: The capsule.

    Attributes:
        path: The capsule.
        order: The client's order to compare with; None takes it from the capsule.
        checks: Where each check stands.
        report: What was found; None until it is over.
        found: The same as the engine said it, to be signed.
        signed: Where the signed adjudication lies, once there is one.
        share: How much of its steps is replayed, 0 to 1.
    """

    def __init__(self, session: Session, path: Path, parent: QObject | None = None) -> None:
        super().__init__(session.ask, parent)
        self._session = session
        self.path = path
        self.order: Path | None = None

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
            if isinstance(event, AdjudicationReport):
                return event
            if isinstance(event, CheckChanged):
                checks[event.check.number] = event.check
            elif isinstance(event, HearingStarted):
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
