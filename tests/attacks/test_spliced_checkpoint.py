"""A state of another run, honest in itself, takes the place of this run's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch

from counterfoil_core.values.outcome import Outcome
from support.expectations import disputed, operator_of, tensors_of
from support.forgery import checkpoint, forge_checkpoint, store_checkpoint
from support.jobs import audited, digits_order, record_job
from support.malicious import Trainer


@pytest.fixture(scope="module")
def other_run(tmp_path_factory, trainer_key) -> Path:
    return record_job(tmp_path_factory.mktemp("other"), digits_order(seed=12), trainer_key).run


@dataclass
class Splicer(Trainer):
    other_run: Path | None = None

    def inputs(self, inputs):
        if not self.acting:
            return inputs
        state = checkpoint(self.other_run, self.step - 1)
        return replace(inputs, state={name: torch.from_numpy(array) for name, array in state.items()})


def test_stored_and_committed_to(forge, digits_job, other_run):
    run = forge(lambda run: forge_checkpoint(run, 4, checkpoint(other_run, 4)))
    result = disputed(run, digits_job.order, 4, parts=("state",), only=False)
    assert {"stem.weight", "momentum:stem.weight", "bn.running_var"} <= tensors_of(result)
    # Neither does step 5 follow from it.
    assert result.report.mismatched_steps == (4, 5)


def test_stored_only(forge, digits_job, other_run):
    """The state root of the honest state is kept: found when the checkpoint is read, and the rest is judged."""
    run = forge(lambda run: store_checkpoint(run, 4, checkpoint(other_run, 4)))
    report = audited(run, digits_job.order).report
    assert report.outcome is Outcome.REFUSED
    assert "step 4" in report.reason
    assert "state root" in report.reason
    assert report.steps_replayed == 6, "the replay has that state itself"


def test_trained_on_from(simulate, digits_job, other_run):
    result = disputed(simulate(Splicer(5, other_run)), digits_job.order, 5)
    assert operator_of(result) == ("aten.convolution.default", "stem", "forward")
