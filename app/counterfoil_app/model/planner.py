"""Measures what a replay would cost."""

from __future__ import annotations

from collections.abc import Callable

from counterfoil import AuditRequest, CancelToken, Plan, PlanProgress
from counterfoil_app.engine.port import Engine
from counterfoil_app.model.inquiry import Inquiry


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
