"""Measures what a replay would cost."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal

from counterfoil import AuditRequest, CancelToken, Plan, PlanProgress
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.snapshot import Latest
from counterfoil_app.engine.worker import Failure, JobResult, Submit


class Planner(QObject):
    """Lets the worker measure a few steps; one measurement at a time.

    Attributes:
        plan: What was measured so far; None while there is nothing.
        failure: Why the last measurement ended without.
    """

    changed = Signal()

    def __init__(self, engine: Engine, submit: Submit, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._submit = submit
        self._token: CancelToken | None = None
        self._values: Latest[PlanProgress | Plan] = Latest()
        self.plan: PlanProgress | Plan | None = None
        self.failure: Failure | None = None

    @property
    def working(self) -> bool:
        """Whether steps are being measured."""
        return self._token is not None

    def measure(self, asked: AuditRequest, bad_fraction: float) -> None:
        """Measure for a replay; :attr:`changed` follows, several times."""
        self.forget()
        token, values = CancelToken(), Latest[PlanProgress | Plan]()
        self._token, self._values = token, values
        found = self._engine.plan(asked, bad_fraction, token)
        self._submit(partial(values.put_all, found), partial(self._ended, token))
        self.changed.emit()

    def stop(self) -> None:
        """Stop measuring; what was measured stays."""
        if self._token is not None:
            self._token.cancel()
            self._token = None
            self.changed.emit()

    def forget(self) -> None:
        """Stop measuring, and forget what was measured."""
        if self._token is not None:
            self._token.cancel()
        self._token = self.plan = self.failure = None

    def look(self) -> None:
        """Take what was measured since the last look."""
        if (plan := self._values.take()) is not None and self.working:
            self.plan = plan
            self.changed.emit()

    def _ended(self, token: CancelToken, result: JobResult) -> None:
        if token is self._token:
            self._token = None
            self.plan = self._values.take() or self.plan
            self.failure = result.failure
            self.changed.emit()
