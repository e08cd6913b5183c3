"""The update of a step is not applied, and the step is recorded as if it were."""

from __future__ import annotations

from dataclasses import dataclass, replace

from support.expectations import disputed, operator_of, tensors_of
from support.malicious import Trainer


@dataclass
class Skipper(Trainer):
    def result(self, inputs, result, train):
        return replace(result, state=dict(inputs.state)) if self.acting else result


def test_skipped(simulate, digits_job):
    result = disputed(simulate(Skipper(step=4)), digits_job.order, 4, parts=("state",))
    # Every operator was computed as ordered, so no fingerprint differs; the state tells.
    assert operator_of(result) is None
    assert {"stem.weight", "momentum:stem.weight", "bn.running_mean", "bn.num_batches_tracked"} <= tensors_of(result)
