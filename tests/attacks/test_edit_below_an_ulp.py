"""A weight is edited by less than an ulp of float32, in memory: found if it can matter, and harmless if it cannot."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from support.expectations import inconclusive, verified
from support.forgery import checkpoint
from support.malicious import Trainer, record_malicious


@dataclass
class Nudger(Trainer):
    name: str = ""
    bits: int = 0

    def inputs(self, inputs):
        if not self.acting:
            return inputs
        nudged = inputs.state[self.name].double() * (1 + 2.0**-self.bits)
        return replace(inputs, state={**inputs.state, self.name: nudged})


def moved(one, other) -> float:
    """The largest difference of two states, relative to the largest element of its tensor."""
    return max(
        float(np.abs(one[name] - other[name]).max() / np.abs(one[name]).max())
        for name in one
        if one[name].dtype == np.float32
    )


def test_an_edit_within_the_margin_moves_next_to_nothing(tmp_path, digits_job, trainer_key):
    """Relative 2^-50 is what honest hardware differs by. It is verified; no weight moves further than that allows."""
    run = record_malicious(digits_job.order, tmp_path / "run.cfoil", trainer_key, Nudger(3, "block1.conv1.weight", 50))
    assert verified(run, digits_job.order).steering.steered == 0
    assert moved(checkpoint(digits_job.run, 6), checkpoint(run, 6)) < 2**-20


def test_where_sums_are_exact_even_that_stands_out(tmp_path, digits_job, trainer_key):
    """Pixels times weights are summed exactly, so many results are ties, which honest hardware rounds to even."""
    run = record_malicious(digits_job.order, tmp_path / "run.cfoil", trainer_key, Nudger(3, "stem.weight", 50))
    report = inconclusive(run, digits_job.order)
    assert report.steering.suspects == ("aten.convolution.default (forward of stem)",)
