"""A weight is edited by less than an ulp of float32, in memory: found if it can matter, and harmless if it cannot."""

from __future__ import annotations

from dataclasses import dataclass, replace

from support.expectations import disputed, operator_of, verified
from support.forgery import checkpoint
from support.malicious import Trainer, record_malicious


@dataclass
class Nudger(Trainer):
    bits: int = 0

    def inputs(self, inputs):
        if not self.acting:
            return inputs
        nudged = inputs.state["stem.weight"].double() * (1 + 2.0**-self.bits)
        return replace(inputs, state={**inputs.state, "stem.weight": nudged})


def test_a_sixteenth_of_an_ulp(simulate, digits_job):
    result = disputed(simulate(Nudger(3, bits=28)), digits_job.order, 3)
    assert operator_of(result) == ("aten.convolution.default", "stem", "forward")


def test_an_edit_within_the_margin_changes_no_stored_bit(tmp_path, digits_job, trainer_key):
    """Relative 2^-50 is what honest hardware differs by: nothing to find, since the run is the honest one."""
    run = record_malicious(digits_job.order, tmp_path / "run.cfoil", trainer_key, Nudger(3, bits=50))
    verified(run, digits_job.order)
    for step in (4, 6):
        honest, nudged = checkpoint(digits_job.run, step), checkpoint(run, step)
        assert all(nudged[name].tobytes() == honest[name].tobytes() for name in honest)
