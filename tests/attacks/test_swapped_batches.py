"""Two batches change places: both steps are found, since a checkpoint lies between them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from support.expectations import disputed, inputs_of
from support.malicious import Trainer


@dataclass
class Swapper(Trainer):
    def inputs(self, inputs):
        other = {self.step: self.step + 1, self.step + 1: self.step}.get(self.now)
        if not self.step or other is None:
            return inputs
        return replace(inputs, batch=self.order.inputs(other, inputs.state).batch)


# Step 4 follows from the disputed step 3, so it is not judged; between steps 2 and 3 the trainer's state is stored.
@pytest.mark.parametrize(("step", "found"), [(2, (2, 3)), (3, (3,))])
def test_swapped(simulate, digits_job, step, found):
    result = disputed(simulate(Swapper(step)), digits_job.order, step, only=False)
    assert inputs_of(result) == ("images", "labels")
    assert result.report.mismatched_steps == found
