"""What a report is printed from, without a window."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from counterfoil import AuditFinished, AuditRequest, CancelToken, StepReplayed
from counterfoil_app.model.step_data import StepData
from counterfoil_app.verdict.report_document import Contents, Curves
from support.fake_engine import FakeEngine, envelope_of


def contents(engine: FakeEngine, plan: AuditRequest | None = None) -> Contents:
    """Return what the report of a replay is made from."""
    plan = plan or AuditRequest(Path("honest.cfoil"), None, "cpu")
    events = list(engine.audit(plan, CancelToken()))
    assert isinstance(events[-1], AuditFinished)
    summary = engine.summary(plan.run, None)
    steps = StepData(summary)
    steps.add(event.row for event in events if isinstance(event, StepReplayed))
    report = events[-1].report
    envelope = envelope_of(engine.preview(report, datetime(2026, 11, 21, tzinfo=UTC)))
    return Contents(report, summary, Curves.of(steps.table), envelope, "honest.verdict.json")
