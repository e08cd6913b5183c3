"""Audits that are stopped, and go on from what was kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from counterfoil.audit.replay import run_audit
from counterfoil.audit.values.events import AuditFinished, Event, ProgressRestored, StepReplayed
from counterfoil.audit.values.outcome import Outcome
from counterfoil.audit.values.request import AuditRequest
from counterfoil.audit.values.steptable import StepRow
from counterfoil.cancel import CancelToken
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
