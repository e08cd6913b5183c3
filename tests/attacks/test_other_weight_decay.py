"""Another weight decay for one tensor in one step. The order's is a constant of the program."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil_core.arithmetic.compute.operation import native
from support.expectations import disputed, operator_of, tensors_of
from support.malicious import Trainer

DECAY = 0.0005


@dataclass
class Lenient(Trainer):
    def operator(self, operation, args, kwargs):
        node = operation.node
        if self.acting and (node.phase, node.module) == ("update", "head.weight") and node.args[1] == DECAY:
            args = [args[0], 2 * DECAY]
        return native(operation, args, kwargs)


def test_one_tensor(simulate, digits_job):
    result = disputed(simulate(Lenient(step=4)), digits_job.order, 4, parts=("state",))
    assert operator_of(result) is None
    assert tensors_of(result) == {"head.weight", "momentum:head.weight"}
