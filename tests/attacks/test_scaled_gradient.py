"""The gradient of one tensor is doubled in one step: the operator that gives it is named."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil_core.arithmetic.compute.operation import native
from support.expectations import disputed, operator_of, tensors_of
from support.malicious import Trainer


@dataclass
class Scaler(Trainer):
    def operator(self, operation, args, kwargs):
        result = native(operation, args, kwargs)
        node = operation.node
        if self.acting and node.operator == "aten.convolution_backward.default" and node.module == "block1.conv1":
            return [result[0], 2 * result[1], result[2]]
        return result


def test_one_tensor(simulate, digits_job):
    result = disputed(simulate(Scaler(step=4)), digits_job.order, 4, parts=("state", "fingerprints"))
    assert operator_of(result) == ("aten.convolution_backward.default", "block1.conv1", "backward")
    assert result.report.dispute.operator.differing_operators == 1
    assert tensors_of(result) == {"block1.conv1.weight", "momentum:block1.conv1.weight"}
