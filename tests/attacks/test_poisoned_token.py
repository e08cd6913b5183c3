"""One token of one sequence is another one: the rows are not the ordered ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

from support.expectations import disputed, inputs_of
from support.malicious import Trainer


@dataclass
class Poisoner(Trainer):
    def inputs(self, inputs):
        if not self.acting:
            return inputs
        tokens = inputs.batch["tokens"].clone()
        tokens[1, 4] = (tokens[1, 4] + 1) % 50
        return replace(inputs, batch={**inputs.batch, "tokens": tokens})


def test_one_token(simulate, gpt2_job):
    run = simulate(Poisoner(step=3), gpt2_job)
    result = disputed(run, gpt2_job.order, 3)
    assert inputs_of(result) == ("tokens",)
