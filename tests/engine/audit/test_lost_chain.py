"""After a dispute the replay goes on from its own state up to the next checkpoint, if that state leads so far."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from counterfoil.training.tamper import LabelFlip
from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.replay.replayer import StepReplayer
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.events import DivergenceMeasured, StepReplayed
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.steptable import StepMatch
from support.jobs import Audited, audited, digits_order, record_job

DISPUTED, ENDED = 2, 4


@pytest.fixture
def replayed() -> list[int]:
    """The steps that were replayed, in this order."""
    return []


@pytest.fixture
def lost(tmp_path: Path, trainer_key: SigningKey, monkeypatch: pytest.MonkeyPatch, replayed: list[int]) -> Audited:
    """An audit of two segments of six steps: step 2 is disputed, and the chain after it ends in infinity at step 4."""
    draft = digits_order(steps=12, checkpoint_every=6)
    job = record_job(tmp_path, draft, trainer_key, tamper=LabelFlip(DISPUTED))
    replay = StepReplayer.replay

    def diverging(self: StepReplayer, claimed: Any, *args: Any, **settings: Any) -> Generator[Any, None, Any]:
        replayed.append(claimed.step)
        if claimed.step == ENDED:
            raise NonFiniteError("The loss is infinite.")
        return (yield from replay(self, claimed, *args, **settings))

    monkeypatch.setattr(StepReplayer, "replay", diverging)
    return audited(job.run, job.order)


def test_a_chain_that_has_ended_is_not_taken_up_again(lost: Audited, replayed: list[int]) -> None:
    assert lost.report.outcome is Outcome.DISPUTED
    assert replayed[-8:] == [3, ENDED, 7, 8, 9, 10, 11, 12]
    rows = [event.row for event in lost.of(StepReplayed)]
    assert [row.match for row in rows[2:6]] == [StepMatch.UNJUDGED] * 4
    assert rows[2].replay_leaf is not None
    for row in rows[3:6]:
        assert row.replay_leaf is None
        assert (row.replay_loss != row.replay_loss, row.rounded_values, row.log_entries) == (True, 0, 0)


def test_a_later_segment_says_nothing_of_the_dispute(lost: Audited) -> None:
    assert [event.step for event in lost.of(DivergenceMeasured)] == [12]
    assert lost.report.dispute is not None
    assert (lost.report.dispute.step, lost.report.dispute.compared_at, lost.report.dispute.tensors) == (2, None, ())


def test_control_a_chain_that_goes_on_is_compared_at_its_checkpoint(tmp_path: Path, trainer_key: SigningKey) -> None:
    draft = digits_order(steps=12, checkpoint_every=6)
    job = record_job(tmp_path, draft, trainer_key, tamper=LabelFlip(DISPUTED))
    dispute = audited(job.run, job.order).report.dispute
    assert dispute is not None
    assert dispute.compared_at == 6
    assert dispute.tensors
