"""A weight is edited: in the final state, in a checkpoint with its root, or by one ulp during training."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from counterfoil_core.values.events import ResumedFromCheckpoint
from support.bundles import flip_bit
from support.expectations import disputed, operator_of, tensors_of
from support.forgery import checkpoint, set_state_root
from support.malicious import Trainer


def one_ulp(tensor):
    bits = tensor.clone().view(torch.int32)
    bits.view(-1)[3] += 1
    return bits.view(torch.float32)


@dataclass
class EditsBefore(Trainer):
    def inputs(self, inputs):
        name = "block1.conv1.weight"
        return replace(inputs, state={**inputs.state, name: one_ulp(inputs.state[name])}) if self.acting else inputs


@dataclass
class EditsAfter(Trainer):
    def result(self, inputs, result, train):
        if not self.acting:
            return result
        return replace(result, state={**result.state, "head.weight": one_ulp(result.state["head.weight"])})


def test_one_ulp_before_a_step(simulate, digits_job):
    # Too little to show in the loss.
    result = disputed(simulate(EditsBefore(step=3)), digits_job.order, 3, parts=("state", "fingerprints"))
    assert operator_of(result) == ("aten.convolution.default", "block1.conv1", "forward")


def test_one_ulp_after_the_last_step(simulate, digits_job):
    result = disputed(simulate(EditsAfter(step=6)), digits_job.order, 6, parts=("state",))
    (tensor,) = result.report.dispute.tensors
    assert (tensor.name, tensor.differing, tensor.max_ulps) == ("head.weight", 1, 1)


@pytest.mark.parametrize("step", [2, 6])
def test_a_checkpoint_with_its_root(forge, digits_job, step):
    def edit(run):
        flip_bit(run, f"/run/checkpoints/{step:010d}/head.weight", 9, 22)
        set_state_root(run, step, checkpoint(run, step))

    result = disputed(forge(edit), digits_job.order, step, parts=("state",), only=False)
    dispute = result.report.dispute
    assert dispute.compared_at == step
    (tensor,) = dispute.tensors
    assert tensors_of(result) == {"head.weight"}
    assert tensor.differing == 1
    assert np.ravel_multi_index(tensor.index, tensor.shape) == 9
    assert tensor.max_ulps == 2**22
    assert tensor.max_abs == abs(tensor.trainer - tensor.replay) > 0
    # The replay goes on from the changed checkpoint, so the next step differs from what the trainer computed.
    if step == 2:
        assert result.report.mismatched_steps[:2] == (2, 3)
        assert result.of(ResumedFromCheckpoint)[0].step == 2
