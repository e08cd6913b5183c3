"""The random shifts of the images are drawn with another seed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from support.expectations import disputed, operator_of
from support.malicious import Trainer


@dataclass
class Reseeder(Trainer):
    whole_run: bool = False

    def inputs(self, inputs):
        if self.step and (self.acting or self.whole_run):
            return replace(inputs, draws=replace(inputs.draws, seed=inputs.draws.seed + 1))
        return inputs


@pytest.mark.parametrize(("whole_run", "first", "found"), [(False, 3, (3,)), (True, 1, (1, 3, 5))])
def test_another_seed(simulate, digits_job, whole_run, first, found):
    # Every segment is judged from the trainer's own checkpoint, so the lie is found again in each.
    result = disputed(simulate(Reseeder(3, whole_run)), digits_job.order, first, only=False)
    assert operator_of(result) == ("counterfoil.uniform", "", "forward")
    assert result.report.mismatched_steps == found
