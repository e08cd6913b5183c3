"""Running statistics of batch norm are forged. Training never reads them, so no weight differs; inference does."""

from __future__ import annotations

from dataclasses import dataclass, replace

from support.expectations import disputed, operator_of, tensors_of
from support.malicious import Trainer

NAME = "bn.running_mean"


@dataclass
class ForgesBefore(Trainer):
    def inputs(self, inputs):
        forged = {NAME: inputs.state[NAME] * 2 + 1}
        return replace(inputs, state={**inputs.state, **forged}) if self.acting else inputs


@dataclass
class ForgesAfter(Trainer):
    def result(self, inputs, result, train):
        return replace(result, state={**result.state, NAME: result.state[NAME] * 2}) if self.acting else result


def test_before_a_step(simulate, digits_job):
    result = disputed(simulate(ForgesBefore(step=4)), digits_job.order, 4, parts=("state", "fingerprints"))
    assert operator_of(result) == ("aten._native_batch_norm_legit_functional.default", "bn", "forward")
    assert tensors_of(result) == {NAME}


def test_after_a_step(simulate, digits_job):
    result = disputed(simulate(ForgesAfter(step=4)), digits_job.order, 4, parts=("state",))
    assert operator_of(result) is None
    assert tensors_of(result) == {NAME}
