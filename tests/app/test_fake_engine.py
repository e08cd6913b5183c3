"""The engine that the window is tested with says the same things in the same order as the real one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from counterfoil import (
    AuditRequest,
    CancelToken,
    CheckChanged,
    DisputeLocated,
    Event,
    FollowEnded,
    FollowStarted,
    LabelFlip,
    OperatorDone,
    StepFollowed,
    StepRecorded,
    StepReplayed,
    record,
)
from counterfoil.training.recordingfolder import recording_folder
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.recordings import (
    FollowingEvent,
    InsideStep,
    KnownFollow,
    RecordingEvent,
    RecordingSize,
    RecordRequest,
    StepMade,
)
from counterfoil_core.signing.keys import SigningKey
from support.fake_engine import FakeEngine
from support.job_fixtures import once, trainer_key
from support.jobs import audited, digits_order, record_job

__all__ = ["once", "trainer_key"]
STEPS = 15
EVERY = 5
"""Where the fake engine has its checkpoints."""


def told(event: Event) -> tuple[object, ...]:
    """What matters of an event to a window: its kind, and what it is about."""
    if isinstance(event, CheckChanged):
        return (type(event), event.check.number, event.check.state)
    if isinstance(event, StepReplayed):
        return (type(event), event.row.step, event.row.match)
    if isinstance(event, DisputeLocated):
        return (type(event), event.dispute.step, event.dispute.compared_at, bool(event.dispute.tensors))
    return (type(event),)


def story(events: Iterable[Event]) -> list[tuple[object, ...]]:
    """The events in their order; progress within a step is left out, as it is told when it is time to."""
    return [told(event) for event in events if not isinstance(event, OperatorDone)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("disputed", [None, 1, 8, 10, 13])
def test_events_come_in_the_order_of_the_real_engine(
    disputed: int | None, tmp_path: Path, trainer_key: SigningKey
) -> None:
    draft = digits_order(steps=STEPS, checkpoint_every=EVERY)
    job = record_job(tmp_path, draft, trainer_key, tamper=None if disputed is None else LabelFlip(disputed))
    real = story(audited(job.run, job.order).events)
    fake = FakeEngine(steps=STEPS, disputed=disputed)
    assert story(fake.audit(AuditRequest(job.run, job.order), CancelToken())) == real


def followed(events: Iterable[FollowingEvent]) -> list[tuple[object, ...]]:
    """What a replay beside a recording says; how often it looks, and what it reads at once, hangs on the moment."""
    found: list[tuple[object, ...]] = []
    for event in events:
        if isinstance(event, FollowStarted):
            found.append((FollowStarted, event.steps, event.segments))
        elif isinstance(event, StepFollowed):
            found.append((StepFollowed, event.step, event.match))
        elif isinstance(event, FollowEnded):
            dispute = event.dispute
            found.append((FollowEnded, event.outcome, event.matching, None if dispute is None else dispute.step))
        elif isinstance(event, CheckChanged):
            found.append((CheckChanged, event.check.number, event.check.state))
    return found


def test_a_recording_is_followed_as_by_the_real_engine(tmp_path: Path, trainer_key: SigningKey) -> None:
    order, run = tmp_path / "job.cfoil", tmp_path / "run.cfoil"
    digits_order(steps=STEPS, checkpoint_every=EVERY).write(order, trial=False)
    for event in (recording := record(order, run, trainer_key, threads=1, tamper=LabelFlip(8))):
        if isinstance(event, StepRecorded) and event.step == 2 * EVERY:
            break
    recording.close()
    request = KnownFollow(recording_folder(run), run, order, threads=1)
    real = followed(Engine().follow(request, CancelToken()))
    fake = FakeEngine(steps=STEPS, disputed=8)
    assert followed(fake.follow(request, CancelToken())) == real
    assert fake.has_begun(request.folder, run) == Engine().has_begun(request.folder, run)


def test_a_run_is_recorded_as_by_the_real_engine(tmp_path: Path, trainer_key: SigningKey) -> None:
    order = tmp_path / "job.cfoil"
    digits_order(steps=STEPS, checkpoint_every=EVERY).write(order, trial=False)
    request = RecordRequest(order, tmp_path / "run.cfoil", trainer_key.public.public, threads=1)

    def kinds(events: Iterable[RecordingEvent]) -> list[tuple[object, ...]]:
        told: list[tuple[object, ...]] = []
        for event in events:
            what = (type(event), event.step if isinstance(event, StepMade) else None)
            if not isinstance(event, (InsideStep, RecordingSize)) and what not in told[-1:]:
                told.append(what)
        return told

    real = kinds(Engine().record_run(request, trainer_key.sign, CancelToken()))
    assert kinds(FakeEngine(steps=STEPS).record_run(request, trainer_key.sign, CancelToken())) == real
