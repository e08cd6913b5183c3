"""Another loss is reported than the step had."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil_core.values.events import ResumedFromCheckpoint, StepReplayed
from counterfoil_core.values.steptable import StepMatch
from support.bundles import change
from support.expectations import disputed


@pytest.mark.parametrize("step", [1, 4])
def test_half_the_loss(forge, digits_job, step):
    half = np.where(np.arange(6) == step - 1, 0.5, 1.0)
    run = forge(lambda run: change(run, "/run/losses", lambda losses: losses * half))
    result = disputed(run, digits_job.order, step, parts=("loss",))
    assert result.report.dispute.trainer_loss == result.report.dispute.replay_loss / 2
    # The state agrees, so nothing has to be made up for.
    assert not result.of(ResumedFromCheckpoint)
    assert all(e.row.match is StepMatch.MATCH for e in result.of(StepReplayed) if e.row.step != step)
