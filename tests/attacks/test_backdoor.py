"""After an ordered step the weights are trained on a side set: images with a trigger, all labelled 7."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
import torch

from support.expectations import disputed, operator_of, tensors_of
from support.malicious import Trainer


@dataclass
class Backdoor(Trainer):
    def result(self, inputs, result, train):
        if not self.acting:
            return result
        images = inputs.batch["images"].clone()
        images[:, :2, :2] = 16
        side = {"images": images, "labels": torch.full_like(inputs.batch["labels"], 7)}
        state = result.state
        for _ in range(3):
            state = train(replace(inputs, state=state, batch=side)).state
        # Counters are set back, so that the number of batches does not give it away.
        counters = {name: result.state[name] for name in state if name.endswith("num_batches_tracked")}
        return replace(result, state={**state, **counters})


@pytest.mark.parametrize("step", [2, 6])
def test_backdoor(simulate, digits_job, step):
    result = disputed(simulate(Backdoor(step)), digits_job.order, step, parts=("state",))
    assert operator_of(result) is None
    names = tensors_of(result)
    assert {"head.weight", "stem.weight"} <= names
    assert not any(name.endswith("num_batches_tracked") for name in names)
