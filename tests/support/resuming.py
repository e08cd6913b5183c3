"""Audits that are stopped, and go on from what was kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from counterfoil.audit.hearings import run_audit
from counterfoil.bundle.capsulewriter import write_capsule
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.statement.write import verdict_statement
from counterfoil_core.values.events import AuditFinished, DivergenceMeasured, Event, ProgressRestored, StepReplayed
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.report import AuditReport
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.steptable import StepRow
from support.jobs import Job


def request_of(job: Job, place: Path | None = None, **settings: Any) -> AuditRequest:
    return AuditRequest(job.run, job.order, **({"threads": 1, "progress": place} | settings))


def ended(events: list[Event]) -> AuditFinished:
    assert isinstance(events[-1], AuditFinished)
    return events[-1]


def whole(request: AuditRequest) -> list[Event]:
    return list(run_audit(request))


def stopped_after(request: AuditRequest, steps: int, token: CancelToken | None = None) -> list[Event]:
    """Audit, and stop after so many steps were judged anew."""
    token = token or CancelToken()
    events, seen = [], 0
    for event in run_audit(request, token):
        events.append(event)
        if isinstance(event, ProgressRestored):
            seen = 0
        seen += isinstance(event, StepReplayed)
        if seen >= steps:
            token.cancel()
    return events


def rows_of(events: list[Event]) -> list[StepRow]:
    return [replace(event.row, seconds=0.0) for event in events if isinstance(event, StepReplayed)]


def progress_of(job: Job, place: Path, steps: int = 3, **settings: Any) -> Path:
    kept = ended(stopped_after(request_of(job, place, **settings), steps)).kept
    assert kept is not None
    return kept.path


def refused(request: AuditRequest, *words: str) -> None:
    """The audit does not begin: nothing is judged, and the sentence says why."""
    events = whole(request)
    report = ended(events).report
    assert report.outcome is Outcome.ERROR, report.reason
    assert not rows_of(events)
    for word in (*words, "anew"):
        assert word in report.reason, report.reason


def timeless(report: AuditReport) -> dict[str, Any]:
    """The statement that would be signed, without times."""
    return statement_of(verdict_statement(replace(report, seconds=0.0), datetime(2026, 1, 31, tzinfo=UTC)))


def anywhere(events: list[Event]) -> list[Event]:
    """The same, without where the segments were replayed."""
    *others, last = events
    assert isinstance(last, AuditFinished)
    return [*others, replace(last, report=replace(last.report, replayed_at=()))]


def same_end(resumed: list[Event], expected: list[Event], tmp_path: Path) -> None:
    one, other = ended(resumed), ended(expected)
    assert timeless(one.report) == timeless(other.report)
    assert repr(rows_of(resumed)) == repr(rows_of(expected))  # nan is not equal to itself
    measured = [[event for event in events if isinstance(event, DivergenceMeasured)] for events in (resumed, expected)]
    assert measured[0] == measured[1]
    assert (one.evidence is None) == (other.evidence is None)
    if one.evidence is not None and other.evidence is not None:
        write_capsule(one.evidence, tmp_path / "one.cfoil")
        write_capsule(other.evidence, tmp_path / "other.cfoil")
        assert (tmp_path / "one.cfoil").read_bytes() == (tmp_path / "other.cfoil").read_bytes()
