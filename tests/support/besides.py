"""A recorder and whoever follows it, in turns: each of them goes on when the other waits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from counterfoil.audit import follow
from counterfoil.audit.follow import follow_run
from counterfoil.audit.values.follow import FollowEnded, FollowEvent, FollowRequest, FollowState
from counterfoil.training import execution
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import RecordEvent, StepRecorded
from counterfoil.training.recordingfolder import recording_folder
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.hearing import session
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.events import AuditFinished, Event
from support.jobs import self_tests_remembered

Events = list[FollowEvent | Event]


def recorder(order: Path, run: Path, key: SigningKey, **settings: Any) -> Iterator[RecordEvent]:
    """Records on one thread, and publishes a tree head after every second step beside the run."""
    return record(order, run, key, **({"threads": 1, "heads": run.with_suffix(".jsonl"), "heads_every": 2} | settings))


def request_of(order: Path, run: Path, **settings: Any) -> FollowRequest:
    """Follows without a pause; a recorder that is let go of counts as ended soon."""
    given = {"threads": 1, "poll": 0.001, "patience": 0.2} | settings
    return FollowRequest(recording_folder(run), run, order, **given)


def step_of(recording: Iterator[RecordEvent]) -> bool:
    """Let the recorder make its next step; returns whether it did."""
    return any(isinstance(event, StepRecorded) for event in recording)


def killed_after(step: int, recording: Iterator[RecordEvent]) -> Iterator[RecordEvent]:
    """A recorder that is let go of after a step."""
    for event in recording:
        yield event
        if isinstance(event, StepRecorded) and event.step == step:
            break
    recording.close()  # type: ignore[attr-defined]


def follow_beside(
    request: FollowRequest, part: Path, *recordings: Iterator[RecordEvent], cancel: CancelToken | None = None
) -> Events:
    """Follow, and let the recorders go on by a step, one after the other, whenever there is nothing to replay."""
    events, waiting = [], list(recordings)
    with self_tests_remembered(follow), self_tests_remembered(session), self_tests_remembered(execution):
        for event in follow_run(request, part, cancel):
            events.append(event)
            if isinstance(event, FollowState) and event.waiting:
                while waiting and not step_of(waiting[0]):
                    waiting.pop(0)
    return events


def ending(events: Events) -> FollowEnded:
    """How following ended."""
    (found,) = [event for event in events if isinstance(event, FollowEnded)]
    return found


def audit_of(events: Events) -> AuditFinished:
    """How the audit ended that concluded."""
    assert isinstance(events[-1], AuditFinished)
    return events[-1]
