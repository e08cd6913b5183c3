"""An optimizer slot is forged: momentum cleared, a second moment of Adam blown up, a slot of a checkpoint edited."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from support.expectations import disputed, operator_of, tensors_of
from support.forgery import checkpoint, forge_checkpoint
from support.malicious import Trainer


@dataclass
class SlotForger(Trainer):
    slot: str = ""
    factor: float = 0.0

    def inputs(self, inputs):
        if not self.acting:
            return inputs
        return replace(inputs, state={**inputs.state, self.slot: inputs.state[self.slot] * self.factor})


def test_momentum_is_cleared(simulate, digits_job):
    result = disputed(simulate(SlotForger(4, "momentum:stem.weight")), digits_job.order, 4, parts=("state",))
    # Momentum enters exact products and sums only, which have no fingerprint.
    assert operator_of(result) is None
    assert tensors_of(result) == {"stem.weight", "momentum:stem.weight"}


def test_a_second_moment_of_adam(simulate, gpt2_job):
    slot = "moment2:ln_f.weight"
    run = simulate(SlotForger(4, slot, 1e6), gpt2_job)
    result = disputed(run, gpt2_job.order, 4, parts=("state", "fingerprints"))
    operator, module, phase = operator_of(result)
    assert (operator, module, phase) == ("aten.sqrt.default", "ln_f.weight", "update")
    assert tensors_of(result) == {"ln_f.weight", slot}


def test_a_slot_of_a_checkpoint(forge, digits_job):
    def edit(run):
        state = checkpoint(run, 4)
        state["momentum:head.bias"] = np.zeros_like(state["momentum:head.bias"])
        forge_checkpoint(run, 4, state)

    result = disputed(forge(edit), digits_job.order, 4, parts=("state",), only=False)
    assert tensors_of(result) == {"momentum:head.bias"}
    # Step 5 was computed from the honest slot, so it does not follow from the forged one either.
    assert result.report.mismatched_steps == (4, 5)
