"""A batch is used twice in place of the next one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from support.expectations import disputed, inputs_of
from support.malicious import Trainer


@dataclass
class Repeater(Trainer):
    def inputs(self, inputs):
        if not self.acting:
            return inputs
        return replace(inputs, batch=self.order.inputs(self.step - 1, inputs.state).batch)


def test_repeated(simulate, digits_job):
    result = disputed(simulate(Repeater(step=4)), digits_job.order, 4)
    assert inputs_of(result) == ("images", "labels")
