"""Another learning rate for one step: weights differ, momentum does not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from counterfoil_core.values.outcome import CheckNumber
from support.bundles import change
from support.expectations import disputed, operator_of, refused, tensors_of
from support.malicious import Trainer


@dataclass
class Hasty(Trainer):
    factor: float = 1.0

    def inputs(self, inputs):
        if not self.acting:
            return inputs
        return replace(inputs, scalars={"lr": inputs.scalars["lr"] * self.factor})


@pytest.mark.parametrize("factor", [1.01, 1 + 2**-20])
def test_one_step(simulate, digits_job, factor):
    result = disputed(simulate(Hasty(4, factor)), digits_job.order, 4, parts=("state",))
    # The learning rate enters exact products and differences only, which have no fingerprint.
    assert operator_of(result) is None
    names = tensors_of(result)
    assert "stem.weight" in names
    assert not any(name.startswith("momentum:") or "running" in name for name in names)


def test_the_scalars_of_the_order_are_edited(forge, digits_job):
    run = forge(lambda run: change(run, "/order/scalars", lambda scalars: scalars * 2))
    refused(run, digits_job.order, CheckNumber.ORDER_CONTENTS, "per-step scalars")
