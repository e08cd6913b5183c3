"""A state root is forged, so that a Merkle leaf commits to a state that never was."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil_core.values.events import DisputeLocated
from support.expectations import disputed
from support.jobs import set_row

JUNK = np.arange(32)


@pytest.mark.parametrize("step", [1, 3, 5])
def test_between_checkpoints(forge, digits_job, step):
    run = forge(lambda run: set_row(run, "/run/state_roots", step, JUNK))
    result = disputed(run, digits_job.order, step, parts=("state",))
    # At the next checkpoint the states turn out equal: the root was a lie, the training was not.
    assert result.report.dispute.compared_at == step + 1
    assert result.report.dispute.tensors == ()


def test_at_a_checkpoint(forge, digits_job):
    run = forge(lambda run: set_row(run, "/run/state_roots", 4, JUNK))
    disputed(run, digits_job.order, 4, parts=("state",), only=False, damaged=True)


def test_a_second_lie_is_found_too(forge, digits_job):
    def edit(run):
        for step in (1, 5):
            set_row(run, "/run/state_roots", step, JUNK)

    result = disputed(forge(edit), digits_job.order, 1, parts=("state",), only=False)
    assert result.report.mismatched_steps == (1, 5)
    assert {event.dispute.step for event in result.of(DisputeLocated)} == {1}
