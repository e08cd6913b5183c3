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
    LabelFlip,
    OperatorDone,
    StepReplayed,
)
from counterfoil.signing.keys import SigningKey
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


@pytest.mark.parametrize("disputed", [None, 1, 8, 10, 13])
def test_events_come_in_the_order_of_the_real_engine(
    disputed: int | None, tmp_path: Path, trainer_key: SigningKey
) -> None:
    draft = digits_order(steps=STEPS, checkpoint_every=EVERY)
    job = record_job(tmp_path, draft, trainer_key, tamper=None if disputed is None else LabelFlip(disputed))
    real = story(audited(job.run, job.order).events)
    fake = FakeEngine(steps=STEPS, disputed=disputed)
    assert story(fake.audit(AuditRequest(job.run, job.order), CancelToken())) == real
