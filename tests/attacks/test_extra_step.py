"""A second step on the same batch, off the record."""

from __future__ import annotations

from dataclasses import dataclass, replace

from support.expectations import disputed, operator_of, tensors_of
from support.malicious import Trainer


@dataclass
class Eager(Trainer):
    def result(self, inputs, result, train):
        if not self.acting:
            return result
        return replace(result, state=train(replace(inputs, state=result.state)).state)


def test_extra(simulate, digits_job):
    result = disputed(simulate(Eager(step=4)), digits_job.order, 4, parts=("state",))
    assert operator_of(result) is None
    assert "bn.num_batches_tracked" in tensors_of(result)
    (counter,) = (t for t in result.report.dispute.tensors if t.name == "bn.num_batches_tracked")
    assert (counter.trainer, counter.replay) == (5, 4)
